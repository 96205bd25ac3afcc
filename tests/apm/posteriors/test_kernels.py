"""The compiled loops of the posteriors against the same functions run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from apm._kernels import dense, logistic_map, variational
from tests.kernel_checks import assert_matches_py_func


@pytest.fixture
def positive(rng: np.random.Generator) -> np.ndarray:
    root = rng.standard_normal((5, 7))
    return root @ root.T


def test_dense(positive: np.ndarray, rng: np.random.Generator) -> None:
    assert assert_matches_py_func(dense.cholesky_upper, positive)
    assert not assert_matches_py_func(dense.cholesky_upper, -positive)
    U = np.triu(np.linalg.cholesky(positive).T)
    assert_matches_py_func(dense.solve_upper_transposed, U, rng.standard_normal((5, 4)))
    b = rng.standard_normal(5)
    expected = np.linalg.solve(positive, b)
    dense.solve_vector(U, b)
    np.testing.assert_allclose(b, expected, rtol=1e-9)
    assert_matches_py_func(dense.solve_vector, U, rng.standard_normal(5))
    inverse = assert_matches_py_func(dense.inverse_upper, U)
    np.testing.assert_allclose(inverse @ U, np.eye(5), atol=1e-10)
    assert_matches_py_func(
        dense.add_weighted_gram, rng.standard_normal((6, 3)), rng.random(6), np.zeros((3, 3))
    )


def test_row_basis_spans_with_orthonormal_rows(rng: np.random.Generator) -> None:
    Z = rng.standard_normal((4, 9))
    Z[2] = Z[0] - 3 * Z[1]
    basis, coordinates = assert_matches_py_func(dense.row_basis, Z, rtol=1e-9, atol=1e-13)
    assert basis.shape == (3, 9)
    np.testing.assert_allclose(coordinates @ basis, Z, atol=1e-13)
    np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-14)


def test_bend_is_continuous_and_is_the_derivative() -> None:
    """The series below 1e-3 and the formula above meet; the slope is a difference quotient."""
    for t in (0.0, 1e-6, 9.99999e-4, 1.00001e-3, 0.5, 40.0, 900.0):
        lam, slope, soft = assert_matches_py_func(variational.bend, t)
        xi = np.sqrt(t)
        exact = np.tanh(xi / 2) / (4 * xi) if t > 0 else 0.125
        assert lam == pytest.approx(exact, rel=1e-14)
        assert soft == pytest.approx(np.logaddexp(0, -xi), rel=1e-14)
        h = 1e-4 * max(t, 1e-1)
        if t > h:
            quotient = (variational.bend(t - h)[0] - variational.bend(t + h)[0]) / (2 * h)
            assert slope == pytest.approx(quotient, rel=1e-6)
    assert variational.bend(0.0)[1] == 1 / 96
    below, above = variational.bend(1e-3 * (1 - 1e-12))[1], variational.bend(1e-3)[1]
    assert below == pytest.approx(above, rel=1e-11)  # the formula cancels: 1e-16 / 1e-3 and more


@pytest.mark.parametrize("n, q", [(7, 3), (3, 7), (12, 2)])
def test_solvers_match_python(n: int, q: int, rng: np.random.Generator) -> None:
    X = rng.standard_normal((n, q))
    codes = rng.integers(0, 2, n)
    precision, weights = np.full(q, 0.1), np.ones(n)
    factor, start = np.eye(q) / np.sqrt(0.1), np.zeros(q)
    for array in (precision, factor, start):  # as the posterior passes them: one signature
        array.setflags(write=False)
    assert_matches_py_func(
        variational.update, X, precision, codes, weights, np.empty(n), 0, start, factor, 0.5,
        1e-10, 100, rtol=1e-8, atol=1e-9,
    )  # fmt: skip
    signs = 2.0 * codes - 1
    assert_matches_py_func(
        logistic_map.fit, X, precision, signs, weights, start, 100, rtol=1e-8, atol=1e-8
    )
