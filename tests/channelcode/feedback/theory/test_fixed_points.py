"""P10: which orders of the letters fail, and which channels cannot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from channelcode import (
    BinaryErasure,
    BinarySymmetric,
    Cauchit,
    Cloglog,
    DiscreteChannel,
    DiscreteMeasure,
    InvalidArgument,
    Logistic,
    Ordinal,
    Power,
    Probit,
    QuantisedGaussian,
    Softmax,
    ZChannel,
    capacity,
)
from channelcode.feedback import PosteriorMatching, enumerate_outputs, fixed_points
from tests.channelcode.feedback.oracles import channels

TYPEWRITER = np.array([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5], [0.5, 0, 0, 0.5]])


def test_typewriter():
    found = fixed_points(DiscreteChannel(TYPEWRITER[[0, 2, 1, 3]]), [0.25] * 4)
    assert found
    assert found.points == (0.5,)
    assert found.monotone is None
    assert "never moves" in str(found)
    natural = fixed_points(DiscreteChannel(TYPEWRITER), [0.25] * 4)
    assert not natural
    assert (0, 2, 1, 3) in natural.orders
    assert (0, 1, 2, 3) not in natural.orders
    # the half that stays must be {0, 2} or {1, 3}: 2 * 2 * 2 orders
    assert len(natural.orders) == 8
    assert natural.safe_order == (0, 1, 2, 3)


def test_letters_twice():
    rows = [[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.1, 0.9]]
    found = fixed_points(DiscreteChannel(rows), [0.25] * 4)
    assert 0.5 in found.points
    assert found.safe_order is not None
    assert (
        fixed_points(DiscreteChannel(rows), DiscreteMeasure(found.safe_order, [0.25] * 4)).points
        == ()
    )


def test_a_fixed_point_between_cuts():
    """Letters (a, b, a) of weights 1/4, 1/2, 1/4: the middle of the middle letter stays."""
    rows = [[0.9, 0.1], [0.1, 0.9], [0.9, 0.1]]
    channel, law = DiscreteChannel(rows), DiscreteMeasure([0, 1, 2], [0.25, 0.5, 0.25])
    found = fixed_points(channel, law)
    assert found.points == pytest.approx((0.5,))
    scheme = PosteriorMatching(
        DiscreteChannel(rows), input=DiscreteMeasure([0, 1, 2], [0.25, 0.5, 0.25])
    )
    np.testing.assert_allclose(enumerate_outputs(scheme, 6, bits=1).correct[:, 1], 0.5, atol=1e-13)


def test_outputs_that_say_nothing():
    useless = DiscreteChannel([[0.5, 0.5], [0.5, 0.5]])
    assert fixed_points(useless, [0.5, 0.5]).spans == ((0.0, 1.0),)
    partly = DiscreteChannel([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])
    assert fixed_points(partly, [0.25, 0.5, 0.25]).spans == ()


@pytest.mark.parametrize(
    "channel",
    [
        Logistic(), Probit(), Cauchit(), Cloglog(), Ordinal((-1.0, 1.0)), Ordinal((-2.0, 0.0, 1.5)),
        QuantisedGaussian((-1.0, 0.0, 1.0)), BinarySymmetric(0.1), ZChannel(0.5), BinaryErasure(0.3)
    ],
    ids=repr,
)  # fmt: skip
def test_no_failure_on_the_line(channel):
    if channel.inputs is None:
        law = capacity(channel, Power(4.0)).input.simplify()
    else:
        law = DiscreteMeasure([0, 1], [0.4, 0.6])
    found = fixed_points(channel, law)
    assert not found
    assert found.monotone is not None
    assert "cannot fail" in str(found)


@given(channels())
@settings(max_examples=40)
def test_what_is_said_holds_in_the_maps(pair):
    """At a fixed point the mass stays; with a monotone ratio no mass of an interior point does."""
    channel, law = pair
    found = fixed_points(channel, law)
    rows, weights = channel.matrix, law.weights
    ends = np.concatenate(([0.0], np.cumsum(weights)))
    output = weights @ rows
    for point in np.concatenate((found.points, np.linspace(0.05, 0.95, 19))):
        inside = np.clip(point - ends[:-1], 0.0, weights)
        moves = np.abs((inside @ rows)[output > 0] / output[output > 0] - point).max()
        if point in found.points:
            assert moves < 1e-8
        elif found.monotone is not None:
            assert moves > 0


def test_bad_arguments():
    with pytest.raises(InvalidArgument, match="input must be a DiscreteMeasure"):
        fixed_points(Logistic(), [0.5, 0.5])
    with pytest.raises(InvalidArgument, match="one weight for each"):
        fixed_points(BinarySymmetric(0.1), [0.2, 0.3, 0.5])
    with pytest.raises(InvalidArgument, match="at most 8 letters"):
        fixed_points(DiscreteChannel(np.eye(9)), np.full(9, 1 / 9))
    with pytest.raises(InvalidArgument, match="channel"):
        fixed_points("bsc", [0.5, 0.5])  # type: ignore[arg-type]
    law = capacity(Softmax(3), Power(9.0)).input
    assert fixed_points(Softmax(3), law).points == ()
