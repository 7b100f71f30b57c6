"""Parameters that are whole numbers: NumPy's are taken like Python's, and what is none is refused by name."""

import numpy as np
import pytest

from fdmix import Cleaning, Corpus, Mixture, Moments, baselines, fit_documents, fit_mixture, metrics, refine, worlds
from fdmix.runtime.threads import thread_count
from fdmix.runtime.whole_numbers import whole_number

WORLD = worlds.intervals()
CORPUS = WORLD.sample(np.int64(120), length=np.int32(12), seed=np.uint8(1))
MOMENTS = Moments.of(CORPUS)
MIXTURE = WORLD.mixture
CALLS = {
    "n_threads": lambda n: MIXTURE.assign(CORPUS, n_threads=n),
    "folds": lambda n: Moments.of(CORPUS, folds=n),
    "n_topics": lambda n: fit_mixture(MOMENTS, n, max_passes=3),
    "max_passes": lambda n: fit_mixture(MOMENTS, 2, max_passes=n),
    "seed": lambda n: fit_mixture(MOMENTS, 2, max_passes=3, seed=n),
    "passes": lambda n: refine(MIXTURE, CORPUS, passes=n),
    "max_documents": lambda n: fit_documents(CORPUS, 2, max_documents=n),
    "loops": lambda n: Corpus.from_graph([("a", "b")], loops=n),
    "n_words": lambda n: Corpus.from_bags([[(0, 1), (1, 2)]], n_words=n),
    "length": lambda n: WORLD.sample(5, length=n),
    "min_tokens": lambda n: Cleaning(min_tokens=n),
}
MORE_CALLS = {
    "seed": [
        lambda n: CORPUS.split(0.5, seed=n),
        lambda n: metrics.completion_log_likelihood(MIXTURE, CORPUS, seed=n),
        lambda n: baselines.extreme_points(MOMENTS, 2, min_documents=1, seed=n),
        lambda n: refine(MIXTURE, CORPUS, passes=1, seed=n),
        lambda n: WORLD.sample(5, seed=n),
    ],
    "n_topics": [lambda n: baselines.extreme_points(MOMENTS, n, min_documents=1)],
    "n_words": [
        lambda n: metrics.coherence(MIXTURE, CORPUS, n_words=n),
        lambda n: metrics.diversity(MIXTURE, n),
        lambda n: metrics.exclusivity(MIXTURE, n),
    ],
}
ALL = [*CALLS.items(), *((name, call) for name, calls in MORE_CALLS.items() for call in calls)]


@pytest.mark.parametrize(("name", "call"), ALL)
def test_whole_numbers_of_any_type(name, call):
    for number in (2, np.int64(2), np.uint8(2)):
        call(number)
    for wrong in (-1, 2.0, "2", True, np.float64(2), np.True_, None):
        if wrong is None and name in ("n_threads", "n_words"):  # as good as can be, where it means something
            continue
        with pytest.raises(ValueError, match=f"{name} must be a whole number"):
            call(wrong)


def test_results_do_not_depend_on_the_type():
    assert thread_count(np.int16(3)) == 3
    assert type(whole_number("n", np.int8(3))) is int
    plain, numpy = (fit_mixture(MOMENTS, n, seed=n, max_passes=5).mixture for n in (3, np.int8(3)))
    assert np.array_equal(plain.topics, numpy.topics)


def test_a_fit_with_numpy_numbers_is_saved(tmp_path):
    """JSON knows Python's numbers only."""
    fit_mixture(MOMENTS, np.int64(2), seed=np.int64(4), max_passes=np.int64(3)).mixture.save(tmp_path / "model")
    assert Mixture.load(tmp_path / "model").provenance["seed"] == 4
