"""The documents of a comparison: the split depends on contents and seed only."""

import numpy as np
import pytest

from fdmix import Corpus
from fdmix.compare import Documents


def some_documents(n=400, seed=0, **more):
    counts = np.random.default_rng(seed).poisson(0.7, (n, 25))
    counts[:, 0] += 1
    return Documents.of(Corpus(counts, [f"w{u}" for u in range(25)]), **more)


def test_the_split_depends_on_contents_only():
    documents = some_documents()
    order = np.random.default_rng(1).permutation(400)
    shuffled = documents[order]
    for seed in range(3):
        train, test = documents.split(0.2, seed)
        again_train, again_test = shuffled.split(0.2, seed)
        assert set(order[again_train].tolist()) == set(train.tolist())
        assert set(order[again_test].tolist()) == set(test.tolist())
        assert sorted([*train, *test]) == list(range(400))
        assert 50 < test.size < 110
    assert set(documents.split(0.2, 0)[1].tolist()) != set(documents.split(0.2, 1)[1].tolist())
    assert documents.digest() == shuffled.digest()


def test_copies_are_on_the_same_side():
    once = some_documents(100)
    twice = once[np.tile(np.arange(100), 2)]
    held_out = np.zeros(200, bool)
    held_out[twice.split(0.2, 0)[1]] = True
    assert (held_out[:100] == held_out[100:]).all()


def test_a_share_of_documents_is_held_out():
    for share in (0.05, 0.5):
        assert some_documents(4_000).split(share, 7)[1].size == pytest.approx(4_000 * share, rel=0.2)


def test_documents_without_words_are_left_out():
    counts = np.zeros((50, 3), int)
    counts[:30] = [1, 2, 0]
    documents = Documents.of(Corpus(counts), labels=["a", "b"] * 25)
    assert documents.corpus.n_documents == len(documents.labels) == 30


def test_labels():
    labels = ["a", "b", None, "", float("nan"), 3] * 50 + ["a"] * 100
    found = some_documents(labels=labels).labels
    assert found[:6] == ["a", "b", None, None, None, "3"]
    assert some_documents(labels=labels).digest() != some_documents().digest()
    with pytest.raises(ValueError, match="two different values"):
        some_documents(labels=["a"] * 400)


def test_too_few_documents():
    with pytest.raises(ValueError, match="at least 20 documents"):
        some_documents(12)
