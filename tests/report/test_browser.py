"""The report in a real browser: what people see, type and press."""

import json
from itertools import pairwise

import numpy as np
import pytest
from browser import opened
from examples import SUBJECTS
from hostile import HOSTILE_WORDS

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.cli.app import app
from fdmix.mixture.ranking import WordRanking
from fdmix.reliability import reliability
from fdmix.report import write_report

pytestmark = pytest.mark.slow  # minutes in all: a browser, or a process for each fit

VIEWS = {
    "view=overview": "Four subjects",
    "view=topics": "Topics",
    "view=map": "Map",
    "view=together": "Together",
    "view=words": "Words",
    "view=tree": "Tree",
    "view=groups": "By subject",
    "view=compare": "Compare",
    "topic=2": "Topic 2",
    "word=cat": "Word cat",
}


@pytest.fixture
def page(browser, report):
    with opened(browser, report[0]) as found:
        yield found


def topic_of(mixture, word):
    """The number of the topic in which a word is most probable."""
    return int(mixture.topics[:, mixture.vocabulary.index(word)].argmax())


@pytest.mark.parametrize(("fragment", "heading"), VIEWS.items())
def test_each_view_opens_by_its_address(browser, report, fragment, heading):
    """Deep links; the fixture `opened` counts requests and errors: there must be none."""
    with opened(browser, report[0], fragment=f"#{fragment}") as page:
        assert page.heading().startswith(heading)
        assert page.page.evaluate("document.title").startswith(page.heading()[:5])


@pytest.mark.parametrize("fragment", ["topic=99", "topic=x", "word=zebra", "view=nothing", "topic=-1"])
def test_an_address_that_names_nothing_says_so(browser, report, fragment):
    with opened(browser, report[0], fragment=f"#{fragment}") as page:
        assert page.shows("Not in this report")


def test_the_overview_tells_numbers_cleaning_and_fit(page):
    text = page.text()
    assert "400" in text
    assert "documents" in text
    assert "How the fit went" in text
    assert "passes over the word pairs" in text
    assert "left out: stop words (english)" in text
    assert "coherence (NPMI)" in text


def test_the_search_finds_words_and_topics(page, report):
    page.page.fill("#search", "galax")
    options = page.page.locator("#found [role=option]")
    assert "galaxy" in options.first.inner_text()
    assert any(f"topic {topic_of(report[1], 'galaxy')}" in text for text in options.all_inner_texts())
    page.page.press("#search", "Enter")
    page.page.wait_for_url("**#word=galaxy")
    page.page.wait_for_selector("main h1:has-text('Word')")
    assert page.shows("Word galaxy")


def test_the_table_is_filtered_by_several_words(page, report):
    page.go("view=topics")
    page.page.fill("#filter", "cat dog")
    rows = page.page.locator("table.topics tbody tr")
    assert rows.count() < 4
    assert rows.first.locator("th a").inner_text() == str(topic_of(report[1], "cat"))
    assert page.page.locator(".hit").first.inner_text() in ("cat", "dog")
    page.page.fill("#filter", "cat zzz")
    assert rows.count() == 0
    page.page.fill("#filter", "")
    assert rows.count() == 4


def test_the_table_is_sorted(page):
    page.go("view=topics")
    page.page.click("thead >> text=Topic")
    numbers = page.page.locator("table.topics tbody th a").all_inner_texts()
    assert numbers == ["0", "1", "2", "3"]
    page.page.click("thead >> text=Coherence")
    values = [float(text) for text in page.page.locator("table.topics td:nth-child(4)").all_inner_texts()]
    assert values == sorted(values, reverse=True)


def test_the_slider_ranks_words_by_relevance(page, report):
    """lambda = 1 is p(w | t); lambda = 0 is p(w | t) / p(w). The page's order is that of the model."""
    mixture = report[1]
    topic = topic_of(mixture, "star")
    page.go(f"topic={topic}")
    page.page.fill("#lambda", "1")
    words = page.page.locator("table.bars tbody th").all_inner_texts()
    here = [mixture.topics[topic, mixture.vocabulary.index(word)] for word in words]
    assert all(a >= b * 0.97 for a, b in pairwise(here))  # numbers of the page are precise to 1 %
    page.page.fill("#lambda", "0")
    competing = int(WordRanking(mixture.topics, mixture.shares, mixture.n_tokens).candidates[topic].size)
    ratios = [float(text[:-1]) for text in page.page.locator("table.bars td:nth-child(5)").all_inner_texts()]
    assert ratios[:competing] == sorted(ratios[:competing], reverse=True)


def test_topics_are_described_by_the_words_of_the_command_line(page, report):
    mixture = report[1]
    assert mixture.relevance is not None
    for topic, words in enumerate(mixture.top_words(10)):
        page.go(f"topic={topic}")
        assert page.page.locator("table.bars tbody th").all_inner_texts()[:10] == words
        assert float(page.page.input_value("#lambda")) == mixture.relevance


def test_a_topic_shows_typical_documents_with_marks(page, report):
    page.go(f"topic={topic_of(report[1], 'cheese')}")
    documents = page.page.locator(".documents li")
    assert documents.count() == 5
    page.page.click("text=Show 15 more")
    assert documents.count() == 20
    marks = set(page.page.locator(".documents mark").all_inner_texts())
    assert marks <= set(SUBJECTS["food"].split())
    assert len(marks) == 10


def test_a_word_shows_topics_partners_and_pairs(page, report):
    page.go("word=moon")
    assert f"{topic_of(report[1], 'moon')} " in page.page.locator(".ranked li").first.inner_text()
    partners = page.page.locator("section:has-text('Its strongest partners') tbody tr").all_inner_texts()
    assert any(word in partners[0] for word in set(SUBJECTS["space"].split()) - {"moon"})
    assert "Pairs the model does not explain" in page.text()


def test_labels_are_typed_exported_and_stored(page, report, tmp_path, capsys):
    mixture = report[1]
    topic = topic_of(mixture, "bank")
    page.go(f"topic={topic}")
    page.page.fill("#label", "  money & <markets>  ")
    page.page.press("#label", "Tab")
    assert "money & <markets>" in page.heading()
    page.go("view=topics")
    assert "money & <markets>" in page.text()
    with page.page.expect_download() as download:
        page.page.click("text=Export labels")
    exported = tmp_path / "labels.json"
    download.value.save_as(exported)
    mixture.save(tmp_path / "model")
    app(["label", str(tmp_path / "model"), "--from", str(exported)], standalone_mode=False)
    assert Mixture.load(tmp_path / "model").labels == {topic: "money & <markets>"}
    app(["topics", str(tmp_path / "model")], standalone_mode=False)
    assert "money & <markets>" in capsys.readouterr().out


def test_labels_of_the_model_are_in_the_page(browser, report, tmp_path):
    mixture = report[1].labelled({1: "the label of topic one"})
    mixture.report(tmp_path / "r.html")
    with opened(browser, tmp_path / "r.html", fragment="#topic=1") as page:
        assert "the label of topic one" in page.heading()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(browser, report, scheme):
    with opened(browser, report[0], scheme=scheme) as page:
        brightness = "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).map(Number)[0]"
        assert (page.page.evaluate(brightness) > 128) == (scheme == "light")
        for wanted in ("light", "dark", "auto"):
            page.page.click("#theme")
            assert page.page.get_attribute("html", "data-theme") == wanted
            shown = scheme if wanted == "auto" else wanted
            assert (page.page.evaluate(brightness) > 128) == (shown == "light")


def test_paper_is_white_and_without_controls(browser, report):
    with opened(browser, report[0], fragment="#topic=0", scheme="dark") as page:
        page.page.click("#theme")
        page.page.click("#theme")
        assert page.page.get_attribute("html", "data-theme") == "dark"
        page.page.emulate_media(media="print")
        colour = "getComputedStyle(document.documentElement).backgroundColor"
        assert page.page.evaluate(colour) == "rgb(255, 255, 255)"
        assert not page.page.is_visible("#bar")
        assert not page.page.is_visible("#lambda")
        assert page.page.is_visible("table.bars")


def test_a_walk_with_the_keyboard_alone(page):
    """Tab reaches everything, the focus is visible, arrow keys move in pictures, Enter opens."""
    press = page.page.keyboard.press
    press("Tab")
    assert page.page.evaluate("document.activeElement.id") == "skip"
    for _ in range(4):
        press("Tab")
    assert page.page.evaluate("document.activeElement.textContent") == "Map"
    assert page.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    press("Enter")
    page.page.wait_for_url("**#view=map")
    page.page.wait_for_selector(".points a")
    page.page.focus(".points a[tabindex='0']")
    first = page.page.evaluate("document.activeElement.getAttribute('href')")
    moved = set()
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        press(key)
        moved.add(page.page.evaluate("document.activeElement.getAttribute('href')"))
    assert moved - {first}
    wanted = page.page.evaluate("document.activeElement.getAttribute('href')")
    press("Enter")
    page.page.wait_for_url(f"**{wanted}")
    page.page.wait_for_selector("main:focus")  # the new view takes the focus when it is drawn
    press("/")
    page.page.wait_for_selector("#search:focus")
    page.page.keyboard.type("sugar")
    press("ArrowDown")
    press("Enter")
    page.page.wait_for_url("**#word=sugar")
    assert page.shows("Word sugar")


def test_the_matrix_obeys_the_keyboard(page):
    page.go("view=together")
    page.page.focus(".matrix")
    page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("ArrowRight")
    assert "as often as by chance" in page.text(".readout")
    page.page.keyboard.press("Enter")
    page.page.wait_for_url("**#topic=*")


def test_the_network_has_a_slider_and_a_table(page, report):
    lift = np.triu(report[1].lift(), 1)
    page.go("view=together")
    page.page.click("text=Network")
    page.page.wait_for_selector(".points a")
    assert page.page.locator(".edges path").count() > 0
    page.page.fill("#least", "100")
    strongest = (lift >= 0.97 * lift.max()).sum()  # pairs of topics, as exact as the page has them
    assert 1 <= page.page.get_attribute(".edges path", "d").count("M") <= strongest
    page.page.click("summary:has-text('The lift of all topics as a table')")
    page.page.wait_for_selector("details.behind[open] tbody tr")
    assert page.page.locator("details.behind[open] tbody tr").count() == 4


@pytest.mark.parametrize("view", ["view=map", "view=overview"])
def test_every_picture_has_a_table(page, view):
    page.go(view)
    pictures = page.page.locator("main svg").count()
    tables = page.page.locator("details.behind summary")
    assert tables.count() >= pictures
    for place in range(tables.count()):
        tables.nth(place).click()
        page.page.wait_for_selector(f"details.behind[open] >> nth={place} >> tbody tr")
    assert page.page.locator("details.behind[open] tbody tr").count() > pictures


@pytest.mark.parametrize("fragment", VIEWS)
def test_no_view_is_wider_than_a_phone(browser, report, fragment):
    with opened(browser, report[0], fragment=f"#{fragment}", width=390, height=844) as page:
        assert page.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_names_on_the_map_do_not_overlap(browser, report):
    with opened(browser, report[0], fragment="#view=map") as page:
        page.page.wait_for_selector(".names text")
        overlaps = page.page.evaluate("""() => {
            const boxes = [...document.querySelectorAll(".names text")].map((text) => text.getBoundingClientRect());
            const middle = (box) => ({ ...box.toJSON(), top: box.top + 3, bottom: box.bottom - 3 });
            const cut = boxes.map(middle);
            return cut.some((a, i) => cut.some((b, j) => j > i && a.left < b.right && b.left < a.right
                && a.top < b.bottom && b.top < a.bottom));
        }""")
        assert not overlaps


def test_the_pictures_are_the_same_each_time(browser, report):
    places = []
    for _ in range(2):
        with opened(browser, report[0], fragment="#view=map") as page:
            page.page.wait_for_selector(".names text")
            places.append(page.page.evaluate(
                "[...document.querySelectorAll('.points a')].map((a) => a.getAttribute('transform'))"
            ))  # fmt: skip
    assert places[0] == places[1]


def test_a_report_without_moments_and_documents(browser, report, tmp_path):
    """Partners come from the model; views without data are not in the bar."""
    write_report(report[1], tmp_path / "r.html")
    with opened(browser, tmp_path / "r.html") as page:
        assert page.page.locator("nav a").all_inner_texts() == ["Overview", "Topics", "Map", "Together", "Words"]
        page.go("word=moon")
        partners = page.page.locator("section:has-text('Its strongest partners') tbody tr").all_inner_texts()
        assert any(word in partners[0] for word in set(SUBJECTS["space"].split()) - {"moon"})
        page.go("topic=0")
        assert "Most typical documents" not in page.text()


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_very_few_topics(browser, tmp_path, n_topics):
    topics = [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]][:n_topics]
    Mixture(topics, vocabulary=["ant", "bee", "cat"]).report(tmp_path / "r.html")
    with opened(browser, tmp_path / "r.html") as page:
        for view in ("view=topics", "view=map", "view=together", "topic=0", "word=bee"):
            page.go(view)
            assert page.heading()


def test_hostile_words_stay_words(browser, tmp_path):
    """Every word appears as text; none becomes markup, runs, hides or reorders text."""
    words = list(HOSTILE_WORDS)
    n = len(words)
    topics = [[1 / n] * n, [(i + 1) * 2 / (n * (n + 1)) for i in range(n)]]
    mixture = Mixture(topics, vocabulary=words).labelled({0: "</script><img src=x onerror=alert(1)>"})
    mixture.report(tmp_path / "r.html", title="</title><script>alert(1)</script>")
    with opened(browser, tmp_path / "r.html") as page:
        page.page.on("dialog", lambda dialog: page.errors.append(dialog.message))
        assert page.shows("</title><script>alert(1)</script>")
        for view in ("view=overview", "view=topics", "view=map", "view=together", "view=words", "topic=0", "topic=1"):
            page.go(view)
            assert page.page.evaluate("document.scripts.length") == 6
            assert page.page.locator("main img, main script, main b").count() == 0
        page.go("topic=0")
        page.page.fill("#lambda", "0")
        assert "</script><img src=x onerror=alert(1)>" in page.heading()
        page.go("view=words")
        shown = page.text()
        assert "</script><script>alert(1)</script>" in shown
        assert "\\u202etxt.exe" in shown
        assert not set(shown) & set("\x1b\x9b\x85\u202e\u2066\u200b\x00\u2028")
        for place in range(0, n, 7):
            name = page.page.evaluate("place => document.querySelectorAll('main .word-link')[place].hash", place)
            page.go(name[1:])
            assert page.heading().startswith("Word")
            page.go("view=words")


def test_an_export_is_json_whatever_is_typed(page):
    page.go("topic=0")
    page.page.fill("#label", '"}</script>\\ \u202e')
    page.page.press("#label", "Enter")
    with page.page.expect_download() as download:
        page.page.click("text=Export labels")
    with open(download.value.path(), encoding="utf-8") as file:  # noqa: PTH123
        assert json.load(file)["labels"]["0"] == '"}</script>\\ \u202e'


def test_how_sure_topics_are_is_shown(browser, tmp_path):
    moments = Moments.of(worlds.zipf(3, 60).sample(300, length=20), [f"w{u}" for u in range(60)], folds=5)
    mixture = reliability(fit_mixture(moments, 3).mixture, moments, n_refits=3)
    write_report(mixture, tmp_path / "report.html")
    with opened(browser, tmp_path / "report.html", fragment="#view=topics") as page:
        assert "comes back" in page.text().lower()
    with opened(browser, tmp_path / "report.html", fragment="#topic=1") as page:
        assert "of 3 refits" in page.text()
    with opened(browser, tmp_path / "report.html", fragment="#view=overview") as page:
        assert "topics that come back" in page.text()
