"""The contract of a selector."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.posteriors import VariationalLogistic
from apm.selectors import Selector
from channelcode._validation import Array, Seed, as_generator
from channelcode.testing.verdict import attempt, expect_refusal, fail

RTOL = 1e-8  # a matrix product rounds differently for another order of its rows


def check_selector(
    selector: Selector,
    belief: Belief | None = None,
    X: ArrayLike | None = None,
    *,
    rng: Seed = 0,
) -> None:
    """Raise AssertionError, saying what to mend, unless `selector` keeps the contract.

    `belief` and the pool `X (n, d)` are what it is tried on (by default two classes in R^3, six
    labels and thirty candidates). One score for each candidate, no NaN, the same for the same
    seed; no trace left between calls, in X, or in NumPy's global random state; the highest score is
    chosen, excluded rows are not, a batch has different rows; and, unless its scores depend on
    the seed, turning the pool round turns the scores round.

    >>> from apm import InformationGain
    >>> check_selector(InformationGain())
    """
    if not isinstance(selector, Selector):
        fail(selector, "must be an instance of apm.Selector (an instance, not the class)")
    generator = as_generator(rng)
    if belief is None:
        rows = generator.standard_normal((6, 3))
        belief = Belief(VariationalLogistic(0.1).fit(rows, rows[:, 0] > np.median(rows[:, 0])))
    pool = generator.standard_normal((30, 3)) if X is None else np.array(X, dtype=np.float64)
    scores = _check_scores(selector, belief, pool)
    _check_memory(selector, belief, pool, scores)
    _check_choice(selector, belief, pool)
    broken = pool.copy()
    broken[0, 0] = np.nan
    expect_refusal(selector, "select from a pool with NaN", lambda: selector.select(belief, broken))
    expect_refusal(
        selector, "select of more rows than there are",
        lambda: selector.select(belief, pool, n=len(pool) + 1),
    )  # fmt: skip


def _scored(selector: Selector, belief: Belief, X: Array, seed: int) -> Array:
    raw = attempt(
        selector, f"scores of X of shape {X.shape}", lambda: selector.scores(belief, X, rng=seed)
    )
    values = np.asarray(raw)
    if values.dtype.kind not in "buif":
        fail(selector, f"scores must be real numbers, not {values.dtype}")
    if values.shape != (len(X),):
        fail(selector, f"scores must have shape {(len(X),)}, one a candidate, not {values.shape}")
    values = values.astype(np.float64)
    if np.isnan(values).any():
        fail(
            selector, f"scores must not be NaN, as for candidate {int(np.argmax(np.isnan(values)))}"
        )
    if np.isposinf(values).any():
        fail(selector, "scores must not be +inf: no candidate is worth everything")
    return values


def _check_scores(selector: Selector, belief: Belief, X: Array) -> Array:
    kept = X.copy()
    state = np.random.get_state()  # noqa: NPY002  the point is that nobody else uses it
    scores = _scored(selector, belief, X, 3)
    if not np.array_equal(X, kept):
        fail(selector, "scores must leave X as it was")
    after = np.random.get_state()  # noqa: NPY002
    if not all(np.array_equal(a, b) for a, b in zip(state, after, strict=True)):
        fail(selector, "scores must draw from `rng`, not from NumPy's global random state")
    if not np.array_equal(_scored(selector, belief, X, 3), scores):
        fail(selector, "scores with one seed must repeat themselves: draw from `rng` only")
    return scores


def _check_memory(selector: Selector, belief: Belief, X: Array, scores: Array) -> None:
    """No state between calls, and no dependence on the place of a row in the pool."""
    _scored(selector, belief, 3.0 * X[:5] + 1.0, 4)
    if not np.array_equal(_scored(selector, belief, X, 3), scores):
        fail(selector, "scores must not depend on the calls before: selectors keep no state")
    if not np.array_equal(_scored(selector, belief, X, 5), scores):
        return  # draws of rows or of theta: their order matters
    turned = _scored(selector, belief, X[::-1], 3)[::-1]
    scale = RTOL * (1.0 + np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
    if not np.allclose(turned, scores, rtol=RTOL, atol=scale):
        fail(selector, "turning the pool round must turn the scores round")


def _check_choice(selector: Selector, belief: Belief, X: Array) -> None:
    fixed = selector.prepared(belief, X)
    scores = _scored(fixed, belief, X, 3)
    first = int(attempt(selector, "select", lambda: fixed.select(belief, X, rng=3))[0])
    slack = max(
        1e-9 * float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0)), fixed.resolution
    )
    if scores[first] < scores.max() - slack:
        fail(selector, "select must choose the highest score: higher is better")
    rest = fixed.select(belief, X, exclude=[first], rng=3)
    if int(rest[0]) == first:
        fail(selector, "select must not choose an excluded row")
    batch = attempt(selector, "select of five rows", lambda: fixed.select(belief, X, n=5, rng=3))
    if len(set(np.asarray(batch).tolist())) != 5:
        fail(selector, f"a batch must have different rows, not {np.asarray(batch).tolist()}")
    attempt(selector, "explain", lambda: fixed.explain(belief, X, first, rng=3))
