"""How fast is an edit refitted, and does it hold? Papers at T = 200 and 500; control against tandem anchors."""

import os
import time

import numpy as np
import scipy.sparse as sp

from benchmarks import data
from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import Moments, fit_mixture
from fdmix.kernels.anchor_recovery import recover_l2

LIMITS = {200: 1.0, 500: 2.0}  # seconds, for p95
ROUNDS = 4  # of each kind of edit
FIT_PASSES = 30  # of the model to edit: its topics need not have settled
CONTROL_TOPICS, CONTROL_EDITS, SEED_WORDS = 50, 12, 3


def edits_of(editor, rng):
    """One edit of each kind with random topics and words."""
    topics = rng.choice(editor.mixture.n_topics, 4, replace=False).tolist()
    rank = np.argsort(-editor.mixture.topics[topics[0]])
    first, later = [str(u) for u in rank[:3]], [str(u) for u in rank[50:53]]
    return {
        "merge": lambda: editor.merge(topics[0], topics[1]),
        "split": lambda: editor.split(topics[0]),
        "merge and split": lambda: editor.merge(topics[0], topics[1]).split(topics[2]),
        "drop": lambda: editor.drop(topics[0]),
        "seed": lambda: editor.seed({topics[0]: later}),
        "new topic": lambda: editor.seed({"new": first}),
        "ban everywhere": lambda: editor.ban(*first),
        "ban from a topic": lambda: editor.ban(*first, topic=topics[0]),
        "together": lambda: editor.together(*first),
        "freeze and seed": lambda: editor.freeze(topics[1]).seed({topics[0]: later}),
    }


def speed(moments, n_topics):
    mixture = fit_mixture(moments, n_topics, max_passes=FIT_PASSES).mixture
    begin = time.perf_counter()
    editor = mixture.edit(moments)
    editor.fit()  # sets up the pairs and compiles
    setup = time.perf_counter() - begin
    print(f"T {n_topics}: set up in {setup:.1f} s, once in a session")
    rng, took = np.random.default_rng(0), {}
    for _ in range(ROUNDS):
        for name, edit in edits_of(editor, rng).items():
            begin, worked = time.perf_counter(), time.process_time()
            changes = edit().fit().changes
            seconds, worked = time.perf_counter() - begin, time.process_time() - worked
            took.setdefault(name, []).append((seconds, worked, changes.cost, len(changes.moved)))
    for name, values in took.items():
        seconds, _, costs, moved = zip(*values, strict=True)
        print(
            f"  {name:18} median {np.median(seconds):.2f} s, cost {np.median(costs):+.5f} a pair, "
            f"other topics that moved: {np.median(moved):.0f}"
        )
    every, worked = zip(*(value[:2] for values in took.values() for value in values), strict=True)
    record(
        f"{n_topics} topics", edits=len(every), setup=setup, median=np.median(every), p95=np.percentile(every, 95),
        processor=np.median(worked), p95_processor=np.percentile(worked, 95), load=os.getloadavg()[0],
    )  # fmt: skip
    print(
        f"  all: median {np.median(every):.2f} s, p95 {np.percentile(every, 95):.2f} s "
        f"(target {LIMITS[n_topics]:g} s), load {os.getloadavg()[0]:.1f}; "
        f"processor time of all cores: median {np.median(worked):.2f} s, p95 {np.percentile(worked, 95):.2f} s"
    )


def tandem_anchors(rows, unigram, words_of_topics):
    """Topics from tandem anchors (Lund et al., 2017): an anchor is the harmonic mean of its words' rows of Mhat."""
    basis = np.array([len(words) / (1 / (rows[words].toarray() + 1e-10)).sum(axis=0) for words in words_of_topics])
    basis /= basis.sum(axis=1, keepdims=True)
    shares = np.full((rows.shape[0], len(basis)), 1 / len(basis))
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    recover_l2(0, len(shares), basis @ basis.T, np.asarray(rows @ basis.T), squares, 1e-3, 2_000, shares)
    topics = shares.T * unigram
    return topics / topics.sum(axis=1, keepdims=True)


def rank(topics, topic, words):
    return [int((topics[topic] > topics[topic, word]).sum()) + 1 for word in words]


def control(moments):
    """A user adds three words of rank 11 to 200 to a topic: which ranks have they before and after the refit?"""
    mixture = fit_mixture(moments, CONTROL_TOPICS).mixture
    unigram = moments.unigram
    rows = sp.csr_array(sp.diags_array(1 / np.where(unigram > 0, unigram, 1)) @ moments.matrix)
    anchors = [np.argsort(-topic)[:SEED_WORDS].tolist() for topic in mixture.topics]
    tandem = tandem_anchors(rows, unigram, anchors)
    rng, editor, ranks = np.random.default_rng(1), mixture.edit(moments), []
    for topic in rng.choice(CONTROL_TOPICS, CONTROL_EDITS, replace=False).tolist():
        words = rng.choice(np.argsort(-mixture.topics[topic])[10:200], SEED_WORDS, replace=False).tolist()
        ours = editor.seed({topic: [str(u) for u in words]}).fit().mixture.topics
        theirs = tandem_anchors(rows, unigram, [a + words if t == topic else a for t, a in enumerate(anchors)])
        before, after = rank(mixture.topics, topic, words), rank(ours, topic, words)
        ranks += zip(before, after, rank(tandem, topic, words), rank(theirs, topic, words), strict=True)
    table = np.array(ranks)
    print(f"control: {CONTROL_EDITS} seeds of {SEED_WORDS} words, newsgroups, T {CONTROL_TOPICS}")
    for name, (before, after) in {"fdmix": (0, 1), "tandem anchors": (2, 3)}.items():
        record(
            name, before=np.median(table[:, before]), after=np.median(table[:, after]),
            first_ten=100 * (table[:, after] <= 10).mean(),
        )  # fmt: skip
        print(
            f"  {name:15} median rank {np.median(table[:, before]):.0f} before, {np.median(table[:, after]):.0f} "
            f"after; {(table[:, after] <= 10).mean():.0%} among the first 10 words"
        )


def newsgroups():
    path = data.data_file("newsgroups.npz")
    if path is None:
        return None
    with np.load(path) as arrays:
        counts = sp.csr_array(
            (arrays["data"].astype(np.int32), arrays["indices"].astype(np.int32), arrays["indptr"]),
            shape=tuple(arrays["shape"]),
        )
        return counts[~arrays["holdout"].astype(bool)]


def main():
    print(f"# edits\n{machine()}")
    papers = data.mlpapers()
    if papers is not None:
        moments = Moments.of(papers)
        for n_topics in LIMITS:
            speed(moments, n_topics)
    messages = newsgroups()
    if messages is not None:
        control(Moments.of(messages))
