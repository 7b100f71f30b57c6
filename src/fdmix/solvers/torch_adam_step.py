"""One step of Algorithm 2 on tensors of one device, without a transfer to the host and without waiting for it.

Large tensors are made once and then changed in place: on CPUs, fresh memory costs more time than the arithmetic.

Topics are columns here: mu = weights / total, with weights = exp(mu' - shift) of shape (N, T). `shift` is the
log-sum-exp of the step before. A step changes parameters by a few learning rates, so the new weights neither overflow
nor vanish, and one pass over the parameters does it all: gradient, running means, parameters, new weights, new sums.
"""

from __future__ import annotations

import logging
import math
import warnings
from typing import Any

from fdmix.engines.torch_sharding import OneProcess
from fdmix.solvers.adam import TINY, UPDATE, Adam

log = logging.getLogger("fdmix")
ENOUGH_TO_COMPILE = 1_000_000  # topic entries; a compiled update of fewer saves too little for its 10 s of compiling


def update(parameter: Any, first: Any, second: Any, gradient: Any, rate: Any, correction: Any) -> None:
    """Adam's update, in place; the gradient is overwritten.

    rate : learning rate / (1 - beta_1^n); correction : 1 / (1 - beta_2^n), after n steps
    """
    first.lerp_(gradient, 1 - UPDATE.beta_1)
    second.mul_(UPDATE.beta_2).addcmul_(gradient, gradient, value=1 - UPDATE.beta_2)
    gradient.zero_().addcmul_(second, correction).sqrt_().add_(UPDATE.epsilon).div_(rate)
    parameter.addcdiv_(first, gradient)


def update_topics(
    parameter: Any, means: tuple[Any, Any], gradient: Any, weights: Any, pull: Any, shift: Any, rates: tuple[Any, Any]
) -> None:
    """Adam's update of mu' and then its new weights, in place; the gradient is overwritten.

    gradient : mu dL/dmu; pull : <mu_t, dL/dmu_t> / total of each topic; shift : the new one
    """
    gradient.addcmul_(weights, pull, value=-1)  # mu (dL/dmu - <mu, dL/dmu>)
    update(parameter, *means, gradient, *rates)
    weights.zero_().add_(parameter).sub_(shift).exp_()


def update_topics_in_one_loop(
    parameter: Any, means: tuple[Any, Any], gradient: Any, weights: Any, pull: Any, shift: Any, rates: tuple[Any, Any]
) -> None:
    """The same as `update_topics`, written so that PyTorch's compiler makes one loop of it.

    Uncompiled, it would fill the memory with large temporary tensors.
    """
    (first, second), (rate, correction) = means, rates
    ascent = gradient - weights * pull
    mean = first + (1 - UPDATE.beta_1) * (ascent - first)
    square = second + (1 - UPDATE.beta_2) * (ascent * ascent - second)
    moved = parameter + rate * mean / ((square * correction).sqrt() + UPDATE.epsilon)
    weights.copy_((moved - shift).exp())
    first.copy_(mean)
    second.copy_(square)
    parameter.copy_(moved)


class AdamStep:
    """The parameters, Adam's running means, and one step.

    topics, alpha_logits : mu', (N, T), and alpha', (T, T), which steps change in place
    alpha : (T, T), the softmax
    processes : that share the steps: each computes the gradient of its own pairs, and all take the mean of them
    """

    def __init__(self, torch: Any, settings: Adam, topics: Any, alpha_logits: Any, processes: Any = None) -> None:
        self.torch, self.settings, self.processes = torch, settings, processes or OneProcess()
        self.topics, self.alpha_logits = topics, alpha_logits
        self.first, self.second, self.gradient = (torch.zeros_like(topics) for _ in range(3))
        self.alpha_first, self.alpha_second = torch.zeros_like(alpha_logits), torch.zeros_like(alpha_logits)
        self.taken = torch.zeros((), dtype=topics.dtype, device=topics.device)
        self.update_topics: Any = self._compiled() if self._compiles() else update_topics
        self.refresh()

    def refresh(self) -> None:
        """Compute the softmax of all parameters anew, after they were changed from outside."""
        self.alpha = self._alpha()
        self.shift = self.torch.logsumexp(self.topics, dim=0)
        self.weights = self.topics.sub(self.shift).exp_()
        self.total = self.weights.sum(dim=0)

    def mu(self) -> Any:
        """(N, T), the topics as columns."""
        return self.weights / self.total

    def _alpha(self) -> Any:
        """(T, T), softmax of alpha' or of alpha' + alpha'^T."""
        logits = self.alpha_logits
        if self.settings.symmetric:
            logits = logits + logits.T
        return self.torch.softmax(logits.reshape(-1), dim=0).view_as(logits)

    def by_batch(self, u: Any, v: Any, weight: Any) -> None:
        """A step along the gradient of the mean of weight_k log M[u_k, v_k]; no weight is weight 1."""
        self._ascend(*self.batch_gradient(u, v, weight))

    def by_derivatives(self, d_mu: Any, d_alpha: Any) -> None:
        """A step along a gradient of which dL/dmu (N, T) and dL/dalpha (T, T) are known."""
        self.torch.mul(self.weights, d_mu, out=self.gradient)
        self.gradient.div_(self.total)
        self._ascend(self.gradient.sum(dim=0), d_alpha)

    def batch_gradient(self, u: Any, v: Any, weight: Any) -> tuple[Any, Any]:
        """Fill `gradient` with mu dL/dmu; (<mu_t, dL/dmu_t>, dL/dalpha)."""
        torch, alpha = self.torch, self.alpha
        words = torch.cat([u, v])
        left, right = self.weights.index_select(0, words).div_(self.total).split(len(u))
        to_left, to_right = right @ alpha.T, left @ alpha  # dM/dmu(u) and dM/dmu(v)
        to_left.mul_(left)
        ratio = to_left.sum(dim=1, keepdim=True).clamp_min_(TINY).reciprocal_().div_(len(u))
        if weight is not None:
            ratio.mul_(weight.unsqueeze(1))
        d_alpha = (left * ratio).T @ right
        moved = torch.cat([to_left.mul_(ratio), to_right.mul_(right).mul_(ratio)])
        self.gradient.zero_()
        if self.gradient.device.type == "cpu":  # each kind of device adds up in one order, so that bits repeat
            self.gradient.index_add_(0, words, moved)
        else:
            self.gradient.index_put_((words,), moved, accumulate=True)
        pull = moved.sum(dim=0)
        if self.processes.size > 1:
            for tensor in (self.gradient, pull, d_alpha):
                self.processes.add_up(tensor.div_(self.processes.size))
        return pull, d_alpha

    def topic_gradient(self, pull: Any) -> Any:
        """mu (dL/dmu - <mu, dL/dmu>), the gradient with respect to mu', after `batch_gradient`."""
        return self.gradient - self.mu() * pull

    def alpha_gradient(self, d_alpha: Any) -> Any:
        """The gradient with respect to alpha'."""
        alpha = self.alpha
        if self.settings.trace_penalty:
            d_alpha = d_alpha.clone()
            d_alpha.diagonal().sub_(self.settings.trace_penalty)
        weighted = alpha * d_alpha
        by_alpha = weighted - alpha * weighted.sum()
        return by_alpha + by_alpha.T if self.settings.symmetric else by_alpha

    def _ascend(self, pull: Any, d_alpha: Any) -> None:
        by_alpha = self.alpha_gradient(d_alpha)
        self.taken.add_(1)
        # 1 - beta^n = -expm1(n log beta), which keeps its digits in float32
        rate = -self.settings.learning_rate / self.torch.expm1(self.taken * math.log(UPDATE.beta_1))
        correction = -1 / self.torch.expm1(self.taken * math.log(UPDATE.beta_2))
        self.shift = self.shift + self.total.log()
        self.update_topics(
            self.topics, (self.first, self.second), self.gradient, self.weights, pull / self.total, self.shift,
            (rate, correction),
        )  # fmt: skip
        self.total = self.weights.sum(dim=0)
        update(self.alpha_logits, self.alpha_first, self.alpha_second, by_alpha, rate, correction)
        self.alpha = self._alpha()

    def _compiles(self) -> bool:
        wanted = self.settings.compiled
        return self.topics.numel() >= ENOUGH_TO_COMPILE if wanted is None else wanted

    def _compiled(self) -> Any:
        """The update compiled when it is first called, or as it is where it cannot be compiled."""

        def updating(*arguments: Any) -> None:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of PyTorch's compiler, about itself
                    compiled = self.torch.compile(update_topics_in_one_loop, dynamic=False)
                    compiled(*arguments)
            except Exception as error:  # no compiler, no headers, an old one: PyTorch raises many kinds of errors
                log.debug("torch.compile failed, so that steps of Adam are not compiled: %s", error)
                self.update_topics = update_topics
                update_topics(*arguments)
            else:
                self.update_topics = compiled

        return updating
