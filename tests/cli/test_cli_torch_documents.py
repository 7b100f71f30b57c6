"""fdmix assign and fdmix evaluate by PyTorch."""

import pytest
from pytorch import needs_torch
from typer.testing import CliRunner

from fdmix import fit_mixture, read_moments, worlds
from fdmix.cli.app import app

pytestmark = [needs_torch, pytest.mark.slow]
ON_TORCH = ["--engine", "torch", "--device", "cpu"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    world = worlds.intervals()
    words = [f"word{chr(97 + u // 26)}{chr(97 + u % 26)}" for u in range(100)]
    counts = world.sample(400, length=12, seed=1).counts.toarray()
    lines = [" ".join(word for word, n in zip(words, row, strict=True) for _ in range(n)) for row in counts]
    fit_mixture(read_moments(lines, min_count=2), 3).mixture.save(folder / "model")
    (folder / "new.txt").write_text("\n".join(lines[:40]))
    return str(folder / "model"), str(folder / "new.txt")


def said(*arguments):
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("prior", ["none", "dirichlet"])
def test_assign_finds_the_same_topics(files, prior):
    plain, device = (said("assign", *files, "--prior", prior, *where) for where in ([], ON_TORCH))
    first, second = ([line.split(",") for line in text.splitlines()] for text in (plain, device))
    assert len(first) == len(second) == 41
    assert [row[:2] for row in first] == [row[:2] for row in second]
    for a, b in zip(first[1:], second[1:], strict=True):
        assert float(a[-2]) == pytest.approx(float(b[-2]), abs=0.02)


def test_evaluate_gives_the_same_scores(files):
    plain, device = (said("evaluate", *files, *where).split() for where in ([], ON_TORCH))
    assert len(plain) == len(device)
    for a, b in zip(plain, device, strict=True):
        if a != b:
            assert float(a) == pytest.approx(float(b), abs=2e-4)


@pytest.mark.parametrize("command", ["assign", "evaluate"])
def test_a_device_that_is_not_there_is_refused_before_anything_is_read(files, command):
    refused = CliRunner().invoke(app, [command, files[0], "nothing.txt", "--engine", "torch", "--device", "abacus"])
    assert refused.exit_code != 0
    assert "there is no device 'abacus'" in str(refused.exception or refused.output)
