"""The folder `name.partial` with the checkpoints of a count. All of it is checked before a count resumes.

plan.json     what is counted, from which files; only a count with the same plan may resume
tokens        the numbers of all tokens read so far, raw int32 (see `TokenStore`)
lengths       the number of tokens of each document, raw int32
read          the state of reading at the last checkpoint: the lexicons, and the sizes and a checksum of each batch
counted-N     the moments of the first N batches, or of those among them that are not in a run
run-K         the moments of batches counted before, written because they did not fit into memory
counting      which of the files `counted-N` and `run-K` are valid, and to which `read` they belong
failed        exists if the count ended with an error
lock          locked by the process that is counting

`write_arrays` writes `read`, `counted-N` and `counting`, with checksums. `read` also holds the checksums of the
tokens and of the plan, and `counting` those of `read` and `counted-N`. So the files of two counts are never mixed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fdmix.corpus.preparation import Cleaning
from fdmix.moments.ledger import SourceLog
from fdmix.moments.moments import Moments
from fdmix.storage.arrays import PREAMBLE, FileError, read_arrays, write_arrays
from fdmix.storage.facts import mapping, parse_json, reason, stated_number, string
from fdmix.storage.places import is_remote
from fdmix.storage.temporaries import replacing, temporary_name
from fdmix.text.lexicon import Lexicon
from fdmix.text.token_store import LENGTHS_FILE, TOKENS_FILE, DamagedFolderError, TokenStore

PLAN, READ, COUNTING, FAILED, LOCK = "plan.json", "read", "counting", "failed", "lock"
READ_KIND, COUNTING_KIND, FORMAT = "tokens read so far", "a count so far", 2
DIFFERENCES = {"fdmix": "of another version of fdmix", "files": "of other files, or files that have changed since"}


def checkpoint_folder(target: Path) -> Path:
    """The folder for the checkpoints of a count into this file: beside it, or in the user's cache for a URL."""
    if not is_remote(target):
        return target.with_name(f"{target.name}.partial")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fdmix"
    cache.mkdir(parents=True, exist_ok=True)
    return cache / f"{target.name}-{hashlib.sha256(str(target).encode()).hexdigest()[:12]}.partial"


class PartialFolder:
    """The checkpoints of one count."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def has(self, plan: Any) -> bool:
        """Whether a count with this plan can resume from here."""
        with suppress(FileError):
            return (self.path / READ).is_file() and self._planned() == plan
        return False

    def has_failed(self) -> bool:
        """Whether the count ended with an error, so that another count may replace it."""
        return (self.path / FAILED).is_file()

    def begin(self, plan: Any) -> None:
        """Prepare to resume or to start the count of this plan; never replaces another count that did not fail."""
        if (self.path / READ).is_file():
            planned = self._planned()
            if planned == plan:
                (self.path / FAILED).unlink(missing_ok=True)
                return
            if not self.has_failed():
                unlike = [
                    DIFFERENCES.get(name, "with other settings") for name in plan if planned.get(name) != plan[name]
                ]
                raise ValueError(
                    f"{self.path} is left from another count ({', '.join(dict.fromkeys(unlike))}): repeat that count "
                    "to finish it, or delete the folder and start again"
                )
        for name in (READ, COUNTING, FAILED, TOKENS_FILE, LENGTHS_FILE):
            (self.path / name).unlink(missing_ok=True)
        for path in (*self.path.glob("counted-*"), *self.path.glob("run-*")):  # they may fill the disk
            path.unlink()
        with replacing(self.path / PLAN) as file:
            file.write(json.dumps(plan, indent=1).encode())

    def token_store(self, cleaning: Cleaning, plan: Any) -> tuple[TokenStore, bool]:
        """(the tokens read so far, whether these are all tokens)."""
        store = TokenStore.in_folder(cleaning, self.path)
        complete = False
        try:
            if (self.path / READ).is_file():
                complete = self._restore(store, plan)
            store.truncate_files()  # tokens written after the checkpoint are read again
            for _ in store:  # iterating checks each batch
                pass
        except DamagedFolderError:
            raise
        except (FileNotFoundError, KeyError, ValueError) as error:
            raise DamagedFolderError(self.path, reason(error)) from None
        return store, complete

    def save_reading(self, store: TokenStore, plan: Any, complete: bool) -> None:
        """Save a checkpoint while text is read."""
        store.sync()
        arrays: dict[str, Any] = {"index": store.index_array()}
        for number, lexicon in enumerate(store.lexicons):
            arrays |= {f"{number}.{name}": array for name, array in lexicon.arrays().items()}
        facts = {
            "complete": complete,
            "documents": store.n_documents,
            "lexicons": len(store.lexicons),
            "sources": store.log.facts(),
            "plan": _digest(plan),
        }
        write_arrays(self.path / READ, READ_KIND, FORMAT, facts, arrays)

    def save_counting(self, n_batches: int, total: Moments, runs: Sequence[Path] = ()) -> None:
        """Save a checkpoint while pairs are counted. The old one stays until the new one is complete.

        runs : files `run-K` with what does not fit into memory; `total` is the rest
        """
        counted = self.path / f"counted-{n_batches}"
        total.save(counted)
        facts = {
            "batches": n_batches,
            "counted": _fingerprint(counted),
            "read": _fingerprint(self.path / READ),
            "runs": [_fingerprint(run) for run in runs],
        }
        write_arrays(self.path / COUNTING, COUNTING_KIND, FORMAT, facts, {})
        for path in self.path.glob("counted-*"):
            if path != counted:
                path.unlink()

    def counted(
        self, vocabulary: tuple[str, ...], folds: int, n_batches: int
    ) -> tuple[int, Moments | None, list[Path]]:
        """(number of batches counted, their moments, runs of others); (0, None, []) if they cannot be relied on."""
        try:
            facts, _ = read_arrays(self.path / COUNTING, COUNTING_KIND, FORMAT)
            done = stated_number(facts["batches"], "the number of batches", least=1)
            path = self.path / f"counted-{done}"
            if (facts["counted"], facts["read"]) != (_fingerprint(path), _fingerprint(self.path / READ)):
                return 0, None, []
            runs = [self.path / f"run-{k}" for k in range(len(facts["runs"]))]
            if facts["runs"] != [_fingerprint(run) for run in runs]:
                return 0, None, []
            total = Moments.load(path)
        except (FileNotFoundError, KeyError, ValueError, TypeError):
            return 0, None, []  # counted again, from the tokens
        stated = (total.vocabulary, len(total.folds), total.edits)
        return (done, total, runs) if stated == (vocabulary, folds, "") and done <= n_batches else (0, None, [])

    def end(self, error: Exception) -> None:
        """After an error, keep the checkpoints only if the same command may succeed later.

        An error in the input or the settings will repeat until they change, and then the plan changes, too. After a
        full disk or too little memory, the same command may succeed.
        """
        if isinstance(error, FileError):
            return
        with suppress(OSError):  # the error itself is what the user must see
            if isinstance(error, ValueError | TypeError | OverflowError) or not (self.path / READ).is_file():
                self.remove()
                return
            (self.path / FAILED).write_text(f"{error}\n", encoding="utf-8")

    def remove(self) -> None:
        """Delete the folder. It is renamed first, so that a half-deleted folder is never mistaken for a whole one."""
        renamed = temporary_name(self.path.parent)
        self.path.replace(renamed)
        shutil.rmtree(renamed, ignore_errors=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from counting in the folder; no protection where files cannot be locked (Windows)."""
        if self.path.exists() and not self.path.is_dir():
            raise FileExistsError(
                f"{self.path} is a file, but checkpoints need a folder of that name: rename the file"
            )
        self.path.mkdir(exist_ok=True)
        try:
            import fcntl  # noqa: PLC0415
        except ImportError:
            yield
            return
        with (self.path / LOCK).open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ValueError(
                    f"another count is at work in {self.path}: wait for it, or write to another file"
                ) from None
            yield

    def _planned(self) -> dict[str, Any]:
        """The plan of the count in this folder."""
        try:
            plan = parse_json((self.path / PLAN).read_bytes())
        except (FileNotFoundError, ValueError) as error:
            raise DamagedFolderError(self.path, reason(error)) from None
        return plan if isinstance(plan, dict) else {}

    def _restore(self, store: TokenStore, plan: Any) -> bool:
        """Restore the state of reading at the last checkpoint; whether all text was read."""
        facts, arrays = read_arrays(self.path / READ, READ_KIND, FORMAT)
        if string(facts["plan"], "the checksum of the plan") != _digest(plan):
            raise ValueError("what was read belongs to another count")
        if type(facts["complete"]) is not bool:
            raise ValueError("it does not say whether all was read")
        for number in range(min(stated_number(facts["lexicons"], "the number of lexicons"), len(arrays))):
            parts = {name: arrays[f"{number}.{name}"] for name in ("pool", "starts", "hashes", "counts")}
            store.lexicons.append(Lexicon.restored(store.cleaning, parts))
        store.restore_index(arrays["index"])
        store.log = SourceLog.from_facts(mapping(facts["sources"], "the sources"))
        if store.n_documents != facts["documents"]:
            raise ValueError("the number of documents does not match")
        return bool(facts["complete"])


def _digest(plan: Any) -> str:
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()


def _fingerprint(path: Path) -> str:
    """The first bytes of a file of `write_arrays`: they contain the checksum of its header, and so of all arrays."""
    with path.open("rb") as file:
        return file.read(PREAMBLE.size).hex()
