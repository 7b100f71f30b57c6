"""A report of 500 topics over 11,000 words: its size, how fast it opens, and how fast it answers.

Times are measured in the browser: from an action until the next frame is painted. The best of some tries counts,
because other programs run on the machine of the tests: tries end with the first one that is fast enough.
"""

import pytest
from browser import opened
from examples import large_mixture, large_model_with_moments

pytestmark = pytest.mark.slow

MAX_BYTES = 1_000_000
MAX_OPENING_MS = 1_000
MAX_ACTION_MS = 100
TRIES = 12

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
    path = tmp_path_factory.mktemp("large") / "report.html"
    large_mixture().report(path, title="500 topics")
    return path


def typed(selector, value):
    return TYPED.replace("SELECTOR", selector).replace("VALUE", repr(value))


def route(fragment):
    return FOLLOWED.replace("FRAGMENT", fragment)


def milliseconds(page, action):
    return page.page.evaluate(TIMED.replace("ACTION", action))


def best(limit, measured):
    """The first of some measured times that is within the limit, or the shortest."""
    times = []
    for time in measured:
        times.append(time)
        if time <= limit:
            break
    return min(times)


def test_size(large):
    assert large.stat().st_size <= MAX_BYTES


def test_size_with_moments(tmp_path):
    """Words of random letters compress worse than those of a language."""
    mixture, moments = large_model_with_moments()
    mixture.report(tmp_path / "report.html", moments=moments)
    print(f"{(tmp_path / 'report.html').stat().st_size:,} bytes")  # noqa: T201
    assert (tmp_path / "report.html").stat().st_size <= MAX_BYTES


def test_it_opens_within_a_second(browser, large):
    def opening():
        with opened(browser, large) as page:
            return page.page.evaluate("performance.getEntriesByName('ready')[0].startTime")

    time = best(MAX_OPENING_MS, (opening() for _ in range(TRIES)))
    print(f"opens in {time:.0f} ms")  # noqa: T201
    assert time <= MAX_OPENING_MS


ACTIONS = {
    "open the treemap": ("view=overview", route("view=topics")),
    "filter topics": ("view=topics", typed("#filter", "word000")),
    "open the map": ("view=overview", route("view=map")),
    "open the matrix": ("view=overview", route("view=together")),
    "open a topic": ("view=overview", route("topic=17")),
    "move the slider": ("topic=17", typed("#lambda", "0.3")),
    "open a word": ("topic=17", route("word=word00000x")),
    "open the words": ("topic=17", route("view=words")),
    "search": ("topic=17", typed("#search", "word0012")),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_actions_take_less_than_a_tenth_of_a_second(browser, large, name):
    before, action = ACTIONS[name]

    def acting(page):
        page.go(before)
        return milliseconds(page, action)

    with opened(browser, large) as page:
        time = best(MAX_ACTION_MS, (acting(page) for _ in range(TRIES)))
    print(f"{name}: {time:.0f} ms")  # noqa: T201
    assert time <= MAX_ACTION_MS


def test_sorting_zooming_and_the_network_are_fast(browser, large):
    """What needs a click first: the table of all topics, the zoom of the map, the lines of the network."""
    with opened(browser, large, fragment="#view=topics") as page:
        page.page.click("text=Table")
        click = "[...document.querySelectorAll('thead button')].find((b) => b.textContent === 'Exclusive').click()"
        sort = best(MAX_ACTION_MS, (milliseconds(page, click) for _ in range(TRIES)))
        page.go("view=map")
        page.page.wait_for_selector(".points a")
        zooming = "document.querySelector('[aria-label=\"Zoom in\"]').click()"
        zoom = best(MAX_ACTION_MS, (milliseconds(page, zooming) for _ in range(TRIES)))
        page.go("view=together")
        page.page.click("text=Network")
        page.page.wait_for_selector(".points a")
        sliding = (milliseconds(page, typed("#least", str(5 * value))) for value in range(TRIES))
        lines = best(MAX_ACTION_MS, sliding)
    print(f"sort {sort:.0f} ms, zoom {zoom:.0f} ms, lines {lines:.0f} ms")  # noqa: T201
    assert max(sort, zoom, lines) <= MAX_ACTION_MS


def test_names_on_a_full_map_do_not_overlap(browser, large):
    with opened(browser, large, fragment="#view=map") as page:
        page.page.wait_for_selector(".names text")
        boxes = page.page.evaluate("""[...document.querySelectorAll(".names text")].map((text) => {
            const { left, right, top, bottom } = text.getBoundingClientRect();
            return [left, right, top + 3, bottom - 3];
        })""")
    assert len(boxes) > 20
    for i, (left, right, top, bottom) in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert right <= other[0] or other[1] <= left or bottom <= other[2] or other[3] <= top
