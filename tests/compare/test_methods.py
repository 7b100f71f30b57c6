"""Every method that is installed finds the topics of a small world; the others say what to install."""

import numpy as np
import pytest

from fdmix import Corpus, metrics
from fdmix.compare import METHODS, Documents
from fdmix.compare.found import Task
from fdmix.compare.methods import Method, method_names

pytestmark = pytest.mark.slow  # minutes in all: a browser, or a process for each fit

INSTALLED = [name for name, method in METHODS.items() if method.missing() is None and not method.needs_mallet]
IN_COUNTS = [name for name in INSTALLED if not METHODS[name].needs_texts]


@pytest.fixture(scope="module")
def task():
    """Documents of 30 words, each from one or two of three topics with words of their own."""
    rng = np.random.default_rng(0)
    theta = rng.dirichlet([0.2] * 3, 400)
    topics = np.kron(np.eye(3), np.ones(8) / 8)
    counts = np.array([rng.multinomial(30, p) for p in theta @ topics])
    documents = Documents.of(Corpus(counts, [f"w{u}" for u in range(24)]))
    train, test = (documents[part] for part in documents.split(0.2, 0))
    return Task(train, test, n_topics=3, seed=0, n_threads=1, sweeps=100, n_words=5)


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_COUNTS)
def test_topics_of_a_small_world(name, task):
    for package in METHODS[name].packages:
        pytest.importorskip(package)  # which does not mind the warnings of an import
    found = METHODS[name].prepare()(task)
    mixture = found.mixture(task.train.corpus.vocabulary)
    truth = np.kron(np.eye(3), np.ones(8) / 8)
    assert metrics.matching_distance(mixture.topics, truth).mean < 0.35
    if found.prior is not None:
        metrics.completion_log_likelihood(mixture, task.test.corpus, prior=found.prior)
    if found.words is not None:
        assert [len(words) for words in found.words] == [5, 5, 5]


def test_the_least_that_is_always_there():
    assert {"fdm", "fdm-pairs", "fdm-noise", "sklearn-lda", "nmf"} <= set(IN_COUNTS)


def test_missing_packages_are_named():
    method = Method("nothing", "none:none", {"no_such_module": "no-such-package", "json": "json"})
    assert method.missing() == "needs no-such-package: pip install no-such-package"


def test_names():
    assert method_names(["fdm", "lda", "tomotopy", "nmf"]) == ["fdm", "tomotopy", "nmf"]
    with pytest.raises(ValueError, match="there is no method 'foo'; there are fdm, "):
        method_names(["foo"])
