"""A binary channel from a user's curve: range, shape and tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from channelcode import InvalidArgument, Link, Logistic
from channelcode.testing import check_channel


def test_agrees_with_logistic_where_doubles_allow():
    l = np.linspace(-30, 30, 61)
    # 1 - f loses its digits near one: an error of 1e-16 on exp(-30)
    np.testing.assert_allclose(Link(expit).prob(l), Logistic().prob(l), rtol=0, atol=2e-16)


def test_complement_keeps_the_tail():
    l = np.array([-600.0, -40.0, 0.0, 40.0, 600.0])
    link = Link(expit, lambda x: expit(-x))
    np.testing.assert_allclose(link.log_prob(l), Logistic().log_prob(l), rtol=1e-13)


def test_scalar_functions_are_taken_elementwise():
    link = Link(lambda x: 1 / (1 + math.exp(-x)))
    np.testing.assert_allclose(link.prob([[0.0, 1.0]]), Logistic().prob([[0.0, 1.0]]), rtol=1e-15)


def test_constant_response():
    np.testing.assert_array_equal(Link(lambda l: 0.25).prob([1.0, 2.0]), [[0.75, 0.25]] * 2)
    check_channel(Link(lambda l: 0.25))


def test_saturating_response_passes_the_contract():
    check_channel(Link(lambda l: np.clip(0.5 + 0.1 * l, 0.0, 1.0)))


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (lambda l: 1.5 + 0 * l, "1.5"),
        (lambda l: -0.1 + 0 * l, "-0.1"),
        (lambda l: np.nan * l, "nan"),
        (lambda l: np.where(l > 2, 1.0 + 1e-9, 0.5), "1.000000001"),
    ],
)
def test_leaving_the_unit_interval(function, value):
    with pytest.raises(InvalidArgument, match="function must return probabilities") as caught:
        Link(function).log_prob([1.0, 3.0])
    assert value in str(caught.value)


def test_wrong_shape_and_kind():
    with pytest.raises(InvalidArgument, match=r"function must return shape \(3,\)"):
        Link(lambda l: np.array([0.5, 0.5])).log_prob([1.0, 2.0, 3.0])
    with pytest.raises(InvalidArgument, match="real numbers"):
        Link(lambda l: np.full(l.shape, "half")).log_prob([1.0])


def test_complement_must_complement():
    with pytest.raises(InvalidArgument, match="complement must return one minus"):
        Link(expit, expit).log_prob(1.0)


@pytest.mark.parametrize("bad", [None, 0.5, "expit"])
def test_not_callable(bad):
    with pytest.raises(InvalidArgument, match="function must be callable"):
        Link(bad)


def test_repr_names_the_functions_and_no_address():
    def up(l):
        return 1.0 / (1.0 + np.exp(-l))

    def down(l):
        return 1.0 / (1.0 + np.exp(l))

    assert repr(Link(up)) == "Link(up)"
    assert repr(Link(up, down)) == "Link(up, down)"
