"""What an encoder gives is checked before a posterior believes it."""

from __future__ import annotations

import numpy as np
import pytest

from apm import Linear, NonLinear
from apm.encoders.calling import channel_inputs
from channelcode import Logistic, Probit, Softmax
from channelcode.errors import InvalidArgument

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 2))


def test_classes_of_a_linear_encoder_lie_one_after_the_other():
    theta = RNG.normal(size=(4, 6))
    found = channel_inputs(Linear(), theta, X, Softmax(3))
    logits = np.einsum("np,skp->nsk", X, theta.reshape(4, 3, 2))
    np.testing.assert_allclose(found, logits - logits.mean(axis=2, keepdims=True), atol=1e-14)
    np.testing.assert_allclose(Softmax(3).prob(found), Softmax(3).prob(logits), atol=1e-14)
    with pytest.raises(InvalidArgument, match="multiple of 3"):
        channel_inputs(Linear(), theta[:, :5], X, Softmax(3))


def test_logits_are_centred_for_encoders_of_any_kind():
    raw = NonLinear(lambda t, Z: np.exp(t)[None] + Z[:, :1, None] + 7.0, 3)
    found = channel_inputs(raw, RNG.normal(size=(4, 3)), X, Softmax(3))
    np.testing.assert_allclose(found.sum(axis=2), 0.0, atol=1e-13)


@pytest.mark.parametrize("k", [1, 2])
def test_the_shape_must_be_the_channels(k):
    flat = NonLinear(lambda t, Z: Z @ t.T, 2)
    deep = NonLinear(lambda t, Z: np.repeat((Z @ t.T)[..., None], 3, axis=2), 2)
    channel = Logistic() if k == 1 else Softmax(2)
    wrong = deep if k == 1 else flat
    with pytest.raises(InvalidArgument, match="encoder must give shape"):
        channel_inputs(wrong, RNG.normal(size=(4, 2)), X, channel)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_named(value):
    def spoiled(theta, rows):
        l = rows @ theta.T
        l[3, theta[:, 0] == 5.0] = value
        return l

    theta = np.array([[1.0, 2.0], [5.0, 6.0]])
    with pytest.raises(InvalidArgument, match=r"theta = \[5\.0, 6\.0\] for x = \["):
        channel_inputs(NonLinear(spoiled, 2), theta, X, Probit())
