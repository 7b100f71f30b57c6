"""How well do topics explain documents they have not seen? The paper's experiment on papers and tweets."""

from __future__ import annotations

import numpy as np

from experiments import corpora
from experiments.measured import is_stored, load_corpus, measured, save_corpus, stored_scores
from experiments.methods import COLOURS, LDA_METHODS, check_names, paper_priors
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
    "small": {"n_topics": 20, "sweeps": {"tomotopy": 200, "MALLET": 200}, "seed": 0},
    "paper": {"n_topics": 500, "sweeps": {"tomotopy": 200, "MALLET": 1_000}, "seed": 0},
}
TWEETS = {"paper": {"sweeps": {"tomotopy": 100, "MALLET": 300}}}  # 1,000 of MALLET would take more than an hour
COMPLETIONS = {"completion, ML": None, "completion, Dir(0.1)": 0.1, "completion, own prior": "dirichlet"}
SMOOTHING = 1e-3  # share of the uniform distribution in the topics of all methods: no word is impossible
COMPLETED = 10_000  # test documents, evenly spaced, whose halves are completed; the paper's score is of all
SCORED_AT_A_TIME = 20_000  # test documents; bounds the memory for (documents, topics)


def run(scale, out, data, say, name="papers", mallet=None, methods=None, **_):
    """Run the methods and write the table.

    methods : run these only; the table shows what is stored of the others
    """
    paper = CORPORA[name][2]
    mixtures, likelihoods, rows = {}, {}, []
    planned = METHODS if mallet is None else (*METHODS, *MALLET_METHODS)
    check_names(methods, planned)
    chosen = [method for method in planned if methods is None or method in methods or is_stored(method, out)]
    for method in chosen:
        mixtures[method], facts = learned(method, name, scale, out, data, say, mallet)
        say(f"{name}: scores of {method}")
        scores = stored_scores(method, out, lambda mixture=mixtures[method]: _scores(mixture, out))
        likelihoods[method] = scores.pop("documents")
        rows.append(
            {"method": method, "paper": paper.get(method)} | scores
            | {"sweeps": facts["provenance"]["sweeps"] if method.startswith(LDA_METHODS) else None}
            | {"seconds": facts["seconds"], "CPU seconds": facts["cpu_seconds"], "peak MB": facts["peak_megabytes"]}
        )  # fmt: skip
        complete = method == planned[-1] and chosen == list(planned)
        if complete or not finished(out, scale):  # keep complete results while one more method is added
            _write(out, name, scale, rows, mixtures, likelihoods, complete)


def _write(out, name, scale, rows, mixtures, likelihoods, complete):
    """Write the table and figures of the methods finished so far."""
    title = CORPORA[name][1]
    train, test = load_corpus(out / "train.npz"), load_corpus(out / "test.npz")
    settings = _settings(name, scale) | {
        "smoothing": SMOOTHING,
        "test documents": test.n_documents,
        "completed": COMPLETED,
    }
    results = Results(out, f"{title}: hold-out likelihood", scale, settings, complete=complete)
    unigram = Moments.of(train).unigram
    alone = Mixture(unigram[None], np.ones((1, 1)), train.vocabulary)
    scores = _scores(alone, out)
    results.rows = [
        *rows,
        {"method": "unigram", "paper": None} | {k: v for k, v in scores.items() if k != "documents"},
    ]
    distances = _distances(mixtures, unigram)
    far = {pair: float(np.mean(values)) for pair, values in distances.items()}
    results.rows += [{"method": pair, "paper": None, "matched distance": mean} for pair, mean in far.items()]
    _draw(results, likelihoods, distances)
    results.verdict = _verdict({row["method"]: row for row in results.rows}, far)
    results.write()


def learned(method, name, scale, out, data, say, mallet=None):
    """(Mixture, facts) of a method on the training documents of a corpus; stored in `out`."""
    train = training_documents(name, scale, out, data, say)
    say(f"{name}: {method}")
    settings = _settings(name, scale)
    jobs = {
        "tomotopy": {"sweeps": settings["sweeps"]["tomotopy"]},
        "MALLET": {"sweeps": settings["sweeps"]["MALLET"], "program": mallet},
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


def _scores(mixture, out):
    """The scores of topics, by name; "documents" has the log-likelihoods of all test documents."""
    test, known = load_corpus(out / "test.npz"), identifiability(mixture)
    holdout = _of_all(holdout_log_likelihood, mixture, test)
    some = test[:: -(-test.n_documents // COMPLETED)]
    pairs = Moments.of(load_corpus(out / "train.npz"), weighting="paper")  # FDM's own objective
    return {
        "documents": holdout,
        "hold-out": float(holdout.mean()),
        **{
            name: float(_of_all(completion_log_likelihood, mixture, some, prior=prior).mean())
            for name, prior in COMPLETIONS.items()
        },
        "NPMI": coherence(mixture, test).mean,
        "diversity": diversity(mixture),
        "topics with an anchor word": known.n_anchored,
        "mean anchor slack": float(known.slack.mean()),
        "pairs of the training documents": pair_log_likelihood(mixture, pairs, smoothing=SMOOTHING),
    }


def _of_all(score, mixture, test, **settings):
    """The score of each test document."""
    parts = [test[begin : begin + SCORED_AT_A_TIME] for begin in range(0, test.n_documents, SCORED_AT_A_TIME)]
    return np.concatenate([score(mixture, part, smoothing=SMOOTHING, **settings).values for part in parts])


def _distances(mixtures, unigram):
    """Distances of matched topics of methods, as far as they are there, and from the unigram."""
    pairs = [("FDM", PEER), ("FDM", "MALLET, paper's priors"), ("FDM", "FDM, then LDA")]
    found = {
        f"{a} and {b}": matching_distance(mixtures[a].topics, mixtures[b].topics).distances
        for a, b in pairs
        if a in mixtures and b in mixtures
    }
    for name in ("FDM", PEER, "MALLET, paper's priors"):
        if name in mixtures:
            many = np.repeat(unigram[None], mixtures[name].n_topics, axis=0)
            found[f"{name} and unigram"] = matching_distance(mixtures[name].topics, many).distances
    return found


def _draw(results, likelihoods, distances):
    below = "log-likelihood of a document, per token"
    documents = plots.histogram(likelihoods, np.linspace(-9, -2, 71), below=below, density=True, colours=COLOURS)
    results.add_figure("documents", "Log-likelihoods of hold-out documents", documents)
    results.add_figure("distances", "Distances of matched topics", plots.distance_histogram(distances))


def _verdict(rows, distances):
    said, scores = [], ("hold-out", *COMPLETIONS)
    peers = [
        row for name, row in rows.items() if name in (*METHODS, *MALLET_METHODS) and name.startswith(LDA_METHODS)
    ]
    ours = rows.get("FDM, then LDA")
    for peer in peers if ours else ():
        ahead = [name for name in scores if ours[name] >= peer[name]]
        behind = [name for name in scores if name not in ahead]
        lost = f" and behind on {', '.join(behind)}" if behind else ""
        times = peer["CPU seconds"] / max(ours["CPU seconds"], 1e-9)
        said.append(
            f"FDM, then LDA is ahead of {_priors(peer['method'])} on {', '.join(ahead) or 'nothing'}{lost}; "
            f"{peer['method']} took {times:.1f} times as much CPU time."
        )
    said += [f"Matched topics of {pair} are {mean:.2f} apart." for pair, mean in distances.items()]
    return f"{' '.join(said)} Likelihoods compare within this table only: the paper's corpora are not ours."


def _priors(method):
    """The name of a method with its priors: those of the paper, unless they were optimised."""
    return method if "," in method else f"{method} with optimised priors"
