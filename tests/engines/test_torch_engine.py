"""PyTorch's engine: layouts, determinism, memory, and devices that are only pretended."""

import logging
import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from pytorch import needs_torch, small_memory

from fdmix import FDM, Mixture, Moments, fit_mixture, worlds
from fdmix.engines import Expectation, engine_for
from fdmix.fit import fit_correlations

pytestmark = [needs_torch, pytest.mark.slow]


def problem(n_words=1300, n_topics=20, n_documents=3000, seed=1):
    world = worlds.zipf(n_topics, n_words, seed=seed)
    mhat = Moments.of(world.sample(n_documents, length=20, seed=seed)).matrix
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.5), n_topics) + 1e-9
    alpha = rng.random((n_topics, n_topics)) + np.eye(n_topics)
    return mhat, Mixture(topics / topics.sum(axis=1, keepdims=True), (alpha + alpha.T) / (alpha + alpha.T).sum())


def layouts():
    """That of CPUs and that of GPUs, with panels and listed pairs in both."""
    from fdmix.engines.torch_engine import ON_CPU, ON_GPU

    return {
        "cpu": replace(ON_CPU, cut=replace(ON_CPU.cut, threshold=0.2, pairs_at_a_time=20_000), width=700),
        "gpu": replace(ON_GPU, cut=replace(ON_GPU.cut, threshold=0.2, pairs_at_a_time=5_000)),
    }


def torch_engine(mhat, n_topics, device="cpu", **more):
    from fdmix.engines.torch_engine import TorchEngine

    return TorchEngine(mhat, n_topics, 1, device, **more)


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_layouts_agree_with_the_reference(name):
    mhat, mixture = problem()
    engine, slow = torch_engine(mhat, 20, layout=layouts()[name]), engine_for("numpy", mhat, 20)
    assert {"Panel", {"cpu": "Sample", "gpu": "Table"}[name]} == {type(part).__name__ for part in engine.host_parts}
    state, reference = engine.place(mixture), slow.place(mixture)
    np.testing.assert_allclose(engine.correlations(state), mixture.correlations, rtol=1e-14)  # not rounded to float32
    for joint in (True, False):
        got, expected = engine.expect(state, joint=joint), slow.expect(reference, joint=joint)
        assert got.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-6)
        for shrinkage, power in ((0.0, 1.0), (1.2345e-5, 1.7)):
            one = slow.mixture(slow.maximise(reference, expected, shrinkage, power))
            two = engine.mixture(engine.maximise(state, got, shrinkage, power))
            np.testing.assert_allclose(two.topics, one.topics, rtol=1e-3, atol=1e-7)
            np.testing.assert_allclose(two.correlations, one.correlations, rtol=1e-4, atol=1e-10)


@pytest.mark.parametrize(("name", "n_threads"), [("cpu", 1), ("cpu", 3), ("gpu", 1)])
def test_the_same_device_gives_the_same_bits(name, n_threads):
    import torch

    from fdmix.engines.torch_engine import TorchEngine

    mhat, mixture = problem()
    results = []
    torch.use_deterministic_algorithms(True)
    try:
        for _ in range(2):
            engine = TorchEngine(mhat, 20, n_threads, "cpu", layout=layouts()[name], threads_from=0)
            assert engine.workers.n_threads == n_threads
            state = engine.place(mixture)
            for _ in range(3):
                now = engine.expect(state)
                state = engine.maximise(state, now, shrinkage=1e-6, power=1.7)
            results.append((now.log_likelihood, engine.mixture(state).topics))
    finally:
        torch.use_deterministic_algorithms(False)
    assert results[0][0] == results[1][0]
    np.testing.assert_array_equal(results[0][1], results[1][1])


@pytest.mark.parametrize(("n_topics", "n_words", "sparsity"), [(8, 300, "auto"), (8, 300, 0), (20, 600, "auto")])
def test_a_whole_fit_agrees_with_the_reference(n_topics, n_words, sparsity):
    """Every topic, not only their mean."""
    moments = Moments.of(worlds.zipf(n_topics, n_words, seed=2).sample(5 * n_words, length=20, seed=3))
    slow, fast = (fit_mixture(moments, n_topics, engine=name, sparsity=sparsity) for name in ("numpy", "torch"))
    assert fast.log_likelihoods[-1] == pytest.approx(slow.log_likelihoods[-1], rel=1e-6)
    assert np.abs(fast.mixture.topics - slow.mixture.topics).sum(axis=1).max() < 1e-3


def test_correlations_of_fixed_topics_agree_with_the_reference():
    world = worlds.zipf(8, 300, seed=2)
    moments, mixture = Moments.of(world.sample(1500, length=20, seed=3)), Mixture(world.topics, np.eye(8) / 8)
    (one, first, _), (two, second, _) = (
        fit_correlations(mixture, moments, engine=name) for name in ("numpy", "torch")
    )
    assert first == pytest.approx(second, rel=1e-6)
    np.testing.assert_allclose(one, two, atol=1e-5)


def test_the_estimator_takes_an_engine_and_a_device():
    counts = worlds.intervals().sample(500, length=20).counts
    one, two = FDM(3, engine="torch", device="cpu").fit(counts), FDM(3).fit(counts)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-3)


def test_threads_agree_and_leave_the_setting_of_pytorch_alone():
    import torch

    from fdmix.engines.torch_engine import TorchEngine

    mhat, mixture = problem(3000, 60, 6000)
    assert mhat.nnz * 60 < 1e8
    engines = [torch_engine(mhat, 60), TorchEngine(mhat, 60, 3, "cpu", threads_from=0)]
    assert [engine.workers.n_threads for engine in engines] == [1, 3]
    before = torch.get_num_threads()
    one, two = (engine.expect(engine.place(mixture)) for engine in engines)
    assert torch.get_num_threads() == before
    assert one.log_likelihood == pytest.approx(two.log_likelihood, rel=1e-7)
    np.testing.assert_allclose(one.topic_factors.numpy(), two.topic_factors.numpy(), rtol=1e-3)
    np.testing.assert_allclose(one.joint.numpy(), two.joint.numpy(), rtol=1e-4)


# A GPU that is only pretended


def watching(torch):
    """A mode that lists the operations which copy to the host or wait for the device."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watching(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.transfers, self.operations = [], 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs, name = kwargs or {}, str(function)
            self.operations += 1
            device = kwargs.get("device")
            to_host = "_to_copy" in name and device is not None and torch.device(device).type == "cpu"
            waits = any(word in name for word in ("_local_scalar_dense", "nonzero.", "masked_select", "is_nonzero"))
            if to_host or waits:
                self.transfers.append(name)
            return function(*args, **kwargs)

    return Watching()


def pretended_gpu(torch, mhat, mixture):
    """An engine and a state on a CUDA device that does not exist: shapes and devices without numbers."""
    engine = torch_engine(mhat, mixture.n_topics, torch.device("cuda:0"), memory=1 << 40, layout=layouts()["gpu"])
    return engine, engine.place(mixture)


@pytest.mark.parametrize("joint", [True, False])
def test_a_step_stays_on_its_device_and_does_not_wait_for_it(joint):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    mhat, mixture = problem()
    with FakeTensorMode():
        engine, state = pretended_gpu(torch, mhat, mixture)
        assert {type(part).__name__ for part in engine.pairs.parts} == {"Panel", "Table"}
        with watching(torch) as watch:
            likelihoods, factors, both = engine.tensors(state, joint)
            now = Expectation(0.0, factors, both)
            state = engine.maximise(state, now, shrinkage=1e-6, power=1.7)
            if joint:
                state = engine.reweigh(state, now)
    assert watch.operations > 50
    assert watch.transfers == []
    for tensor in (likelihoods, factors, state.topics, state.correlations):
        assert tensor.device == torch.device("cuda:0")


def test_the_likelihood_is_the_only_copy_from_the_device():
    """It comes last in a pass: without numbers, reading it is where the pretended device fails."""
    import torch
    from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

    mhat, mixture = problem()
    with FakeTensorMode():
        engine, state = pretended_gpu(torch, mhat, mixture)
        watch = watching(torch)
        with watch, pytest.raises(DataDependentOutputException):
            engine.expect(state)
    assert len(watch.transfers) <= 1


def test_a_mix_of_devices_is_noticed():
    """The two tests above would fail if a tensor were left on the host."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    mhat, mixture = problem()
    with FakeTensorMode():
        engine, state = pretended_gpu(torch, mhat, mixture)
        wrong = replace(state, correlations=torch.ones(20, 20, dtype=torch.float64))
        with pytest.raises((RuntimeError, torch._subclasses.fake_tensor.UnsupportedOperatorException)):
            engine.tensors(wrong, True)


# Memory


@pytest.mark.parametrize("n_topics", [60, 300])
@pytest.mark.parametrize("streamed", [False, True])
def test_the_memory_model_is_within_a_tenth_of_the_peak(n_topics, streamed):
    """With the layout of GPUs, on the CPU; the step before is still held, as EM does."""
    import torch

    from fdmix.engines.torch_memory import size_of
    from fdmix.engines.torch_storage import ResidentPairs, StreamedPairs

    mhat, mixture = problem(3000, n_topics, 6000)
    layout = replace(layouts()["gpu"], floats_at_a_time=1 << 15)
    engine = torch_engine(mhat, n_topics, layout=layout)
    parts = [replace(part) for part in engine.host_parts]
    kind = StreamedPairs if streamed else ResidentPairs
    size = size_of(parts, 3000, n_topics, streamed)
    engine.pairs = kind(torch, engine.device, parts)
    with small_memory(torch) as memory:
        memory.upload(engine.pairs)
        state = engine.place(mixture)
        before = state, engine.expect(state)
        for _ in range(3):
            state = engine.maximise(*before)
            before = state, engine.expect(state)
    model = size.bytes(layout.width)
    assert model == pytest.approx(memory.peak, rel=0.1)


def many_panels(n_words=3000, n_topics=5):
    """All pairs present: six panels, and a matrix that is much larger than the topics."""
    rng = np.random.default_rng(4)
    one = rng.random((n_words, n_words), np.float32)
    topics = rng.dirichlet(np.ones(n_words), n_topics)
    return sp.csr_array((one + one.T) / (2 * one.sum())), Mixture(topics, np.eye(n_topics) / n_topics)


def between(engine, layout):
    """Bytes that a pass fits into with streamed pairs, but not with all of them on the device."""
    from fdmix.engines.torch_memory import size_of

    size = size_of(engine.host_parts, engine.n_words, engine.n_topics)
    return (size.bytes(layout.width) + replace(size, streamed=True).bytes(layout.width)) // 2


def test_streamed_pairs_give_the_same_bits():
    mhat, mixture = many_panels()
    layout = replace(layouts()["gpu"], width=512)
    resident = torch_engine(mhat, 5, layout=layout)
    streamed = torch_engine(mhat, 5, layout=layout, memory=between(resident, layout))
    assert (resident.pairs.streamed, streamed.pairs.streamed) == (False, True)
    for _ in range(2):  # buffers are used again
        one, two = (engine.expect(engine.place(mixture)) for engine in (resident, streamed))
        assert one.log_likelihood == two.log_likelihood
        np.testing.assert_array_equal(one.topic_factors.numpy(), two.topic_factors.numpy())


def test_out_of_memory_in_a_pass_falls_back_to_streaming(caplog):
    import torch

    mhat, mixture = many_panels()
    layout = replace(layouts()["gpu"], width=512)
    engine = torch_engine(mhat, 5, layout=layout)
    expected = engine.expect(engine.place(mixture)).log_likelihood
    state = engine.place(mixture)
    with caplog.at_level(logging.INFO), small_memory(torch, between(engine, layout)) as memory:
        memory.upload(engine.pairs)
        assert engine.expect(state).log_likelihood == expected
    assert engine.pairs.streamed
    assert "streamed to the device" in caplog.text


def test_out_of_memory_with_streamed_pairs_says_what_would_fit():
    import torch

    mhat, mixture = problem()
    engine = torch_engine(mhat, 20)
    state = engine.place(mixture)
    with small_memory(torch, 1000), pytest.raises(MemoryError, match=r"20 topics needs about .* use fewer topics"):
        engine.expect(state)


def test_topics_that_cannot_fit_are_refused_with_the_number_that_would():
    mhat, _ = problem()
    with pytest.raises(MemoryError, match=r"about [\d,]+ topics would fit"):
        torch_engine(mhat, 5000, memory=20_000_000)
    with pytest.raises(MemoryError, match="not even one topic would fit"):
        torch_engine(mhat, 20, memory=1000)


@pytest.mark.parametrize(
    "message",
    [
        "MPS backend out of memory (MPS allocated: 5.56 GB, other allocations: 1.10 GB, max allowed: 6.80 GB).",
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    ],
)
def test_devices_whose_out_of_memory_is_a_plain_error_fall_back_to_streaming(message):
    """Only CUDA has an exception for it. Other errors are not taken for it."""
    mhat, mixture = many_panels()
    engine = torch_engine(mhat, 5)
    expected = engine.expect(engine.place(mixture)).log_likelihood
    product, errors = engine.product, [RuntimeError(message)]
    engine.product = lambda left, right: product(left, right) if not errors else raised(errors.pop())
    assert engine.expect(engine.place(mixture)).log_likelihood == expected
    assert engine.pairs.streamed
    errors.append(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="shapes"):
        engine.expect(engine.place(mixture))


def raised(error):
    raise error


@pytest.mark.parametrize("number", [0, 1, -2, -1], ids=["P alpha", "a panel", "H alpha", "P' H"])
def test_a_pass_that_is_done_again_adds_up_over_processes_once(number):
    """The other processes wait for one sum a pass: a second one would be taken for that of the next pass."""
    import torch

    mhat, mixture = many_panels()
    engine = torch_engine(mhat, 5)
    state = engine.place(mixture)
    product, done, sums = engine.product, [], []
    engine.product = lambda left, right: [done.append(1), product(left, right)][1]
    expected = engine.expect(state)
    products_to_go = [range(len(done))[number]]

    def failing(left, right):
        products_to_go[0] -= 1
        if products_to_go[0] == -1:
            raise torch.OutOfMemoryError("out of memory")
        return product(left, right)

    engine.product = failing
    engine.processes.add_up = lambda *tensors: sums.append(len(tensors))
    found = engine.expect(state)
    assert engine.pairs.streamed
    assert sums == [2]
    assert found.log_likelihood == expected.log_likelihood
    np.testing.assert_array_equal(found.joint.numpy(), expected.joint.numpy())


def test_a_device_that_ran_out_of_memory_though_enough_seems_free_is_not_told_of_fewer_topics_than_it_has():
    from fdmix.engines.torch_memory import Size, too_large

    size = Size(1000, 20, 4_000_000, 2_000_000, 1000)
    needed = replace(size, streamed=True).bytes(512)
    said = too_large(size, 512, SimpleNamespace(type="cuda"), needed + 1)
    assert "ran out of memory, though" in said
    assert "other programs may have used it" in said
    assert "would fit" not in said
    assert re.search(r"about \d+ topics would fit", too_large(size, 512, SimpleNamespace(type="cuda"), needed - 1))


def test_what_pytorch_keeps_for_its_next_tensors_is_free():
    """Otherwise a second fit in the same program would be refused, or streamed for no reason."""
    from fdmix.engines.torch_memory import free_bytes

    cuda = SimpleNamespace(
        mem_get_info=lambda device: (3_000, 24_000), memory_reserved=lambda device: 20_000,
        memory_allocated=lambda device: 500,
    )  # fmt: skip
    mps = SimpleNamespace(recommended_max_memory=lambda: 24_000, current_allocated_memory=lambda: 500)
    torch = SimpleNamespace(cuda=cuda, mps=mps)
    assert free_bytes(torch, SimpleNamespace(type="cuda")) == 22_500
    assert free_bytes(torch, SimpleNamespace(type="mps")) == 23_500


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit needs Linux")
def test_a_computer_without_memory_for_a_tensor_says_so_in_words():
    """A real failure: the memory of a process is limited, then one of its tensors does not fit."""
    code = """
import resource
import numpy as np, scipy.sparse as sp
from fdmix import Mixture
from fdmix.engines import engine_for

mhat = sp.csr_array(np.full((40, 40), 1 / 1600))
engine = engine_for("torch", mhat, 3, 1, "cpu")
engine.expect(engine.place(Mixture(np.full((3, 40), 1 / 40), np.eye(3) / 3)))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
try:
    engine._in_memory(lambda: engine.torch.ones(1 << 30))
except MemoryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "a pass over 40 words with 3 topics needs about" in done.stdout, done.stderr


# Bad input


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"engine": "torch", "device": "abacus"}, "there is no device 'abacus'"),
        ({"engine": "torch", "device": "cuda:7"}, "cuda:7"),
        ({"engine": "torch", "device": "xla"}, "fdmix computes on cpu, mps and cuda"),
        ({"device": "cuda"}, "goes with engine='torch'"),
        ({"engine": "numba", "device": "cpu"}, "engine='numba' computes on the CPU"),
    ],
)
def test_devices_that_are_not_there_are_refused_before_any_work(given, sentence):
    moments = Moments.of(worlds.intervals().sample(50, length=20))
    with pytest.raises(ValueError, match=sentence):
        fit_mixture(moments, 3, **given)


def test_without_pytorch_a_sentence_says_how_to_get_it():
    code = """
import sys
sys.modules["torch"] = None  # as if it were not installed
from fdmix import Moments, fit_mixture, worlds
try:
    fit_mixture(Moments.of(worlds.intervals().sample(50, length=20)), 3, engine="torch")
except ImportError as error:
    assert "pip install 'fdmix[torch]'" in str(error), error
else:
    raise AssertionError("nothing was refused")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_fdmix_does_not_import_pytorch_by_itself():
    code = "import sys, fdmix, fdmix.cli; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_line_refuses_a_device_with_a_sentence(tmp_path):
    moments = tmp_path / "some.moments"
    Moments.of(worlds.intervals().sample(50, length=20)).save(moments)
    command = [sys.executable, "-m", "fdmix", "fit", str(moments), "--topics", "3", "--out", str(tmp_path / "model")]
    done = subprocess.run(
        [*command, "--engine", "torch", "--device", "abacus"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("fdmix: there is no device 'abacus'")
    assert not (tmp_path / "model").exists()
