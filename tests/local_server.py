"""A real HTTP server on this machine, which the other servers of the tests are made from."""

import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that keeps connections open and prints nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *given):
        """Print an error of the handler; a client that gives up and breaks its connection is none."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*given)


@contextmanager
def serving(handler):
    """The address of a server whose requests the handler answers, until the block ends."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
