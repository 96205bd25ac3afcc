"""Every posterior: copies, signatures, data without information, labels that cancel, any scale."""

# Odd types are what these tests are about.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import copy
import inspect
import io
import pickle
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from apm.posteriors import (
    Bohning,
    DiagonalHessian,
    KroneckerHessian,
    Laplace,
    Posterior,
    Sampled,
    ScalarLaplace,
    VariationalLogistic,
)
from channelcode.channels import Logistic, Probit, Softmax
from channelcode.errors import InvalidArgument, NotConverged
from tests.apm.posteriors.test__posteriors import FAMILY, data, made, matrix

SYMMETRIC = [name for name in FAMILY if name not in ("sampled", "laplace-ordinal")]
COMMON = ("intercept", "intercept_precision", "classes")


@pytest.mark.parametrize("name", FAMILY)
def test_pickle_deepcopy_and_joblib(name: str) -> None:
    import joblib

    posterior = made(name, 0.2, intercept=True)
    X, y = data(posterior)
    for held in (posterior, posterior.fit(X, y)):
        sent = pickle.loads(pickle.dumps(held))
        written = io.BytesIO()
        joblib.dump(held, written)
        written.seek(0)
        for again in (sent, copy.deepcopy(held), copy.copy(held), joblib.load(written)):
            assert type(again) is type(held)
            assert repr(again) == repr(held)
            further = again.update(X[0], y[0])
            np.testing.assert_array_equal(further.mean, held.update(X[0], y[0]).mean)
            with pytest.raises(AttributeError, match="immutable"):
                again._codes = None


@pytest.mark.parametrize("kind", [VariationalLogistic, Laplace, ScalarLaplace, Bohning, Sampled])
def test_signature_names_every_argument(kind: type[Posterior]) -> None:
    parameters = inspect.signature(kind).parameters
    names = list(parameters)
    assert names[-3:] == list(COMMON)
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in names[2:])
    # prior_precision follows the likelihood, where there is a choice of one
    place = 0 if kind is VariationalLogistic else 1
    assert names[place] == "prior_precision"
    assert parameters["prior_precision"].default == 0.01
    with pytest.raises(TypeError, match="unexpected"):
        kind(*([Logistic(), 2][kind is Bohning],) * place, nonsense=1)  # type: ignore[arg-type]


def test_a_class_of_ones_own_says_what_to_derive_from() -> None:
    class Mine(Laplace):
        __slots__ = ()

    class MineOnTheLine(ScalarLaplace):
        __slots__ = ()

    assert type(Mine(Softmax(3))) is Mine
    assert type(MineOnTheLine(Probit())) is MineOnTheLine
    with pytest.raises(InvalidArgument, match="derive from ScalarLaplace"):
        Mine(Probit())


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("rows", [[[0.0, 0.0]], [[0.0, 0.0]] * 3, [[0.0, 0.0], [1.0, 2.0]]])
def test_rows_without_features(name: str, rows: list) -> None:
    fitted = made(name, 0.1).fit(rows, [1] * len(rows))
    assert np.isfinite(fitted.mean).all()
    assert np.isfinite(fitted.map).all()
    if not np.any(rows) and name != "sampled":
        np.testing.assert_array_equal(fitted.mean, 0)
        np.testing.assert_allclose(matrix(fitted), matrix(made(name, 0.1).sized(2)), atol=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 1e3, 1e9, 1e16])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_labels_that_contradict_each_other(name: str, scale: float) -> None:
    """Equal rows with every label once: for symmetric channels the maximum is exactly zero."""
    posterior = made(name, 0.01)
    rng = np.random.default_rng(3)
    k = posterior.num_labels
    X = scale * np.repeat(rng.standard_normal((4, 3)), k, axis=0)
    fitted = posterior.fit(X, np.tile(np.arange(k), 4))
    np.testing.assert_allclose(X @ np.atleast_2d(fitted.map).T, 0, atol=1e-9)


def test_many_random_contradictions() -> None:
    """Each pair of labels cancels; the MAP is zero whatever the rows (8 of 400 used to raise)."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((int(rng.integers(1, 6)), int(rng.integers(1, 5))))
        posterior = VariationalLogistic().fit(np.concatenate((X, X)), np.repeat([0, 1], len(X)))
        np.testing.assert_allclose(posterior.map, 0, atol=1e-9)


# Sizes ------------------------------------------------------------------------------------------


def test_a_thousand_classes_by_structure() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5, 16)), np.arange(5)
    full = Laplace(Softmax(1000), 1.0)
    with pytest.raises(InvalidArgument, match=r"16,000 x 16,000: it would take 1\.9 GiB"):
        full.fit(X, y)
    diagonal = Laplace(Softmax(1000), 1.0, structure=DiagonalHessian()).fit(X, y)
    assert diagonal.covariance.variances.shape == (1000, 16)
    with pytest.raises(InvalidArgument, match="GiB"):
        diagonal.project(rng.standard_normal((500, 16)))
    assert Laplace(Softmax(300), 1.0, structure=KroneckerHessian()).fit(X, y).exact


# Scales, against forty digits -------------------------------------------------------------------


def exact_logistic_map(X: np.ndarray, y: np.ndarray, precision: float) -> tuple[Any, Any]:
    """The MAP and covariance of logistic regression by Newton in a hundred and fifty digits."""
    with mp.workdps(150):
        rows = [[mp.mpf(float(v)) for v in row] for row in X]
        signs = [2 * int(label) - 1 for label in y]
        q, lam = len(rows[0]), mp.mpf(precision)
        theta = mp.matrix(q, 1)

        def parts(theta: Any) -> tuple[Any, Any, Any]:
            loss, g, H = mp.mpf(0), mp.matrix(q, 1), mp.matrix(q, q)
            for j in range(q):
                loss += lam * theta[j] ** 2 / 2
                g[j] += lam * theta[j]
                H[j, j] += lam
            for row, sign in zip(rows, signs, strict=True):
                margin = sign * sum(a * b for a, b in zip(row, theta, strict=True))
                miss = 1 / (1 + mp.exp(margin))
                loss += mp.log1p(mp.exp(-margin))
                for j in range(q):
                    g[j] -= sign * miss * row[j]
                    for k in range(q):
                        H[j, k] += miss * (1 - miss) * row[j] * row[k]
            return loss, g, H

        for _ in range(600):
            loss, g, H = parts(theta)
            step = mp.lu_solve(H, g)
            length = mp.mpf(1)
            while parts(theta - length * step)[0] > loss:
                length /= 2
                if length < mp.mpf(10) ** -100:
                    break
            theta = theta - length * step
            if max(abs(v) for v in step) <= mp.mpf(10) ** -40 * max(abs(v) for v in theta):
                break
        return theta, parts(theta)[2] ** -1


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e-8, 1e8, 1e16, 1e18, 1e24, 1e30, 1e60])
@pytest.mark.parametrize("shape", ["line", "one wide column", "plane"])
def test_the_maximum_at_any_scale(scale: float, shape: str) -> None:
    """A nanosecond timestamp is 1e18: the answer is the maximum, or an error, never another."""
    if shape == "line":
        X, y = np.array([[scale]]), np.array([1])
    elif shape == "plane":
        X, y = scale * np.array([[1.0, 0.3], [-0.2, 1.1], [0.5, 0.4]]), np.array([1, 0, 0])
    else:
        X = np.array([[scale, 1.0], [1.1 * scale, -1.0], [-0.7 * scale, 0.5]])
        y = np.array([1, 0, 0])
    theta, covariance = exact_logistic_map(X, y, 0.01)
    reach = np.abs(X).max(axis=0)

    def close(found: Any, expected: list, rtol: float) -> None:
        # in units of the logit: each weight counts by what its feature makes of it
        wanted = np.array([float(e * mp.mpf(r)) for e, r in zip(expected, reach, strict=True)])
        np.testing.assert_allclose(
            found * reach, wanted, rtol=rtol, atol=rtol * np.abs(wanted).max()
        )

    try:
        laplace: Any = Laplace(Logistic(), 0.01).fit(X, y)
        close(laplace.map, list(theta), 1e-7)
        for j in range(len(theta)):
            relative = float(mp.mpf(float(laplace.covariance[j, j])) / covariance[j, j])
            assert relative == pytest.approx(1.0, rel=1e-6)
    except NotConverged:
        assert scale >= 1e30
    try:
        close(VariationalLogistic(0.01).fit(X, y).map, list(theta), 1e-7)
    except NotConverged:
        assert scale >= 1e18
    try:  # the difference of two classes' weights has half their precision
        two = Bohning(2, 0.02).fit(X, y).mean
        close(two[1] - two[0], list(theta), 1e-6)
    except NotConverged:
        assert scale >= 1e18


@pytest.mark.parametrize("name", FAMILY)
def test_features_beyond_range_are_refused(name: str) -> None:
    posterior = made(name, 0.1)
    for call in (lambda: posterior.fit([[1e150]], [1]), lambda: posterior.update([1e150], 1)):
        with pytest.raises(InvalidArgument, match="scale the features"):
            call()
