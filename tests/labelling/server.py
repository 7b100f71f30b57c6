"""A real HTTP server on this machine that answers chats as a test tells it to."""

import json
import threading
from contextlib import contextmanager

from local_server import QuietHandler
from local_server import serving as serving_requests


class Chat:
    """What the server was asked, and what it answers: a function from the number of the request to an answer.

    An answer is the text of a completion, or (status, headers, body), or a function that gets the handler.
    """

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.url = ""
        self.released = threading.Event()

    @property
    def asked(self):
        """The text of each question."""
        return [body["messages"][-1]["content"] for _, _, body in self.requests]


def completion(text):
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


@contextmanager
def serving(answer):
    """`with serving(lambda number: "label") as chat`: a server at chat.url."""
    chat = Chat(answer)

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.0"

        def do_POST(self):  # noqa: N802
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            chat.requests.append((self.path, dict(self.headers), body))
            given = chat.answer(len(chat.requests) - 1)
            if callable(given):
                given(self)
                return
            status, headers, content = (200, {}, completion(given)) if isinstance(given, str) else given
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with serving_requests(Handler) as url:
        chat.url = f"{url}/v1"
        try:
            yield chat
        finally:
            chat.released.set()
