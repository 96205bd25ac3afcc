"""The search for the steepest ratio."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import (
    AdditiveGaussian,
    Exponential,
    Logistic,
    Probit,
    Softmax,
    capacity_per_unit_cost,
)
from channelcode.capacity.per_unit.search import steepest_ratio
from channelcode.constraints import squared_norm


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_scales(scale):
    """1 / (pi scale^2) at every width of the response."""
    found = steepest_ratio(Probit(scale), squared_norm, is_power=True)
    assert found is not None
    assert found.nats == pytest.approx(1 / np.pi / scale**2, rel=1e-9)


def test_no_free_input():
    assert steepest_ratio(Logistic(), lambda l: 1.0 + l * l, is_power=False) is None
    assert steepest_ratio(Softmax(3), lambda l: 1.0 + (l**2).sum(axis=1), is_power=False) is None


def test_a_letter_at_a_wall_of_the_cost():
    """D / b rises up to the wall: the letter stands there, and the bounds meet."""
    found = capacity_per_unit_cost(
        Exponential(), lambda l: np.where(np.abs(l) <= 5.0, np.square(l), np.inf)
    )
    assert found.nats == pytest.approx((np.expm1(5.0) - 5.0) / 25.0, rel=1e-10)
    assert found.letter == pytest.approx(5.0, rel=1e-10)
    assert found.certificate.gap < 1e-8


@pytest.mark.parametrize("unit", [2.0**-300, 2.0**300])
def test_a_free_input_far_from_zero_in_the_unit_of_the_noise(unit):
    """The cost is zero at 3.35 deviations, which is 7e90: "none found"."""
    place = 3.35 * unit
    found = capacity_per_unit_cost(AdditiveGaussian(unit), lambda l: np.square((l - place) / unit))
    assert found.free == pytest.approx(place, rel=1e-6)
    assert found.nats == pytest.approx(0.5, rel=1e-8)
