"""Bad edits are refused in words before anything is computed; words that a model does not have are reported."""

import json

import numpy as np
import pytest
from hostile import HOSTILE_WORDS
from random_edits import WORDS, same_bits, small_model

from fdmix import Mixture, Moments
from fdmix.edits import Edited
from fdmix.edits.log import EditLog, edit_of_facts
from fdmix.storage.arrays import FileError

MIXTURE, MOMENTS = small_model()
ALL = [word for word in WORDS if MOMENTS.unigram[WORDS.index(word)] > 0]


def begun():
    return MIXTURE.edit(MOMENTS)


BAD = {
    "no topic": (lambda e: e.merge(0, 6), "there is no topic 6: topics are numbered from 0 to 5"),
    "a topic that went away": (lambda e: e.merge(0, 1).split(1), "there is no topic 1: it was merged"),
    "merge of one": (lambda e: e.merge(2), "two or more different topics"),
    "merge with itself": (lambda e: e.merge(2, 2), "two or more different topics"),
    "drop all": (lambda e: e.drop(0).drop(1).drop(2).drop(3).drop(4).drop(5), "needs at least one"),
    "ban all": (lambda e: e.ban(*ALL), "all words would be banned"),
    "ban all from a topic": (lambda e: e.ban(*ALL, topic=3), "all words of topic 3 would be banned"),
    "seed and ban": (lambda e: e.ban("w3").seed({0: ["w3"]}), "'w3', which is banned from it"),
    "ban a seed": (lambda e: e.seed({0: ["w3"]}).ban("w3", topic=0), "'w3', which is banned from it"),
    "together and apart": (lambda e: e.together("w1", "w2").apart("w1", "w2"), "'w1', 'w2' cannot belong"),
    "together in a chain": (
        lambda e: e.together("w1", "w2").together("w2", "w4").apart("w1", "w4"), "cannot belong together and apart",
    ),
    "ban half of a set": (lambda e: e.together("w1", "w2").ban("w1"), "ban all of these words, or none"),
    "too many apart": (lambda e: e.apart(*ALL[:7]), "7 words cannot be in 7 topics"),
    "apart in one topic": (lambda e: e.apart("w1", "w2").seed({0: ["w1", "w2"]}), "belong apart"),
    "one word together": (lambda e: e.together("w1"), "two or more"),
    "split a frozen topic": (lambda e: e.freeze(2).split(2), "topic 2 is frozen"),
    "merge a frozen topic": (lambda e: e.freeze(2).merge(1, 2), "topic 2 is frozen"),
    "seed a frozen topic": (lambda e: e.freeze(2).seed({2: ["w1"]}), "topic 2 is frozen"),
    "ban from a frozen topic": (lambda e: e.freeze(2).ban(*ALL[:9]), "topic 2 is frozen and holds"),
    "freeze what changes": (lambda e: e.seed({2: ["w1"]}).freeze(2), "fit these first"),
    "drop a pinned topic": (lambda e: e.pin(2).drop(2), "topic 2 is pinned"),
    "a number for two": (lambda e: e.pin(2, 0).pin(3, 0), "topic 2 has the number 0 for good"),
    "a new topic of unknown words": (lambda e: e.seed({"new": ["nosuch"]}), "none of the words to make one"),
    "a seed without words": (lambda e: e.seed({0: []}), "seeded without a word"),
    "no strength": (lambda e: e.seed({0: {"w1": 0}}), "strength of the seed word 'w1'"),
    "a strength of NaN": (lambda e: e.seed({0: {"w1": float("nan")}}), "must be a number"),
    "a number that is none": (lambda e: e.split(1.5), "whole number"),
    "a label for two": (lambda e: e.rename(0, "x").rename(1, "x").seed({"x": ["w1"]}), "seed by number"),
    "a long label": (lambda e: e.rename(0, "x" * 300), "300 characters"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(BAD))
def test_bad_edits_are_refused_before_anything_is_computed(name):
    edit, sentence = BAD[name]
    editor = begun()
    with pytest.raises(ValueError, match=sentence.replace("(", r"\(")):
        edit(editor)
    assert editor.edited.workspace._engine is None


def test_a_number_that_no_topic_can_have_is_refused_at_the_refit():
    editor = begun().seed({"new": ["w1"]}).drop(0).drop(1)
    with pytest.raises(ValueError, match="topic 6 is pinned or seeded"):
        editor.fit()
    assert editor.edited.workspace._engine is None


def test_arguments_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match="by topic"):
        begun().seed(["w1"])
    with pytest.raises(TypeError, match="a list"):
        begun().seed({0: "w1"})
    with pytest.raises(TypeError, match="Moments"):
        MIXTURE.edit(MOMENTS.matrix)
    with pytest.raises(ValueError, match="near, stay, follow"):
        begun().fit(others="nobody")
    with pytest.raises(ValueError, match="no word of topic"):
        MIXTURE.edit(Moments.of([[2, 1], [1, 1]], ["other", "words"]))
    with pytest.raises(ValueError, match="without words to match by"):
        Mixture(np.full((2, 3), 1 / 3)).edit(MOMENTS)


def test_missing_words_are_reported():
    editor = begun().seed({0: ["w1", "nosuch"]}).ban("never", "w2").together("w4", "nowhere")
    assert editor.missing == ["nosuch", "never", "nowhere"]
    edited = editor.fit(1)
    assert edited.changes.missing == ("nosuch", "never", "nowhere")
    assert edited.mixture.topics[0, 1] > 0
    assert not edited.mixture.topics[:, 2].any()


def test_hostile_words_and_labels(tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, (300, len(HOSTILE_WORDS)))
    moments = Moments.of(counts, HOSTILE_WORDS)
    mixture = Mixture(rng.dirichlet(np.full(len(HOSTILE_WORDS), 0.5), 4), vocabulary=HOSTILE_WORDS)
    words = iter(HOSTILE_WORDS)
    editor = mixture.edit(moments).merge(0, 1)
    editor = editor.seed({next(words): [next(words), "</nowhere>"], 2: [next(words)]}).ban(next(words))
    for _ in range(10):
        editor = editor.ban(next(words), topic=2).together(next(words), next(words)).rename(2, next(words))
    edited = editor.fit(1)
    assert edited.changes.missing == ("</nowhere>",)
    edited.save(tmp_path / "model")
    again = Edited.load(tmp_path / "model", moments)
    assert same_bits(again.mixture, edited.mixture)
    assert same_bits(again.undo().mixture, mixture)
    with pytest.raises(ValueError, match="not valid Unicode"):
        mixture.edit(moments).rename(0, "\udc80")
    with pytest.raises(ValueError, match="not valid Unicode"):
        mixture.edit(moments).ban("\udc80")


def test_damaged_logs_and_bases_are_refused(tmp_path):
    edited = begun().ban("w1").fit(1)
    edited.save(tmp_path / "model")
    facts = json.loads(json.dumps(edited.log.facts()))
    for name in facts:
        with pytest.raises(ValueError, match=r"missing|must be"):
            EditLog.from_facts({key: value for key, value in facts.items() if key != name})
    for bad in ({"edit": "melt"}, {"edit": "split"}, {"edit": "split", "topic": -1}, {"edit": "merge", "topics": 3}):
        with pytest.raises(ValueError, match=r"there is no edit|needs|must be"):
            edit_of_facts(bad)
    base = tmp_path / "model" / "base.safetensors"
    content = base.read_bytes()
    for damaged in (content[:-8], content[:-1] + bytes([content[-1] ^ 1]), b""):
        base.write_bytes(damaged)
        with pytest.raises(FileError, match=r"damaged|is not the model"):
            Edited.load(tmp_path / "model", MOMENTS)
    base.unlink()
    with pytest.raises(FileError, match="cannot be undone"):
        Edited.load(tmp_path / "model", MOMENTS)


def test_other_moments_cannot_undo(tmp_path):
    edited = begun().ban("w1").fit(1).edit().ban("w2").fit(1)
    edited.save(tmp_path / "model")
    with pytest.raises(ValueError, match="fitted to other moments"):
        Edited.load(tmp_path / "model", MOMENTS + MOMENTS).undo()
    with pytest.raises(ValueError, match="2 steps of edits can be undone, not 3"):
        edited.undo(3)
    with pytest.raises(ValueError, match="has no edits to undo"):
        edited.undo(2).undo()
