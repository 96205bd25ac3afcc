"""Encoders whose parameters enter in any way: shapes, derivatives, what is refused."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm import Affine, Belief, Encoder, FeatureMap, Linear, NonLinear, VariationalLogistic
from apm.testing import check_encoder
from channelcode.errors import InvalidArgument

X = np.random.default_rng(0).normal(size=(6, 2))


def curve(theta, rows):
    return theta[:, 0] * np.exp(theta[:, 1] * rows[:, :1]) + theta[:, 2] * rows[:, 1:]


def slopes(theta, rows):
    growth = np.exp(theta[1] * rows[:, 0])
    return np.stack([growth, theta[0] * rows[:, 0] * growth, rows[:, 1]], axis=1)


def pairs(theta, rows):
    """l in R^2."""
    return np.stack([curve(theta, rows), theta[:, 0] ** 2 * np.ones_like(rows[:, :1])], axis=2)


@pytest.mark.parametrize(
    "encoder", [NonLinear(curve, 3), NonLinear(curve, 3, slopes), NonLinear(pairs, 3)], ids=repr
)
def test_the_contract(encoder):
    check_encoder(encoder, X)
    assert not encoder.is_linear


def test_a_wrong_jacobian_is_found():
    spoiled = NonLinear(curve, 3, lambda theta, rows: 1.01 * slopes(theta, rows))
    with pytest.raises(AssertionError, match="jacobian is wrong"):
        check_encoder(spoiled, X)


def test_shapes_of_inputs_and_jacobians():
    theta = np.random.default_rng(1).normal(size=(4, 3))
    line, plane = NonLinear(curve, 3), NonLinear(pairs, 3)
    assert line.inputs(theta, X).shape == (6, 4)
    assert plane.inputs(theta, X).shape == (6, 4, 2)
    assert line.jacobian(theta[0], X).shape == (6, 3)
    assert plane.jacobian(theta[0], X).shape == (6, 2, 3)
    assert line.jacobian(theta, X).shape == (6, 4, 3)
    assert plane.jacobian(theta, X).shape == (6, 4, 2, 3)
    np.testing.assert_array_equal(line.jacobian(theta, X)[:, 2], line.jacobian(theta[2], X))
    np.testing.assert_array_equal(plane.jacobian(theta[0], X)[:, 0], line.jacobian(theta[0], X))


@given(st.floats(-3, 3), st.floats(-2, 2), st.floats(-1e6, 1e6))
def test_differences_are_the_derivative(a, b, c):
    theta = np.array([a, b, c])
    found = NonLinear(curve, 3).jacobian(theta, X)
    exact = slopes(theta, X)
    # a step of 1e-5 errs by 1e-10 of the third derivative, and rounding of l by 1e-16 / 1e-5
    scale = 1.0 + np.abs(curve(theta[None], X)).max() + np.abs(exact).max()
    np.testing.assert_allclose(found, exact, rtol=1e-8, atol=1e-9 * scale)


def test_many_parameters_are_differenced_in_pieces(monkeypatch):
    import apm.encoders.base as base

    theta = np.arange(3.0)
    whole = NonLinear(pairs, 3).jacobian(theta, X)
    monkeypatch.setattr(base, "PIECE_ENTRIES", 1)
    np.testing.assert_array_equal(NonLinear(pairs, 3).jacobian(theta, X), whole)


def test_linear_encoders_say_the_same_through_inputs():
    theta = np.random.default_rng(2).normal(size=(5, 4, 3))
    expected = np.einsum("np,skp->nsk", np.hstack([X, np.ones((6, 1))]), theta)
    np.testing.assert_allclose(Affine().inputs(theta, X), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(Affine().inputs(theta[:, 0], X), expected[..., 0], rtol=1e-13)
    np.testing.assert_array_equal(Affine().jacobian(theta[0, 0], X), Affine().encode(X))
    with pytest.raises(InvalidArgument, match="3 entries for each draw"):
        Affine().inputs(theta[:, 0, :2], X)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t, Z: (Z @ t[:, :2].T).T, r"shape \(6, 4\)"),
        (lambda t, Z: (Z @ t[:, :2].T)[:, :1], r"shape \(6, 4\)"),
        (lambda t, Z: 1j * (Z @ t[:, :2].T), "real numbers"),
        (lambda t, Z: [["a"]], "real numbers"),
    ],
)
def test_functions_that_answer_wrongly_are_refused(function, message):
    with pytest.raises(InvalidArgument, match=message):
        NonLinear(function, 3).inputs(np.ones((4, 3)), X)


def test_arguments_are_checked_and_protected():
    encoder = NonLinear(curve, 3)
    for bad in (np.ones((4, 2)), np.ones(3), np.full((1, 3), np.nan)):
        with pytest.raises(InvalidArgument, match="theta"):
            encoder.inputs(bad, X)
    with pytest.raises(InvalidArgument, match="reshape"):
        encoder.inputs(np.ones((1, 3)), X[:, 0])
    for bad in (0, 1.5, True):
        with pytest.raises(InvalidArgument, match="num_parameters"):
            NonLinear(curve, bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="callable"):
        NonLinear(3, 1)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="jacobian"):
        NonLinear(curve, 3, 7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="read-only"):
        NonLinear(lambda t, Z: np.multiply(t, 2.0, out=t), 3).inputs(np.ones((1, 3)), X)
    with pytest.raises(AttributeError, match="immutable"):
        encoder.num_parameters = 4  # type: ignore[misc]


def test_it_belongs_into_the_posterior_and_the_error_says_so():
    encoder = NonLinear(curve, 3)
    with pytest.raises(InvalidArgument, match=r"Grid\(axes, channel, encoder\)"):
        Belief(VariationalLogistic(), encoder)
    with pytest.raises(InvalidArgument, match="must be linear here"):
        encoder.encode(X)


def test_copies_are_equal():
    encoder = NonLinear(curve, 3, slopes)
    for copy in (pickle.loads(pickle.dumps(encoder)), deepcopy(encoder)):
        assert copy == encoder
        assert hash(copy) == hash(encoder)
        np.testing.assert_array_equal(copy.inputs(np.ones((1, 3)), X), curve(np.ones((1, 3)), X))
    assert NonLinear(curve, 3) != encoder


def test_an_encoder_writes_one_of_two_methods():
    class Neither(Encoder):
        pass

    for method in (Neither().encode, lambda rows: Neither().inputs([[1.0]], rows)):
        with pytest.raises(NotImplementedError, match="must write encode"):
            method(X)
    assert Linear().is_linear
    assert FeatureMap(np.tanh).num_parameters is None
