"""The last pass of a fixed number of them: it never loses likelihood, and nothing has to check it."""

import numpy as np

from fdmix import Moments, worlds
from fdmix.engines.numpy_engine import NumpyEngine
from fdmix.fit.starts import starting_mixture
from fdmix.solvers import EM, Problem


class CountingEngine(NumpyEngine):
    """The NumPy engine, which counts its passes."""

    n_passes = 0

    def expect(self, state, *, joint=True):
        self.n_passes += 1
        return super().expect(state, joint=joint)


def test_the_last_step_gains_and_needs_no_further_pass():
    moments = Moments.of(worlds.zipf(6, 150).sample(1500, seed=1))
    mhat = moments.matrix
    engine = CountingEngine(mhat, 6)
    start = starting_mixture("anchors", mhat, 6, moments.document_frequencies, 0)
    problem = Problem(engine, mhat, 6, 1, 0.0, np.random.default_rng(0), keep_numbers=True)
    unchecked = 0
    for n_steps in range(1, 30, 4):
        run = EM(sparsity=0).begin(problem, start)
        for _ in range(n_steps):
            run.step()
        before = run.mixture().log_likelihood(mhat)
        run.last_step()
        passes = engine.n_passes
        after = run.mixture().log_likelihood(mhat)
        assert after >= before - 1e-12
        unchecked += engine.n_passes == passes
    assert unchecked >= 5  # where the step before lost, the last one is over-relaxed again, and checked
