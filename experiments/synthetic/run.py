"""Which method finds known topics again? The paper's table of synthetic data.

The true topics are those that LDA with the paper's priors, alpha = 1/T and beta = 1/N, learns in the experiment
`papers`.

Each method runs on one fixed corpus with several seeds, as in the paper, whose standard deviation is that of the
method; and on fresh corpora, where the documents vary, too. Documents of unequal length are a third set.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

from experiments.heldout import run as heldout
from experiments.measured import Schedule, is_stored, kept_files, load_corpus, save_corpus, stored_scores
from experiments.methods import COLOURS, LDA_METHODS, check_names, paper_priors
from experiments.results import Results, finished
from fdmix import Moments, plots, worlds
from fdmix.metrics import identifiability, matching_distance, pair_log_likelihood

PAPER = {
    "FDM": 0.66, "tomotopy, paper's priors": 0.41, "tomotopy, 10 alpha": 0.66, "MALLET, paper's priors": 0.41,
    "MALLET, 10 alpha": 0.66, "EP": 1.05,
}  # fmt: skip
LENGTH = 30  # tokens of a document
CORPORA = {  # name: how corpus and seed depend on the number of the run
    "one corpus": "the same documents, another seed of the method in each run",
    "fresh corpora": "other documents in each run",
    "unequal lengths": "other documents in each run, of geometric lengths with the same mean",
}
SCALES = {
    "small": {
        "n_topics": 20, "n_documents": 4_000, "sweeps": {"tomotopy": 200, "MALLET": 200},
        "runs": {"one corpus": 2, "fresh corpora": 1, "unequal lengths": 1},
    },
    "paper": {
        "n_topics": 500, "n_documents": 100_000, "sweeps": {"tomotopy": "settled", "MALLET": 1_000},
        "runs": {"one corpus": 5, "fresh corpora": 5, "unequal lengths": 2},
    },
}  # fmt: skip
TRUTH = heldout.PEER
FIRST_CORPUS, CORPUS_FILE = "corpus-0", "corpus.npz"
FROM_TRUTH, BY_LENGTH = "FDM, from the truth", "FDM, weights by length"
DRAWS_NOTHING = ("FDM", FROM_TRUTH)  # another seed gives the same topics: one run on the fixed corpus
ONLY_ON = {FROM_TRUTH: "one corpus", BY_LENGTH: "unequal lengths"}  # elsewhere nothing new is to be learned
SMOOTHING = 1e-3  # share of the uniform distribution in topics whose pairs are scored


def run(scale, out, data, say, mallet=None, methods=None, **_):
    """Run the methods and write the table.

    methods : run these only; the table shows what is stored of the others
    """
    settings = SCALES[scale] | {"corpora": CORPORA}
    truth = true_topics(scale, out, data, say)
    jobs = method_jobs(settings, truth.n_words, mallet, true_model(out))
    check_names(methods, jobs)
    planned = planned_runs(settings, jobs)
    chosen = [
        (corpus, folder, seed, name)
        for corpus, folder, seed, name in planned
        if methods is None or name in methods or is_stored(name, out / folder / f"seed-{seed}")
    ]
    found = {(corpus, name): [] for corpus in CORPORA for name in jobs}
    known = _truth_row(truth, sampled("one corpus", out / FIRST_CORPUS, truth, settings))
    schedule = Schedule([name for *_, name in chosen], say)
    for number, (corpus, folder, seed, name) in enumerate(chosen):
        path = sampled(corpus, out / folder, truth, settings)
        text, kept = f"run {number + 1} of {len(chosen)} ({corpus}): {name}", path.parent / f"seed-{seed}"
        mixture, facts = schedule.measured(text, name, path, settings["n_topics"], kept, seed=seed, **jobs[name])
        scores = stored_scores(name, kept, lambda m=mixture, p=path: _scores(m, p, truth))
        found[corpus, name].append(facts | scores)
        complete = len(chosen) == len(planned) == number + 1
        if complete or not finished(out, scale):  # keep complete results while one more method is added
            _write(out, scale, settings, known, {key: runs for key, runs in found.items() if runs}, complete)


def true_topics(scale, out, data, say):
    """LDA with alpha = 1/T and beta = 1/N on the papers, as in the paper: a row of the experiment `papers`."""
    return heldout.learned(TRUTH, "papers", scale, out.parent / "papers", data, say)[0]


def true_model(folder):
    """The path of the true topics, by the folder of this experiment."""
    return kept_files(TRUTH, Path(folder).parent / "papers")[0]


def first_corpus(folder):
    """The path of the corpus that most runs of this experiment use."""
    return Path(folder) / FIRST_CORPUS / CORPUS_FILE


def method_jobs(settings, n_words, mallet, truth):
    """The settings of each method, by its name."""
    n_topics = settings["n_topics"]
    variants = {
        "paper's priors": paper_priors(n_topics, n_words),
        "beta 0.01": paper_priors(n_topics, n_words, eta=0.01),
        "10 alpha": paper_priors(n_topics, n_words, times_alpha=10),
        "10 alpha, beta 0.01": paper_priors(n_topics, n_words, times_alpha=10, eta=0.01),
    }
    programs = {name: {"sweeps": settings["sweeps"][name]} for name in LDA_METHODS}
    programs["MALLET"] |= {"program": mallet}
    return {
        "FDM": {},
        "FDM, then LDA": {},
        BY_LENGTH: {"weighting": "tokens"},
        FROM_TRUTH: {"start": str(truth)},
        "our LDA from noise": {},
        **{
            f"{name}, {kind}": programs[name] | priors
            for name in LDA_METHODS
            for kind, priors in variants.items()
            if name != "MALLET" or mallet is not None
        },
        "EP": {},
        "EP, L2": {},
    }


def planned_runs(settings, methods):
    """(kind of corpus, folder, seed, method) of every run."""
    runs = settings["runs"]
    same = [("one corpus", FIRST_CORPUS, seed) for seed in range(runs["one corpus"])]
    fresh = [("fresh corpora", f"corpus-{k}", 0) for k in range(1, runs["fresh corpora"] + 1)]
    unequal = [("unequal lengths", f"unequal-{k}", 0) for k in range(runs["unequal lengths"])]
    return [
        (corpus, folder, seed, name)
        for corpus, folder, seed in (*same, *fresh, *unequal)
        for name in methods
        if ONLY_ON.get(name, corpus) == corpus and not (name in DRAWS_NOTHING and seed > 0)
    ]


def sampled(corpus, folder, truth, settings):
    """The path of documents drawn from the true topics, theta ~ Dir(1/T); the folder's number is their seed."""
    path, seed = folder / CORPUS_FILE, int(folder.name.split("-")[1])
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        n_documents = settings["n_documents"]
        lengths = worlds.geometric_lengths(n_documents, LENGTH, seed) if corpus == "unequal lengths" else LENGTH
        world = worlds.World(truth.topics, 1 / settings["n_topics"])
        save_corpus(world.sample(n_documents, length=lengths, seed=seed), path)
    return path


def _scores(mixture, path, truth):
    return {
        "distances": matching_distance(mixture.topics, truth.topics).distances,
        "missed": matching_distance(mixture.topics, truth.topics).missed,
        "anchored": identifiability(mixture).n_anchored,
        "pairs": pair_log_likelihood(mixture, _moments(path), smoothing=SMOOTHING),
    }


@cache
def _moments(path):
    """The paper's Mhat of a corpus."""
    return Moments.of(load_corpus(path), weighting="paper")


def _write(out, scale, settings, known, found, complete):
    """Write the table and figure of the methods finished so far."""
    results = Results(out, "Synthetic documents from topics learned by LDA", scale, settings, complete=complete)
    results.rows = [*[_row(corpus, name, runs) for (corpus, name), runs in found.items()], known]
    distances = {
        name: np.concatenate([one["distances"] for one in runs])
        for (corpus, name), runs in found.items()
        if corpus == "one corpus"
    }
    figure = plots.distance_histogram(distances, colours=COLOURS)
    results.add_figure("distances", "Distances of matched topics, all runs on one corpus", figure)
    results.verdict = _verdict({row["method"]: row for row in results.rows if row["documents"] == "one corpus"})
    results.write()


def _truth_row(truth, path):
    """What is known of the true topics: how alike they are, and whether pairs determine them."""
    distances = cdist(truth.topics, truth.topics, "cityblock")
    nearest = (distances + np.diag(np.full(truth.n_topics, np.inf))).min(axis=1)
    world = worlds.World(truth.topics, 1 / truth.n_topics)
    anchors = identifiability(truth)
    return {
        "row": "the truth",
        "documents": "one corpus",
        "method": "the truth",
        "l1": 0.0,
        "topics with an anchor word": anchors.n_anchored,
        "mean anchor slack": float(anchors.slack.mean()),
        "topics without a word of their own": len(anchors.without_own_word),
        "log-likelihood of a pair": pair_log_likelihood(world.mixture, _moments(path), smoothing=SMOOTHING),
        "distance to the nearest other topic, median": float(np.median(nearest)),
    }


def _row(corpus, name, runs):
    errors = np.array([one["distances"].mean() for one in runs])
    sweeps = [one["provenance"]["sweeps"] for one in runs if name.startswith(LDA_METHODS)]
    return {
        "row": f"{name}, {corpus}",
        "documents": corpus,
        "method": name,
        "paper": PAPER.get(name) if corpus == "one corpus" else None,
        "l1": float(errors.mean()),
        "sd": float(errors.std(ddof=1)) if len(runs) > 1 else None,
        "missed": float(np.mean([one["missed"] for one in runs])),
        "topics with an anchor word": float(np.mean([one["anchored"] for one in runs])),
        "log-likelihood of a pair": float(np.mean([one["pairs"] for one in runs])),
        "runs": len(runs),
        "sweeps": float(np.mean(sweeps)) if sweeps else None,
        "seconds": float(np.mean([one["seconds"] for one in runs])),
        "CPU seconds": float(np.mean([one["cpu_seconds"] for one in runs])),
        "peak MB": float(np.max([one["peak_megabytes"] for one in runs])),
    }


def _verdict(rows):
    """What the rows of the one corpus say, each method by its own name."""
    said = []
    for name in ("FDM", "FDM, then LDA"):
        peers = [row for peer, row in rows.items() if peer.startswith(LDA_METHODS) and peer.endswith("priors")]
        for peer in peers if name in rows else ():
            ours, word = rows[name], "below" if rows[name]["l1"] < peer["l1"] else "above"
            times = peer["CPU seconds"] / max(ours["CPU seconds"], 1e-9)
            said.append(
                f"{name} is at {ours['l1']:.3f}, {word} {peer['method']} ({peer['l1']:.3f}), which took {times:.1f} "
                "times as much CPU time."
            )
    noise, ours = rows.get("our LDA from noise"), rows.get("FDM, then LDA")
    if noise and ours:
        said.append(
            f"The same sampling ends at {noise['l1']:.3f} if it starts from noise instead of FDM's topics "
            f"({ours['l1']:.3f})."
        )
    best, found = rows.get(FROM_TRUTH), rows.get("FDM")
    if best and found:
        said.append(
            f"Started at the truth, FDM ends at {best['l1']:.3f}, with a log-likelihood of a pair of "
            f"{best['log-likelihood of a pair']:.4f}, against {found['log-likelihood of a pair']:.4f} of the topics "
            "that it finds by itself."
        )
    return " ".join(said)
