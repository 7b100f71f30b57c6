"""The text of web pages: without tags, scripts and styles."""

from __future__ import annotations

from html.parser import HTMLParser

HIDDEN = {"script", "style", "template", "noscript", "svg"}  # what they hold is no text of the page
INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q", "s",
    "samp", "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
}  # fmt: skip


def text_of_page(page: str) -> str:
    """The title and the text of a web page; headings, paragraphs and the like are separated by blank lines.

    >>> text_of_page("<p>Flu <b>sea</b>son &amp; shots<p>No<script>x()</script>body")
    'Flu season & shots\\n\\nNobody'
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    blocks = (" ".join(block.split()) for block in "".join(reader.pieces).split("\0"))
    return "\n\n".join(block for block in blocks if block)


class _Reader(HTMLParser):
    """Collects text; a NUL, which no text has, ends a block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.hidden: list[str] = []  # elements that are open and whose content is no text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in HIDDEN:
            self.hidden.append(tag)
        elif tag not in INLINE:
            self.pieces.append("\0")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in INLINE:
            self.pieces.append("\0")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.hidden:
            del self.hidden[self.hidden.index(tag) :]
        elif tag not in INLINE | HIDDEN:
            self.pieces.append("\0")

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Skip what begins with <![, such as <![if IE]>: the parser fails on some of it."""
        return self.parse_bogus_comment(i, report)

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.pieces.append(data.replace("\0", " "))
