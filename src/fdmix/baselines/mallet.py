"""LDA by an installed MALLET (SparseLDA). Data are exchanged in files, whose format all versions 2.0 share."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fdmix.runtime.ending import end_with_children

Array = np.ndarray[Any, Any]
TOKENS_AT_A_TIME = 50_000  # lines of the state file parsed at once; bounds the memory
LAST_LINES = 12  # lines of MALLET's output that an error message shows


def train_mallet(
    documents: Iterator[list[str]],
    n_topics: int,
    n_words: int,
    program: Any,
    callback: Callable[[int, float, int], Any] | None,
    settings: dict[str, Any],
) -> tuple[Array, sp.csr_array, Array, float]:
    """(counts of words in topics, counts of topics in documents, alpha, eta) after MALLET's last sweep.

    settings : sweeps, alpha, eta, optimise, seed, n_threads, as in `baselines.lda`
    """
    sweeps = settings["sweeps"]
    command = shutil.which(str(program))
    if command is None:
        raise FileNotFoundError(f"there is no MALLET at {program}: give the path of its bin/mallet")
    with tempfile.TemporaryDirectory() as folder:
        text, data, state = (Path(folder) / name for name in ("documents.txt", "documents.mallet", "state.gz"))
        with text.open("w", encoding="utf-8") as file:
            file.writelines(f"{d} x {' '.join(words)}\n" for d, words in enumerate(documents))
        _run([command, "import-file", "--input", text, "--output", data, "--keep-sequence", "--token-regex", r"\S+"])
        text.unlink()

        def said(line: str) -> None:
            found = re.match(r"<(\d+)> LL/token: (-?\d+)[.,](\d+)$", line)  # some locales write a decimal comma
            if found and callback is not None:
                callback(int(found[1]), float(f"{found[2]}.{found[3]}"), sweeps)

        _run(
            [
                command, "train-topics", "--input", data, "--output-state", state, "--num-topics", n_topics,
                "--num-iterations", sweeps, "--alpha", settings["alpha"] * n_topics, "--beta", settings["eta"],
                "--optimize-interval", 10 if settings["optimise"] else 0,
                "--optimize-burn-in", min(200, sweeps // 4),
                "--random-seed", settings["seed"] + 1, "--num-threads", settings["n_threads"],
            ],
            said,
        )  # fmt: skip
        return _read_state(state, n_topics, n_words)


def _read_state(path: Path, n_topics: int, n_words: int) -> tuple[Array, sp.csr_array, Array, float]:
    """Read a state file: three header lines with alpha and beta, then one line for each token.

    A line has document, source, position, type, word and topic.
    """
    of_words = np.zeros((n_topics, n_words))
    documents, topics = [], []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header = [next(lines) for _ in range(3)]
        alpha = np.array(header[1].split(":")[1].split(), dtype=np.float64)
        eta = float(header[2].split(":")[1])
        while some := list(islice(lines, TOKENS_AT_A_TIME)):
            fields = [line.rsplit(None, 5) for line in some]
            document, word, topic = (np.array([field[k] for field in fields], dtype=np.int32) for k in (0, 4, 5))
            np.add.at(of_words, (topic, word), 1.0)
            documents.append(document)
            topics.append(topic)
    document, topic = np.concatenate(documents), np.concatenate(topics)
    shape = (int(document.max()) + 1, n_topics)
    of_documents = sp.csr_array((np.ones(document.size, np.float32), (document, topic)), shape=shape)
    return of_words, of_documents, alpha, eta


def _run(command: list[Any], said: Callable[[str], Any] = lambda line: None) -> None:
    """Run a command of MALLET and pass each line of its output on."""
    last: deque[str] = deque(maxlen=LAST_LINES)
    with subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as running:
        assert running.stdout is not None
        try:
            for line in running.stdout:
                if not line.startswith("\tat "):  # a line of a Java stack trace
                    last.append(line)
                said(line.strip())
        except BaseException:  # Ctrl-C or an error of the callback; the script and its Java process would run on
            end_with_children(running, gently=True)
            raise
    if running.returncode:
        text = "".join(last).strip()
        hint = " (its memory is set by MEMORY in bin/mallet)" if "OutOfMemoryError" in text else ""
        raise RuntimeError(f"MALLET failed{hint}: {text}")
