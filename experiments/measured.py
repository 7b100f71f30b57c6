"""Topics, wall time, CPU time and peak memory of one method on one corpus, measured in a separate process.

Results are stored and not computed twice. Long jobs report their progress.
"""

from __future__ import annotations

import hashlib
import json
import re
import resource
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from benchmarks.measure import peak, reset_peak

from fdmix import Corpus, Mixture, Refinement
from fdmix.storage import replacing

REPORT_EVERY = 30  # seconds between progress reports of a method


def save_corpus(corpus, path):
    """Write the counts and words of a corpus to one file."""
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
    """(Mixture, facts) of a method; stored in the folder `out`, and read from there the next time."""
    model, facts = kept_files(method, out)
    digest = _digest(corpus_path)
    if facts.is_file():
        kept = json.loads(facts.read_text())
        if _differ(kept["settings"], settings) or (kept["n_topics"], kept["corpus"]) != (n_topics, digest):
            raise RuntimeError(f"{facts} was made with other settings or documents: delete it to make it again")
    if not facts.is_file():
        Path(out).mkdir(parents=True, exist_ok=True)
        job = {"method": method, "corpus": str(corpus_path), "n_topics": n_topics, "settings": settings}
        job |= {"model": str(model), "facts": str(facts), "digest": digest}
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


def is_stored(method, out):
    """Whether a method has a result in the folder `out`."""
    return kept_files(method, out)[1].is_file()


def stored_scores(method, out, score):
    """The scores of a stored result, a dictionary of numbers and arrays: score() once, then a file beside it."""
    path, digest = kept_files(method, out)[1].with_suffix(".npz"), _digest(kept_files(method, out)[1])
    if path.is_file():
        with np.load(path) as saved:
            if saved["of"] == digest:
                return {
                    name: saved[name] if saved[name].ndim else saved[name].item() for name in saved if name != "of"
                }
    scores = score()
    with replacing(path) as file:
        np.savez(file, of=digest, **scores)
    return scores


def _digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def kept_files(method, out):
    """The paths of the stored model and facts of a method."""
    name = re.sub(r"\W+", "-", method.lower())
    return Path(out) / f"{name}.model", Path(out) / f"{name}.json"


def _differ(kept, asked):
    """Whether stored settings differ from those asked for; paths of programs and files do not count."""
    kept, asked = (
        {k: v for k, v in settings.items() if k not in ("program", "start") and v is not None}
        for settings in (kept, asked)
    )
    return kept != asked


class Schedule:
    """The methods still to run, in order, with an estimate of the remaining time from earlier runs."""

    def __init__(self, methods, say):
        self.left, self.say = list(methods), say
        self.seconds = defaultdict(list)

    def measured(self, text, method, corpus_path, n_topics, out, **settings):
        """The result of `measured`, announced by a message with the remaining time."""
        known = [sum(self.seconds[name]) / len(self.seconds[name]) for name in self.left if self.seconds[name]]
        least = "" if len(known) == len(self.left) else "at least "
        left = f"; {least}{_duration(sum(known))} left" if sum(known) >= REPORT_EVERY else ""
        self.say(text + (", done before" if is_stored(method, out) else left))
        mixture, facts = measured(method, corpus_path, n_topics, out, **settings)
        self.left.remove(method)
        self.seconds[method].append(facts["seconds"])
        return mixture, facts


class Clock:
    """Wall and CPU seconds of a job, including earlier attempts up to their last `keep`."""

    def __init__(self, path):
        self.path = Path(path)
        self.before = json.loads(self.path.read_text()) if self.path.is_file() else [0.0, 0.0]
        self.begin = self._now()

    def seconds(self):
        return [before + now - begin for before, now, begin in zip(self.before, self._now(), self.begin, strict=True)]

    def keep(self):
        with replacing(self.path) as file:
            file.write(json.dumps(self.seconds()).encode())

    @staticmethod
    def _now():
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return [time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)]


class Reporter:
    """Prints the progress of a method, at most once every REPORT_EVERY seconds.

    checkpoint : where a method may save its state, to resume if it is interrupted
    """

    def __init__(self, method, checkpoint, clock):
        self.method, self.checkpoint, self.clock, self.begin = method, checkpoint, clock, time.monotonic()
        self.last = self.begin

    def __call__(self, text):
        now = time.monotonic()
        if now - self.last >= REPORT_EVERY:
            self.last = now
            print(f"    {self.method}: {text}, {_duration(now - self.begin)}", file=sys.stderr, flush=True)

    def pass_done(self, progress):
        """A callback for `fit_mixture`, `fit_documents` and `refine`."""
        if isinstance(progress, Refinement):
            what = "pass" if progress.phase == "passes" else "sweep"
            self(f"{what} {progress.passes} over documents, completion {progress.score:.4f}")
        else:
            self(f"pass {progress.passes}")

    def checkpoint_done(self, sweeps, log_likelihood, most):
        """A callback for LDA that resumes from its checkpoint."""
        self.clock.keep()
        self.sweep_done(sweeps, log_likelihood, most)

    def sweep_done(self, sweeps, log_likelihood, most):
        """A callback for LDA that cannot resume."""
        left = self.clock.seconds()[0] / sweeps * (most - sweeps)
        self(f"{sweeps} sweeps, log-likelihood {log_likelihood:.3f}, at most {_duration(left)} more, so far")


def _duration(seconds):
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def main():
    job = json.loads(sys.stdin.read())
    from experiments.methods import method_of

    corpus = load_corpus(job["corpus"])
    reset_peak()
    facts = Path(job["facts"])
    clock = Clock(facts.with_suffix(".clock"))
    reporter = Reporter(job["method"], facts.with_suffix(".checkpoint"), clock)
    mixture = method_of(job["method"])(corpus, job["n_topics"], reporter=reporter, **job["settings"])
    wall, cpu = clock.seconds()
    mixture.save(job["model"])
    said = {
        "method": job["method"],
        "n_topics": job["n_topics"],
        "corpus": job["digest"],
        "settings": job["settings"],
        "seconds": round(wall, 2),
        "cpu_seconds": round(cpu, 2),
        "peak_megabytes": round(max(peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)),
        "provenance": dict(mixture.provenance),
    }
    with replacing(facts) as file:
        file.write(json.dumps(said, indent=1).encode())
    clock.path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
