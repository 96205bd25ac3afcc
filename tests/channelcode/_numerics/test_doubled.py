"""Twice the digits, against exact fractions and many-digit arithmetic."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode._numerics.doubled import (
    contract,
    contract_doubled,
    factor,
    running_sum,
    two_product,
    two_sum,
)

numbers = st.floats(-1e50, 1e50, allow_subnormal=False)


@given(a=numbers, b=numbers)
def test_sums_and_products_are_exact(a, b):
    total, error = two_sum(np.array(a), np.array(b))
    assert Fraction(float(total)) + Fraction(float(error)) == Fraction(a) + Fraction(b)
    if abs(a * b) > 1e-250:  # below, the error of the product underflows
        product, error = two_product(np.array(a), np.array(b))
        assert Fraction(float(product)) + Fraction(float(error)) == Fraction(a) * Fraction(b)


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_running_sums(values):
    high, low = running_sum(np.array(values))
    exact = Fraction(0)
    for place, value in enumerate(values):
        exact += Fraction(value)
        found = Fraction(float(high[place])) + Fraction(float(low[place]))
        assert abs(found - exact) <= Fraction(2) ** -98


def test_contractions(rng):
    first, second = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 4, 5))
    high, low = contract(first, second)
    np.testing.assert_allclose(high + low, first @ second, atol=1e-14)
    again, rest = contract_doubled(np.eye(3), (high, low))
    np.testing.assert_array_equal(again, high)
    np.testing.assert_allclose(rest, low, atol=1e-30)


@pytest.mark.parametrize("power", [10, 30, 50])
def test_factors_of_nearly_singular_matrices(power):
    mpmath.mp.dps = 60
    off = 1 - 2.0**-power
    matrix = np.array([[1.0, off, 0.5], [off, 1.0, 0.5], [0.5, 0.5, 1.0]])
    found = factor(matrix[None], np.zeros((1, 3, 3)))[0]
    exact = mpmath.det(mpmath.matrix(matrix.tolist()))
    assert np.abs(np.linalg.det(found)) == pytest.approx(float(mpmath.sqrt(exact)), rel=1e-12)
    np.testing.assert_allclose(found @ found.T, matrix, atol=1e-15)


def test_indefinite_and_zero_matrices_have_zero_columns():
    matrices = np.array([np.zeros((2, 2)), np.diag([1.0, -1e-12]), np.ones((2, 2))])
    found = factor(matrices, np.zeros_like(matrices))
    np.testing.assert_array_equal(found[0], 0.0)
    np.testing.assert_array_equal(found[:, :, 1], 0.0)
