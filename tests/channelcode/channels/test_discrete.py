"""Channels with a finite alphabet, and the restriction of others to one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from channelcode import (
    BinaryErasure,
    BinarySymmetric,
    DiscreteChannel,
    InvalidArgument,
    Logistic,
    Softmax,
    ZChannel,
    restrict,
)
from channelcode.testing import check_channel, stochastic_matrices


@given(stochastic_matrices())
def test_every_stochastic_matrix_is_a_channel(matrix):
    channel = DiscreteChannel(matrix)
    np.testing.assert_allclose(channel.prob(np.arange(len(matrix))), matrix, rtol=1e-14)
    check_channel(channel)


def test_named_channels():
    np.testing.assert_allclose(BinarySymmetric(0.1).matrix, [[0.9, 0.1], [0.1, 0.9]])
    np.testing.assert_allclose(BinaryErasure(0.25).matrix, [[0.75, 0.25, 0], [0, 0.25, 0.75]])
    np.testing.assert_allclose(ZChannel(0.3).matrix, [[1, 0], [0.3, 0.7]])


def test_letters_in_any_order():
    channel = DiscreteChannel([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], inputs=[3.0, -1.0, 0.0])
    np.testing.assert_array_equal(channel.prob([[-1.0, 0.0], [3.0, 3.0]])[1], [[1, 0], [1, 0]])
    np.testing.assert_array_equal(channel.prob(-1.0), [0, 1])


def test_letters_in_the_plane():
    channel = DiscreteChannel(np.eye(2), inputs=[[0.0, 1.0], [1.0, 0.0]])
    assert channel.dim == 2
    np.testing.assert_array_equal(channel.prob([1.0, 0.0]), [0, 1])
    with pytest.raises(InvalidArgument, match="must be one of the 2 input letters"):
        channel.prob([[1.0, 1.0]])


@pytest.mark.parametrize("bad", [0.5, -1.0, 2.0, [0.0, 7.0]])
def test_unknown_letter(bad):
    with pytest.raises(InvalidArgument, match="must be one of the 2 input letters"):
        BinarySymmetric(0.1).prob(bad)


@pytest.mark.parametrize(
    "matrix",
    [
        [[0.5, 0.6]],
        [[-0.1, 1.1]],
        [[np.nan, 1.0]],
        [],
        [0.5, 0.5],
        [[[1.0]]],
        [[1.0], [0.5, 0.5]],
        "matrix",
    ],
)
def test_bad_matrix(matrix):
    with pytest.raises(InvalidArgument, match=r"^matrix must"):
        DiscreteChannel(matrix)


@pytest.mark.parametrize("inputs", [[0.0], [1.0, 1.0], [0.0, np.nan], [[[0.0]], [[1.0]]]])
def test_bad_inputs(inputs):
    with pytest.raises(InvalidArgument, match=r"^inputs must"):
        DiscreteChannel(np.eye(2), inputs)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, np.inf, None, "p", [0.1, 0.2]])
@pytest.mark.parametrize(
    ("kind", "name"), [(BinarySymmetric, "p"), (BinaryErasure, "e"), (ZChannel, "p")]
)
def test_bad_probability(kind, name, bad):
    with pytest.raises(InvalidArgument, match=f"^{name} must"):
        kind(bad)


def test_the_matrix_cannot_be_changed():
    channel = BinarySymmetric(0.1)
    with pytest.raises(ValueError, match="read-only"):
        channel.matrix[0, 0] = 0.5


def test_derivatives_are_refused():
    with pytest.raises(InvalidArgument, match="continuous input"):
        BinarySymmetric(0.1).derivatives(0.0)


def test_restrict():
    points = np.array([-2.0, 0.0, 2.0])
    channel = restrict(Logistic(), points)
    np.testing.assert_allclose(channel.matrix, Logistic().prob(points), rtol=1e-15)
    np.testing.assert_array_equal(channel.inputs, points)
    assert restrict(Logistic(), points[:, None]).inputs.shape == (3,)
    assert restrict(Softmax(3), np.eye(3)).inputs.shape == (3, 3)
