"""Newton for the most probable weights: its parts, its safeguards, its failures."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize

from apm.posteriors import KroneckerHessian, Laplace
from apm.posteriors.covariances.structures import full_hessian
from apm.posteriors.fitting import maximum as module
from apm.posteriors.fitting.maximum import (
    convex_part,
    inputs_of,
    label_derivatives,
    maximise,
    newton_step,
)
from channelcode.channels import Cauchit, Channel, Logistic, Probit, Softmax
from channelcode.errors import NotConverged
from tests.apm.given import drawn


def test_many_unknowns_by_conjugate_gradients(rng: np.random.Generator) -> None:
    X = rng.standard_normal((300, 90))
    y = rng.integers(0, 5, 300)
    posterior = Laplace(Softmax(5), 1.0, structure=KroneckerHessian()).fit(X, y)
    probability = Softmax(5).prob(X @ posterior.map.T)
    gradient = posterior.map - (np.eye(5)[y] - probability).T @ X
    assert np.abs(gradient).max() < 1e-9


def objective(channel: Channel, X: np.ndarray, y: np.ndarray, weights: np.ndarray, theta) -> float:
    logs = channel.log_prob(inputs_of(channel, X, theta))[np.arange(len(y)), y]
    return float(0.15 * np.sum(theta**2) - weights @ logs)


@pytest.mark.parametrize("channel", [Logistic(), Probit(), Softmax(3)])
@pytest.mark.parametrize("rows", [3, 20])
def test_gradient_vanishes_whatever_the_start(channel, rows, rng) -> None:
    X, y = drawn(channel, n=rows, p=5)
    weights, precision = rng.random(rows) + 0.1, np.full(5, 0.3)
    starts = (None, 5 * rng.normal(size=(channel.dim, 5)))
    found = [
        maximise(channel, X, codes=y, weights=weights, precision=precision, start=start).weights
        for start in starts
    ]
    gradient, _ = label_derivatives(channel, y, inputs_of(channel, X, found[0]))
    slope = precision * found[0] - (weights[:, None] * gradient).T @ X
    np.testing.assert_allclose(slope, 0, atol=1e-9)
    seen = found[0] - found[0].mean(axis=0) if channel.dim > 1 else found[0]
    other = found[1] - found[1].mean(axis=0) if channel.dim > 1 else found[1]
    np.testing.assert_allclose(other, seen, atol=1e-8)
    best = minimize(
        lambda flat: objective(channel, X, y, weights, flat.reshape(channel.dim, 5)),
        np.zeros(channel.dim * 5), method="BFGS", options={"gtol": 1e-8},
    )  # fmt: skip
    assert objective(channel, X, y, weights, found[0]) <= best.fun + 1e-10


def test_no_labels_leave_the_prior_mean() -> None:
    found = maximise(
        Softmax(3), np.empty((0, 2)), codes=np.empty(0, dtype=np.int64), weights=np.empty(0),
        precision=np.ones(2), start=np.ones((3, 2)),
    )  # fmt: skip
    assert found.steps == 0
    np.testing.assert_array_equal(found.weights, np.zeros((3, 2)))


def test_weightless_labels_do_not_pull() -> None:
    X, y = drawn(Logistic(), n=12, p=2)
    weights = np.r_[np.ones(8), np.zeros(4)]
    options = {"precision": np.ones(2), "start": None}
    some = maximise(Logistic(), X, codes=y, weights=weights, **options).weights
    few = maximise(Logistic(), X[:8], codes=y[:8], weights=np.ones(8), **options).weights
    np.testing.assert_allclose(some, few, rtol=1e-10)


def test_a_start_out_of_range_is_left_behind() -> None:
    X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    options = {"codes": y, "weights": np.ones(2), "precision": np.ones(1)}
    far = maximise(Probit(), X, start=np.array([[-1e200]]), **options).weights
    np.testing.assert_allclose(far, maximise(Probit(), X, start=None, **options).weights)


def test_convex_part_cuts_negative_curvature(rng: np.random.Generator) -> None:
    matrices = rng.normal(size=(4, 3, 3))
    matrices = matrices + np.swapaxes(matrices, 1, 2)
    for found, matrix in zip(convex_part(matrices), matrices, strict=True):
        values, vectors = np.linalg.eigh(matrix)
        np.testing.assert_allclose(
            found, vectors @ np.diag(values.clip(min=0)) @ vectors.T, atol=1e-12
        )
    np.testing.assert_array_equal(convex_part(np.array([[[-2.0]], [[3.0]]])), [[[0.0]], [[3.0]]])


def test_step_solves_the_newton_system(monkeypatch, rng: np.random.Generator) -> None:
    """Directly and by conjugate gradients: H step = slope."""
    p = rng.dirichlet(np.ones(3), size=7)
    W = np.array([np.diag(row) - np.outer(row, row) for row in p])
    Z, slope, precision = rng.normal(size=(7, 4)), rng.normal(size=(3, 4)), np.full(4, 0.7)
    expected = np.linalg.solve(full_hessian(W, Z, precision), slope.ravel()).reshape(3, 4)
    np.testing.assert_allclose(newton_step(W, Z, slope, precision), expected, rtol=1e-10)
    W[2] = 0.0  # a label without weight, or one that is certain, bends nothing
    flat = np.linalg.solve(full_hessian(W, Z, precision), slope.ravel()).reshape(3, 4)
    np.testing.assert_allclose(newton_step(W, Z, slope, precision), flat, rtol=1e-10)
    monkeypatch.setattr(module, "DIRECT_SIZE", 1)
    np.testing.assert_allclose(newton_step(W, Z, slope, precision), flat, rtol=1e-9)


def test_a_local_maximum_of_a_heavy_tail_is_still_a_maximum() -> None:
    X, y = np.array([[8.0], [8.0], [-8.0], [1.0]]), np.array([1, 0, 1, 1])
    found = maximise(
        Cauchit(), X, codes=y, weights=np.ones(4), precision=np.array([0.3]), start=None
    ).weights
    here = objective(Cauchit(), X, y, np.ones(4), found)
    for step in (-1e-3, 1e-3):
        assert objective(Cauchit(), X, y, np.ones(4), found + step) > here


def test_too_few_steps_are_an_error_with_the_weights(monkeypatch) -> None:
    X, y = drawn(Logistic(), n=20, p=2)
    monkeypatch.setattr(module, "MAX_STEPS", 1)
    with pytest.raises(NotConverged, match="raise prior_precision") as caught:
        Laplace(Logistic(), 0.01).fit(X, y)
    assert caught.value.result.shape == (1, 2)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_derivatives_of_any_number_of_labels(count):
    """Of ln sigma(l): 1 - sigma(l) and -sigma(l)(1 - sigma(l)), also for a single label."""
    l = np.array([0.5, -1.0])[:count]
    gradient, hessian = label_derivatives(Logistic(), np.ones(count, dtype=np.int64), l)
    share = 1 / (1 + np.exp(-l))
    np.testing.assert_allclose(gradient, (1 - share)[:, None])
    np.testing.assert_allclose(hessian, (-share * (1 - share))[:, None, None])


def exact_weights(channel: Channel, X: np.ndarray, y: np.ndarray, precision: float) -> np.ndarray:
    """Newton in forty digits, from the formulas of the two links."""
    with mpmath.workdps(40):
        rows = [mpmath.matrix([mpmath.mpf(float(x)) for x in row]) for row in X]
        theta = mpmath.zeros(X.shape[1], 1)
        for _ in range(60):
            slope, bend = precision * theta, precision * mpmath.eye(X.shape[1])
            for row, label in zip(rows, y, strict=True):
                sign = 1 if label else -1
                m = sign * (row.T * theta)[0]
                if isinstance(channel, Logistic):
                    miss = 1 / (1 + mpmath.exp(m))
                    pull, curve = miss, miss * (1 - miss)
                else:
                    pull = mpmath.npdf(m) / mpmath.ncdf(m)
                    curve = pull * (pull + m)
                slope -= sign * pull * row
                bend += curve * (row * row.T)
            step = mpmath.lu_solve(bend, slope)
            theta -= step
            if max(abs(each) for each in step) < mpmath.mpf(10) ** -25:
                return np.array([float(each) for each in theta])
    raise AssertionError("forty digits were not enough")


@pytest.mark.parametrize("offset", [1e3, 1e5])
@pytest.mark.parametrize("channel", [Logistic(), Probit()])
def test_features_far_from_zero(channel, offset) -> None:
    """Inputs are differences of large terms: their rounding ends the search, not its failure."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = np.column_stack([offset + rng.standard_normal((11, 2)), np.ones(11)])
        y = (X[:, 0] > offset).astype(int)
        y[0] = 1 - y[0]
        precision = np.full(3, 0.1)
        found = maximise(channel, X, codes=y, weights=np.ones(11), precision=precision, start=None)
        known = exact_weights(channel, X, y, 0.1)
        # inputs are known to the rounding of terms of the size of the offset, and a little more
        atol = 1e-12 * offset
        np.testing.assert_allclose(X @ found.weights[0], X @ known, atol=atol)
