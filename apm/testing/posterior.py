"""The contract of a posterior."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.posteriors import CollapsedWeights, Posterior
from channelcode._validation import Seed, as_generator
from channelcode.errors import InvalidArgument
from channelcode.measures import Pool
from channelcode.testing.verdict import attempt, expect_refusal, fail

RTOL = 1e-6  # two roads to the same optimum, each followed to 1e-8 or better


def check_posterior(
    posterior: Posterior,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    exact: bool = True,
    rng: Seed = 0,
) -> None:
    """Raise AssertionError, saying what to mend, unless `posterior` keeps the contract.

    `X (n, d)` and `y (n,)` are labelled examples to try it on (twelve normal ones in R^3, classes
    in turn, by default). `update` returns a new posterior and leaves the old one and the data as
    they were; the induced laws of candidates are finite, one for each, each by itself; labels count
    and their order does not; a saved state goes on exactly where it stopped; bad input is refused
    and the state kept. `exact=False` leaves out what holds only up to sampling error.

    >>> from apm import Laplace
    >>> from channelcode import Probit
    >>> check_posterior(Laplace(Probit(), 0.5))
    """
    if not isinstance(posterior, Posterior):
        fail(posterior, "must be an instance of apm.Posterior (an instance, not the class)")
    generator = as_generator(rng)
    rows = generator.standard_normal((12, 3)) if X is None else np.array(X, dtype=np.float64)
    count = posterior.num_labels if posterior.has_classes else len(rows)
    labels = np.arange(len(rows)) % count if y is None else np.array(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedWeights)  # many labels at one x: that is so
        fitted = _check_update(posterior, rows, labels)
        _check_laws(posterior, fitted, rows)
        _check_learning(posterior, fitted, rows, labels)
        if exact:
            _check_order(posterior, fitted, rows, labels)
        _check_state(fitted, rows, labels)
        _check_refusals(posterior, fitted, rows, labels)


def _moments(posterior: Posterior, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Means `(n, ...)` and total variances `(n,)` of the induced laws."""
    pool = Belief(posterior).push(X)
    return np.asarray(pool.mean), np.asarray(pool.total_variance)


def _close(left: Any, right: Any) -> bool:
    return all(
        np.allclose(a, b, rtol=RTOL, atol=RTOL * (1.0 + np.abs(b).max()))
        for a, b in zip(left, right, strict=True)
    )


def _check_update(posterior: Posterior, X: np.ndarray, y: np.ndarray) -> Posterior:
    kept = X.copy(), y.copy()
    start = attempt(posterior, "push before any label", lambda: _moments(posterior, X))
    fitted = attempt(posterior, "update(X, y)", lambda: posterior.update(X, y))
    if not isinstance(fitted, Posterior):
        fail(posterior, f"update must return a posterior, not {type(fitted).__name__}")
    if fitted is posterior:
        fail(posterior, "update must return a new posterior and leave the old one as it was")
    if not (np.array_equal(X, kept[0]) and np.array_equal(y, kept[1])):
        fail(posterior, "update must leave X and y as they were")
    if not all(np.array_equal(a, b) for a, b in zip(_moments(posterior, X), start, strict=True)):
        fail(posterior, "update must leave the old posterior as it was: it changed in place")
    if fitted.num_observations != posterior.num_observations + len(y):
        fail(posterior, f"num_observations must grow by {len(y)}, not to {fitted.num_observations}")
    before = _moments(fitted, X)
    given = X.copy()
    again = posterior.update(given, y)
    given[...] = 0.0
    if not all(np.array_equal(a, b) for a, b in zip(_moments(again, X), before, strict=True)):
        fail(posterior, "must keep its own copy of X, and give the same answer for the same labels")
    for part in ("mean", "map", "design"):
        try:
            array = getattr(fitted, part, None)
        except InvalidArgument:  # a posterior by samples of l has no parameters to show
            continue
        if isinstance(array, np.ndarray):
            with contextlib.suppress(ValueError):  # read-only, or a copy of its own
                array[...] = 7.0
    if not all(np.array_equal(a, b) for a, b in zip(_moments(fitted, X), before, strict=True)):
        fail(posterior, "writing into an array that it gave out must not change it")
    return fitted


def _check_laws(posterior: Posterior, fitted: Posterior, X: np.ndarray) -> None:
    laws = Belief(fitted).push(X)
    if not isinstance(laws, Pool) or len(laws) != len(X) or laws.dim != posterior.channel.dim:
        fail(posterior, f"push must give {len(X)} laws in R^{posterior.channel.dim}, not {laws!r}")
    mean, variance = _moments(fitted, X)
    if not (np.isfinite(mean).all() and np.isfinite(variance).all()):
        fail(posterior, "the induced laws must have finite means and variances")
    if (variance < 0).any():
        fail(posterior, f"variances must not be negative: {variance.min()}")
    for i in range(len(X)):
        alone = _moments(fitted, X[i : i + 1])
        if not _close((alone[0][0], alone[1]), (mean[i], variance[i : i + 1])):
            fail(posterior, "the law of a candidate must not depend on the other candidates")


def _check_order(posterior: Posterior, fitted: Posterior, X: np.ndarray, y: np.ndarray) -> None:
    def in_turn() -> Posterior:
        held = posterior
        for row, label in zip(X, y, strict=True):
            held = held.update(row, label)
        return held

    one_by_one = attempt(posterior, "update with one label after the other", in_turn)
    expected = _moments(fitted, X)
    if not _close(_moments(one_by_one, X), expected):
        fail(posterior, "labels one by one must give what the same labels at once give")
    turned = posterior.update(X[::-1], y[::-1])
    if not _close(_moments(turned, X), expected):
        fail(posterior, "the order of the labels must not matter")


def _check_learning(posterior: Posterior, fitted: Posterior, X: np.ndarray, y: np.ndarray) -> None:
    prior, now = _moments(posterior, X), _moments(fitted, X)
    if np.array_equal(prior[0], now[0]) and np.array_equal(prior[1], now[1]):
        fail(posterior, f"{len(y)} labels changed nothing: does update use them?")
    if not posterior.has_classes:
        _check_regression(posterior, fitted, X)
        return
    codes = np.asarray(fitted.codes)
    if len(codes) and (codes.min() < 0 or codes.max() >= posterior.num_labels):
        fail(posterior, f"codes must lie in 0 .. {posterior.num_labels - 1}")
    # many more labels like the first one must move the belief towards that label
    code = int(np.flatnonzero(np.asarray(fitted.classes_) == y[0])[0])
    more = attempt(
        posterior,
        "update with fifty more labels",
        lambda: fitted.update(np.repeat(X[:1], 50, axis=0), np.repeat(y[:1], 50)),
    )
    chances = [Belief(held).predict_proba(X[:1])[0, code] for held in (fitted, more)]
    if not chances[1] > chances[0]:
        shown = f"from {chances[0]:.3f} to {chances[1]:.3f}"
        fail(posterior, f"fifty labels {y[0]!r} at one x moved its probability {shown}: not up")


def _check_regression(posterior: Posterior, fitted: Posterior, X: np.ndarray) -> None:
    goal = float(Belief(fitted).mean_inputs(X[:1])[0]) + 1.0
    more = attempt(
        posterior,
        "update with fifty more labels",
        lambda: fitted.update(np.repeat(X[:1], 50, axis=0), np.full(50, goal)),
    )
    moved = float(Belief(more).mean_inputs(X[:1])[0]) - goal
    if not -1.0 < moved <= 0.0 + RTOL:
        fail(posterior, f"fifty labels {goal:.3f} at one x moved its mean to {goal + moved:.3f}")


def _check_state(fitted: Posterior, X: np.ndarray, y: np.ndarray) -> None:
    state = attempt(fitted, "state()", fitted.state)
    for name, value in state.items():
        if not isinstance(value, np.ndarray) or value.dtype == object:
            fail(fitted, f"state() must hold plain arrays (no pickle), but {name!r} is {value!r}")
    back = attempt(fitted, "from_state(state, channel)", lambda: fitted.restored(state))
    pairs = ((back, fitted), (back.update(X[0], y[0]), fitted.update(X[0], y[0])))
    for again, held in pairs:
        if not _close(_moments(again, X), _moments(held, X)):
            fail(fitted, "a saved posterior must go on exactly where it stopped")


def _check_refusals(posterior: Posterior, fitted: Posterior, X: np.ndarray, y: np.ndarray) -> None:
    before = _moments(fitted, X)
    broken = X.copy()
    broken[0, 0] = np.nan
    wider = np.concatenate([X, X], axis=1)
    for rows, labels, what in (
        (broken, y, "update with a NaN in X"),
        (X, y[:-1], "update with a label too few"),
        (wider, y, "update with more columns than before"),
    ):
        expect_refusal(
            posterior, what, lambda rows=rows, labels=labels: fitted.update(rows, labels)
        )
    if not all(np.array_equal(a, b) for a, b in zip(_moments(fitted, X), before, strict=True)):
        fail(posterior, "a refused update must leave the posterior as it was")
