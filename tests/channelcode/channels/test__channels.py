"""The contract, over every exported channel; a new one is found by its export alone."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.special import expit

import channelcode
import channelcode.channels
from channelcode.channels import (
    AdditiveGaussian,
    AdditiveLaplace,
    BinaryErasure,
    BinarySymmetric,
    Binomial,
    Cauchit,
    Channel,
    Cloglog,
    DiscreteChannel,
    Exponential,
    Features,
    Gamma,
    Lapse,
    Link,
    Logistic,
    Ordinal,
    Poisson,
    Probit,
    QuantisedGaussian,
    Recentred,
    Softmax,
    UnknownGuess,
    UnknownLapse,
    ZChannel,
)
from channelcode.testing import check_channel


def _cubic(l):
    return expit(np.asarray(l, dtype=float) ** 3)


def _cubic_complement(l):
    return expit(-(np.asarray(l, dtype=float) ** 3))


INSTANCES: dict[str, Sequence[Channel]] = {
    "AdditiveGaussian": [AdditiveGaussian(), AdditiveGaussian(0.01), AdditiveGaussian(noise=300.0)],
    "AdditiveLaplace": [AdditiveLaplace(), AdditiveLaplace(scale=0.02)],
    "Exponential": [Exponential()],
    "Gamma": [Gamma(), Gamma(0.3), Gamma(shape=40.0)],
    "Poisson": [Poisson(), Poisson(0.5), Poisson(dark=30.0)],
    "BinaryErasure": [BinaryErasure(0.0), BinaryErasure(0.3), BinaryErasure(1.0)],
    "BinarySymmetric": [BinarySymmetric(0.0), BinarySymmetric(0.11), BinarySymmetric(1.0)],
    "Binomial": [Binomial(1), Binomial(7), Binomial(3, Cauchit()), Binomial(4, link=Cloglog())],
    "Cauchit": [Cauchit()],
    "Cloglog": [Cloglog()],
    "DiscreteChannel": [
        DiscreteChannel([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]]),
        DiscreteChannel([[1.0, 0.0], [0.5, 0.5]], inputs=[-1.0, 2.5]),
        DiscreteChannel(np.eye(3), inputs=[[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
    ],
    "Recentred": [Recentred(Cloglog(), 2.5), Recentred(Ordinal([-1.0, 1.0]), -3.0)],
    "Features": [
        Features(Softmax(2), [[1.0], [-1.0]]),
        Features(Logistic(), [[1.0, -2.0, 0.5]]),
        Features(Softmax(3), np.arange(6.0).reshape(3, 2)),
        Features(Probit(), np.tanh),
    ],
    "Lapse": [Lapse(Logistic(), low=0.02, high=0.1), Lapse(Probit()), Lapse(Cauchit(), high=0.2)],
    "Link": [Link(_cubic), Link(_cubic, _cubic_complement)],
    "Logistic": [Logistic()],
    "Ordinal": [Ordinal([-1.0, 0.5, 2.0]), Ordinal([0.0], Cloglog()), Ordinal([-2, 1], Probit())],
    "Probit": [Probit(), Probit(0.2), Probit(scale=5.0)],
    "QuantisedGaussian": [
        QuantisedGaussian([-1.5, 0.0, 1.5]),
        QuantisedGaussian(np.linspace(-3, 3, 13), noise=0.3),
    ],
    "Softmax": [Softmax(2), Softmax(3), Softmax(6)],
    "UnknownGuess": [UnknownGuess(Logistic()), UnknownGuess(Probit(), high=0.02)],
    "UnknownLapse": [UnknownLapse(Logistic(), low=0.5), UnknownLapse(Probit(), symmetric=True)],
    "ZChannel": [ZChannel(0.0), ZChannel(0.3), ZChannel(1.0)],
}
EXPORTED = sorted(
    name
    for name in vars(channelcode.channels)["__all__"]
    if inspect.isclass(member := getattr(channelcode.channels, name))
    and issubclass(member, Channel)
    and member is not Channel
)
CASES = [channel for name in EXPORTED for channel in INSTANCES.get(name, ())]
SATURATING = (DiscreteChannel, Link)  # their zeros are meant
RESTRICTED = UnknownGuess, UnknownLapse  # refuse inputs whose second coordinate is no rate


@pytest.mark.parametrize("name", EXPORTED)
def test_each_exported_channel_has_an_instance(name):
    assert INSTANCES.get(name), f"add an instance of {name} to INSTANCES above"
    assert getattr(channelcode, name) is getattr(channelcode.channels, name)


@pytest.mark.parametrize("channel", [c for c in CASES if not isinstance(c, RESTRICTED)], ids=repr)
def test_contract(channel):
    check_channel(channel, require_finite=not isinstance(channel, SATURATING))


@pytest.mark.parametrize("channel", CASES, ids=repr)
def test_docstring_states_the_formula(channel):
    text = type(channel).__doc__ or ""
    assert any(mark in text for mark in ("P(", "p(y", "f(y", "probab")), (
        "a channel restates its formula"
    )


@pytest.mark.parametrize("name", ["prob", "sample", "conditional_entropy", "divergence"])
def test_derived_methods_are_final(name):
    with pytest.raises(TypeError, match=f"{name} is derived"):
        type("Cheat", (Channel,), {name: lambda self, l: None, "dim": 1, "num_outputs": 2})
