"""The report in the cell of a notebook: an iframe inside of another page."""

import json
import re
from html.parser import HTMLParser

import pytest
from browser import opened
from examples import small_model

from fdmix import Mixture


class Frames(HTMLParser):
    """The iframes of a page, and every other tag."""

    def __init__(self, page):
        super().__init__()
        self.frames, self.others = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "iframe":
            self.frames.append(dict(attrs))
        else:
            self.others.append(tag)


def test_the_whole_page_is_in_the_iframe(tmp_path):
    mixture = Mixture([[0.5, 0.5], [0.1, 0.9]], vocabulary=['"></iframe><script>alert(1)</script>', "&quot;"])
    mixture.report(tmp_path / "report.html", title='"><b>')
    shown = mixture.show(height=321, title='"><b>')
    found = Frames(shown._repr_html_())
    (frame,) = found.frames
    assert found.others == []
    assert frame["srcdoc"] == (tmp_path / "report.html").read_text("utf-8")
    assert "height: 321px" in frame["style"]
    assert len(repr(shown)) < 100


def test_wrong_heights_and_options_are_refused():
    mixture = Mixture([[1.0]])
    with pytest.raises(ValueError, match="height must be"):
        mixture.show(height=0)
    with pytest.raises(TypeError, match="colour"):
        mixture.show(colour="red")


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """A host page with a report in an iframe, as a notebook shows it."""
    path = tmp_path_factory.mktemp("notebook") / "notebook.html"
    mixture, moments, *_ = small_model()
    shown = mixture.show(moments=moments, title="In a cell")._repr_html_()
    start = "<script>document.documentElement.dataset.ready = 'host'; secret = 'kernel';</script>"
    path.write_text(f"<!doctype html><html><body><h1>Notebook</h1>{shown}{start}</body></html>", "utf-8")
    return path


def frame_of(page):
    frame = page.page.frame_locator("iframe")
    frame.locator("html[data-ready=yes]").wait_for(state="attached")
    return frame


@pytest.mark.slow
def test_links_and_deep_links_stay_in_the_cell(browser, notebook):
    from playwright.sync_api import expect

    with opened(browser, notebook) as page:
        frame = frame_of(page)
        expect(frame.locator("main h1")).to_have_text("In a cell")
        frame.locator("nav a", has_text="Map").click()
        expect(frame.locator("main h1")).to_have_text("Map")
        (inner,) = page.page.main_frame.child_frames
        inner.evaluate("() => { location.hash = 'topic=2'; }")
        expect(frame.locator("main h1")).to_contain_text("2")
        frame.locator("nav a", has_text="Topics").click()
        frame.locator("main a[href^='#topic=']").first.click()
        expect(frame.locator("#label")).to_be_visible()
        frame.locator("#search").fill("bank")
        frame.locator("#search").press("Enter")
        expect(frame.locator("main h1")).to_contain_text("bank")
        assert page.page.inner_text("h1") == "Notebook"
        assert "#" not in page.page.url


@pytest.mark.slow
def test_the_page_cannot_reach_the_notebook(browser, notebook):
    with opened(browser, notebook) as page:
        frame_of(page)
        (inner,) = page.page.main_frame.child_frames
        told = inner.evaluate("() => { try { return parent.secret; } catch (error) { return error.name; } }")
        assert told == "SecurityError"
        assert inner.evaluate("document.querySelector('meta[http-equiv]').content").startswith("default-src 'none'")


@pytest.mark.slow
def test_labels_are_exported_from_the_cell(browser, notebook):
    with opened(browser, notebook) as page:
        frame = frame_of(page)
        (inner,) = page.page.main_frame.child_frames
        inner.evaluate("() => { location.hash = 'topic=1'; }")
        frame.locator("#label").fill("pets")
        frame.locator("#label").press("Enter")
        with page.page.expect_download() as download:
            frame.locator("button", has_text=re.compile("^Export labels")).first.click()
        assert json.loads(download.value.path().read_text())["labels"] == {"1": "pets"}
