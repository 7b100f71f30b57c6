"""Documents that come and go: what holds with a fit from scratch, and what with a warm one."""

import numpy as np
import pytest
from random_edits import WORDS, same_bits, small_model

from fdmix import Moments, fit_mixture, worlds
from fdmix.edits.updating import constraints_of, fitted_anew, update
from fdmix.solvers import Adam


def documents(seed=0, n_documents=600):
    world = worlds.World(worlds.dirichlet_topics(4, 12 * worlds.zipf_base(len(WORDS)), 0), 0.2)
    return world.sample(n_documents, length=15, seed=seed).counts


@pytest.mark.parametrize("solver", ["em", Adam(learning_rate=0.05, batch=64, steps=5)])
def test_forgetting_gives_the_bits_of_a_model_that_never_saw_the_documents(solver):
    counts = documents()
    whole, part = Moments.of(counts, WORDS), Moments.of(counts[450:], WORDS)
    settings = {"solver": solver, "seed": 3, "max_passes": 30}
    model = fit_mixture(whole, 4, **settings).mixture
    never = fit_mixture(Moments.of(counts[:450], WORDS), 4, **settings).mixture
    forgotten = fitted_anew(model, whole - part, max_passes=30).mixture
    assert same_bits(forgotten, never)
    assert not np.array_equal(forgotten.topics, model.topics)


def test_a_warm_start_depends_on_what_the_model_saw_before():
    counts = documents()
    whole, rest = Moments.of(counts, WORDS), Moments.of(counts[:450], WORDS)
    model, never = (fit_mixture(moments, 4, max_passes=30).mixture for moments in (whole, rest))
    warm, _ = update(model, rest)
    assert not np.array_equal(warm.topics, never.topics)
    assert same_bits(update(model, rest)[0], warm)


def test_an_update_learns_and_keeps_numbers_labels_and_constraints():
    mixture, moments = small_model()
    banned = mixture.edit(moments).seed({2: ["w7"]}).ban("w1").ban("w2", topic=0).fit()
    edited = banned.edit().freeze(4).fit().mixture
    more = moments + Moments.of(documents(seed=5), WORDS)
    better, changes = update(edited, more, passes=20)
    assert changes.log_likelihood > changes.log_likelihood_before
    assert better.labels == edited.labels
    assert constraints_of(better) == constraints_of(edited) != ()
    assert not better.topics[:, 1].any()
    assert better.topics[0, 2] == 0
    assert better.topics[2, 7] >= 0.02 / 1.02 * (1 - 1e-9)
    assert np.array_equal(better.topics[4], edited.topics[4])
    overlap = np.sqrt(edited.topics) @ np.sqrt(better.topics).T
    assert (overlap.argmax(axis=1) == np.arange(edited.n_topics)).all()
    assert better.provenance["moments"]["sha256"] == more.checksum()


def test_new_words_enter():
    mixture, moments = small_model()
    new = Moments.of(np.ones((40, 3), dtype=int), ["w0", "w5", "brandnew"])
    better, _ = update(mixture, moments + new)
    assert better.vocabulary == (moments + new).vocabulary
    assert better.topics[:, better.vocabulary.index("brandnew")].max() > 0


def test_edits_go_on_after_an_update(tmp_path):
    from fdmix import Mixture
    from fdmix.edits import Edited

    mixture, moments = small_model()
    more = moments + Moments.of(documents(seed=5), WORDS)
    better, _ = update(mixture.edit(moments).ban("w1").fit().mixture, more)
    better.save(tmp_path / "model")
    edited = Mixture.load(tmp_path / "model").edit(more).split(0).fit()
    assert not edited.mixture.topics[:, 1].any()
    edited.save(tmp_path / "edited")
    assert same_bits(Edited.load(tmp_path / "edited", more).undo().mixture, better)


def test_an_edited_model_is_not_fitted_from_scratch():
    mixture, moments = small_model()
    edited = mixture.edit(moments).ban("w1").fit().mixture
    with pytest.raises(ValueError, match="the model was edited"):
        fitted_anew(edited, moments)
