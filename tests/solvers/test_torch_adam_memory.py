"""What Adam takes on its device, by the model and as measured."""

from dataclasses import replace

import numpy as np
import pytest
from pytorch import needs_torch, small_memory

from fdmix import Moments, worlds
from fdmix.fit.starts import starting_mixture
from fdmix.solvers import Adam
from fdmix.solvers.contract import Problem

pytestmark = [needs_torch, pytest.mark.slow]


def problem(n_words, n_topics, **more):
    """A problem on the CPU with the layout of GPUs, and a start."""
    import torch

    from fdmix.engines.torch_engine import ON_GPU, TorchEngine

    moments = Moments.of(worlds.zipf(20, n_words, seed=1).sample(4_000, length=20, seed=2))
    mhat = moments.matrix
    layout = replace(ON_GPU, cut=replace(ON_GPU.cut, threshold=0.2, pairs_at_a_time=5_000))
    engine = TorchEngine(mhat, n_topics, 1, torch.device("cpu"), layout=layout, **more)
    start = starting_mixture("random", mhat, n_topics, moments.document_frequencies, 0)
    return Problem(engine, mhat, n_topics, 1, 0.0, np.random.default_rng(0), 1), start


@pytest.mark.parametrize(("n_topics", "batch"), [(60, 512), (300, 64)])
def test_the_memory_model_is_within_a_tenth_of_the_peak(n_topics, batch):
    import torch

    from fdmix.engines.torch_memory import adam_bytes, size_of

    made, start = problem(3_000, n_topics)
    engine = made.engine
    with small_memory(torch) as memory:
        memory.upload(engine.pairs)
        run = Adam(batch=batch, steps=2, compiled=False).begin(made, start)
        shared = run.core.topics.values, run.core.logits.values, *vars(run.draw).values()
        for tensor in shared:  # on the CPU, these share the memory of the host's arrays
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().data_ptr() not in memory.users:
                memory.count(tensor)
        for _ in range(3):
            run.step()
    size = size_of(engine.host_parts, 3_000, n_topics)
    model = adam_bytes(size, engine.layout.width, made.engine.matrix.n_stored, batch)
    assert model == pytest.approx(memory.peak, rel=0.1)


def test_too_little_memory_is_said_before_any_work():
    import torch

    from fdmix.engines.torch_memory import adam_bytes

    made, start = problem(1_000, 30)
    needed = adam_bytes(made.engine.size(), made.engine.layout.width, made.engine.matrix.n_stored, 512)
    made.engine.memory = needed - 1
    with pytest.raises(MemoryError, match=r"Adam over 1,000 words with 30 topics needs about .*solver='em'"):
        Adam().begin(made, start)
    made.engine.memory = needed
    assert isinstance(Adam().begin(made, start).core.topics.values, torch.Tensor)


@pytest.mark.parametrize("exact", [False, True])
def test_out_of_memory_in_a_step_is_said_in_words(exact):
    import torch

    made, start = problem(1_000, 30)
    run = Adam(compiled=False, exact=exact).begin(made, start)
    with small_memory(torch, 1_000), pytest.raises(MemoryError, match=r"30 topics needs about .*fewer topics"):
        run.take_steps(1)
