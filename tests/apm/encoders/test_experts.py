"""Experts' channels as one, and the encoder of (example, expert) pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from apm import Affine, Expert, Linear, NonLinear
from apm.encoders import Chosen, WithExpert
from apm.encoders.experts import LapseByLogit
from apm.testing import check_encoder
from channelcode import Lapse, Logistic, Probit, Softmax, UnknownLapse
from channelcode.errors import InvalidArgument
from tests.naming import plain

SURE = Expert(Logistic(), 3.0, "sure")
NOISY = Expert(Lapse(Logistic(), 0.1, 0.2), 1, "noisy")
UNKNOWN = Expert(UnknownLapse(Logistic(), symmetric=True), 2.0, "unknown")
X = np.random.default_rng(0).normal(size=(6, 2))
PAIRS = np.column_stack((np.repeat(X, 3, axis=0), np.tile([0.0, 1.0, 2.0], 6)))


def test_chosen_is_each_expert_s_channel():
    channel = Chosen((SURE, NOISY))
    l = np.linspace(-3, 3, 7)
    for number, expert in enumerate(channel.experts):
        joint = np.stack([l, np.full(7, float(number))], axis=-1)
        np.testing.assert_allclose(channel.prob(joint), expert.channel.prob(l), rtol=1e-14)
        found, own = channel.derivatives(joint), expert.channel.derivatives(l)
        np.testing.assert_allclose(found.gradient[..., 0], own.gradient, rtol=1e-12)
        np.testing.assert_allclose(found.hessian[..., 0, 0], own.hessian, rtol=1e-12)
        assert not found.gradient[..., 1].any()
    assert (channel.dim, channel.num_outputs, channel.same_units) == (2, 2, False)
    assert [channel.of(name) for name in ("sure", "noisy", 0, 1)] == [0, 1, 0, 1]
    for bad in ("nobody", 2, -1, 0.5, None, True):
        with pytest.raises(InvalidArgument, match="expert"):
            channel.of(bad)
    for number in (-1.0, 2.0, 0.5):
        with pytest.raises(InvalidArgument, match=r"expert's number in 0\.\.1"):
            channel.log_prob([0.0, number])


def test_unknown_rates_are_one_more_coordinate():
    channel = Chosen((SURE, UNKNOWN))
    assert channel.dim == 3
    part = channel.part(1)
    assert isinstance(part, LapseByLogit)
    assert part.rate(0.0) == pytest.approx(0.1)
    assert 0 <= part.rate(-800.0) < part.rate(800.0) <= 0.5
    l = np.array([[1.0, 0.0, 7.0], [1.0, 1.0, 0.0], [1.0, 1.0, 2.0]])
    p = channel.prob(l)
    np.testing.assert_allclose(p[0], Logistic().prob(1.0))
    rate = 0.5 / (1 + np.exp(np.log(4.0)))
    np.testing.assert_allclose(p[1], Lapse(Logistic(), rate, rate).prob(1.0), rtol=1e-12)
    gradient = channel.derivatives(l).gradient
    for row, output in ((1, 0), (2, 1)):

        def value(at, output=output):
            return channel.log_prob([at[0], 1.0, at[1]])[output]

        slope: Any = approx_fprime(l[row, [0, 2]], value, 1e-7)
        # differences with steps of 1e-7
        np.testing.assert_allclose(gradient[row, output, [0, 2]], slope, atol=1e-5)


@pytest.mark.parametrize(
    ("encoder", "count", "experts"),
    [
        (Linear(), 2, (SURE, NOISY, UNKNOWN)),
        (Affine(), 3, (SURE, NOISY, Expert(Probit(), 1.0, "third"))),
        (NonLinear(lambda t, X: np.sin(X @ t.T), 2), 2, (SURE, NOISY, UNKNOWN)),
        (Linear(), 6, tuple(Expert(Softmax(3), c, f"e{c}") for c in (1, 2, 3))),
    ],
    ids=plain,
)
def test_pairs_have_the_example_s_input_and_the_expert(encoder, count, experts):
    channel = Chosen(experts)
    pair = WithExpert(encoder, channel, count)
    theta = np.random.default_rng(1).normal(size=(5, pair.num_parameters))
    found = pair.inputs(theta, PAIRS)
    assert found.shape == (18, 5, channel.dim)
    k = channel.inner_dim
    np.testing.assert_array_equal(found[..., k], np.broadcast_to(PAIRS[:, 2:], (18, 5)))
    own = theta[:, :count].reshape(5, k, -1) if k > 1 else theta[:, :count]
    expected = np.repeat(encoder.inputs(own, X).reshape(6, 5, k), 3, axis=0)
    np.testing.assert_allclose(found[..., :k], expected, atol=1e-14)
    if channel.unknown:
        np.testing.assert_array_equal(found[2::3, :, -1], np.tile(theta[:, -1], (6, 1)))
        assert not found[0::3, :, -1].any()
    check_encoder(pair, PAIRS, theta=theta)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Logistic(), 0.0, "a"), "cost"),
        ((Logistic(), -1.0, "a"), "cost"),
        ((Logistic(), np.nan, "a"), "cost"),
        ((Logistic(), 1.0, ""), "name"),
        ((Logistic(), 1.0, 3), "name"),
        (("logistic", 1.0, "a"), "channel"),
    ],
    ids=plain,
)
def test_bad_experts(arguments, message):
    with pytest.raises(InvalidArgument, match=message):
        Expert(*arguments)


def test_bad_panels():
    for experts, message in (
        ((), "one Expert or more"),
        ((SURE, 3), "one Expert or more"),
        ((SURE, SURE), "different names"),
        ((SURE, Expert(Softmax(3), 1.0, "other")), "same input"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            Chosen(experts)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="last column"):
        WithExpert(Linear(), Chosen((SURE,)), 1).inputs([[1.0]], [[1.0]])
