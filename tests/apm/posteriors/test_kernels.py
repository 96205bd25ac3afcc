"""The compiled loops of the posteriors against the same functions run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from apm._kernels import dense, logistic_map, variational
from apm.posteriors.fitting import fixed_point
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
    Z, weights = rng.standard_normal((6, 3)), rng.random(6)
    A = np.zeros((3, 3))
    assert_matches_py_func(dense.weighted_gram, Z, weights, 2.0, A)
    for rows in range(1, 7):  # all remainders of the four rows that are taken at once
        dense.weighted_gram(Z[:rows], weights[:rows], 2.0, A)
        expected = 2.0 * np.eye(3) + (Z[:rows].T * weights[:rows]) @ Z[:rows]
        np.testing.assert_allclose(np.triu(A), np.triu(expected), rtol=1e-13)


def test_row_basis_spans_with_orthonormal_rows(rng: np.random.Generator) -> None:
    Z = rng.standard_normal((4, 9))
    Z[2] = Z[0] - 3 * Z[1]
    assert assert_matches_py_func(dense.row_basis, Z, np.empty((4, 4)), rtol=1e-9, atol=1e-13) == 3
    basis, coordinates = Z.copy(), np.empty((4, 4))
    assert dense.row_basis(basis, coordinates) == 3
    np.testing.assert_allclose(coordinates @ basis, Z, atol=1e-13)
    np.testing.assert_allclose(basis @ basis.T, np.diag([1.0, 1, 1, 0]), atol=1e-14)
    assert not coordinates[:, 3].any()


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
    precision, weights, squares = np.full(q, 0.1), np.ones(n), np.empty(n)
    factor, start = np.eye(q) / np.sqrt(0.1), np.zeros(q)
    precision.setflags(write=False)  # as the posterior passes it: one signature
    r = min(n, q)
    half, Z, basis = np.empty(n), np.empty((n, r)), np.empty((n if n < q else 0, q))
    assert_matches_py_func(
        variational.begin, X, precision, codes, weights, squares, 0, start, factor, 0.5, half, Z,
        basis, rtol=1e-8, atol=1e-9,
    )  # fmt: skip
    variational.begin(X, precision, codes, weights, squares, 0, start, factor, 0.5, half, Z, basis)
    U, G, shift = np.zeros((r, r)), np.empty((r, n)), np.empty(r)
    work, record = np.zeros((8, n)), np.zeros(4)
    arguments = (Z, half, weights, squares, 1e-10, 100, U, G, shift, work, record)
    # `work` ends with the last step, which is rounding: below the tolerance of the posterior
    assert assert_matches_py_func(variational.climb, *arguments, rtol=1e-8, atol=1e-9)
    assert variational.climb(*arguments)
    assert record[variational.CHANGE] <= 1e-10
    assert_matches_py_func(variational.lift, U, shift, basis, precision, start, factor, rtol=1e-9)
    signs = 2.0 * codes - 1
    assert_matches_py_func(
        logistic_map.fit, X, precision, signs, weights, start, 100, rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize("n, r", [(9, 4), (30, 2)])
def test_newton_of_the_kernel_is_that_of_numpy(n: int, r: int, rng: np.random.Generator) -> None:
    """Directly, and by the low rank (30 rows, rank 5); what is not positive definite is left."""
    G, work = 0.3 * rng.standard_normal((r, n)), np.zeros((8, n))
    mean, scale, step = work[variational.MEAN], work[variational.SCALE], work[variational.STEP]
    mean[:], scale[:], step[:] = rng.standard_normal(n), 0.1 * rng.random(n), rng.random(n)
    expected = step.copy()
    assert fixed_point.newton_direct(G, mean, scale, expected)
    before = work.copy()
    assert assert_matches_py_func(variational.newton, G, work, rtol=1e-10)
    assert variational.newton(G, work)
    np.testing.assert_allclose(step, expected, rtol=1e-10)
    work[:] = before
    scale[:] = 10.0
    before = work.copy()
    assert not variational.newton(G, work)
    np.testing.assert_array_equal(work, before)


def test_a_large_system_is_left_to_numpy(rng: np.random.Generator) -> None:
    assert not variational.newton(rng.standard_normal((2, 100_000)), np.zeros((8, 100_000)))
    assert not variational.newton(rng.standard_normal((20, 130)), np.zeros((8, 130)))


@pytest.mark.parametrize("rank", [3, 4])
def test_lifting_in_numpy_is_lifting_in_the_kernel(rank: int, rng: np.random.Generator) -> None:
    """A basis of 4 rows in 9 dimensions; with rank 3 its last row is zero (see `row_basis`)."""
    basis = np.linalg.qr(rng.standard_normal((9, 4)))[0].T.copy()
    basis[rank:] = 0.0
    U, shift = np.triu(rng.random((4, 4)) + np.eye(4)), rng.standard_normal(4)
    U[rank:] = np.eye(4)[rank:]
    U[:rank, rank:] = 0.0
    U[1, 0] = np.nan  # below the diagonal there may be anything
    precision, mean, factor = rng.random(9) + 0.1, np.empty(9), np.empty((9, 9))
    precision.setflags(write=False)
    variational.lift(U, shift, basis, precision, mean, factor)
    expected = fixed_point._lift(U, shift, basis, precision)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(factor, expected[1], rtol=1e-12, atol=1e-14)
