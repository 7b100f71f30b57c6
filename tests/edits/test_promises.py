"""Every edit keeps its promise, alone and in random sequences, on every engine."""

import numpy as np
import pytest
from pytorch import engines
from random_edits import random_step, same_bits, small_model

from fdmix import Mixture
from fdmix.edits import Edited, replayed
from fdmix.edits.editor import unedited
from fdmix.edits.log import EditLog
from fdmix.edits.start import Start, near
from fdmix.edits.workspace import Workspace


def check_promises(edited, editor):
    """All constraints in force hold in the refitted mixture, and numbers are as promised."""
    plan, mixture = editor.plan, edited.mixture
    numbers, old = plan.numbers, plan.mixture
    assert sorted(numbers.values()) == list(range(mixture.n_topics))
    assert set(numbers) == plan.live
    for topic, number in numbers.items():
        stays = topic not in plan.pins and topic < len(plan.live) and topic not in plan.pins.values()
        assert number == plan.pins.get(topic, topic) if stays or topic in plan.pins else True
        assert mixture.labels.get(number, "") == plan.labels.get(topic, "")
    assert not mixture.topics[:, sorted(plan.bans)].any()
    for topic, column in plan.topic_bans:
        assert mixture.topics[numbers[topic], column] == 0
    for topic, seeds in plan.seeds.items():
        for column, strength in seeds.items():
            least = strength / (1 + sum(seeds.values()))
            assert mixture.topics[numbers[topic], column] >= least * (1 - 1e-9)
    made = {o.topic for o in plan.operations} | {o.other for o in plan.operations}
    others = edited.log.steps[-1].others
    still = plan.frozen | (plan.live - plan.touched if others != "follow" else set())
    if others == "near":
        still -= near(plan, Start(plan, edited.workspace)) - plan.frozen
    named = set().union(plan.bans, *plan.apart, *plan.newly_together)
    for topic in still - made:
        if topic in plan.frozen or not (old.topics[topic, sorted(named)] > 0).any():
            assert np.array_equal(mixture.topics[numbers[topic]], old.topics[topic]), topic
    free = [numbers[t] for t in sorted(plan.live - plan.frozen)]
    for words in plan.apart:
        assert ((mixture.topics[np.ix_(free, sorted(words))] > 0).sum(axis=1) <= 1).all()
    for words in plan.together:
        columns = [u for u in sorted(words) if not any(u in seeds for seeds in plan.seeds.values())]
        counts = mixture.shares[free, None] * mixture.topics[np.ix_(free, columns)]
        if len(columns) > 1 and (counts.sum(axis=0) > 0).all():
            profile = counts / counts.sum(axis=0)
            assert np.allclose(profile, profile[:, :1], atol=1e-6)
    assert np.isfinite(edited.changes.log_likelihood)
    assert plan.missing == list(edited.changes.missing)


@pytest.mark.parametrize("engine", engines("numpy", "numba", "torch"))
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 24))])
def test_random_sequences_keep_all_promises(engine, seed, tmp_path):
    rng = np.random.default_rng(seed)
    mixture, moments = small_model(seed % 3, sparsity=[0.0, 0.2][seed % 2])
    now = start = unedited(mixture, Workspace(moments, engine))
    history = [now.mixture]
    for _ in range(5):
        now, editor = random_step(now, rng)
        if editor is not None:
            check_promises(now, editor)
            history.append(now.mixture)
    assert same_bits(replayed(start.base, now.log, Workspace(moments, engine)).mixture, now.mixture)
    assert EditLog.from_facts(now.log.facts()) == now.log
    now.save(tmp_path / "model")
    loaded = Edited.load(tmp_path / "model", moments, engine=engine)
    assert same_bits(Mixture.load(tmp_path / "model"), now.mixture)
    for steps in range(1, len(history)):
        assert same_bits(now.undo(steps).mixture, history[-1 - steps])
        assert same_bits(loaded.undo(steps).mixture, history[-1 - steps])
