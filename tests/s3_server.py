"""A bucket on this machine: moto's server speaks S3, and a gate before it counts requests and refuses some."""

import http.client
from contextlib import contextmanager

from local_server import QuietHandler, serving

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
REFUSAL = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"


class Gate:
    """What passed, and what is refused: (method, end of the key) -> list of answers, one for each request."""

    def __init__(self, port):
        self.port, self.requests, self.refused, self.url = port, [], {}, ""

    def gets(self, name):
        return [path for method, path in self.requests if method == "GET" and path.partition("?")[0].endswith(name)]


def _handler(gate):
    class Handler(QuietHandler):
        def forward(self):
            body = self.body()
            gate.requests.append((self.command, self.path))
            for (method, end), answers in gate.refused.items():
                if answers and method == self.command and self.path.partition("?")[0].endswith(end):
                    self.reply(answers.pop(0), {}, REFUSAL)
                    return
            server = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=20)
            headers = {name: value for name, value in self.headers.items() if name != "Transfer-Encoding"}
            server.request(self.command, self.path, body, headers | {"Content-Length": str(len(body))})
            answer = server.getresponse()
            self.reply(answer.status, dict(answer.getheaders()), answer.read())
            server.close()

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = forward  # noqa: N815

        def body(self):
            if self.headers.get("Expect"):
                self.send_response_only(100)
                self.end_headers()
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            raise AssertionError("uploads have a length")

        def reply(self, status, headers, content):
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            length = headers.get("Content-Length", len(content)) if self.command == "HEAD" else len(content)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    return Handler


@contextmanager
def s3_server():
    """The gate to a server with an empty bucket called `bucket`."""
    from moto.server import ThreadedMotoServer

    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    gate = Gate(moto.get_host_and_port()[1])
    try:
        with serving(_handler(gate)) as gate.url:
            yield gate
    finally:
        moto.stop()
