"""Constraints on topics that hold after every step of EM, whatever engine makes it.

EM multiplies, so entries that are zero stay zero: bans and words that belong apart are placed once, as zeros. After
each step, pseudo-counts of seeds are added, words that belong together share their counts, and topics that must stay
are put back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fdmix.edits.plan import Plan

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints in final numbers of topics and columns of words that have pairs.

    banned : (T, N) bool, entries that must be zero
    seeds : (T, N), strengths: a seeded word has at least strength / (1 + sum of the topic's strengths)
    together : columns of words that have the same p(topic | word), up to seeds and frozen topics
    newly_together : those of `together` that did not hold before
    apart : columns of words of which a topic has one at most, unless it is frozen
    still : numbers of topics that do not move in the passes; frozen : those of them that do not change at all
    unigram : of the words that have pairs
    """

    banned: Any
    seeds: Floats
    together: list[Any]
    newly_together: list[Any]
    apart: list[Any]
    still: Any
    frozen: Any
    unigram: Floats

    @classmethod
    def of(cls, plan: Plan, still: set[int], seen: Any, unigram: Floats) -> Constraints:
        """The constraints of a plan, whose topics `still` stay as they are."""
        numbers: Mapping[int, int] = plan.numbers
        where = np.full(plan.mixture.n_words, -1)
        where[seen] = np.arange(seen.size)

        def among(columns: set[int]) -> Any:
            found = where[sorted(columns)]
            return found[found >= 0]

        banned = np.zeros((len(numbers), seen.size), dtype=bool)
        banned[:, among(plan.bans)] = True
        for topic, column in plan.topic_bans:
            banned[numbers[topic], among({column})] = True
        seeds = np.zeros((len(numbers), seen.size))
        for topic, strengths in plan.seeds.items():
            for column, strength in strengths.items():
                seeds[numbers[topic], among({column})] = strength
        together = [among(each) for each in plan.together]
        newly_together = [among(each) for each in plan.newly_together]
        apart = [columns for each in plan.apart if (columns := among(each - plan.bans)).size > 1]
        staying, frozen = (
            np.array(sorted(numbers[t] for t in each), dtype=np.int64) for each in (still, plan.frozen)
        )
        return cls(banned, seeds, together, newly_together, apart, staying, frozen, unigram)

    @cached_property
    def free(self) -> Any:
        """Numbers of the topics that move."""
        return np.setdiff1d(np.arange(len(self.banned)), self.still)

    @cached_property
    def hold_each_step(self) -> bool:
        """Whether anything is to be done after a step."""
        return bool(self.still.size or self.together or self.seeds.any())

    def begin(self, topics: Floats, alpha: Floats) -> Floats:
        """Topics to start with: zeros where words must not be; a word that lost all its topics gets others.

        Topics that stay but are not frozen meet the constraints, too, and change no more than that takes.
        """
        banned = self.banned | self._apart(topics, alpha.sum(axis=1))
        banned[self.frozen] = False
        found = np.where(banned, 0.0, topics)
        lost = ~found.any(axis=0)
        found[:, lost] = np.where(banned[:, lost], 0.0, self.unigram[lost])
        self._share_out(found, self.newly_together)
        found[self.frozen] = topics[self.frozen]
        total = found.sum(axis=1)
        if not (total + self.seeds.sum(axis=1)).all():
            raise ValueError(f"all words of topic {int(total.argmin())} would be banned: drop the topic instead")
        changed = (found != topics).any(axis=1) & (total > 0)
        found[changed] /= total[changed, None]
        found[self.free] = self.hold(found[self.free])
        return found

    def hold(self, moving: Floats) -> Floats:
        """The topics that move, after a step, with the constraints in force again.

        The counts of words that belong together are shared out by their frequencies: mu_t(u) becomes
        f(u) sum_v mu_t(v), so that p(t | u) ~ p_t mu_t(u) is the same for all of them.
        """
        held = moving / np.maximum(moving.sum(axis=1, keepdims=True), 1e-300)
        self._share_out(held, self.together)
        held += self.seeds[self.free]
        held /= held.sum(axis=1, keepdims=True)
        return held

    def _share_out(self, topics: Floats, sets: list[Any]) -> None:
        for columns in sets:
            share = self.unigram[columns] / self.unigram[columns].sum()
            topics[:, columns] = np.outer(topics[:, columns].sum(axis=1), share)

    def _apart(self, topics: Floats, shares: Floats) -> Any:
        """(T, N) bool: the words that give way to another one of their set in a topic.

        Each word first gets a topic of its own, the ones that suit all of them best. Then each topic keeps the word
        that is most at home there, by p(topic | word).
        """
        out = np.zeros_like(self.banned)
        for columns in self.apart:
            owner = self._owners(columns, shares[:, None] * topics[:, columns])
            out[:, columns] |= owner[:, None] != np.arange(columns.size)
        for linked in self.together:  # words that belong together give way together
            out[:, linked] |= out[:, linked].any(axis=1, keepdims=True)
            if (out | self.banned)[:, linked].all(axis=0).any() and not self.banned[:, linked].all():
                raise ValueError(
                    "words that belong together and apart leave no topic for some: undo one of these edits"
                )
            if (self.seeds[out] > 0).any():
                raise ValueError("a seed word belongs together with a word that must give way to it in its topic")
        return out

    def _owners(self, columns: Any, counts: Floats) -> Any:
        """For each topic the word, as a position in `columns`, that may stay there."""
        from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  (slow to import)

        seeded = self.seeds[:, columns] > 0
        fit = counts / np.maximum(counts.sum(axis=0), 1e-300)
        fit = np.where(self.banned[:, columns], -1.0, fit) + 2.0 * seeded
        fit[self.frozen] = -1.0  # no word can be moved out of these or into these
        owner = fit.argmax(axis=1)
        rows, words = linear_sum_assignment(-fit)
        owner[rows] = words
        at_home = fit[np.arange(len(fit)), owner] >= 0
        gives_way = owner[:, None] != np.arange(columns.size)
        gives_way[self.frozen] = False
        if np.unique(owner[at_home]).size < columns.size or seeded[gives_way].any():
            raise ValueError(
                f"{columns.size} words cannot be kept apart: seeds, bans and frozen topics leave too few topics"
            )
        return owner
