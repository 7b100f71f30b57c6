"""Adam by PyTorch: the same gradients as the NumPy run, the same result, nothing on the host within a step."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from pytorch import MISSING, needs_torch, pretended_draw
from scipy.stats import chisquare

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.engines import State, engine_for
from fdmix.fit.starts import starting_mixture
from fdmix.solvers import Adam
from fdmix.solvers.adam import NumpyAdamRun
from fdmix.solvers.contract import Problem

pytestmark = [needs_torch, pytest.mark.slow]
if not MISSING:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    from fdmix.solvers.torch_adam import DevicePairs, TorchAdamRun
    from fdmix.solvers.torch_adam_step import AdamStep, alpha_gradient
else:
    TorchDispatchMode = object
KINDS = [{}, {"symmetric": True}, {"trace_penalty": 0.3}, {"symmetric": True, "trace_penalty": 0.3}]


@pytest.fixture(scope="module")
def moments():
    return Moments.of(worlds.zipf(5, 60, seed=1).sample(2_000, length=20, seed=3))


def run_of(moments, settings, start, engine="torch"):
    device = {"device": "cpu"} if engine == "torch" else {}
    made = engine_for(engine, moments.matrix, start.n_topics, 1, **device)
    return settings.begin(Problem(made, moments.matrix, start.n_topics, 1, 0.0, np.random.default_rng(5), 1), start)


def twins(moments, **settings):
    """A NumPy run and a torch run, both in float64, with an asymmetric alpha' unless it must be symmetric."""
    adam = Adam(precision="float64", **settings)
    start = starting_mixture("random", moments.matrix, 5, moments.document_frequencies, 2)
    plain, device = run_of(moments, adam, start, "numpy"), run_of(moments, adam, start)
    assert isinstance(plain, NumpyAdamRun)
    assert isinstance(device, TorchAdamRun)
    skew = np.random.default_rng(1).normal(size=(5, 5))
    plain.parameters[1] += skew
    device.core.logits.values.add_(torch.from_numpy(skew))
    device.core.refresh()
    return plain, device


def drawn(plain, n=300):
    return plain.draw(n)


def on_device(device, u, v, weight):
    """Pairs of the caller's words as pairs of the engine's."""
    place = np.argsort(device.torch_engine.order)
    return [torch.from_numpy(a) for a in (place[u], place[v], weight)]


@pytest.mark.parametrize("settings", KINDS)
def test_gradients_of_a_batch_agree(moments, settings):
    plain, device = twins(moments, **settings)
    u, v, weight = plain.draw(300)
    weight = np.random.default_rng(1).uniform(0.5, 2, 300)
    expected = plain.batch_gradient(u, v, weight)
    rows, pull, d_alpha = device.core.batch_gradient(*on_device(device, u, v, weight))
    topics = device.core.topic_gradient(rows, pull).numpy().T[:, np.argsort(device.torch_engine.order)]
    np.testing.assert_allclose(topics, expected[0], rtol=1e-9, atol=1e-14)
    by_alpha = alpha_gradient(device.core.alpha, device.core.penalised(d_alpha), device.settings.symmetric)
    np.testing.assert_allclose(by_alpha.numpy(), expected[1], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("settings", KINDS)
def test_the_gradient_is_the_derivative(moments, settings):
    """Against torch's own differentiation of the formula as the paper writes it."""
    _, device = twins(moments, **settings)
    core = device.core
    u, v = (torch.randint(0, 60, (40,), generator=torch.Generator().manual_seed(k)) for k in (1, 2))
    topics, logits = core.topics.values.clone().requires_grad_(), core.logits.values.clone().requires_grad_()
    mu = torch.softmax(topics.T, dim=1)
    whole = logits + logits.T if core.settings.symmetric else logits
    alpha = torch.softmax(whole.flatten(), dim=0).view(5, 5)
    likelihood = torch.log(torch.einsum("ik,ij,jk->k", mu[:, u], alpha, mu[:, v])).mean()
    (likelihood - core.settings.trace_penalty * alpha.trace()).backward()
    rows, pull, d_alpha = core.batch_gradient(u, v, None)
    torch.testing.assert_close(core.topic_gradient(rows, pull), topics.grad, rtol=1e-9, atol=1e-14)
    by_alpha = alpha_gradient(core.alpha, core.penalised(d_alpha), core.settings.symmetric)
    torch.testing.assert_close(by_alpha, logits.grad, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("settings", KINDS[:3:2])
def test_steps_with_the_same_pairs_agree(moments, settings, compiled):
    plain, device = twins(moments, compiled=compiled, **settings)
    for _ in range(5):
        u, v, weight = plain.draw(64)
        plain._update(plain.batch_gradient(u, v, weight))
        device.core.by_batch(*on_device(device, u, v, weight))
    if compiled and shutil.which("g++"):
        assert device.core.update_topics.worked
    a, b = (run.engine.mixture(run.snapshot().state) for run in (plain, device))
    np.testing.assert_allclose(b.topics, a.topics, atol=1e-7)
    np.testing.assert_allclose(b.correlations, a.correlations, atol=1e-9)


@pytest.mark.parametrize("settings", KINDS)
def test_exact_steps_agree(moments, settings):
    plain, device = twins(moments, exact=True, **settings)
    plain.take_steps(5)
    device.take_steps(5)
    a, b = (run.engine.mixture(run.snapshot().state) for run in (plain, device))
    np.testing.assert_allclose(b.topics, a.topics, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(b.correlations, a.correlations, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_pairs_are_drawn_from_mhat(moments, share):
    """Chi-square, of pairs that are drawn with the chance (1 - share) Mhat + share / stored pairs."""
    mhat = moments.matrix
    draw = DevicePairs(torch, mhat, torch.device("cpu"), share, torch.Generator().manual_seed(3))
    u, v, weight = draw((200, 2_000))
    n = u.numel()
    stored = np.zeros(mhat.shape)
    np.add.at(stored, (u.numpy().ravel(), v.numpy().ravel()), 1)
    rows = np.repeat(np.arange(60), np.diff(mhat.indptr))
    chance = (1 - share) * mhat.data + share / mhat.nnz
    seen = stored[rows, mhat.indices]
    assert seen.sum() == n  # nothing outside of the stored pairs
    often = n * chance >= 5
    expected = np.append(n * chance[often], n * chance[~often].sum())
    assert chisquare(np.append(seen[often], seen[~often].sum())[expected > 0], expected[expected > 0]).pvalue > 1e-3
    if share:
        wanted = np.zeros(mhat.shape)
        wanted[rows, mhat.indices] = mhat.data / chance
        np.testing.assert_allclose(weight, wanted[u, v], rtol=1e-5)
    else:
        assert weight is None


def test_a_distribution_with_one_large_and_many_tiny_chances():
    """The alias table keeps chances that float32 sums would lose."""
    from fdmix.kernels.alias_table import fill_alias_table

    chance = np.full(100_000, 1e-9)
    chance[7] = 1 - chance.sum() + 1e-9
    kept, alias = np.empty(chance.size, np.float32), np.empty(chance.size, np.int32)
    fill_alias_table(chance.copy(), kept, alias)
    whole = kept.astype(np.float64)
    np.add.at(whole, alias, 1 - kept.astype(np.float64))
    np.testing.assert_allclose(whole / chance.size, chance, rtol=1e-6, atol=1e-13)


def test_the_result_is_that_of_the_numpy_run(moments):
    """Other pairs are drawn, so only the likelihoods agree, as well as two seeds do."""
    options = {"solver": Adam(learning_rate=0.02), "max_passes": 30, "tolerance": 0, "n_threads": 1}
    plain, other, device = (
        fit_mixture(moments, 5, engine=engine, seed=seed, **options).log_likelihoods[-1]
        for engine, seed in (("numba", 1), ("numba", 2), ("torch", 1))
    )
    assert abs(device - plain) < max(2 * abs(other - plain), 2e-3)


@pytest.mark.parametrize("compiled", [False, True])
def test_same_seed_same_bits(moments, compiled):
    solver = Adam(steps=20, compiled=compiled)
    options = {"solver": solver, "engine": "torch", "device": "cpu", "max_passes": 3, "n_threads": 1}
    a, b, c = (fit_mixture(moments, 5, seed=seed, **options).mixture.topics for seed in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


def test_steps_per_second_are_reported(moments, caplog):
    seen = []
    with caplog.at_level("INFO", logger="fdmix"):
        fit_mixture(moments, 5, solver="adam", engine="torch", max_passes=2, callback=seen.append, n_threads=1)
    assert all(progress.steps_per_second > 0 for progress in seen)
    assert "steps a second" in caplog.text


def test_without_a_compiler_steps_are_taken_all_the_same(moments, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function, **_: lambda *arguments: 1 / 0)
    start = starting_mixture("random", moments.matrix, 5, moments.document_frequencies, 2)
    plain, compiled = (run_of(moments, Adam(compiled=wanted), start) for wanted in (False, True))
    for run in (plain, compiled):
        run.take_steps(3)
    torch.testing.assert_close(plain.core.topics.values, compiled.core.topics.values, rtol=0, atol=0)
    assert compiled.core.update_topics.worked is False


def test_a_run_goes_on_from_its_tensors(moments):
    start = starting_mixture("random", moments.matrix, 5, moments.document_frequencies, 2)
    whole, first = (run_of(moments, Adam(compiled=False), start) for _ in range(2))
    for run in (whole, whole, first):
        run.take_steps(10)
    second = run_of(moments, Adam(compiled=False), start)
    second.restore(first.tensors())
    assert second.n_steps == 10
    second.take_steps(10)
    torch.testing.assert_close(second.core.topics.values, whole.core.topics.values, rtol=1e-5, atol=1e-6)


def test_parameters_that_are_no_longer_finite_are_an_error(moments):
    with pytest.raises(FloatingPointError, match="learning_rate"):
        fit_mixture(moments, 5, solver=Adam(learning_rate=1e30), engine="torch", max_passes=5, n_threads=1)


def test_the_symmetric_part_of_alpha_is_at_least_as_likely(moments):
    """Mhat is symmetric and the logarithm concave, so averaging alpha with alpha' loses no likelihood."""
    rng = np.random.default_rng(0)
    mhat = moments.matrix.toarray()
    for _ in range(20):
        topics, alpha = rng.dirichlet(np.ones(60), 5), rng.dirichlet(np.full(25, 0.3)).reshape(5, 5)
        M = topics.T @ alpha @ topics
        as_it_is = np.sum(mhat * np.log(M))
        assert Mixture(topics, (alpha + alpha.T) / 2).log_likelihood(moments.matrix) >= as_it_is - 1e-12


def fake_core(mode, device, settings):
    with mode:
        topics, alpha = torch.randn(60, 5, device=device), torch.randn(5, 5, device=device)
        return AdamStep(torch, settings, topics, alpha)


class HostTransfers(TorchDispatchMode):
    """Counts what makes the host wait for the device: .item(), .cpu(), .tolist(), masks whose size must be known."""

    WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "unique", "is_nonzero", "equal")

    def __init__(self, device):
        super().__init__()
        self.device, self.found = device, []

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        name = function.name().removeprefix("aten::").partition(".")[0]
        result = function(*arguments, **(options or {}))
        from_device = any(isinstance(a, torch.Tensor) and a.device.type == self.device for a in arguments)
        moved = isinstance(result, torch.Tensor) and result.device.type != self.device and from_device
        if name in self.WAITING or name.startswith("_unique") or moved:
            self.found.append(name)
        return result


@pytest.mark.parametrize("settings", [*KINDS, {"uniform_share": 0.5}])
def test_a_step_on_a_gpu_stays_there(settings):
    """On a fake "cuda" PyTorch refuses to mix devices, and nothing is read back."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode()
    core = fake_core(mode, "cuda", Adam(compiled=False, **settings))
    with mode:
        draw = pretended_draw(torch, "cuda", core.settings.uniform_share)
        with HostTransfers("cuda") as transfers:
            us, vs, weights = draw((4, 16))
            for u, v, weight in zip(us, vs, [None] * 4 if weights is None else weights, strict=True):
                core.by_batch(u, v, weight)
            core.by_derivatives(torch.randn(60, 5, device="cuda"), torch.randn(5, 5, device="cuda"))
    assert transfers.found == []
    assert {t.device.type for t in (core.topics.values, core.logits.values, core.taken, core.weights)} == {"cuda"}


@pytest.mark.parametrize("settings", [{}, {"uniform_share": 0.5}, {"exact": True}])
def test_a_whole_run_on_a_gpu_waits_only_at_the_end_of_its_steps(moments, settings, monkeypatch):
    """From the NumPy arrays of a start to the state that it reports, on a fake "cuda"."""
    from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

    from fdmix.engines.torch_engine import ON_GPU, TorchEngine

    monkeypatch.setattr(torch, "Generator", lambda device: SimpleNamespace(manual_seed=lambda seed: None))
    start = starting_mixture("random", moments.matrix, 5, moments.document_frequencies, 2)
    adam = Adam(compiled=False, batch=16, **settings)
    with FakeTensorMode():
        engine = TorchEngine(moments.matrix, 5, 1, torch.device("cuda:0"), memory=1 << 30, layout=ON_GPU)
        run = adam.begin(Problem(engine, moments.matrix, 5, 1, 0.0, np.random.default_rng(5), 1), start)
        with HostTransfers("cuda") as transfers:
            if adam.exact:  # each step reads the likelihood of its pass, without which a fake device cannot go on
                with pytest.raises(DataDependentOutputException):
                    run.take_steps(1)
                found = engine.tensors(State(run.core.mu(), run.core.alpha.double()), True)
                run.core.by_derivatives(found[1], found[2].float())
            else:
                run._drawn_steps(3)
                assert transfers.found == []
                with pytest.raises(DataDependentOutputException):
                    run.take_steps(1)
    assert len(transfers.found) <= 1
    assert {tensor.device.type for tensor in run.core.topics + run.core.logits} == {"cuda"}


def test_the_fake_gpu_notices_mistakes():
    """The judge itself: mixing devices is an error, and reading back is counted."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode, HostTransfers("cuda") as transfers:
        there = torch.zeros(3, device="cuda")
        with pytest.raises(RuntimeError, match="device"):
            there + torch.zeros(3)
        there.cpu()
        with pytest.raises(Exception, match=r"item|_local_scalar_dense|data-dependent"):
            there.sum().item()
    assert mode is not None
    assert len(transfers.found) >= 1
