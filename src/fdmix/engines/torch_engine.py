"""The engine for GPUs, by PyTorch: on CUDA, on Apple's MPS, or on the CPU (docs/how-to/gpu.md).

Topics and pairs are float32; alpha, likelihoods and the sums that normalise topics are float64 where the device has
it. The same device and number of threads give the same bits: nothing is scattered, so no sum depends on an order.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from fdmix.engines.contract import LARGEST_FACTOR, Engine, Expectation, State
from fdmix.engines.torch_memory import RESERVE, Size, free_bytes, size_of, too_large
from fdmix.engines.torch_pairs import Cut, Part, parts_of
from fdmix.engines.torch_pass import add_part
from fdmix.engines.torch_products import precision_of_products, product_on
from fdmix.engines.torch_sharding import PARTS_PER_SHARD, check_gpus_for_processes, processes
from fdmix.engines.torch_step import SMALLEST, TopicStep
from fdmix.engines.torch_storage import ResidentPairs, StreamedPairs, on_device
from fdmix.mixture.mixture import Mixture
from fdmix.moments.full_matrix import rearranged
from fdmix.moments.pair_matrix import PairMatrix, as_pair_matrix
from fdmix.runtime.devices import is_out_of_memory, threads_of_operations, torch_device, torch_package
from fdmix.runtime.memory import in_words
from fdmix.runtime.processes import local_rank, processes_here
from fdmix.runtime.threads import Workers, thread_count

log = logging.getLogger("fdmix")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Layout:
    """What suits a kind of device (docs/how-to/gpu.md).

    cut : of the pairs. A GPU's matrix products outrun its memory, so that nearly empty tiles are worth a panel
    width : columns of a panel in one matrix product
    floats_at_a_time : topic entries in one piece of the EM step
    """

    cut: Cut
    width: int
    floats_at_a_time: int


ON_CPU = Layout(Cut(threshold=0.15, pairs_at_a_time=4_000_000, sampled=True), width=512, floats_at_a_time=1 << 17)
ON_GPU = Layout(Cut(threshold=0.02, pairs_at_a_time=1 << 16, sampled=False), width=1 << 14, floats_at_a_time=1 << 24)
SMALL_PASS = 1e8  # multiply-adds; below this, threads of the CPU cost more than they save


class TorchEngine(Engine):
    """Passes by PyTorch.

    torch : the package; device : where tensors are
    order : the caller's numbers of the words, in the engine's order, by falling frequency
    matrix : the pairs as the caller gave them

    memory : bytes of the device to plan with; by default, what is free
    layout : by default, the one that suits the device
    threads_from : multiply-adds of a pass from which it is shared by threads of the CPU
    """

    precision = "float32"  # of matrix products

    def __init__(
        self,
        mhat: PairMatrix | sp.csr_array,
        n_topics: int,
        n_threads: int | None = None,
        device: Any = "auto",
        *,
        memory: int | None = None,
        layout: Layout | None = None,
        threads_from: float = SMALL_PASS,
    ) -> None:
        self.torch, self.memory = torch_package(), memory
        self.matrix = as_pair_matrix(mhat)
        self.device = self._chosen(device)
        self.processes = processes(self.torch, self.device)
        self.product = product_on(self.torch, self.device, self.precision)
        self.n_threads = thread_count(n_threads)
        if self.device.type != "cpu" or self.matrix.n_stored * n_topics < threads_from:
            self.n_threads = 1
        self.workers = Workers(self.n_threads)
        self.n_words, self.n_topics = self.matrix.n_words, n_topics
        self.order = np.argsort(-self.matrix.row_sums, kind="stable")
        places = np.arange(1, self.n_words + 1)
        self.processes.check_same(self.n_words, self.matrix.n_stored, n_topics, float(places @ self.matrix.row_sums))
        self.wide = self.torch.float32 if self.device.type == "mps" else self.torch.float64  # MPS has no float64
        self.layout = layout or (ON_CPU if self.device.type == "cpu" else ON_GPU)
        cut = self.layout.cut
        shards = self.processes.size * self.n_threads
        if shards > 1:  # parts small enough for about equal shards
            share = -(-self.matrix.n_stored // (PARTS_PER_SHARD * shards))
            cut = replace(cut, pairs_at_a_time=max(1, min(cut.pairs_at_a_time, share)))
        self.host_parts: list[Part] = self.processes.mine(parts_of(self.matrix, self.order, cut))
        self.pairs: ResidentPairs | StreamedPairs = self._stored()

    @property
    def sorted(self) -> sp.csr_array:
        """The whole matrix in the engine's order of words, made anew at each call; Adam draws from it."""
        return rearranged(self.matrix.matrix, self.order)

    def place(self, mixture: Mixture) -> State:
        """P (N, T) with words by falling frequency, and alpha, on the device."""
        self.n_topics = mixture.n_topics  # merging topics changes it between passes
        P = np.ascontiguousarray(mixture.topics[:, self.order].T, np.float32)
        P[P < SMALLEST] = 0
        alpha = np.array(mixture.correlations)
        topics, alpha = self._in_memory(lambda: (self._tensor(P), self._tensor(alpha)))
        if self.device.type == "cpu":  # MKL's bits depend on an array's place in memory; PyTorch aligns its own
            topics = topics.clone()
        self.processes.agree(topics, alpha)
        return State(topics, alpha)

    def mixture(self, state: State) -> Mixture:
        """The state with words in the caller's order and topics normalised in float64."""
        topics = np.empty((state.topics.shape[1], self.n_words))
        topics[:, self.order] = state.topics.cpu().numpy().T
        topics /= topics.sum(axis=1, keepdims=True)
        return Mixture(topics, self.correlations(state))

    def correlations(self, state: State) -> Any:
        """alpha, as a NumPy array that sums to 1."""
        alpha = state.correlations.cpu().numpy().astype(np.float64)
        return alpha / alpha.sum()

    def active(self, state: State) -> int:
        """The non-zero entries of P."""
        return int(self.torch.count_nonzero(state.topics).item())

    @property
    def is_shared(self) -> bool:
        """Whether several processes share the fit."""
        return self.processes.size > 1

    def any(self, flag: bool) -> bool:
        """Whether the flag is set in any of the processes that share the fit."""
        return self.processes.any(flag)

    def expect(self, state: State, *, joint: bool = True) -> Expectation:
        """Panels by matrix products, listed pairs by sampled ones. Only the likelihood leaves the device."""
        with self._settings():
            likelihoods, factors, both = self.tensors(state, joint)
            return Expectation(math.fsum(likelihoods.tolist()), factors, both)

    def tensors(self, state: State, joint: bool) -> tuple[Any, Any, Any]:
        """(likelihoods, whose sum is L; H alpha; P' H or None), without waiting for the device.

        What runs out of memory is done again, but never a sum over processes: all take part in each of them once.
        """
        H, likelihoods = self._in_memory(lambda: self._own_pairs(state, joint))
        self.processes.add_up(H, likelihoods)
        if not joint:
            return likelihoods, H, None
        return likelihoods, *self._in_memory(lambda: self._derivatives(state, H))

    def _own_pairs(self, state: State, joint: bool) -> tuple[Any, Any]:
        """(H, likelihood) of the pairs of this process; R A = H alpha, without `joint`, needs no further product."""
        P, A = state.topics, self._product(state.topics, state.correlations.to(self.torch.float32))
        return self._all_pairs(*((A, P) if joint else (P, A)))

    def _derivatives(self, state: State, H: Any) -> tuple[Any, Any]:
        """(H alpha, P' H)."""
        factors = self._product(H, state.correlations.to(self.torch.float32))
        return factors, self._product(state.topics.T, H).to(self.wide)

    def _all_pairs(self, left: Any, right: Any) -> tuple[Any, Any]:
        """(H, likelihood) of the pairs of this process: each thread of the CPU has some of them, and its own H."""
        done = self.workers.map(lambda parts: self._pass(parts, left, right), self.pairs.shards(self.n_threads))
        H, likelihood = done[0]

        def add_others(rows: tuple[int, int]) -> None:
            for more, _ in done[1:]:
                H.narrow(0, *rows).add_(more.narrow(0, *rows))

        if len(done) > 1:
            self._by_rows(add_others, self.n_words)
        return H, sum((more for _, more in done[1:]), likelihood)

    def _pass(self, parts: Iterable[Part], left: Any, right: Any) -> tuple[Any, Any]:
        """(H, likelihood) of some of the pairs."""
        H = self.torch.zeros_like(left)
        likelihood = self.torch.zeros(1, dtype=self.wide, device=self.device)
        for part in parts:
            rows = add_part(self.torch, part, left, right, H, self.layout.width, self.product)
            likelihood += rows.sum(dtype=self.wide)
        return H, likelihood

    def _product(self, left: Any, right: Any) -> Any:
        """left @ right, each thread of the CPU with its own rows."""
        done = self._by_rows(lambda rows: self.product(left.narrow(0, *rows), right), left.shape[0])
        return done[0] if len(done) == 1 else self.torch.cat(done)

    def _by_rows(self, work: Callable[[tuple[int, int]], Result], n_rows: int) -> list[Result]:
        """work((begin, size)) for the rows of each thread."""
        cuts = [n_rows * k // self.n_threads for k in range(self.n_threads + 1)]
        return self.workers.map(work, [(begin, end - begin) for begin, end in pairwise(cuts) if end > begin])

    def maximise(self, state: State, expectation: Expectation, shrinkage: float = 0.0, power: float = 1.0) -> State:
        """mu <- [mu (H alpha) - shrinkage]+, alpha <- alpha (P' H), both over-relaxed and normalised."""
        P, factors = state.topics, expectation.topic_factors
        rows = max(1, self.layout.floats_at_a_time // P.shape[1])

        def step() -> Any:
            return TopicStep(self.torch, P, factors, rows, self.wide, self.workers.map).taken(shrinkage, power)

        with self._settings():
            return State(self._in_memory(step), self._alpha(state, expectation, power))

    def gradient(self, state: State) -> tuple[Any, Any]:
        """dL/dmu = 2 (H alpha)', dL/dalpha = P' H."""
        expectation = self.expect(state)
        d_mu = np.empty((state.topics.shape[1], self.n_words))
        d_mu[:, self.order] = 2 * expectation.topic_factors.cpu().numpy().T
        return d_mu, expectation.joint.cpu().numpy().astype(np.float64)

    def reweigh(self, state: State, expectation: Expectation) -> State:
        """alpha <- alpha (P' H), on the device."""
        return State(state.topics, self._alpha(state, expectation, 1.0))

    def _alpha(self, state: State, expectation: Expectation, power: float) -> Any:
        """alpha <- alpha (P' H)^power, symmetric and summing to 1."""
        alpha = state.correlations
        if expectation.joint is None:
            return alpha
        factor = (expectation.joint + expectation.joint.T) / 2
        factor = factor / (alpha * factor).sum()
        relaxed = alpha * factor * factor.clamp_max(LARGEST_FACTOR) ** (power - 1)
        return relaxed / relaxed.sum()

    def _chosen(self, device: Any) -> Any:
        """The device of a name; of several processes on one computer, each takes another GPU."""
        found = torch_device(device) if isinstance(device, str) else device
        if found.type != "cuda" or not self.torch.cuda.is_available():
            return found
        if found.index is None:
            check_gpus_for_processes(self.torch)
            return torch_device(f"cuda:{local_rank()}")
        if processes_here() > 1:
            raise ValueError(
                f"{processes_here()} processes of this computer need a GPU each, and {device} is one: use "
                "device='cuda', which gives each its own"
            )
        return found

    def _stored(self) -> ResidentPairs | StreamedPairs:
        """The pairs on the device, or streamed to it if they do not fit beside the topics.

        Raises MemoryError if the topics alone do not fit.
        """
        size, width = self.size(), self.layout.width
        free = self.free()
        if size.bytes(width) <= RESERVE * free or (self.device.type == "cpu" and self.memory is None):
            return self._resident()
        if replace(size, streamed=True).bytes(width) > RESERVE * free:
            raise MemoryError(too_large(size, width, self.device, int(RESERVE * free)))
        return self._streamed()

    def _resident(self) -> ResidentPairs | StreamedPairs:
        """The pairs on the device, or streamed to it if there is less memory than it seemed."""
        try:
            return ResidentPairs(self.torch, self.device, self.host_parts)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        return self._streamed()

    def _streamed(self) -> StreamedPairs:
        log.info(
            "a pass needs about %s on %s, which has less: the pairs stay in the computer's memory and are streamed "
            "to the device in each pass", in_words(self.size().bytes(self.layout.width)), self.device,
        )  # fmt: skip
        with self._memory_in_words():
            return StreamedPairs(self.torch, self.device, self.host_parts)

    def _in_memory(self, work: Callable[[], Result]) -> Result:
        """The result of `work`; if the device has too little memory, the pairs are streamed from then on."""
        try:
            return work()
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        if not self.pairs.streamed:
            self.pairs = ResidentPairs(self.torch, self.device, [])  # frees them
            self.pairs = self._streamed()
        with self._memory_in_words():
            return work()

    @contextmanager
    def _memory_in_words(self) -> Iterator[None]:
        """Turns the error that the device is out of memory into a sentence that says what would fit."""
        try:
            yield
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            said = too_large(self.size(), self.layout.width, self.device, self.free())
            raise MemoryError(said) from None

    def size(self) -> Size:
        """What the memory of a pass depends on."""
        return size_of(self.host_parts, self.n_words, self.n_topics)

    def free(self) -> int:
        """Bytes that are free on the device, or those that the caller allows."""
        return self.memory if self.memory is not None else free_bytes(self.torch, self.device)

    def _tensor(self, array: Any) -> Any:
        return on_device(self.torch, self.device, array)

    @contextmanager
    def _settings(self) -> Iterator[None]:
        """The precision of products; one thread in each operation, because the engine's own threads run several.

        PyTorch's own threads wait for each other after every operation, which a busy computer makes slow.
        """
        with threads_of_operations(self.torch, 1), precision_of_products(self.torch, self.precision):
            yield
