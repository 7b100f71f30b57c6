"""Known answers: what single edits make of a model whose topics are known."""

import numpy as np
import pytest
from pytorch import engines

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.engines import ENGINES, Engine, engine_for

WORLD = worlds.intervals()
MOMENTS = Moments.of(WORLD.sample(4000, length=20, seed=1), [f"w{u}" for u in range(100)])
TRUTH = Mixture(WORLD.topics, WORLD.law.correlations, MOMENTS.vocabulary)


def distance(a, b):
    return np.abs(a - b).sum()


def test_a_merge_is_the_closed_form_up_to_the_passes():
    edited = TRUTH.edit(MOMENTS).merge(0, 1).fit()
    shares = TRUTH.shares[:2] / TRUTH.shares[:2].sum()
    assert distance(edited.mixture.topics[0], shares @ TRUTH.topics[:2]) < 0.15
    assert edited.changes.gone == (1,)
    assert edited.changes.renumbered == {2: 1}
    assert edited.changes.cost > 0


def test_a_split_finds_the_topics_that_were_merged():
    merged = TRUTH.edit(MOMENTS).merge(0, 1).fit()
    split = merged.edit().split(0).fit(passes=30)
    assert split.changes.new == (2,)
    assert split.changes.cost < 0
    found = split.mixture.topics[[0, 2]]
    errors = [distance(found[0], TRUTH.topics[a]) + distance(found[1], TRUTH.topics[1 - a]) for a in (0, 1)]
    assert min(errors) / 2 < 0.25


def test_a_seed_finds_a_topic_that_was_dropped():
    dropped = TRUTH.edit(MOMENTS).drop(1).fit()
    best = [f"w{u}" for u in np.argsort(-TRUTH.topics[1])[:3]]
    editor = dropped.edit().seed({"the lost one": best})
    assert editor.new_topics == [2]
    found = editor.fit(passes=30)
    assert found.mixture.labels == {2: "the lost one"}
    overlap = np.sqrt(TRUTH.topics) @ np.sqrt(found.mixture.topics[2])
    assert overlap.argmax() == 1
    assert all(word.rank <= 10 for word in found.changes.words)


def test_numbers_are_pinned_and_swapped():
    edited = TRUTH.labelled({0: "a", 1: "b", 2: "c"}).edit(MOMENTS).pin(2, 0).fit(others="stay")
    assert edited.mixture.labels == {0: "c", 1: "b", 2: "a"}
    assert np.array_equal(edited.mixture.topics, TRUTH.topics[[2, 1, 0]])
    gone = edited.edit().drop(1).fit().mixture
    assert gone.labels == {0: "c", 1: "a"}


def test_the_prior_of_documents_follows_the_edits():
    prior = np.array([0.1, 0.2, 0.3])
    mixture = Mixture(TRUTH.topics, TRUTH.correlations, TRUTH.vocabulary, prior=prior)
    assert np.allclose(mixture.edit(MOMENTS).merge(0, 1).fit().mixture.prior, [0.3, 0.3])
    assert np.isclose(mixture.edit(MOMENTS).merge(0, 1).split(0).fit().mixture.prior.sum(), 0.6)
    assert (mixture.edit(MOMENTS).seed({"new": ["w3"]}).fit().mixture.prior > 0).all()


def test_words_are_found_in_the_form_that_people_see():
    from fdmix import read_moments

    moments = read_moments(
        ["learning machines learn", "networks learning deeply", "deep network machines"] * 20, stem="english"
    )
    mixture = fit_mixture(moments, 2).mixture
    seen = mixture.word(0)
    assert mixture.edit(moments).ban(seen, mixture.vocabulary[0]).missing == []


def test_words_are_found_as_they_were_in_the_text():
    from fdmix import read_moments

    texts = ["Learning machines learn.", "Climate change warms the seas.", "The climate changes, learning warms."]
    moments = read_moments(texts * 20, stem="english", ngrams=2)
    editor = fit_mixture(moments, 2).mixture.edit(moments)
    assert editor.seed({0: ["Warming", "climate changing", "the", "nosuch"]}).missing == ["the", "nosuch"]
    edited = editor.ban("machine").fit().mixture
    assert edited.topics[:, edited.vocabulary.index("machin")].max() == 0
    with pytest.raises(ValueError, match="one word for some of 'learned', 'learns'"):
        editor.apart("learned", "learns")


@pytest.mark.parametrize("name", engines(*ENGINES))
def test_engines_assemble_states_as_the_contract_says(name):
    rng = np.random.default_rng(0)
    engine = engine_for(name, MOMENTS.matrix, 3, 2)
    old = engine.place(TRUTH)
    new = engine.maximise(old, engine.expect(old))
    words = rng.dirichlet(np.ones(100), 2)
    numbers = np.array([2, 0])
    found = engine.mixture(engine.assembled(old, new, numbers, words))
    same = engine.mixture(Engine.assembled(engine, old, new, numbers, words))
    assert np.allclose(found.topics, same.topics, atol=1e-7)
    assert np.allclose(found.topics[[2, 0]], words, atol=1e-6)
    assert np.allclose(found.topics[1], TRUTH.topics[1], atol=1e-6)
    assert np.allclose(found.correlations, engine.mixture(new).correlations, rtol=1e-12)
    assert np.allclose(engine.topics_of(new, numbers), engine.mixture(new).topics[numbers], atol=1e-7)
    assert engine.active(engine.assembled(old, new, numbers, words)) == np.count_nonzero(found.topics)
