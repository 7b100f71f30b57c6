"""Passes over documents: better topics, honest choices, the same on any number of threads."""

import logging
import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare

from fdmix import Corpus, Mixture, Moments, Refinement, fit_documents, fit_mixture, refine, worlds
from fdmix.corpus.splits import held_out_split
from fdmix.documents.document_fit import DocumentFit
from fdmix.documents.gibbs import GibbsSampler
from fdmix.documents.refining import begin_document_fit
from fdmix.documents.schedule import Sampling, Schedule
from fdmix.documents.topic_counts import TopicCounts
from fdmix.documents.training import TrainingDocuments
from fdmix.fit.stopping import Stopping
from fdmix.kernels.cvb0 import cvb0_pass
from fdmix.kernels.gibbs import sweep_all_topics
from fdmix.metrics import completion_log_likelihood, matching_distance
from fdmix.runtime.threads import Workers


@pytest.fixture(scope="module")
def case():
    """A world, documents, topics that are fitted to a few of them, and documents that nobody has seen."""
    world = worlds.World(worlds.dirichlet_topics(10, 30 * worlds.zipf_base(300), 3), 0.1)
    corpus = world.sample(3000, length=25, seed=4)
    rough = fit_mixture(Moments.of(corpus[:1000]), 10, sparsity=0).mixture
    return world, corpus, rough, world.sample(1000, length=25, seed=5)


@pytest.fixture(scope="module")
def pairs(case):
    """Topics that are fitted to the word pairs of all documents."""
    return fit_mixture(Moments.of(case[1]), 10).mixture


@pytest.fixture(scope="module")
def short(case):
    """The same for short documents, which sampling completes better than passes do."""
    world = case[0]
    corpus, unseen = world.sample(3000, length=8, seed=4), world.sample(1000, length=8, seed=5)
    return world, corpus, fit_mixture(Moments.of(corpus[:1000]), 10, sparsity=0).mixture, unseen


def responsibilities(words, counts, topics, prior, rounds):
    """One document by hand: r_ut ~ (a_t + n_t - r_ut) mu_t(u), first all words at once, then word after word."""
    r = np.array([prior * topics[:, u] for u in words])
    r /= r.sum(axis=1, keepdims=True)
    r = (prior + counts @ r - r) * topics[:, words].T
    r /= r.sum(axis=1, keepdims=True)
    for _ in range(rounds):
        for i, u in enumerate(words):
            others = prior + counts @ r - r[i]
            r[i] = others * topics[:, u] / np.sum(others * topics[:, u])
    return r


def test_a_visit_is_the_formula():
    rng = np.random.default_rng(0)
    topics, prior = rng.dirichlet(np.ones(6), 3), np.array([0.5, 0.2, 0.3])
    words, counts = np.array([0, 2, 5]), np.array([3, 1, 2])
    tally = TopicCounts.of(Mixture(topics, np.eye(3) / 3), 100)
    table = (np.array([0, 3]), words.astype(np.int32), counts.astype(np.int32))
    out = np.zeros(tally.counts.nnz)
    cvb0_pass(0, 1, table, tally.entries, prior, (7, 0.0, 0.0), out)
    by_hand = responsibilities(words, counts, topics, prior, 7)
    np.testing.assert_allclose(out.reshape(6, 3)[words], counts[:, None] * by_hand, atol=1e-12)


def test_small_shares_are_cut_and_every_token_is_shared_out(case):
    corpus, mixture = case[1], case[0].mixture
    tally = TopicCounts.of(mixture, 100.0)
    counts = corpus.counts
    table = (counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data.astype(np.int32))
    prior, out = tally.prior(1.0), np.zeros(tally.counts.nnz)
    cvb0_pass(0, 50, table, tally.entries, prior, (12, 0.03, 0.3), out)
    assert out.sum() == pytest.approx(counts[:50].sum())
    fewer = np.count_nonzero(out)
    out[:] = 0
    cvb0_pass(0, 50, table, tally.entries, prior, (12, 0.03, 0.0), out)
    assert fewer < np.count_nonzero(out)


def sampler_of(corpus, mixture, prior=None):
    training = TrainingDocuments(corpus.counts)
    prior = np.full(mixture.n_topics, 1 / mixture.n_topics) if prior is None else np.asarray(prior, float)
    return GibbsSampler(training, TopicCounts.of(mixture, training.n_tokens), prior, 1, Workers(2))


def _begun(mixture, corpus, unseen, seed=0):
    return begin_document_fit(mixture, corpus, unseen, 10**6, seed, None, Stopping())


WAYS = {
    "topics of the document": 0.0,
    "all topics": 1e6,
}  # to draw: which is taken depends on how many a document has


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def topics_per_document(request):
    return request.param


def test_a_sweep_draws_from_the_formula(topics_per_document):
    """Documents of one token, so that the prior and the topics decide: p ~ a_t (K_ut + eta) / (K_t + N eta)."""
    mixture = Mixture([[0.5, 0.5, 0.0], [0.1, 0.1, 0.8]], [[0.6, 0.1], [0.1, 0.2]])
    n, a = 20_000, np.array([0.2, 0.6])
    corpus = Corpus(np.repeat(np.eye(3, dtype=int), n, axis=0))
    sampler = sampler_of(corpus, mixture, a)
    sampler.topics_per_document = topics_per_document
    K = sampler.counts + 0.01
    after = sampler.sweep()
    expected = a * K / K.sum(axis=0)
    np.testing.assert_allclose(after.sum(axis=1), n)
    np.testing.assert_allclose(after / n, expected / expected.sum(axis=1, keepdims=True), atol=0.01)
    assert after[2, 0] < 20  # only through eta
    assert sampler.topics_per_document == 1


@pytest.mark.parametrize("mine", [0, 1, 2])
def test_a_token_is_drawn_without_its_own_vote(mine, topics_per_document):
    """Documents of two tokens: p(z_1 = t) ~ (a_t + [z_2 = t]) (K_ut - [z_1 = t] + eta) / (K_t + N eta)."""
    n, eta, K = 60_000, 0.01, np.array([[2.0, 1.0, 4.0], [1.0, 5.0, 3.0]])
    a = np.array([0.1, 0.7, 0.3])
    mixture = Mixture((K / K.sum(axis=0)).T, np.full((3, 3), 1 / 9))
    sampler = sampler_of(Corpus(np.ones((n, 2), dtype=int)), mixture, a)
    sampler.counts, sampler.rounds, sampler.topics_per_document = K.astype(np.float32), 1, topics_per_document
    sampler.z[:] = np.tile([mine, 1], n)  # word 0 comes first
    sampler.sweep()
    own, other = np.eye(3)[mine], np.eye(3)[1]
    expected = (a + other) * (K[0] - own + eta) / (K.sum(axis=0) + 2 * eta)
    assert chisquare(np.bincount(sampler.z[::2], minlength=3), n * expected / expected.sum()).pvalue > 1e-4
    for first in range(3):  # the second token knows what the first one has become
        second = sampler.z[1::2][sampler.z[::2] == first]
        expected = (a + np.eye(3)[first]) * (K[1] - np.eye(3)[1] + eta) / (K.sum(axis=0) + 2 * eta)
        found = np.bincount(second, minlength=3)
        assert chisquare(found, second.size * expected / expected.sum()).pvalue > 1e-4


def test_many_topics_are_drawn_from_the_formula(topics_per_document):
    """As before with 19 topics, three vectors of eight, the last not full."""
    n, eta, mine, T = 60_000, 0.01, 17, 19
    a = np.random.default_rng(4).gamma(0.5, 0.2, T) + 0.001
    K = np.random.default_rng(3).integers(1, 9, (2, T)).astype(float)
    mixture = Mixture((K / K.sum(axis=0)).T, np.full((T, T), 1 / T**2))
    sampler = sampler_of(Corpus(np.ones((n, 2), dtype=int)), mixture, a)
    sampler.counts, sampler.rounds, sampler.topics_per_document = K.astype(np.float32), 1, topics_per_document
    sampler.z[:] = np.tile([mine, 6], n)
    sampler.sweep()
    expected = (a + np.eye(T)[6]) * (K[0] - np.eye(T)[mine] + eta) / (K.sum(axis=0) + 2 * eta)
    expected /= expected.sum()
    assert chisquare(np.bincount(sampler.z[::2], minlength=T), n * expected).pvalue > 1e-4
    assert sampler.topics_per_document == 2


def test_a_sweep_counts_every_token(topics_per_document):
    world = worlds.World(np.kron(np.eye(4), np.full((1, 5), 0.2)), 0.3)
    corpus = world.sample(3000, length=30, seed=2)
    sampler = sampler_of(corpus, world.mixture)
    sampler.topics_per_document = topics_per_document
    counts = sampler.sweep()
    np.testing.assert_array_equal(counts.sum(axis=1), corpus.counts.sum(axis=0))
    by_hand = np.zeros((20, 4))
    np.add.at(by_hand, (sampler.tokens[1], sampler.z), 1)
    np.testing.assert_array_equal(counts, by_hand)


def test_documents_in_turns_do_not_see_each_other():
    """Of any length, also empty, and fewer than take turns at the end."""
    rng = np.random.default_rng(5)
    lengths = rng.choice([0, 1, 3, 40], 50)
    tokens = np.concatenate([[0], np.cumsum(lengths)]), rng.integers(12, size=lengths.sum()).astype(np.int32)
    weights, scale, prior = (
        rng.random((12, 24), dtype=np.float32),
        np.full(20, 0.01),
        rng.random(24, dtype=np.float32),
    )
    weights[:, 20:] = 0
    z = rng.integers(20, size=lengths.sum()).astype(np.int32)

    def swept(cuts):
        found = z.copy()
        n_topics = [sweep_all_topics(*cut, tokens, found, weights, scale, prior, 0.01, 7) for cut in cuts]
        return found, sum(n_topics)

    together, n_topics = swept([(0, 50)])
    np.testing.assert_array_equal(together, swept([(d, d + 1) for d in range(50)])[0])
    assert n_topics == sum(np.unique(part).size for part in np.split(z, tokens[0][1:-1]))
    assert 0.5 < np.mean(together != z) < 1


def test_a_copy_of_a_sampler_goes_its_own_way():
    world = worlds.intervals()
    sampler = sampler_of(world.sample(500, length=20, seed=1), world.mixture)
    sampler.prior = np.array([4.0, 1.0, 2.0])
    first = sampler.with_equal_prior().mean(3).counts.toarray()
    np.testing.assert_array_equal(sampler.with_equal_prior().mean(3).counts.toarray(), first)
    assert not np.array_equal(sampler.mean(3).counts.toarray(), first)


@pytest.mark.parametrize("when", [1, 2, 4])
def test_sampling_can_be_stopped(short, when):
    _, corpus, rough, unseen = short
    sampled = []

    def stop(said):
        if said.phase == "sampling" and said.judged:
            sampled.append(said)
        return len(sampled) == when

    better = refine(rough, corpus, unseen=unseen[:500], callback=stop)
    assert len(sampled) == when
    assert better.concentration in {one.concentration for one in sampled}


@pytest.mark.parametrize("common", [False, True])
def test_the_prior_that_completes_better_is_kept(common):
    """One for all topics where documents are like that; one for each where a topic is in every document."""
    own = worlds.dirichlet_topics(10, 10 * worlds.zipf_base(200), 3)
    everywhere = np.concatenate([np.zeros(200), np.full(20, 0.05)])
    topics = np.vstack([everywhere, np.hstack([own, np.zeros((10, 20))])])
    a = np.concatenate([[2.0 if common else 0.1], np.full(10, 0.1)])
    world = worlds.World(topics, a)
    fit = _begun(world.mixture, world.sample(3000, length=25, seed=4), world.sample(1000, length=25, seed=5))
    fit.run_passes()
    told = []

    def tell(_, done, of, scored=True):
        if scored:  # others come every second, and so on a busy machine only
            told.append(done)

    stage = Sampling(fit.best, world.mixture, fit.training, fit.heldout, 0, tell).with_better_prior()
    assert told == [60, 120]
    assert stage.sampler.equal_prior is not common
    np.testing.assert_allclose(stage.sampler.prior, a, rtol=0.25)


@pytest.mark.slow
def test_one_prior_for_all_topics_is_strong_first_and_then_learned():
    world = worlds.World(worlds.dirichlet_topics(10, 30 * worlds.zipf_base(300), 3), 0.1)
    rough = fit_mixture(Moments.of(world.sample(1000, length=8, seed=4)), 10, sparsity=0).mixture
    fit = _begun(rough, world.sample(20_000, length=8, seed=4), world.sample(1000, length=8, seed=5))
    fit.run_passes()
    strengths = []

    class Watched(GibbsSampler):
        def mean(self, n_sweeps, *rest, learn_prior=False):
            strengths.append((self.prior.sum(), n_sweeps, learn_prior))
            return super().mean(n_sweeps, *rest, learn_prior=learn_prior)

    sampling = Sampling(fit.best, rough, fit.training, fit.heldout, 0, lambda *_, **__: False)
    sampling.first.sampler.__class__ = Watched
    stage = sampling.run()
    assert stage.sampler.equal_prior
    searched = [one for one in strengths if not one[2]]
    assert searched == [(pytest.approx(0.45 * 8), 300, False)]
    assert stage.sampler.prior.sum() == pytest.approx(1.0, rel=0.15)  # the truth


def test_any_seed_sets_the_same_documents_aside(case):
    _, corpus, rough, _ = case
    first, second = (_begun(rough, corpus, None, seed).heldout.table for seed in (1, 2))
    np.testing.assert_array_equal(first.toarray(), second.toarray())
    first, second = (fit_documents(corpus[:200], 3, seed=seed).mixture.provenance["moments"] for seed in (1, 2))
    assert first == second


def test_a_model_says_that_it_learned_from_all_documents(case):
    corpus = case[1][:300]
    known, whole = fit_documents(corpus, 3).mixture.provenance["moments"], Moments.of(corpus)
    assert known["documents"] == whole.n_documents
    assert known["tokens"] == whole.n_tokens
    assert known["digest"] == str(whole.ledger.digest)


def test_rare_words_follow_the_first_topics_and_frequent_words_do_not():
    counts = TopicCounts(sp.csr_array([[1000.0, 0.0], [2.0, 2.0], [0.0, 0.0]]))
    first = Mixture([[0.2, 0.8, 0.0], [0.5, 0.0, 0.5]], np.diag([0.5, 0.5]))
    both = counts.with_tokens_of(first, 7.0).counts.toarray()
    np.testing.assert_allclose(both, [[1002.0, 5.0], [9.0, 2.0], [0.0, 7.0]])
    only = Mixture([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], np.diag([0.5, 0.5]))  # no topic has the last word
    np.testing.assert_allclose(counts.with_tokens_of(only, 3.0).counts.toarray().sum(axis=1), [1003, 7, 0])


def test_it_improves_completion_and_topics(case):
    world, corpus, rough, unseen = case
    better = refine(rough, corpus)
    before, after = (completion_log_likelihood(m, unseen, "dirichlet").mean for m in (rough, better))
    assert after > before + 0.02
    assert matching_distance(better, world.mixture).mean < 0.9 * matching_distance(rough, world.mixture).mean


@pytest.mark.parametrize("length", [8, 60])
def test_sampling_is_kept_if_it_completes_better(length):
    world = worlds.World(worlds.dirichlet_topics(10, 30 * worlds.zipf_base(300), 3), 0.1)
    corpus, unseen = (world.sample(n, length=length, seed=n) for n in (1500, 300))
    said = []
    fit = _begun(fit_mixture(Moments.of(corpus), 10).mixture, corpus, unseen)
    fit.run_passes()
    passes, fit.stopping.callback = fit.best, said.append
    fit.run_sampling()
    best = max(passes.completion, *(one.score for one in said))
    assert fit.best.completion >= best - Schedule().gain_of_priors  # about a tie, one prior for all topics is taken
    assert fit.best.completion >= passes.completion
    assert fit.best.completion in {passes.completion, *(one.score for one in said)}


def test_it_chooses_better_with_unseen_documents(case):
    _, corpus, rough, unseen = case
    seen = []
    refine(rough, corpus, unseen=unseen[:500], callback=seen.append)
    passes = [said.passes for said in seen if said.phase == "passes"]
    assert passes == list(range(1, len(passes) + 1))
    sweeps = [said.passes for said in seen if said.phase == "sampling" and said.judged]
    steps = np.diff([0, *sweeps]).tolist()
    assert steps[:2] == [60, 60]  # with a prior for each topic, and with one for all
    assert steps[:-1] == sorted(steps[:-1])  # each is half of all before it
    scores = [said.score for said in seen if said.phase == "passes"]
    assert scores[:-1] == sorted(scores[:-1])
    assert scores[-1] <= scores[-2]  # the first that does not improve is the last


def test_the_strength_of_the_prior_is_remembered(case, tmp_path):
    _, corpus, rough, unseen = case
    better = refine(rough, corpus, unseen=unseen[:500])
    assert rough.concentration is None
    assert 0.3 < better.concentration < 3  # the truth is 1, for 10 topics with 0.1 each
    better.save(tmp_path / "model")
    again = Mixture.load(tmp_path / "model")
    assert again.concentration == better.concentration
    np.testing.assert_array_equal(again.assign(unseen[:50], "dirichlet"), better.assign(unseen[:50], better.prior))


def test_leaving_one_out_matters():
    """Plain shares r ~ (a + n) mu , with each token voting for itself, too, overfit short documents."""
    world = worlds.World(worlds.dirichlet_topics(20, 60 * worlds.zipf_base(400), 1), 0.05)
    corpus = world.sample(2000, length=10, seed=2)
    theta = world.mixture.assign(corpus)  # by maximum likelihood, with each token's own vote
    table = corpus.counts
    document = np.repeat(np.arange(2000), np.diff(table.indptr))
    shares = theta[document] * world.topics.T[table.indices]
    shares *= (table.data / shares.sum(axis=1))[:, None]
    plain = np.zeros((400, 20))
    np.add.at(plain, table.indices, shares)
    left_out = refine(world.mixture, corpus, 1, unseen=world.sample(200, length=10, seed=9))
    error = matching_distance((plain / plain.sum(axis=0)).T, world.topics).mean
    assert matching_distance(left_out, world.mixture).mean < error


@pytest.mark.parametrize("passes", [2, pytest.param("auto", marks=pytest.mark.slow)])
def test_the_same_on_any_number_of_threads(case, passes):
    _, corpus, rough, _ = case
    one, three = (refine(rough, corpus, passes, n_threads=n) for n in (1, 3))
    np.testing.assert_array_equal(one.topics, three.topics)
    np.testing.assert_array_equal(one.correlations, three.correlations)


def test_copies_of_judges_are_not_learned_from():
    table = sp.csr_array(np.repeat(np.arange(1, 501), 4)[:, None])  # every document four times
    aside, rest = held_out_split(table)
    contents = table.toarray().ravel()
    assert aside.size == 100
    assert not np.isin(contents[rest], contents[aside]).any()
    assert rest.size > 1500
    same = sp.csr_array(np.full((100, 2), 3))
    assert held_out_split(same)[1].size == 90  # nothing else is there


def test_documents_without_a_pair_are_no_judges(case):
    _, corpus, rough, _ = case
    empty = sp.csr_array((950, corpus.n_words), dtype=np.int32)
    sparse = sp.vstack([empty, corpus.counts[:50]], format="csr")
    found = fit_documents(sparse, 3)
    assert found.mixture.concentration is not None
    assert refine(rough, sparse).concentration is not None
    few = sp.vstack([empty, corpus.counts[:5]], format="csr")
    assert fit_documents(few, 3).mixture.n_topics == 3
    with pytest.raises(ValueError, match="no document of the unseen text has two tokens"):
        refine(rough, corpus, unseen=sp.csr_array(([1], ([0], [0])), shape=(3, corpus.n_words)))


@pytest.mark.parametrize("alpha", [np.eye(10) / 10, np.full((10, 10), 0.01)])
def test_the_strength_of_the_prior_is_found_from_any_alpha(case, alpha):
    """Topics from elsewhere often come without correlations: the prior they imply is as weak or strong as can be."""
    _, corpus, rough, unseen = case
    told = refine(Mixture(rough.topics, alpha), corpus, 1, unseen=unseen[:500]).concentration
    assert 0.1 < told < 10


def test_a_sample_is_enough_and_depends_on_the_seed(case):
    world, corpus, rough, _ = case
    first, again, other = (refine(rough, corpus, 1, max_documents=1500, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.topics, again.topics)
    assert not np.array_equal(first.topics, other.topics)
    assert matching_distance(first, world.mixture).mean < matching_distance(rough, world.mixture).mean


@pytest.mark.parametrize("n", [40, 1000, 200_000])
def test_some_documents_are_set_aside_the_same_ones_each_time(n):
    table = sp.csr_array(np.arange(1, n + 1)[:, None])  # all different
    aside, rest = held_out_split(table)
    assert aside.size == {40: 10, 1000: 50, 200_000: 4000}[n]
    np.testing.assert_array_equal(np.sort(np.concatenate([aside, rest])), np.arange(n))
    np.testing.assert_array_equal(held_out_split(table)[0], aside)
    assert abs(aside.mean() / n - 0.5) < 0.2  # from everywhere


def test_of_many_tokens_a_sample_is_used(case, monkeypatch, caplog):
    _, corpus, rough, unseen = case
    monkeypatch.setattr("fdmix.documents.refining.MAX_TOKENS", 5000)
    with caplog.at_level(logging.INFO, "fdmix"):
        fit = _begun(rough, corpus, unseen)
    assert "a sample of 200 of 3,000 documents" in caplog.text
    assert 4500 < fit.training.n_tokens < 5500


def test_alpha_is_what_documents_have():
    world = worlds.World(worlds.dirichlet_topics(5, np.full(100, 0.1), 1), np.array([0.5, 0.4, 0.3, 0.2, 0.1]))
    alpha = refine(world.mixture, world.sample(5000, length=40, seed=1), 1).correlations
    np.testing.assert_allclose(alpha, alpha.T)
    np.testing.assert_allclose(alpha, world.law.correlations, atol=0.01)


def test_a_callback_can_stop_it(case):
    _, corpus, rough, _ = case
    said = []
    refine(rough, corpus, 5, callback=lambda one: said.append(one) or True)
    assert len(said) == 1


def _interrupt(_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("ask", "reason", "phase"),
    [
        (lambda _: True, "the callback asked to stop", "passes"),
        (lambda _: True, "the callback asked to stop", "sampling"),
        (_interrupt, "interrupted by the user", "passes"),
        (_interrupt, "interrupted by the user", "sampling"),
        (_interrupt, "interrupted by the user", "correlations"),
    ],
)
def test_a_fit_with_documents_that_is_stopped_keeps_what_it_has(case, pairs, phase, ask, reason):
    _, corpus, _, unseen = case

    def hear(now):
        return isinstance(now, Refinement) and now.phase == phase and ask(now)

    stopped = fit_documents(corpus, 10, callback=hear)
    assert stopped.reason == reason
    assert not stopped.converged
    found, before = (completion_log_likelihood(m, unseen, "dirichlet").mean for m in (stopped.mixture, pairs))
    assert found > before - 0.01


@pytest.mark.slow
def test_ctrl_c_in_the_last_step_keeps_the_refined_topics(case, pairs):
    """alpha is fitted last, to topics that are final by then."""
    corpus = case[1]
    whole = fit_documents(corpus, 10).mixture

    def press_ctrl_c(now):
        if now.phase == "correlations" and now.passes == 1:
            raise KeyboardInterrupt

    stopped = fit_documents(corpus, 10, callback=press_ctrl_c)
    assert stopped.reason == "interrupted by the user"
    np.testing.assert_array_equal(stopped.mixture.topics, whole.topics)
    assert not np.array_equal(stopped.mixture.correlations, whole.correlations)
    refined, complete = refine(pairs, corpus, callback=press_ctrl_c), refine(pairs, corpus)
    np.testing.assert_array_equal(refined.topics, complete.topics)
    assert refined.provenance["refined"]["stopped"] == "interrupted by the user"
    assert "stopped" not in complete.provenance["refined"]


def test_ctrl_c_while_sampling_keeps_the_best_sweeps(short):
    _, corpus, rough, unseen = short

    def interrupted_after(n_judged):
        said = []

        def press_ctrl_c(now):
            if now.phase == "sampling" and now.judged:
                said.append(now)
            if len(said) == n_judged:  # these sweeps are only told of, those before are taken
                raise KeyboardInterrupt

        return refine(rough, corpus, unseen=unseen[:500], callback=press_ctrl_c)

    passes, sampled = (interrupted_after(n) for n in (1, 6))
    score = {one: completion_log_likelihood(one, unseen, "dirichlet").mean for one in (rough, passes, sampled)}
    assert score[rough] < score[passes] < score[sampled] - 0.005


@pytest.mark.slow
def test_ctrl_c_at_any_moment(case, ctrl_c_after):
    """A fit with documents gives valid topics once there is a pass, whatever is going on when Ctrl-C is pressed."""
    corpus = case[1][:1000]
    begin = time.monotonic()
    whole = fit_documents(corpus, 10)
    took = time.monotonic() - begin
    reasons = []
    for moment in np.linspace(0.001, took, 40):
        seen = []
        try:
            with ctrl_c_after(moment):
                solution = fit_documents(corpus, 10, callback=seen.append)
        except KeyboardInterrupt:
            assert not seen
            continue
        reasons.append(solution.reason)
        np.testing.assert_allclose(solution.mixture.topics.sum(axis=1), 1)
        assert np.isfinite(solution.log_likelihoods).all()
        assert solution.converged == (solution.reason == whole.reason)
    assert set(reasons) <= {"interrupted by the user", whole.reason}
    assert reasons.count("interrupted by the user") > 20


def test_every_sweep_can_be_watched_and_changes_nothing(case, monkeypatch):
    _, corpus, rough, unseen = case
    whole = refine(rough, corpus[:500], unseen=unseen[:200])
    monkeypatch.setattr("fdmix.documents.schedule.REPORT_SECONDS", 0.0)  # tell of all of them, not of one a second
    said = []
    watched = refine(rough, corpus[:500], unseen=unseen[:200], callback=said.append)
    np.testing.assert_array_equal(whole.topics, watched.topics)
    sweeps = [one for one in said if one.phase == "sampling"]
    assert [one.passes for one in sweeps if not one.judged] == list(range(1, sweeps[-1].passes + 1))
    assert {one.of for one in sweeps} == {sweeps[0].of}
    assert sweeps[-1].passes <= sweeps[0].of
    passes = [one for one in said if one.phase == "passes"]
    assert all(one.passes <= one.of for one in passes)
    stopped = []
    refine(rough, corpus[:500], unseen=unseen[:200], callback=lambda one: stopped.append(one) or not one.judged)
    assert stopped[-1].passes == 1  # a sweep is enough to hear that it should stop
    assert stopped[-1].phase == "sampling"


def test_a_time_limit_holds_for_documents_too(case):
    corpus, limit = case[1], 0.3

    def wait(now):
        if isinstance(now, Refinement):
            time.sleep(limit)

    stopped = fit_documents(corpus, 10, time_limit=limit, callback=wait)
    assert stopped.reason.startswith("the time limit")
    assert not stopped.converged


def test_odd_inputs(case):
    _, corpus, rough, _ = case
    only = Mixture(np.full((1, 4), 0.25), np.ones((1, 1)))
    assert refine(only, [[1, 0, 2, 1]]) is only
    empty = sp.csr_array((3, rough.n_words), dtype=np.int32)
    with_gaps = sp.vstack([empty, corpus.counts[:200], empty], format="csr")
    assert refine(rough, with_gaps, 1).n_topics == 10
    few = refine(rough, corpus.counts[:3], 1)  # too few to choose by
    assert np.isfinite(few.topics).all()


def test_text_without_a_known_word_is_refused(case):
    """A mixture that comes back unchanged would look like success."""
    _, corpus, rough, _ = case
    empty = sp.csr_array((3, rough.n_words), dtype=np.int32)
    one_each = sp.csr_array(np.eye(4, rough.n_words, dtype=np.int32))
    for nothing in (empty, empty[:0]):
        with pytest.raises(ValueError, match="the corpus has no token"):
            refine(rough, nothing)
    with pytest.raises(ValueError, match="no document of the corpus has two tokens"):
        refine(rough, one_each)
    with pytest.raises(ValueError, match="the unseen text has no token"):
        refine(rough, corpus, unseen=empty)
    named = Mixture([[0.5, 0.5, 0], [0.1, 0.9, 0]], np.eye(2) / 2, ["a", "b", "c"])
    for foreign in (Corpus([[2, 3]] * 5, ["x", "y"]), Corpus([[2, 3]] * 5, ["c", "x"])):  # no topic has "c"
        with pytest.raises(ValueError, match="knows no word of the corpus"):
            refine(named, foreign)
    with pytest.raises(ValueError, match="no word pair"):
        fit_documents(one_each, 2)


def test_words_that_only_documents_set_aside_have_are_nothing_to_warn_of(caplog):
    rng = np.random.default_rng(0)
    rare = sp.csr_array(
        np.hstack([rng.integers(0, 2, (60, 6)), 5 * np.eye(60, dtype=int)])
    )  # a word for each document
    caplog.set_level(logging.WARNING, "fdmix")
    assert fit_documents(rare, 2).mixture.n_topics == 2
    apart = sp.csr_array(2 * np.eye(60, dtype=int))  # nothing that is set aside is known
    assert fit_documents(apart, 2).mixture.n_topics == 2
    assert "knows" not in caplog.text


def test_text_that_is_hardly_known_is_warned_of(caplog):
    mixture = Mixture([[0.7, 0.3], [0.2, 0.8]], np.eye(2) / 2, ["a", "b"])
    refine(mixture, Corpus([[2, 3, 4]] * 50, ["a", "b", "x"]), 1)
    assert not caplog.text
    refine(mixture, Corpus([[2, 3, 20]] * 50, ["a", "b", "x"]), 1)
    assert "knows only 20.0% of the tokens of the corpus" in caplog.text


def test_words_are_matched_by_name():
    mixture = Mixture([[0.5, 0.4, 0.1, 0], [0, 0.1, 0.4, 0.5]], np.eye(2) / 2, ["a", "b", "c", "d"])
    corpus = Corpus([[1, 2, 0, 3]] * 30 + [[0, 1, 3, 0]] * 30, ["x", "d", "a", "c"])
    found = refine(mixture, corpus, 2)
    assert found.vocabulary == mixture.vocabulary
    assert found.topics[0, 0] > 0.9
    assert found.topics[1, 2:].sum() > 0.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"passes": -1}, "passes"), ({"passes": 1.5}, "passes"), ({"max_documents": 0}, "max_documents")],
)
def test_nonsense_is_refused(case, settings, message):
    with pytest.raises(ValueError, match=message):
        refine(case[2], case[1], **settings)
    with pytest.raises(TypeError, match="Mixture"):
        refine([[1.0]], case[1])


def test_what_does_not_fit_into_memory_is_refused_at_once(case, monkeypatch):
    _, corpus, rough, _ = case
    monkeypatch.setattr("fdmix.documents.refining.available_bytes", lambda: 1_000_000)
    for attempt in (lambda: refine(rough, corpus), lambda: fit_documents(corpus, 10)):
        with pytest.raises(MemoryError, match=r"about 3\.5 MB but 1\.0 MB are free.*max_documents"):
            attempt()
    with pytest.raises(ValueError, match="n_topics"):
        fit_documents(corpus, "10")
    assert refine(rough, corpus, 1, max_documents=500).n_topics == 10


def shuffled(corpus, seed=0):
    return corpus[np.random.default_rng(seed).permutation(corpus.n_documents)]


@pytest.mark.parametrize("copies", [1, 3])
def test_the_order_of_documents_changes_nothing(case, copies):
    """Held-out documents, halves and draws depend on what documents say, not on where they stand."""
    corpus = Corpus(sp.vstack([case[1].counts[:600]] + [case[1].counts[:200]] * (copies - 1), format="csr"))
    first, second = (fit_documents(one, 10).mixture for one in (corpus, shuffled(corpus)))
    assert matching_distance(first, second).mean < 1e-6
    np.testing.assert_allclose(first.topics, second.topics, atol=1e-9)
    np.testing.assert_allclose(first.prior, second.prior, rtol=1e-6)


def test_documents_are_weighted_in_all_moments_alike(case):
    """Also those of held-out documents, which alpha is fitted to in the end."""
    corpus = case[1][:300]
    paper, tokens = (fit_documents(corpus, 3, weighting=weighting).mixture for weighting in ("paper", "tokens"))
    np.testing.assert_allclose(paper.topics, tokens.topics, atol=1e-5)  # these documents all have the same length
    np.testing.assert_allclose(paper.correlations, tokens.correlations, atol=1e-5)


def test_the_order_of_documents_changes_nothing_for_refine(case):
    _, corpus, rough, unseen = case
    few, some = corpus[:500], unseen[:200]
    first = refine(rough, few, unseen=some, max_documents=300).topics
    second = refine(rough, shuffled(few), unseen=shuffled(some), max_documents=300).topics
    np.testing.assert_allclose(first, second, atol=1e-9)


def test_held_out_documents_are_chosen_by_content():
    rng = np.random.default_rng(1)
    table = sp.csr_array(rng.integers(0, 3, (400, 6)))
    order = rng.permutation(400)
    for one, other in zip(held_out_split(table), held_out_split(table[order]), strict=True):
        first, second = table[one].toarray(), table[order][other].toarray()
        np.testing.assert_array_equal(np.sort(first, axis=0), np.sort(second, axis=0))
        assert sorted(map(tuple, first.tolist())) == sorted(map(tuple, second.tolist()))


def test_held_out_documents_are_learned_from_in_the_end(case):
    """Also their words that no other document has."""
    _, corpus, rough, _ = case
    fit = _begun(rough, corpus[:1000], None)
    fit.run_passes(1)
    before = fit.best
    fit.learn_from_left_out()
    assert fit.best.counts.totals.sum() == pytest.approx(before.counts.totals.sum() + fit.left_out.sum())
    assert fit.learned_from.sum() == corpus.counts[:1000].sum()
    rows = np.repeat(np.eye(2, 6, dtype=int)[:, [0, 2, 3, 1, 4, 5]], 100, axis=0) + np.repeat(
        np.eye(2, 6, 3, dtype=int), 100, axis=0
    )
    mixture = Mixture([[0.5, 0, 0, 0.5, 0, 0], [0, 0.5, 0, 0, 0.5, 0]], np.eye(2) / 2)
    fit = DocumentFit(
        mixture, TrainingDocuments(sp.csr_array(rows)), sp.csr_array(rows[:20]), Workers(1), 0, Stopping(),
        sp.csr_array([[2, 0, 0, 2, 0, 1]]),
    )  # fmt: skip
    fit.run_passes(1)
    fit.learn_from_left_out()
    topics = fit.mixture().topics
    assert topics[0, 5] > 10 * topics[1, 5]


def test_documents_that_repeat_are_learned_from():
    """Documents of two words are copies of each other: leaving out all copies of held-out ones would leave few."""
    world = worlds.World(np.kron(np.eye(3), np.full(4, 0.25)), 0.05)
    corpus = world.sample(5_000, length=2, seed=1)
    held_out, rest = held_out_split(corpus.counts)
    assert held_out.size + rest.size == 5_000
    assert matching_distance(fit_documents(corpus, 3).mixture, world.mixture).mean < 0.1
