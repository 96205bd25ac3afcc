"""The contract that every posterior passes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from apm.posteriors import (
    Bohning,
    DiagonalHessian,
    KroneckerHessian,
    Laplace,
    Posterior,
    Sampled,
    VariationalLogistic,
)
from channelcode.channels import Cauchit, Logistic, Ordinal, Probit, Softmax
from channelcode.errors import InvalidArgument

Factory = Callable[..., Posterior]

FAMILY: dict[str, Factory] = {
    "variational": VariationalLogistic,
    "laplace-logistic": lambda *a, **k: Laplace(Logistic(), *a, **k),
    "laplace-probit": lambda *a, **k: Laplace(Probit(), *a, **k),
    "laplace-cauchit": lambda *a, **k: Laplace(Cauchit(), *a, **k),
    "laplace-ordinal": lambda *a, **k: Laplace(Ordinal([-0.5, 1.0]), *a, **k),
    "laplace-diagonal": lambda *a, **k: Laplace(Logistic(), *a, structure=DiagonalHessian(), **k),
    "softmax": lambda *a, **k: Laplace(Softmax(3), *a, **k),
    "softmax-kronecker": lambda *a, **k: Laplace(Softmax(3), *a, structure=KroneckerHessian(), **k),
    "softmax-diagonal": lambda *a, **k: Laplace(Softmax(3), *a, structure=DiagonalHessian(), **k),
    "bohning": lambda *a, **k: Bohning(3, *a, **k),
    "sampled": lambda p=0.01, **k: Sampled(Logistic(), p, samples=20, burn_in=5, **k),
}
EXACT = [name for name in FAMILY if name != "sampled"]
CONVEX = [name for name in EXACT if name != "laplace-cauchit"]


def made(name: str, *args: Any, **kwargs: Any) -> Posterior:
    return FAMILY[name](*args, **kwargs)


def data(posterior: Posterior, n: int = 12, p: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n * 10 + p)
    X = rng.standard_normal((n, p))
    y = np.arange(n) % posterior.num_labels
    return X, rng.permutation(y)


def matrix(posterior: Posterior) -> np.ndarray:
    return np.asarray(posterior.covariance)


@pytest.mark.parametrize("name", FAMILY)
def test_prior_before_data(name: str) -> None:
    prior = made(name, 0.25).sized(3)
    if name == "sampled":
        assert prior.num_observations == 0
        return
    assert not np.any(prior.mean)
    visible = 1.0 if prior.dim == 1 else prior.dim - 1.0
    # each direction of the input that the channel sees has variance |x|^2 / precision
    np.testing.assert_allclose(prior.summed_covariance, visible / 0.25 * np.eye(3), atol=1e-12)


@pytest.mark.parametrize("name", FAMILY)
def test_immutable_and_inputs_untouched(name: str) -> None:
    posterior = made(name, 0.1)
    X, y = data(posterior)
    kept = X.copy(), y.copy()
    fitted = posterior.fit(X, y)
    before = fitted.mean.copy()
    fitted.update(X[0] + 1.0, y[0])
    X[:] = 0.0
    np.testing.assert_array_equal(fitted.mean, before)
    np.testing.assert_array_equal(fitted.design, kept[0])
    assert posterior.num_features is None
    with pytest.raises(AttributeError, match="immutable"):
        fitted.tol = 1.0  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="read-only"):
        fitted.design[0, 0] = 5.0


PARTS = (
    "mean", "map", "covariance", "summed_covariance", "factor", "samples", "design", "codes",
    "sample_weight", "precision", "classes_",
)  # fmt: skip


@pytest.mark.parametrize("name", FAMILY)
def test_writing_into_what_it_gives_changes_nothing(name: str) -> None:
    posterior = made(name, 0.1)
    X, y = data(posterior)
    fitted = posterior.fit(X, y)
    restored = type(fitted).from_state(fitted.state(), fitted.channel)
    for held in (posterior.sized(3), fitted, fitted.update(X[0], y[0]), restored):
        for part in PARTS:
            array = getattr(held, part, None)
            if not isinstance(array, np.ndarray):
                continue
            before = array.copy()
            with contextlib.suppress(ValueError):  # read-only, or a copy of its own
                array[...] = 7
            np.testing.assert_array_equal(getattr(held, part), before, err_msg=part)


@pytest.mark.parametrize("name", CONVEX)
def test_update_is_fit(name: str) -> None:
    posterior = made(name, 0.1)
    X, y = data(posterior)
    at_once = posterior.fit(X, y)
    step_by_step = posterior
    for row, label in zip(X[:5], y[:5], strict=True):
        step_by_step = step_by_step.update(row, label)
    step_by_step = step_by_step.update(X[5:], y[5:])
    # both are the same optimum, found to 1e-10 or better
    np.testing.assert_allclose(step_by_step.mean, at_once.mean, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(matrix(step_by_step), matrix(at_once), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(step_by_step.map, at_once.map, rtol=1e-8, atol=1e-9)
    refitted = step_by_step.fit(X[:7], y[:7])
    np.testing.assert_allclose(refitted.mean, posterior.fit(X[:7], y[:7]).mean, atol=1e-8)


@pytest.mark.parametrize("name", CONVEX)
@pytest.mark.parametrize("intercept", [False, True])
def test_few_labels_form_is_the_same_posterior(name: str, intercept: bool) -> None:
    """With n < d the work is in the span of the rows; zero-weight rows force the other form."""
    posterior = made(name, 0.3, intercept=intercept, intercept_precision=0.05)
    X, y = data(posterior, n=4, p=6)
    padded = np.vstack([X, np.eye(6), np.eye(6)]), np.concatenate([y, np.zeros(12, dtype=int)])
    short = posterior.fit(X, y)
    long = posterior.fit(*padded, sample_weight=np.r_[np.ones(4), np.zeros(12)])
    np.testing.assert_allclose(short.mean, long.mean, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(matrix(short), matrix(long), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", CONVEX)
def test_weights_count_repetitions(name: str) -> None:
    posterior = made(name, 0.2)
    X, y = data(posterior, n=6)
    twice = posterior.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    weighted = posterior.fit(X, y, sample_weight=np.full(6, 2.0))
    np.testing.assert_allclose(weighted.mean, twice.mean, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(matrix(weighted), matrix(twice), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", CONVEX)
def test_intercept_is_a_constant_feature(name: str) -> None:
    posterior = made(name, 0.2)
    X, y = data(posterior)
    constant = np.hstack([X, np.ones((len(X), 1))])
    with_feature = posterior.fit(constant, y)
    with_intercept = made(name, 0.2, intercept=True).fit(X, y)
    np.testing.assert_allclose(with_intercept.mean, with_feature.mean, rtol=1e-9, atol=1e-10)
    for left, right in zip(with_intercept.project(X), with_feature.project(constant), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-8, atol=1e-9)
    own = made(name, 0.2, intercept=True, intercept_precision=1e6).fit(X, y)
    none = posterior.fit(X, y)
    # a prior this tight leaves an intercept of about 1e-6
    np.testing.assert_allclose(own.mean[..., :-1], none.mean, atol=1e-4)


@pytest.mark.parametrize("name", FAMILY)
def test_labels_of_any_values(name: str) -> None:
    posterior = made(name, 0.1)
    X, y = data(posterior)
    plain = posterior.fit(X, y)
    words = np.array(["apple", "banana", "cherry"])[y]
    named = posterior.fit(X, words)
    np.testing.assert_array_equal(named.mean, plain.mean)
    assert named.classes_.tolist() == sorted(set(words.tolist()))
    with pytest.raises(InvalidArgument, match=r"at most|one of the classes"):
        named.update(X[0], "durian")
    with pytest.raises(InvalidArgument, match="y must"):
        named.update(X[0], 3)
    fixed = made(name, 0.1, classes=["x", "y", "z"][: posterior.num_labels])
    assert fixed.fit(X[:2], ["y", "y"]).codes.tolist() == [1, 1]


@pytest.mark.parametrize("name", FAMILY)
def test_state_round_trip(name: str) -> None:
    for posterior in (made(name, 0.1, intercept=True), made(name, 0.3)):
        X, y = data(posterior)
        for held in (posterior, posterior.sized(3), posterior.fit(X, y)):
            state = held.state()
            assert all(a.dtype != object for a in state.values())
            back = type(held).from_state(state, held.channel)
            assert back.num_features == held.num_features
            assert back.num_observations == held.num_observations
            if held.num_features is None:
                continue
            np.testing.assert_array_equal(back.mean, held.mean)
            np.testing.assert_array_equal(matrix(back), matrix(held))
            # going on must be going on exactly
            np.testing.assert_array_equal(
                back.update(X[0], y[0]).mean, held.update(X[0], y[0]).mean
            )


@pytest.mark.parametrize("name", FAMILY)
def test_bad_input(name: str) -> None:
    posterior = made(name, 0.1)
    X, y = data(posterior)
    broken = X.copy()
    broken[4, 2] = np.nan
    cases: list[tuple[Any, Any, str]] = [
        (broken, y, "row 4, column 2"),
        (X[:, 0], y, r"reshape\(-1, 1\)"),
        (X, y[:-1], "one label for each of 12 rows"),
        (X.astype(complex), y, "real numbers"),
        (X.astype(object), y, "real numbers"),
        (X[:0], y[:0], "at least one row"),
        (X, np.full(len(y), np.nan), "finite numbers"),
        (X, np.arange(len(y)), "at most"),
    ]
    for features, labels, message in cases:
        with pytest.raises(InvalidArgument, match=message):
            posterior.fit(features, labels)
    fitted = posterior.fit(X, y)
    with pytest.raises(InvalidArgument, match="3 features"):
        fitted.update(np.ones(4), y[0])
    with pytest.raises(InvalidArgument, match="non-negative"):
        posterior.fit(X, y, sample_weight=-np.ones(12))
    with pytest.raises(InvalidArgument, match="shape"):
        posterior.fit(X, y, sample_weight=np.ones(5))
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(InvalidArgument, match="prior_precision"):
            made(name, bad)
    posterior.fit(X, y)  # thrown away: the first mistake of whoever knows scikit-learn
    with pytest.raises(InvalidArgument, match=r"fit returns a new posterior: p = p\.fit\(X, y\)"):
        _ = posterior.mean
    for count in (0, -1, 2.5, True):
        with pytest.raises(InvalidArgument, match="num_features"):
            posterior.sized(count)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="regular matrix"):
        posterior.update([[1.0, 2.0], [3.0]], [0, 1])


@pytest.mark.parametrize("name", FAMILY)
def test_any_layout_and_precision_of_input(name: str) -> None:
    import pandas as pd

    posterior = made(name, 0.1)
    X, y = data(posterior)
    X = np.round(X, 2).astype(np.float32).astype(np.float64)  # exact in float32
    expected = posterior.fit(X, y).mean
    read_only = X.copy()
    read_only.setflags(write=False)
    wide = np.zeros((12, 6))
    wide[:, ::2] = X
    frame = pd.DataFrame(X, index=range(100, 112))
    for same in (
        X.astype(np.float32),
        np.asfortranarray(X),
        read_only,
        wide[:, ::2],
        frame,
        X.tolist(),
    ):
        np.testing.assert_array_equal(posterior.fit(same, y).mean, expected)
    whole = (10 * X).astype(int)
    np.testing.assert_array_equal(
        posterior.fit(whole, y).mean, posterior.fit(whole.astype(float), y).mean
    )


@pytest.mark.parametrize("name", FAMILY)
def test_global_random_state_untouched(name: str) -> None:
    before: Any = np.random.get_state()  # noqa: NPY002
    posterior = made(name, 0.1)
    X, y = data(posterior)
    posterior.fit(X, y).update(X[0], y[0])
    after: Any = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(after[1], before[1])
    assert after[2] == before[2]


@pytest.mark.parametrize("name", FAMILY)
def test_duplicates_zero_rows_and_one_class(name: str) -> None:
    posterior = made(name, 0.1)
    X = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [1.0, 2.0]])
    fitted = posterior.fit(X, [1, 1, 1, 1])
    assert np.isfinite(fitted.mean).all()
    assert np.linalg.eigvalsh(matrix(fitted)).min() > -1e-9


@pytest.mark.parametrize("name", FAMILY)
def test_repr_says_channel_prior_and_labels(name: str) -> None:
    posterior = made(name, 0.25)
    X, y = data(posterior)
    assert "prior_precision=0.25; no labels yet" in repr(posterior)
    assert "12 labels" in repr(posterior.fit(X, y))
    assert repr(posterior.channel) in repr(posterior)
