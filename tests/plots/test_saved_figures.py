"""Files of figures: complete, the same each time, and words in them are text whatever they hold."""

import re
from xml.etree import ElementTree

import pytest
from examples_of_plots import drawn
from hostile import HOSTILE_WORDS

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure
from matplotlib.text import Text

from fdmix import plots

MATH = ("$x$", r"$\nonsense{$", r"\$", "$$", "_x", "%", "^", r"$\frac{1}{2}$ and $")
HOSTILE = list(dict.fromkeys([*MATH, *HOSTILE_WORDS]))
BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", drawn(["a", "b", "c"]))
@pytest.mark.parametrize("start", [0, 4, 12])
def test_hostile_words_are_text(kind, start, tmp_path):
    """A word that mathtext cannot read would raise an error, and one that is not escaped would be a tag."""
    figure = drawn(HOSTILE[start:] + HOSTILE[:start])[kind]()
    for suffix in BEGINNINGS:
        plots.save_figure(figure, tmp_path / f"figure.{suffix}")
    tree = ElementTree.parse(tmp_path / "figure.svg")
    tags = {re.sub(r"\{.*\}", "", str(node.tag)) for node in tree.iter()}
    assert tags <= {
        "svg", "metadata", "RDF", "Work", "type", "format", "creator", "Agent", "title", "defs", "style", "g", "path",
        "use", "clipPath", "rect", "image",
    }  # fmt: skip


def test_dollars_are_dollars():
    shown = {text.get_text(): text for text in drawn(HOSTILE)["bars"]().findobj(Text)}
    for word in ("$x$", "$$"):
        if word in shown:
            assert not shown[word].get_parse_math()
    title = next(text for text in shown if text.startswith("1  "))
    assert title == "1  $x$"
    assert not shown[title].get_parse_math()


def test_hidden_characters_are_written_out():
    words = ["\u202eevil", "a\nb", "\x1b[31m", *"cdef"]
    texts = [text.get_text() for text in drawn(words)["pairs"]().findobj(Text)]
    assert r"\u202eevil" in texts
    assert r"a\nb" in texts
    assert r"\x1b[31m" in texts


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_the_same_figure_gives_the_same_file(suffix, tmp_path):
    for number in range(2):
        plots.save_figure(drawn(["a", "b", "c", "d"])["map"](), tmp_path / f"{number}.{suffix}")
    first, second = ((tmp_path / f"{number}.{suffix}").read_bytes() for number in range(2))
    assert first == second
    assert first.startswith(BEGINNINGS[suffix])


def test_what_cannot_be_written_leaves_no_file(tmp_path):
    figure = Figure()
    with pytest.raises(ValueError, match=r"written as \.png, \.svg or \.pdf"):
        plots.save_figure(figure, tmp_path / "figure.jpg")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        plots.save_figure(figure, tmp_path / "missing" / "figure.png")
    figure.text(0, 0, r"$\nonsense{$")
    (tmp_path / "old.png").write_bytes(b"old")
    with pytest.raises(ValueError, match="nonsense"):
        plots.save_figure(figure, tmp_path / "old.png")
    assert [path.name for path in tmp_path.iterdir()] == ["old.png"]
    assert (tmp_path / "old.png").read_bytes() == b"old"
