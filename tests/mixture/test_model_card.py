"""The model card: complete, safe whatever the data say, and never in the way of a person who edits it."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest
import yaml
from hostile import HOSTILE_WORDS

from fdmix import Mixture, Moments, fit_mixture, read_corpus, read_moments
from fdmix.cli.source_names import public_name, with_sources
from fdmix.display import for_markdown
from fdmix.storage.card_file import BEGIN, END

TEXTS = ["ant bee ant bee cow", "ant bee bee", "dog elk dog elk", "dog elk elk fox"] * 20
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202e\u2066\ufeff]")


@pytest.fixture(scope="module")
def moments():
    return read_moments(TEXTS)


@pytest.fixture(scope="module")
def mixture(moments):
    return fit_mixture(moments, 2).mixture


def card(mixture, folder):
    mixture.save(folder)
    return (folder / "README.md").read_text(encoding="utf-8")


def rows(text, heading):
    """The rows of the table under a heading, as lists of cells."""
    part = text.split(f"{heading}\n\n", 1)[1].split("\n\n", 1)[0]
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in part.split("\n")]
    return [[cell.strip() for cell in line] for line in lines[2:]]


def test_it_tells_what_the_model_is(mixture, moments, tmp_path):
    text = card(mixture.labelled({1: "large | animals"}), tmp_path / "model")
    told = yaml.safe_load(text.split("---\n")[1])
    assert told["library_name"] == "fdmix"
    assert "topic-modeling" in told["tags"]
    origin = dict(rows(text, "## Made from"))
    assert origin["documents whose word pairs were counted"] == f"{moments.n_documents}"
    assert origin["words"] == "6"
    assert dict(rows(text, "### Cleaning"))["`lowercase`"] == "yes"
    topics = {int(row[0]): row for row in rows(text, "## Topics")}
    assert [topics[t][1] for t in (0, 1)] == [f"{share:.1%}" for share in mixture.shares]
    assert topics[1][2] == r"large \| animals"
    assert [set(topics[t][3].split(", ")) for t in (0, 1)] == [set(words) for words in mixture.typical_words(10)]
    assert "log-likelihood of a word pair, after the fit" in dict(rows(text, "## Scores"))


def test_the_python_in_it_runs(mixture, tmp_path):
    text = card(mixture, tmp_path / "model")
    code = text.split("```python\n")[1].split("```")[0].replace('"FOLDER"', repr(str(tmp_path / "model")))
    found = {}
    exec(code, found)
    assert found["theta"].shape == (1, 2)
    bare = card(Mixture(mixture.topics), tmp_path / "bare")
    assert "read_corpus" not in bare
    assert "fdmix assign" not in bare


def test_its_commands_are_commands(mixture, tmp_path, capsys):
    from fdmix.cli.app import app

    text = card(mixture, tmp_path / "model")
    (tmp_path / "new.csv").write_text("text\nant bee\n")
    for line in text.split("```shell\n")[1].split("```")[0].splitlines()[1:]:
        words = line.split("#")[0].split()[1:]
        paths = {"FOLDER": tmp_path / "model", "new.csv": tmp_path / "new.csv"}
        paths |= {name: tmp_path / name for name in ("topics.csv", "report.html")}
        app([str(paths.get(word, word)) for word in words], standalone_mode=False)
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "topics.csv").exists()


def shown(markdown):
    """The text that a reader sees of one cell: backslashes before punctuation are taken away."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


@pytest.mark.parametrize("word", HOSTILE_WORDS, ids=lambda word: ascii(word)[:20])
def test_no_token_is_markup(word):
    safe = for_markdown(word)
    assert not HIDDEN.search(safe)
    assert "\n" not in safe
    assert not re.search(r"(?<!\\)(?:\\\\)*[<>|`*_\[\]&:@]", safe)
    assert html.unescape(shown(safe)) or not word


def test_a_card_of_hostile_words(tmp_path):
    n = len(HOSTILE_WORDS)
    topics = np.full((3, n), 1 / n)
    story = {word: word for word in HOSTILE_WORDS}
    story |= {"sources": list(HOSTILE_WORDS), "solver": "<script>", "seed": "|", "fit": {"reason": f"{END}\n# x"}}
    hostile = Mixture(topics, vocabulary=HOSTILE_WORDS, provenance=story, labels={0: "</table>", 1: BEGIN, 2: END})
    text = card(hostile, tmp_path / "model")
    assert text.count(BEGIN) == text.count(END) == 1
    assert not HIDDEN.search(text)
    assert not re.search(r"(?<!\\)<(?!!-- )", text)
    assert [len(row) for row in rows(text, "## Topics")] == [4] * 3
    assert all(len(row) == 2 for heading in ("## Made from", "## Scores") for row in rows(text, heading))
    assert "# x" not in text.split("\n")
    again = card(hostile, tmp_path / "model")
    assert again == text


@pytest.mark.parametrize("odd", [None, 3, [], "x", {"curve": "x"}, {"curve": [[1]], "passes": True}, {"steps": {}}])
def test_strange_provenance_is_left_out(odd, tmp_path):
    names = ("moments", "fit", "edits", "sources", "cut", "refined", "solver", "seed", "fdmix")
    assert "## Topics" in card(Mixture([[0.5, 0.5]], provenance=dict.fromkeys(names, odd)), tmp_path / "model")


def test_text_of_people_is_kept(mixture, tmp_path):
    text = card(mixture, tmp_path / "model")
    path = tmp_path / "model" / "README.md"
    mine = text.replace("license: unknown", "license: cc-by-4.0").replace("# Topic model", "# Beasts of England")
    path.write_text(f"{mine}\nFarm animals only.\n", encoding="utf-8")
    after = card(mixture.labelled({0: "beasts"}), tmp_path / "model")
    assert "license: cc-by-4.0" in after
    assert "# Beasts of England" in after
    assert after.endswith("\nFarm animals only.\n")
    assert [row[2] for row in rows(after, "## Topics") if row[0] == "0"] == ["beasts"]
    assert Mixture.load(tmp_path / "model").labels == {0: "beasts"}


@pytest.mark.parametrize("theirs", [b"My own card.\n", b"", b"\xff\xfe", END.encode() + BEGIN.encode()])
def test_a_card_of_someone_else_is_left_alone(mixture, tmp_path, theirs):
    mixture.save(tmp_path / "model")
    (tmp_path / "model" / "README.md").write_bytes(theirs)
    mixture.labelled({0: "beasts"}).save(tmp_path / "model")
    assert (tmp_path / "model" / "README.md").read_bytes() == theirs
    assert Mixture.load(tmp_path / "model").labels == {0: "beasts"}


def test_a_folder_without_a_card(mixture, tmp_path):
    mixture.save(tmp_path / "model")
    (tmp_path / "model" / "README.md").unlink()
    assert Mixture.load(tmp_path / "model").n_topics == 2
    assert "## Topics" in card(mixture, tmp_path / "model")


def test_a_folder_that_a_hub_keeps(mixture, tmp_path):
    mixture.save(tmp_path / "model")
    (tmp_path / "model" / ".gitattributes").write_text("*.safetensors filter=lfs\n")
    (tmp_path / "model" / ".git").mkdir()
    mixture.labelled({0: "beasts"}).save(tmp_path / "model")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / ".gitattributes").write_text("")
    with pytest.raises(FileExistsError, match="other than a model"):
        mixture.save(tmp_path / "text")


def test_many_topics_are_cut(tmp_path):
    text = card(Mixture(np.eye(300)), tmp_path / "model")
    assert len(rows(text, "## Topics")) == 200
    assert "and 100 smaller topics" in text


def test_models_in_a_folder_of_text_are_not_text(mixture, tmp_path):
    (tmp_path / "a.txt").write_text("ant bee")
    mixture.save(tmp_path / "model")
    assert read_corpus(tmp_path).n_documents == 1


def test_sources_are_named_without_folders(mixture, tmp_path):
    assert public_name("-") == "standard input"
    assert public_name("C:\\Users\\ada\\x.csv") == "x.csv"
    assert public_name("https://ada:key@example.org/a/x.csv?token=1#y") == "x.csv"
    folder = tmp_path / "secret"
    folder.mkdir()
    for name in ("b.txt", "a.txt"):
        (folder / name).write_text("ant bee cow\nbee cow\n")
    corpus = read_corpus(folder)
    assert with_sources(mixture, corpus).provenance["sources"] == ["a.txt", "b.txt"]
    moments = read_moments(folder)
    told = with_sources(mixture, moments)
    assert set(told.provenance["sources"]) <= {"a.txt", "b.txt"}
    assert "secret" not in card(told, tmp_path / "model")
    forged = replace(mixture, provenance={"sources": ["/home/ada/x.csv", 3]})
    assert "ada" not in card(forged, tmp_path / "forged")
    assert with_sources(mixture, Moments.of(np.eye(3, dtype=int) + 1)) is mixture
