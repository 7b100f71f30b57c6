"""The choice of the number of topics and the edits of a model, in the browser."""

from dataclasses import replace

import numpy as np
import pytest
from browser import opened
from examples import small_model
from test_accessibility import AXE

from fdmix import Choice, Mixture
from fdmix.report import write_report

pytestmark = pytest.mark.slow
GAINS = "svg[aria-label^='Gain of each']"  # the chart of what each number of topics gains
HOSTILE = "<img src=x onerror=alert(1)>"


def choice_of(*gains, errors=0.01):
    """A choice among 1, 2, 4, 8, 16 topics with these gains, in three folds; stability would choose 8."""
    spread = errors * np.sqrt(3) * np.array([-1.0, 0, 1])[:, None]
    pairs = -9 + np.array(gains) + spread * (np.arange(5) > 0)
    stability = np.tile([np.nan, 0.5, 0.7, 0.9, 0.6], (3, 1))
    return Choice((1, 2, 4, 8, 16), {"pairs": pairs, "stability": stability}, "pairs", 400)


@pytest.fixture(scope="module")
def edited():
    """(model of four subjects after two steps of edits, what each step did)."""
    mixture, moments, _, _ = small_model()
    first = mixture.edit(moments).merge(0, 1).rename(2, HOSTILE).fit()
    second = first.edit().seed({"zoo": ["cat", "horse", "cow"]}).fit()
    return second.mixture, (first.changes, second.changes)


@pytest.fixture(scope="module")
def path(edited, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(edited[0], path, choice=choice_of(0, 0.3, 0.5, 0.503, 0.502))
    return path


def test_the_choice_is_drawn_with_its_reason_and_other_opinions(browser, path):
    with opened(browser, path, fragment="#view=choice") as found:
        assert found.page.inner_text("h1") == "How many topics"
        assert found.text(".lead").startswith(
            "Take 4 topics: on the word pairs of left-out documents they gain 0.5000"
        )
        assert found.page.text_content("svg text.chosen") == "take 4"
        assert found.page.locator(f"{GAINS} circle").count() == 5
        assert found.page.locator(f"{GAINS} line.whisker").count() == 5
        assert found.page.inner_text(".small-multiples h3") == "8, by stability of the topics"
        found.page.locator("details.behind summary").first.click()
        found.page.wait_for_selector("details.behind tbody tr")
        rows = found.page.locator("details.behind tbody tr").all_inner_texts()
        assert rows[2].split() == ["4", "0.50000", "0.01000", "chosen"]
        assert rows[3].split() == ["8", "0.50300", "0.01000", "best"]
        assert found.page.locator("[aria-label='All scores'] tbody tr").count() == 5
        assert (found.errors, found.requests) == ([], [])


def test_the_chosen_point_is_the_smallest_in_the_band(browser, path):
    with opened(browser, path, fragment="#view=choice") as found:
        found.page.wait_for_selector(f"{GAINS} rect.band")
        band = found.page.locator(f"{GAINS} rect.band").evaluate(
            "b => [+b.getAttribute('y'), +b.getAttribute('height')]"
        )
        heights = found.page.eval_on_selector_all(f"{GAINS} circle", "cs => cs.map(c => +c.getAttribute('cy'))")
        inside = [band[0] - 0.01 <= y <= band[0] + band[1] + 0.01 for y in heights]
        assert inside == [False, False, True, True, True]


def test_noise_has_no_topics(browser, tmp_path, edited):
    write_report(edited[0], tmp_path / "r.html", choice=choice_of(0, -0.1, -0.2, -0.2, -0.3))
    with opened(browser, tmp_path / "r.html", fragment="#view=choice") as found:
        assert found.text(".lead").startswith("There are no topics")
        assert found.page.text_content("svg text.chosen") == "no topics"
        assert found.errors == []


def test_each_step_tells_its_edits_its_cost_and_what_moved(browser, path, edited):
    _, (first, second) = edited
    with opened(browser, path, fragment="#view=edits") as found:
        cards = found.page.locator("section.card")
        assert cards.locator("h2").all_inner_texts() == ["Step 2", "Step 1"]
        last, earlier = cards.nth(0), cards.nth(1)
        assert last.locator(".asked li").all_inner_texts() == ["“zoo” holds cat, horse and cow"]
        assert earlier.locator(".asked li").all_inner_texts() == ["merge topics 0 and 1", f"call topic 2 “{HOSTILE}”"]
        for card, changes in ((last, second), (earlier, first)):
            told = card.inner_text().replace("\N{MINUS SIGN}", "-")
            verb = "cost" if changes.cost > 0 else "gained"
            assert f"{changes.log_likelihood_before:.4f} before, {changes.log_likelihood:.4f} after" in told
            assert f"The edits {verb} {abs(changes.cost):.4f}." in told
            roles = card.locator("table.compared .role").all_inner_texts()
            assert len(roles) == len(changes.topics)
            assert roles.count("new") == len(changes.new)
            assert roles.count("gone") == len(changes.gone)
        assert found.page.locator("img").count() == 0
        assert (found.errors, found.requests) == ([], [])


def test_words_that_came_and_went_are_marked(browser, path, edited):
    _, (first, _) = edited
    merged = next(change for change in first.topics if change.role == "edited" and change.after.number == 0)
    with opened(browser, path, fragment="#view=edits") as found:
        row = found.page.locator("section.card").nth(1).locator("table.compared tbody tr").first
        came = [word for word in merged.after.words if word not in merged.before.words]
        assert row.locator("ins").all_inner_texts() == came
        assert came


def test_a_topic_after_the_last_step_leads_to_its_page(browser, path):
    with opened(browser, path, fragment="#view=edits") as found:
        link = found.page.locator("section.card").first.locator("table.compared a").first
        wanted = link.get_attribute("href")
        link.click()
        found.page.wait_for_url(f"**{wanted}")
        assert found.page.locator("section.card").count() > 0


@pytest.mark.parametrize("view", ["choice", "edits"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_views_are_accessible_and_fit_a_phone(browser, path, view, scheme):
    with opened(browser, path, fragment=f"#view={view}", width=390, scheme=scheme) as found:
        found.page.evaluate(AXE.read_text("utf-8"))
        problems = found.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        assert [each["id"] for each in problems if each["impact"] in ("serious", "critical")] == []
        assert found.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_reports_without_them_have_neither_view(browser, tmp_path):
    mixture, _, _, _ = small_model()
    write_report(mixture, tmp_path / "r.html")
    with opened(browser, tmp_path / "r.html") as found:
        names = found.page.locator("nav a").all_inner_texts()
        assert "Edits" not in names
        assert "How many" not in names


def test_a_damaged_log_of_edits_is_left_out(tmp_path, edited, browser):
    mixture = edited[0]
    for damaged in ({}, [], {"steps": [{"story": 3}]}, {**mixture.provenance["edits"], "steps": [{"edits": []}]}):
        story = {**mixture.provenance, "edits": damaged}
        write_report(replace(mixture, provenance=story), tmp_path / "r.html")
    with opened(browser, tmp_path / "r.html") as found:
        assert "Edits" not in found.page.locator("nav a").all_inner_texts()


def test_steps_survive_saving_the_model(edited, tmp_path):
    edited[0].save(tmp_path / "model")
    assert Mixture.load(tmp_path / "model").provenance["edits"] == edited[0].provenance["edits"]
