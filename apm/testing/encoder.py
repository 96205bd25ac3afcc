"""The contract of an encoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders import Encoder
from channelcode._validation import Array, Seed, as_generator
from channelcode.testing.verdict import attempt, expect_refusal, fail

RTOL = 1e-9  # a row alone or among others: sums may be taken in another order
JACOBIAN_RTOL = 1e-5  # central differences of a smooth function are good to about 1e-9


def check_encoder(
    encoder: Encoder, X: ArrayLike | None = None, *, theta: ArrayLike | None = None, rng: Seed = 0
) -> None:
    """Raise AssertionError, saying what to mend, unless `encoder` keeps the contract of an encoder.

    `X (n, d)` are examples to try it on (nine normal ones in R^3 by default). One finite, real row
    for each example, that depends on no other row; the same answer twice; X left as it was; bad
    input refused. Where the parameters enter non-linearly, `inputs(theta, X)` is tried on the draws
    `theta (s, q)` (five normal ones by default) in the same way, and a `jacobian` of its own is
    compared with differences.

    >>> from apm import FeatureMap
    >>> check_encoder(FeatureMap(lambda X: X - X.mean(axis=0)))
    Traceback (most recent call last):
        ...
    AssertionError: ...encode: a row must not depend on the other rows of X
    """
    if not isinstance(encoder, Encoder):
        fail(encoder, "must be an instance of apm.Encoder (an instance, not the class)")
    generator = as_generator(rng)
    rows = generator.standard_normal((9, 3)) if X is None else np.array(X, dtype=np.float64)
    count = getattr(encoder, "num_parameters", None)
    if theta is None and count is None:
        _check_rows(encoder, "encode", encoder.encode, rows, axes=2)
        _check_refusals(encoder, "encode", encoder.encode, rows)
        return
    inputs = getattr(encoder, "inputs", None)
    if not callable(inputs):
        fail(encoder, "must have a method inputs(theta, X)")
    if theta is None:
        if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
            fail(encoder, f"num_parameters must be an integer of at least 1, not {count!r}")
        draws = generator.standard_normal((5, int(count)))
    else:
        draws = np.atleast_2d(np.array(theta, dtype=np.float64))
    _check_rows(encoder, "inputs", lambda Z: inputs(draws, Z), rows, axes=(2, 3))
    _check_draws(encoder, inputs, draws, rows)
    _check_refusals(encoder, "inputs", lambda Z: inputs(draws, Z), rows)
    _check_jacobian(encoder, inputs, draws, rows)


def _check_rows(
    encoder: Encoder, name: str, call: Callable[[Any], Any], X: Array, *, axes: Any
) -> None:
    given = X.copy()
    whole = np.asarray(attempt(encoder, f"{name} of X of shape {X.shape}", lambda: call(given)))
    if not np.array_equal(given, X):
        fail(encoder, f"{name}: X must be left as it was")
    allowed = (axes,) if isinstance(axes, int) else axes
    if whole.dtype.kind not in "buif":
        fail(encoder, f"{name} must return real numbers, not {whole.dtype}")
    if whole.ndim not in allowed or whole.shape[0] != len(X):
        many = " or ".join(str(n) for n in allowed)
        shape = f"{many} axes and {len(X)} rows, one for each example, not shape {whole.shape}"
        fail(encoder, f"{name} must return {shape}")
    bad = ~np.isfinite(whole.reshape(len(X), -1)).all(axis=1)
    if bad.any():
        fail(
            encoder, f"{name} must be finite, but for x = {X[int(np.argmax(bad))].tolist()} is not"
        )
    if not np.array_equal(np.asarray(call(X)), whole):
        fail(encoder, f"{name} must give the same answer for the same X")
    scale = RTOL * (1.0 + np.abs(whole).max())
    for i in range(len(X)):
        alone = attempt(encoder, f"{name} of one row", lambda i=i: np.asarray(call(X[i : i + 1])))
        if alone.shape != (1, *whole.shape[1:]):
            fail(encoder, f"{name} of one row must have shape {(1, *whole.shape[1:])}")
        if not np.allclose(alone[0], whole[i], rtol=RTOL, atol=scale):
            fail(encoder, f"{name}: a row must not depend on the other rows of X")
    turned = np.asarray(call(np.asfortranarray(X[::-1])))[::-1]
    if not np.allclose(turned, whole, rtol=RTOL, atol=scale):
        fail(encoder, f"{name}: the order of the rows of X must be kept")


def _check_draws(encoder: Encoder, inputs: Any, theta: Array, X: Array) -> None:
    """Each draw of theta by itself, along the second axis."""
    kept = theta.copy()
    whole = np.asarray(inputs(theta, X))
    if not np.array_equal(theta, kept):
        fail(encoder, "inputs: theta must be left as it was")
    if whole.shape[1] != len(theta):
        fail(encoder, f"inputs must have {len(theta)} columns, one for each draw: {whole.shape}")
    scale = RTOL * (1.0 + np.abs(whole).max())
    for j in range(len(theta)):
        alone = np.asarray(attempt(encoder, "inputs", lambda j=j: inputs(theta[j : j + 1], X)))
        if not np.allclose(alone[:, 0], whole[:, j], rtol=RTOL, atol=scale):
            fail(encoder, "inputs: a draw must not depend on the other draws of theta")


def _check_jacobian(encoder: Encoder, inputs: Any, theta: Array, X: Array) -> None:
    """A jacobian of its own, `(n, q)` or `(n, k, q)` at one theta, against central differences."""
    own = type(encoder).jacobian is not Encoder.jacobian
    if not own and "jacobian" not in getattr(encoder, "__dict__", {}):
        return
    at = theta[0]
    given = np.asarray(attempt(encoder, "jacobian", lambda: encoder.jacobian(at, X)))
    steps = 1e-5 * (1.0 + np.abs(at))
    columns = []
    for j, step in enumerate(steps):
        pair = np.stack([at, at])
        pair[:, j] += (step, -step)
        values = np.asarray(inputs(pair, X))
        columns.append((values[:, 0] - values[:, 1]) / (2.0 * step))
    expected = np.stack(columns, axis=-1)
    if given.shape != expected.shape:
        fail(encoder, f"jacobian must have shape {expected.shape}, not {given.shape}")
    allowed = JACOBIAN_RTOL * (1.0 + np.abs(expected).max())
    if not np.allclose(given, expected, rtol=JACOBIAN_RTOL, atol=allowed):
        place = np.unravel_index(int(np.argmax(np.abs(given - expected))), given.shape)
        shown = f"{given[place]} where differences of inputs give {expected[place]}"
        fail(encoder, f"jacobian is wrong: entry {tuple(int(i) for i in place)} is {shown}")


def _check_refusals(encoder: Encoder, name: str, call: Callable[[Any], Any], X: Array) -> None:
    for bad, what in ((X[:, 0], "a vector"), ([["a"] * X.shape[1]], "text")):
        expect_refusal(encoder, f"{name} of {what}", lambda bad=bad: call(bad))
