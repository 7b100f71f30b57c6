"""What a whole fit reads back from its device: on the CPU, calls that would make a GPU's host wait are counted."""

from collections import Counter

import numpy as np
import pytest
from pytorch import needs_torch, reads_counted

from fdmix import Moments, worlds
from fdmix.engines import engine_for
from fdmix.fit.starts import starting_mixture
from fdmix.solvers import EM, Adam
from fdmix.solvers.contract import Problem

pytestmark = [needs_torch, pytest.mark.slow]

READS_OF_A_MIXTURE = 4  # topics and alpha, each to the host and then to NumPy


def begun(solver, n_topics, spare=0):
    world = worlds.zipf(12, 600, seed=2)
    moments = Moments.of(world.sample(3_000, length=20, seed=3))
    mhat = moments.pair_matrix()
    start = starting_mixture("anchors", mhat, n_topics + spare, moments.document_frequencies, 0)
    engine = engine_for("torch", mhat, n_topics, 1, "cpu")
    rng = np.random.default_rng(0)
    return solver.begin(Problem(engine, mhat, n_topics, moments.n_tokens, 0.01, rng, 1), start)


def test_a_pass_of_em_reads_the_likelihood_and_in_the_sparse_phase_the_number_of_entries():
    run, reads = begun(EM(0.2), 12, spare=12), {"likelihood": [], "sparse": []}
    with reads_counted() as counts:
        while run.settled is None:
            phase = run.phase
            counts.clear()
            run.step()
            reads[phase].append(sum(counts.values()))
    assert Counter(reads["likelihood"]).most_common(1)[0][0] == 1
    assert Counter(reads["sparse"]).most_common(1)[0][0] == 2
    more = [n for phase, usual in (("likelihood", 1), ("sparse", 2)) for n in reads[phase] if n > usual]
    # A repeated pass reads its likelihood again. At the end of a phase, swaps and unmixing each read all topics.
    assert len(more) < 0.25 * sum(map(len, reads.values()))
    assert max(more, default=0) <= 2 + 1 + 2 * READS_OF_A_MIXTURE


def test_steps_of_adam_read_nothing_however_many_there_are():
    run = begun(Adam(compiled=False, batch=64), 12)
    found = []
    for n in (3, 40):
        with reads_counted() as counts:
            run.take_steps(n)
        found.append(sum(counts.values()))
    assert found == [1, 1]  # at their end, the host waits once
