"""Scores and typical documents: the same for any partitions, and close to those of one machine."""

import pytest
from distributed_documents import corpus, random_partitions

import fdmix
from fdmix import fit_mixture, metrics, read_corpus, read_moments
from fdmix.distributed import evaluate, representatives
from fdmix.distributed.partitions import LocalPartitions

TABLE = corpus(800)


@pytest.fixture(scope="module")
def model():
    return fit_mixture(read_moments(TABLE, column="text", stem="english"), 3).mixture


def test_scores_do_not_depend_on_partitions(model):
    first = evaluate(LocalPartitions([TABLE]), model)
    for seed in range(3):
        again = evaluate(LocalPartitions([*random_partitions(TABLE, seed), None]), model)
        assert again == pytest.approx(first, abs=1e-9)
    documents = read_corpus(TABLE, column="text", like=model)
    assert first["documents"] == len(documents)
    assert first["tokens"] == documents.n_tokens
    expected = metrics.holdout_log_likelihood(model, documents).mean
    assert first["hold-out log-likelihood"] == pytest.approx(expected, abs=1e-9)
    expected = metrics.completion_log_likelihood(model, documents, "dirichlet").mean
    assert first["completion log-likelihood, Dirichlet prior"] == pytest.approx(expected, abs=0.1)


def test_typical_documents_are_those_of_one_machine(model):
    one = fdmix.representatives(model, TABLE, n=5, column="text")
    for seed in range(3):
        found = representatives(LocalPartitions(random_partitions(TABLE, seed)), model, n=5)
        for mine, theirs in zip(found, one, strict=True):
            assert [each.share for each in mine] == pytest.approx([each.share for each in theirs], abs=1e-9)
