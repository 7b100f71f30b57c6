"""Asking a real server on this machine that answers well, slowly, wrongly and not at all."""

import json
import socket
import time
from email.utils import formatdate

import pytest
from server import completion, serving

from fdmix.labelling import AnswerError, Endpoint, EndpointError

MESSAGES = [{"role": "user", "content": "Words of the topic: tax"}]
KEY = "sk-secret-0123456789"


def asked(chat, **settings):
    waits = []
    endpoint = Endpoint(chat.url, "small", **{"timeout": 10, "sleep": waits.append} | settings)
    try:
        return endpoint.ask(MESSAGES), waits
    except (EndpointError, AnswerError) as error:
        return error, waits


def test_a_chat_completion():
    with serving(lambda _: "Taxes") as chat:
        answer, _ = asked(chat, key=KEY)
    assert answer == "Taxes"
    path, headers, body = chat.requests[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body == {"model": "small", "messages": MESSAGES, "stream": False}


def test_no_key_no_header_and_the_full_address_works():
    with serving(lambda _: "Taxes") as chat:
        assert Endpoint(f"{chat.url}/chat/completions", "small").ask(MESSAGES) == "Taxes"
    assert "Authorization" not in chat.requests[0][1]


def test_an_answer_in_parts():
    body = {"choices": [{"message": {"content": [{"type": "text", "text": "Ta"}, {"type": "text", "text": "xes"}]}}]}
    with serving(lambda _: (200, {}, json.dumps(body).encode())) as chat:
        assert asked(chat)[0] == "Taxes"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again_with_growing_waits(status):
    with serving(lambda number: (status, {}, b"") if number < 3 else "Taxes") as chat:
        answer, waits = asked(chat)
    assert answer == "Taxes"
    assert waits == [1, 2, 4]


def test_the_wait_that_a_server_asks_for():
    with serving(lambda number: (429, {"Retry-After": "7"}, b"") if number == 0 else "Taxes") as chat:
        assert asked(chat) == ("Taxes", [7])
    later = formatdate(time.time() + 30, usegmt=True)
    with serving(lambda number: (503, {"Retry-After": later}, b"") if number == 0 else "Taxes") as chat:
        answer, waits = asked(chat)
    assert answer == "Taxes"
    assert 20 < waits[0] <= 30


def test_a_wait_that_is_too_long_ends_the_run():
    with serving(lambda _: (429, {"Retry-After": "3600"}, b"")) as chat:
        error, waits = asked(chat)
    assert "asks to wait 3600 s" in str(error)
    assert not waits
    assert len(chat.requests) == 1


def test_a_server_that_stays_busy():
    with serving(lambda _: (503, {}, b"")) as chat:
        error, _ = asked(chat, retries=2)
    assert "busy or failing (503)" in str(error)
    assert "tried 3 times" in str(error)
    assert len(chat.requests) == 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, {}, json.dumps({"error": {"message": f"Incorrect key {KEY}"}}).encode()), "refused the key"),
        ((404, {}, b"<html>Not found</html>"), "often ends in /v1"),
        ((400, {}, b'{"error": {"message": "unknown field \\u001b[31m"}}'), r"unknown field \x1b[31m"),
        ((200, {}, b"<html>Hello</html>"), "is not JSON"),
        ((200, {}, b"[" * 100_000), "is not JSON"),
        ((200, {}, b'{"text": "Taxes"}'), "not a chat completion"),
        ((200, {}, b'{"choices": []}'), "not a chat completion"),
        ((200, {}, completion("  \n ")), "empty"),
        ((200, {}, completion(None)), "empty"),
    ],
)
def test_wrong_answers_are_told_in_words(answer, words):
    with serving(lambda _: answer) as chat:
        error, waits = asked(chat, key=KEY)
    assert isinstance(error, EndpointError | AnswerError)
    assert words in str(error)
    assert KEY not in str(error)
    assert not waits


def test_a_server_that_wants_a_key():
    with serving(lambda _: (401, {}, b"")) as chat:
        assert "set FDMIX_API_KEY" in str(asked(chat)[0])


def test_no_redirect_is_followed():
    """The key and the text go to the server that was named, and to no other."""
    with serving(lambda _: "stolen") as other:
        for status in (301, 302, 307, 308):
            place = {"Location": f"{other.url}/chat/completions"}
            with serving(lambda _, status=status, place=place: (status, place, b"")) as chat:
                error, _ = asked(chat, key=KEY)
            assert "redirects to" in str(error)
        assert other.requests == []


def test_no_server():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(EndpointError, match=r"no server listens at http://127.*is it running"):
        Endpoint(f"http://127.0.0.1:{port}/v1", "small").ask(MESSAGES)


def test_a_server_that_says_nothing():
    with serving(lambda _: lambda handler: chat.released.wait(20)) as chat:
        begin = time.monotonic()
        error, _ = asked(chat, timeout=0.3, retries=0)
    assert "did not answer within 0.3 s" in str(error)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("part", ["headers", "body"])
def test_a_server_that_drips(part):
    """Each byte comes in time, and the answer never does."""

    def drip(handler):
        if part == "body":
            handler.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 10000\r\n\r\n")
        else:
            handler.wfile.write(b"HTTP/1.0 200 OK\r\nX-Long: ")
        while not chat.released.wait(0.05):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    with serving(lambda _: drip) as chat:
        begin = time.monotonic()
        error, _ = asked(chat, timeout=0.4, retries=0)
        assert time.monotonic() - begin < 5
    assert "did not answer within 0.4 s" in str(error)


def test_a_broken_connection_is_tried_again():
    def break_off(handler):
        handler.connection.shutdown(socket.SHUT_RDWR)

    with serving(lambda number: break_off if number == 0 else "Taxes") as chat:
        assert asked(chat) == ("Taxes", [1])


@pytest.mark.parametrize(
    "url",
    ["localhost:8000", "ftp://host/v1", "http://", "http://host:x/v1", "http://me:pw@host/v1", "http://h/v1?a=b"],
)
def test_an_address_that_is_none(url):
    with pytest.raises(ValueError, match=r"address"):
        Endpoint(url, "small")


def test_the_key_is_not_shown():
    assert KEY not in repr(Endpoint("http://localhost/v1", "small", KEY))
