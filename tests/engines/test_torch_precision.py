"""Matrix products: all libraries agree, and fewer digits change topics by little."""

import subprocess
import sys

import numpy as np
import pytest
from pytorch import needs_torch

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.metrics import matching_distance

pytestmark = [needs_torch, pytest.mark.slow]
SHAPES = [(512, 500, 300), (1, 1, 1), (7, 1, 5), (1, 300, 1), (300, 7, 1), (0, 3, 2)]


def factors(torch, rows, inner, columns):
    """Two matrices in all layouts that a pass hands to a product: whole, transposed, and part of a wider one."""
    made = torch.Generator().manual_seed(1)
    left, right = torch.rand(rows, inner, generator=made), torch.rand(inner, columns, generator=made)
    wide = torch.rand(rows, inner + 9, generator=made)
    yield left, right
    yield left.T.contiguous().T, right.T.contiguous().T
    yield wide.narrow(1, 4, inner), right


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("library", ["chosen", "onednn"])
def test_the_product_is_the_product(shape, dtype, library):
    import torch

    from fdmix.engines.torch_products import by_onednn, has_onednn, product_on

    if library == "onednn" and not has_onednn(torch):
        library = "chosen"
    product = by_onednn(torch) if library == "onednn" else product_on(torch, torch.device("cpu"))
    for left, right in factors(torch, *shape):
        one, two = left.to(getattr(torch, dtype)), right.to(getattr(torch, dtype))
        found = product(one, two)
        assert found.dtype == one.dtype
        torch.testing.assert_close(found.double(), one.double() @ two.double(), rtol=1e-5, atol=1e-5)


def test_the_product_does_not_depend_on_threads_that_run_others():
    """The same bits whether one thread or four compute products at a time."""
    import torch

    from fdmix.engines.torch_products import product_on
    from fdmix.runtime.threads import Workers

    product = product_on(torch, torch.device("cpu"))
    left, right = torch.rand(200, 60), torch.rand(60, 90)
    alone = product(left, right)
    for found in Workers(4).map(lambda _: product(left, right), range(20)):
        assert torch.equal(found, alone)


@pytest.fixture(scope="module")
def world():
    return worlds.zipf(20, 1000, seed=2)


@pytest.fixture(scope="module")
def moments(world):
    return Moments.of(world.sample(6_000, length=20, seed=3))


@pytest.fixture(scope="module")
def in_full(moments):
    return fit_mixture(moments, 20, engine="torch", n_threads=1)


def compared(moments, world, one, other):
    """(distance of topics, difference of their errors, difference of exact likelihoods)."""
    error = [matching_distance(fit.mixture, world.mixture).mean for fit in (one, other)]
    exact = [fit.mixture.log_likelihood(moments.matrix) for fit in (one, other)]
    return matching_distance(one.mixture, other.mixture).mean, error[1] - error[0], exact[1] - exact[0]


def test_bfloat16_moves_topics_by_little(moments, world, in_full):
    """l1 is at most 2; these topics are 0.18 from the truth."""
    rounded = fit_mixture(moments, 20, engine="torch-bfloat16", n_threads=1)
    moved, worse, lost = compared(moments, world, in_full, rounded)
    assert 1e-4 < moved < 0.1  # not nothing, or the switch has no effect
    assert abs(worse) < 0.02
    assert abs(lost) < 5e-3


def test_tf32_moves_topics_by_less(moments, world, in_full, monkeypatch):
    """CPUs have no TF32, so its factors are rounded here: 10 bits after the point."""
    import torch

    def rounded(matrix):
        bits = matrix.contiguous().view(torch.int32)
        return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)

    def product_on(torch, device, precision):
        assert precision == "tf32"
        return lambda left, right: rounded(left) @ rounded(right)

    monkeypatch.setattr("fdmix.engines.torch_engine.product_on", product_on)
    moved, worse, lost = compared(moments, world, in_full, fit_mixture(moments, 20, engine="torch-tf32", n_threads=1))
    assert 1e-6 < moved < 0.02
    assert abs(worse) < 0.005
    assert abs(lost) < 5e-4


@pytest.mark.parametrize(("engine", "setting"), [("torch", "highest"), ("torch-tf32", "high")])
def test_a_pass_sets_the_precision_and_restores_it(moments, engine, setting):
    """A program's own setting neither changes topics nor is lost."""
    import torch

    from fdmix.engines import engine_for

    made = engine_for(engine, moments.matrix, 3, 1, "cpu")
    seen, product = [], made.product
    made.product = lambda left, right: [seen.append(torch.get_float32_matmul_precision()), product(left, right)][1]
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.ones(moments.n_words), 3)

    torch.set_float32_matmul_precision("medium")
    try:
        made.expect(made.place(Mixture(topics, np.eye(3) / 3)))
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert set(seen) == {setting}


NEWER = """
import torch
from fdmix import Moments, fit_mixture, worlds

{setting} = "tf32"
places = torch.backends, torch.backends.cuda.matmul, torch.backends.mkldnn.matmul
before = [place.fp32_precision for place in places]
moments = Moments.of(worlds.intervals().sample(2_000, length=20, seed=1))
fit_mixture(moments, 3, engine="torch", device="cpu", n_threads=1, max_passes=5)
assert [place.fp32_precision for place in places] == before
"""


@pytest.mark.parametrize("place", ["torch.backends", "torch.backends.cuda.matmul", "torch.backends.mkldnn.matmul"])
def test_programs_that_use_the_newer_setting_keep_it(place):
    """PyTorch refuses to read the older setting after that, in the whole process."""
    code = NEWER.format(setting=f"{place}.fp32_precision")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
