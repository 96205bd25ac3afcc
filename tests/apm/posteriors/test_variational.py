"""The variational posterior against reference figures, integration, plain EM and its own theory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import log_expit

from apm.posteriors import VariationalLogistic
from channelcode.errors import InvalidArgument, NotConverged

NAMES = [
    "cross-n2", "cross-n10", "clouds-n25", "austra-n2", "austra-n20", "vehicle-full-n10",
    "vehicle-full-n42", "wdbc-n2", "wdbc-n15", "vehicle-full-nsingle",
]  # fmt: skip


@pytest.fixture
def record(reference: Callable[[str], Any], request: pytest.FixtureRequest) -> dict[str, Any]:
    records = {r["name"]: r for r in reference("posterior")["records"]}
    assert sorted(records) == sorted(NAMES)
    return records[request.param]


def relative(value: Any, reference: Any) -> float:
    reference = np.asarray(reference)
    return float(np.abs(np.asarray(value) - reference).max() / np.abs(reference).max())


@pytest.mark.parametrize("record", NAMES, indirect=True)
def test_reference_figures(record: dict[str, Any]) -> None:
    """tests/data/posterior.json: converged by an independent program to about 1e-10."""
    posterior = VariationalLogistic(1.0 / record["prior_variance"]).fit(record["X"], record["y"])
    assert relative(posterior.mean, record["mean"]) < 1e-8
    assert relative(posterior.covariance, record["covariance"]) < 1e-8
    assert relative(posterior.xi, record["xi"]) < 1e-8
    assert posterior.evidence_bound == pytest.approx(record["evidence_bound"], rel=1e-8)
    assert relative(posterior.map, record["map"]) < 1e-8
    assert posterior.steps <= 20  # plain EM: 50 to 367


@pytest.mark.parametrize("record", NAMES, indirect=True)
def test_reference_figures_one_label_at_a_time(record: dict[str, Any]) -> None:
    posterior, steps = VariationalLogistic(1.0 / record["prior_variance"]), []
    for row, label in zip(record["X"], record["y"], strict=True):
        posterior = posterior.update(row, label)
        steps.append(posterior.steps)
        _ = posterior.map  # so that the next MAP is warm-started too
    assert relative(posterior.mean, record["mean"]) < 1e-8
    assert relative(posterior.covariance, record["covariance"]) < 1e-8
    assert relative(posterior.map, record["map"]) < 1e-8
    assert np.mean(steps) <= 8


def problems() -> st.SearchStrategy[tuple[np.ndarray, np.ndarray, float]]:
    """Features, labels and a prior precision; separable, duplicated and zero rows included."""

    @st.composite
    def build(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, float]:
        n, d = draw(st.integers(1, 12)), draw(st.integers(1, 8))
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        X = rng.standard_normal((n, d)) * draw(st.sampled_from([0.1, 1.0, 5.0]))
        if draw(st.booleans()):
            y = (X[:, 0] > 0).astype(int)
        else:
            y = rng.integers(0, 2, n)
        if draw(st.booleans()):
            X[-1] = X[0]
        if draw(st.integers(0, 4)) == 0:
            X[0] = 0.0
        return X, y, draw(st.sampled_from([1e-3, 0.01, 0.3, 10.0]))

    return build()


def plain_em(X: np.ndarray, y: np.ndarray, precision: float, sweeps: int) -> list[dict[str, Any]]:
    """The textbook sweep, written from the four equations; returns every state."""
    n, d = X.shape
    xi, states = np.ones(n), []
    for _ in range(sweeps):
        with np.errstate(invalid="ignore"):
            lam = np.where(xi > 0, np.tanh(xi / 2) / (4 * xi), 0.125)
        covariance = np.linalg.inv(precision * np.eye(d) + (X.T * (2 * lam)) @ X)
        mean = covariance @ X.T @ (y - 0.5)
        bound = 0.5 * np.linalg.slogdet(covariance * precision)[1]
        bound += 0.5 * mean @ np.linalg.solve(covariance, mean)
        bound += np.sum(log_expit(xi) - xi / 2 + lam * xi**2)
        states.append({"mean": mean, "covariance": covariance, "xi": xi, "bound": bound})
        xi = np.sqrt(np.einsum("ij,jk,ik->i", X, covariance + np.outer(mean, mean), X))
    return states


@given(problems())
def test_fixed_point_equations(problem: tuple[np.ndarray, np.ndarray, float]) -> None:
    X, y, precision = problem
    posterior = VariationalLogistic(precision).fit(X, y, np.ones(len(y)))
    last = plain_em(X, y, precision, 3)[-1]
    second = posterior.covariance + np.outer(posterior.mean, posterior.mean)
    xi = np.sqrt(np.einsum("ij,jk,ik->i", X, second, X))
    # the residual of the equation; the error of xi itself is the reference test's business
    np.testing.assert_allclose(posterior.xi, xi, rtol=1e-8, atol=1e-12)
    lam = np.where(xi > 0, np.tanh(xi / 2) / (4 * np.where(xi > 0, xi, 1)), 0.125)
    inverse = precision * np.eye(X.shape[1]) + (X.T * (2 * lam)) @ X
    np.testing.assert_allclose(inverse @ posterior.covariance, np.eye(X.shape[1]), atol=1e-6)
    assert posterior.evidence_bound >= last["bound"] - 1e-9


@settings(max_examples=30)
@given(problems())
def test_plain_em_climbs_to_the_same_bound(problem: tuple[np.ndarray, np.ndarray, float]) -> None:
    """EM's bound never falls and never passes ours: the fixed point found is the one EM seeks."""
    X, y, precision = problem
    bounds = [s["bound"] for s in plain_em(X, y, precision, 60)]
    assert np.diff(bounds).min() >= -1e-9
    assert VariationalLogistic(precision).fit(X, y).evidence_bound >= bounds[-1] - 1e-9


@settings(max_examples=40)
@given(problems(), st.integers(0, 2**32 - 1))
def test_start_does_not_matter(problem: Any, seed: int) -> None:
    X, y, precision = problem
    rng = np.random.default_rng(seed)
    cold = VariationalLogistic(precision).fit(X, y)
    elsewhere = VariationalLogistic(precision).fit(rng.standard_normal(X.shape) * 3, 1 - y)
    warm = elsewhere.fit(X, y)
    np.testing.assert_allclose(warm.xi, cold.xi, rtol=1e-7, atol=1e-10)
    assert warm.evidence_bound == pytest.approx(cold.evidence_bound, abs=1e-9)


@settings(max_examples=40)
@given(problems(), st.integers(0, 2**32 - 1))
def test_invariances(problem: Any, seed: int) -> None:
    """Permuted examples, rotated features, exchanged classes: the posterior follows."""
    X, y, precision = problem
    rng = np.random.default_rng(seed)
    posterior = VariationalLogistic(precision, classes=[0, 1])
    base = posterior.fit(X, y)
    scale = np.abs(base.mean).max() + 1e-300
    order = rng.permutation(len(y))
    np.testing.assert_allclose(
        posterior.fit(X[order], y[order]).mean / scale, base.mean / scale, atol=1e-7
    )
    rotation, _ = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))
    turned = posterior.fit(X @ rotation.T, y)
    np.testing.assert_allclose(turned.mean / scale, rotation @ base.mean / scale, atol=1e-7)
    np.testing.assert_allclose(
        turned.covariance * precision,
        rotation @ base.covariance @ rotation.T * precision,
        atol=1e-7,
    )
    swapped = posterior.fit(X, 1 - y)
    np.testing.assert_allclose(swapped.mean / scale, -base.mean / scale, atol=1e-7)
    np.testing.assert_allclose(swapped.covariance, base.covariance, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("precision", [0.1, 1.0, 4.0])
def test_bound_and_moments_against_integration(precision: float, rng: np.random.Generator) -> None:
    """In one dimension the evidence and the moments are integrals; the bound lies below."""
    x = rng.standard_normal(6)
    y = np.array([0, 1, 1, 0, 1, 1])

    def joint(theta: float) -> float:
        logs = log_expit((2 * y - 1) * x * theta).sum()
        return float(np.exp(logs - 0.5 * precision * theta**2) * np.sqrt(precision / (2 * np.pi)))

    reach = 12 / np.sqrt(precision)
    evidence, first, second = (
        quad(lambda t, k=k: t**k * joint(t), -reach, reach, epsabs=1e-13, limit=200)[0]
        for k in range(3)
    )
    posterior = VariationalLogistic(precision).fit(x[:, None], y)
    assert posterior.evidence_bound <= np.log(evidence) + 1e-12
    assert posterior.evidence_bound == pytest.approx(np.log(evidence), abs=0.2)
    mean = first / evidence
    variance = second / evidence - mean**2
    # the known character of the bound: the mean is good, the variance is too small
    assert posterior.mean[0] == pytest.approx(mean, abs=0.25 * np.sqrt(variance))
    assert 0.3 * variance < posterior.covariance[0, 0] < 1.02 * variance


def test_prior_and_uninformative_rows() -> None:
    prior = VariationalLogistic(4.0).sized(3)
    assert prior.evidence_bound == 0.0
    np.testing.assert_allclose(prior.covariance, np.eye(3) / 4, rtol=1e-15)
    told = prior.update(np.zeros(3), 1)
    assert told.evidence_bound == pytest.approx(-np.log(2))
    np.testing.assert_allclose(told.covariance, prior.covariance)
    assert told.xi.tolist() == [0.0]


def test_weightless_rows_take_no_part_but_get_their_xi(rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((8, 3)), np.array([0, 1] * 4)
    weights = np.array([1.0] * 5 + [0.0] * 3)
    posterior = VariationalLogistic(0.1).fit(X, y, weights)
    alone = VariationalLogistic(0.1).fit(X[:5], y[:5])
    np.testing.assert_allclose(posterior.mean, alone.mean, rtol=1e-9)
    second = alone.covariance + np.outer(alone.mean, alone.mean)
    np.testing.assert_allclose(posterior.xi**2, np.einsum("ij,jk,ik->i", X, second, X), rtol=1e-8)


@pytest.mark.parametrize("n, d", [(400, 30), (300, 2), (60, 5)])
def test_many_labels(n: int, d: int, rng: np.random.Generator) -> None:
    """Conjugate gradients (n > 256, d large), the low-rank form (d small), the direct one."""
    X = rng.standard_normal((n, d))
    y = (X @ np.ones(d) + 0.3 * rng.standard_normal(n) > 0).astype(int)
    posterior = VariationalLogistic(0.01).fit(X, y)
    assert posterior.steps <= 30
    second = posterior.covariance + np.outer(posterior.mean, posterior.mean)
    np.testing.assert_allclose(posterior.xi**2, np.einsum("ij,jk,ik->i", X, second, X), rtol=1e-8)


@pytest.mark.parametrize("precision", [1e-4, 1e-6])
def test_weak_priors_on_separable_data(precision: float, rng: np.random.Generator) -> None:
    """Plain EM needs tens of thousands of sweeps here."""
    X = rng.standard_normal((30, 10))
    y = (X[:, 0] > 0).astype(int)
    posterior = VariationalLogistic(precision).fit(X[:2], y[:2])
    for row, label in zip(X[2:], y[2:], strict=True):
        posterior = posterior.update(row, label)
    cold = VariationalLogistic(precision).fit(X, y)
    np.testing.assert_allclose(posterior.xi, cold.xi, rtol=1e-7)


def test_features_in_the_thousands_converge_to_rounding(rng: np.random.Generator) -> None:
    """An effective prior precision of 1e-8: the equations hold as far as rounding lets them."""
    X = 1e3 * rng.standard_normal((30, 6))
    posterior = VariationalLogistic(0.01).fit(X, (X[:, 0] > 0).astype(int))
    second = posterior.covariance + np.outer(posterior.mean, posterior.mean)
    np.testing.assert_allclose(posterior.xi**2, np.einsum("ij,jk,ik->i", X, second, X), rtol=1e-7)


def test_no_fixed_point_in_double_precision_is_an_error_with_the_result() -> None:
    X = np.random.default_rng(0).standard_normal((40, 16))
    with pytest.raises(NotConverged, match="raise prior_precision or tol") as caught:
        VariationalLogistic(1e-15).fit(X, (X[:, 0] > 0).astype(int))
    assert caught.value.result.mean.shape == (16,)
    with pytest.raises(InvalidArgument, match="tol"):
        VariationalLogistic(tol=0.0)


def test_map_of_one_class_and_of_separable_data_minimises_the_loss(
    rng: np.random.Generator,
) -> None:
    from scipy.optimize import minimize

    X = rng.standard_normal((7, 3))
    for y in (np.ones(7, dtype=int), (X[:, 0] > 0).astype(int)):

        def loss(theta: np.ndarray, y: np.ndarray = y) -> float:
            return 0.005 * theta @ theta - log_expit((2 * y - 1) * (X @ theta)).sum()

        best = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-10})
        found = VariationalLogistic(0.01).fit(X, y).map
        assert loss(found) <= best.fun + 1e-12
        np.testing.assert_allclose(found, best.x, atol=1e-5)  # BFGS stops on the gradient


def test_many_features_give_what_few_do(rng: np.random.Generator) -> None:
    """Columns of zeros change nothing, though beyond 192 features another route is taken."""
    X, y = rng.standard_normal((9, 4)), np.array([0, 1, 1, 0, 1, 1, 0, 1, 0])
    weights = np.array([1.0, 2.0, 0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 3.0])
    wide = np.hstack([X, np.zeros((9, 300))])
    for weight in (None, weights):
        few = VariationalLogistic(0.3).fit(X, y, weight)
        many = VariationalLogistic(0.3).fit(wide, y, weight)
        np.testing.assert_allclose(many.mean[:4], few.mean, atol=1e-9)
        np.testing.assert_allclose(many.xi, few.xi, atol=1e-8)
        assert not many.mean[4:].any()
