"""One method on one corpus in a process of its own: its topics, wall time, CPU time and peak memory.

What is done is kept: asked for again, it is not repeated.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from benchmarks.measure import peak, reset_peak

from fdmix import Corpus, Mixture
from fdmix.storage import replacing


def save_corpus(corpus, path):
    """Counts and words in one file."""
    counts = corpus.counts
    words = np.array(corpus.vocabulary if corpus.vocabulary is not None else [], dtype=str)
    with replacing(path) as file:
        np.savez(
            file, data=counts.data, indices=counts.indices, indptr=counts.indptr, shape=counts.shape, words=words
        )


def load_corpus(path):
    with np.load(path) as saved:
        counts = sp.csr_array((saved["data"], saved["indices"], saved["indptr"]), shape=tuple(saved["shape"]))
        return Corpus(counts, saved["words"].tolist() or None)


def measured(method, corpus_path, n_topics, out, **settings):
    """(Mixture, facts) of a method; `out` is a folder for what is kept."""
    name = re.sub(r"\W+", "-", method.lower())
    model, facts = Path(out) / f"{name}.model", Path(out) / f"{name}.json"
    if not facts.is_file():
        Path(out).mkdir(parents=True, exist_ok=True)
        job = {"method": method, "corpus": str(corpus_path), "n_topics": n_topics, "settings": settings}
        job |= {"model": str(model), "facts": str(facts)}
        done = subprocess.run(
            [sys.executable, "-m", "experiments.measured"],
            input=json.dumps(job),
            text=True,
            check=False,
            cwd=Path(__file__).parents[1],
        )
        if done.returncode:
            raise RuntimeError(f"{method} failed in {out}: see above")
    return Mixture.load(model), json.loads(facts.read_text())


def main():
    job = json.loads(sys.stdin.read())
    from experiments.methods import METHODS

    corpus = load_corpus(job["corpus"])
    before = resource.getrusage(resource.RUSAGE_SELF)
    reset_peak()
    begin = time.perf_counter()
    mixture = METHODS[job["method"]](corpus, job["n_topics"], **job["settings"])
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_SELF)
    mixture.save(job["model"])
    facts = {
        "method": job["method"],
        "settings": job["settings"],
        "seconds": round(wall, 2),
        "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        "peak_megabytes": round(peak()),
        "provenance": dict(mixture.provenance),
    }
    with replacing(job["facts"]) as file:
        file.write(json.dumps(facts, indent=1).encode())


if __name__ == "__main__":
    main()
