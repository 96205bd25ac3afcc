"""Laplace posteriors against reference weights, scipy's optimisers and finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad
from scipy.optimize import minimize

from apm.posteriors import (
    DiagonalHessian,
    Laplace,
    ScalarLaplace,
)
from apm.posteriors.fitting.maximum import newton_step
from apm.posteriors.input_projection import informative_projection
from channelcode.channels import (
    BinarySymmetric,
    Binomial,
    Cauchit,
    Channel,
    Cloglog,
    Lapse,
    Link,
    Logistic,
    Ordinal,
    Probit,
    Softmax,
)
from channelcode.errors import InvalidArgument
from tests.apm.given import drawn

CHANNELS: dict[str, Channel] = {
    "logistic": Logistic(),
    "probit": Probit(),
    "cloglog": Cloglog(),
    "cauchit": Cauchit(),
    "lapse": Lapse(Logistic(), low=0.05, high=0.1),
    "ordinal": Ordinal([-1.0, 0.5]),
    "binomial": Binomial(3, Logistic()),
    "numerical": Link(lambda l: 1 / (1 + np.exp(-2 * l))),
    "softmax": Softmax(3),
}


def loss(
    channel: Channel, X: np.ndarray, y: np.ndarray, precision: float, flat: np.ndarray
) -> float:
    theta = flat.reshape(channel.dim, -1)
    l = X @ theta.T
    logs = channel.log_prob(l[:, 0] if channel.dim == 1 else l)[np.arange(len(y)), y]
    return float(0.5 * precision * flat @ flat - logs.sum())


def test_reference_map_weights(reference: Callable[[str], Any]) -> None:
    """tests/data/posterior.json, exact MAP weights of ten labelled sets."""
    for record in reference("posterior")["records"]:
        found = Laplace(Logistic(), 1 / record["prior_variance"]).fit(record["X"], record["y"]).map
        expected = np.asarray(record["map"])
        assert np.abs(found - expected).max() <= 1e-8 * np.abs(expected).max(), record["name"]


@pytest.mark.parametrize("name", CHANNELS)
def test_maximum_and_curvature(name: str) -> None:
    channel = CHANNELS[name]
    X, y = drawn(channel)
    posterior = Laplace(channel, 0.3).fit(X, y)
    flat = np.ravel(posterior.map)
    start = np.zeros_like(flat)
    best = minimize(
        lambda t: loss(channel, X, y, 0.3, t), start, method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000},
    )  # fmt: skip
    assert loss(channel, X, y, 0.3, flat) <= best.fun + 1e-9
    np.testing.assert_allclose(
        flat, best.x, atol=1e-5
    )  # the simplex stops at about the root of eps
    hessian = np.empty((len(flat), len(flat)))
    h = 1e-3
    for i in range(len(flat)):
        for j in range(len(flat)):
            terms = 0.0
            for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                at = flat.copy()
                at[i] += a * h
                at[j] += b * h
                terms += a * b * loss(channel, X, y, 0.3, at)
            hessian[i, j] = terms / (4 * h * h)
    inverse = np.linalg.inv(hessian)
    if channel.dim > 1:
        centre = np.kron(informative_projection(channel), np.eye(X.shape[1]))
        inverse = centre @ inverse @ centre
    # differences with h = 1e-3 err by h^2 times the fourth derivative
    np.testing.assert_allclose(np.asarray(posterior.covariance), inverse, rtol=1e-4, atol=1e-5)
    assert posterior.exact


def test_quality_against_integration() -> None:
    """In two dimensions the posterior's moments are integrals; Laplace is near for 40 labels."""
    X, y = drawn(Probit(), n=40)
    posterior = Laplace(Probit(), 1.0).fit(X, y)
    centre, width = posterior.mean, 7 * np.sqrt(np.diag(posterior.covariance))

    def weight(a: float, b: float) -> float:
        return float(np.exp(-loss(Probit(), X, y, 1.0, np.array([a, b])) + base))

    base = loss(Probit(), X, y, 1.0, centre)
    low, high = centre - width, centre + width

    def integral(f: Callable[[float, float], float]) -> float:
        return dblquad(
            lambda b, a: f(a, b) * weight(a, b), low[0], high[0], low[1], high[1], epsabs=1e-6
        )[0]

    total = integral(lambda a, b: 1.0)
    mean = np.array([integral(lambda a, b: a), integral(lambda a, b: b)]) / total
    variance = integral(lambda a, b: (a - mean[0]) ** 2) / total
    # the mode of a skew posterior differs from its mean by a fraction of the deviation
    np.testing.assert_allclose(posterior.mean, mean, atol=0.5 * np.sqrt(variance))
    assert posterior.covariance[0, 0] == pytest.approx(variance, rel=0.35)


def test_kinds() -> None:
    assert isinstance(Laplace(Logistic()), ScalarLaplace)
    assert isinstance(Laplace(Logistic()), Laplace)
    assert type(Laplace(Softmax(4))) is Laplace


def test_not_log_concave_keeps_a_positive_covariance() -> None:
    """Far outliers of a Cauchit curve the wrong way; the covariance stays positive definite."""
    X = np.array([[8.0], [8.0], [-8.0], [1.0]])
    posterior = Laplace(Cauchit(), 1e-4).fit(X, [1, 0, 1, 1])
    assert posterior.covariance[0, 0] > 0
    gradient = Cauchit().derivatives(X @ posterior.map).gradient[np.arange(4), [1, 0, 1, 1]]
    np.testing.assert_allclose(1e-4 * posterior.map, gradient @ X, atol=1e-9)


def test_indefinite_hessian_falls_back_to_its_convex_part() -> None:
    curvatures = np.array([[[-3.0]], [[1.0]]])
    Z, slope = np.ones((2, 1)), np.ones((1, 1))
    assert newton_step(curvatures, Z, slope, np.ones(1))[0, 0] == pytest.approx(0.5)
    fitted = Laplace(Cauchit(), 1.0).fit(np.ones((2, 1)), [0, 1])
    assert fitted.exact
    covariance, factor = fitted._spread(np.maximum(curvatures, 0.0))
    assert covariance is None
    assert factor[0, 0] ** 2 == pytest.approx(0.5)
    with pytest.raises(np.linalg.LinAlgError):
        fitted._spread(curvatures)


def test_softmax_of_two_is_logistic() -> None:
    """l = l_1 - l_0 has prior variance 2 |x|^2 / lambda, so lambda halves; all else is equal."""
    X, y = drawn(Logistic(), n=20)
    pair = Laplace(Softmax(2), 0.6).fit(X, y)
    line = Laplace(Logistic(), 0.3).fit(X, y)
    np.testing.assert_allclose(pair.map[1] - pair.map[0], line.map, rtol=1e-8)
    both: Any = pair.pool(pair.project(X))
    laws = both.project([-1.0, 1.0])
    mean, variance = line.project(X)
    np.testing.assert_allclose(laws.mean, mean, rtol=1e-8)
    np.testing.assert_allclose(laws.variance, variance, rtol=1e-8)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["logistic", "probit", "ordinal", "softmax"]))
def test_rotation_and_permutation(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    channel = CHANNELS[name]
    X, y = drawn(channel, n=10, p=3, seed=seed % 1000)
    y = y % channel.num_outputs
    posterior = Laplace(channel, 0.5, classes=range(channel.num_outputs))  # type: ignore[arg-type]
    base = posterior.fit(X, y)
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    order = rng.permutation(10)
    turned = posterior.fit(X[order] @ turn.T, y[order])
    np.testing.assert_allclose(turned.mean, base.mean @ turn.T, atol=1e-8)
    np.testing.assert_allclose(
        turned.summed_covariance, turn @ base.summed_covariance @ turn.T, atol=1e-8
    )


def test_refused() -> None:
    with pytest.raises(InvalidArgument, match="continuous"):
        Laplace(BinarySymmetric(0.1))
    with pytest.raises(InvalidArgument, match="channel must be"):
        Laplace("logistic")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="structure"):
        Laplace(Logistic(), structure="full")  # type: ignore[arg-type]


@pytest.mark.parametrize("features", [3, 250])
def test_a_diagonal_structure_is_diagonal_on_the_line_too(features: int) -> None:
    """Each weight has the inverse of its own curvature, whatever the number of features."""
    rng = np.random.default_rng(4)
    X, y = np.zeros((12, features)), np.arange(12) % 2
    X[:, :3] = rng.normal(size=(12, 3))
    found = Laplace(Logistic(), 0.5, structure=DiagonalHessian()).fit(X, y)
    p = Logistic().prob(X @ found.mean)[:, 1]
    curvature = 0.5 + (p * (1 - p)) @ X**2
    np.testing.assert_allclose(found.covariance, np.diag(1 / curvature), rtol=1e-8, atol=1e-12)
