"""The paper's baselines find what they should."""

import os
import sys
import time

import numpy as np
import pytest

from fdmix import Corpus, Mixture, Moments, baselines, worlds
from fdmix.baselines.extreme_points import SMOOTHING, _kullback_leibler
from fdmix.metrics import matching_distance
from fdmix.moments.pair_sums import PairSums


def exact_moments(mixture, n_documents=100_000):
    """Moments whose Mhat is the mixture's M, up to rounding."""
    matrix = np.tril(np.round(mixture.pair_matrix() * 1e15).astype(np.int64))
    pairs = PairSums.from_scipy(worlds.sp.csr_array(matrix))
    counts = np.full(mixture.n_words, n_documents)
    return Moments(pairs, counts, counts, n_documents, 0)


@pytest.mark.parametrize("loss", [pytest.param("kl", marks=pytest.mark.slow), "l2"])
def test_separable_topics_are_recovered_exactly_from_exact_moments(loss):
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.ones(40), 5)
    topics[:, :5] = np.eye(5) * 0.3  # the anchor words
    alpha = worlds.Dirichlet(np.array([0.1, 0.2, 0.1, 0.3, 0.2])).correlations
    true = Mixture(topics / topics.sum(axis=1, keepdims=True), alpha)
    found = baselines.extreme_points(exact_moments(true), 5, loss, tolerance=1e-10)
    matching = matching_distance(true, found)
    assert matching.mean < 2e-3
    np.testing.assert_allclose(found.correlations[np.ix_(matching.right, matching.right)], alpha, atol=2e-3)


@pytest.mark.parametrize("loss", ["kl", "l2"])
def test_extreme_points_on_the_authors_problem(loss):
    world = worlds.authors(seed=8)
    found = baselines.extreme_points(Moments.of(world.sample(50_000, seed=9)), 20, loss)
    assert matching_distance(found, world.mixture).mean <= (0.06 if loss == "kl" else 0.08)


def test_a_loose_tolerance_finds_what_the_exact_solver_finds():
    """From a tolerance of 1e-4 on, EM replaces the exact solver of the KL loss: the gap that it stops at is real."""
    world = worlds.authors(seed=8)
    moments = Moments.of(world.sample(20_000, seed=9))
    exact, loose = (baselines.extreme_points(moments, 20, tolerance=tolerance) for tolerance in (1e-7, 1e-4))
    assert matching_distance(exact, loose).mean < 0.01
    basis, rows = np.random.default_rng(0).dirichlet(np.full(30, 0.3), 6), world.sample(200, seed=3).counts[:, :30]
    rows = worlds.sp.csr_array(rows[np.diff(rows.indptr) > 0] / 1.0)
    rows = worlds.sp.csr_array(worlds.sp.diags_array(1 / rows.sum(axis=1)) @ rows)
    shares = _kullback_leibler(basis, rows, 1e-3, None)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)
    smooth = (1 - SMOOTHING) * basis + SMOOTHING / 30
    gaps = ((rows.toarray() / (shares @ smooth)) @ smooth.T).max(axis=1) - 1  # the largest gain of another share
    assert gaps.max() < 1.01e-3


def test_extreme_points_refuses_nonsense():
    moments = Moments.of(worlds.intervals().sample(100, seed=1))
    with pytest.raises(ValueError, match="'kl' or 'l2'"):
        baselines.extreme_points(moments, 3, "l1")
    with pytest.raises(ValueError, match="anchor word"):
        baselines.extreme_points(moments, 1000)


def test_gibbs_sampling_finds_topics():
    pytest.importorskip("tomotopy", reason="tomotopy is not installed")
    world = worlds.intervals()
    corpus = world.sample(1000, length=30, seed=1)
    mixture = baselines.lda(Corpus(corpus.counts, [f"w{u}" for u in range(100)]), 3, sweeps=100, alpha=1.5)
    assert matching_distance(mixture, world.mixture).mean < 0.5
    assert mixture.vocabulary[0] == "w0"
    again = baselines.lda(Corpus(corpus.counts, [f"w{u}" for u in range(100)]), 3, sweeps=100, alpha=1.5)
    np.testing.assert_array_equal(mixture.topics, again.topics)


def test_gibbs_sampling_reports_its_progress_and_stops_when_it_has_settled():
    pytest.importorskip("tomotopy")
    corpus = worlds.intervals().sample(300, length=20, seed=1)
    said = []
    mixture = baselines.lda(corpus, 3, sweeps="settled", callback=lambda *facts: said.append(facts))
    assert mixture.provenance["sweeps"] == said[-1][0] == 100 * len(said)
    assert all(most == 1000 and -10 < score < 0 for _, score, most in said)
    gains = np.diff([score for _, score, _ in said])
    assert 1 < len(said) < 10
    assert gains[-1] < 0.002
    assert (gains[:-1] >= 0.002).all()
    said.clear()
    baselines.lda(corpus, 3, sweeps=130, callback=lambda *facts: said.append(facts))
    assert [sweeps for sweeps, *_ in said] == [100, 130]


def test_the_mean_of_several_states():
    """A mean over states has less noise: the topics of many short documents come closer to the truth."""
    pytest.importorskip("tomotopy")
    world = worlds.intervals()
    corpus = world.sample(400, length=15, seed=1)
    one, many = (baselines.lda(corpus, 3, sweeps=100, alpha=1.5, n_states=n) for n in (1, 20))
    assert many.provenance["sweeps"] == 100 + 19 * 10
    assert matching_distance(many, world.mixture).mean < matching_distance(one, world.mixture).mean
    with pytest.raises(ValueError, match="leave out n_states"):
        baselines.lda(corpus, 3, n_states=2, mallet="mallet")


def test_the_samplers_own_prior_is_kept():
    pytest.importorskip("tomotopy")
    corpus = worlds.intervals().sample(300, length=20, seed=1)
    fixed = baselines.lda(corpus, 3, sweeps=50, alpha=0.25, optimise=False).provenance["document_prior"]
    assert fixed == pytest.approx([0.25] * 3)
    learned = baselines.lda(corpus, 3, sweeps=50, alpha=0.25).provenance["document_prior"]
    assert len(set(learned)) == 3


def test_gibbs_sampling_resumes_from_its_checkpoint(tmp_path):
    pytest.importorskip("tomotopy")
    corpus = worlds.intervals().sample(300, length=20, seed=1)
    checkpoint = tmp_path / "state"

    def cut_off(sweeps, *_):
        if sweeps == 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        baselines.lda(corpus, 3, sweeps=300, callback=cut_off, checkpoint=checkpoint)
    with pytest.raises(ValueError, match="other topics, priors or documents"):
        baselines.lda(corpus, 4, sweeps=300, checkpoint=checkpoint)
    with pytest.raises(ValueError, match="other topics, priors or documents"):
        baselines.lda(corpus, 3, sweeps=300, eta=0.5, checkpoint=checkpoint)
    said = []
    mixture = baselines.lda(
        corpus, 3, sweeps=300, callback=lambda *facts: said.append(facts[0]), checkpoint=checkpoint
    )
    assert said == [300]
    assert mixture.provenance["sweeps"] == 300
    assert not list(tmp_path.iterdir())


def test_a_missing_mallet_is_named():
    with pytest.raises(FileNotFoundError, match="bin/mallet"):
        baselines.lda([[1, 1]], 1, mallet="/nowhere/mallet")


def test_lda_refuses_bad_settings():
    with pytest.raises(ValueError, match="no token"):
        baselines.lda([[0, 0]], 1)
    for bad in (
        {"n_topics": 0},
        {"n_topics": 2.0},
        {"sweeps": -1},
        {"n_threads": 0},
        {"alpha": 0},
        {"alpha": np.nan},
        {"eta": -1.0},
    ):
        with pytest.raises(ValueError, match=next(iter(bad))):
            baselines.lda([[1, 1]], **({"n_topics": 1} | bad))


STAND_IN = f"""#!{sys.executable}
import gzip, shutil, sys
given = dict(zip(sys.argv[2::1], sys.argv[3::1]))
if sys.argv[1] == "import-file":
    shutil.copy(given["--input"], given["--output"])
elif given["--num-topics"] == "13":
    print("some words", "java.lang.OutOfMemoryError: Java heap space", sep=chr(10), file=sys.stderr)
    print(*[chr(9) + "at java.base/java.io.InputStream.read" for _ in range(30)], sep=chr(10), file=sys.stderr)
    sys.exit(1)
elif given["--num-topics"] == "5":
    import time
    print("<10> LL/token: -8,5", file=sys.stderr, flush=True)
    time.sleep(60)
else:
    print("<10> LL/token: -8.5", file=sys.stderr)
    with gzip.open(given["--output-state"], "wt") as file:
        print("#doc source pos typeindex type topic", "#alpha : 0.25 0.5 ", "#beta : 0.01", sep=chr(10), file=file)
        for line in open(given["--input"]):
            name, _, *words = line.split()
            for position, word in enumerate(words):
                print(name, "NA", position, 0, word, int(word) % 2, file=file)
"""


@pytest.fixture
def stand_in(tmp_path):
    """A program with MALLET's interface that gives word w to topic w mod 2: shows the commands and the parsing."""
    program = tmp_path / "mallet"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    return program


def test_mallet_by_a_stand_in(stand_in):
    said = []
    counts = np.array([[2, 0, 2, 0], [0, 1, 0, 3], [0, 0, 0, 0], [1, 1, 0, 0]])
    mixture = baselines.lda(counts, 2, sweeps=10, mallet=stand_in, callback=lambda *told: said.append(told))
    assert said == [(10, -8.5, 10)]
    K = np.array([[3, 0, 2, 0], [0, 2, 0, 3]]) + 0.01
    np.testing.assert_allclose(mixture.topics, K / K.sum(axis=1, keepdims=True))
    g = np.array([[4.25, 0.5], [0.25, 4.5], [1.25, 1.5]])  # the empty document does not count
    theta = g / g.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mixture.correlations, theta.T @ theta / len(theta))


def test_the_output_of_a_failed_mallet_is_shown(stand_in):
    with pytest.raises(RuntimeError, match=r"memory is set by MEMORY(?s:.)*some words"):
        baselines.lda([[1, 1]], 13, mallet=stand_in)


def test_an_error_in_the_callback_ends_mallet(stand_in):
    def impatient(sweeps, log_likelihood, most):
        assert log_likelihood == -8.5  # written "-8,5"
        raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        baselines.lda([[1, 1]], 5, mallet=stand_in, callback=impatient)
    assert time.monotonic() - begin < 30


@pytest.mark.skipif("FDMIX_MALLET" not in os.environ, reason="FDMIX_MALLET, the path of MALLET's command, is not set")
def test_mallet_finds_topics():
    world = worlds.authors(seed=2)
    mixture = baselines.lda(world.sample(3000, length=40, seed=1), 20, mallet=os.environ["FDMIX_MALLET"])
    assert matching_distance(mixture, world.mixture).mean < 0.4


def test_a_missing_tomotopy_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    with pytest.raises(ImportError, match=r"fdmix\[lda\]"):
        baselines.lda([[1, 1]], 1)
