"""Does counting stay within its memory? More and more documents, and more pairs than the limit allows.

Documents: tweets, repeated with one word of each replaced by another, so that time and memory can be compared between
10^5, 10^6 and 10^7 of them. Pairs: text drawn from Zipf's law over 60,000 words, counted in memory and within 1 GB.
Each count runs in a process of its own; its peak is that of the whole process.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import data
from benchmarks.measure import machine
from benchmarks.recording import record

SIZES = tuple(int(float(size)) for size in os.environ.get("FDMIX_SIZES", "1e5,1e6,1e7").split(","))
MEASURED = """
import hashlib, json, sys, time
from pathlib import Path
from fdmix import read_moments

path, memory, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
read_moments(["one two three", "two three four"] * 10)  # compile
begin, cpu = time.perf_counter(), time.process_time()
moments = read_moments(Path(path), memory=None if memory == "all" else memory, **options)
wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
lines = Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
print(json.dumps({
    "wall": wall, "cpu": cpu, "bytes": peak, "documents": moments.n_documents, "words": moments.n_words,
    "pairs": moments.n_pairs, "sha256": moments.checksum(),
}))
"""


def counted(path, memory="all", **options):
    """What a count in a process of its own says about itself."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    command = [sys.executable, "-c", MEASURED, str(path), memory, json.dumps(options)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def write_tweets(path, tweets, n_documents, seed=0):
    """Tweets, one in a line, as many as asked for; each copy has one word replaced by one of another tweet."""
    rng = np.random.default_rng(seed)
    words = [tweet.split() or ["nothing"] for tweet in tweets]
    with path.open("w", encoding="utf-8") as file:
        for begin in range(0, n_documents, len(words)):
            lines = []
            for own, other, place in zip(
                words, rng.integers(0, len(words), len(words)), rng.random(len(words)), strict=True
            ):
                changed = list(own)
                changed[int(place * len(own))] = words[other][int(place * len(words[other]))]
                lines.append(" ".join(changed))
            file.write("\n".join(lines[: n_documents - begin]) + "\n")


def growth(folder):
    path = data.data_file("tweets.parquet")
    if path is None:
        return
    import pyarrow.parquet as pq

    tweets = pq.read_table(path, columns=["text"])["text"].to_pylist()
    print("\ntweets, repeated with one word of each replaced (preset tweets):")
    for n_documents in SIZES:
        write_tweets(folder / "tweets.txt", tweets[: min(n_documents, len(tweets))], n_documents)
        found = counted(folder / "tweets.txt", preset="tweets")
        record(
            f"{n_documents} documents", cpu_microseconds=found["cpu"] / n_documents * 1e6,
            peak_gigabytes=found["bytes"] / 1e9, million_pairs=found["pairs"] / 1e6,
        )  # fmt: skip
        print(
            f"  {n_documents:10,} documents: {found['wall']:6.1f} s, "
            f"{found['cpu'] / n_documents * 1e6:5.1f} CPU us a document, "
            f"peak {found['bytes'] / 1e9:.2f} GB; {found['pairs']:,} pairs"
        )


def write_zipf(path, n_documents, n_words, length, seed=0):
    """Documents whose words are drawn from Zipf's law."""
    rng = np.random.default_rng(seed)
    share = 1 / (np.arange(n_words) + 30)
    cumulative = np.cumsum(share / share.sum())
    names = np.array([f"w{word:x}q" for word in range(n_words)])
    with path.open("w") as file:
        for _ in range(0, n_documents, 1_000):
            drawn = np.minimum(np.searchsorted(cumulative, rng.random((1_000, length))), n_words - 1)
            file.write("\n".join(" ".join(names[row]) for row in drawn) + "\n")


def spilled(folder, n_documents=40_000, n_words=60_000, length=200):
    write_zipf(folder / "zipf.txt", n_documents, n_words, length)
    print(f"\n{n_documents:,} documents of {length} tokens over {n_words:,} words:")
    results = {}
    for memory in ("1GB", "all"):
        found = results[memory] = counted(folder / "zipf.txt", memory, preset="plain", min_count=1)
        record(
            f"memory {memory}", peak_gigabytes=found["bytes"] / 1e9, cpu_seconds=found["cpu"],
            million_pairs=found["pairs"] / 1e6,
        )  # fmt: skip
        print(
            f"  memory {memory:4} peak {found['bytes'] / 1e9:.2f} GB; {found['wall']:6.1f} s, {found['cpu']:6.1f} "
            f"CPU s; {found['pairs']:,} pairs"
        )
    limited, free = results.values()
    same = "the same bits" if limited["sha256"] == free["sha256"] else "OTHER NUMBERS"
    print(f"  CPU time within 1 GB {limited['cpu'] / free['cpu']:.2f} of that in memory; {same}")


def main():
    print(f"# large\n{machine()}")
    with tempfile.TemporaryDirectory() as folder:
        spilled(Path(folder))
        growth(Path(folder))
