"""Where topics stand in pictures: on the map, in the network, in the matrix, and which colour they have.

Nothing here is random: the same topics give the same pictures.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fdmix.mixture.relations import lift

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
N_FAMILIES = 8  # colours that people with any colour vision can tell apart
PERPLEXITY = 12.0  # neighbours that a topic has on the map, about
FEW_TOPICS = 6  # up to this many, distances are drawn as they are
MAX_STRETCH = 1.6  # of the narrow side of a map, so that it fills its frame
EVEN_PULL = 0.15  # share of a topic's attraction in the network that all others have: nothing drifts away
STEPS = 400
EARLY_STEPS, EXAGGERATION = 100, 6.0  # first, neighbours attract each other more strongly, so that groups form


def hellinger_distances(topics: Floats) -> Floats:
    """sqrt(1 - sum_u sqrt(mu_i(u) mu_j(u))) for all pairs of topics: 0 if they are equal, 1 if they share no word.

    >>> hellinger_distances(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    roots = np.sqrt(topics)
    distances = np.sqrt(np.maximum(1 - roots @ roots.T, 0))
    np.fill_diagonal(distances, 0)
    return np.asarray((distances + distances.T) / 2)


def lift_distances(alpha: Floats) -> Floats:
    """1 / (1 + lift): small for topics that occur together more often than by chance."""
    distances = 1 / (1 + lift(alpha))
    np.fill_diagonal(distances, 0)
    return distances


def positions_on_map(distances: Floats) -> Floats:
    """Two coordinates for each topic, between 0 and 1, so that neighbours are near; the first one is spread more.

    Classical scaling of the distances, which t-SNE then improves: it keeps the nearest topics of each topic near, and
    spreads groups over the plane.
    """
    n = len(distances)
    start = _classical_scaling(distances)
    if n <= FEW_TOPICS:
        return _in_unit_square(start)
    return _in_unit_square(_embedded(_affinities(distances, min(PERPLEXITY, (n - 1) / 3)), start))


def positions_in_network(alpha: Floats) -> Floats:
    """The same for the network: topics that occur together more often than by chance attract each other."""
    start = _classical_scaling(lift_distances(alpha))
    pull = np.log(np.maximum(lift(alpha), 1))
    np.fill_diagonal(pull, 0)
    strength = pull.sum(axis=1, keepdims=True)
    if len(alpha) <= FEW_TOPICS or not strength.any():
        return _in_unit_square(start)
    even = np.where(strength > 0, EVEN_PULL, 1) / len(alpha)
    pull = (1 - EVEN_PULL) * pull / np.where(strength > 0, strength, 1) + even
    np.fill_diagonal(pull, 0)
    return _in_unit_square(_embedded((pull + pull.T) / (pull.sum() * 2), start))


def _in_unit_square(placed: Floats) -> Floats:
    """Turned so that the longest direction is the first coordinate, and scaled to lie between 0 and 1."""
    centred = placed - placed.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1]
    largest = turned[np.abs(turned).argmax(axis=0), [0, 1]]
    turned = turned * np.where(largest < 0, -1, 1)  # signs are arbitrary
    width, height = np.ptp(turned, axis=0)
    stretch = min(MAX_STRETCH, width / height) if height > 0 else 1.0
    scaled = (turned - (turned.max(axis=0) + turned.min(axis=0)) / 2) * [1, stretch]
    return np.asarray(scaled / (max(width, height * stretch) or 1.0) + 0.5)


def seriated(distances: Floats) -> Integers:
    """An order of the topics in which neighbours are near: the leaves of a tree of clusters, in their best order."""
    from scipy.cluster.hierarchy import leaves_list, linkage  # noqa: PLC0415  (slow to import)

    if len(distances) < 3:
        return np.arange(len(distances))
    return np.asarray(leaves_list(linkage(_condensed(distances), "average", optimal_ordering=True)), np.int64)


def families(places: Floats, shares: Floats) -> Integers:
    """The family of each topic, a number below 8: topics that are near each other on the map. The largest is 0."""
    from scipy.cluster.hierarchy import fcluster, linkage  # noqa: PLC0415

    if len(places) <= N_FAMILIES:
        return np.asarray(np.argsort(np.argsort(-shares, kind="stable"), kind="stable"))
    found = fcluster(linkage(places, "ward"), N_FAMILIES, "maxclust") - 1
    size = np.bincount(found, shares)
    rank = np.argsort(np.argsort(-size, kind="stable"), kind="stable")
    return np.asarray(rank[found])


def _condensed(distances: Floats) -> Floats:
    return np.asarray(distances[np.triu_indices(len(distances), 1)])


def _classical_scaling(distances: Floats) -> Floats:
    squares = distances**2
    centred = -(squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()) / 2
    values, vectors = np.linalg.eigh(centred)
    values, vectors = np.maximum(values[::-1][:2], 0), vectors[:, ::-1][:, :2]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(values.size)]
    result = np.zeros((len(distances), 2))
    result[:, : values.size] = vectors * np.where(largest < 0, -1, 1) * np.sqrt(values)  # signs are arbitrary
    return result


def _embedded(wanted: Floats, start: Floats) -> Floats:
    """t-SNE (van der Maaten and Hinton 2008) of affinities, by gradient descent with momentum, from a given start."""
    n = len(wanted)
    placed = start / (start.std() or 1.0) * 1e-2
    velocity, gains = np.zeros_like(placed), np.ones_like(placed)
    rate = max(n / EXAGGERATION / 4, 20.0)
    for step in range(STEPS):
        early = step < EARLY_STEPS
        squares = (placed**2).sum(axis=1)
        near = 1 / (1 + np.maximum(squares[:, None] + squares - 2 * placed @ placed.T, 0))
        np.fill_diagonal(near, 0)
        force = ((EXAGGERATION if early else 1) * wanted - near / max(near.sum(), 1e-12)) * near
        gradient = 4 * (force.sum(axis=1)[:, None] * placed - force @ placed)
        gains = np.maximum(np.where(gradient * velocity < 0, gains + 0.2, gains * 0.8), 0.01)
        velocity = (0.5 if early else 0.8) * velocity - rate * gains * gradient
        placed = placed + velocity
        placed -= placed.mean(axis=0)
    return np.asarray(placed)


def _affinities(distances: Floats, perplexity: float) -> Floats:
    """p_ij, symmetric, sums to 1: each topic has about `perplexity` neighbours with large affinities."""
    squares = distances**2
    n, target = len(squares), np.log(perplexity)
    low, high, precision = np.zeros(n), np.full(n, np.inf), np.ones(n)
    others = ~np.eye(n, dtype=bool)
    for _ in range(60):
        nearest = np.where(others, squares, np.inf).min(axis=1, keepdims=True)
        weight = np.where(others, np.exp(-(squares - nearest) * precision[:, None]), 0)
        p = weight / weight.sum(axis=1, keepdims=True)
        entropy = -np.sum(p * np.log(np.where(p > 0, p, 1)), axis=1)
        wide = entropy > target
        low, high = np.where(wide, precision, low), np.where(wide, high, precision)
        precision = np.where(np.isinf(high), 2 * precision, (low + np.where(np.isinf(high), 0, high)) / 2)
    return np.asarray((p + p.T) / (2 * n))
