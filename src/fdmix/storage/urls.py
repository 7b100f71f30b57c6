"""URLs of files: what they name, and how they are shown without passwords and signatures."""

from __future__ import annotations

import re
from urllib.parse import unquote

URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+)://")
COLLAPSED_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):/(?=[^/])")  # what Path makes of a URL
CHAIN = re.compile(r"::(?=[a-zA-Z][a-zA-Z0-9+.-]+://)")  # between the URLs of zip://a.csv::https://host/b.zip
URL_IN_TEXT = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://[^\s'\"<>]+")
WEB = ("http", "https")
AZURE = ("abfs", "abfss", "az", "adl", "wasb", "wasbs")  # container@account: what precedes the @ is not a password
SIGNED = re.compile(
    r"\?(?=[^/]*\b(?:sig|signature|token|key|password|secret)=)", re.IGNORECASE
)  # such as Azure's SAS
HIDDEN_QUERY = "?..."


def is_url(name: str) -> bool:
    """Whether a name is a URL, such as s3://bucket/file.csv."""
    return URL.match(name) is not None and "\n" not in name


def scheme_of(url: str) -> str:
    """The part before ://, in small letters."""
    return url.partition("://")[0].lower()


def without_secrets(url: str) -> str:
    """The URL without user and password, and without a query in which a signature may stand.

    >>> without_secrets("https://user:word@host/a.csv?X-Amz-Signature=1")
    'https://host/a.csv?...'
    >>> without_secrets("abfs://container@account.dfs.core.windows.net/a.csv")
    'abfs://container@account.dfs.core.windows.net/a.csv'
    >>> without_secrets("abfs://container@account.dfs.core.windows.net/a.csv?sv=2024-11-04&sig=abc")
    'abfs://container@account.dfs.core.windows.net/a.csv?...'
    """
    return "::".join(_without_secrets(each) for each in CHAIN.split(url))


def _without_secrets(url: str) -> str:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    user, at, machine = host.rpartition("@")
    if at and not (scheme.lower() in AZURE and ":" not in user):
        host = machine
    plain, query = split_query(f"{host}{slash}{path}", scheme)
    return f"{scheme}://{plain}" + (HIDDEN_QUERY if query else "")


def split_query(rest: str, scheme: str) -> tuple[str, str]:
    """(what is before the query, the query). Off the web, a ? is part of a name unless a signature follows."""
    if scheme.lower() not in WEB:
        signed = SIGNED.search(rest)
        return (rest, "") if signed is None else (rest[: signed.start()], rest[signed.end() :])
    plain, _, query = rest.partition("?")
    return (plain, query) if query else (rest.partition("#")[0], "")


def redacted(text: str, url: str) -> str:
    """A message of a library, in which neither this URL's secrets nor those of other URLs are left."""
    secrets = [secret for each in CHAIN.split(url) for secret in _secrets(each)]
    text = URL_IN_TEXT.sub(lambda found: without_secrets(found.group()), text)
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "...")
    return text


def _secrets(url: str) -> list[str]:
    """The parts of the URL that must not be shown."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    user, at, _ = host.rpartition("@")
    found = {split_query(rest, scheme)[1]}
    if at and not (scheme.lower() in AZURE and ":" not in user):
        found |= {user, user.partition(":")[2]}
    found |= {unquote(secret) for secret in found}
    return [secret for secret in found if len(secret) > 2]
