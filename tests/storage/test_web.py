"""Files on web servers that fail: what passes is repeated, what does not is an error that names the URL."""

import gzip
import io
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from web_server import web_site

from fdmix.cli.inputs import check_output
from fdmix.moments.moments import Moments
from fdmix.storage import remote_path, remote_reading
from fdmix.storage.arrays import stored_kind
from fdmix.storage.model_folder import writable_model_folder
from fdmix.storage.places import place_of
from fdmix.storage.remote_errors import RemoteError
from fdmix.text.reading import read_corpus, read_moments

LINES = "".join(f"cat dog mouse {'tree leaf' if n % 2 else 'stock bond'}\n" for n in range(2_000)).encode()


@pytest.fixture
def site(monkeypatch):
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(remote_reading, "WAITS", (0.01, 0.01, 0.01))
    monkeypatch.setattr(remote_path, "STALL_SECONDS", 0.3)
    with web_site() as site:
        site.files["/a.txt"] = LINES
        yield site


def test_a_file_is_read_by_one_request(site):
    corpus = read_corpus(f"{site.url}/a.txt")
    assert corpus.n_documents == 2_000
    assert site.gets("/a.txt") == [None]


@pytest.mark.parametrize("fault", ["500", "stall", "cut"])
@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("length", ["known", "chunked"])
def test_what_passes_is_repeated_and_the_bytes_are_those_of_the_file(site, fault, ranges, length):
    site.faults["/a.txt"] = [fault, fault]
    site.ranges, site.length = ranges, length
    assert place_of(f"{site.url}/a.txt").read_bytes() == LINES


@pytest.mark.parametrize("fault", ["500", "stall", "cut"])
def test_what_does_not_pass_is_an_error_that_names_the_url(site, fault):
    site.faults["/a.txt"] = [fault] * 50
    site.ranges = False  # otherwise each request brings half of the rest
    with pytest.raises(RemoteError, match=r"/a\.txt") as caught:
        read_moments(f"{site.url}/a.txt?signature=hidden-words")
    assert "hidden" not in str(caught.value)
    assert caught.value.__context__ is None  # which clusters would send along, and which may hold secrets
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # as it comes from another process


def test_a_file_that_is_cut_short_is_never_complete(site):
    site.short, site.ranges = True, False
    with pytest.raises(RemoteError, match=r"/a\.txt"):
        read_moments(f"{site.url}/a.txt")
    site.short, site.length = False, "unknown"  # its end cannot be told from a broken connection
    with pytest.raises(RemoteError, match="does not say where the file ends"):
        read_moments(f"{site.url}/a.txt")


def test_a_file_that_changes_between_two_requests_is_refused(site):
    site.faults["/a.txt"] = ["stall"]
    with place_of(f"{site.url}/a.txt").open() as file:
        assert file.read(3) == b"cat"
        site.files["/a.txt"] = LINES.upper()
        with pytest.raises(RemoteError, match="changed while it was read"):
            file.read()


def test_missing_and_unreachable_files_differ(site):
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder http://.*/b.txt"):
        read_corpus(f"{site.url}/b.txt")
    with pytest.raises(RemoteError, match="cannot be used"):
        read_corpus("http://127.0.0.1:9/b.txt?key=hidden")


def test_compressed_text_is_streamed(site):
    site.files["/b.txt.gz"] = gzip.compress(LINES)
    site.faults["/b.txt.gz"] = ["cut"]
    plain, packed = read_moments(f"{site.url}/a.txt"), read_moments(f"{site.url}/b.txt.gz")
    assert plain.checksum() == packed.checksum()


@pytest.mark.parametrize("ranges", [True, False])
def test_parquet_is_read_by_ranges_or_copied_first(site, ranges):
    table = pa.table({"text": LINES.decode().splitlines(), "other": ["x" * 2_000] * 2_000})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, row_group_size=100, use_dictionary=False)
    site.files["/a.parquet"], site.ranges = buffer.getvalue(), ranges
    site.faults["/a.parquet"] = ["", "500", "cut"]
    moments = read_moments(f"{site.url}/a.parquet", column="text")
    assert moments.checksum() == read_moments(f"{site.url}/a.txt").checksum()
    assert any(said is None for said in site.gets("/a.parquet")) == (not ranges)


@pytest.mark.parametrize("length", ["known", "hidden"])
def test_moments_are_read_whether_the_server_tells_their_size_or_not(site, length, tmp_path):
    moments = read_moments(f"{site.url}/a.txt")
    moments.save(tmp_path / "moments")
    site.files["/moments"], site.length = (tmp_path / "moments").read_bytes(), length
    assert stored_kind(f"{site.url}/moments") == "moments"
    assert Moments.load(f"{site.url}/moments").checksum() == moments.checksum()


def test_results_cannot_be_written_to_a_web_server(site):
    moments = read_moments(f"{site.url}/a.txt")
    with pytest.raises(ValueError, match="cannot be written to a web server"):
        moments.save(f"{site.url}/a.moments")
    with pytest.raises(ValueError, match="cannot be written to a web server"):  # also where no server answers
        check_output(place_of("https://127.0.0.1:9/a.moments"), [])
    with pytest.raises(ValueError, match="cannot be written to a web server"):
        writable_model_folder("https://127.0.0.1:9/model")
