"""The page of the paper's claims: every row names what shows it, and what it names is there."""

import re
import shlex
from pathlib import Path

import pytest

from fdmix.cli.reproduce import PARTS
from fdmix.text import PRESETS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "evidence" / "paper.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| claim of the paper")
]
VERDICTS = ("holds", "comes out here", "differs", "follows the paper", "out of reach")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:50])
def test_every_claim_has_a_verdict_and_a_command(row):
    claim, where, verdict = row
    assert claim
    assert verdict.startswith(VERDICTS)
    assert not any(words in verdict for words in ("missing", "not faithful", "not run again"))
    commands = re.findall(r"`([^`]+)`", where)
    if verdict.startswith("out of reach: "):
        return  # nothing can show it here
    assert commands, f"no command shows: {claim}"
    for command in commands:
        words = shlex.split(command)
        if words[:2] == ["fdmix", "reproduce"]:
            assert words[2] in PARTS
        elif words[0] == "pytest":
            assert _chosen(words), f"{command} chooses no test"
    for preset in re.findall(r'preset "([\w-]+)"', where):
        assert preset in PRESETS


def _chosen(words):
    """The tests of a file whose names have the words after -k."""
    names = re.findall(r"^def (test_\w+)", (ROOT / words[1]).read_text(encoding="utf-8"), flags=re.MULTILINE)
    if "-k" not in words:
        return names
    wanted = words[words.index("-k") + 1].split(" or ")
    return all(any(part in name for name in names) for part in wanted)


def test_the_claims_are_all_there():
    assert len(ROWS) > 30
