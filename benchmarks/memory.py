"""How much memory does a fit to word pairs take, for each distinct pair? Against an older version of fdmix, if given.

FDMIX_BASE names the `src` folder of the other version, for instance that of a git worktree. Each fit runs in a
process of its own. The peak is that of the process, less its memory before the moments are read: it includes the
moments themselves, 12 bytes a pair and a few more for the part that is held out. FDMIX_PROBLEMS chooses some of the
names in PROBLEMS.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks import data
from benchmarks.measure import machine
from benchmarks.recording import record
from fdmix import Moments, worlds

PROBLEMS = ("newsgroups", "long", "file", "topics")
GOAL = 40  # bytes a distinct pair
MEASURED = """
import json, pickle, sys, time
from pathlib import Path
import numpy as np
from fdmix import Moments, fit_mixture

def memory(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

path, n_topics, passes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
fit_mixture(Moments.of([[3, 2, 1, 0], [1, 1, 2, 3]] * 600), 2)  # compile
before = memory("VmRSS")
moments = pickle.loads(Path(path).read_bytes())  # in memory, where a file of moments would be mapped
Path("/proc/self/clear_refs").write_text("5")
begin, cpu = time.perf_counter(), time.process_time()
solution = fit_mixture(moments, n_topics, max_passes=passes)
np.save(path + ".topics", solution.mixture.topics)
print(json.dumps({
    "wall": time.perf_counter() - begin,
    "cpu": time.process_time() - cpu,
    "bytes": memory("VmHWM") - before,
    "passes": len(solution.log_likelihoods) - 1,
    "likelihood": solution.log_likelihoods[-1],
}))
"""


FROM_FILE = """
import json, sys, time
from pathlib import Path
import numpy as np
from fdmix import Moments, fit_mixture

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

path, n_topics, passes, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
fit_mixture(Moments.of([[3, 2, 1, 0], [1, 1, 2, 3]] * 600), 2)  # compile
begin, cpu = time.perf_counter(), time.process_time()
solution = fit_mixture(Moments.load(path), n_topics, max_passes=passes, memory=None if memory == "all" else memory)
np.save(path + ".topics", solution.mixture.topics)
print(json.dumps({
    "wall": time.perf_counter() - begin,
    "cpu": time.process_time() - cpu,
    "bytes": peak(),
    "passes": len(solution.log_likelihoods) - 1,
    "likelihood": solution.log_likelihoods[-1],
}))
"""


def newsgroups():
    """20 Newsgroups with 5,000 words, or None if the file is missing."""
    path = data.data_file("newsgroups.npz")
    if path is None:
        return None
    with np.load(path) as arrays:
        counts = arrays["data"].astype(np.int32), arrays["indices"].astype(np.int32), arrays["indptr"]
        return sp.csr_array(counts, shape=tuple(arrays["shape"]))


def long_documents(n_words=20_000, length=200):
    """Documents with 50 topics, and others that draw from all words, so that there are some 30 million pairs."""
    topical = worlds.zipf(50, n_words, seed=1).sample(20_000, length=length, seed=2).counts
    return sp.csr_array(sp.vstack([topical, data.short_documents(8_000, n_words, length)]))


def fitted(source, path, n_topics, passes):
    """What a fit in a process of its own says about itself."""
    environment = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, "-c", MEASURED, str(path), str(n_topics), str(passes)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1]) | {"topics": np.load(f"{path}.topics.npy")}


def compare(name, counts, n_topics, passes=2_000):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moments"
        moments = Moments.of(counts)
        path.write_bytes(pickle.dumps(moments))
        n_pairs = moments.n_pairs
        print(f"\n{name}: {counts.shape[1]:,} words, {n_pairs:,} distinct pairs, T = {n_topics}")
        sources = {"this version": Path(__file__).parents[1] / "src"}
        if base := os.environ.get("FDMIX_BASE"):
            sources = {"FDMIX_BASE": Path(base)} | sources
        results = {source: fitted(folder, path, n_topics, passes) for source, folder in sources.items()}
    for source, found in results.items():
        record(
            f"{name}, {source}", bytes_a_pair=found["bytes"] / n_pairs, cpu_seconds=found["cpu"],
            million_pairs=n_pairs / 1e6, passes=found["passes"],
        )  # fmt: skip
        print(
            f"  {source:13} {found['bytes'] / n_pairs:6.1f} bytes a pair, {found['bytes'] / 1e9:5.2f} GB; "
            f"{found['wall']:6.1f} s, {found['cpu']:6.1f} CPU s, {found['passes']} passes, "
            f"L {found['likelihood']:.6f}"
        )
    if len(results) == 2:
        old, new = results.values()
        difference = abs(old["topics"] - new["topics"]).sum(axis=1).max()
        print(
            f"  CPU time {new['cpu'] / old['cpu']:.2f} of FDMIX_BASE; topics differ by at most {difference:.1e} (l1)"
        )
    print(f"  goal: at most {GOAL} bytes a pair")


def from_file(name, counts, n_topics, passes, memory):
    """A fit that reads its pairs from files in each pass, against one that holds them: peaks of whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moments"
        Moments.of(counts).save(path)
        print(f"\n{name}, fitted from a file of {path.stat().st_size / 1e6:,.0f} MB, {passes} passes at most")
        results = {}
        for limit in ("all", memory):
            command = [sys.executable, "-c", FROM_FILE, str(path), str(n_topics), str(passes), limit]
            environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            results[limit] = found | {"topics": np.load(f"{path}.topics.npy")}
            record(f"{name}, memory {limit}", peak_gigabytes=found["bytes"] / 1e9, cpu_seconds=found["cpu"])
            print(
                f"  memory {limit:6} peak {found['bytes'] / 1e9:.2f} GB; {found['wall']:6.1f} s, "
                f"{found['cpu']:6.1f} CPU s, {found['passes']} passes, L {found['likelihood']:.6f}"
            )
    held, streamed = results.values()
    difference = abs(held["topics"] - streamed["topics"]).sum(axis=1).max()
    record(f"{name}, from a file", difference=difference, cpu_ratio=streamed["cpu"] / held["cpu"])
    print(f"  CPU time {streamed['cpu'] / held['cpu']:.2f} times; topics differ by at most {difference:.1e}")


def topics(n_words=20_000, numbers=(100, 300)):
    """What more topics take, for each word and topic: the difference of two peaks, with few pairs."""
    counts = worlds.zipf(50, n_words, seed=1).sample(20_000, length=20, seed=2).counts
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moments"
        path.write_bytes(pickle.dumps(Moments.of(counts)))
        source = Path(__file__).parents[1] / "src"
        few, many = (fitted(source, path, n, 2_000)["bytes"] for n in numbers)
    found = (many - few) / n_words / (numbers[1] - numbers[0])
    record("topics", bytes_a_word_and_topic=found)
    print(f"\ntopics: {found:.0f} bytes for each word and topic")


def main():
    print(f"# memory\n{machine()}")
    names = os.environ.get("FDMIX_PROBLEMS", ",".join(PROBLEMS)).split(",")
    if "newsgroups" in names and (counts := newsgroups()) is not None:
        compare("20 Newsgroups", counts, 50)
    if "long" in names:
        compare("long documents", long_documents(), 50)
    if "file" in names:
        from_file("long documents", long_documents(), 50, 60, "1GB")
    if "topics" in names:
        topics()
