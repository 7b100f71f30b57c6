"""A report of 500 topics over 11,000 words: its size, how fast it opens, and how fast it answers.

Times are measured in the browser: from an action until the next frame is painted. The median of five tries counts.
Other tests run on the same machine, so a median that is too long is measured again after a pause, a few times. Work
that has nothing to do with the report is timed before each action, and times are divided by how much longer it takes
than on a free machine.
"""

import time
from functools import partial
from statistics import median

import pytest
from browser import opened
from examples import large_mixture, large_model_with_moments

pytestmark = pytest.mark.slow

MAX_BYTES = 1_000_000
MAX_OPENING_MS = 1_000
MAX_ACTION_MS = 100
TRIES = 5
ROUNDS = 5
PAUSE = 1.5  # seconds between rounds

REFERENCE_MS = 52  # of the work below, on a free machine: two cores of an Intel Xeon at 2.5 GHz
REFERENCE = """() => {
    const begin = performance.now();
    const place = document.createElement("div");
    for (let i = 0; i < 2000; i++) {
        const row = document.createElement("p");
        row.textContent = `Row ${i} of a piece of work that has nothing to do with the report.`;
        place.append(row);
    }
    document.body.append(place);
    place.getBoundingClientRect();
    place.remove();
    return performance.now() - begin;
}"""

# Runs the action and waits until the frame after it is painted, which is when the second one begins.
TIMED = """async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await frame();
    const begin = performance.now();
    await (() => { ACTION })();
    await frame();
    await frame();
    return performance.now() - begin;
}"""
TYPED = """const input = document.querySelector("SELECTOR");
    input.value = VALUE;
    input.dispatchEvent(new Event("input", { bubbles: true }));"""
FOLLOWED = """location.hash = "FRAGMENT";
    return new Promise((done) => addEventListener("hashchange", done, { once: true }));"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """(path, words) of a report with all that moments add: pairs and the tree."""
    path = tmp_path_factory.mktemp("large") / "report.html"
    mixture, moments = large_model_with_moments()
    mixture.report(path, moments=moments, title="500 topics")
    return path, mixture.vocabulary


def typed(selector, value):
    return TYPED.replace("SELECTOR", selector).replace("VALUE", repr(value))


def clicked(selector):
    return f"document.querySelector({selector!r}).click();"


def route(fragment):
    return FOLLOWED.replace("FRAGMENT", fragment)


def milliseconds(page, action):
    return page.page.evaluate(TIMED.replace("ACTION", action))


def typical(limit, measure):
    """The median of some tries; of several rounds the first that is within the limit, or the shortest."""
    medians = []
    for _ in range(ROUNDS):
        medians.append(median(measure() for _ in range(TRIES)))
        if medians[-1] <= limit:
            break
        time.sleep(PAUSE)
    return min(medians)


def test_size(tmp_path):
    large_mixture().report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size <= MAX_BYTES


def test_size_with_moments(large):
    """Words of random letters compress worse than those of a language."""
    size = large[0].stat().st_size
    print(f"{size:,} bytes")  # noqa: T201
    assert size <= MAX_BYTES


def test_it_opens_within_a_second(browser, large):
    def opening():
        with opened(browser, large[0]) as page:
            return page.page.evaluate("performance.getEntriesByName('ready')[0].startTime")

    found = typical(MAX_OPENING_MS, opening)
    print(f"opens in {found:.0f} ms")  # noqa: T201
    assert found <= MAX_OPENING_MS


PRESSED = """document.querySelector("SELECTOR").dispatchEvent(
    new KeyboardEvent("keydown", { key: "KEY", bubbles: true }));"""
# What is done: the view where it is done, and the action. WORD is a word of the model.
ACTIONS = {
    "open the treemap": ("view=overview", route("view=topics")),
    "filter topics": ("view=topics", typed("#filter", "WORD")),
    "open the map": ("view=overview", route("view=map")),
    "zoom the map": ("view=map", clicked("[aria-label='Zoom in']")),
    "open the matrix": ("view=overview", route("view=together")),
    "zoom the matrix": ("view=together", clicked("[aria-label='Zoom in']")),
    "move in the matrix": ("view=together", PRESSED.replace("SELECTOR", ".matrix").replace("KEY", "ArrowDown")),
    "open the tree": ("view=overview", route("view=tree")),
    "cut the tree": ("view=tree", typed("#cut", "60")),
    "open a topic": ("view=overview", route("topic=17")),
    "move the slider": ("topic=17", typed("#lambda", "0.3")),
    "type a label": ("topic=17", typed("#label", "A name")),
    "open a word": ("topic=17", route("word=WORD")),
    "open the words": ("topic=17", route("view=words")),
    "filter words": ("view=words", typed("#word-filter", "WORD")),
    "search": ("topic=17", typed("#search", "WORD")),
}


def acting(page, before, action):
    """Milliseconds of an action in a view; the view is opened from another one, so that it is new each time."""
    page.go("topic=3").go(before)
    slowness = max(1, page.page.evaluate(REFERENCE) / REFERENCE_MS)
    return milliseconds(page, action) / slowness


def test_actions_take_less_than_a_tenth_of_a_second(browser, large):
    path, words = large
    found = {}
    with opened(browser, path) as page:
        for name, (before, action) in ACTIONS.items():
            done = partial(acting, page, before, action.replace("WORD", words[100]))
            found[name] = typical(MAX_ACTION_MS, done)
    print({name: round(each) for name, each in found.items()})  # noqa: T201
    assert {name: each for name, each in found.items() if each > MAX_ACTION_MS} == {}


def test_sorting_and_the_network_are_fast(browser, large):
    """What needs a click first: the table of all topics, the lines of the network."""
    with opened(browser, large[0], fragment="#view=topics") as page:
        page.page.click("text=Table")
        click = "[...document.querySelectorAll('thead button')].find((b) => b.textContent === 'Exclusive').click()"
        sort = typical(MAX_ACTION_MS, lambda: milliseconds(page, click))
        page.go("view=together")
        page.page.click("text=Network")
        page.page.wait_for_selector(".points a")
        sliding = iter(range(TRIES * ROUNDS))
        lines = typical(MAX_ACTION_MS, lambda: milliseconds(page, typed("#least", str(3 * next(sliding)))))
    print(f"sort {sort:.0f} ms, lines {lines:.0f} ms")  # noqa: T201
    assert max(sort, lines) <= MAX_ACTION_MS


def test_names_on_a_full_map_do_not_overlap(browser, large):
    with opened(browser, large[0], fragment="#view=map") as page:
        page.page.wait_for_selector(".names text")
        boxes = page.page.evaluate("""[...document.querySelectorAll(".names text")].map((text) => {
            const { left, right, top, bottom } = text.getBoundingClientRect();
            return [left, right, top + 3, bottom - 3];
        })""")
    assert len(boxes) > 20
    for i, (left, right, top, bottom) in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert right <= other[0] or other[1] <= left or bottom <= other[2] or other[3] <= top
