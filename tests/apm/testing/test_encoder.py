"""The contract of an encoder: the library's own pass, each mistake is named."""

from __future__ import annotations

import numpy as np
import pytest

from apm import Affine, Encoder, FeatureMap, Linear
from apm.testing import check_encoder

_NOISE = np.random.default_rng(0)


@pytest.mark.parametrize("encoder", [Linear(), Affine(), FeatureMap(np.tanh)], ids=repr)
def test_the_librarys_own_pass(encoder):
    check_encoder(encoder)
    check_encoder(encoder, np.arange(12.0).reshape(4, 3))


class Mine(Encoder):
    def __init__(self, function):
        self.function = function

    def encode(self, X):
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2:
            raise ValueError("X must be a matrix")
        return self.function(rows)


def _writes(X):
    X *= 2.0
    return X


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X: X - X.mean(axis=0), "must not depend on the other rows"),
        (lambda X: X / np.linalg.norm(X), "must not depend on the other rows"),
        (lambda X: X[:, 0], "2 axes"),
        (lambda X: X[1:], "one for each example"),
        (lambda X: X.T, "one for each example"),
        (lambda X: X + _NOISE.normal(size=X.shape), "same answer"),
        (_writes, "left as it was"),
        (lambda X: np.log(X), "must be finite"),
        (lambda X: X + 1j, "real numbers"),
        (lambda X: np.sort(X, axis=0), "must not depend on the other rows"),
        (lambda X: [], "axes"),
        (lambda X: 1 / 0, "raised ZeroDivisionError"),
    ],
)
def test_each_mistake_is_named(function, message):
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=message):
        check_encoder(Mine(function))


def test_bad_input_must_be_refused():
    class Loose(Encoder):
        def encode(self, X):
            return np.zeros((len(np.asarray(X)), 2))

    with pytest.raises(AssertionError, match="encode of a vector must raise a ValueError"):
        check_encoder(Loose())


class Curve(Encoder):
    """l = a exp(b x), two parameters, with a jacobian that may be spoiled."""

    num_parameters = 2

    def __init__(self, factor=1.0):
        self.factor = factor

    def encode(self, X):
        return np.asarray(X, dtype=np.float64)

    def inputs(self, theta, X):
        x = np.asarray(X, dtype=np.float64)
        if x.ndim != 2:
            raise ValueError("X must be a matrix")
        theta = np.asarray(theta)
        return theta[:, 0] * np.exp(theta[:, 1] * x[:, :1])

    def jacobian(self, theta, X):
        x, at = np.asarray(X, dtype=np.float64)[:, 0], np.asarray(theta)
        growth = np.exp(at[1] * x)
        return self.factor * np.stack([growth, at[0] * x * growth], axis=-1)


def test_parameters_that_enter_non_linearly():
    check_encoder(Curve(), np.linspace(-1, 1, 6)[:, None])
    with pytest.raises(AssertionError, match="jacobian is wrong"):
        check_encoder(Curve(1.01), np.linspace(-1, 1, 6)[:, None])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (lambda theta, X: (theta.mean(axis=0) @ X.T)[:, None] + theta[:, 0], "other draws"),
        (lambda theta, X: theta @ X.T, "one for each example"),
        (lambda theta, X: (X @ theta.T)[:, :2], "one for each draw"),
        (lambda theta, X: np.exp(999 * np.abs(X @ theta.T)), "must be finite"),
    ],
)
def test_mistakes_with_draws(inputs, message):
    class Bent(Encoder):
        num_parameters = 3

        def encode(self, X):
            return X

        def inputs(self, theta, X):
            return inputs(theta, np.asarray(X))

    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=message):
        check_encoder(Bent())


@pytest.mark.parametrize("thing", [Linear, None, 3])
def test_only_encoders_are_checked(thing):
    with pytest.raises(AssertionError, match="must be an instance"):
        check_encoder(thing)
