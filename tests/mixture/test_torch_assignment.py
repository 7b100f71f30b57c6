"""Topics of documents by PyTorch: certified like those of the CPU's loops, and equal to them within the gap."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from pytorch import MISSING, needs_torch, reads_counted, small_memory
from test_assignment import random_case

from fdmix import Mixture, metrics, worlds
from fdmix.mixture import torch_assignment

pytestmark = [needs_torch, pytest.mark.slow]
if not MISSING:
    import torch

ON_TORCH = {"engine": "torch", "device": "cpu"}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("seed", range(6))
def test_the_gap_bounds_the_loss_and_keeps_to_the_tolerance(seed, tolerance):
    mixture, counts = random_case(seed)
    rough = mixture.assignment(counts, tolerance=tolerance, **ON_TORCH)
    fine = mixture.assignment(counts, tolerance=1e-11)
    scored = np.isfinite(rough.log_likelihoods)
    assert (rough.gaps <= tolerance).all()
    assert rough.converged
    assert (fine.log_likelihoods - rough.log_likelihoods <= rough.gaps + 1e-11)[scored].all()
    np.testing.assert_allclose(rough.theta.sum(axis=1), 1)
    assert rough.theta.min() >= 0
    np.testing.assert_array_equal(rough.lengths, fine.lengths)
    assert rough.n_unknown == fine.n_unknown


@pytest.mark.parametrize("smoothing", [0.0, 1e-4])
@pytest.mark.parametrize("length", [6, 40, 150])
def test_all_documents_are_finished_on_the_device(length, smoothing):
    """Sparse topics, many of which have none of a document's words."""
    world = worlds.zipf(40, 800, seed=2)
    counts = world.sample(150, length=length, seed=3).counts
    topics = world.topics * (1 - smoothing)
    *_, finished = torch_assignment.most_likely_on_device(topics, counts, smoothing / 800, 1e-6, "cpu")
    assert finished.all()


def test_float32_leaves_small_tolerances_to_the_cpu(monkeypatch, caplog):
    """On MPS, which has no float64, few documents would reach them."""
    monkeypatch.setattr(torch_assignment, "torch_device", lambda _: SimpleNamespace(type="mps"))
    world = worlds.zipf(5, 60, seed=2)
    counts = world.sample(20, length=30, seed=3).counts
    with caplog.at_level("INFO", logger="fdmix"):
        *_, finished = torch_assignment.most_likely_on_device(world.topics, counts, 0.0, 1e-6, "mps")
    assert not finished.any()
    assert "float32 cannot reach the tolerance of 1e-06" in caplog.text


def test_theta_agrees_with_the_loops_of_the_cpu():
    world = worlds.authors(seed=4)
    corpus = world.sample(300, length=40, seed=5)
    plain = world.mixture.assignment(corpus, tolerance=1e-9)
    found = world.mixture.assignment(corpus, tolerance=1e-9, **ON_TORCH)
    np.testing.assert_allclose(found.log_likelihoods, plain.log_likelihoods, atol=1e-9)
    np.testing.assert_allclose(found.theta, plain.theta, atol=2e-3)


@pytest.mark.parametrize("prior", ["dirichlet", 0.2])
@pytest.mark.parametrize("smoothing", [0.0, 0.01])
def test_posterior_means_are_those_of_the_cpu(prior, smoothing):
    for seed in range(4):
        mixture, counts = random_case(seed)
        plain = mixture.assignment(counts, prior, smoothing=smoothing)
        found = mixture.assignment(counts, prior, smoothing=smoothing, **ON_TORCH)
        np.testing.assert_allclose(found.theta, plain.theta, rtol=1e-9)
        np.testing.assert_allclose(found.log_likelihoods, plain.log_likelihoods, rtol=1e-9)


@pytest.mark.parametrize("prior", [None, "dirichlet"])
@pytest.mark.parametrize("smoothing", [0.0, 0.01])
def test_empty_and_unknown_documents(prior, smoothing):
    mixture = Mixture([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0]], [[0.7, 0], [0, 0.3]])
    counts = [[0, 0, 0, 3], [1, 0, 0, 5], [0, 0, 0, 0], [1, 2, 3, 0]]
    plain, found = (mixture.assignment(counts, prior, smoothing=smoothing, **where) for where in ({}, ON_TORCH))
    np.testing.assert_allclose(found.theta, plain.theta, atol=1e-5)
    np.testing.assert_allclose(found.log_likelihoods, plain.log_likelihoods, atol=1e-6)
    assert mixture.assign(np.zeros((0, 4), int), prior, **ON_TORCH).shape == (0, 2)


def test_tiny_probabilities_and_weights():
    topics = np.array([[1 - 1e-160, 1e-160, 0.0], [1e-160, 3e-160, 1.0], [0.5, 1e-160, 0.5]])
    mixture = Mixture(topics / topics.sum(axis=1, keepdims=True), np.eye(3) / 3)
    assert mixture.assignment([[1, 3, 2], [0, 4, 0], [5, 1, 1]], **ON_TORCH).converged
    assert sp.issparse(mixture.assign([[1, 3, 2]], sparse=True, **ON_TORCH))


def test_what_the_device_cannot_finish_the_cpu_finishes(monkeypatch):
    monkeypatch.setattr(torch_assignment, "MAX_ROUNDS", 1)
    mixture, counts = random_case(3)
    found, plain = mixture.assignment(counts, **ON_TORCH), mixture.assignment(counts)
    assert found.converged
    np.testing.assert_array_equal(found.theta, plain.theta)


def test_operations_take_the_threads_that_were_asked_for(monkeypatch):
    seen, made = [], torch_assignment._batch
    monkeypatch.setattr(torch_assignment, "_batch", lambda *of: [seen.append(torch.get_num_threads()), made(*of)][1])
    mixture, counts = random_case(3)
    for n_threads in (1, 2):
        mixture.assignment(counts, n_threads=n_threads, **ON_TORCH)
    assert (seen[0], seen[-1]) == (1, 2)
    assert torch.get_num_threads() == 1  # as it was before


def test_batches_hold_every_document_once():
    counts = sp.csr_array(np.random.default_rng(0).poisson(0.3, (200, 30)))
    counts.eliminate_zeros()
    seen, waiting = np.zeros(counts.shape), torch_assignment._longest_first(counts)
    while waiting.size:
        batch = torch_assignment._batch(counts, waiting, 64)
        waiting = waiting[batch.numbers.size :]
        assert batch.words.size <= 64
        np.add.at(seen, (np.repeat(batch.numbers, batch.words.shape[1]), batch.words.ravel()), batch.counts.ravel())
    np.testing.assert_array_equal(seen, counts.toarray())


@pytest.mark.parametrize("prior", [None, "dirichlet"])
def test_topics_of_a_document_do_not_depend_on_its_neighbours(prior):
    """Others in a batch may need more rounds. A long neighbour adds padding, which may change rounding."""
    world = worlds.authors(seed=4)
    counts = world.sample(60, length=40, seed=5).counts
    together = world.mixture.assignment(counts, prior, **ON_TORCH)
    for d in range(60):
        alone = world.mixture.assignment(counts[[d]], prior, **ON_TORCH)
        np.testing.assert_allclose(alone.theta[0], together.theta[d], atol=1e-10)


def test_a_batch_reads_its_results_and_every_fourth_round_whether_it_is_finished():
    world = worlds.authors(seed=4)
    corpus = world.sample(60, length=40, seed=5)
    with reads_counted() as counts:
        world.mixture.assignment(corpus, **ON_TORCH)
    looks = counts.pop("item")
    assert 1 <= looks <= torch_assignment.MAX_ROUNDS // torch_assignment.CHECK_EVERY
    assert counts == {"cpu": 3, "numpy": 3}


@pytest.mark.parametrize("prior", [None, "dirichlet"])
def test_smaller_batches_follow_if_the_device_is_out_of_memory(prior):
    world = worlds.authors(seed=4)
    counts = world.sample(200, length=40, seed=5).counts
    expected = world.mixture.assignment(counts, prior, **ON_TORCH)
    with small_memory(torch) as whole:
        world.mixture.assignment(counts, prior, **ON_TORCH)
    with small_memory(torch, whole.peak // 3) as small:
        found = world.mixture.assignment(counts, prior, **ON_TORCH)
    assert small.peak > whole.peak // 3  # the first batch did not fit
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-10)


def test_a_device_without_memory_for_one_document_is_named():
    mixture, counts = random_case(3)
    with small_memory(torch, 100), pytest.raises(MemoryError, match=r"cpu has too little memory for .* topics"):
        mixture.assignment(counts, **ON_TORCH)


def test_an_operation_that_a_device_lacks_is_said_in_words(monkeypatch):
    """MPS cannot solve systems of equations up to PyTorch 2.6."""

    def missing(*_):
        raise NotImplementedError("The operator 'aten::_linalg_solve_ex.result' is not currently implemented for MPS")

    monkeypatch.setattr(torch.linalg, "solve_ex", missing)
    mixture, counts = random_case(3)
    with pytest.raises(ValueError, match=r"lacks an operation on cpu .* install a newer PyTorch"):
        mixture.assignment(counts, **ON_TORCH)


def test_likelihoods_are_those_of_the_cpu():
    world = worlds.authors(seed=4)
    corpus = world.sample(200, length=20, seed=5)
    for score in (
        metrics.holdout_log_likelihood,
        metrics.completion_log_likelihood,
        lambda *given, **where: metrics.completion_log_likelihood(*given, "dirichlet", **where),
    ):
        assert score(world.mixture, corpus, **ON_TORCH).mean == pytest.approx(
            score(world.mixture, corpus).mean, abs=1e-4
        )
    pairs = metrics.pair_log_likelihood
    assert pairs(world.mixture, corpus, **ON_TORCH) == pytest.approx(pairs(world.mixture, corpus), abs=1e-5)


def test_rounds_on_a_gpu_stay_there():
    """On a fake "cuda" PyTorch refuses to mix devices."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        B, share = torch.rand(7, 5, 9, device="cuda"), torch.rand(7, 5, device="cuda")
        point = torch_assignment._Point(B, share, torch)
        point.step()
        theta, gap, score = torch_assignment._certified(B, share, point.theta, 1e-6, torch)
        prior = torch.rand(9, device="cuda")
        posterior = torch_assignment._posterior(B, share, prior, 0.0, (2, 1e-4), torch)
        assert {t.device.type for t in (theta, gap, score, posterior, point.bound())} == {"cuda"}


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ({"engine": "magic"}, "torch"),
        ({"engine": "torch", "device": "abacus"}, "there is no device"),
        ({"device": "cuda"}, "engine='torch'"),
    ],
)
def test_bad_engines_and_devices(where, why):
    with pytest.raises(ValueError, match=why):
        Mixture([[0.5, 0.5]]).assign([[1, 1]], **where)
