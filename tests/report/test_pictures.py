"""Where topics stand: near if they are alike, in an order that shows blocks, in colours that everybody can tell."""

import re
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

import fdmix.report
from fdmix import worlds
from fdmix.mixture.placement import (
    families,
    hellinger_distances,
    lift_distances,
    positions_in_network,
    positions_on_map,
    seriated,
)


def grouped_topics(n_groups=5, a_group=6, seed=0):
    """Topics in groups: those of a group share half of their words."""
    rng = np.random.default_rng(seed)
    topics = []
    for group in range(n_groups):
        common = np.zeros(n_groups * 40)
        common[group * 40 : (group + 1) * 40] = rng.dirichlet(np.ones(40))
        for _ in range(a_group):
            own = np.zeros_like(common)
            own[rng.choice(common.size, 30, replace=False)] = rng.dirichlet(np.ones(30))
            topics.append(0.6 * common + 0.4 * own)
    return np.array(topics), np.repeat(np.arange(n_groups), a_group)


def test_hellinger_distances_of_known_topics():
    found = hellinger_distances(np.array([[1.0, 0], [0, 1], [0.5, 0.5]]))
    assert found[0, 1] == 1
    assert found[0, 2] == pytest.approx(np.sqrt(1 - np.sqrt(0.5)))
    assert (np.diag(found) == 0).all()
    assert (found == found.T).all()


@pytest.mark.parametrize("n_groups", [1, 2, 5])
def test_neighbours_are_near_on_the_map(n_groups):
    topics, group = grouped_topics(n_groups)
    places = positions_on_map(hellinger_distances(topics))
    assert places.min() >= 0
    assert places.max() <= 1
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (group[apart.argmin(axis=1)] == group).mean() > 0.95


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_any_number_of_topics_has_a_place(n):
    topics = np.random.default_rng(n).dirichlet(np.full(30, 0.3), size=n)
    alpha = np.full((n, n), 1 / n**2)
    for places in (positions_on_map(hellinger_distances(topics)), positions_in_network(alpha)):
        assert places.shape == (n, 2)
        assert np.isfinite(places).all()
    assert sorted(seriated(lift_distances(alpha))) == list(range(n))


def test_equal_topics_have_a_place():
    places = positions_on_map(hellinger_distances(np.full((20, 10), 0.1)))
    assert np.isfinite(places).all()


def test_places_are_the_same_each_time():
    distances = hellinger_distances(grouped_topics()[0])
    assert (positions_on_map(distances) == positions_on_map(distances)).all()


def test_families_are_groups_on_the_map():
    topics, group = grouped_topics(n_groups=8)
    places = positions_on_map(hellinger_distances(topics))
    shares = np.linspace(2, 1, len(topics)) / len(topics)
    found = families(places, shares)
    assert set(found.tolist()) == set(range(8))
    for number in range(8):
        assert len(set(group[found == number])) == 1
    size = np.bincount(found, shares)
    assert (np.diff(size) <= 0).all()


def test_a_few_topics_are_families_of_their_own():
    assert families(np.zeros((3, 2)), np.array([0.2, 0.5, 0.3])).tolist() == [2, 0, 1]


def test_the_matrix_shows_blocks():
    """Topics of a block come together: in the order of the matrix they are neighbours, however they were numbered."""
    shuffled = np.random.default_rng(0).permutation(20)
    block = shuffled // 5
    alpha = np.where(block[:, None] == block, 1.0, 0.05)
    order = seriated(lift_distances(alpha / alpha.sum()))
    changes = sum(a != b for a, b in pairwise(block[order]))
    assert changes == 3


def test_the_network_brings_together_what_comes_together():
    block = np.arange(20) // 5
    alpha = np.where(block[:, None] == block, 1.0, 0.05)
    places = positions_in_network(alpha / alpha.sum())
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    same = block[:, None] == block
    assert apart[same].max() < apart[~same].min()
    assert np.isfinite(positions_in_network(worlds.intervals().mixture.correlations)).all()


# How people without one kind of cones see linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# Linear RGB to XYZ (D65), for CIELAB.
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(colour, vision):
    """CIELAB of "#rrggbb" as somebody sees it; a distance of about 2 is just visible side by side."""
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(VISION[vision]) @ linear, 0, 1)
    x, y, z = np.cbrt(np.maximum(XYZ @ seen / (XYZ @ np.ones(3)), 1e-9))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_everybody_can_tell_the_families_apart(theme, vision):
    style = (Path(fdmix.report.__file__).parent / "page" / "1-base.css").read_text()
    colours = [pair[theme] for pair in re.findall(r"--family-\d: light-dark\((#\w{6}), (#\w{6})\)", style)]
    assert len(colours) == 8
    seen = {colour: lab(colour, vision) for colour in colours}
    nearest = min(combinations(colours, 2), key=lambda pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]))
    assert np.linalg.norm(seen[nearest[0]] - seen[nearest[1]]) > 15, nearest
