"""The folder `name.partial` of a count that is not finished: everything in it is checked before a count goes on.

plan.json     what is counted, from which files; only a count with the same plan may go on
tokens, lengths   all tokens read, as numbers, and the number of tokens of each document (raw int32, see `Spool`)
read          the state of reading at the last checkpoint: the lexicons and, for each batch, sizes and a checksum
counted-N     the moments of the first N batches
counting      which of the files `counted-N` is valid, and for which `read`
failed        there if the count ended with an error
lock          held by the process that is at work

`read`, `counted-N` and `counting` are files of `write_arrays` and have checksums of their own. `read` holds those of
the tokens and of the plan, `counting` those of `read` and `counted-N`; so files of two counts are never mixed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fdmix.corpus.preparation import Cleaning
from fdmix.moments.ledger import SourceLog
from fdmix.moments.moments import Moments
from fdmix.storage.arrays import PREAMBLE, FileError, read_arrays, replacing, write_arrays
from fdmix.storage.facts import mapping, parse_json, reason, stated_number, string
from fdmix.storage.temporaries import temporary_name
from fdmix.text.lexicon import Lexicon
from fdmix.text.token_store import LENGTHS, TOKENS, DamagedFolderError, Spool

PLAN, READ, COUNTING, FAILED, LOCK = "plan.json", "read", "counting", "failed", "lock"
READ_KIND, COUNTING_KIND, FORMAT = "tokens read so far", "a count so far", 2
DIFFERENCES = {"fdmix": "of another version of fdmix", "files": "of other files, or files that have changed since"}


class PartialFolder:
    """What is done of one count so far."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def has(self, plan: Any) -> bool:
        """Whether a count with this plan can go on from here."""
        with suppress(FileError):
            return (self.path / READ).is_file() and self._planned() == plan
        return False

    def has_failed(self) -> bool:
        """Whether the count ended with an error, so that nothing is lost when another one takes its place."""
        return (self.path / FAILED).is_file()

    def begin(self, plan: Any) -> None:
        """Get ready to go on, or to begin anew where nothing worth keeping is left."""
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
        for name in (READ, COUNTING, FAILED, TOKENS, LENGTHS):
            (self.path / name).unlink(missing_ok=True)
        with replacing(self.path / PLAN) as file:
            file.write(json.dumps(plan, indent=1).encode())

    def spool(self, cleaning: Cleaning, plan: Any) -> tuple[Spool, bool]:
        """(the tokens read so far, whether that is all of them)."""
        spool = Spool.in_file(cleaning, self.path)
        complete = False
        try:
            if (self.path / READ).is_file():
                complete = self._restore(spool, plan)
            spool.cut()  # what was written after the checkpoint is read again
            for _ in spool:  # checks each batch
                pass
        except DamagedFolderError:
            raise
        except (FileNotFoundError, KeyError, ValueError) as error:
            raise DamagedFolderError(self.path, reason(error)) from None
        return spool, complete

    def save_reading(self, spool: Spool, plan: Any, complete: bool) -> None:
        """A checkpoint while text is read."""
        spool.sync()
        arrays: dict[str, Any] = {"index": spool.indexed()}
        for number, lexicon in enumerate(spool.lexicons):
            arrays |= {f"{number}.{name}": array for name, array in lexicon.arrays().items()}
        facts = {
            "complete": complete,
            "documents": spool.n_documents,
            "lexicons": len(spool.lexicons),
            "sources": spool.log.facts(),
            "plan": _digest(plan),
        }
        write_arrays(self.path / READ, READ_KIND, FORMAT, facts, arrays)

    def save_counting(self, n_batches: int, total: Moments) -> None:
        """A checkpoint while pairs are counted. The old one stays until the new one is complete."""
        counted = self.path / f"counted-{n_batches}"
        total.save(counted)
        facts = {"batches": n_batches, "counted": _fingerprint(counted), "read": _fingerprint(self.path / READ)}
        write_arrays(self.path / COUNTING, COUNTING_KIND, FORMAT, facts, {})
        for path in self.path.glob("counted-*"):
            if path != counted:
                path.unlink()

    def counted(self, vocabulary: tuple[str, ...], folds: int, n_batches: int) -> tuple[int, Moments | None]:
        """(number of batches counted, their moments); (0, None) if there are none that can be relied on."""
        try:
            facts, _ = read_arrays(self.path / COUNTING, COUNTING_KIND, FORMAT)
            done = stated_number(facts["batches"], "the number of batches", least=1)
            path = self.path / f"counted-{done}"
            if (facts["counted"], facts["read"]) != (_fingerprint(path), _fingerprint(self.path / READ)):
                return 0, None
            total = Moments.load(path)
        except (FileNotFoundError, KeyError, ValueError):
            return 0, None  # counted again, from the tokens
        fits = total.vocabulary == vocabulary and len(total.folds) == folds and done <= n_batches
        return (done, total) if fits else (0, None)

    def end(self, error: Exception) -> None:
        """After an error: remove what no command can use; keep what the same command may finish later.

        An error of the input or the settings comes again unless they change, and then the plan is another one. A full
        disk or too little memory may be over the next time.
        """
        if isinstance(error, FileError):
            return
        with suppress(OSError):  # the error itself is what the user must see
            if isinstance(error, ValueError | TypeError | OverflowError) or not (self.path / READ).is_file():
                self.remove()
                return
            (self.path / FAILED).write_text(f"{error}\n", encoding="utf-8")

    def remove(self) -> None:
        """At once, under another name first: half a folder must never be taken for a whole one."""
        gone = temporary_name(self.path.parent)
        self.path.replace(gone)
        shutil.rmtree(gone, ignore_errors=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other counts out of the folder; where files cannot be locked (Windows), trust the user."""
        if self.path.exists() and not self.path.is_dir():
            raise FileExistsError(f"{self.path} is a file, and what is done so far would be kept there: rename it")
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
        """The plan that was left here."""
        try:
            plan = parse_json((self.path / PLAN).read_bytes())
        except (FileNotFoundError, ValueError) as error:
            raise DamagedFolderError(self.path, reason(error)) from None
        return plan if isinstance(plan, dict) else {}

    def _restore(self, spool: Spool, plan: Any) -> bool:
        facts, arrays = read_arrays(self.path / READ, READ_KIND, FORMAT)
        if string(facts["plan"], "the checksum of the plan") != _digest(plan):
            raise ValueError("what was read belongs to another count")
        if type(facts["complete"]) is not bool:
            raise ValueError("it does not say whether all was read")
        for number in range(min(stated_number(facts["lexicons"], "the number of lexicons"), len(arrays))):
            parts = {name: arrays[f"{number}.{name}"] for name in ("pool", "starts", "hashes", "counts")}
            spool.lexicons.append(Lexicon.restored(spool.cleaning, parts))
        spool.restore(arrays["index"])
        spool.log = SourceLog.from_facts(mapping(facts["sources"], "the sources"))
        if spool.n_documents != facts["documents"]:
            raise ValueError("the number of documents does not match")
        return bool(facts["complete"])


def _digest(plan: Any) -> str:
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()


def _fingerprint(path: Path) -> str:
    """The first bytes of a file of `write_arrays`: a checksum of the header, which holds those of the arrays."""
    with path.open("rb") as file:
        return file.read(PREAMBLE.size).hex()
