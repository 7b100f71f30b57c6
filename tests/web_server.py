"""A web server on this machine that fails on purpose: it stalls, cuts the connection, answers 500, or lies."""

import time
from contextlib import contextmanager

from local_server import QuietHandler, serving


class Site:
    """Files by path, what goes wrong, and the requests that came in.

    faults : for each path, what happens to its next GET requests, one by one: "500", "stall", "cut", or "" for none
    ranges : whether parts of files are sent; length : "known", "chunked", "hidden" (the same, also
        to HEAD requests) or "unknown"; tag : whether the server says which state a file has
    """

    def __init__(self):
        self.files, self.faults, self.requests = {}, {}, []
        self.ranges, self.length, self.url, self.short, self.tag = True, "known", "", False, True

    def gets(self, path):
        return [said for method, at, said in self.requests if method == "GET" and at == path]


def _handler(site):
    class Handler(QuietHandler):
        def do_HEAD(self):  # noqa: N802
            self.answer("HEAD")

        def do_GET(self):  # noqa: N802
            self.answer("GET")

        def answer(self, method):
            path = self.path.partition("?")[0]
            wanted = self.headers.get("Range")
            site.requests.append((method, path, wanted))
            waiting = site.faults.get(path, [])
            fault = waiting.pop(0) if method == "GET" and waiting else ""
            content = site.files.get(path)
            if content is None or fault == "500":
                self.reply(404 if content is None else 500, {"Content-Length": "0"})
                return
            first, last = 0, len(content)
            partial = site.ranges and wanted is not None
            if partial:
                start, _, end = wanted.removeprefix("bytes=").partition("-")
                first, last = int(start), min(int(end) + 1, len(content)) if end else len(content)
            body = content[first:last]
            headers = {"ETag": f'"{hash(content)}"'} if site.tag else {}
            if partial:
                headers["Content-Range"] = f"bytes {first}-{last - 1}/{len(content)}"
            if site.length == "known" or (method == "HEAD" and site.length != "hidden"):
                headers["Content-Length"] = str(len(body))
            elif site.length in ("chunked", "hidden"):
                headers["Transfer-Encoding"] = "chunked"
            else:
                headers["Connection"] = "close"
            if not site.ranges:
                headers["Accept-Ranges"] = "none"
            self.reply(206 if partial else 200, headers)
            if method == "GET":
                self.send(body, fault)

        def reply(self, status, headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def send(self, body, fault):
            half = body[: len(body) // 2] if fault or site.short else body
            if site.length in ("chunked", "hidden"):
                self.wfile.write(f"{len(half):x}\r\n".encode() + half + b"\r\n")
                self.wfile.write(b"" if fault or site.short else b"0\r\n\r\n")
            else:
                self.wfile.write(half)
            self.wfile.flush()
            if fault == "stall":
                time.sleep(site.stall)
            self.close_connection = bool(fault or site.short or site.length == "unknown")

    return Handler


@contextmanager
def web_site():
    site = Site()
    site.stall = 3.0  # seconds
    with serving(_handler(site)) as site.url:
        yield site
