"""Documents with the torch engine on the CPU: topics of documents against numba's loops, and the parts of a whole fit
to documents, whose passes over documents stay on the CPU.

Times are seconds of all cores, because other work on the machine disturbs them less.
"""

import time
from collections import Counter
from contextlib import contextmanager

from benchmarks.measure import machine
from benchmarks.recording import record
from benchmarks.torch import FASTER, ON_DEVICE
from benchmarks.torch_adam import best_in_turn
from fdmix import Moments, fit_documents, fit_mixture, worlds
from fdmix.documents import fitting
from fdmix.documents.document_fit import DocumentFit
from fdmix.engines import known_engine
from fdmix.moments.moments import Moments as Counts

N_TOPICS, N_WORDS, N_DOCUMENTS = 100, 3_000, 20_000
STEPS = {  # of a fit to documents; within these, the engine's work counts on its own
    (fitting, "fit_mixture"): "pairs",
    (DocumentFit, "run_passes"): "passes over documents",
    (DocumentFit, "run_sampling"): "sampling",
    (DocumentFit, "learn_from_left_out"): "sampling",
    (fitting, "fit_correlations"): "correlations",
    (fitting, "with_word_ranking"): "word ranking",
    (Counts, "of"): "counting pairs",
}


@contextmanager
def clocked(spent):
    """Adds up the seconds of all cores in each step, and in the engine's part of it; steps do not overlap."""
    inside, replaced = [], []

    def timed(function, name):
        def call(*args, **kwargs):
            outer = inside[-1] if inside else None
            on_device = name in ON_DEVICE
            if outer in ON_DEVICE or (outer is not None and not on_device):
                return function(*args, **kwargs)
            inside.append(name)
            begin = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                took = time.process_time() - begin
                inside.pop()
                spent[f"{outer}, on the device" if on_device else name] += took
                if on_device:
                    spent[outer] -= took

        return call

    places = STEPS | {(known_engine("torch"), name): name for name in ON_DEVICE}
    for (where, attribute), name in places.items():
        function = getattr(where, attribute)
        replaced.append((where, attribute, where.__dict__[attribute]))
        setattr(where, attribute, timed(function, name))
    try:
        yield
    finally:
        for where, attribute, before in replaced:
            setattr(where, attribute, before)


def whole_fit():
    corpus = worlds.zipf(N_TOPICS, N_WORDS, seed=1).sample(N_DOCUMENTS, length=30, seed=2)
    fit_documents(corpus[:2_000], 10, engine="torch", device="cpu")  # compile
    spent, begin, wall = Counter(), time.process_time(), time.perf_counter()
    with clocked(spent):
        fit_documents(corpus, N_TOPICS, engine="torch", device="cpu")
    took, wall = time.process_time() - begin, time.perf_counter() - wall
    spent["rest"] = took - sum(spent.values())
    on_device = sum(seconds for name, seconds in spent.items() if name.endswith("on the device"))
    left = took - on_device * (1 - 1 / FASTER)
    print(f"a fit of {N_TOPICS} topics to {N_DOCUMENTS:,} documents: {took:.1f} s, {wall:.1f} s by the clock")
    for name, seconds in sorted(spent.items()):
        print(f"  {name:34} {seconds:7.1f} s")
    print(f"  with passes over pairs and steps {FASTER} times as fast: {left:.1f} s")
    parts = {name.replace(", ", " "): seconds for name, seconds in spent.items()}
    record(f"fit to documents, T {N_TOPICS}", seconds=took, wall=wall, on_device=on_device, left=left, **parts)


def topics_of_documents():
    world = worlds.zipf(N_TOPICS, N_WORDS, seed=1)
    moments = Moments.of(world.sample(N_DOCUMENTS, length=30, seed=2))
    mixture = fit_mixture(moments, N_TOPICS, max_passes=40).mixture
    corpus = world.sample(1_000, length=30, seed=3)
    works = {
        "numba": lambda: mixture.assignment(corpus, n_threads=1),
        "torch": lambda: mixture.assignment(corpus, n_threads=1, engine="torch", device="cpu"),
    }
    works["numba"]()  # compile
    took = best_in_turn(works, 3)
    print(f"topics of 1,000 documents of 30 tokens, T {N_TOPICS}, one thread, seconds of all cores, best of three:")
    print(f"  numba {took['numba']:.3f} s, torch {took['torch']:.3f} s")
    record("assign", **took, times=took["torch"] / took["numba"])


def main():
    print(f"# torch_documents\n{machine()}")
    topics_of_documents()
    whole_fit()
