"""Can 10^9 distinct pairs of 200,000 words be counted within 2 GB? With the forecast, a kill and a resumed count.

    python -m benchmarks.billion

Text is drawn from Zipf's law. `fdmix count --estimate --memory 2GB` says what to expect. The count is killed once
half of the text is counted, and resumed. The result is then compared with known answers: the sum over all pairs,
which follows from the lengths of documents, and the rows of some words, counted from the documents that hold them.

It takes 55 GB of disk (`TMPDIR` names the folder) and some ten minutes, so it is not part of `python -m benchmarks`.
FDMIX_DOCUMENTS changes the number of documents: 2,000 make a quick check of this file.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.large import write_zipf
from benchmarks.measure import machine
from fdmix import Moments
from fdmix.moments.weighting import WEIGHTINGS
from fdmix.storage.arrays import read_arrays
from fdmix.text.partial_folder import COUNTING, COUNTING_KIND, FORMAT

N_DOCUMENTS = int(float(os.environ.get("FDMIX_DOCUMENTS", "180_000").replace("_", "")))
N_WORDS, LENGTH, MEMORY = 200_000, 200, "2GB"
CHECKED_WORDS = 25
RUNS_BEFORE_KILL = 8  # of about 16 files of sorted pairs


class Watched:
    """A command of fdmix in a process of its own: its CPU seconds, its peak memory and that of the disk."""

    def __init__(self, folder, *arguments):
        import psutil

        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src"), "TMPDIR": str(folder)}
        self.folder, self.begin = folder, time.perf_counter()
        self.process = psutil.Popen(
            [sys.executable, "-m", "fdmix", *map(str, arguments)],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.cpu = self.peak = self.disk = 0
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self):
        import psutil

        free = shutil.disk_usage(self.folder).free  # also sees files without a name
        while self.process.poll() is None:
            try:
                times = self.process.cpu_times()
                lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
            except (psutil.Error, OSError):
                break
            self.cpu = times.user + times.system
            self.peak = max([self.peak, *(int(line.split()[1]) * 1024 for line in lines if "VmHWM" in line)])
            self.disk = max(self.disk, free - shutil.disk_usage(self.folder).free)
            time.sleep(0.2)

    def ended(self):
        """What it printed."""
        printed, errors = self.process.communicate()
        self.thread.join()
        self.seconds = time.perf_counter() - self.begin
        if self.process.returncode not in (0, -9):
            raise RuntimeError(errors)
        return printed

    def __str__(self):
        return (
            f"{self.cpu:.0f} CPU s, {self.seconds:.0f} s, peak {self.peak / 1e9:.2f} GB, "
            f"disk {self.disk / 1e9:.1f} GB more than before"
        )


def batches_counted(folder):
    """How far a count is, by its last checkpoint: (batches counted, files of sorted pairs)."""
    try:
        facts, _ = read_arrays(folder / COUNTING, COUNTING_KIND, FORMAT)
    except (OSError, ValueError):
        return 0, 0
    return facts["batches"], len(facts["runs"])


def killed_half_way(folder, *arguments):
    """Start a count, and kill it when its last checkpoint has half of the files of sorted pairs."""
    count = Watched(folder, *arguments)
    partial = folder / "moments.partial"
    while count.process.poll() is None:
        if batches_counted(partial)[1] >= RUNS_BEFORE_KILL:
            count.process.kill()
        time.sleep(0.2)
    count.ended()
    return count


def check(moments, path):
    """Compare the sum of all pairs, and the rows of some words, with what the documents say."""
    weight = int(WEIGHTINGS["tokens"].of_pairs(np.array([LENGTH]))[0])
    expected = N_DOCUMENTS * weight * LENGTH * (LENGTH - 1)
    assert moments.pairs.total() == expected, (moments.pairs.total(), expected)
    place = {word: number for number, word in enumerate(moments.vocabulary)}
    words = np.random.default_rng(1).choice(moments.n_words, CHECKED_WORDS, replace=False)
    rows = {int(word): np.zeros(moments.n_words, np.int64) for word in words}
    names = {moments.vocabulary[word] for word in rows}
    with path.open() as file:
        for line in file:
            document = line.split()
            if names.isdisjoint(document):
                continue
            counts = np.zeros(moments.n_words, np.int64)
            np.add.at(counts, [place[word] for word in document], 1)
            for word in rows:
                if counts[word]:
                    others = counts.copy()
                    others[word] -= 1
                    rows[word] += weight * counts[word] * others
    pairs = moments.pairs
    for word, expected_row in rows.items():
        begin, end = pairs.first[word : word + 2]
        found = np.zeros(word + 1, np.int64)
        found[pairs.columns[begin:end]] = pairs.sums[begin:end]
        np.testing.assert_array_equal(found, expected_row[: word + 1])


def main():
    print(f"# billion\n{machine()}, load {os.getloadavg()[0]:.0f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, out = folder / "zipf.txt", folder / "moments"
        write_zipf(text, N_DOCUMENTS, N_WORDS, LENGTH)
        size = text.stat().st_size / 1e6
        print(f"{N_DOCUMENTS:,} documents of {LENGTH} tokens over {N_WORDS:,} words, {size:,.0f} MB", flush=True)
        options = [text, "--preset", "plain", "--min-count", "1", "--memory", MEMORY]
        estimate = Watched(folder, "count", *options, "--estimate", "--json")
        foreseen = json.loads(estimate.ended())
        print(f"forecast: {foreseen['pairs']:,} pairs, {foreseen['file_bytes'] / 1e9:.1f} GB of result, "
              f"{foreseen['disk_bytes'] / 1e9:.0f} GB of temporary files, {foreseen['seconds']:.0f} s; "
              f"from {foreseen['share']:.0%} of the text: {estimate}", flush=True)  # fmt: skip
        killed = killed_half_way(folder, "count", *options, "-o", out)
        batches, runs = batches_counted(folder / "moments.partial")
        print(f"killed with {batches} batches counted, {runs} files of sorted pairs: {killed}", flush=True)
        if not out.exists():  # a small count ends before it can be killed
            resumed = Watched(folder, "count", *options, "-o", out)
            resumed.ended()
            print(f"resumed: {resumed}", flush=True)
        moments = Moments.load(out)
        print(f"{moments.n_pairs:,} distinct pairs of {moments.n_words:,} words, {moments.n_documents:,} documents, "
              f"a file of {out.stat().st_size / 1e9:.1f} GB", flush=True)  # fmt: skip
        check(moments, text)
        print(f"the sum of all pairs and the rows of {CHECKED_WORDS} words are right")


if __name__ == "__main__":
    main()
