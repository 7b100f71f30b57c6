"""A real HTTP server on this machine that answers chats as a test tells it to."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


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

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
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

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_):
            pass  # clients that give up break their connections

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    chat.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        chat.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
