"""The same channel in another unit: probabilities, derivatives and promises."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Cloglog, DiscreteChannel, InvalidArgument, Ordinal
from channelcode.channels.mapped.rescaled import Rescaled
from channelcode.channels.tails import broken_promise


@pytest.mark.parametrize("unit", [0.25, 3.0])
def test_probabilities_and_derivatives(unit):
    inner, seen = Ordinal([-1.0, 2.0]), Rescaled(Ordinal([-1.0, 2.0]), unit)
    l = np.linspace(-4.0, 4.0, 9)
    np.testing.assert_array_equal(seen.log_prob(l), inner.log_prob(unit * l))
    step = 1e-4
    change = (seen.log_prob(l + step) - seen.log_prob(l - step)) / (2 * step)
    bend = (seen.log_prob(l + step) - 2 * seen.log_prob(l) + seen.log_prob(l - step)) / step**2
    gradient, hessian = seen.derivatives(l)
    np.testing.assert_allclose(gradient, change, atol=1e-6)  # differences of that step
    np.testing.assert_allclose(hessian, bend, atol=1e-5)
    assert seen.num_outputs == 3


def test_promises_are_kept():
    for unit in (0.1, 1.0, 20.0):
        seen = Rescaled(Cloglog(), unit)
        assert broken_promise(seen) is None
        promise = seen.tails()
        assert promise is not None
        assert promise.landmarks[0].width == 1.0 / unit


@pytest.mark.parametrize("unit", [0.0, -1.0, np.nan])
def test_units_are_positive(unit):
    with pytest.raises(InvalidArgument):
        Rescaled(Cloglog(), unit)


def test_only_channels_on_the_line():
    with pytest.raises(InvalidArgument, match="on the line"):
        Rescaled(DiscreteChannel(np.eye(2)), 2.0)
