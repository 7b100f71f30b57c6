"""Read a file at a URL: as a stream, or with random access; a file that is cut short is an error, never an end.

fsspec and its packages do the transfer, and retry for object stores. For the web they do not: here a request that
fails, stalls or is cut off is repeated from the byte that is missing.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

from fdmix.storage.remote_errors import RemoteError, explained, explaining, is_passing, raise_alone
from fdmix.storage.urls import without_secrets

BLOCK_BYTES = 8 << 20  # of a request to an object store: large enough that latency does not matter
BUFFER_BYTES = 1 << 20
WAITS = (0.5, 1.0, 2.0)  # seconds before each repetition of a request to a web server
AS_IT_IS = {"Accept-Encoding": "identity"}  # bytes on the wire are bytes of the file, so that they can be counted


def opened_blocks(fs: Any, path: str, url: str, repeated: bool) -> io.BufferedReader:
    """The file, read in blocks by requests for ranges; it can seek.

    repeated : whether failed requests are repeated here, because the library does not
    """
    with explaining(url):
        file = patiently(lambda: fs.open(path, "rb", block_size=BLOCK_BYTES), url, repeated)
        size = getattr(file, "size", None)  # not every file system gives its files this attribute
        size = int(size if isinstance(size, int) else fs.info(path)["size"])
    return io.BufferedReader(_Blocks(file, url, repeated, size), BUFFER_BYTES)


def opened_web_stream(fs: Any, url: str) -> io.BufferedReader:
    """The file as the answer to one request to a web server; it cannot seek."""
    return io.BufferedReader(_WebStream(fs, url), BUFFER_BYTES)


def serves_ranges(fs: Any, url: str) -> bool:
    """Whether a web server can send a part of the file."""

    def first_byte() -> bool:
        answer = fs.open(url, "rb", block_size=0, headers=AS_IT_IS | {"Range": "bytes=0-0"})
        try:
            return bool(answer.r.status == 206)
        finally:
            answer.close()

    try:
        return patiently(first_byte, url)
    except RemoteError:
        return False


def patiently(request: Callable[[], Any], url: str, repeated: bool = True) -> Any:
    """The result of a request, repeated after failures that may pass."""
    for wait in (*WAITS, None) if repeated else (None,):
        try:
            return request()
        except Exception as error:
            if wait is None or not is_passing(error):
                raise_alone(explained(error, url))
        time.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


class _Blocks(io.RawIOBase):
    """A file of fsspec whose end is checked against its size."""

    def __init__(self, file: Any, url: str, repeated: bool, size: int) -> None:
        self.file, self.url, self.repeated, self.size = file, url, repeated, size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        position = self.file.tell()
        wanted = min(len(buffer), self.size - position)
        if wanted <= 0:
            return 0
        piece = patiently(lambda: self.file.read(wanted), self.url, self.repeated)
        if not piece:
            raise _cut_short(self.url, position, self.size)
        buffer[: len(piece)] = piece
        return len(piece)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self.file.seek(offset, whence)  # which gives nothing back for files of SFTP
        return int(self.file.tell())

    def tell(self) -> int:
        return int(self.file.tell())

    def close(self) -> None:
        if not self.closed:
            self.file.close()
        super().close()


class _WebStream(io.RawIOBase):
    """The bytes of one answer of a web server; after a failure, another request asks for the rest."""

    def __init__(self, fs: Any, url: str) -> None:
        self.fs, self.url, self.position = fs, url, 0
        self.size: int | None = None
        self.version = ""  # what the server calls this state of the file
        self.answer: Any = None
        patiently(self._connect, url)

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.position

    def readinto(self, buffer: Any, /) -> int:
        piece = patiently(lambda: self._piece(len(buffer)), self.url)
        if not piece and self.size is not None and self.position < self.size:
            raise _cut_short(self.url, self.position, self.size)
        buffer[: len(piece)] = piece
        self.position += len(piece)
        return len(piece)

    def close(self) -> None:
        self._disconnect()
        super().close()

    def _piece(self, wanted: int) -> bytes:
        if self.answer is None:
            self._connect()
        try:
            return bytes(self.answer.read(wanted))
        except Exception:
            self._disconnect()
            raise

    def _connect(self) -> None:
        """Ask for the file, from the byte that is missing."""
        rest = {"Range": f"bytes={self.position}-"} if self.position else {}
        answer = self.fs.open(self.url, "rb", block_size=0, headers=AS_IT_IS | rest)
        try:
            self._check(answer.r)
            if self.position and answer.r.status != 206:
                self._skip(answer)
        except BaseException:
            answer.close()
            raise
        self.answer = answer

    def _disconnect(self) -> None:
        if self.answer is not None:
            self.answer.close()
            self.answer = None

    def _check(self, response: Any) -> None:
        """Refuse an answer whose end cannot be told, and one that is of another state of the file."""
        said = response.headers
        version = said.get("ETag") or said.get("Last-Modified") or ""
        if self.position and version != self.version:
            raise RemoteError(f"{without_secrets(self.url)} has changed while it was read: read it again")
        self.version = version
        if "Content-Length" in said and response.status != 206 and not said.get("Content-Encoding"):
            self.size = int(said["Content-Length"])
        elif "Content-Length" not in said and "chunked" not in said.get("Transfer-Encoding", "").lower():
            raise RemoteError(
                f"{without_secrets(self.url)}: the server does not say where the file ends, so that a file cut short "
                "could not be noticed: download it and read the copy"
            )

    def _skip(self, answer: Any) -> None:
        """Read again what is known already, from a server that sends whole files only."""
        left = self.position
        while left:
            piece = answer.read(min(left, BUFFER_BYTES))
            if not piece:
                raise _cut_short(self.url, self.position - left, self.position)
            left -= len(piece)


def _cut_short(url: str, got: int, size: int) -> RemoteError:
    return RemoteError(f"{without_secrets(url)} is cut short: it ends after {got:,} of {size:,} bytes")
