"""How well do topics explain documents they have not seen? The paper's experiment on papers and tweets."""

from __future__ import annotations

import numpy as np

from experiments import corpora
from experiments.measured import load_corpus, measured, save_corpus
from experiments.methods import COLOURS, MALLET_SWEEPS
from experiments.results import Results, finished
from fdmix import Mixture, Moments
from fdmix.metrics import (
    coherence,
    completion_log_likelihood,
    diversity,
    holdout_log_likelihood,
    matching_distance,
)

CORPORA = {
    "papers": (corpora.papers, "Paragraphs of papers", {"FDM": -5.62, "SparseLDA": -5.57, "EP": -6.31}),
    "tweets": (corpora.tweets, "Tweets", {"FDM": -5.26, "SparseLDA": -5.70, "EP": -8.5}),
}
METHODS = ("FDM", "FDM with documents", "SparseLDA", "EP")  # MALLET is added if the user names its program
PEERS = ("SparseLDA", "MALLET")
SCALES = {
    "small": {"n_topics": 20, "sweeps": 200, "seed": 0},
    "paper": {"n_topics": 500, "sweeps": 600, "seed": 0},
}
TWEETS = {"paper": {"sweeps": 200}}  # tomotopy takes half a CPU minute for a sweep of 13 million tokens
COMPLETIONS = {"completion, ML": None, "completion, Dir(0.1)": 0.1, "completion, own prior": "dirichlet"}
SMOOTHING = 1e-3  # share of the uniform distribution in the topics of all methods: no word is impossible
MAX_TEST_DOCUMENTS = 5_000  # of a larger test set, the first ones are scored


def run(scale, out, data, say, name="papers", mallet=None, **_):
    paper = CORPORA[name][2]
    mixtures, likelihoods, rows = {}, {}, []
    methods = METHODS if mallet is None else (*METHODS, "MALLET")
    for method in methods:
        mixtures[method], facts = learned(method, name, scale, out, data, say, mallet)
        say(f"{name}: scores of {method}")
        test = load_corpus(out / "test.npz")[:MAX_TEST_DOCUMENTS]
        score, row = _scores(mixtures[method], test)
        likelihoods[method] = score.values
        rows.append(
            {"method": method, "paper": paper.get(method)} | row
            | {"seconds": facts["seconds"], "CPU seconds": facts["cpu_seconds"], "peak MB": facts["peak_megabytes"]}
        )  # fmt: skip
        if "SparseLDA" in mixtures:  # show results before the methods after it, which may take longest
            _write(out, name, scale, rows, mixtures, likelihoods, complete=method == methods[-1])


def _write(out, name, scale, rows, mixtures, likelihoods, complete):
    """Write the table and figures of the methods finished so far."""
    if not complete and finished(out, scale):  # keep complete results while one more method is added
        return
    title = CORPORA[name][1]
    settings = _settings(name, scale) | {"smoothing": SMOOTHING}
    if "MALLET" in mixtures:
        settings |= {"MALLET's sweeps": MALLET_SWEEPS[scale]}
    results = Results(out, f"{title}: hold-out likelihood", scale, settings, complete=complete)
    train, test = load_corpus(out / "train.npz"), load_corpus(out / "test.npz")[:MAX_TEST_DOCUMENTS]
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
        "SparseLDA": {"sweeps": settings["sweeps"]},
        "MALLET": {"sweeps": MALLET_SWEEPS[scale], "program": mallet},
    }
    return measured(method, train, settings["n_topics"], out, **jobs.get(method, {}))


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
    holdout = holdout_log_likelihood(mixture, test, smoothing=SMOOTHING)
    return holdout, {
        "hold-out": holdout.mean,
        **{
            name: completion_log_likelihood(mixture, test, prior, smoothing=SMOOTHING).mean
            for name, prior in COMPLETIONS.items()
        },
        "NPMI": coherence(mixture, test).mean,
        "diversity": diversity(mixture),
    }


def _distances(mixtures, unigram):
    many = np.repeat(unigram[None], mixtures["FDM"].n_topics, axis=0)
    fdm, lda = mixtures["FDM"].topics, mixtures["SparseLDA"].topics
    return {
        "FDM - SparseLDA": matching_distance(fdm, lda).distances,
        "FDM - unigram": matching_distance(fdm, many).distances,
        "SparseLDA - unigram": matching_distance(lda, many).distances,
    }


def _draw(results, likelihoods, distances):
    def documents(axes):
        bins = np.linspace(-9, -2, 71)
        for name, values in likelihoods.items():
            axes.hist(values, bins, histtype="step", color=COLOURS[name], label=name, density=True, linewidth=1.6)
        axes.set(xlabel="log-likelihood of a document, per token", ylabel="density")
        axes.legend(frameon=False)

    def matched(axes):
        for (name, values), colour in zip(distances.items(), ("#117733", "#0072B2", "#D55E00"), strict=True):
            axes.hist(values, np.linspace(0, 2, 41), histtype="step", color=colour, label=name, linewidth=1.6)
        axes.set(xlabel="l1 distance of matched topics", ylabel="topics")
        axes.legend(frameon=False)

    results.draw("documents", "Log-likelihoods of hold-out documents", documents)
    results.draw("distances", "Distances of matched topics", matched)


def _verdict(rows, distances):
    ours, said = rows["FDM with documents"], []
    scores = ("hold-out", *COMPLETIONS)
    for peer in (rows[name] for name in PEERS if name in rows):
        ahead = [name for name in scores if ours[name] >= peer[name]]
        behind = [name for name in scores if name not in ahead]
        lost = f" and behind on {', '.join(behind)}" if behind else ""
        times = peer["CPU seconds"] / max(ours["CPU seconds"], 1e-9)
        said.append(
            f"With documents, FDM is ahead of {peer['method']} with optimised hyperparameters on "
            f"{', '.join(ahead) or 'nothing'}{lost}; {peer['method']} took {times:.1f} times as much CPU time."
        )
    return (
        f"{' '.join(said)} Topics of FDM and SparseLDA are {distances['FDM - SparseLDA']:.2f} apart, "
        f"those of FDM {distances['FDM - unigram']:.2f} from the unigram. Likelihoods compare within this table "
        "only: the paper's corpora are not ours."
    )
