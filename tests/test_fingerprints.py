"""Results that must not change while code is moved and renamed.

Whole numbers and files are compared by their SHA-256. Floating-point results are compared by their products with
fixed random vectors, to five digits: fits differ by up to 3e-6 between AMD and Intel processors. After a change that
is meant to change results:

    python tests/test_fingerprints.py     # writes tests/fingerprints.json anew; say in the commit why
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from fdmix import Moments, fit_documents, fit_mixture, read_corpus, read_moments, worlds
from fdmix.baselines import extreme_points

STORED = Path(__file__).with_name("fingerprints.json")
TEXTS = [
    f"Learning topic {i % 7} from families of {'abcdefgh'[i % 8] * 3} and {'stuvwxyz'[(i * 3) % 8] * 3} learned."
    for i in range(1_500)
]
# Four topics of different sizes, whose words have different frequencies, so that nothing is left to rounding. Of
# TEXTS, which have fifteen families of words, Intel's processors find four other topics than AMD's.
FOUR_TOPICS = [
    " ".join(f"{'kkkkmmmppr'[i % 10]}{'aeiouyäöü'[k]}lo" for k in (0, *range(9)) if (i // 10) % (k + 1) == 0)
    for i in range(1_500)
]


def sketch(array):
    """Products of the array with three fixed random vectors: change an entry, and they change."""
    flat = np.asarray(array, np.float64).ravel()
    return (np.random.default_rng(0).normal(size=(3, flat.size)) @ flat).tolist()


def sha(data):
    return hashlib.sha256(data).hexdigest()


def of_mixture(mixture):
    return {"topics": sketch(mixture.topics), "alpha": sketch(mixture.correlations)}


def moments_file():
    """The bytes of a file: stems, folds, the ledger."""
    with tempfile.TemporaryDirectory() as folder:
        read_moments(TEXTS, stem="english", min_count=2, folds=3).save(Path(folder) / "moments")
        return {"sha256": sha((Path(folder) / "moments").read_bytes())}


def fit_of_three_intervals():
    return of_mixture(fit_mixture(Moments.of(worlds.intervals().sample(3_000, length=20, seed=1)), 3).mixture)


def fit_of_the_authors_world():
    return of_mixture(fit_mixture(Moments.of(worlds.authors(seed=1).sample(10_000, length=30, seed=2)), 20).mixture)


def fit_of_a_zipf_world():
    world = worlds.zipf(40, 800, seed=3)
    return of_mixture(fit_mixture(Moments.of(world.sample(8_000, length=25, seed=4)), 40).mixture)


def fit_by_adam():
    moments = Moments.of(worlds.intervals().sample(3_000, length=20, seed=1))
    return of_mixture(fit_mixture(moments, 3, solver="adam", max_passes=3, seed=5).mixture)


def fit_of_documents():
    solution = fit_documents(worlds.zipf(15, 300, seed=6).sample(3_000, length=20, seed=7), 15)
    return of_mixture(solution.mixture) | {"concentration": [solution.mixture.concentration]}


def assignments():
    world = worlds.authors(seed=1)
    corpus = world.sample(300, length=12, seed=8)
    likely, mean = world.mixture.assign(corpus), world.mixture.assign(corpus, "dirichlet")
    return {"most likely": sketch(likely), "posterior mean": sketch(mean)}


def anchor_words_baseline():
    return of_mixture(extreme_points(Moments.of(worlds.authors(seed=1).sample(10_000, length=30, seed=2)), 20))


def command_line():
    """What `--json` prints, without times and paths."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "text.txt").write_text("\n".join(FOUR_TOPICS))
        env = {**os.environ, "COLUMNS": "80"}

        def run(*arguments):
            command = [sys.executable, "-m", "fdmix", *arguments]
            done = subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, text=True)
            return json.loads(done.stdout)

        counted = run("count", "text.txt", "-o", "moments", "--json")
        fitted = run("fit", "moments", "--topics", "4", "-o", "model", "--json")
        shown = run("topics", "model", "--json", "--words", "5")
        facts = run("info", "moments", "--json")
        scores = run("evaluate", "model", "text.txt", "--json")
    for result in (counted, fitted):
        result.pop("seconds")
    shares = sketch([topic["share"] for topic in shown])
    likelihood = fitted.pop("log_likelihood")
    words = [topic["words"] for topic in shown]
    same = json.dumps([counted, facts, words, sorted(fitted)], sort_keys=True)
    numbers = sketch([value for value in scores.values() if isinstance(value, float)])
    return {"facts": sha(same.encode()), "shares": shares, "scores": numbers, "likelihood": [likelihood]}


FINGERPRINTS = (
    moments_file, fit_of_three_intervals, fit_of_the_authors_world, fit_of_a_zipf_world, fit_by_adam,
    fit_of_documents, assignments, anchor_words_baseline, command_line,
)  # fmt: skip


@pytest.mark.parametrize(
    "result",
    [*FINGERPRINTS[:-1], pytest.param(command_line, marks=pytest.mark.slow)],
    ids=lambda result: result.__name__,
)
def test_result_is_unchanged(result):
    expected = json.loads(STORED.read_text())[result.__name__]
    found = result()
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-5, abs=1e-5))


def test_text_is_read_the_same_way():
    """Not a fingerprint of floats: the counts of a corpus, by hand."""
    corpus = read_corpus(["Cats chase mice.", "Mice eat cheese, cats eat mice."], stop_words=None)
    assert corpus.counts.toarray().tolist() == [[1, 1, 0, 0, 1], [1, 0, 1, 2, 2]]


if __name__ == "__main__":
    STORED.write_text(json.dumps({result.__name__: result() for result in FINGERPRINTS}, indent=1) + "\n")
