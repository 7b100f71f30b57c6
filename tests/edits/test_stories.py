"""What a step of edits did, in words and as the log keeps it."""

import json
import math

import numpy as np
import pytest

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.edits import StepStory, last_story
from fdmix.edits.in_words import edit_in_words
from fdmix.edits.log import Apart, Ban, Drop, Freeze, Merge, Pin, Rename, Seed, Split, Together
from fdmix.report.edits import facts_of_edits

SAID = [
    (Merge((3, 7)), "merge topics 3 and 7"),
    (Merge((3, 7, 9)), "merge topics 3, 7 and 9"),
    (Split(12), "split topic 12 into two"),
    (Drop(4), "drop topic 4"),
    (Seed("climate", {"carbon": 0.02, "warming": 0.02}), "“climate” holds carbon and warming"),
    (Seed(3, {"tax": 0.05, "levy": 0.02}), "topic 3 holds tax (0.05) and levy (0.02)"),
    (Ban(("lol", "omg"), None), "no topic holds lol or omg"),
    (Ban(("lol",), 5), "topic 5 does not hold lol"),
    (Together(("a", "b")), "a and b belong together"),
    (Apart(("a", "b", "c")), "no topic holds two of a, b and c"),
    (Freeze(1), "freeze topic 1"),
    (Rename(1, "Sports"), "call topic 1 “Sports”"),
    (Rename(1, ""), "no label for topic 1"),
    (Pin(1, 4), "topic 1 has the number 4"),
]


@pytest.mark.parametrize(("edit", "said"), SAID, ids=[type(edit).__name__ for edit, _ in SAID])
def test_every_edit_has_words(edit, said):
    assert edit_in_words(edit) == said


@pytest.fixture(scope="module")
def model():
    moments = Moments.of(worlds.zipf(6, 120, concentration=20).sample(800, seed=1), [f"w{u}" for u in range(120)])
    return fit_mixture(moments, 6).mixture, moments


def test_topics_before_and_after_are_those_of_the_models(model):
    mixture, moments = model
    edited = mixture.edit(moments).merge(0, 3).split(1).rename(2, "two").fit()
    topics = edited.changes.topics
    assert [change.role for change in topics if change.role != "moved"] == ["edited", "edited", "new", "gone"]
    for change in topics:
        for side, there in ((change.before, mixture), (change.after, edited.mixture)):
            if side is not None:
                assert side.share == there.shares[side.number]
                assert list(side.words) == [there.word(u) for u in there.top_columns(8)[side.number]]
    moved = {change.after.number: change.distance for change in topics if change.role == "moved"}
    assert moved == dict(edited.changes.moved)


def test_the_log_keeps_the_story_and_undo_forgets_it(model, tmp_path):
    mixture, moments = model
    edited = mixture.edit(moments).drop(5).fit()
    story = last_story(edited.mixture)
    assert story == edited.changes.story == StepStory.from_facts(story.facts())
    assert story.cost == pytest.approx(edited.changes.cost)
    with pytest.raises(ValueError, match="does not tell of a step of edits"):
        last_story(edited.undo().mixture)


def test_the_report_says_which_words_were_left_out(model):
    mixture, moments = model
    edited = mixture.edit(moments).seed({0: [mixture.word(3), "nosuch"]}).fit()
    (step,) = facts_of_edits(edited.mixture)
    assert step["edits"][-1] == "not in the model, left out: nosuch"
    assert StepStory.from_facts({**edited.changes.story.facts(), "missing": []}).missing == ()


@pytest.mark.parametrize(
    "damage", [{"role": "odd"}, {"before": None}, {"after": 3}, {"distance": "far"}, {"role": "new"}]
)
def test_a_damaged_story_is_refused(model, damage):
    mixture, moments = model
    facts = mixture.edit(moments).merge(0, 3).fit().changes.story.facts()
    facts["topics"][0] |= damage
    with pytest.raises((ValueError, TypeError)):
        StepStory.from_facts(facts)


def test_a_pair_without_a_chance_leaves_the_log_strict_json(tmp_path):
    """Topics that share no document: alpha gives pairs across them no chance, so the log-likelihood is -inf."""
    moments = Moments.of(np.array([[3, 2, 0, 0], [0, 0, 2, 3], [1, 0, 1, 0]] * 5), list("abcd"))
    mixture = Mixture([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]], np.diag([0.5, 0.5]), list("abcd"))
    edited = mixture.edit(moments, engine="numpy").rename(0, "first").fit()
    assert edited.changes.log_likelihood_before == edited.changes.log_likelihood == -math.inf
    edited.save(tmp_path / "model")

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    json.loads((tmp_path / "model" / "model.json").read_text(), parse_constant=refuse)
    story = last_story(Mixture.load(tmp_path / "model"))
    assert story == edited.changes.story
    assert edited.edit().rename(1, "second").fit().changes.log_likelihood_before == -math.inf
