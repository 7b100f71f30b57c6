"""Topics of documents by PyTorch: many documents of like length at a time, on the device that the user names.

The most likely theta maximises f(theta) = sum_u dhat(u) log m(u), with m = sum_t theta(t) mu_t. Its gradient g has
theta . g = 1, so maximising f(theta) - sum(theta) over theta >= 0 gives a theta that sums to 1. At the optimum

    y m = dhat,     sum_u mu_t(u) y(u) + z(t) = 1,     theta z = 0,     theta, y, z >= 0.

An interior-point method follows theta z = c to c = 0. Its Newton steps,

    (A' A + diag(z / theta)) step = g - 1 + c / theta,     A[u, t] = sqrt(y(u) / m(u)) mu_t(u),

need one system of as many equations as a document has distinct words (Woodbury). A document is finished when
max g - 1, which bounds what any other theta could gain, is within the tolerance. What a device cannot finish, for
instance in float32, the loops for CPUs finish.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fdmix.runtime.devices import is_out_of_memory, threads_of_operations, torch_device, torch_package
from fdmix.runtime.threads import thread_count

log = logging.getLogger("fdmix")
Floats = np.ndarray[Any, np.dtype[np.float64]]
MAX_ROUNDS = 60  # Newton steps for a batch; documents of 30 tokens need about 12
CHECK_EVERY = 4  # rounds between two looks at which documents are finished: each look waits for the device
TARGET = 0.1  # of the mean of theta z, the next one that a step aims at
TO_THE_BOUNDARY = 0.99  # share of the way to a zero of theta or z that a step may go
SMALL_SHARE = 1e-3  # of a topic's even share: smaller ones become exact zeros where that keeps the gap
FLOAT32_TOLERANCE = 1e-4  # with a tenth of it, one document in ten reaches it; with 1e-6 one in fifty
ENTRIES_AT_A_TIME = {"cpu": 4_000_000, "mps": 30_000_000, "cuda": 60_000_000}  # numbers in a (documents, words, T)


class Batch(NamedTuple):
    """Documents of like length: numbers (D,), words (D, L) and counts (D, L), padded with the count 0."""

    numbers: Any
    words: Any
    counts: Any


def most_likely_on_device(
    topics: Floats,
    counts: sp.csr_array,
    floor: float,
    tolerance: float,
    device: str,
    n_threads: int | None = None,
) -> tuple[Floats, Floats, Floats, Any]:
    """(theta, gaps, L_d, finished) of all documents.

    topics : (T, N), without the floor; floor : added to every entry
    finished : which documents have a gap within the tolerance; others, and those without a word that a topic has, are
        left to the caller. In float32, which is all that MPS has, few documents reach a small tolerance: then all
        are left to the caller at once
    """
    n_documents = counts.shape[0]
    if torch_device(device).type == "mps" and tolerance < FLOAT32_TOLERANCE:
        log.info("topics of documents are found on the CPU: float32 cannot reach the tolerance of %g", tolerance)
        nothing = np.full(n_documents, np.nan)
        return np.zeros((n_documents, len(topics))), nothing, nothing.copy(), np.zeros(n_documents, bool)

    def work(B: Any, share: Any, torch: Any) -> tuple[Any, Any, Any]:
        theta, gap, score = _most_likely(B + floor, share, tolerance, torch)
        explained = ((B > 0).any(dim=2) & (share > 0)).any(dim=1)  # otherwise all topics explain it equally badly
        return theta, torch.where(explained, gap, torch.nan), score

    return _in_batches(topics, counts, device, work, n_threads)


def posterior_on_device(
    topics: Floats,
    counts: sp.csr_array,
    floor: float,
    prior: Floats,
    stop: tuple[int, float],
    device: str,
    n_threads: int | None = None,
) -> tuple[Floats, Floats]:
    """(theta, L_d): posterior means under a Dirichlet(prior) by CVB0, as `kernels/posterior_topics.py` finds them.

    stop : rounds at most, and the share of the tokens that the last round moves
    """

    def work(B: Any, counts: Any, torch: Any) -> tuple[Any, Any, Any]:
        a = torch.as_tensor(prior).to(B)
        theta = _posterior(B, counts, a, floor, stop, torch)
        length = counts.sum(dim=1, keepdim=True).clamp_min(1)
        m = ((B + floor) @ theta.unsqueeze(2)).squeeze(2)
        score = torch.where(counts > 0, counts / length * m.log(), 0).sum(dim=1)
        return theta, score, score

    theta, _, scores, _ = _in_batches(topics, counts, device, work, n_threads, shares=False)
    return theta, scores


def _in_batches(
    topics: Floats,
    counts: sp.csr_array,
    device: str,
    work: Callable[[Any, Any, Any], tuple[Any, Any, Any]],
    n_threads: int | None,
    shares: bool = True,
) -> tuple[Floats, Floats, Floats, Any]:
    """The results of `work(mu of the words (D, L, T), their shares or counts (D, L), torch)` for all documents."""
    torch, where = torch_package(), torch_device(device)
    kind = torch.float32 if where.type == "mps" else torch.float64
    n_documents, n_topics = counts.shape[0], topics.shape[0]
    theta, gaps = np.zeros((n_documents, n_topics)), np.full(n_documents, np.nan)
    scores = np.full(n_documents, np.nan)
    threads = threads_of_operations(torch, thread_count(n_threads))
    with torch.no_grad(), threads, _in_words(torch, where, topics.shape):
        by_word = torch.from_numpy(np.ascontiguousarray(topics.T)).to(kind).to(where)

        def results(batch: Batch) -> list[Floats]:
            words = torch.from_numpy(batch.words).to(where)
            given = torch.from_numpy(batch.counts).to(kind).to(where)
            if shares:
                given = given / given.sum(dim=1, keepdim=True)
            B = by_word.index_select(0, words.reshape(-1)).view(*words.shape, n_topics)
            return [tensor.cpu().numpy().astype(np.float64) for tensor in work(B, given, torch)]

        waiting, entries = _longest_first(counts), ENTRIES_AT_A_TIME[where.type] // n_topics
        while waiting.size:
            batch = _batch(counts, waiting, entries)
            found = _if_memory_suffices(results, batch)
            if found is None:
                entries //= 2  # also for all batches that follow
                continue
            theta[batch.numbers], gaps[batch.numbers], scores[batch.numbers] = found
            waiting = waiting[batch.numbers.size :]
    return theta, gaps, scores, np.isfinite(gaps)


def _if_memory_suffices(results: Callable[[Batch], list[Floats]], batch: Batch) -> list[Floats] | None:
    """The results of a batch; None if the device has too little memory for a batch of several documents."""
    try:
        return results(batch)
    except RuntimeError as error:
        if batch.numbers.size == 1 or not is_out_of_memory(error):
            raise
    return None


@contextmanager
def _in_words(torch: Any, device: Any, shape: tuple[int, ...]) -> Iterator[None]:
    """Turns errors of the device into sentences that say what to do."""
    try:
        yield
    except NotImplementedError as error:  # such as systems of equations, which MPS lacked up to PyTorch 2.6
        raise ValueError(
            f"PyTorch {torch.__version__} lacks an operation on {device} that topics of documents need: install a "
            "newer PyTorch, or use the CPU, without engine='torch'"
        ) from error
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise MemoryError(
            f"{device} has too little memory for {shape[0]:,} topics of {shape[1]:,} words and a single document: "
            "use the CPU, without engine='torch'"
        ) from None


def _longest_first(counts: sp.csr_array) -> Any:
    """The numbers of the documents with at least one word, by falling number of words."""
    sizes = np.diff(counts.indptr)
    return np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]


def _batch(counts: sp.csr_array, waiting: Any, entries: int) -> Batch:
    """The first of the documents that wait: as many as have at most `entries` places for words, or one."""
    sizes = np.diff(counts.indptr)
    longest = int(sizes[waiting[0]])
    some = waiting[: max(1, entries // longest)]
    within = np.arange(longest)
    there = within < sizes[some][:, None]
    where = np.where(there, counts.indptr[some][:, None] + within, 0)
    words = np.where(there, counts.indices[where], 0).astype(np.int64)
    return Batch(some, words, np.where(there, counts.data[where], 0).astype(np.float64))


def _most_likely(B: Any, share: Any, tolerance: float, torch: Any) -> tuple[Any, Any, Any]:
    """(theta, gap, L_d) of a batch; the gap is NaN where it is larger than the tolerance."""
    largest = B.amax(dim=2, keepdim=True)  # scaling a word's column changes no theta and avoids underflow
    B = torch.where(share.unsqueeze(2) > 0, B / largest, 1)  # padding has the probability 1 and the share 0
    scale = torch.where(share > 0, share * largest.squeeze(2).log(), 0).sum(dim=1)
    point = _Point(B, share, torch)
    theta, finished = point.theta, torch.zeros_like(scale, dtype=torch.bool)
    for number in range(MAX_ROUNDS):
        point.step()
        if number % CHECK_EVERY == CHECK_EVERY - 1:
            theta = torch.where(finished.unsqueeze(1), theta, point.theta)  # its neighbours may need further rounds
            finished = finished | (point.bound() <= tolerance / 2)
            if bool(finished.all().item()):
                break
    theta, gap, score = _certified(B, share, theta, tolerance, torch)
    return theta, torch.where(gap <= tolerance, gap, torch.nan), score + scale


class _Point:
    """theta, y and z of a batch, and the steps of the interior-point method."""

    def __init__(self, B: Any, share: Any, torch: Any) -> None:
        self.B, self.share, self.torch = B, share, torch
        self.theta = torch.full_like(B.select(1, 0), 1 / B.shape[2])
        m, g = _gradient(B, share, self.theta)
        self.y = share / m / (2 * g.amax(dim=1, keepdim=True))  # so that z is at least 1/2
        self.z = 1 - self._explained(self.y)
        self.one = torch.eye(B.shape[1], dtype=B.dtype, device=B.device)

    def bound(self) -> Any:
        """The most that another theta could gain, (D,)."""
        theta = self.theta / self.theta.sum(dim=1, keepdim=True)
        return _gradient(self.B, self.share, theta)[1].amax(dim=1) - 1

    def step(self) -> None:
        """One Newton step towards theta z = TARGET times its mean."""
        theta, y, z = self.theta, self.y, self.z
        m = (self.B @ theta.unsqueeze(2)).squeeze(2)
        target = TARGET * (theta * z).mean(dim=1, keepdim=True)
        ease, right = theta / z, self._explained(self.share / m) - 1 + target / theta
        A = self.B * (y / m).sqrt().unsqueeze(2)
        eased = A * ease.unsqueeze(1)
        inner, _ = self.torch.linalg.solve_ex(self.one + eased @ A.transpose(1, 2), eased @ right.unsqueeze(2))
        move = ease * right - (eased.transpose(1, 2) @ inner).squeeze(2)
        towards = (self.share - y * (self.B @ move.unsqueeze(2)).squeeze(2)) / m - y
        turn = (target - z * move) / theta - z
        length = self._room(y, towards).minimum(self._room(z, turn))
        self.theta = self._moved(theta, move, self._room(theta, move))
        self.y, self.z = self._moved(y, towards, length), self._moved(z, turn, length)

    def _explained(self, y: Any) -> Any:
        """sum_u mu_t(u) y(u)."""
        return (self.B.transpose(1, 2) @ y.unsqueeze(2)).squeeze(2)

    def _room(self, values: Any, move: Any) -> Any:
        """How much of the move keeps the values positive, at most all of it, (D, 1)."""
        room = self.torch.where(move < 0, -values / move, self.torch.inf).amin(dim=1, keepdim=True)
        return (TO_THE_BOUNDARY * room).clamp_max(1)

    def _moved(self, values: Any, move: Any, length: Any) -> Any:
        """The values after the move; those of a document whose move is not finite stay as they were."""
        moved = values + length * move
        return self.torch.where(moved.isfinite().all(dim=1, keepdim=True), moved, values)


def _gradient(B: Any, share: Any, theta: Any) -> tuple[Any, Any]:
    """m(u) = sum_t theta(t) mu_t(u) and g(t) = sum_u share(u) mu_t(u) / m(u)."""
    m = (B @ theta.unsqueeze(2)).squeeze(2)
    return m, (B.transpose(1, 2) @ (share / m).unsqueeze(2)).squeeze(2)


def _certified(B: Any, share: Any, theta: Any, tolerance: float, torch: Any) -> tuple[Any, Any, Any]:
    """(theta, gap, sum share log m), theta normalised, with small shares set to zero where the gap allows it."""
    theta = theta / theta.sum(dim=1, keepdim=True)
    cut = torch.where(theta < SMALL_SHARE / theta.shape[1], 0, theta)
    cut = cut / cut.sum(dim=1, keepdim=True)
    (m, g), (m_cut, g_cut) = _gradient(B, share, theta), _gradient(B, share, cut)
    gap, gap_cut = g.amax(dim=1) - 1, g_cut.amax(dim=1) - 1
    cuts = gap_cut <= tolerance
    theta = torch.where(cuts.unsqueeze(1), cut, theta)
    m = torch.where(cuts.unsqueeze(1), m_cut, m)
    score = torch.where(share > 0, share * m.log(), 0).sum(dim=1)
    return theta, torch.where(cuts, gap_cut, gap).clamp_min(0), score


def _posterior(B: Any, counts: Any, prior: Any, floor: float, stop: tuple[int, float], torch: Any) -> Any:
    """theta by CVB0: r_ut ~ mu_t(u) (a_t + n_t - r_ut), n_t = sum_u c(u) r_ut, a word after the other."""
    has = (B > 0).any(dim=2) & (counts > 0)  # words that no topic has say nothing
    known = torch.where(has, counts, 0)
    likely = (B + floor) * (B > 0).any(dim=1, keepdim=True)  # topics that have none of the words take no part
    likely = likely / likely.amax(dim=2, keepdim=True).clamp_min(torch.finfo(B.dtype).tiny)
    others = (known - 1).clamp_min(0)
    n = torch.zeros_like(likely.select(1, 0))
    shares = [n] * B.shape[1]  # r of each word
    words = list(zip(likely.unbind(1), known.unsqueeze(2).unbind(1), others.unsqueeze(2).unbind(1), strict=True))
    counted = has.unsqueeze(2).unbind(1)
    running = known.sum(dim=1) > 0
    lengths = known.sum(dim=1)
    for number in range(stop[0]):
        before = n
        for i, (likelihood, count, other) in enumerate(words):
            mine = shares[i]
            without = n - count * mine
            new = likelihood * (prior + without.clamp_min(0) + other * mine)
            new = new / new.sum(dim=1, keepdim=True)
            change = running.unsqueeze(1) & counted[i]
            shares[i] = torch.where(change, new, mine)
            n = torch.where(change, without + count * new, n)
        running = running & ((n - before).abs().sum(dim=1) > stop[1] * lengths)
        if number % CHECK_EVERY == CHECK_EVERY - 1 and not bool(running.any().item()):
            break
    return (prior + n) / (prior.sum() + lengths.unsqueeze(1))
