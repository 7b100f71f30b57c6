"""What edits mean, before anything is computed: numbers of topics, operations, constraints, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fdmix.corpus.vocabulary import some
from fdmix.edits.contradictions import refuse_contradictions
from fdmix.edits.log import Apart, Ban, Drop, Edit, Freeze, Merge, Pin, Rename, Seed, Split, Together
from fdmix.edits.words import Words
from fdmix.mixture.labels import checked_labels
from fdmix.mixture.mixture import Mixture
from fdmix.runtime.whole_numbers import whole_number


@dataclass(frozen=True)
class Operation:
    """A change of the topics themselves: "merge" (of `other` into `topic`), "split" (into both), "drop" or "new".

    seeds : of a new topic, column -> strength
    """

    kind: str
    topic: int
    other: int = -1
    seeds: Mapping[int, float] = field(default_factory=dict)


@dataclass
class Plan:
    """Edits of a mixture, understood one by one. `add` refuses what cannot be done, in words.

    Topics are named by their numbers before the edits; topics that edits make get the lowest free number, or the
    next one.

    live : numbers of the topics that there are
    touched : topics that edits concern
    seeds : topic -> column -> strength
    bans : columns that no topic may hold; topic_bans : (topic, column)
    together, apart : sets of columns; newly_together : those of `together` that did not hold before
    frozen : topics whose words stay
    pins : topic -> the number that it has after the edits
    labels : topic -> label
    missing : words that the model does not have, in the order of the edits
    operations : what to do with the topics, in order
    """

    mixture: Mixture
    words: Words
    live: set[int] = field(init=False)
    touched: set[int] = field(default_factory=set)
    seeds: dict[int, dict[int, float]] = field(default_factory=dict)
    bans: set[int] = field(default_factory=set)
    topic_bans: set[tuple[int, int]] = field(default_factory=set)
    together: list[set[int]] = field(default_factory=list)
    newly_together: list[set[int]] = field(default_factory=list)
    apart: list[set[int]] = field(default_factory=list)
    frozen: set[int] = field(default_factory=set)
    pins: dict[int, int] = field(default_factory=dict)
    labels: dict[int, str] = field(init=False)
    missing: list[str] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.live = set(range(self.mixture.n_topics))
        self.labels = dict(self.mixture.labels)

    @classmethod
    def of(cls, mixture: Mixture, standing: Iterable[Edit], edits: Iterable[Edit], words: Words) -> Plan:
        """The plan of these edits, after the constraints that hold already."""
        plan = cls(mixture, words)
        for edit in standing:
            plan.add(edit)
            plan.touched, plan.missing, plan.newly_together = set(), [], []  # what held before concerns no topic anew
        for edit in edits:
            plan.add(edit)
        return plan

    def add(self, edit: Edit) -> None:
        """Take in one edit, or raise a ValueError that says why it cannot be done."""
        match edit:
            case Merge(topics):
                self._merge(topics)
            case Split(topic):
                self._split(topic)
            case Drop(topic):
                self._drop(topic)
            case Seed():
                self._seed(edit)
            case Ban():
                self._ban(edit)
            case Together(words):
                self._put_together(words)
            case Apart(words):
                self._keep_apart(words)
            case Freeze(topic):
                self._freeze(topic)
            case Rename(topic, label):
                self.labels |= checked_labels({self._known(topic): label}, topic + 1)
            case Pin(topic, number):
                self._pin(topic, number)
        refuse_contradictions(self)

    @property
    def numbers(self) -> dict[int, int]:
        """The number of each topic after the edits.

        Pinned topics have theirs, and the others keep their own where they can. Numbers run from 0 without gaps, so
        if topics went away, those with the highest numbers take the free ones.
        """
        taken = set(self.pins.values())
        kept = {t for t in self.live - set(self.pins) if t < len(self.live) and t not in taken}
        free = sorted(set(range(len(self.live))) - taken - kept)
        others = sorted(self.live - set(self.pins) - kept)
        return {t: t for t in kept} | self.pins | dict(zip(others, free, strict=True))

    def require_numbers(self) -> None:
        """Refuse pins to numbers that the topics that are left do not reach; more edits may still make room."""
        for topic, number in self.pins.items():
            if number >= len(self.live):
                raise ValueError(
                    f"topic {topic} is pinned or seeded, so that its number {number} is fixed, but the "
                    f"{len(self.live)} topics that are left have the numbers 0 to {len(self.live) - 1}: "
                    "pin it to one of these"
                )

    def standing(self, final: dict[int, int]) -> tuple[Edit, ...]:
        """The constraints in force as edits, in the numbers after the edits."""
        name = self.name
        edits: list[Edit] = []
        if self.bans:
            edits.append(Ban(tuple(name(u) for u in sorted(self.bans)), None))
        edits += [Ban((name(u),), final[t]) for t, u in sorted(self.topic_bans)]
        edits += [Together(tuple(name(u) for u in sorted(each))) for each in self.together]
        edits += [Apart(tuple(name(u) for u in sorted(each))) for each in self.apart]
        for topic, seeds in sorted(self.seeds.items()):
            edits.append(Seed(final[topic], {name(u): strength for u, strength in sorted(seeds.items())}))
        edits += [Freeze(final[t]) for t in sorted(self.frozen)]
        edits += [Pin(number, number) for _, number in sorted(self.pins.items())]
        return tuple(edits)

    def name(self, column: int) -> str:
        """The word of a column as it stands in the vocabulary."""
        return str(column) if self.mixture.vocabulary is None else self.mixture.vocabulary[column]

    def _known(self, topic: int) -> int:
        if topic not in self.live:
            gone = 0 <= topic < self.mixture.n_topics or any(topic in (o.topic, o.other) for o in self.operations)
            why = "it was merged or dropped" if gone else f"topics are numbered from 0 to {max(self.live)}"
            raise ValueError(f"there is no topic {topic}: {why}")
        return topic

    def _free_number(self) -> int:
        """The lowest number that no topic has."""
        return next(t for t in range(len(self.live) + 1) if t not in self.live)

    def _remove(self, topic: int, how: str) -> None:
        self._known(topic)
        if topic in self.frozen:
            raise ValueError(f"topic {topic} is frozen and cannot be {how}: undo its freeze first")
        if topic in self.pins and topic not in self.seeds:
            raise ValueError(f"topic {topic} is pinned and cannot be {how}: undo its pin first")
        self.live.discard(topic)
        self.touched.discard(topic)
        for kept in (self.seeds, self.labels, self.pins):
            kept.pop(topic, None)
        self.topic_bans = {(t, u) for t, u in self.topic_bans if t != topic}

    def _drop(self, topic: int) -> None:
        if self.live == {topic}:
            raise ValueError("all topics would be dropped: a model needs at least one")
        self._remove(topic, "dropped")
        self.operations.append(Operation("drop", topic))

    def _freeze(self, topic: int) -> None:
        if self._known(topic) in self.touched - self.frozen:
            raise ValueError(f"topic {topic} is changed by edits before: fit these first, then freeze it")
        self.frozen.add(topic)
        self.touched.add(topic)

    def _merge(self, topics: tuple[int, ...]) -> None:
        if len(topics) < 2 or len(set(topics)) < len(topics):
            raise ValueError("merge needs two or more different topics")
        first, *others = (self._known(topic) for topic in topics)
        if first in self.frozen:
            raise ValueError(f"topic {first} is frozen and cannot be merged: undo its freeze first")
        for other in others:
            seeds, label = self.seeds.get(other, {}), self.labels.get(other)
            banned = {(first, u) for t, u in self.topic_bans if t == other}
            self._remove(other, "merged into another one")
            if seeds:
                self.seeds[first] = seeds | self.seeds.get(first, {})
                self.pins.setdefault(first, first)
            self.topic_bans |= banned
            if label:
                self.labels.setdefault(first, label)
            self.operations.append(Operation("merge", first, other))
        self.touched.add(first)

    def _split(self, topic: int) -> None:
        if self._known(topic) in self.frozen:
            raise ValueError(f"topic {topic} is frozen and cannot be split: undo its freeze first")
        new = self._free_number()
        self.live.add(new)
        self.topic_bans |= {(new, u) for t, u in self.topic_bans if t == topic}
        self.touched |= {topic, new}
        self.operations.append(Operation("split", topic, new))

    def _seed(self, edit: Seed) -> None:
        found = {u: strength for word, strength in edit.words.items() if (u := self._column(word)) is not None}
        if not edit.words:
            raise ValueError(f"topic {edit.topic!r} is seeded without a word: name the words that it must hold")
        topic = self._seeded(edit, found)
        if topic in self.frozen:
            raise ValueError(f"topic {topic} is frozen, so it cannot be seeded: undo its freeze first")
        if found:
            self.seeds[topic] = self.seeds.get(topic, {}) | found
            self.pins.setdefault(topic, topic)
            self.touched.add(topic)

    def _seeded(self, edit: Seed, found: dict[int, float]) -> int:
        """The topic with this number or label, or a new one."""
        if not isinstance(edit.topic, str):
            return self._known(edit.topic)
        (label,) = checked_labels({0: edit.topic}, 1).values()
        if not label:
            raise ValueError("a seeded topic needs a name or a number")
        named = [t for t in sorted(self.live) if self.labels.get(t) == label]
        if len(named) > 1:
            raise ValueError(f"topics {named[0]} and {named[1]} are both called {label!r}: seed by number")
        if named:
            return named[0]
        if not found:
            raise ValueError(
                f"no topic is called {label!r}, and the model has none of the words to make one: "
                f"{some(list(edit.words))}"
            )
        new = self._free_number()
        self.live.add(new)
        self.labels[new] = label
        self.operations.append(Operation("new", new, seeds=found))
        return new

    def _ban(self, edit: Ban) -> None:
        columns = self._columns(edit.words)
        if edit.topic is None:
            self.bans |= columns
        else:
            self.topic_bans |= {(self._known(edit.topic), u) for u in columns}
            self.touched.add(edit.topic)

    def holds(self, topic: int, columns: set[int]) -> bool:
        """Whether a topic of the model holds one of these words."""
        return bool((self.mixture.topics[topic, sorted(columns)] > 0).any())

    def _put_together(self, words: tuple[str, ...]) -> None:
        """Sets that share a word become one."""
        columns = self._several(words, "together")
        if len(columns) < 2:
            return
        for each in [each for each in self.together if each & columns]:
            self.together.remove(each)
            columns |= each
        self.newly_together = [each for each in self.newly_together if not each & columns]
        for sets in (self.together, self.newly_together):
            sets.append(columns)
        self.touched |= {t for t, seeds in self.seeds.items() if columns & set(seeds)} - self.frozen

    def _keep_apart(self, words: tuple[str, ...]) -> None:
        columns = self._several(words, "apart")
        found = [word for word in words if self._column(word) is not None]
        if len(columns) < len(set(found)):
            raise ValueError(f"the model has one word for some of {some(found)}, which no topic can keep apart")
        if len(columns) > 1:
            self.apart.append(columns)

    def _pin(self, topic: int, number: int) -> None:
        self._known(topic)
        whole_number("the number of a topic", number)
        others = [t for t, pinned in self.pins.items() if pinned == number and t != topic]
        if others:
            raise ValueError(
                f"topic {others[0]} has the number {number} for good: pin topic {topic} to another number"
            )
        self.pins[topic] = number

    def _column(self, word: str) -> int | None:
        if not isinstance(word, str):
            raise TypeError(f"words are strings, not {word!r}")
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(f"the word {word!r} is not valid Unicode text") from None
        column = self.words.column(word)
        if column is None and word not in self.missing:
            self.missing.append(word)
        return column

    def _several(self, words: tuple[str, ...], how: str) -> set[int]:
        if len(set(words)) < 2:
            raise ValueError(f"words that belong {how} are two or more")
        return self._columns(words)

    def _columns(self, words: tuple[str, ...]) -> set[int]:
        if not words:
            raise ValueError("this edit needs at least one word")
        return {column for word in words if (column := self._column(word)) is not None}
