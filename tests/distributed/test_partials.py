"""The engine-neutral core: any partitions, in any order, give the bytes of the count on one machine."""

import pickle
import subprocess
import sys
from collections import Counter
from contextlib import nullcontext

import numpy as np
import pytest
from distributed_documents import corpus, random_partitions, saved_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmix import Moments, read_moments, read_moments_by, worlds
from fdmix.corpus.preparation import Cleaning
from fdmix.distributed import PartitionError, count_moments
from fdmix.distributed.partial_moments import PartialMoments, row_edges, whole
from fdmix.distributed.partitions import ClusterError, LocalPartitions, Task, added, versions
from fdmix.distributed.statistics import TokenTotals
from fdmix.distributed.tokens import Tokenise
from fdmix.moments.ledger import SourceLog
from fdmix.text.layouts import Layout
from fdmix.text.statistics import token_totals

TABLE = corpus()
SETTINGS = [
    {"preset": "plain"},
    {"stem": "english", "min_count": 3},
    {"phrases": True, "max_share": 0.3},
    {"ngrams": 3, "min_count": 2},
    {"open_vocabulary": True, "stem": "english"},
    {"lowercase": False, "max_words": 8, "drop_most_common": 2},
    {"tokenizer": str.split, "min_tokens": 3},
    {"folds": 4, "weighting": "paper"},
]


class Pickled(LocalPartitions):
    """Local partitions whose results travel as they would between machines."""

    def kept(self, work):
        with super().kept(work) as inner:
            return nullcontext(Pickled(pickle.loads(pickle.dumps(inner.contents))))

    def summed(self, work, step, n_parts=1):
        task = pickle.loads(pickle.dumps(Task(work)))
        results = [pickle.loads(pickle.dumps(task(n, content))) for n, content in enumerate(self.contents)]
        return [added(parts) for parts in zip(*results, strict=True)]


@pytest.mark.parametrize("options", SETTINGS, ids=",".join)
def test_any_partitions_give_the_bytes_of_one_machine(options, tmp_path):
    one = saved_bytes(read_moments(TABLE, column="text", **options), tmp_path)
    for seed in range(3):
        total = count_moments(Pickled(random_partitions(TABLE, seed)), **options)
        assert saved_bytes(total, tmp_path) == one


@pytest.mark.parametrize("options", SETTINGS[:2], ids=",".join)
def test_groups_give_the_bytes_of_one_machine(options, tmp_path):
    one = saved_bytes(read_moments_by(TABLE, "month(date),party", layout=Layout("text"), **options), tmp_path)
    for seed in range(3):
        total = count_moments(Pickled(random_partitions(TABLE, seed)), by="month(date),party", **options)
        assert saved_bytes(total, tmp_path) == one


def test_words_of_another_count_are_kept(tmp_path):
    first = read_moments(TABLE, column="text", stem="english", folds=2)
    more = corpus(200, seed=5)
    one = saved_bytes(read_moments(more, column="text", like=first, folds=2), tmp_path)
    total = count_moments(Pickled(random_partitions(more, 1)), like=first, folds=2)
    assert saved_bytes(total, tmp_path) == one


def test_no_documents_at_all(tmp_path):
    nothing = count_moments(LocalPartitions([]))
    assert saved_bytes(nothing, tmp_path) == saved_bytes(read_moments([]), tmp_path)
    with pytest.raises(ValueError, match="no documents to group"):
        count_moments(LocalPartitions([None, []]), by="party")


@settings(max_examples=20)
@given(st.integers(1, 40), st.integers(1, 9))
def test_blocks_of_rows_are_the_whole(n_words, n_blocks):
    corpus = worlds.intervals().sample(50, length=8).counts[:, :n_words]
    moments = Moments.of(corpus, folds=3)
    edges = sorted({0, n_words, *np.linspace(0, n_words, n_blocks + 1).astype(int).tolist()})
    blocks = PartialMoments({(): moments}, {"a": {"b": 2}}, SourceLog()).blocks(edges)
    again = whole([pickle.loads(pickle.dumps(block)) for block in blocks])
    assert again.cells[()] == moments
    assert again.cells[()].ledger == moments.ledger
    assert again.forms == {"a": {"b": 2}}


@pytest.mark.parametrize("tokenizer", [None, str.split])
def test_token_totals_add_up(tokenizer):
    """Also where a text is not valid UTF-8, and where a partition has no token."""
    tokenise = Tokenise(Cleaning(tokenizer=tokenizer), Layout())
    texts = [["cat dog cat", "dogs \ud800x über"], [], ["cat über mouse"]]
    totals = [TokenTotals.of(tokenise(some)) for some in texts]
    total = TokenTotals.sum_of(pickle.loads(pickle.dumps(totals)))
    assert total.n_documents == 3
    expected = sum((Counter(token_totals([tokenise(some).lexicon])) for some in texts), Counter())
    assert total.totals() == expected
    assert total.lexicon(Cleaning()).tokens() == list(expected)


def test_counting_does_not_import_pandas():
    """Every worker would spend a third of a second on it."""
    code = (
        "import sys, pickle\nfrom fdmix.distributed import count_moments\n"
        "from fdmix.distributed.partitions import LocalPartitions\n"
        "documents = LocalPartitions([['cats chase mice'] * 9, ['dogs chase cats'] * 9])\n"
        "total = count_moments(documents, stem='english', min_count=1)\n"
        "assert total.n_documents == 18\npickle.dumps(total)\nsys.stdout.write(str('pandas' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False"


def test_edges_balance_the_triangle():
    edges = row_edges(20_000)
    rows = np.diff(np.square(np.array(edges, float))) / 2
    assert edges[0] == 0
    assert edges[-1] == 20_000
    assert rows.max() < 1.01 * rows.min()
    assert rows.max() * 12 <= 1.01 * (1 << 26)


def test_errors_name_the_partition():
    parts = [TABLE, TABLE.rename_columns(["id", "body", "date", "party"])]
    with pytest.raises(PartitionError, match=r"partition 1: .*no column 'text'; it has id, body"):
        count_moments(LocalPartitions(parts))
    with pytest.raises(PartitionError, match=r"partition 0: .*'id' holds int64, not text"):
        count_moments(LocalPartitions([TABLE]), column="id")
    with pytest.raises(PartitionError, match="partition 0: row 2 has no column 'text': it has 'txt'"):
        count_moments(LocalPartitions([[{"text": "a b"}, {"txt": "c"}]]))
    with pytest.raises(PartitionError, match=r"partition 1: .*row 2"):
        count_moments(
            LocalPartitions([TABLE, [{"text": "a b", "date": d} for d in ("2021-01-01", "soon")]]), by="day(date)"
        )
    with pytest.raises(PartitionError, match="partition 0: strings have no columns"):
        count_moments(LocalPartitions([["a b"]]), by="party")


def test_another_version_is_refused():
    other = versions() | {"fdmix": "0.0.0"}
    with pytest.raises(ClusterError, match=r"fdmix .*0\.0\.0: install the same"):
        Task(len, wanted=other)(0, [])


def test_what_is_not_on_a_cluster_is_refused():
    with pytest.raises(TypeError, match="use read_moments"):
        count_moments(["a b", "b c"])
    with pytest.raises(ValueError, match="split_every"):
        count_moments([__import__("dask").delayed(["a"])], split_every=1)
