"""Groups of items and how far they are apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.pairs.leaves import Leaves


def made_up(seed, n, r, ties):
    rng = np.random.default_rng(seed)
    points, values = rng.standard_t(2, (n, r)), rng.standard_normal(n)
    return (np.round(points), np.round(values)) if ties else (points, values)


@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 4), st.booleans())
def test_distances_lie_within_the_bounds_and_every_item_is_in_one_leaf(seed, n, r, ties):
    points, values = made_up(seed, n, r, ties)
    points = points - points.mean(axis=0)
    leaves = Leaves.of(points, values, 5)
    assert sorted(np.concatenate(leaves.members).tolist()) == list(range(n))
    assert max(len(rows) for rows in leaves.members) <= 5
    for each in (leaves, leaves.grouped(3)):
        one, other = np.triu_indices(len(each))
        gap, low, high = each.apart(one, other)
        for k, (a, b) in enumerate(zip(one, other)):
            left, right = each.members[a], each.members[b]
            d = np.linalg.norm(points[left][:, None] - points[right], axis=2)
            m = np.abs(values[left][:, None] - values[right])
            assert d.min() >= low[k] - 1e-12
            assert d.max() <= high[k] + 1e-12
            assert m.min() >= gap[k]


@pytest.mark.parametrize("count", [1, 2, 5, 100])
def test_groups_hold_every_pair_of_leaves_once(count):
    points, values = made_up(0, 80, 2, ties=False)
    leaves = Leaves.of(points, values, 6)
    groups = leaves.grouped(count)
    one, other = groups.inside(*np.triu_indices(len(groups)))
    found = {(min(a, b), max(a, b)) for a, b in zip(one.tolist(), other.tolist())}
    assert len(found) == len(one) == len(leaves) * (len(leaves) + 1) // 2


def test_equal_items_are_split_too():
    leaves = Leaves.of(np.zeros((100, 2)), np.zeros(100), 7)
    assert max(len(rows) for rows in leaves.members) <= 7
