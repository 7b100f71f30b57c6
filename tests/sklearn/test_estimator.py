"""The scikit-learn estimator: its own checks, and what the moments promise."""

import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from fdmix import FDM, Corpus, Mixture, Moments, fit_mixture, metrics, read_corpus, worlds
from fdmix.moments.weighted import WeightedMoments
from fdmix.sklearn.estimator import FractionalCountsWarning

WORLD = worlds.World(worlds.dirichlet_topics(6, np.full(120, 0.1), seed=3), 0.3)
X = WORLD.sample(2000, length=40, seed=5).counts
TEXTS = ["the cat chased the mouse", "a mouse ate the cheese", "dogs chase cats", "cheese and wine and cheese"] * 3


@pytest.mark.filterwarnings("ignore::fdmix.sklearn.estimator.FractionalCountsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([FDM()])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fdmix.sklearn.estimator.FractionalCountsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([FDM(prior="dirichlet")])
def test_scikit_learn_s_checks_with_a_prior(estimator, check):
    check(estimator)


def same(a, b):
    """Whether two models are the same to the last bit."""
    return np.array_equal(a.components_, b.components_) and np.array_equal(a.correlations_, b.correlations_)


@pytest.mark.slow
def test_refinement_sees_the_same_documents_in_any_order():
    model = FDM(6, random_state=4).fit(X)
    rng = np.random.default_rng(0)
    shuffled = FDM(6, random_state=4).fit(X[rng.permutation(X.shape[0])])
    assert np.array_equal(model.components_, shuffled.components_)
    assert metrics.matching_distance(model.components_, WORLD.topics).mean < 0.1


def test_it_is_fit_mixture():
    model = FDM(6, random_state=4, refine=False).fit(X)
    solution = fit_mixture(Moments.of(X), 6, seed=4)
    assert np.array_equal(model.components_, solution.mixture.topics)
    assert np.array_equal(model.correlations_, solution.mixture.correlations)
    assert model.n_iter_ == len(solution.log_likelihoods) - 1
    assert np.array_equal(model.transform(X[:50]), solution.mixture.assign(X[:50]))
    assert metrics.matching_distance(model.mixture_, WORLD.mixture).mean < 0.25
    assert np.allclose(model.components_.sum(axis=1), 1)


@pytest.mark.slow
def test_partial_fit_is_one_fit():
    whole = FDM(6).fit(X)
    parts = FDM(6)
    for begin in (0, 300, 310, 1500):
        parts.partial_fit(X[begin : {0: 300, 300: 310, 310: 1500, 1500: 2000}[begin]])
    assert parts.moments_ == whole.moments_
    assert same(parts, whole)
    again = FDM(6).fit(X[:1000])
    first = again.components_
    again.partial_fit(X[1000:])
    assert same(again, whole)
    assert not np.array_equal(first, again.components_)


def test_partial_fit_only_counts():
    passes = []
    model = FDM(6, callback=passes.append)
    for begin in range(0, 2000, 200):
        model.partial_fit(X[begin : begin + 200])
    assert not passes
    model.transform(X[:5])
    assert len(passes) == model.n_iter_


@pytest.mark.slow
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.coo_array, None])
def test_the_form_of_the_counts_does_not_matter(form):
    reference = FDM(6).fit(X)
    for dtype in (np.int64, np.float32, np.float64):
        table = X.toarray().astype(dtype) if form is None else form(X.astype(dtype))
        model = FDM(6).fit(table)
        theta = model.transform(table)
        assert same(model, reference)
        assert theta.dtype == (np.float32 if dtype == np.float32 else np.float64)
        assert np.allclose(theta, reference.transform(X), atol=1e-6)


@pytest.mark.parametrize("n", [600, pytest.param(2000, marks=pytest.mark.slow)])
def test_whole_weights_are_copies_and_zero_is_absence(n):
    some, weights = X[:n], np.random.default_rng(0).integers(0, 4, n)
    copies = some[np.repeat(np.arange(n), weights)]
    weighted = FDM(6).fit(some, sample_weight=weights)
    assert weighted.moments_ == Moments.of(copies)
    assert same(weighted, FDM(6).fit(copies))
    assert same(
        FDM(6).partial_fit(some[:300], sample_weight=weights[:300]).partial_fit(some[300:], None, weights[300:]),
        weighted,
    )


def test_fractional_weights():
    weights = np.random.default_rng(0).integers(0, 4, X.shape[0])
    half = FDM(6).fit(X, sample_weight=weights / 2)
    whole = Moments.of(X, weights=weights)
    assert abs(half.moments_.matrix - whole.matrix).max() < 1e-12
    assert half.moments_.n_tokens == pytest.approx(whole.n_tokens / 2)
    assert metrics.matching_distance(half.mixture_, WORLD.mixture).mean < 0.25
    both = FDM(6).partial_fit(X[:900]).partial_fit(X[900:], sample_weight=np.full(1100, 1.0))
    mixed = FDM(6).partial_fit(X[:900]).partial_fit(X[900:], sample_weight=np.full(1100, 1.5))
    assert isinstance(both.moments_, Moments)
    assert isinstance(mixed.moments_, WeightedMoments)
    twice = Moments.of(X, weights=np.where(np.arange(2000) < 900, 2, 3))
    assert abs(mixed.moments_.matrix - twice.matrix).max() < 1e-12


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.0]), min_size=4, max_size=4), min_size=1, max_size=8),
    st.randoms(),
)
def test_weighted_moments_are_their_definition(rows, random):
    table = np.array(rows)
    weights = np.array([random.choice([0, 1, 2, 5]) for _ in rows])
    fractional = (table != np.floor(table)).any()
    expected, paper = np.zeros((2, 4, 4))
    for c, weight in zip(table, weights, strict=True):
        length = c.sum()
        if fractional and length > 0:
            paper += weight * np.outer(c, c) / length**2
            expected += weight * np.outer(c, c) / (c**2).sum()  # times the tokens it is worth, length^2 / |c|^2
        elif not fractional and length >= 2:
            paper += weight * (np.outer(c, c) - np.diag(c)) / (length * (length - 1))
            expected += weight * (np.outer(c, c) - np.diag(c)) / length
    assert np.allclose(
        WeightedMoments.of(table, weights=weights, weighting="paper").sums.toarray(), paper, atol=1e-12
    )
    moments = WeightedMoments.of(table, weights=weights)
    assert np.allclose(moments.sums.toarray(), expected, atol=1e-12)
    assert (moments.sums != moments.sums.T).nnz == 0
    order = np.repeat(np.arange(len(rows)), weights)
    random.shuffle(order)
    if not fractional or (table[order] != np.floor(table[order])).any():
        copies = WeightedMoments.of(table[order].reshape(-1, 4))
        assert np.array_equal(copies.sums.toarray(), moments.sums.toarray())
        assert np.array_equal(copies.document_frequencies, moments.document_frequencies)


@pytest.mark.filterwarnings("ignore::fdmix.sklearn.estimator.FractionalCountsWarning")
def test_transform_uses_the_prior_that_was_learned_from_documents():
    model = FDM(6, prior="dirichlet").fit(X[:500])
    a = model.mixture_.prior
    assert a is not None
    np.testing.assert_array_equal(model.transform(X[:20]), model.mixture_.assign(X[:20], a))
    half, given = X[:20] * 0.5, FDM(6, prior=a)
    given.__dict__ = model.__dict__ | {"prior": a}
    np.testing.assert_array_equal(model.transform(half), given.transform(half))


def test_fractional_counts_are_taken_as_weights_with_a_warning():
    shares = sp.csr_array(X / 7.0)
    with pytest.warns(FractionalCountsWarning, match="whole token counts"):
        model = FDM(6).fit(shares)
    c, length = shares.toarray(), 40 / 7.0
    paper = WeightedMoments.of(shares, weighting="paper").matrix.toarray()
    assert np.allclose(paper, c.T @ c / length**2 / 2000)
    worth = c / np.linalg.norm(c, axis=1, keepdims=True)
    assert np.allclose(model.moments_.matrix.toarray(), worth.T @ worth / (worth.T @ worth).sum())
    assert metrics.matching_distance(model.mixture_, WORLD.mixture).mean < 0.6
    assert np.allclose(model.transform(shares), model.mixture_.assign(X), atol=1e-3)  # the scale does not matter
    assert np.isfinite(model.score(shares))
    theta = model.set_params(prior="dirichlet").transform(shares)
    assert np.allclose(theta.sum(axis=1), 1)
    assert (theta > 0).all()
    whole = FDM(6).fit(X)
    for call in (whole.transform, whole.score):
        with pytest.warns(FractionalCountsWarning):
            call(shares)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="Negative"):
        FDM(2).fit([[1, -1], [2, 3]])
    with pytest.raises(ValueError, match="no word pair"):
        FDM(2).fit(np.eye(5))
    with pytest.raises(ValueError, match="must not be negative, but the smallest is -1"):
        FDM(2).fit(X, sample_weight=np.full(2000, -1.0))
    with pytest.raises(ValueError, match=r"sample_weight must be 2,000 numbers, .* not of shape \(2,\)"):
        FDM(2).fit(X, sample_weight=[1, 2])
    with pytest.raises(ValueError, match="zero"):
        FDM(2).fit(X).score(X, sample_weight=np.zeros(2000))
    for settings_, name in (
        ({"n_components": 0}, "n_components"),
        ({"max_iter": 2.5}, "max_iter"),
        ({"solver": "magic"}, "solver"),
    ):
        with pytest.raises(ValueError, match=name):
            FDM(**settings_).fit(X)
    with pytest.raises(NotFittedError):
        FDM().transform(X)
    assert not hasattr(FDM(), "components_")


@pytest.mark.slow
def test_grid_search_finds_the_number_of_topics():
    search = GridSearchCV(FDM(), {"n_components": np.array([2, 4, 6, 8, 10])}, cv=3).fit(X)
    assert search.best_params_ == {"n_components": 6}
    assert search.best_estimator_.components_.shape == (6, 120)


def test_score_is_completion_and_weights_count():
    model = FDM(6).fit(X)
    other = WORLD.sample(500, length=11, seed=9).counts
    values = metrics.completion_log_likelihood(model.mixture_, other, "dirichlet").values
    assert model.score(other) == values.mean()
    chosen = np.arange(500) % 5 == 0
    assert model.score(other, sample_weight=chosen) == pytest.approx(values[chosen].mean())
    short = sp.vstack([other, sp.csr_array(np.eye(1, 120))])  # nothing to complete in one token
    assert model.score(short, sample_weight=np.ones(501)) == pytest.approx(model.score(short))


@pytest.mark.slow
def test_metadata_is_routed():
    weights = np.random.default_rng(1).integers(1, 3, X.shape[0])
    folds = KFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        model = FDM(6).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = cross_val_score(model, X, cv=folds, params={"sample_weight": weights})
    by_hand = [
        FDM(6).fit(X[train], sample_weight=weights[train]).score(X[test], sample_weight=weights[test])
        for train, test in folds.split(X)
    ]
    assert np.array_equal(routed, by_hand)


@pytest.mark.slow
def test_names_of_words_and_topics():
    words = [f"word{u}" for u in range(120)]
    frame = pd.DataFrame(X.toarray(), columns=words)
    model = FDM(6).set_output(transform="pandas").fit(frame)
    theta = model.transform(frame)
    assert list(theta.columns) == list(model.get_feature_names_out()) == [f"fdm{t}" for t in range(6)]
    assert theta.index.equals(frame.index)
    assert model.mixture_.vocabulary == model.moments_.vocabulary == tuple(words)
    assert same(model, FDM(6).fit(X))
    unnamed = FDM(6).fit(X)
    assert unnamed.mixture_.vocabulary is None
    assert unnamed.name_words(words).mixture_.top_words() == model.mixture_.top_words()
    assert unnamed.partial_fit(X).mixture_.vocabulary == tuple(words)
    with pytest.raises(ValueError, match="words"):
        unnamed.name_words(["only", "two"])


def test_in_a_pipeline_after_countvectorizer():
    pipeline = make_pipeline(CountVectorizer(), FDM(2))
    theta = pipeline.fit_transform(TEXTS)
    assert theta.shape == (12, 2)
    assert np.allclose(theta.sum(axis=1), 1)
    assert pipeline["fdm"].mixture_.vocabulary is None  # scikit-learn hands on numbers only
    words = tuple(pipeline["countvectorizer"].get_feature_names_out())
    for source in (pipeline, pipeline[:-1], pipeline["countvectorizer"], words, np.array(words)):
        assert pipeline["fdm"].name_words(source).mixture_.vocabulary == words
    assert "cheese" in {word for topic in pipeline["fdm"].mixture_.top_words(5) for word in topic}
    with pytest.warns(FractionalCountsWarning):
        make_pipeline(TfidfVectorizer(), FDM(2)).fit(TEXTS)


def test_words_after_a_selection_of_features():
    pipeline = make_pipeline(CountVectorizer(), "passthrough", SelectKBest(chi2, k=6), FDM(2))
    pipeline.fit(TEXTS, [0, 1, 0, 1] * 3)
    assert pipeline[-1].name_words(pipeline).mixture_.vocabulary == tuple(pipeline[:-1].get_feature_names_out())
    assert len(pipeline[-1].moments_.vocabulary) == 6
    search = GridSearchCV(make_pipeline(CountVectorizer(), FDM(2)), {"fdm__n_components": [1, 2]}, cv=2).fit(TEXTS)
    found = search.best_estimator_
    assert found[-1].name_words(found).mixture_.vocabulary == tuple(found[0].get_feature_names_out())


def test_words_from_the_wrong_place():
    model = FDM(2).fit(np.ones((5, 3), int))
    with pytest.raises(ValueError, match="the first step of this pipeline"):
        model.name_words(make_pipeline(model))
    with pytest.raises(ValueError, match="words"):
        model.name_words(CountVectorizer().fit(TEXTS))
    for nonsense in ("cat", 3):
        with pytest.raises(TypeError, match="a fitted pipeline, not"):
            model.name_words(nonsense)
    with pytest.raises(NotFittedError):
        model.name_words(CountVectorizer())


@pytest.mark.parametrize("form", [list, np.array, pd.Series, lambda texts: np.array(texts, object)])
def test_texts_are_read_and_bring_their_words(form, tmp_path):
    texts = form(TEXTS)
    model = FDM(2).fit(texts)
    corpus = read_corpus(TEXTS)
    assert model.moments_ == Moments.of(corpus)
    assert model.mixture_.vocabulary == corpus.vocabulary
    assert model.n_features_in_ == corpus.n_words
    assert same(model, FDM(2).fit(corpus))
    assert same(model, FDM(2).fit(corpus.counts))
    theta = model.transform(form(["Cats! And a mouse", "xyzzy"]))
    expected = model.mixture_.assign(read_corpus(["Cats! And a mouse"], like=corpus, min_tokens=0))
    assert np.array_equal(theta[0], expected[0])
    assert np.array_equal(theta[1], model.mixture_.shares)
    assert np.isfinite(model.score(texts))
    model.mixture_.save(tmp_path / "model")  # as fdmix fit writes it: it knows how to read text
    assert read_corpus(["cats"], like=Mixture.load(tmp_path / "model")).n_tokens == 1


def test_texts_in_parts_and_in_a_grid_search():
    parts = FDM(2).partial_fit(TEXTS[:8]).partial_fit(TEXTS[8:])
    assert same(parts, FDM(2).fit(TEXTS))
    weights = [2, 1, 0, 3] * 3
    repeated = [text for text, n in zip(TEXTS, weights, strict=True) for _ in range(n)]
    weighted = FDM(2).fit(TEXTS, sample_weight=weights)
    assert weighted.moments_ == Moments.of(read_corpus(repeated, like=read_corpus(TEXTS)))
    search = GridSearchCV(FDM(), {"n_components": [1, 2]}, cv=2).fit(TEXTS)
    assert search.best_estimator_.mixture_.vocabulary is not None
    with pytest.raises(ValueError, match="was fitted to counts"):
        FDM(2).fit(X).transform(TEXTS)


def test_a_corpus_is_aligned_by_word():
    corpus = read_corpus(TEXTS)
    backwards = Corpus(corpus.counts[:, ::-1], corpus.vocabulary[::-1])
    model = FDM(2).fit(corpus)
    assert np.array_equal(model.transform(backwards), model.transform(corpus))
    assert model.score(backwards) == model.score(corpus)
    assert same(FDM(2).partial_fit(corpus[:8]).partial_fit(backwards[8:]), model)


@pytest.mark.parametrize("refine", [False, True])
def test_verbose_prints_the_phases(capsys, refine):
    some = X[:300]
    quiet = FDM(6, refine=refine).fit(some)
    assert capsys.readouterr().out == ""
    loud = FDM(6, refine=refine, verbose=1).fit(some)
    assert same(loud, quiet)
    lines = capsys.readouterr().out.splitlines()
    phases = ["likelihood", "sparse", *(["passes", "sampling", "correlations"] if refine else [])]
    assert [line.split(":")[0] for line in lines[:-1]] == [f"[FDM] {phase}" for phase in phases]
    assert lines[-1].startswith(f"[FDM] {loud.solution_.reason}")
    FDM(6, refine=refine, verbose=2).fit(some)
    assert len(capsys.readouterr().out.splitlines()) > loud.n_iter_


@pytest.mark.slow
def test_clone_pickle_and_joblib(tmp_path):
    model = FDM(6, prior="dirichlet").fit(X)
    fresh = clone(model)
    assert not hasattr(fresh, "moments_")
    assert fresh.get_params() == model.get_params()
    assert same(fresh.fit(X), model)
    joblib.dump(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert np.array_equal(copy.transform(X), model.transform(X))
        assert copy.moments_ == model.moments_
    waiting = pickle.loads(pickle.dumps(FDM(6).partial_fit(X)))
    assert same(waiting, model)


@pytest.mark.slow
@pytest.mark.slow
def test_fits_in_other_processes():
    model = FDM(6).fit(X)
    jobs = joblib.Parallel(n_jobs=2)(joblib.delayed(FDM(6, n_jobs=1).fit)(X) for _ in range(2))
    assert all(same(job, model) for job in jobs)


@pytest.mark.slow
def test_random_states():
    a, b, c = (
        FDM(6, random_state=state).fit(X) for state in (np.random.RandomState(3), np.random.RandomState(3), None)
    )
    assert same(a, b)
    assert same(c, FDM(6, random_state=0).fit(X))


def test_a_fit_that_ends_too_early_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = FDM(6, max_iter=3).fit(X)
    assert model.n_iter_ == 3


def test_a_function_can_stop_the_fit():
    model = FDM(6, callback=lambda progress: progress.passes >= 5).fit(X)
    assert model.n_iter_ == 5
    assert "callback" in model.solution_.reason


@pytest.mark.slow
def test_importing_fdmix_does_not_import_scikit_learn():
    code = "import sys, fdmix; assert 'sklearn' not in sys.modules; fdmix.FDM; assert 'sklearn' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


class Recorder:
    """A callback of scikit-learn 1.9."""

    def __init__(self, stop_after=None):
        self.stop_after, self.calls, self.scores = stop_after, [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.calls.append(f"end {context.task_name}")
        if fitted_estimator is not None and X is not None:
            self.scores.append(fitted_estimator.score(X))
        return context.task_name == "pass" and context.task_id + 1 == self.stop_after

    def teardown(self, estimator, context):
        self.calls.append("teardown")


class TestCallbacks:
    @pytest.fixture(autouse=True)
    def _with_callbacks(self):
        pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")

    @pytest.mark.slow
    def test_every_pass_is_a_task(self):
        recorder = Recorder()
        some = X[:500]
        model = FDM(6).set_callbacks(recorder).fit(some)
        assert same(model, FDM(6).fit(some))  # watching changes nothing
        passes = ["begin pass", "end pass"] * (model.n_iter_ + 1)  # the last one stays empty
        assert recorder.calls == ["setup", "begin fit", *passes, "end fit", "teardown"]
        assert len(recorder.scores) == model.n_iter_ + 1
        assert recorder.scores[-1] == model.score(some)
        assert recorder.scores[0] < recorder.scores[-1]

    @pytest.mark.slow
    def test_early_stop(self):
        recorder = Recorder(stop_after=7)
        assert FDM(6).set_callbacks(recorder).fit(X).n_iter_ == 7
        assert recorder.calls[-1] == "teardown"

    def test_after_partial_fit_and_after_an_error(self):
        recorder = Recorder()
        model = FDM(6).set_callbacks(recorder).partial_fit(X[:1000]).partial_fit(X[1000:])
        assert recorder.calls == []
        assert model.n_iter_ > 1
        assert (recorder.calls[0], recorder.calls[-1]) == ("setup", "teardown")
        with pytest.raises(ValueError, match="solver"):
            model.set_params(solver="magic").fit(X)
        assert recorder.calls[-1] == "teardown"

    @pytest.mark.slow
    def test_scikit_learn_s_own_callbacks(self, capsys):
        from sklearn.callback import ProgressBar, ScoringMonitor

        pytest.importorskip("rich")
        monitor = ScoringMonitor(scoring=lambda model, X, y: model.score(X))
        model = FDM(6).set_callbacks(ProgressBar(), monitor).fit(X)
        assert same(model, FDM(6).fit(X))
        assert "FDM - fit" in capsys.readouterr().out

    @pytest.mark.filterwarnings("ignore:The estimator CountVectorizer does not support callbacks")
    def test_propagated_by_a_pipeline(self, capsys):
        from sklearn.callback import ProgressBar

        pytest.importorskip("rich")
        make_pipeline(CountVectorizer(), FDM(2)).set_callbacks(ProgressBar()).fit(TEXTS)
        assert "FDM - fit" in capsys.readouterr().out
