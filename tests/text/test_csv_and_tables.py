"""Tables as people have them: CSV with semicolons, without a header, Excel, columns with several types."""

import datetime
import sys

import numpy as np
import pytest
from excel_files import excel
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmix import read_corpus, read_moments
from fdmix.text.delimited import DELIMITERS, found_delimiter
from fdmix.text.files import Layout, TextError

PLAIN = {"preset": "plain"}
EXPECTED = [["cats", "chase", "mice"], ["dogs", "eat"]]


def bags(corpus):
    words = np.array(corpus.vocabulary)
    return [sorted(np.repeat(words, row)) for row in corpus.counts.toarray()]


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_the_delimiter_is_found(tmp_path, delimiter, suffix):
    path = tmp_path / f"table{suffix}"
    rows = [["id", "text", "price"], ["1", '"Cats, chase; mice|\t"', "1"], ["2", "Dogs eat", "2"]]
    path.write_text("\n".join(delimiter.join(row) for row in rows))
    for given_delimiter in (None, delimiter, "tab" if delimiter == "\t" else delimiter):
        corpus = read_corpus(path, column="text", id="id", delimiter=given_delimiter, **PLAIN)
        assert bags(corpus) == EXPECTED
        assert corpus.documents["id"].tolist() == ["1", "2"]
    assert read_moments(path, column="text", delimiter=delimiter, **PLAIN) == read_moments(
        path, column="text", **PLAIN
    )


@given(
    st.sampled_from(DELIMITERS),
    st.lists(st.lists(st.text("abc .!?'", max_size=9), min_size=3, max_size=3), min_size=1, max_size=150),
)
@settings(max_examples=50)
def test_the_delimiter_is_found_whatever_the_cells_hold(delimiter, rows):
    sample = [f"{delimiter.join(row)}\n" for row in [["id", "text", "day"], *rows]]
    assert found_delimiter(sample, ",") == delimiter


@pytest.mark.parametrize(
    "content",
    [
        "text\ncats; chase mice\ndogs; eat\n",  # the same number in each row, but none in the header
        'text\n"cats, chase mice"\ndogs eat\n',
        '"the text; all of it"\ncats chase mice\ndogs eat\n',
        "what | they wrote\ncats chase mice\ndogs eat\n",
    ],
)
def test_one_column_stays_one_column(tmp_path, content):
    (tmp_path / "one.csv").write_text(content)
    assert bags(read_corpus(tmp_path / "one.csv", **PLAIN)) == EXPECTED


def test_an_ambiguous_delimiter_must_be_given(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id;text\n1;cats chase; mice\n2;dogs eat\n")
    with pytest.raises(TextError, match="Give delimiter=';', or delimiter=','"):
        read_corpus(path)
    with pytest.raises(TextError, match="line 2: the row has 3 columns"):
        read_corpus(path, delimiter=";")
    assert read_corpus(path, delimiter=",", **PLAIN).n_documents == 2
    for wrong in (";;", "", '"', "\n"):
        with pytest.raises(ValueError, match="the delimiter is one character"):
            read_corpus(path, delimiter=wrong)
    with pytest.raises(ValueError, match="for CSV files"):
        read_corpus(["some text"], delimiter=";")


def test_a_delimiter_makes_a_table_of_a_text_file(tmp_path):
    (tmp_path / "table.txt").write_text("id\ttext\n1\tCats chase mice\n2\tDogs eat\n")
    assert bags(read_corpus(tmp_path / "table.txt", column="text", delimiter="tab", **PLAIN)) == EXPECTED
    with pytest.raises(TextError, match="give the delimiter"):
        read_corpus(tmp_path / "table.txt", column="text")


def test_no_header(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("1;Cats chase mice;x, y\n2;Dogs eat;z\n")
    for column in (2, "2"):
        corpus = read_corpus(path, column=column, id="1", header=False, **PLAIN)
        assert bags(corpus) == EXPECTED
        assert corpus.documents["id"].tolist() == ["1", "2"]
    with pytest.raises(TextError, match=r"which column holds the text\? Name it .*: 1, 2, 3"):
        read_corpus(path, header=False)
    with pytest.raises(TextError, match="no column '4'; it has 1, 2, 3"):
        read_corpus(path, column="4", header=False)
    (tmp_path / "one.csv").write_text("Cats chase mice\nDogs eat\n")
    assert bags(read_corpus(tmp_path / "one.csv", header=False, **PLAIN)) == EXPECTED


def test_a_header_that_looks_like_data(tmp_path, caplog):
    path = tmp_path / "table.csv"
    path.write_text("1,Cats chase mice\n2,Dogs eat\n")
    with pytest.raises(TextError, match=r"no column 'text'.*header=False"):
        read_corpus(path, column="text")
    with pytest.raises(TextError, match=r"which column.*header=False"):
        read_corpus(path)
    path.write_text("i love the cats that chase mice\nDogs eat\n")
    assert read_corpus(path, **PLAIN).n_documents == 1
    assert "--no-header" in caplog.text
    caplog.clear()
    path.write_text("comment\nDogs eat\n")
    read_corpus(path, **PLAIN)
    assert not caplog.records


def test_excel(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "table.xlsx"
    day = datetime.date(2020, 1, 2)
    rows = [["id", "text", "day"], [1, "Cats chase mice", day], [None, None, None], [2, "Dogs eat", None]]
    path.write_bytes(excel(rows))
    corpus = read_corpus(path, id="id", date="day", **PLAIN)
    assert bags(corpus) == EXPECTED
    assert corpus.documents["id"].tolist() == [1, 2]
    assert corpus.documents["date"].tolist() == [day, None]
    assert read_moments(path, column="text", **PLAIN).n_documents == 2
    path.write_bytes(excel([["id", "body"], [1, "Cats chase mice"], [2, "Dogs eat"]]))
    assert bags(read_corpus(path, **PLAIN)) == EXPECTED  # the only column that holds text
    with pytest.raises(TextError, match="no column 'text'; it has id, body"):
        read_corpus(path, column="text")
    path.write_bytes(excel([[1, "Cats chase mice"], [2, "Dogs eat"], [3, 2020], [4, 0.5]]))
    numbers = read_corpus(path, column=2, header=False, **PLAIN)
    assert bags(numbers) == [*EXPECTED, ["2020"], ["0", "5"]]
    path.write_bytes(excel([]))
    assert read_corpus(path).n_documents == 0
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(TextError, match="not a valid Excel file"):
        read_corpus(path)


def test_a_huge_sheet_is_refused(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "table.xlsx"
    for far_away in ("XFD1048576", "ZZ1048576", "ZZZZZZZ99999999999"):
        path.write_bytes(excel([["text"], ["Cats chase mice"]], last=far_away))
        with pytest.raises(TextError, match=r"rows and .* columns, most of them empty"):
            read_corpus(path)
    path.write_bytes(excel([["text"], ["Cats chase mice"], ["Dogs eat"]], last="B9999"))
    assert bags(read_corpus(path, column="text", **PLAIN)) == [*EXPECTED, []]


def test_excel_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "table.xlsx").write_bytes(excel([["text"], ["cats"]]))
    monkeypatch.setitem(sys.modules, "python_calamine", None)  # as if it were not installed
    with pytest.raises(ImportError, match=r"pip install 'fdmix\[excel\]'"):
        read_corpus(tmp_path / "table.xlsx")


def test_unused_columns_may_hold_anything():
    pandas = pytest.importorskip("pandas")
    texts, mixed = ["Cats chase mice", "Dogs eat"], [1, "two"]
    frame = pandas.DataFrame({"mixed": mixed, "text": texts, "objects": [object(), {3}]})
    assert bags(read_corpus(frame, **PLAIN)) == EXPECTED
    assert bags(read_corpus(frame.rename(columns={"text": "body"}), column="body", **PLAIN)) == EXPECTED
    alone = frame[["text", "objects"]].rename(columns={"text": "body"})
    assert bags(read_corpus(alone, **PLAIN)) == EXPECTED  # the only one that may hold text
    with pytest.raises(TextError, match=r"which column holds the text\? .*mixed, body, objects"):
        read_corpus(frame.rename(columns={"text": "body"}))
    with pytest.raises(TextError, match="row 0 of column 'mixed' holds int, not text"):
        read_corpus(frame, column="mixed")
    with pytest.raises(TextError, match=r"column 'mixed' holds values of several types \(int, str\)"):
        read_corpus(frame, id="mixed")
    with pytest.raises(TextError, match="no column 'body'; it has mixed, text, objects"):
        read_corpus(frame, column="body")
    twice = pandas.DataFrame([["x", "y"]], columns=["text", "text"])
    with pytest.raises(TextError, match="2 columns called 'text'"):
        read_corpus(twice)
    unnamed = pandas.DataFrame([[0, "Cats chase mice"], [1, "Dogs eat"]])
    assert bags(read_corpus(unnamed, column=1, id=0, **PLAIN)) == EXPECTED
    numbers = pandas.DataFrame({"text": [1, 2]})
    with pytest.raises(TextError, match="column 'text' holds int64, not text"):
        read_corpus(numbers)


def test_polars_columns_of_objects():
    polars = pytest.importorskip("polars")
    mixed = polars.Series("mixed", [1, "two"], dtype=polars.Object)
    frame = polars.DataFrame({"text": ["Cats chase mice", "Dogs eat"], "n": [1, 2]}).with_columns(mixed)
    assert bags(read_corpus(frame, id="n", **PLAIN)) == EXPECTED
    with pytest.raises(TextError, match="column 'mixed' holds values of several types"):
        read_corpus(frame, id="mixed")
    with pytest.raises(TextError, match="row 0 of column 'mixed' holds int, not text"):
        read_corpus(frame, column="mixed")


def test_layouts_name_columns_by_strings():
    assert Layout("2", (("id", "1"),)) == Layout(2, (("id", 1),))
    assert Layout(delimiter="tab") == Layout(delimiter="\\t") == Layout(delimiter="\t")
