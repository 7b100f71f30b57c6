"""Errors of remote storage in the user's words: they name the URL and hold no password and no signature."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from fdmix.storage.urls import redacted, scheme_of, without_secrets

NOT_FOUND = (404, 410)  # answers of a web server
DENIED = (401, 403)
PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "http": "aiohttp", "https": "aiohttp",
    "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs", "hf": "huggingface_hub",
}  # fmt: skip
ERROR_NUMBER = re.compile(r"^\[Errno \d+\] ")
IN_EXTRA = ("fsspec", "s3fs", "aiohttp")


class RemoteError(OSError):
    """A file cannot be read from or written to its URL: no answer, an error of the server, or a file cut short."""

    def __init__(self, message: str) -> None:
        super().__init__(errno.EIO, message)  # a number tells it from a damaged file
        self.message = message

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:
        return type(self), (self.message,)


@contextmanager
def explaining(url: str) -> Iterator[None]:
    """Turn the errors that a library raises for this URL into ours."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise_alone(explained(error, url))


def raise_alone(error: Exception) -> NoReturn:
    """Raise an error without the library's own, which may hold secrets and which cannot always be pickled.

    `from None` would only hide it: clusters send an error with all that it came from.
    """
    try:
        raise error from None
    finally:
        error.__context__ = None


def explained(error: Exception, url: str) -> Exception:
    """The error to raise in the place of a library's."""
    if isinstance(error, RemoteError):
        return error
    shown = without_secrets(url)
    status = _status(error)
    if status in NOT_FOUND or (status is None and _is_missing(error)):
        return FileNotFoundError(f"there is no file {shown}")
    if status in DENIED or isinstance(error, PermissionError):
        return PermissionError(f"access to {shown} is denied: {_words(error, url)}")
    if isinstance(error, ImportError):
        return missing_package(url)
    if _is_timeout(error):
        return RemoteError(f"{shown}: the server stopped answering")
    return RemoteError(f"{shown} cannot be used: {_words(error, url)}")


def missing_package(url: str) -> ImportError:
    """The error that says what to install."""
    scheme = scheme_of(url)
    package = PACKAGES.get(scheme, "fsspec")
    command = "pip install 'fdmix[cloud]'" if package in IN_EXTRA else f"pip install 'fdmix[cloud]' {package}"
    return ImportError(f"{without_secrets(url)}: files at {scheme}:// need the package {package}: {command}")


def is_passing(error: Exception) -> bool:
    """Whether the same request may succeed a moment later."""
    status = _status(error)
    if status is not None:
        return status >= 500 or status in (408, 429)
    return not (_is_missing(error) or isinstance(error, RemoteError | PermissionError | ImportError | ValueError))


def _is_missing(error: Exception) -> bool:
    """Whether there is no such file. fsspec says so of a web server that cannot be reached, too, with the cause."""
    unreachable = isinstance(error.__cause__, OSError) or type(error.__cause__).__module__.startswith("aiohttp")
    return isinstance(error, FileNotFoundError | IsADirectoryError) and not unreachable


def _status(error: BaseException) -> int | None:
    """The answer of a web server that an error tells of, or the error that it was raised from."""
    cause: BaseException | None = error
    while cause is not None:
        status = getattr(cause, "status", None)
        if isinstance(status, int):
            return status
        cause = cause.__cause__
    return None


def _is_timeout(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, TimeoutError) or "Timeout" in type(cause).__name__:
            return True
        cause = cause.__cause__
    return False


def _words(error: BaseException, url: str) -> str:
    """What the library says, without secrets: the answer of the server, or the first line of the message."""
    status = _status(error)
    if status is not None:
        return f"the server answered {status}"
    cause = error.__cause__ if isinstance(error, FileNotFoundError) and error.__cause__ is not None else error
    lines = ERROR_NUMBER.sub("", str(cause).strip()).splitlines()
    return redacted(lines[0] if lines else type(cause).__name__, url)
