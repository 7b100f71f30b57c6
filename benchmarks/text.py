"""How fast does text become moments? One million tweets, against CountVectorizer with the same cleaning and SciPy."""

import re
import resource
import time

import numpy as np

from benchmarks.data import data_file
from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import read_moments
from fdmix.text.cleaning import PRESETS
from fdmix.text.stop_words import stop_words

UNWANTED = re.compile(r"(?:https?://|www\.)\S+|(?<!\w)@\w*|&#?\w{1,8};")
TOKEN = re.compile(r"\w+")


def by_count_vectorizer(texts, recipe):
    """(counts, words) by the paper's recipe for tweets; like fdmix, it stems every distinct word once."""
    import scipy.sparse as sp
    import Stemmer
    from sklearn.feature_extraction.text import CountVectorizer

    stem = Stemmer.Stemmer("english").stemWord
    stop = stop_words("english")
    known = {}

    def clean(token):
        token = token.strip("_")
        if len(token) < recipe.min_letters or not token.isascii() or token in stop:
            return None
        return stem(token) if any(map(str.isalpha, token)) else None

    def analyzer(text):
        words = []
        for token in TOKEN.findall(UNWANTED.sub(" ", text.lower())):
            if token not in known:
                known[token] = clean(token)
            if known[token] is not None:
                words.append(known[token])
        return words

    vectorizer = CountVectorizer(analyzer=analyzer, max_features=recipe.max_words)
    counts = vectorizer.fit_transform(texts)
    counts = counts[np.asarray(counts.sum(axis=1)).ravel() >= recipe.min_tokens]
    lengths = np.asarray(counts.sum(axis=1)).ravel().astype(float)
    weight = 1 / (lengths * (lengths - 1))
    counts.T @ sp.diags(weight) @ counts - sp.diags(np.asarray(counts.T @ weight).ravel())
    return counts, vectorizer.get_feature_names_out()


def main():
    print(f"# text to moments\n{machine()}")
    path = data_file("tweets.parquet")
    if path is None:
        return
    import pyarrow.parquet as pq

    read_moments(["warm up", "warm up"])
    n_documents = pq.ParquetFile(path).metadata.num_rows
    times, cpu = [], []
    for _ in range(2):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        moments = read_moments(path, column="text", preset="tweets")
        times.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - cpu_begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    rate = n_documents / min(times)
    record(
        "fdmix", seconds=min(times), cpu_seconds=min(cpu), documents_a_second=rate, peak_gigabytes=peak / 1e3,
        million_pairs=moments.n_pairs / 1e6,
    )  # fmt: skip
    print(f"fdmix: {min(times):.1f} s, {rate:,.0f} documents a second, peak {peak:,.0f} MB; {moments!r}")
    texts = pq.read_table(path, columns=["text"]).column("text").to_pylist()
    begin, cpu_begin = time.perf_counter(), time.process_time()
    counts, words = by_count_vectorizer(texts, PRESETS["tweets"])
    peer, peer_cpu = time.perf_counter() - begin, time.process_time() - cpu_begin
    ratio = peer / min(times)
    record("CountVectorizer and SciPy", seconds=peer, cpu_seconds=peer_cpu, ratio=ratio)
    print(f"CountVectorizer and scipy, without reading the file: {peer:.1f} s, {ratio:.1f} times our time (target 4)")
    theirs = dict(zip(words, np.asarray(counts.sum(axis=0)).ravel(), strict=True))
    ours = dict(zip(moments.vocabulary, moments.word_counts, strict=True))
    both = set(ours) & set(theirs)
    alike = sum(ours[word] == theirs[word] for word in both)
    record("both", words=len(both), equal_counts=alike)
    print(f"of {len(ours):,} words both choose {len(both):,} (ties differ), {alike:,} of them with equal counts")


if __name__ == "__main__":
    main()
