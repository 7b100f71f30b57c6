"""What `fdmix assign` writes: main topics, wide and long tables, kept columns and their types, in each format."""

import csv
import datetime
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fdmix import Mixture
from fdmix.cli.assign_rows import writer
from fdmix.corpus.preparation import Preparation
from fdmix.mixture.sheet import Sheet
from fdmix.storage.parquet_rows import ParquetRows
from fdmix.text.cleaning import cleaning_of

WORDS = ["ant", "bee", "cow", "dog", "eel", "fox"]
TOPICS = [[0.5, 0.5, 0, 0, 0, 0], [0, 0, 0.6, 0.4, 0, 0], [0, 0, 0, 0, 0.5, 0.5]]
ROWS = [
    {"user": "ann", "n": 1, "text": "ant bee ant bee"},
    {"user": "bob", "n": None, "text": "cow cow cow dog zebra ant"},
    {"user": None, "n": 3, "text": "zebra"},
]


def run(*arguments, code=0, **options):
    program = str(Path(sys.executable).with_name("fdmix"))
    done = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=280, **options
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("assign")
    mixture = Mixture(TOPICS, np.eye(3) / 3, WORDS, Preparation(cleaning_of("plain", {})))
    mixture.save(folder / "model")
    (folder / "in.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    with (folder / "in.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, ["user", "n", "text"])
        table.writeheader()
        table.writerows(ROWS)
    return folder


def read_csv(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.slow
def test_main_topics_printed(folder):
    done = run("assign", folder / "model", folder / "in.csv", "--column", "text", "--words", 2)
    assert read_csv(done.stdout) == [
        ["document", "topic", "words", "share", "known_words"],
        ["0", "0", "ant, bee", "1", "4"],
        ["1", "1", "cow, dog", "0.8", "5"],
        ["2", "", "", "", "0"],
    ]
    assert "without a word that the model knows: 1" in done.stderr


@pytest.mark.slow
def test_parquet_has_types(folder, tmp_path):
    table = pa.table(
        {
            "text": [row["text"] for row in ROWS],
            "n": pa.array([1, None, 3], pa.int32()),
            "when": [datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1)],
            "tags": [["a"], [], None],
            "user": pa.array(["ann", "bob", None]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    for form, names in (("main", []), ("wide", ["topic_0", "topic_1", "topic_2"])):
        out = tmp_path / f"{form}.parquet"
        keep = ("--keep", "n,when", "--keep", "tags", "--id", "user")
        run("assign", folder / "model", tmp_path / "in.parquet", "--column", "text", *keep, "--form", form, "-o", out)
        found = pq.read_table(out)
        own = ["topic", "words", "share", "known_words"]
        assert found.column_names == ["document", "id", "n", "when", "tags", *own, *names]
        kinds = {name: found.schema.field(name).type for name in found.column_names}
        assert kinds["topic"] == kinds["document"] == kinds["known_words"] == kinds["n"] == pa.int64()
        assert kinds["id"] == kinds["words"] == pa.string()
        assert kinds["when"] == pa.date32()
        assert all(kinds[name] == pa.float64() for name in ("share", *names))
        rows = found.to_pylist()
        assert [row["topic"] for row in rows] == [0, 1, None]
        assert [row["n"] for row in rows] == [1, None, 3]
        assert [row["tags"] for row in rows] == [["a"], [], None]
        assert rows[2]["words"] is None
        assert rows[2]["share"] is None
        assert all(rows[2][name] is None for name in names)
        assert [row["known_words"] for row in rows] == [4, 5, 0]


@pytest.mark.slow
def test_json_lines(folder, tmp_path):
    arguments = ("assign", folder / "model", folder / "in.jsonl", "--column", "text", "--keep", "user,n")
    run(*arguments, "--form", "wide", "--words", 1, "-o", tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert rows[0] == {
        "document": 0, "user": "ann", "n": 1, "topic": 0, "words": ["ant"], "share": 1.0, "known_words": 4,
        "topics": {"0": 1.0},
    }  # fmt: skip
    assert rows[1]["topics"] == {"0": 0.2, "1": 0.8}
    assert rows[2] == {
        "document": 2, "user": None, "n": 3, "topic": None, "words": None, "share": None, "known_words": 0,
        "topics": {},
    }  # fmt: skip


@pytest.mark.slow
def test_long_form_and_small_shares(folder, tmp_path):
    arguments = ("assign", folder / "model", folder / "in.csv", "--column", "text", "--id", "user", "--form", "long")
    rows = read_csv(run(*arguments, "--words", 1).stdout)
    assert rows == [
        ["document", "id", "topic", "words", "share", "known_words"],
        ["0", "ann", "0", "ant", "1", "4"],
        ["1", "bob", "1", "cow", "0.8", "5"],
        ["1", "bob", "0", "ant", "0.2", "5"],
        ["2", "", "", "", "", "0"],
    ]
    assert len(read_csv(run(*arguments, "--min-share", 0.3).stdout)) == 4
    wide = ("assign", folder / "model", folder / "in.csv", "--column", "text", "--form", "wide", "--min-share", 0.3)
    assert [row[-3:] for row in read_csv(run(*wide).stdout)[1:]] == [["1", "0", "0"], ["0", "0.8", "0"], ["", "", ""]]
    assert "--min-share is from 0 to below 1" in run(*wide[:-1], 1.5, code=1).stderr
    assert "--form is main, wide or long" in run(*arguments[:-1], "tall", code=1).stderr


@pytest.mark.slow
def test_columns_called_like_ours(folder, tmp_path):
    (tmp_path / "a.csv").write_text('text,topic,words,"a,b",file\nant,mine,w,1,f\n')
    (tmp_path / "b.csv").write_text('text,topic,words,"a,b",file\ncow,mine,w,2,g\n')
    keep = ("--keep", 'topic,words,"a,b",file')
    inputs = (tmp_path / "a.csv", tmp_path / "b.csv")
    done = run("assign", folder / "model", *inputs, "--column", "text", *keep)
    rows = read_csv(done.stdout)
    assert rows[0][:6] == ["document", "file", "input_topic", "input_words", "a,b", "input_file"]
    assert [row[:6] for row in rows[1:]] == [
        ["0", str(tmp_path / "a.csv"), "mine", "w", "1", "f"],
        ["1", str(tmp_path / "b.csv"), "mine", "w", "2", "g"],
    ]
    assert "'topic' is written as 'input_topic'" in done.stderr
    refused = run("assign", folder / "model", inputs[0], "--keep", "nix", code=1)
    assert "has no column 'nix'" in refused.stderr
    assert not refused.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_no_documents(folder, kind, tmp_path):
    (tmp_path / "in.csv").write_text("text,user\n")
    out = tmp_path / f"out.{kind}"
    run("assign", folder / "model", tmp_path / "in.csv", "--column", "text", "--keep", "user", "-o", out)
    if kind == "parquet":
        table = pq.read_table(out)
        assert table.num_rows == 0
        assert table.column_names == ["document", "user", "topic", "words", "share", "known_words"]
    else:
        assert len(out.read_text().splitlines()) == (kind == "csv")


def test_rows_are_written_as_they_come(folder, capsys):
    mixture = Mixture.load(folder / "model")
    sheet = Sheet(mixture.top_words(1))
    with writer("-", sheet) as write:
        write(sheet.rows(0, {}, mixture.assignment([[1, 0, 0, 0, 0, 0]])))
        assert "0,0,ant,1,1" in capsys.readouterr().out
        write(sheet.rows(1, {}, mixture.assignment([[0, 0, 1, 0, 0, 0]])))
        assert "1,1,cow,1,1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("parts", "kind", "expected"),
    [
        ([[1, 2], [None, 3]], pa.int64(), [1, 2, None, 3]),
        ([[None], [1]], pa.int64(), [None, 1]),
        ([[1], [2.5]], pa.float64(), [1.0, 2.5]),
        ([[1, None], ["a"], [2]], pa.string(), ["1", None, "a", "2"]),
        ([[1, "a"]], pa.string(), ["1", "a"]),
        ([[True], [7]], pa.string(), ["true", "7"]),
        ([[{"a": 1}], ["x"]], pa.string(), ['{"a": 1}', "x"]),
        ([["a\udc80"], ["b"]], pa.string(), ["a\\udc80", "b"]),
        ([[2**70], [1]], pa.string(), [str(2**70), "1"]),
        ([[datetime.date(2020, 1, 1)], ["x"]], pa.string(), ["2020-01-01", "x"]),
    ],
)
def test_parquet_columns_widen(parts, kind, expected, tmp_path):
    """What does not fit the type of earlier rows changes the type; no value is lost."""
    with (tmp_path / "x.parquet").open("xb") as file, ParquetRows(file) as rows:
        for number, part in enumerate(parts):
            rows.write({"number": (np.full(len(part), number), "int64"), "value": (part, None)})
    found = pq.read_table(tmp_path / "x.parquet")
    assert found.column("value").to_pylist() == expected
    assert found.schema.field("value").type == kind
    assert found.num_rows == len(expected)
