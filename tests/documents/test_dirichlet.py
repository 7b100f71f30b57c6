"""The Dirichlet prior of documents: learned from topic counts, kept in the model, used for documents."""

import json

import numpy as np
import pytest
from scipy.special import gammaln

from fdmix import Mixture, worlds
from fdmix.documents.dirichlet import learned_prior
from fdmix.documents.gibbs import GibbsSampler
from fdmix.documents.topic_counts import TopicCounts
from fdmix.documents.training import TrainingDocuments
from fdmix.kernels.gibbs import topic_lengths
from fdmix.metrics import completion_log_likelihood
from fdmix.runtime.threads import Workers
from fdmix.storage.arrays import FileError
from fdmix.storage.model_folder import write_folder

TRUE = np.array([1.5, 0.1, 0.4, 0.02])


def topic_counts(n_documents=20_000, seed=0):
    """n_dt of documents of unequal length with theta ~ Dirichlet(TRUE)."""
    rng = np.random.default_rng(seed)
    lengths = rng.geometric(1 / 20, n_documents)
    return rng.multinomial(lengths, rng.dirichlet(TRUE, n_documents)), lengths


def histogram(n):
    return np.array([np.bincount(column, minlength=n.max() + 1) for column in n.T]) * (np.arange(n.max() + 1) > 0)


def log_likelihood(n, a):
    """Of topic counts under Dirichlet(a), theta integrated out; without the multinomial coefficients."""
    totals = gammaln(a.sum()) - gammaln(n.sum(axis=1) + a.sum())
    return np.sum(totals + np.sum(gammaln(n + a) - gammaln(a), axis=1))


def test_it_is_the_prior_that_documents_were_drawn_with():
    n, lengths = topic_counts()
    a = np.full(4, 0.25)
    for _ in range(30):
        a = learned_prior(a, histogram(n), lengths)
    np.testing.assert_allclose(a, TRUE, rtol=0.06)


def test_every_estimate_raises_the_likelihood_up_to_its_maximum():
    n, lengths = topic_counts(500)
    values = [np.full(4, 5.0)]
    for _ in range(40):
        values.append(learned_prior(values[-1], histogram(n), lengths))
    likelihoods = [log_likelihood(n, a) for a in values]
    assert (np.diff(likelihoods) > -1e-6).all()
    for t in range(4):
        for factor in (0.97, 1.03):
            other = values[-1] * np.where(np.arange(4) == t, factor, 1.0)
            assert log_likelihood(n, other) < likelihoods[-1]


def test_a_topic_without_a_document_keeps_a_little():
    n, lengths = topic_counts(500)
    a = learned_prior(np.full(5, 0.2), histogram(np.column_stack([n, np.zeros(500, int)])), lengths)
    assert 0.01 * a.mean() < a[4] < 0.03 * a.mean()


def test_an_equal_prior_stays_equal():
    n, lengths = topic_counts(2_000)
    a = learned_prior(np.full(4, 5.0), histogram(n), lengths, equal=True)
    for _ in range(10):
        a = learned_prior(a, histogram(n), lengths, equal=True)
    assert np.ptp(a) == 0
    for factor in (0.97, 1.03):
        assert log_likelihood(n, factor * a) < log_likelihood(n, a)


def test_tokens_of_topics_are_counted_by_document():
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 30, 200)
    z = rng.integers(0, 4, lengths.sum()).astype(np.uint16)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    n = np.array([np.bincount(part, minlength=4) for part in np.split(z, starts[1:-1])])
    found = np.zeros((4, n.max() + 1), np.int64)
    topic_lengths(0, 120, starts, z, found)
    topic_lengths(120, 200, starts, z, found)
    np.testing.assert_array_equal(found, histogram(n))
    few = np.zeros((4, 6), np.int64)  # five tokens and more are counted together
    topic_lengths(0, 200, starts, z, few)
    np.testing.assert_array_equal(few, histogram(np.minimum(n, 5)))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_sampler_learns_the_prior_of_its_documents(threads):
    a = np.array([1.0, 0.1, 0.1, 0.3])
    world = worlds.World(np.kron(np.eye(4), np.full(10, 0.1)), a)  # topics without a common word
    training = TrainingDocuments(world.sample(5_000, length=20, seed=1).counts)
    counts = TopicCounts.of(world.mixture, training.n_tokens)
    sampler = GibbsSampler(training, counts, np.full(4, 1.0), 1, Workers(threads))
    sampler.mean(60, learn_prior=True)
    np.testing.assert_allclose(sampler.prior, a, rtol=0.1)
    again = GibbsSampler(training, counts, np.full(4, 1.0), 1, Workers(2))
    again.mean(60, learn_prior=True)
    np.testing.assert_array_equal(sampler.prior, again.prior)
    equal = sampler.with_equal_prior()
    equal.mean(20, learn_prior=True)
    assert np.ptp(equal.prior) == 0
    assert np.ptp(sampler.prior) > 0


def test_the_prior_is_kept_in_the_model_and_used_for_documents(tmp_path):
    a = np.array([0.7, 0.1])
    mixture = Mixture([[0.9, 0.1], [0.2, 0.8]], [[0.4, 0.1], [0.1, 0.4]], prior=a)
    documents = [[2, 1], [0, 3]]
    assert mixture.concentration == pytest.approx(0.8)
    mixture.save(tmp_path / "model")
    again = Mixture.load(tmp_path / "model")
    np.testing.assert_array_equal(again.prior, a)
    np.testing.assert_array_equal(again.assign(documents, "dirichlet"), mixture.assign(documents, a))
    own, given = (completion_log_likelihood(again, documents, prior).mean for prior in ("dirichlet", a))
    assert own == given
    assert not np.array_equal(Mixture(mixture.topics, mixture.correlations).assign(documents, "dirichlet"),
                              again.assign(documents, "dirichlet"))  # fmt: skip


def test_a_folder_with_a_strength_only_still_loads(tmp_path):
    """As earlier versions wrote it: A, from which the prior is A E[theta]."""
    mixture = Mixture([[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.1], [0.1, 0.3]])
    mixture.save(tmp_path / "model")
    facts = json.loads((tmp_path / "model" / "model.json").read_text())["facts"]
    arrays = {"topics": mixture.topics, "correlations": mixture.correlations}
    write_folder(tmp_path / "old", arrays, facts | {"concentration": 2.0})
    np.testing.assert_allclose(Mixture.load(tmp_path / "old").prior, [1.2, 0.8])
    assert Mixture.load(tmp_path / "model").prior is None


@pytest.mark.parametrize("prior", [[0.1], [0.1, -1.0], [0.1, np.nan], [[0.1, 0.2]], [1, 1]])
def test_a_folder_with_an_impossible_prior_is_refused(tmp_path, prior):
    mixture = Mixture([[0.9, 0.1], [0.2, 0.8]])
    mixture.save(tmp_path / "model")
    facts = json.loads((tmp_path / "model" / "model.json").read_text())["facts"]
    arrays = {"topics": mixture.topics, "correlations": mixture.correlations, "prior": np.array(prior)}
    write_folder(tmp_path / "forged", arrays, facts)
    with pytest.raises(FileError, match=r"not a valid model: .*prior"):
        Mixture.load(tmp_path / "forged")


@pytest.mark.parametrize("prior", [0.0, -1.0, [0.1], [0.1, np.nan], [0.1, 0.0], [[0.1, 0.1]]])
def test_an_impossible_prior_is_refused(prior):
    with pytest.raises(ValueError, match="prior"):
        Mixture([[0.9, 0.1], [0.2, 0.8]], prior=prior)
