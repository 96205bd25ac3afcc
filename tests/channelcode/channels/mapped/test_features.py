"""A channel behind a fixed map of its input."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import BinarySymmetric, Features, InvalidArgument, Logistic, Softmax


def test_matrix_and_function_agree(rng):
    matrix = rng.standard_normal((3, 2))
    by_matrix = Features(Softmax(3), matrix)
    by_function = Features(Softmax(3), lambda l: l @ matrix.T, dim=2)
    l = rng.standard_normal((4, 5, 2))
    np.testing.assert_allclose(by_matrix.log_prob(l), by_function.log_prob(l), rtol=1e-13)
    exact, numerical = by_matrix.derivatives(l), by_function.derivatives(l)
    np.testing.assert_allclose(exact.gradient, numerical.gradient, atol=1e-6)
    np.testing.assert_allclose(exact.hessian, numerical.hessian, atol=1e-5)


def test_two_logits_of_opposite_sign_are_logistic_at_twice_the_input():
    l = np.linspace(-300, 300, 61)
    head = Features(Softmax(2), [[-1.0], [1.0]])
    np.testing.assert_allclose(head.log_prob(l), Logistic().log_prob(2 * l), rtol=1e-13)


def test_a_scalar_map_scales():
    np.testing.assert_allclose(Features(Logistic(), 2.0).prob(1.5), Logistic().prob(3.0))


def test_a_vector_map_projects(rng):
    l = rng.standard_normal((6, 3))
    head = Features(Logistic(), [1.0, -1.0, 2.0])
    assert head.dim == 3
    np.testing.assert_allclose(head.prob(l), Logistic().prob(l @ [1.0, -1.0, 2.0]), rtol=1e-14)


@pytest.mark.parametrize("bad", [[[np.nan]], [[1.0], [2.0]], [], "head", np.zeros((1, 1, 1))])
def test_bad_map(bad):
    with pytest.raises(InvalidArgument, match=r"^map must"):
        Features(Logistic(), bad)


def test_bad_dim():
    with pytest.raises(InvalidArgument, match=r"^dim must"):
        Features(Logistic(), [[1.0, 2.0]], dim=3)
    with pytest.raises(InvalidArgument, match=r"^dim must"):
        Features(Logistic(), np.tanh, dim=0)


@pytest.mark.parametrize("bad", [None, Logistic, BinarySymmetric(0.1)])
def test_bad_channel(bad):
    with pytest.raises(InvalidArgument, match=r"^channel must be"):
        Features(bad, [[1.0]])


def test_a_map_of_the_wrong_shape_or_value():
    with pytest.raises(InvalidArgument, match=r"map must return shape \(2, 3\)"):
        Features(Softmax(3), lambda l: l, dim=2).prob(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="finite"):
        Features(Logistic(), lambda l: l * np.nan).prob(1.0)


def test_a_projection_keeps_what_its_channel_promises():
    """Along a direction a logistic response only rises: nothing turns, however near zero."""
    tails = Features(Logistic(), [3.0, -4.0]).tails()
    assert tails is not None
    assert tails.radius == 0.0
    (place, width), (_, inner) = tails.landmarks[0], Logistic().tails().landmarks[0]
    assert tuple(place) == (0.0, 0.0)
    assert width == pytest.approx(inner / 5.0)
    flat = Features(Logistic(), 0.0 * np.ones(2)).tails()
    assert flat is not None
    assert flat.landmarks == ()
