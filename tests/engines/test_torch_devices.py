"""Devices that we do not have: what MPS or CUDA lacks is not asked for, and copies on CUDA keep their order."""

import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from pytorch import lacking, needs_torch, pretended_draw

from fdmix import Mixture, Moments, fit_mixture, worlds
from fdmix.engines import Expectation
from fdmix.solvers import Adam

pytestmark = [needs_torch, pytest.mark.slow]


def watching(torch):
    """A mode that lists operations, those whose result MPS cannot hold, and those that leave the device."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Watching(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.found, self.operations = [], []

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            self.operations.append(function)
            for tensor in tree_leaves(result):
                if isinstance(tensor, torch.Tensor) and not (
                    tensor.device.type == "mps" and tensor.layout == torch.strided and tensor.dtype != torch.float64
                ):
                    self.found.append(str(function))
            return result

    return Watching()


@pytest.mark.parametrize("joint", [True, False])
def test_a_step_of_em_uses_nothing_that_mps_lacks(joint, monkeypatch):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    from fdmix.engines.torch_engine import TorchEngine
    from fdmix.engines.torch_storage import suited

    def upload(torch, device, array):  # the pretended device has memory but no copies
        return torch.empty(array.shape, dtype=getattr(torch, suited(array, device).dtype.name), device=device)

    for module in ("torch_engine", "torch_storage"):
        monkeypatch.setattr(f"fdmix.engines.{module}.on_device", upload)
    world = worlds.zipf(20, 1300, seed=1)
    mhat = Moments.of(world.sample(3000, length=20, seed=1)).matrix
    with FakeTensorMode():
        engine = TorchEngine(mhat, 20, 1, torch.device("mps"), memory=1 << 40)
        assert {type(part).__name__ for part in engine.pairs.parts} == {"Panel", "Table"}
        with watching(torch) as watch:
            state = engine.place(world.mixture)
            _, factors, both = engine.tensors(state, joint)
            now = Expectation(0.0, factors, both)
            state = engine.maximise(state, now, shrinkage=1e-6, power=1.7)
            if joint:
                engine.reweigh(state, now)
    assert len(watch.operations) > 50
    assert watch.found == []
    for device in ("MPS", "CUDA"):
        assert lacking(watch.operations, device) == []


@pytest.mark.parametrize("settings", [{}, {"symmetric": True, "trace_penalty": 0.3, "uniform_share": 0.5}])
def test_a_step_of_adam_uses_nothing_that_mps_lacks(settings):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    from fdmix.solvers.torch_adam_step import AdamStep

    with FakeTensorMode(), watching(torch) as watch:
        topics, alpha = torch.zeros(60, 5, device="mps"), torch.zeros(5, 5, device="mps")
        core = AdamStep(torch, Adam(compiled=False, **settings), topics, alpha)
        us, vs, weights = pretended_draw(torch, "mps", core.settings.uniform_share)((4, 16))
        for u, v, weight in zip(us, vs, [None] * 4 if weights is None else weights, strict=True):
            core.by_batch(u, v, weight)
        core.by_derivatives(torch.zeros(60, 5, device="mps"), torch.zeros(5, 5, device="mps"))
        core.mu()
    assert len(watch.operations) > 50
    assert watch.found == []
    for device in ("MPS", "CUDA"):
        assert lacking(watch.operations, device) == []


@pytest.mark.parametrize("device", ["mps", "cuda"])
def test_rounds_of_topics_of_documents_use_nothing_that_a_device_lacks(device):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    from fdmix.mixture.torch_assignment import _certified, _Point, _posterior

    with FakeTensorMode(), watching(torch) as watch:
        B, share, prior = (torch.zeros(*shape, device=device) for shape in ((7, 5, 9), (7, 5), (9,)))
        point = _Point(B, share, torch)
        point.step()
        theta, gap, score = _certified(B, share, point.theta, 1e-6, torch)
        posterior = _posterior(B, share, prior, 0.0, (2, 1e-4), torch)
    assert {tensor.device.type for tensor in (theta, gap, score, posterior, point.bound())} == {device}
    assert len(watch.operations) > 50
    assert lacking(watch.operations, device.upper()) == []
    if device == "mps":
        assert watch.found == []


def test_an_operation_that_a_device_lacks_is_noticed():
    """The judge of the tests above."""
    import torch

    operations = torch.ops.aten.take.default, torch.ops.aten.max.dim, torch.ops.aten._linalg_solve_ex.default
    assert lacking(operations, "MPS") == ["take"]
    assert lacking(operations, "CUDA") == []


class Clock:
    """A queue of work, as CUDA's streams are; `seen` is the latest work of each queue that must be done before."""

    def __init__(self):
        self.seen = {self: 0}

    def work(self):
        """Add a piece of work; (queue, its number, what is done before)."""
        self.seen[self] += 1
        return self, self.seen[self], dict(self.seen)

    def wait_event(self, event):
        for queue, number in event.seen.items():
            self.seen[queue] = max(self.seen.get(queue, 0), number)


class Event:
    def __init__(self, host=None):
        self.seen, self.host = {}, host

    def record(self, queue):
        self.seen = dict(queue.seen)

    def synchronize(self):
        self.host.wait_event(self)


def happens_before(one, other):
    return other[2].get(one[0], 0) >= one[1]


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("n_parts", [1, 2, 3, 7])
def test_streamed_parts_arrive_before_use_and_are_not_overwritten_in_use(n_parts, staged):
    """Queues are simulated: at any speed of copies and passes, only the order that events enforce counts.

    staged : parts of files, which the host reads into two pinned stages
    """
    import torch

    from fdmix.engines.torch_pairs import Panel
    from fdmix.engines.torch_storage import StreamedPairs, _CudaLane

    main, host, copies, uses, reads = Clock(), Clock(), [], [], []

    @contextmanager
    def stream(queue):
        copies.append(queue.work())
        yield

    cuda = SimpleNamespace(
        Stream=lambda device: Clock(), Event=lambda: Event(host), stream=stream, current_stream=lambda device: main
    )
    values = np.ones((4, 4), np.float32)
    pairs = StreamedPairs(torch, torch.device("cpu"), [Panel(0, 4, 4, values * k) for k in range(n_parts)])
    pairs.lane = _CudaLane(SimpleNamespace(cuda=cuda), None)
    if staged:  # memory that is not pinned, for want of a device
        pairs.stages = [{key: torch.empty_like(buffer) for key, buffer in one.items()} for one in pairs.buffers]
        wait = pairs.lane.wait_for_copy
        pairs.lane.wait_for_copy = lambda number: [wait(number), reads.append(host.work())]
    for _ in range(2):  # two passes: the second one uses the buffers of the first
        for number, part in enumerate(pairs):
            assert part.values[0, 0] == number
            uses.append(main.work())
    assert len(copies) == len(uses) == 2 * n_parts
    assert len(reads) == (2 * n_parts if staged else 0)
    buffers = [number % min(2, n_parts) for _ in range(2) for number in range(n_parts)]
    for k, (copy, use) in enumerate(zip(copies, uses, strict=True)):
        assert happens_before(copy, use)
        for earlier in range(k):
            if buffers[earlier] == buffers[k]:
                assert happens_before(uses[earlier], copy)
                assert not staged or happens_before(copies[earlier], reads[k])


def test_a_model_fitted_by_pytorch_loads_without_it(tmp_path):
    moments = Moments.of(worlds.intervals().sample(300, length=20))
    fitted = fit_mixture(moments, 3, engine="torch", device="cpu", n_threads=1).mixture
    fitted.save(tmp_path / "model")
    code = """
import sys
sys.modules["torch"] = None  # as if it were not installed
from fdmix import Mixture
mixture = Mixture.load(sys.argv[1])
print(repr(float(mixture.topics.sum())), mixture.n_topics)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model")], capture_output=True, text=True, check=True
    )
    total, n_topics = done.stdout.split()
    assert (float(total), int(n_topics)) == (pytest.approx(3), 3)
    np.testing.assert_array_equal(Mixture.load(tmp_path / "model").topics, fitted.topics)
