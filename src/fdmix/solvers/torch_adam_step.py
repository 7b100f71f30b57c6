"""One step of Algorithm 2 on tensors of one device, without a transfer to the host and without waiting for it.

Large tensors are made once and then changed in place: on CPUs, fresh memory costs more time than the arithmetic.

Topics are columns here: mu = weights / total, with weights = exp(mu' - shift) of shape (N, T). `shift` is the
log-sum-exp of the step before. A step changes parameters by a few learning rates, so the new weights neither overflow
nor vanish, and one pass over the parameters does it all: gradient, running means, parameters, new weights.

mu dL/dmu is zero except for the words of the batch. So it is kept as a few rows, and each word knows its row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fdmix.engines.torch_products import Product
from fdmix.engines.torch_sharding import OneProcess
from fdmix.solvers.adam import TINY, UPDATE, Adam
from fdmix.solvers.torch_compiling import Compiled

ENOUGH_TO_COMPILE = 1_000_000  # topic entries; fewer do not pay for 10 to 20 s of compiling


class Rows(NamedTuple):
    """A table (N, T) most rows of which are zero: word u has the row table[slot[u]]."""

    table: Any
    slot: Any


class Parameters(NamedTuple):
    """Parameters, and Adam's running means of their gradient and of its square."""

    values: Any
    first: Any
    second: Any


class Rates(NamedTuple):
    """After n steps: learning rate / (1 - beta_1^n), and 1 / (1 - beta_2^n)."""

    rate: Any
    correction: Any


def assign(tensors: Sequence[Any], values: Sequence[Any]) -> None:
    """Change the tensors in place; not by copy_, which needs a real device, and tests run this on a pretended one."""
    for tensor, value in zip(tensors, values, strict=True):
        tensor.zero_().add_(value)


def adam(old: Parameters, gradient: Any, rates: Rates) -> Parameters:
    """Adam's update, as new tensors."""
    first = old.first + (1 - UPDATE.beta_1) * (gradient - old.first)
    second = old.second + (1 - UPDATE.beta_2) * (gradient * gradient - old.second)
    moved = old.values + rates.rate * first / ((second * rates.correction).sqrt() + UPDATE.epsilon)
    return Parameters(moved, first, second)


def adam_in_place(old: Parameters, gradient: Any, rates: Rates) -> None:
    """Adam's update, in place and without further memory; the gradient is overwritten."""
    old.first.lerp_(gradient, 1 - UPDATE.beta_1)
    old.second.mul_(UPDATE.beta_2).addcmul_(gradient, gradient, value=1 - UPDATE.beta_2)
    gradient.zero_().addcmul_(old.second, rates.correction).sqrt_().add_(UPDATE.epsilon).div_(rates.rate)
    old.values.addcdiv_(old.first, gradient)


def update_topics(topics: Parameters, gradient: Rows, weights: Any, pull: Any, shift: Any, rates: Rates) -> None:
    """Adam's update of mu' and then its new weights, in place, as one loop if it is compiled.

    gradient : mu dL/dmu
    pull : <mu_t, dL/dmu_t> / total of each topic; shift : the new one
    """
    ascent = gradient.table.index_select(0, gradient.slot) - weights * pull  # mu (dL/dmu - <mu, dL/dmu>)
    new = adam(topics, ascent, rates)
    assign([weights], [(new.values - shift).exp()])
    assign(topics, new)


def update_alpha(alpha: Any, logits: Parameters, d_alpha: Any, rates: Rates, symmetric: bool) -> None:
    """Adam's update of alpha' and then alpha, its softmax over all entries, in place."""
    new = adam(logits, alpha_gradient(alpha, d_alpha, symmetric), rates)
    assign(logits, new)
    assign([alpha], [softmax_of(new.values, symmetric)])


def alpha_gradient(alpha: Any, d_alpha: Any, symmetric: bool) -> Any:
    """The gradient with respect to alpha', of dL/dalpha."""
    weighted = alpha * d_alpha
    gradient = weighted - alpha * weighted.sum()
    return gradient + gradient.T if symmetric else gradient


def softmax_of(logits: Any, symmetric: bool) -> Any:
    """(T, T), softmax over all entries of alpha', or of alpha' + alpha'^T."""
    whole = logits + logits.T if symmetric else logits
    return whole.reshape(-1).softmax(dim=0).view_as(logits)


class AdamStep:
    """The parameters, Adam's running means, and one step.

    topics, logits : mu', (N, T), and alpha', (T, T), which steps change in place
    alpha : (T, T), the softmax
    processes : that share the steps: each computes the gradient of its own pairs, and all take the mean of them
    product : of two matrices; by default, PyTorch's
    """

    def __init__(
        self, torch: Any, settings: Adam, topics: Any, alpha_logits: Any, processes: Any = None,
        product: Product | None = None,
    ) -> None:  # fmt: skip
        self.torch, self.settings, self.processes = torch, settings, processes or OneProcess()
        self.product: Product = product or torch.mm
        self.topics, self.logits = (
            Parameters(t, torch.zeros_like(t), torch.zeros_like(t)) for t in (topics, alpha_logits)
        )
        self.taken = torch.zeros((), dtype=topics.dtype, device=topics.device)
        self.slot = torch.zeros(len(topics), dtype=torch.int64, device=topics.device)
        self.buffers: dict[str, Any] = {}
        self.update_topics: Callable[..., None] = self._update_topics
        self.update_alpha: Callable[..., None] = update_alpha
        if self._compiles():
            self.update_topics = Compiled(torch, update_topics, self._update_topics)
            self.update_alpha = Compiled(torch, update_alpha, update_alpha)
        self.refresh()

    def refresh(self) -> None:
        """Compute the softmax of all parameters anew, after they were changed from outside."""
        self.alpha = softmax_of(self.logits.values, self.settings.symmetric)
        self.shift = self.torch.logsumexp(self.topics.values, dim=0)
        self.weights = self.topics.values.sub(self.shift).exp_()
        self.total = self.weights.sum(dim=0)

    def mu(self) -> Any:
        """(N, T), the topics as columns."""
        return self.weights / self.total

    def by_batch(self, u: Any, v: Any, weight: Any) -> None:
        """A step along the gradient of the mean of weight_k log M[u_k, v_k]; no weight is weight 1."""
        self._ascend(*self.batch_gradient(u, v, weight))

    def by_derivatives(self, d_mu: Any, d_alpha: Any) -> None:
        """A step along a gradient of which dL/dmu (N, T) and dL/dalpha (T, T) are known."""
        by_word = (self.weights * d_mu).div_(self.total)
        every = self.torch.arange(len(by_word), device=by_word.device)
        self._ascend(Rows(by_word, every), by_word.sum(dim=0), d_alpha)

    def batch_gradient(self, u: Any, v: Any, weight: Any) -> tuple[Rows, Any, Any]:
        """(mu dL/dmu, <mu_t, dL/dmu_t>, dL/dalpha)."""
        torch, alpha, product = self.torch, self.alpha, self.product
        words = torch.cat([u, v])
        mu = torch.index_select(self.weights, 0, words, out=self._buffer("mu", len(words))).div_(self.total)
        left, right = mu.split(len(u))
        to_left, to_right = product(right, alpha.T).mul_(left), product(left, alpha)  # dM/dmu(u) and dM/dmu(v)
        ratio = to_left.sum(dim=1, keepdim=True).clamp_min_(TINY).reciprocal_().div_(len(u) * self.processes.size)
        if weight is not None:
            ratio.mul_(weight.unsqueeze(1))
        right.mul_(ratio)
        moved = [to_left.mul_(ratio), to_right.mul_(right)]
        d_alpha, pull = product(left.T, right), moved[0].sum(dim=0).add_(moved[1].sum(dim=0))
        if self.processes.size > 1:
            words, *moved = self.processes.gather(words, torch.cat(moved))
            self.processes.add_up(pull, d_alpha)
        return self._added_up(words, moved), pull, d_alpha

    def topic_gradient(self, rows: Rows, pull: Any) -> Any:
        """mu (dL/dmu - <mu, dL/dmu>), the gradient with respect to mu', as a table (N, T)."""
        return rows.table.index_select(0, rows.slot) - self.mu() * pull

    def penalised(self, d_alpha: Any) -> Any:
        """The derivative of the likelihood minus the penalty on the trace of alpha; changes dL/dalpha in place."""
        if self.settings.trace_penalty:
            d_alpha.diagonal().sub_(self.settings.trace_penalty)
        return d_alpha

    def _added_up(self, words: Any, moved: list[Any]) -> Rows:
        """The rows of all words, those of the same word added up. The first row of the table is zero."""
        numbers = self.torch.arange(1, len(words) + 1, device=words.device)
        self.slot.zero_().index_copy_(0, words, numbers)  # a word that is there twice takes either number
        table, begin = self._buffer("rows", len(words) + 1).zero_(), 0
        for rows in moved:
            where = self.slot.index_select(0, words.narrow(0, begin, len(rows)))
            if table.device.type == "cpu":  # each kind of device adds up in one order, so that bits repeat
                table.index_add_(0, where, rows)
            else:
                table.index_put_((where,), rows, accumulate=True)
            begin += len(rows)
        return Rows(table, self.slot)

    def _ascend(self, gradient: Rows, pull: Any, d_alpha: Any) -> None:
        self.taken.add_(1)
        rates = Rates(  # 1 - beta^n = -expm1(n log beta), which keeps its digits in float32
            -self.settings.learning_rate / self.torch.expm1(self.taken * math.log(UPDATE.beta_1)),
            -1 / self.torch.expm1(self.taken * math.log(UPDATE.beta_2)),
        )
        self.shift = self.shift + self.total.log()
        self.update_topics(self.topics, gradient, self.weights, pull / self.total, self.shift, rates)
        self.total = self.weights.sum(dim=0)
        self.update_alpha(self.alpha, self.logits, self.penalised(d_alpha), rates, self.settings.symmetric)

    def _update_topics(
        self, topics: Parameters, gradient: Rows, weights: Any, pull: Any, shift: Any, rates: Rates
    ) -> None:
        """The same as `update_topics`, which, uncompiled, would fill the memory with large temporary tensors."""
        ascent = self._buffer("ascent", len(weights))
        self.torch.index_select(gradient.table, 0, gradient.slot, out=ascent).addcmul_(weights, pull, value=-1)
        adam_in_place(topics, ascent, rates)
        weights.zero_().add_(topics.values).sub_(shift).exp_()

    def _buffer(self, name: str, n_rows: int) -> Any:
        """A table (n_rows, T) that is used again in each step."""
        found = self.buffers.get(name)
        if found is None or len(found) != n_rows:
            found = self.buffers[name] = self.weights.new_empty(n_rows, self.weights.shape[1])
        return found

    def _compiles(self) -> bool:
        wanted = self.settings.compiled
        return self.topics.values.numel() >= ENOUGH_TO_COMPILE if wanted is None else wanted
