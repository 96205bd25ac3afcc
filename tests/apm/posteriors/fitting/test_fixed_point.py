"""The variational fixed point by itself: its equations, its linear systems, its two forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm.posteriors.fitting import fixed_point


def test_three_linear_solvers_agree(rng: np.random.Generator) -> None:
    G, mean = 0.3 * rng.standard_normal((2, 9)), rng.standard_normal(9)
    scale, right = 0.1 * rng.random(9), rng.standard_normal(9)
    K = G.T @ G
    A = np.eye(9) - 2 * np.outer(scale, scale) * (K * K + 2 * np.outer(mean, mean) * K)
    expected = np.linalg.solve(A, right)
    for solve in (fixed_point.newton_direct, fixed_point.newton_low_rank):
        found = right.copy()
        assert solve(G, mean, scale, found)
        np.testing.assert_allclose(found, expected, rtol=1e-11)
    found = right.copy()
    assert fixed_point.newton_iterative(G, mean, scale, found, 1e-12)
    # truncated on purpose: the residual is a hundredth of the right-hand side at most
    assert np.linalg.norm(A @ found - right) <= 1e-2 * np.linalg.norm(right)


def test_indefinite_system_uses_absolute_curvature(rng: np.random.Generator) -> None:
    G, mean = 2.0 * rng.standard_normal((2, 9)), rng.standard_normal(9)
    scale, right = np.ones(9), rng.standard_normal(9)
    K = G.T @ G
    A = np.eye(9) - 2 * (K * K + 2 * np.outer(mean, mean) * K)
    values, vectors = np.linalg.eigh(A)
    expected = vectors @ ((vectors.T @ right) / np.abs(values))
    for solve in (fixed_point.newton_direct, fixed_point.newton_low_rank):
        found = right.copy()
        assert not solve(G, mean, scale, found)
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def solved(n: int, q: int, rng: np.random.Generator, weights: np.ndarray | None = None) -> Any:
    """A cold solve of n labels in q features under precisions that differ."""
    X, codes = rng.standard_normal((n, q)), rng.integers(0, 2, n)
    precision = np.linspace(0.2, 1.0, q)
    held = np.ones(n) if weights is None else weights
    squares, mean, factor = np.empty(n), np.zeros(q), np.diag(precision**-0.5)
    for array in (precision, mean, factor):  # as the posterior passes them: one signature
        array.setflags(write=False)
    found = fixed_point.solve(
        X, precision, codes=codes, weights=held, squares=squares, known=0, mean=mean,
        factor=factor, share=0.5, tol=1e-10, max_steps=200,
    )  # fmt: skip
    return X, codes, precision, held, squares, found


@pytest.mark.parametrize("n, q", [(12, 3), (3, 12), (1, 1), (40, 2)])
def test_solution_satisfies_the_equations(n: int, q: int, rng: np.random.Generator) -> None:
    """Sigma^-1, mu and xi as in Jaakkola and Jordan (2000), with weights, from dense algebra."""
    X, codes, precision, weights, squares, found = solved(n, q, rng, rng.random(n) + 0.5)
    xi = np.sqrt(squares)
    lam = np.tanh(xi / 2) / (4 * xi)
    sigma = np.linalg.inv(np.diag(precision) + 2 * (X.T * (weights * lam)) @ X)
    np.testing.assert_allclose(found.factor @ found.factor.T, sigma, atol=1e-9)
    np.testing.assert_allclose(found.mean, sigma @ (X.T @ (weights * (codes - 0.5))), atol=1e-9)
    second = sigma + np.outer(found.mean, found.mean)
    np.testing.assert_allclose(squares, np.einsum("ni,ij,nj->n", X, second, X), rtol=1e-8)
    assert found.change <= 1e-10
    assert found.steps < 30


def test_rows_without_weight_get_their_value_and_take_no_part(rng: np.random.Generator) -> None:
    weights = np.array([1.0, 0.0, 2.0, 0.0, 1.0, 1.0])
    X, _, _, _, squares, found = solved(6, 2, rng, weights)
    second = found.factor @ found.factor.T + np.outer(found.mean, found.mean)
    np.testing.assert_allclose(squares, np.einsum("ni,ij,nj->n", X, second, X), rtol=1e-8)


def test_large_bases_are_lifted_to_the_same_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = solved(3, 12, np.random.default_rng(4))[-1]
    monkeypatch.setattr(fixed_point, "LARGEST", 0)
    large = solved(3, 12, np.random.default_rng(4))[-1]
    np.testing.assert_allclose(large.mean, plain.mean, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(large.factor @ large.factor.T, plain.factor @ plain.factor.T)


def test_a_direction_of_negative_curvature_ends_the_iteration(rng: np.random.Generator) -> None:
    """At once if it is the first: then the step is that of plain EM, the right-hand side itself."""
    G, mean, scale = 5.0 * rng.standard_normal((2, 9)), np.zeros(9), np.ones(9)
    right = rng.standard_normal(9)
    found = right.copy()
    assert not fixed_point.newton_iterative(G, mean, scale, found, 1e-12)
    np.testing.assert_array_equal(found, right)
    nothing = np.zeros(9)
    assert fixed_point.newton_iterative(0.1 * G, mean, scale, nothing, 1e-12)
    np.testing.assert_array_equal(nothing, np.zeros(9))


def test_a_system_out_of_range_gives_no_step() -> None:
    """The climb then takes a plain EM sweep."""
    found = np.ones(2)
    assert not fixed_point.newton_direct(np.array([[np.inf, 1.0]]), np.ones(2), np.ones(2), found)
    assert np.isnan(found).all()
