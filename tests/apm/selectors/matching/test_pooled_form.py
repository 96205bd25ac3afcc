"""One product gives the shares that all pairs of candidates and targets give."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm import Belief, Bohning, VariationalLogistic
from apm.selectors.matching.explained_variance import explained_share
from apm.selectors.matching.pooled_form import PooledForm
from apm.selectors.matching.views import View


def posterior_of(rng, columns, labels, *, intercept=False):
    X = rng.normal(size=(labels, columns))
    model = VariationalLogistic(0.3, intercept=intercept)
    return model.fit(X, rng.integers(2, size=labels)) if labels else model.sized(columns)


@given(
    seed=st.integers(0, 10**6),
    columns=st.integers(1, 6),
    labels=st.sampled_from([0, 2, 9]),
    targets=st.integers(1, 12),
    scale=st.sampled_from([1.0, 2.0**-200, 2.0**200]),
    intercept=st.booleans(),
    single=st.booleans(),
)
@settings(max_examples=60)
def test_the_share_is_the_average_over_pairs(
    seed, columns, labels, targets, scale, intercept, single
):
    rng = np.random.default_rng(seed)
    belief = Belief(posterior_of(rng, columns, labels, intercept=intercept))
    scale = 1.0 if single else scale
    X = (rng.normal(size=(20, columns)) * scale).astype(np.float32 if single else np.float64)
    X[3] = 0.0
    there = rng.normal(size=(targets, columns))
    there[0] *= rng.integers(2)  # a target of zeros has no direction
    weights = rng.dirichlet(np.ones(targets))
    form = PooledForm.of(belief, X, there, weights)
    assert form is not None
    laws, share = form.look(X, None)  # type: ignore[misc]
    pairs: Any = belief.push(X.astype(np.float64))
    view = View(belief.channel, pairs)
    expected = explained_share(belief, X.astype(np.float64), there, view) @ weights
    # float32 rounds products of a few numbers of size one
    atol = 3e-5 if single else 1e-12
    np.testing.assert_allclose(share, expected, atol=atol)
    assert share.min() >= 0.0
    assert share.max() <= 1.0
    np.testing.assert_allclose(laws.mean, pairs.mean, rtol=atol, atol=atol * scale)
    np.testing.assert_allclose(laws.variance, pairs.variance, rtol=1e-5 if single else 1e-12)


def test_some_candidates_of_the_rows():
    rng = np.random.default_rng(0)
    belief = Belief(posterior_of(rng, 3, 5))
    X = rng.normal(size=(40, 3))
    form = PooledForm.of(belief, X, X[:7], np.full(7, 1 / 7))
    assert form is not None
    some = np.array([3, 17, 39])
    laws, share = form.look(X, some)  # type: ignore[misc]
    every, shares = form.look(X, None)  # type: ignore[misc]
    np.testing.assert_array_equal(share, shares[some])
    np.testing.assert_array_equal(laws.variance, every.variance[some])


def test_no_form_where_it_does_not_hold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 3))
    assert PooledForm.of(Belief(Bohning(3).sized(3)), X, X, np.full(10, 0.1)) is None
    wide = Belief(posterior_of(rng, 300, 4))
    rows = rng.normal(size=(10, 300))
    assert PooledForm.of(wide, rows, rows, np.full(10, 0.1)) is None


def test_numbers_out_of_range_give_none():
    belief = Belief(posterior_of(np.random.default_rng(0), 2, 0))
    X = np.array([[1.0, 2.0], [1e30, 1e30]], dtype=np.float32)
    form = PooledForm.of(belief, X, X[:1], np.ones(1))
    assert form is not None
    assert form.look(X, None) is None
    assert PooledForm.of(belief, X.astype(float), [[1e200, 1e200]], np.ones(1)) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_default_rule_sees_one_pool_by_tiles_and_as_a_whole(dtype, monkeypatch):
    from apm import Learner
    from apm.selectors import tiled

    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 6)).astype(dtype)
    whole = Learner(X, VariationalLogistic(0.1), seed=0)
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)
    tiles = Learner(X, VariationalLogistic(0.1), seed=0)
    for learner in (whole, tiles):
        learner.tell(range(12), (X[:12, 0] > 0).astype(int))
    belief, rule = tiles._state.belief, tiles._state.selector
    rows = np.flatnonzero(tiles._state.open)
    one = rule._rate(belief, X, rows, 0)
    looked = tiled.tiled_rating(rule, belief, X, rows, 0)
    assert looked is not None
    np.testing.assert_allclose(
        looked.scores, one.scores, rtol=2e-4 if dtype == np.float32 else 1e-9
    )
    # two looks, where what one look keeps is too much
    monkeypatch.setattr(tiled, "HELD_BYTES", 0)
    monkeypatch.setattr(tiled, "LOOK_BYTES", 10**6)
    twice = tiled.tiled_rating(rule, belief, X, rows, 0)
    np.testing.assert_array_equal(twice.values, looked.values)  # type: ignore[union-attr]
