"""The softmax maximum against SciPy, in every shape of its linear algebra."""

# Odd types are what these tests are about.
# pyright: reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from apm.posteriors.fitting.softmax_maximum import Curvature, softmax_maximum, softmax_point


def problem(
    n: int, r: int, k: int, scale: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(n, r)), rng.integers(0, k, n), 0.5 + rng.random(n)


def scipy_loss(flat: np.ndarray, Z: np.ndarray, y: np.ndarray, w: np.ndarray, k: int) -> float:
    V = flat.reshape(k, -1)
    logs = special.log_softmax(Z @ V.T, axis=1)[np.arange(len(y)), y]
    return 0.5 * float(flat @ flat) - float(w @ logs)


@pytest.mark.parametrize(
    ("n", "r", "k", "scale"), [(5, 5, 3, 1.0), (40, 3, 4, 3.0), (12, 8, 6, 10.0), (30, 2, 2, 0.1)]
)
def test_minimum_is_scipys(n: int, r: int, k: int, scale: float) -> None:
    Z, y, w = problem(n, r, k, scale)
    V, _ = softmax_maximum(Z, y, w, np.zeros((k, r)))
    other = optimize.minimize(scipy_loss, np.zeros(k * r), (Z, y, w, k), method="L-BFGS-B")
    assert scipy_loss(V.ravel(), Z, y, w, k) <= other.fun + 1e-12
    np.testing.assert_allclose(V.ravel(), other.x, atol=1e-4)  # SciPy's numerical gradient
    # strong convexity: the distance to the maximum is at most the gradient's norm
    assert np.linalg.norm(softmax_point(Z, y, w, V).gradient) <= 1e-8 * np.linalg.norm(V)
    np.testing.assert_allclose(V.sum(axis=0), 0, atol=1e-12)


def test_gradient_and_curvature_are_the_derivatives() -> None:
    rng = np.random.default_rng(1)
    for n, r, k in ((6, 4, 5), (60, 2, 3)):  # the joint system, and the dense one
        Z, y, w = problem(n, r, k, 1.0, seed=n)
        V = rng.normal(size=(k, r))
        V -= V.mean(axis=0)
        point = softmax_point(Z, y, w, V)
        numerical = optimize.approx_fprime(V.ravel(), scipy_loss, 1e-7, Z, y, w, k)
        np.testing.assert_allclose(point.gradient.ravel(), numerical, atol=1e-5)
        direction, h = rng.normal(size=(k, r)), 1e-6
        direction -= direction.mean(axis=0)
        ahead = softmax_point(Z, y, w, V + h * direction).gradient
        behind = softmax_point(Z, y, w, V - h * direction).gradient
        image = (ahead - behind) / (2 * h)
        curvature = Curvature(Z, w, point.probability)
        np.testing.assert_allclose(curvature.times(direction), image, rtol=1e-6, atol=1e-6)
        back = curvature.solve(image)
        np.testing.assert_allclose(back, direction, rtol=1e-6, atol=1e-6)  # a difference quotient


def test_any_start_gives_the_same_maximum() -> None:
    Z, y, w = problem(25, 6, 4, 4.0)
    cold, _ = softmax_maximum(Z, y, w, np.zeros((4, 6)))
    rng = np.random.default_rng(2)
    for start in (rng.normal(size=(4, 6)), 100 * rng.normal(size=(4, 6)), np.full((4, 6), 1e200)):
        warm, _ = softmax_maximum(Z, y, w, start)
        np.testing.assert_allclose(warm, cold, rtol=1e-8, atol=1e-9)


def test_a_warm_start_takes_few_steps() -> None:
    Z, y, w = problem(40, 8, 5, 2.0)
    before, _ = softmax_maximum(Z[:-1], y[:-1], w[:-1], np.zeros((5, 8)))
    _, cold = softmax_maximum(Z, y, w, np.zeros((5, 8)))
    _, steps = softmax_maximum(Z, y, w, before)
    assert steps <= cold
    found, _ = softmax_maximum(Z, y, w, before)
    assert softmax_maximum(Z, y, w, found)[1] == 1


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e16])
def test_labels_that_cancel_have_the_maximum_zero(scale: float) -> None:
    Z = scale * np.array([[1.0, 2.0]] * 3 + [[-0.3, 0.7]] * 3)
    y = np.array([0, 1, 2, 0, 1, 2])
    V, _ = softmax_maximum(Z, y, np.ones(6), np.zeros((3, 2)))
    np.testing.assert_allclose(scale * V, 0, atol=1e-12)


def test_rows_without_weight_or_features_take_no_part() -> None:
    Z, y, w = problem(10, 3, 3, 2.0)
    alone, _ = softmax_maximum(Z, y, w, np.zeros((3, 3)))
    more = np.concatenate((Z, Z[:2] + 1.0, np.zeros((2, 3))))
    labels, weights = np.concatenate((y, [0, 1, 2, 2])), np.concatenate((w, [0.0, 0.0, 1.0, 1.0]))
    both, _ = softmax_maximum(more, labels, weights, np.zeros((3, 3)))
    np.testing.assert_allclose(both, alone, rtol=1e-9, atol=1e-11)
    nothing, _ = softmax_maximum(np.zeros((2, 3)), np.array([1, 1]), np.ones(2), np.zeros((3, 3)))
    np.testing.assert_array_equal(nothing, 0)
