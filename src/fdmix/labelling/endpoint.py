"""A server that completes chats in OpenAI's format, asked over HTTP by the standard library alone."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import SplitResult, urlsplit

from fdmix.display import for_terminal

PATH = "/chat/completions"
MAX_ANSWER_BYTES = 1 << 20
MAX_WAIT_SECONDS = 120.0  # that a server may ask for; if it wants more, the run ends and can be resumed
MAX_TOLD_CHARACTERS = 200  # of a server's own words in an error
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


class EndpointError(OSError):
    """The server cannot be asked: it is not there, refuses, stalls, or speaks another language."""


class AnswerError(ValueError):
    """The server answered one question in a way that holds no label."""


class _BusyError(EndpointError):
    """The server may answer later; `wait` is how many seconds it asks for, if it says."""

    def __init__(self, text: str, wait: float | None = None) -> None:
        super().__init__(text)
        self.wait = wait


@dataclass(frozen=True)
class Endpoint:
    """A server and the model to ask there.

    url : with or without /chat/completions, such as "http://localhost:11434/v1"
    model : the server's name of the model
    key : sent as "Authorization: Bearer ..." to this server and to no other; never shown
    timeout : seconds for a whole answer, however slowly it arrives
    retries : how often a question is asked again if the server is busy (429), fails (5xx) or is gone meanwhile
    sleep : how to wait between tries

    >>> Endpoint("http://localhost:8000/v1/", "small").address
    'http://localhost:8000/v1/chat/completions'
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: int = 4
    sleep: Callable[[float], Any] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        parts = _split(self.url)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{self.url!r} is not the address of a server: give one like http://localhost:8000/v1")
        if parts.username or parts.password:
            raise ValueError("leave the password out of the address: a key comes from the environment")
        if parts.query or parts.fragment:
            raise ValueError("give the address of the server without ? and #")
        if not self.model:
            raise ValueError("give the name of the model to ask: --model NAME, or model=")
        if not self.timeout > 0:
            raise ValueError(f"the timeout must be a positive number of seconds, not {self.timeout!r}")
        if self.key is not None and (not self.key.isascii() or not self.key.isprintable()):
            raise ValueError("the key holds characters that no key has: is it copied completely?")

    @property
    def address(self) -> str:
        """The address that questions go to."""
        base = self.url.rstrip("/")
        return base if base.endswith(PATH) else base + PATH

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        return urlsplit(self.url).hostname in LOCAL_HOSTS

    def ask(self, messages: list[dict[str, str]]) -> str:
        """The text of the answer to a chat; tries again while the server is busy."""
        for tried in range(self.retries + 1):
            try:
                return _text_of(self._post({"model": self.model, "messages": messages, "stream": False}))
            except _BusyError as busy:
                wait = 2.0**tried if busy.wait is None else busy.wait
                if tried == self.retries or wait > MAX_WAIT_SECONDS:
                    asked = "" if busy.wait is None else f", and asks to wait {busy.wait:.0f} s"
                    raise EndpointError(f"{busy}{asked} (tried {tried + 1} times): try again later") from None
                self.sleep(wait)
        raise AssertionError("the loop returns or raises")

    def _post(self, content: Any) -> bytes:
        """The body of the answer; every failure is an EndpointError in words."""
        try:
            status, headers, body = self._exchange(json.dumps(content).encode())
        except TimeoutError:
            raise _BusyError(f"{self.address} did not answer within {self.timeout:g} s") from None
        except ssl.SSLError as error:
            raise EndpointError(f"no secure connection to {self.address}: {error.reason or error}") from None
        except (ConnectionError, http.client.HTTPException) as error:
            if isinstance(error, ConnectionRefusedError):
                raise EndpointError(f"no server listens at {self.address}: is it running?") from None
            raise _BusyError(f"{self.address} broke off the connection") from None
        except socket.gaierror:
            raise EndpointError(f"there is no host {urlsplit(self.url).hostname}: check the address") from None
        except OSError as error:
            raise EndpointError(f"{self.address} cannot be reached: {error.strerror or error}") from None
        if status != http.client.OK:
            raise self._refusal(status, headers, body)
        return body

    def _exchange(self, body: bytes) -> tuple[int, Any, bytes]:
        """(status, headers, body) of one request, which a timer ends when the time is over."""
        parts = urlsplit(self.address)
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.timeout)
        late = threading.Event()
        sockets: list[Any] = []  # the connection forgets its socket when a server closes it after the answer

        def end() -> None:
            late.set()
            for each in sockets:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(self.timeout, end)
        timer.daemon = True
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "fdmix"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            timer.start()
            connection.connect()
            sockets.append(connection.sock)
            connection.request("POST", parts.path, body, headers)
            with closing(connection.getresponse()) as answer:
                content = answer.read(MAX_ANSWER_BYTES)
            if late.is_set():
                raise TimeoutError
            return answer.status, answer.headers, content
        except (OSError, http.client.HTTPException, ValueError):
            if late.is_set():
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()
            connection.close()

    def _refusal(self, status: int, headers: Any, body: bytes) -> EndpointError:
        """Why the server did not answer, in words, with its own words behind."""
        said = self._told(body)
        if status in (401, 403):
            advice = "it refused the key" if self.key else "it wants a key: set FDMIX_API_KEY"
            return EndpointError(f"{self.address} is not open to you ({status}), {advice}{said}")
        if status == 404:
            return EndpointError(
                f"{self.address} is not there (404): the address often ends in /v1, and the server must know the "
                f"model {self.model!r}{said}"
            )
        if 300 <= status < 400:
            place = for_terminal(str(headers.get("Location", "another address")))[:MAX_TOLD_CHARACTERS]
            return EndpointError(
                f"{self.address} redirects to {place}, where nothing is sent: give that address if you trust it"
            )
        if status == 429 or status >= 500:
            return _BusyError(
                f"{self.address} is busy or failing ({status}){said}", _seconds(headers.get("Retry-After"))
            )
        return EndpointError(f"{self.address} refused the question ({status}){said}")

    def _told(self, body: bytes) -> str:
        """What the server says about an error, safe to show and without the key."""
        text = body.decode("utf-8", "replace")
        try:
            found = json.loads(text)
            error = found.get("error", found) if isinstance(found, dict) else found
            text = str(error.get("message", error) if isinstance(error, dict) else error)
        except ValueError:
            text = "" if "<" in text[:200] else text  # a page for browsers says nothing here
        if self.key:
            text = text.replace(self.key, "***")
        text = for_terminal(" ".join(text.split()))[:MAX_TOLD_CHARACTERS]
        return f". It says: {text}" if text else ""


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises an error if it is not a number
    except ValueError:
        return None
    return parts


def _text_of(body: bytes) -> str:
    """The text of a chat completion."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise EndpointError("the server's answer is not JSON: is this the address of a chat server?") from None
    try:
        content = found["choices"][0]["message"]["content"]
        if isinstance(content, list):
            content = "".join(part["text"] for part in content if part.get("type") == "text")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise EndpointError(
            "the server's answer is not a chat completion: does the server speak OpenAI's format?"
        ) from None
    if not isinstance(content, str) or not content.strip():
        raise AnswerError("the answer is empty")
    return content


def _seconds(stated: str | None) -> float | None:
    """The seconds of a Retry-After header: a number, or a date."""
    if stated is None:
        return None
    try:
        return max(0.0, float(stated))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(stated).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
