"""Algorithm 2 by PyTorch: parameters, running means and drawn pairs stay on the device of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.engines import State
from fdmix.engines.torch_engine import TorchEngine
from fdmix.engines.torch_memory import FLOAT, adam_bytes, adam_too_large
from fdmix.engines.torch_products import precision_of_products
from fdmix.kernels.alias_table import fill_alias_table
from fdmix.mixture.mixture import Mixture
from fdmix.runtime.devices import is_out_of_memory, threads_of_operations
from fdmix.runtime.interruption import deferred_ctrl_c
from fdmix.solvers.adam import Adam, AdamRun, Snapshot, softmax_parameters
from fdmix.solvers.contract import Problem
from fdmix.solvers.torch_adam_step import AdamStep

DRAWN_AT_A_TIME = 1 << 18  # pairs; fewer calls than one for each step
MOST_PAIRS = 2**31 - 1  # the alias table numbers them in 32 bits


class TorchAdamRun(AdamRun):
    """A run on the device of a `TorchEngine`, with words in the engine's order.

    If several processes share the fit, each draws its own pairs and all take the mean of their gradients: a step has
    the batch of all processes together, and all processes hold the same parameters.
    """

    def __init__(self, settings: Adam, problem: Problem, start: Mixture) -> None:
        super().__init__(settings, problem)
        engine = self.torch_engine = _torch_engine(problem)
        _check_memory(engine, settings)
        self.torch = engine.torch
        with self._memory_in_words():
            self._place(start)

    def _place(self, start: Mixture) -> None:
        """Parameters, and the pairs to draw from, on the device."""
        engine, torch, settings, problem = self.torch_engine, self.torch, self.settings, self.problem
        topics, alpha = softmax_parameters(start, settings.symmetric)
        placed = self._placed(topics[:, engine.order].T), self._placed(alpha)
        engine.processes.agree(*placed)
        self.core = AdamStep(torch, settings, *placed, engine.processes, engine.product)
        seed = int(problem.rng.integers(2**62)) + engine.processes.rank  # each process draws other pairs
        self.generator = torch.Generator(engine.device).manual_seed(seed)
        if not settings.exact:
            self.draw = DevicePairs(torch, engine.sorted, engine.device, settings.uniform_share, self.generator)

    def active(self) -> int:
        """All entries are positive."""
        return int(self.core.topics.values.numel())

    def take_steps(self, n: int) -> None:
        """Take n steps; only at the end does the host wait for the device."""
        precision = precision_of_products(self.torch, self.torch_engine.precision)
        with self._memory_in_words(), self._threads(), precision, self.torch.no_grad():
            if self.settings.exact:
                for _ in range(n):
                    self._exact_step()
            else:
                self._drawn_steps(n)
            self.core.total.sum().item()

    def snapshot(self) -> Snapshot:
        """mu and the symmetric part of alpha as a state of the engine."""
        with self._memory_in_words():
            alpha = self.core.alpha.to(self.torch_engine.wide)
            state = State(self.core.mu().to(self.torch.float32), (alpha + alpha.T) / 2)
            return Snapshot(state, float(alpha.trace().item()))

    def tensors(self) -> dict[str, Any]:
        """All that a step reads and changes, to save and to `restore`."""
        topics, logits = self.core.topics, self.core.logits
        return {
            "topics": topics.values, "first": topics.first, "second": topics.second, "alpha": logits.values,
            "alpha_first": logits.first, "alpha_second": logits.second, "taken": self.core.taken,
            "generator": self.generator.get_state(),
        }  # fmt: skip

    def restore(self, tensors: dict[str, Any]) -> None:
        """Go on from tensors of an earlier run with the same settings."""
        for name, mine in self.tensors().items():
            if name != "generator":
                mine.copy_(tensors[name])
        self.generator.set_state(tensors["generator"])
        self.core.refresh()
        self.n_steps = int(self.core.taken.item())

    def _drawn_steps(self, n: int) -> None:
        batch = self.settings.batch
        while n > 0:
            some = min(n, max(1, DRAWN_AT_A_TIME // batch))
            us, vs, weights = self.draw((some, batch))
            for u, v, weight in zip(us, vs, [None] * some if weights is None else weights, strict=True):
                deferred_ctrl_c.check()
                self.core.by_batch(u, v, weight)
            n -= some

    def _exact_step(self) -> None:
        """One pass of the engine: dL/dmu = 2 H alpha, dL/dalpha = P' H, at the symmetric part of alpha."""
        found = self.torch_engine.expect(self.snapshot().state)
        d_alpha = (found.joint + found.joint.T) / 2
        dtype = self.core.weights.dtype
        self.core.by_derivatives(2 * found.topic_factors.to(dtype), d_alpha.to(dtype))

    @contextmanager
    def _memory_in_words(self) -> Iterator[None]:
        """Turns the error that a device is out of memory into a sentence that says what to do."""
        try:
            yield
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            engine = self.torch_engine
            needed = _needed(engine, self.settings)
            raise MemoryError(adam_too_large(engine.size(), needed, engine.device, engine.free())) from None

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """The engine's number of threads within each operation, for work on the CPU."""
        if self.torch_engine.device.type != "cpu":
            yield
            return
        with threads_of_operations(self.torch, self.torch_engine.n_threads):
            yield

    def _placed(self, table: Any) -> Any:
        """The table on the device, in the precision of the settings."""
        precision, device = self.settings.precision, self.torch_engine.device
        if precision == "float64" and device.type == "mps":
            raise ValueError("Apple's MPS has no float64: use precision='float32', or device='cpu'")
        kind = np.float64 if precision == "float64" else np.float32
        return self.torch.from_numpy(np.ascontiguousarray(table, kind)).to(device)


class DevicePairs:
    """Draws pairs (u, v) ~ Mhat on a device, by an alias table.

    A drawn pair takes one look into the table, and a stored pair takes 16 bytes. The table is made in float64 on the
    host, so that devices without float64 draw rare pairs as often as others do.

    generator : of the device; None takes the device's own
    """

    def __init__(self, torch: Any, mhat: sp.csr_array, device: Any, uniform_share: float, generator: Any) -> None:
        self.torch, self.device, self.uniform_share, self.generator = torch, device, uniform_share, generator
        self.n_stored = mhat.nnz
        if mhat.nnz > MOST_PAIRS:
            raise ValueError(
                f"Adam draws from {MOST_PAIRS:,} stored pairs at most, and there are {mhat.nnz:,}: "
                "use exact=True, or fewer words (Moments.top)"
            )
        kept, alias = np.empty(mhat.nnz, np.float32), np.empty(mhat.nnz, np.int32)
        chance = mhat.data / mhat.data.sum()
        fill_alias_table(chance.copy(), kept, alias)
        rows = np.repeat(np.arange(mhat.shape[0], dtype=np.int32), np.diff(mhat.indptr))
        self.kept, self.alias, self.rows = (torch.from_numpy(a).to(device) for a in (kept, alias, rows))
        self.columns = torch.from_numpy(mhat.indices.astype(np.int32)).to(device)
        self.weight = None
        if uniform_share:  # importance weight = wanted / drawn probability
            weight = chance / ((1 - uniform_share) * chance + uniform_share / mhat.nnz)
            self.weight = torch.from_numpy(weight.astype(np.float32)).to(device)

    def __call__(self, shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
        """(u, v, weight), each of this shape; the weight is None where all weights are 1."""
        torch = self.torch
        slot = self._numbers(shape)
        stored = torch.where(self._chances(shape) < _at(self.kept, slot), slot, _at(self.alias, slot).long())
        if self.weight is not None:
            stored = torch.where(self._chances(shape) < self.uniform_share, self._numbers(shape), stored)
        u, v = _at(self.rows, stored).long(), _at(self.columns, stored).long()
        return u, v, None if self.weight is None else _at(self.weight, stored)

    def _numbers(self, shape: tuple[int, ...]) -> Any:
        return self.torch.randint(self.n_stored, shape, generator=self.generator, device=self.device)

    def _chances(self, shape: tuple[int, ...]) -> Any:
        return self.torch.rand(shape, generator=self.generator, device=self.device)


def _at(values: Any, places: Any) -> Any:
    """values[places], without `take`, which MPS lacks."""
    return values.index_select(0, places.flatten()).view(places.shape)


def _check_memory(engine: TorchEngine, settings: Adam) -> None:
    """MemoryError, before any work, if the run does not fit on its device."""
    if engine.device.type == "cpu" and engine.memory is None:
        return
    size, needed, free = engine.size(), _needed(engine, settings), engine.free()
    if not engine.pairs.streamed and engine.memory is None:
        free += size.pairs  # they are there already
    if needed > free:
        raise MemoryError(adam_too_large(size, needed, engine.device, free))


def _needed(engine: TorchEngine, settings: Adam) -> int:
    """Bytes that a run takes on its device."""
    size = replace(engine.size(), streamed=engine.pairs.streamed)
    n_pairs = 0 if settings.exact else engine.matrix.n_stored
    weights = FLOAT * n_pairs if settings.uniform_share else 0  # of the drawn pairs
    return adam_bytes(size, engine.layout.width, n_pairs, settings.batch) + weights


def _torch_engine(problem: Problem) -> TorchEngine:
    if not isinstance(problem.engine, TorchEngine):
        raise TypeError(f"this run needs the engine 'torch', not {type(problem.engine).__name__}")
    return problem.engine
