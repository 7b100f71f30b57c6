"""Damage files of every format, by a seed, and check what happens when they are read. See test_fuzzing.py."""

from __future__ import annotations

import bz2
import copy
import csv
import gzip
import hashlib
import io
import json
import lzma
import random
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from fdmix import Cleaning, Mixture, Moments, read_corpus, read_moments
from fdmix.cli.info import _of_model, _of_moments
from fdmix.corpus.preparation import Preparation
from fdmix.metrics import identifiability
from fdmix.storage.arrays import MAGIC, PREAMBLE, FileError
from fdmix.text import batches, reading
from fdmix.text.files import Layout
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of

ODD_VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2, 3, 1.0, 1.5, -0.0, 1e308, float("nan"), float("inf"), 2**31, 2**63, 2**64, 10**30,
    -(2**63), "", "a", "1", "\ud800", "\0", "x" * 300, [], [[]], {}, {"": {}}, [1, 2], ["a", "a"], {"a": 1}, [None],
]  # fmt: skip
ADVICE = "delete the folder and start again"
WORD = re.compile(r"[^\W\d_]{2,}")


def damaged_bytes(rng: random.Random, content: bytes) -> bytes:
    """Flip, set, cut, repeat, swap or insert something, once or several times."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        if not data:
            return b""
        a, b = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
        short = slice(a, a + rng.choice((1, 2, 4, 8, 64)))
        what = rng.randrange(9)
        if what <= 1:
            data[a] ^= 1 << rng.randrange(8)
        elif what == 2:
            data[a] = rng.choice((0, 1, 10, 13, 34, 44, 92, 127, 128, 192, 255, rng.randrange(256)))
        elif what == 3:
            del data[a:]
        elif what == 4:
            del data[short]
        elif what == 5:
            data[b:b] = data[short]
        elif what == 6:
            data[a : a + 8], data[b : b + 8] = data[b : b + 8], data[a : a + 8]
        elif what == 7:
            data[short] = bytes(rng.randrange(256) for _ in data[short])
        else:
            data[short] = bytes(len(data[short]))
    return bytes(data)


def edited(rng: random.Random, value: Any) -> Any:
    """A copy of a JSON value with one or two odd changes at random places."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 2))):
        places: list[tuple[Any, Any]] = []
        waiting = [value]
        while waiting:
            node = waiting.pop()
            keys = list(node) if isinstance(node, dict) else []
            if isinstance(node, list):
                keys = list(range(min(len(node), 20)))
            places += [(node, key) for key in keys]
            waiting += [node[key] for key in keys]
        if not places:
            return rng.choice(ODD_VALUES)
        node, key = rng.choice(places)
        what = rng.randrange(6)
        if what == 0:
            del node[key]
        elif what == 1 and isinstance(node, dict):
            node[rng.choice(("x", "", str(key) + "s"))] = node.pop(key)
        elif what == 2 and isinstance(node[key], int | float):
            node[key] += rng.choice((-1, 1, 2**31, 0.5))
        elif what == 3:
            other, place = rng.choice(places)
            with suppress(KeyError, IndexError):
                node[key] = copy.deepcopy(other[place])
        elif what == 4 and rng.random() < 0.2:
            deep: Any = []
            for _ in range(rng.choice((20, 300))):
                deep = [deep]
            node[key] = deep
        else:
            node[key] = copy.deepcopy(rng.choice(ODD_VALUES))
    return value


def refused(error: Exception, holds: str = "", end: str = "") -> str:
    """Check that an error is a sentence that contains `holds`, such as the name of the file, and ends with `end`."""
    said = str(error)
    if len(WORD.findall(said)) < 3 or holds not in said or not said.endswith(end):
        raise AssertionError(f"this is not a clear refusal: {said!r}") from error
    return "refused"


def parts_of(content: bytes) -> tuple[Any, bytes]:
    """(header, arrays) of a file of arrays."""
    _, size, _ = PREAMBLE.unpack(content[: PREAMBLE.size])
    begin = -(-(PREAMBLE.size + size) // 64) * 64
    return json.loads(content[PREAMBLE.size : PREAMBLE.size + size]), content[begin:]


def joined(header: Any, arrays: bytes) -> bytes:
    """A file of arrays with this header, even an invalid one, and with matching checksums."""
    with suppress(Exception):  # the checksums of an odd header do not matter
        for entry in header["arrays"].values():
            size = int(np.prod(entry["shape"])) * np.dtype(entry["dtype"]).itemsize
            piece = arrays[entry["offset"] : entry["offset"] + size]
            entry["sha256"] = hashlib.sha256(piece).hexdigest()
    text = json.dumps(header).encode()
    start = PREAMBLE.pack(MAGIC, len(text), hashlib.sha256(text).digest()) + text
    return start.ljust(-(-len(start) // 64) * 64, b"\0") + arrays


def forged_arrays(rng: random.Random, content: bytes) -> bytes:
    """A file of arrays with changed facts, shapes or numbers, and with matching checksums."""
    header, arrays = parts_of(content)
    what = rng.randrange(4)
    if what == 0 and arrays:
        changed = bytearray(arrays)
        for _ in range(rng.choice((1, 1, 3))):
            place = rng.randrange(len(changed) // 8) * 8
            number = rng.choice((0, 1, -1, 2**31, 2**62, -(2**63), rng.randrange(1000)))
            changed[place : place + 8] = number.to_bytes(8, "little", signed=True)
        return joined(header, bytes(changed))
    if what == 1:
        return joined(edited(rng, header), arrays)
    return joined(header | {"facts": edited(rng, header["facts"])}, arrays)


class MomentsFiles:
    """Files of moments, with folds, words, forms, and without."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "damaged.moments"
        counts = np.random.default_rng(0).integers(0, 3, (40, 8))
        stemmed = read_moments(["learning learned nets", "net learns", "nets nets"] * 3, stem="english", folds=2)
        self.bases = [Moments.of(counts, [f"wörd{u}" for u in range(8)], folds=3), Moments.of(counts), stemmed]
        self.contents = []
        for base in self.bases:
            base.save(self.path)
            self.contents.append(self.path.read_bytes())

    def case(self, seed: int) -> str:
        rng = random.Random(f"moments {seed}")
        number = rng.randrange(len(self.bases))
        base, forged = self.bases[number], rng.random() < 0.5
        self.path.write_bytes((forged_arrays if forged else damaged_bytes)(rng, self.contents[number]))
        try:
            loaded = Moments.load(self.path)
        except FileError as error:
            return refused(error, str(self.path))
        if forged:
            return self.use(loaded)
        assert loaded == base
        assert (loaded.preparation, loaded.edits) == (base.preparation, base.edits)
        return "the same"

    def use(self, moments: Moments) -> str:
        """Whatever is accepted must work, or fail with a sentence."""
        json.dumps(_of_moments(moments), ensure_ascii=False).encode()
        repr(moments)
        if moments.preparation is not None:
            " ".join(map(moments.preparation.shown, moments.vocabulary or ())).encode()
        moments.save(self.path)
        again = Moments.load(self.path)
        assert again == moments
        assert again.preparation == moments.preparation
        for work in (
            lambda: moments + moments, lambda: moments - moments, lambda: moments.matrix, lambda: moments.top(2),
            lambda: read_moments(["learning nets"], like=moments, folds=len(moments.folds), n_threads=1),
        ):  # fmt: skip
            try:
                work()
            except (ValueError, OverflowError) as error:
                refused(error)
        return "usable"


class ModelFolders:
    """Model folders."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "model"
        rng = np.random.default_rng(1)
        topics, alpha = rng.dirichlet(np.ones(6), 3), np.full((3, 3), 1 / 9)
        preparation = Preparation(Cleaning(stem="english", stop_words=("a", "b")), {"net": {"nets": 3, "net": 1}})
        words = ["net", "learn", "deep net", "wörd", "x", "y"]
        self.base = Mixture(topics, alpha, words, preparation, {"seed": 3, "moments": {"sha256": "0"}}, 2.5)
        self.base.save(self.path)
        self.contents = {path.name: path.read_bytes() for path in self.path.iterdir()}

    def case(self, seed: int) -> str:
        rng = random.Random(f"model {seed}")
        contents, forged = dict(self.contents), rng.random() < 0.5
        if forged:
            self.forge(rng, contents)
        else:
            name = rng.choice(list(contents))
            what = rng.randrange(12)
            if what == 0:
                del contents[name]
            elif what == 1:
                contents["mixture.new.safetensors"] = damaged_bytes(rng, self.contents["mixture.safetensors"])
            elif what == 2:
                contents = dict(zip(contents, reversed(contents.values()), strict=True))
            else:
                contents[name] = damaged_bytes(rng, contents[name])
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir()
        for name, content in contents.items():
            (self.path / name).write_bytes(content)
        try:
            loaded = Mixture.load(self.path)
        except FileError as error:
            return refused(error, str(self.path))
        if forged:
            return self.use(loaded)
        return self.same(loaded, self.base)

    def forge(self, rng: random.Random, contents: dict[str, bytes]) -> None:
        """Changed facts or arrays behind right checksums."""
        head = json.loads(contents["model.json"])
        arrays = contents["mixture.safetensors"]
        what = rng.randrange(4)
        if what == 0:
            tables = {name: table.copy() for name, table in load(arrays).items()}
            name = rng.choice(list(tables))
            if rng.random() < 0.5:
                odd = rng.choice((np.nan, np.inf, -1, 0, 2, 1e308, 1e-320))
                tables[name].flat[rng.randrange(tables[name].size)] = odd
            else:
                change = rng.choice((np.float16, np.int64, np.bool_, np.complex64, np.uint8, np.float32))
                tables[name] = rng.choice((tables[name].T.copy(), tables[name].ravel(), tables[name].astype(change)))
            arrays = save(tables)
        elif what == 1:
            arrays = damaged_bytes(rng, arrays)
        elif what == 2:
            head = edited(rng, head)
        else:
            head["facts"] = edited(rng, head["facts"])
        with suppress(Exception):  # the checksums of an odd head do not matter
            facts = json.dumps(head["facts"], sort_keys=True).encode()
            sums = {"facts": facts, "mixture.safetensors": arrays}
            head["sha256"] |= {name: hashlib.sha256(content).hexdigest() for name, content in sums.items()}
        contents |= {"model.json": json.dumps(head).encode(), "mixture.safetensors": arrays}

    def same(self, a: Mixture, b: Mixture) -> str:
        assert np.array_equal(a.topics, b.topics)
        assert np.array_equal(a.correlations, b.correlations)
        assert np.array_equal(a.prior, b.prior)  # also None and None
        assert (a.vocabulary, a.preparation) == (b.vocabulary, b.preparation)
        assert repr(a.provenance) == repr(b.provenance)
        return "the same"

    def use(self, model: Mixture) -> str:
        """Whatever is accepted must work, or fail with a sentence."""
        json.dumps(_of_model(model, identifiability(model)), ensure_ascii=False).encode()
        " ".join(word for words in model.top_words(9) for word in words).encode()
        model.save(self.path)
        self.same(Mixture.load(self.path), model)
        try:
            corpus = read_corpus(["deep nets learn words", ""], like=model, n_threads=1)
            assert np.isfinite(model.assign(corpus, n_threads=1)).all()
            assert np.isfinite(model.assign(corpus, "dirichlet", n_threads=1)).all()
        except ValueError as error:
            refused(error)
        return "usable"


class Interrupted(BaseException):
    """As if the process was killed."""


class ResumeFolders:
    """The folder that an interrupted count leaves, while it reads or while it counts."""

    def __init__(self, folder: Path) -> None:
        batches.in_batches.__defaults__ = (400,)  # type: ignore[attr-defined]
        reading.ENTRIES_AT_A_TIME = 60
        self.text, self.target = folder / "text.txt", folder / "out"
        words = np.random.default_rng(2).integers(0, 25, (60, 6))
        self.text.write_text("\n".join(" ".join(f"wörd{u}" for u in row) for row in words))
        self.job(every=20.0).run()
        self.whole = self.target.read_bytes()
        self.target.unlink()
        self.folder = self.job().folder
        self.bases = [self.left(phase, after) for phase, after in (("reading", 2), ("counting", 2), ("counting", 4))]

    def job(self, every: float = 0.0) -> CountInProgress:
        return CountInProgress(files_of([self.text], Layout()), Cleaning(), self.target, folds=2, every=every)

    def left(self, phase: str, after: int) -> dict[str, bytes]:
        seen: list[str] = []

        def report(name: str, *_: Any) -> None:
            seen.append(name)
            if seen.count(phase) > after:
                raise Interrupted

        try:
            self.job().run(n_threads=1, report=report)
        except Interrupted:
            contents = {path.name: path.read_bytes() for path in self.folder.iterdir()}
            shutil.rmtree(self.folder)
            return contents
        raise AssertionError("the count was not interrupted")

    def case(self, seed: int) -> str:
        rng = random.Random(f"resume {seed}")
        contents = dict(rng.choice(self.bases))
        names = [name for name in contents if name != "lock"]
        forged = rng.random() < 0.4
        name = rng.choice(names)
        if forged:
            self.forge(rng, contents)
        elif rng.random() < 0.7:
            contents[name] = damaged_bytes(rng, contents[name])
        elif rng.random() < 0.5:
            other = rng.choice(self.bases)  # of the same count at another moment
            contents |= {n: other[n] for n in rng.sample(sorted(other), rng.randrange(1, 3))}
        else:
            moved = contents.pop(name)
            if rng.random() < 0.6:
                contents[rng.choice((*names, "counted-1", "counted-3", "counted-99", "counted-x"))] = moved
        return self.resume(contents, forged)

    def forge(self, rng: random.Random, contents: dict[str, bytes]) -> None:
        """Changed facts, arrays or tokens behind right checksums."""
        counted = next((name for name in contents if name.startswith("counted-")), "read")
        what = rng.choice(("read", "read", "counting", counted, "tokens", "lengths"))
        if what in ("tokens", "lengths"):
            header, arrays = parts_of(contents["read"])
            entry = header["arrays"]["index"]
            index = np.frombuffer(arrays, np.int64, 4 * entry["shape"][0], entry["offset"]).reshape(-1, 4).copy()
            numbers = {name: np.frombuffer(contents[name], np.int32).copy() for name in ("tokens", "lengths")}
            place = rng.randrange(int(index[:, 1 if what == "tokens" else 2].sum()))
            numbers[what][place] = rng.choice((-1, 0, 1, 2, 6, 2**31 - 1, -(2**31), 10_000))
            tokens = documents = 0
            for row in index:
                digest = hashlib.blake2b(numbers["tokens"][tokens : tokens + row[1]].tobytes(), digest_size=8)
                digest.update(numbers["lengths"][documents : documents + row[2]].tobytes())
                row[3] = int.from_bytes(digest.digest(), "little", signed=True)
                tokens, documents = tokens + row[1], documents + row[2]
            changed = bytearray(arrays)
            changed[entry["offset"] : entry["offset"] + index.nbytes] = index.tobytes()
            contents |= {what: numbers[what].tobytes(), "read": joined(header, bytes(changed))}
        elif what in contents:
            contents[what] = forged_arrays(rng, contents[what])
        if "counting" in contents and what != "counting" and rng.random() < 0.7:
            header, arrays = parts_of(contents["counting"])
            start = {name: contents[name][: PREAMBLE.size].hex() for name in ("read", counted)}
            header["facts"] |= {"read": start["read"], "counted": start[counted]}
            contents["counting"] = joined(header, arrays)

    def resume(self, contents: dict[str, bytes], forged: bool) -> str:
        for path in (self.folder, self.target):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        self.folder.mkdir()
        for name, content in contents.items():
            (self.folder / name).write_bytes(content)
        try:
            self.job(every=20.0).run(n_threads=1)
        except FileError as error:
            return refused(error, str(self.folder), ADVICE)
        except ValueError as error:
            return refused(error, "left from another count", ADVICE)
        assert not self.folder.exists()
        if forged:
            Moments.load(self.target)
        same = self.target.read_bytes() == self.whole
        assert same or forged
        return "the same" if same else "usable"


class TextFiles:
    """Text files. If the damaged bytes are still valid text, any corpus is a correct result."""

    kinds: tuple[str, ...] = ()
    columns: tuple[str | None, ...] = ("text", None)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rng = random.Random(3)
        words = ["cats", "chase", "mice", "wörd", "中文", "it's", 'say "no"', "a,b", "x\ny", "@me", "http://x.org/1"]
        self.rows = [" ".join(rng.choices(words, k=rng.randrange(9))) for _ in range(40)]
        self.contents = {kind: self.content(kind) for kind in self.kinds}

    def content(self, kind: str) -> bytes:
        raise NotImplementedError

    def case(self, seed: int) -> str:
        rng = random.Random(f"{type(self).__name__} {seed}")
        kind = rng.choice(self.kinds)
        path = self.folder / f"damaged{kind}"
        path.write_bytes(damaged_bytes(rng, self.contents[kind]))
        given = {"column": rng.choice(self.columns), "split": rng.choice((None, None, "paragraphs"))}
        kept = {"id": "n"} if given["column"] and rng.random() < 0.5 else {}
        try:
            corpus = read_corpus(path, preset="plain", n_threads=1, **given, **kept)
        except ValueError as error:  # a TextError is one
            return refused(error)
        counts = corpus.counts
        assert counts.has_canonical_format
        assert (counts.data > 0).all()
        assert not counts.nnz or 0 <= counts.indices.min() <= counts.indices.max() < corpus.n_words
        " ".join(corpus.vocabulary or ()).encode()
        return "usable"


class CsvFiles(TextFiles):
    """Tables separated by commas and by tabs."""

    kinds = (".csv", ".tsv")

    def content(self, kind: str) -> bytes:
        text = io.StringIO()
        rows = csv.writer(text, delimiter="," if kind == ".csv" else "\t")
        rows.writerows([("n", "text"), *enumerate(self.rows)])
        return text.getvalue().encode()


class JsonFiles(TextFiles):
    """JSON lines, and one array."""

    kinds = (".jsonl", ".json")

    def content(self, kind: str) -> bytes:
        rows = [{"n": n, "text": text} for n, text in enumerate(self.rows)]
        if kind == ".json":
            return json.dumps(rows, indent=1).encode()
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


class ParquetFiles(TextFiles):
    """Parquet, with several compressions and encodings."""

    kinds = (".1.parquet", ".2.parquet", ".3.parquet")

    def content(self, kind: str) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        settings: dict[str, dict[str, Any]] = {
            ".1.parquet": {"compression": "snappy"},
            ".2.parquet": {"compression": "zstd", "use_dictionary": False, "row_group_size": 10},
            ".3.parquet": {"compression": "none", "write_page_checksum": True},
        }
        file = io.BytesIO()
        pq.write_table(pa.table({"n": range(len(self.rows)), "text": self.rows}), file, **settings[kind])
        return file.getvalue()


class CompressedFiles(TextFiles):
    """Compressed plain text."""

    kinds = (".txt.gz", ".txt.bz2", ".txt.xz", ".txt.zst")
    columns = (None,)

    def content(self, kind: str) -> bytes:
        import pyarrow as pa

        text = "\n".join(self.rows).encode()
        if kind == ".txt.zst":
            return pa.compress(text, "zstd", asbytes=True)
        return {".txt.gz": gzip.compress, ".txt.bz2": bz2.compress, ".txt.xz": lzma.compress}[kind](text)


FORMATS = {
    "moments": MomentsFiles, "model": ModelFolders, "resume": ResumeFolders, "csv": CsvFiles, "jsonl": JsonFiles,
    "parquet": ParquetFiles, "compressed": CompressedFiles,
}  # fmt: skip
