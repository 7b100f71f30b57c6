"""How well do topics explain documents they have not seen? The paper's experiment on papers and tweets."""

from __future__ import annotations

import numpy as np

from experiments import corpora
from experiments.measured import load_corpus, measured, save_corpus
from experiments.methods import COLOURS, LDA_METHODS, MALLET_SWEEPS, paper_priors
from experiments.results import Results, finished
from fdmix import Mixture, Moments, plots
from fdmix.metrics import (
    coherence,
    completion_log_likelihood,
    diversity,
    holdout_log_likelihood,
    identifiability,
    matching_distance,
    pair_log_likelihood,
)

PEER = "tomotopy, paper's priors"
CORPORA = {
    "papers": (corpora.papers, "Paragraphs of papers", {"FDM": -5.62, PEER: -5.57, "EP": -6.31}),
    "tweets": (corpora.tweets, "Tweets", {"FDM": -5.26, PEER: -5.70, "EP": -8.5}),
}
METHODS = ("FDM", "FDM, then LDA", PEER, "tomotopy", "EP")
MALLET_METHODS = ("MALLET, paper's priors", "MALLET")  # added if the user names its program
SCALES = {
    "small": {"n_topics": 20, "sweeps": 200, "seed": 0},
    "paper": {"n_topics": 500, "sweeps": 600, "seed": 0},
}
TWEETS = {"paper": {"sweeps": 200}}  # tomotopy takes half a CPU minute for a sweep of 13 million tokens
COMPLETIONS = {"completion, ML": None, "completion, Dir(0.1)": 0.1, "completion, own prior": "dirichlet"}
SMOOTHING = 1e-3  # share of the uniform distribution in the topics of all methods: no word is impossible
SCORED_AT_A_TIME = 20_000  # test documents; bounds the memory for (documents, topics)


def run(scale, out, data, say, name="papers", mallet=None, **_):
    paper = CORPORA[name][2]
    mixtures, likelihoods, rows = {}, {}, []
    methods = METHODS if mallet is None else (*METHODS, *MALLET_METHODS)
    for method in methods:
        mixtures[method], facts = learned(method, name, scale, out, data, say, mallet)
        say(f"{name}: scores of {method}")
        test = load_corpus(out / "test.npz")
        likelihoods[method], row = _scores(mixtures[method], test)
        row |= {"pairs of the training documents": _pair_likelihood(mixtures[method], out / "train.npz")}
        rows.append(
            {"method": method, "paper": paper.get(method)} | row
            | {"seconds": facts["seconds"], "CPU seconds": facts["cpu_seconds"], "peak MB": facts["peak_megabytes"]}
        )  # fmt: skip
        if PEER in mixtures:  # show results before the methods after it, which may take longest
            _write(out, name, scale, rows, mixtures, likelihoods, complete=method == methods[-1])


def _write(out, name, scale, rows, mixtures, likelihoods, complete):
    """Write the table and figures of the methods finished so far."""
    if not complete and finished(out, scale):  # keep complete results while one more method is added
        return
    title = CORPORA[name][1]
    train, test = load_corpus(out / "train.npz"), load_corpus(out / "test.npz")
    settings = _settings(name, scale) | {"smoothing": SMOOTHING, "test documents": test.n_documents}
    if "MALLET" in mixtures:
        settings |= {"MALLET's sweeps": MALLET_SWEEPS[scale]}
    results = Results(out, f"{title}: hold-out likelihood", scale, settings, complete=complete)
    unigram = Moments.of(train).unigram
    alone = Mixture(unigram[None], np.ones((1, 1)), train.vocabulary)
    results.rows = [*rows, {"method": "unigram", "paper": None} | _scores(alone, test)[1]]
    distances = _distances(mixtures, unigram)
    results.settings |= {"matched distances": {pair: float(np.mean(values)) for pair, values in distances.items()}}
    _draw(results, likelihoods, distances)
    results.verdict = _verdict({row["method"]: row for row in results.rows}, results.settings["matched distances"])
    results.write()


def learned(method, name, scale, out, data, say, mallet=None):
    """(Mixture, facts) of a method on the training documents of a corpus; stored in `out`."""
    train = training_documents(name, scale, out, data, say)
    say(f"{name}: {method}")
    settings = _settings(name, scale)
    jobs = {
        "tomotopy": {"sweeps": settings["sweeps"]},
        "MALLET": {"sweeps": MALLET_SWEEPS[scale], "program": mallet},
    }
    job = jobs.get(method.split(",")[0], {})
    if method.endswith("paper's priors"):
        job |= paper_priors(settings["n_topics"], load_corpus(train).n_words)
    return measured(method, train, settings["n_topics"], out, **job)


def training_documents(name, scale, out, data, say):
    """The path of the training documents of a corpus; the test documents are stored beside them in `out`."""
    if not (out / "test.npz").is_file():
        say(f"{name}: reading the corpus")
        train, test = CORPORA[name][0](scale, data)
        out.mkdir(parents=True, exist_ok=True)
        save_corpus(train, out / "train.npz")
        save_corpus(test, out / "test.npz")
    return out / "train.npz"


def _settings(name, scale):
    return SCALES[scale] | (TWEETS.get(scale, {}) if name == "tweets" else {})


def _scores(mixture, test):
    """(log-likelihoods of all test documents, row of the table)."""
    holdout = _of_all(holdout_log_likelihood, mixture, test)
    known = identifiability(mixture)
    return holdout, {
        "hold-out": float(holdout.mean()),
        **{
            name: float(_of_all(completion_log_likelihood, mixture, test, prior=prior).mean())
            for name, prior in COMPLETIONS.items()
        },
        "NPMI": coherence(mixture, test).mean,
        "diversity": diversity(mixture),
        "topics with an anchor word": known.n_anchored,
        "mean anchor slack": float(known.slack.mean()),
    }


def _pair_likelihood(mixture, train):
    """FDM's own objective, with each document counting once as in the paper."""
    return pair_log_likelihood(mixture, Moments.of(load_corpus(train), weighting="paper"), smoothing=SMOOTHING)


def _of_all(score, mixture, test, **settings):
    """The score of each test document."""
    parts = [test[begin : begin + SCORED_AT_A_TIME] for begin in range(0, test.n_documents, SCORED_AT_A_TIME)]
    return np.concatenate([score(mixture, part, smoothing=SMOOTHING, **settings).values for part in parts])


def _distances(mixtures, unigram):
    many = np.repeat(unigram[None], mixtures["FDM"].n_topics, axis=0)
    fdm, lda = mixtures["FDM"].topics, mixtures[PEER].topics
    return {
        "FDM - LDA": matching_distance(fdm, lda).distances,
        "FDM - FDM, then LDA": matching_distance(fdm, mixtures["FDM, then LDA"].topics).distances,
        "FDM - unigram": matching_distance(fdm, many).distances,
        "LDA - unigram": matching_distance(lda, many).distances,
    }


def _draw(results, likelihoods, distances):
    below = "log-likelihood of a document, per token"
    documents = plots.histogram(likelihoods, np.linspace(-9, -2, 71), below=below, density=True, colours=COLOURS)
    results.add_figure("documents", "Log-likelihoods of hold-out documents", documents)
    results.add_figure("distances", "Distances of matched topics", plots.distance_histogram(distances))


def _verdict(rows, distances):
    ours, said = rows["FDM, then LDA"], []
    scores = ("hold-out", *COMPLETIONS)
    for peer in (row for name, row in rows.items() if name.startswith(LDA_METHODS)):
        ahead = [name for name in scores if ours[name] >= peer[name]]
        behind = [name for name in scores if name not in ahead]
        lost = f" and behind on {', '.join(behind)}" if behind else ""
        times = peer["CPU seconds"] / max(ours["CPU seconds"], 1e-9)
        said.append(
            f"FDM, then LDA is ahead of {_priors(peer['method'])} on {', '.join(ahead) or 'nothing'}{lost}; "
            f"{peer['method']} took {times:.1f} times as much CPU time."
        )
    return (
        f"{' '.join(said)} Topics of FDM and of LDA are {distances['FDM - LDA']:.2f} apart, those of FDM and of FDM, "
        f"then LDA {distances['FDM - FDM, then LDA']:.2f}, those of FDM {distances['FDM - unigram']:.2f} from the "
        "unigram. Likelihoods compare within this table only: the paper's corpora are not ours."
    )


def _priors(method):
    """The name of a method with its priors: those of the paper, unless they were optimised."""
    return method if "," in method else f"{method} with optimised priors"
