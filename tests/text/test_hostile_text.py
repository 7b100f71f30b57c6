"""Hostile names, encodings and bytes give a corpus or a clear error, and never anything else."""

import bz2
import gzip
import io
import lzma
import random

import numpy as np
import pytest
from excel_files import excel
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fdmix import Corpus, read_corpus, read_moments
from fdmix.text.files import Layout, TextError
from fdmix.text.sources import files_of

PLAIN = {"preset": "plain"}
CSV = b'id,text,day\n1,"one, two",x\n2,three four,y\n3,"five\nsix",z\n' * 3
JSONL = b'{"text": "one two", "n": [1, {"a": 2}]}\n{"text": null}\n' * 4
UNUSUAL = ["x" * 5_000, "\0", "a\0b", "*" * 300, "[" * 300, "/" * 5_000, "x/" * 3_000, "\ud800", "~", "//", "?\0"]


def bags(corpus):
    words = np.array(corpus.vocabulary)
    return [sorted(np.repeat(words, row)) for row in corpus.counts.toarray()]


def packed(content):
    """{suffix of the file: compressed content} for each kind of compression."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as file:
        file.write(content)
    zst = sink.getvalue().to_pybytes()
    return {
        ".gz": gzip.compress(content), ".bz2": bz2.compress(content), ".xz": lzma.compress(content), ".zst": zst
    }  # fmt: skip


def valid_files():
    import pyarrow as pa
    import pyarrow.parquet as pq

    parquet = io.BytesIO()
    pq.write_table(pa.table({"text": ["one two", "three"], "id": [1, 2]}), parquet)
    files = {
        "a.txt": "one two\nthree é\n\nfour".encode(), "a.csv": CSV, "b.csv": CSV.replace(b",", b";"),
        "a.tsv": CSV.replace(b",", b"\t"), "a.jsonl": JSONL, "a.json": b"[%s]" % JSONL.strip().replace(b"\n", b","),
        "a.parquet": parquet.getvalue(), "a.xlsx": excel([["id", "text"], [1, "one two"], [2, "three"]]),
    }  # fmt: skip
    files |= {f"a.csv{suffix}": content for suffix, content in packed(CSV).items()}
    return files | {f"a.jsonl{suffix}": content for suffix, content in packed(JSONL).items()}


def test_strings_in_a_list_are_text():
    for text in ["word " * 60, "w" * 256, "w" * 999, "w" * 5_000, *UNUSUAL]:
        corpus = read_corpus([text] * 10, **PLAIN)
        assert corpus.n_documents == 10
        assert read_moments([text] * 10, **PLAIN).n_documents + read_moments([text] * 10, **PLAIN).n_skipped == 10
    assert read_corpus(["word " * 60] * 10, **PLAIN).n_tokens == 600


def test_names_of_files_in_a_list_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("one two")
    with pytest.raises(TypeError, match="give Path objects"):
        read_corpus([str(tmp_path / "a.txt")])


@given(st.one_of(st.sampled_from(UNUSUAL), st.text()))
@example("\0/0")
@settings(max_examples=200)
def test_names_without_a_file_are_not_found(name):
    with pytest.raises(FileNotFoundError, match="there is no file or folder") as caught:
        files_of([f"nowhere{name}"], Layout())
    assert len(str(caught.value)) < 1_000


def test_empty_names_and_standard_input_twice():
    with pytest.raises(FileNotFoundError, match="name of an input is empty"):
        read_corpus("")
    with pytest.raises(FileNotFoundError, match="name of an input is empty"):
        files_of(["-", ""], Layout())
    with pytest.raises(ValueError, match="standard input"):
        files_of(["-", "-"], Layout())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("order", ["", "-le", "-be"])
def test_byte_order_marks(tmp_path, encoding, order):
    name = encoding if encoding == "utf-8-sig" else encoding + order
    mark = "" if name in ("utf-8-sig", "utf-16", "utf-32") else "\ufeff"
    (tmp_path / "a.txt").write_bytes((mark + "wide words\nécole").encode(name))
    assert bags(read_corpus(tmp_path / "a.txt", **PLAIN)) == [["wide", "words"], ["école"]]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("place", [10, 5_000, 300_000])
@pytest.mark.parametrize("split", ["lines", "files"])
def test_a_nul_byte_anywhere_is_refused(tmp_path, suffix, place, split):
    content = b"some words\n" * 40_000
    content = content[:place] + b"\0" + content[place:]
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(packed(content)[suffix] if suffix else content)
    with pytest.raises(TextError, match=f"looks like a binary file, not text: byte {place:,} is 0"):
        read_corpus(path, split=split)
    assert read_corpus(path, split=split, encoding="utf-8", **PLAIN).n_tokens in (80_000, 80_001)


def test_an_escaped_nul_in_json_is_accepted(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one\\u0000two"}\n')
    assert bags(read_corpus(tmp_path / "a.jsonl", **PLAIN)) == [["one", "two"]]


def test_utf16_without_a_mark(tmp_path):
    (tmp_path / "a.txt").write_bytes("wide words".encode("utf-16-le"))
    with pytest.raises(TextError, match="say its encoding, for instance 'utf-16-le'"):
        read_corpus(tmp_path / "a.txt")
    with pytest.raises(TextError, match="say 'utf-16-le' or 'utf-16-be'"):
        read_corpus(tmp_path / "a.txt", encoding="utf-16")
    assert bags(read_corpus(tmp_path / "a.txt", encoding="utf-16-le", **PLAIN)) == [["wide", "words"]]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_empty_files_that_are_compressed(tmp_path, suffix):
    """A compressed empty file is read as empty; a compressed file of 0 bytes is refused as incomplete."""
    for name in ("a.txt", "a.csv", "a.jsonl"):
        path = tmp_path / f"{name}{suffix}"
        path.write_bytes(packed(b"")[suffix])
        assert read_corpus(path).n_documents == 0
        path.write_bytes(b"")
        with pytest.raises(TextError, match="has 0 bytes, which no compressed file has"):
            read_corpus(path)


@pytest.mark.parametrize(
    "name", ["a.txt", "a.csv", "a.jsonl", "a.gz", "a.csv.bz2", "a.xz", "a.zst", "a.pq", "a.xlsx"]
)
@given(content=st.binary(max_size=300))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_bytes(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    is_read_or_refused(tmp_path / name)


def is_read_or_refused(path, **settings):
    """Whether the file was read; if not, the error names the file and says what is wrong in a sentence."""
    try:
        corpus = read_corpus(path, n_threads=1, **settings)
    except (ValueError, OSError) as error:
        said = str(error)
    else:
        assert isinstance(corpus, Corpus)
        return True
    assert 20 < len(said) < 1_000
    assert path.name in said
    return False


SETTINGS = [
    {}, {"column": "text"}, {"column": "text", "id": "id"}, {"encoding": "latin-1"}, {"encoding": "utf-16"},
    {"header": False, "column": 2}, {"delimiter": ";"}, {"split": "paragraphs"}, {"split": "files"},
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", list(valid_files()))
def test_mutated_files(tmp_path, name):
    """1,000 seeded mutations of each kind of file, 16,000 in all."""
    rng = random.Random(name)
    original = valid_files()[name]
    assert is_read_or_refused(_written(tmp_path / name, original))
    for _ in range(1_000):
        is_read_or_refused(_written(tmp_path / name, _mutated(rng, original)), **rng.choice(SETTINGS))


def _written(path, content):
    path.write_bytes(content)
    return path


def _mutated(rng, content):
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5])):
        place = rng.randrange(len(content) + 1)
        kind = rng.choice(["flip", "flip", "insert", "delete", "cut"])
        if kind == "flip" and place < len(content):
            content[place] ^= 1 << rng.randrange(8)
        elif kind == "insert":
            content[place:place] = rng.randbytes(rng.randrange(1, 20))
        elif kind == "delete":
            del content[place : place + rng.randrange(1, 30)]
        elif kind == "cut":
            del content[place:]
    return bytes(content)
