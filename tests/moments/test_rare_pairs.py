"""Rare pairs are left out on request only, and the loss that is reported is the loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdmix import Moments
from fdmix.moments.full_matrix import symmetric


def moments_of(seed, folds=0):
    counts = np.random.default_rng(seed).poisson(0.3, (30, 12))
    return Moments.of(counts, [f"w{k}" for k in range(12)], folds=folds)


@given(st.integers(0, 10**6), st.floats(0, 0.9), st.sampled_from([0, 3]))
def test_the_rarest_pairs_go_and_no_more_than_asked_for(seed, share, folds):
    whole = moments_of(seed, folds)
    found = whole.drop_rare_pairs(share)
    before, after = symmetric(whole.pairs).toarray(), symmetric(found.moments.pairs).toarray()
    kept, gone = before[after > 0], before[(after == 0) & (before > 0)]
    assert np.array_equal(after, np.where(after > 0, before, 0))
    assert found.share <= share + 1e-12
    assert found.n_dropped == whole.n_pairs - found.moments.n_pairs
    assert found.share == pytest.approx(gone.sum() / before.sum())
    if gone.size and kept.size:
        assert gone.max() < kept.min()
    if kept.size:  # the next pairs would be too many
        assert gone.sum() + kept[kept == kept.min()].sum() > share * before.sum() * (1 - 1e-12)
    some = before.sum(axis=1) > 0
    assert np.allclose(found.lost[some], 1 - after.sum(axis=1)[some] / before.sum(axis=1)[some])
    assert np.isnan(found.lost[~some]).all()
    for part in (*found.moments.folds, *([found.moments.held_out] if found.moments.held_out else [])):
        assert not (symmetric(part.pairs).toarray()[after == 0]).any()


def test_nothing_is_left_out_unasked():
    whole = moments_of(1)
    assert whole.drop_rare_pairs(0).moments == whole
    for bad in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match="share"):
            whole.drop_rare_pairs(bad)


def test_moments_without_rare_pairs_do_not_mix_with_others():
    whole = moments_of(1, folds=3)
    with pytest.raises(ValueError, match="do the same on both sides"):
        whole.drop_rare_pairs(0.3).moments + whole
