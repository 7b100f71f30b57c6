"""A file or folder at a URL, with the methods of `pathlib.Path` that fdmix uses.

`str(path)` is safe to show and to store: user, password and signature are left out. Only this class knows the whole
URL. fsspec and its packages find the credentials, as their documentation says; fdmix never sees them.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from fdmix.storage.remote_errors import RemoteError, explaining, missing_package
from fdmix.storage.remote_reading import opened_blocks, opened_web_stream, patiently, serves_ranges
from fdmix.storage.urls import WEB, redacted, split_query, without_secrets

CONNECT_SECONDS, STALL_SECONDS = (
    30,
    60,
)  # after which a silent web server is given up; fsspec's settings override them
WHOLE_ON_CLOSE = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "hf")  # an upload is seen when it is complete
NO_LISTING_CACHE = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az")  # others may have written since the last look
WITHOUT_TEST_FILE = ("hf",)  # each file is a commit there
WRITE_TEST = ".0000000000000000.fdmix-tmp"  # one name, so that no more than one is left where files cannot be deleted
VERSIONS = ("ETag", "etag", "generation", "LastModified", "last_modified", "Last-Modified", "mtime")
WILDCARDS = "*?["


@dataclass(frozen=True)
class RemoteStat:
    """What is known of a remote file before it is read: its bytes, and a mark of its present state."""

    st_size: int
    version: str


class RemotePath:
    """The file or folder at a URL."""

    def __init__(self, url: str, found: dict[str, Any] | None = None) -> None:
        scheme, _, rest = url.partition("://")
        self.scheme = scheme.lower()
        self.url = f"{self.scheme}://{rest if self.scheme in WEB else rest.rstrip('/')}"
        self._found = found

    def __str__(self) -> str:
        return without_secrets(self.url)

    def __repr__(self) -> str:
        return f"RemotePath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and self.url == other.url

    def __hash__(self) -> int:
        return hash(self.url)

    def __lt__(self, other: RemotePath) -> bool:
        return self.url < other.url

    def __fspath__(self) -> str:
        raise ValueError(f"{self} is a URL, and this needs a file on this machine: download it first")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(Path, name):  # what a Path could do
            self.__fspath__()
        raise AttributeError(name)

    @property
    def _plain(self) -> PurePosixPath:
        """Host or bucket and path, without the query."""
        return PurePosixPath(split_query(self.url.partition("://")[2], self.scheme)[0])

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._plain.name if "/" in str(self._plain) else ""

    @property
    def suffix(self) -> str:
        """The end of the name from the last dot on."""
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> RemotePath:
        """The folder that holds it."""
        return RemotePath(f"{self.scheme}://{self._plain.parent}")

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(f"{self.url.rstrip('/')}/{name}")

    def with_name(self, name: str) -> RemotePath:
        """Another file in the same folder."""
        return self.parent / name

    def with_suffix(self, suffix: str) -> RemotePath:
        """The same name with another ending."""
        return self.with_name(PurePosixPath(self.name).with_suffix(suffix).name)

    def resolve(self) -> RemotePath:
        """The same: a URL is absolute."""
        return self

    def samefile(self, other: Any) -> bool:
        """Whether both are the same URL."""
        return self == other

    def exists(self) -> bool:
        """Whether there is a file or folder."""
        return self._kind() is not None

    def is_file(self) -> bool:
        """Whether there is a file."""
        return self._kind() == "file"

    def is_dir(self) -> bool:
        """Whether there is a folder: something lies below it."""
        return self._kind() == "directory"

    def stat(self) -> RemoteStat:
        """Size and state; asked once, so that a file is judged by what it was when it was found."""
        if self._found is None:
            self._found = self._asked()
        size = self._found.get("size")
        version = next((str(self._found[name]) for name in VERSIONS if self._found.get(name) is not None), "")
        return RemoteStat(0 if size is None else int(size), version)

    def open(self, mode: str = "rb") -> io.BufferedReader:
        """The bytes of the file, streamed; a file of an object store can seek."""
        if mode != "rb":
            raise ValueError(f"{self} is opened for reading only")
        fs, path = self._place
        if self.scheme in WEB:
            return opened_web_stream(fs, self.url)
        return opened_blocks(fs, path, self.url, repeated=False)

    def open_with_seek(self) -> io.BufferedReader | None:
        """The same with random access, None where the server sends whole files only."""
        fs, path = self._place
        if self.scheme in WEB and not (self.stat().st_size and serves_ranges(fs, self.url)):
            return None
        return opened_blocks(fs, path, self.url, repeated=self.scheme in WEB)

    def read_bytes(self) -> bytes:
        """The whole content of a small file."""
        with self.open() as file:
            return file.read()

    def iterdir(self) -> Iterator[RemotePath]:
        """What lies in the folder."""
        with explaining(self.url):
            listed = self._place[0].ls(self._place[1], detail=True)
        own = self._place[1].rstrip("/")
        yield from sorted(self._below(item) for item in listed if item["name"].rstrip("/") != own)

    def rglob(self, pattern: str) -> Iterator[RemotePath]:
        """All files below the folder."""
        if pattern != "*":
            raise ValueError("only '*' lists the files of a remote folder")
        with explaining(self.url):
            listed = self._place[0].find(self._place[1], detail=True)
        yield from sorted(self._below(item) for item in listed.values())

    def relative_to(self, folder: RemotePath) -> PurePosixPath:
        """The path below a folder."""
        return self._plain.relative_to(folder._plain)

    def matches(self) -> list[RemotePath]:
        """The files that the name stands for, if it has wildcards; on the web, where ? begins a query, none."""
        if self.scheme in WEB or not any(mark in self.url for mark in WILDCARDS):
            return []
        with explaining(self.url):
            found = self._place[0].glob(self._place[1], detail=True)
        return sorted(self._below(item) for item in found.values() if item["type"] == "file")

    def upload(self, local: Path) -> None:
        """Replace the file by a local one. Others see the old file until the new one is complete."""
        self.refuse_web()
        fs, path = self._place
        with explaining(self.url):
            if self.scheme in WHOLE_ON_CLOSE:
                fs.put_file(str(local), path)
            else:
                fs.makedirs(fs._parent(path), exist_ok=True)
                temporary = f"{path}.fdmix-tmp"
                try:
                    fs.put_file(str(local), temporary)
                    fs.mv(temporary, path)
                except BaseException:
                    with suppress(Exception):
                        fs.rm_file(temporary)
                    raise
            self._found = None
            size = fs.info(path)["size"]
        if size != local.stat().st_size:
            raise RemoteError(f"{self} was not written: it has {size:,} bytes instead of {local.stat().st_size:,}")

    def unlink(self, missing_ok: bool = False) -> None:
        """Delete the file."""
        self._found = None
        if missing_ok and not self.exists():
            return
        with explaining(self.url):
            self._place[0].rm_file(self._place[1])

    def require_writable(self) -> None:
        """Raise an error if no file can be written into this folder; tries it with an empty file."""
        self.refuse_web()
        if self.scheme in WITHOUT_TEST_FILE:
            return
        test = self / WRITE_TEST
        try:
            test.write_nothing()
        except FileNotFoundError:
            raise FileNotFoundError(f"nothing can be written into {self}: there is no such place") from None
        with suppress(Exception):  # who may write may not always delete
            test.unlink()

    def write_nothing(self) -> None:
        """Write an empty file."""
        fs, path = self._place
        with explaining(self.url):
            fs.pipe_file(path, b"")

    def replace(self, target: RemotePath) -> None:
        """Copy the file over another one, which is complete at every moment, and delete it."""
        with explaining(self.url):
            self._place[0].copy(self._place[1], target._place[1])
        self.unlink()

    def refuse_web(self) -> None:
        """Raise a ValueError for web servers: there is no common way to write to them."""
        if self.scheme in WEB:
            raise ValueError(
                f"{self}: results cannot be written to a web server; give a local file or s3://, gs://, abfs://"
            )

    @cached_property
    def _place(self) -> tuple[Any, str]:
        """(file system of fsspec, path in it)."""
        try:
            import fsspec  # noqa: PLC0415  (an extra)
        except ImportError:
            raise missing_package(self.url) from None
        options: dict[str, Any] = {}
        try:
            if self.scheme in WEB:
                options = _web_options(fsspec.config.conf)
            elif self.scheme in NO_LISTING_CACHE:
                options = {"use_listings_cache": False}
            fs, path = fsspec.url_to_fs(self.url, **options)
        except ImportError:
            raise missing_package(self.url) from None
        except ValueError as error:
            raise ValueError(f"{self}: {redacted(str(error), self.url)}") from None
        return fs, str(path)

    def _asked(self) -> dict[str, Any]:
        """What the server says of the file or folder."""
        fs, path = self._place
        with explaining(self.url):
            return dict(patiently(lambda: fs.info(path), self.url, repeated=self.scheme in WEB))

    def _kind(self) -> str | None:
        """ "file", "directory", or None if there is nothing."""
        try:
            return str((self._found or self._asked())["type"])
        except FileNotFoundError:
            return None

    def _below(self, item: dict[str, Any]) -> RemotePath:
        """A file or folder that a listing has found."""
        return RemotePath(self._place[0].unstrip_protocol(item["name"]), item)


def _web_options(settings: Any) -> dict[str, Any]:
    """Time-outs, unless fsspec's settings have some: by default, a stream of more than five minutes would fail."""
    if any("client_kwargs" in settings.get(scheme, {}) for scheme in WEB):
        return {}
    import aiohttp  # noqa: PLC0415  (an extra)

    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=STALL_SECONDS)
    return {"client_kwargs": {"timeout": timeout}}
