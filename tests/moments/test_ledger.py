"""The ledger of moments: what was counted adds up, comes out again, and shows what was counted twice."""

from collections import Counter
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmix import Corpus, Moments, read_corpus, read_moments
from fdmix.moments.ledger import Digest, Ledger, Source, shared_sources
from fdmix.text import reading
from fdmix.text.files import Layout
from fdmix.text.resuming import CountInProgress
from fdmix.text.sources import files_of

PLAIN = {"preset": "plain"}
documents = st.lists(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=6).map(" ".join), max_size=8)


def digest(texts):
    return read_moments(texts, **PLAIN).ledger.digest


@given(documents, documents, st.randoms())
@settings(deadline=None, max_examples=60)
def test_the_digest_is_that_of_the_documents_in_any_order(first, second, random):
    together = first + second
    random.shuffle(together)
    whole = digest(together)
    assert digest(first) + digest(second) == whole
    assert whole - digest(second) == digest(first)
    assert Moments.of(read_corpus(together, **PLAIN)).ledger.digest == whole
    assert Moments.of(read_corpus(together, **PLAIN), folds=3).ledger.digest == whole


@given(documents, documents)
@settings(deadline=None, max_examples=60)
def test_other_documents_have_another_digest(first, second):
    """Documents are the same if they have the same words as often."""
    bags = [Counter(tuple(sorted(text.split())) for text in texts) for texts in (first, second)]
    assert (digest(first) == digest(second)) == (bags[0] == bags[1])


def mixed(h):
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    h = (h ^ (h >> 27)) * 0x94D049BB133111EB % 2**64
    return h ^ (h >> 31)


def of_text_by_hand(text):
    first, second = 0x9E3779B97F4A7C15 ^ len(text), 0xC2B2AE3D27D4EB4F ^ len(text)
    for i in range(0, len(text), 8):
        word = int.from_bytes(text[i : i + 8], "little")
        first = (first ^ word) * 0xBF58476D1CE4E5B9 % 2**64
        second = (second ^ word) * 0x94D049BB133111EB % 2**64
        first, second = first ^ (first >> 32), second ^ (second >> 29)
    return Digest(mixed(first), mixed(second))


def of_counts_by_hand(bag):
    first, second = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
    for word, n in bag.items():
        digest = blake2b(word.encode(), digest_size=16).digest()
        first += n * int.from_bytes(digest[:8], "little")
        second += n * int.from_bytes(digest[8:], "little")
    return Digest(mixed(first % 2**64), mixed(second % 2**64))


@given(st.lists(st.binary(max_size=40), max_size=6))
@settings(deadline=None)
def test_fingerprints_of_texts_by_hand(texts):
    offsets = np.cumsum([0, *map(len, texts)])
    found = Digest.of_texts(np.frombuffer(b"".join(texts), np.uint8), offsets)
    assert found == sum(map(of_text_by_hand, texts), Digest())


def test_digests_of_documents_by_hand():
    """In any order of the words, with weights, without documents that have no pair."""
    bags = [{"ant": 1, "bee": 2}, {"bee": 1, "cat": 1}]
    expected = of_counts_by_hand(bags[0]) + of_counts_by_hand(bags[1])
    assert Moments.of([[1, 2, 0], [0, 1, 1], [1, 0, 0]], ["ant", "bee", "cat"]).ledger.digest == expected
    assert Moments.of([[0, 2, 1], [1, 1, 0]], ["cat", "bee", "ant"]).ledger.digest == expected
    weighted = Moments.of([[1, 2, 0], [0, 1, 1]], ["ant", "bee", "cat"], weights=[2, 0]).ledger.digest
    assert weighted == of_counts_by_hand(bags[0]) + of_counts_by_hand(bags[0])


def test_sources_are_known_by_their_text_not_by_their_name_or_form(tmp_path):
    (tmp_path / "a.txt").write_text("cats chase mice\nmice eat cheese\n")
    (tmp_path / "b.csv").write_text('text,id\n"mice eat cheese\n",1\n"cats chase mice\n",2\n')
    (tmp_path / "c.txt").write_text("dogs chase cats\n")
    a, b, c = (read_moments(tmp_path / name, column="text" if name == "b.csv" else None, **PLAIN)
               for name in ("a.txt", "b.csv", "c.txt"))  # fmt: skip
    assert list(a.ledger.sources) == list(b.ledger.sources) != list(c.ledger.sources)
    assert [*a.ledger.sources.values()] == [Source("a.txt", 2)]
    assert (a + c).ledger == (c + a).ledger
    assert (a + c - c).ledger == a.ledger
    assert (a + b).ledger.counted_twice() == [Source("a.txt", 2, 2)]
    assert shared_sources([a.ledger, c.ledger, b.ledger]) == [Source("b.csv", 2)]
    assert not shared_sources([a.ledger, c.ledger, (c - c).ledger])


def test_what_is_removed_stays_in_the_ledger_until_it_is_added_again(tmp_path):
    whole = read_moments(["cats chase mice", "mice eat cheese"], **PLAIN)
    part = read_moments(["mice eat cheese"], like=whole)
    rest = whole - part
    assert rest.ledger.digest == read_moments(["cats chase mice"], like=whole).ledger.digest
    assert sorted(source.times for source in rest.ledger.sources.values()) == [-1, 1]
    assert (rest + part).ledger == whole.ledger
    rest.save(tmp_path / "rest")
    assert Moments.load(tmp_path / "rest").ledger == rest.ledger


def test_edits_on_one_side_make_the_digest_unknown():
    moments = Moments.of(Corpus.from_documents([["a", "b"], ["b", "c"]]))
    assert moments.drop_words(["a"]).ledger == moments.ledger  # of the documents as they were counted
    assert (moments.drop_words(["a"]) + moments).ledger.digest is None
    assert (moments.drop_words(["a"]) + moments.drop_words(["a"])).ledger.digest is not None


def test_folds_keep_their_digests(tmp_path):
    moments = Moments.of(Corpus.from_documents([[*"ab"], [*"bc"], [*"ca"], [*"cc"]] * 3), folds=3)
    moments.save(tmp_path / "m")
    loaded = Moments.load(tmp_path / "m")
    assert [fold.ledger for fold in loaded.folds] == [fold.ledger for fold in moments.folds]
    total = sum((fold.ledger.digest for fold in loaded.folds), Digest())
    assert total == moments.ledger.digest == moments.without_fold(0).ledger.digest + moments.folds[0].ledger.digest


def test_a_resumed_count_has_the_same_ledger(tmp_path, monkeypatch):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(f"w{i % 90} w{(i * 7) % 90} x" for i in range(4_000)))
    monkeypatch.setattr(reading, "ENTRIES_AT_A_TIME", 1_000)
    monkeypatch.setattr("fdmix.text.batches.in_batches.__defaults__", (1 << 12,))
    files, cleaning = files_of([text], Layout()), read_moments(["x"], **PLAIN).preparation.cleaning

    def stop(step, done, of):
        if step == "reading" and done > 20_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CountInProgress(files, cleaning, tmp_path / "a", every=0.0).run(report=stop)
    assert CountInProgress(files, cleaning, tmp_path / "a").resumes
    resumed = CountInProgress(files, cleaning, tmp_path / "a").run()
    assert resumed.ledger == read_moments(text, **PLAIN).ledger
    assert [*resumed.ledger.sources.values()] == [Source("text.txt", 4_000)]


@pytest.mark.parametrize("damage", ["", "0" * 31, "g" * 32, 7, None])
def test_a_damaged_ledger_is_refused(damage):
    with pytest.raises(ValueError, match="32 hexadecimal digits"):
        Ledger.from_facts({"digest": None, "sources": {"a" * 32: ["x", 1, 1], damage: ["y", 1, 1]}})
