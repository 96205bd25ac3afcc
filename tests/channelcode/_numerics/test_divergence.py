"""Divergences as sums of non-negative terms."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

from channelcode._numerics.divergence import excess, missed, pointwise_divergence, shannon


@pytest.mark.parametrize(
    "d", [-1.0, -0.999, -0.5, -0.0101, -0.0099, -1e-9, 0.0, 1e-12, 0.01, 3.0, 1e80]
)
def test_excess_to_rounding(d):
    with mpmath.workdps(60):
        x = mpmath.mpf(d)
        wanted = float((1 + x) * mpmath.log(1 + x) - x) if d > -1 else 1.0
    assert float(excess(np.asarray(d))) == pytest.approx(wanted, rel=1e-13, abs=0)


@given(
    st.lists(st.floats(1e-6, 1.0), min_size=3, max_size=3),
    st.lists(st.floats(1e-6, 1.0), min_size=3, max_size=3),
)
def test_against_scipy(a, b):
    p, q = np.array(a) / sum(a), np.array(b) / sum(b)
    found = float(pointwise_divergence(p, q))
    assert found >= 0
    # scipy sums terms of both signs: rounding of terms up to ln(1e6)
    assert found == pytest.approx(float(rel_entr(p, q).sum()), abs=1e-13)


def test_far_ratios():
    p, q = np.array([1.0, 0.0]), np.array([1e-200, 1.0])
    assert float(pointwise_divergence(p, q)) == pytest.approx(200 * np.log(10), rel=1e-12)


def test_missed():
    rows = np.array([[0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_array_equal(missed(rows, np.array([1.0, 0.0])), [True, False])


def test_shannon():
    np.testing.assert_allclose(shannon(np.array([[0.5, 0.5], [1.0, 0.0]])), [np.log(2), 0.0])
