"""Words that break careless output: every test of an output uses this one list.

All of them are distinct and can be stored as UTF-8, so that together they make a valid vocabulary.
"""

HOSTILE_WORDS: tuple[str, ...] = (
    "[/bold]",  # rich markup
    "[red]",
    "[link=http://example.org]x[/link]",
    "[[x]]",
    "\\[x]",
    ":smile:",
    "\x1b[31mred\x1b[0m",  # terminal escapes
    "\x1b]0;title\x07",
    "\x1b]8;;http://example.org\x1b\\x",
    "\x9b31m",  # the same as single C1 controls
    "\x85",
    "\x08\x7f",
    "=cmd()",  # formulas of spreadsheets
    "+1",
    "-1",
    "@x",
    "\t=1",
    "a\tb",
    "a\nb",
    "a\rb",
    "\r\n",
    "a\u2028b",  # line separator
    "\x00",
    "a\x00b",
    "</script><script>alert(1)</script>",
    "<!--",
    "&amp;",
    "<b>",
    "\u202etxt.exe",  # right-to-left override
    "\u2066x",
    "\u200b",  # zero-width
    "a\u200bb",
    "\ufeff",
    "\u0301",  # a combining mark without its letter
    "e\u0301\u0301\u0301",
    "\u00e9",
    "\u00a0",  # looks empty
    "\u3164",
    " ",
    "",
    "x" * 10_000,
    "\U0001f469\u200d\U0001f4bb",  # emoji
    "\U0001f1e9\U0001f1ea",
    "\u4e2d\u6587",
    "\u05e9\u05dc\u05d5\u05dd",
    '"',
    "'",
    "`",
    '"",""',
    "a,b",
    "a;b",
    "../x",
    "/etc/passwd",
    "C:\\x",
    "%s",
    "%(x)d",
    "{0}",
    "{x!r}",
    "${HOME}",
    "$(x)",
    "\\",
    "\\n",
    "null",
    "NaN",
    "1e999",
    "-",
    "--help",
    "#",
)
