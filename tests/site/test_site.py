"""The built site: every public name, every command and option is there, and it works from disk without a network."""

import html
import importlib
import inspect
import os
import re
import types
import zlib
from pathlib import Path

import pytest
import typer

from fdmix.cli.app import app

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
MODULES = sorted(
    name
    for page in (ROOT / "docs" / "reference" / "python").glob("*.md")
    for name in re.findall(r"^```\{public-names\} (\S+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
)
COMMANDS = typer.main.get_command(app).commands

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists() and "FDMIX_SKIP_NOTHING" not in os.environ, reason="make docs builds the site"
)


@pytest.fixture(scope="module")
def documented():
    """The names in the site's inventory: four lines of text, then compressed lines that begin with a name."""
    data = (SITE / "objects.inv").read_bytes()
    lines = zlib.decompress(data.split(b"\n", 4)[4]).decode().splitlines()
    return {line.split(" ", 1)[0] for line in lines}


def test_the_modules_that_import_fdmix_leads_to_have_pages():
    import fdmix

    assert "fdmix" in MODULES
    modules = {f"fdmix.{name}" for name in fdmix.__all__ if isinstance(getattr(fdmix, name), types.ModuleType)}
    assert modules <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_documented(name, documented):
    module = importlib.import_module(name)
    for each in getattr(module, "__all__", []):
        if each != "__version__" and not isinstance(getattr(module, each), types.ModuleType):
            assert documented & {f"{name}.{each}", f"fdmix.{each}"}, f"{name}.{each}"


@pytest.mark.parametrize("name", MODULES)
def test_every_public_method_is_documented(name, documented):
    """Sphinx leaves methods without a docstring out, and says nothing."""
    module = importlib.import_module(name)
    for each in getattr(module, "__all__", []):
        found = getattr(module, each)
        for method in vars(found) if inspect.isclass(found) and not issubclass(found, Exception | tuple) else ():
            if not method.startswith("_") and inspect.isroutine(getattr(found, method)):
                names = {f"{place}.{each}.{method}" for place in (name, "fdmix", found.__module__)}
                assert documented & names, f"{name}.{each}.{method}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name):
    page = (SITE / "reference" / "command_line.html").read_text(encoding="utf-8")
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    sections = re.split(r"\bfdmix (\w+)¶|\bfdmix (\w+)\n", text)
    assert name in sections
    for option in COMMANDS[name].params:
        if not getattr(option, "hidden", False) and option.param_type_name == "option":
            assert all(each in text for each in option.opts), option.opts
            assert _letters(option.help) in _letters(text), option.opts


def _letters(text):
    """Letters and digits only: pages have typographic quotes, and break lines elsewhere."""
    return re.sub(r"[\W_]", "", text)


def test_pages_ask_for_nothing_from_the_network():
    pages = sorted(SITE.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]*)\"", text)
        loaded += re.findall(r"<link\b[^>]*\brel=\"stylesheet\"[^>]*\bhref=\"([^\"]*)\"", text)
        assert not [address for address in loaded if re.match(r"(\w+:)?//", address)], page


@pytest.mark.slow
def test_search_works_from_disk(browser):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((SITE / "index.html").as_uri())
    page.fill("input[name=q]", "withdrawn documents")
    page.press("input[name=q]", "Enter")
    page.wait_for_selector("ul.search li a")
    found = page.locator("ul.search li a").all_inner_texts()
    assert "Daily updates: count, merge, remove" in found
    assert all(address.startswith(("file:", "data:", "blob:")) for address in asked)


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])  # of a phone and of a laptop
def test_no_page_is_wider_than_the_window(browser, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    wide = []
    for path in sorted(SITE.rglob("*.html")):
        page.goto(path.as_uri())
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(path.name)
    assert wide == []


@pytest.mark.slow
def test_a_click_on_a_picture_opens_it(browser):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto((SITE / "gallery.html").as_uri())
    page.locator("article img").first.click()
    page.wait_for_url("**/_images/report-overview.png")
