"""Web pages: their text without tags, in files, folders and archives."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdmix import fit_documents, read_corpus
from fdmix.text.files import Layout, TextError
from fdmix.text.sources import files_of
from fdmix.text.web_pages import text_of_page

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Flu &amp; you</title>
<style>p > b { color: red }</style><script>if (a < b) document.write("<p>secret</p>")</script></head>
<body><h1>The flu
season</h1><p class="x > y">Get your <b>sh</b>ot&nbsp;now<br>today.<p>Stay home.<!-- secret -->
<![if IE]>old<![endif]><ul><li>Tea<li>Rest</ul><template><p>secret</p></template></body></html>"""
BLOCKS = ["Flu & you", "The flu season", "Get your shot now", "today.", "Stay home. old", "Tea", "Rest"]


def texts(source, **layout):
    return [text.strip() for batch in files_of([source], Layout(**layout)).batches() for text in batch.texts()]


def test_a_page_is_its_text():
    assert text_of_page(PAGE).split("\n\n") == BLOCKS


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("", ""),
        ("no tags at all", "no tags at all"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<p>never closed <b>bold", "never closed bold"),
        ("</p></b></script>only ends", "only ends"),
        ("a<script>b</script>c<STYLE>d</STYLE>e", "ace"),
        ("<p>a<div/>b<br/>c<img src=x>d", "a\n\nb\n\nc\n\nd"),
        ("a\0b", "a b"),
        ("<svg><title>icon</title><path d='M0 0'/></svg>text", "text"),
    ],
)
def test_broken_and_small_pages(page, text):
    assert text_of_page(page) == text


@given(
    st.lists(
        st.sampled_from(["<", ">", "<!", "<![", "<!--", "]]>", "&#x", "&", "</", "p", "script", '"', " ", "=", "\0"])
    )
)
def test_no_page_fails(pieces):
    assert "\0" not in text_of_page("".join(pieces))


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="<&\0"), min_size=1), max_size=4))
def test_text_without_markup_is_kept(paragraphs):
    words = [" ".join(paragraph.split()) for paragraph in paragraphs]
    page = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    assert text_of_page(page) == "\n\n".join(word for word in words if word)


def test_a_page_is_a_document_and_its_blocks_are_paragraphs(tmp_path):
    for name in ("page.html", "page.htm", "page.xhtml", "PAGE.HTML"):
        (tmp_path / name).write_text(PAGE)
        assert texts(tmp_path / name) == ["\n\n".join(BLOCKS)]
        assert texts(tmp_path / name, split="paragraphs") == BLOCKS
        assert texts(tmp_path / name, split="lines") == BLOCKS
    (tmp_path / "page.html.gz").write_bytes(gzip.compress(PAGE.encode()))
    assert texts(tmp_path / "page.html.gz") == ["\n\n".join(BLOCKS)]
    (tmp_path / "old.html").write_bytes("<p>Café</p>".encode("latin-1"))
    assert texts(tmp_path / "old.html", encoding="latin-1") == ["Café"]
    with pytest.raises(TextError, match="is not UTF-8 text"):
        texts(tmp_path / "old.html")


def test_a_column_of_a_page_is_refused(tmp_path):
    (tmp_path / "page.html").write_text(PAGE)
    with pytest.raises(TextError, match="is a web page and has no columns"):
        texts(tmp_path / "page.html", column="text")


def test_a_folder_of_pages_and_reports(tmp_path):
    """Each page is a document; a report that fdmix wrote is no document."""
    corpus_of = tmp_path / "site"
    (corpus_of / "deep").mkdir(parents=True)
    (corpus_of / "a.html").write_text(PAGE)
    (corpus_of / "deep" / "b.htm").write_text("<p>Tea season</p>")
    (corpus_of / "c.txt").write_text("Plain\ntext")
    fit_documents(read_corpus(["cat dog", "stock bond"] * 10), 2).mixture.report(corpus_of / "report.html")
    files = files_of([corpus_of], Layout())
    assert [Path(path).name for path in files.paths] == ["a.html", "c.txt", "b.htm"]
    assert files.per_file
    corpus = read_corpus(corpus_of, preset="plain")
    assert corpus.n_documents == 3
    assert {"season", "tea", "plain"} <= set(corpus.vocabulary)
    assert not {"html", "body", "secret"} & set(corpus.vocabulary)
