"""Divergences that no double holds are large, not infinite."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import (
    AdditiveGaussian,
    Channel,
    Exponential,
    Gamma,
    Poisson,
    Status,
    capacity_per_unit_cost,
)


def test_what_grows_without_end_has_no_letter():
    """The letter was 715, where e^l is no double any more."""
    found = capacity_per_unit_cost(Exponential())
    assert found.nats == np.inf
    assert found.letter is None
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("shape", [0.5, 5.0, 1e6])
def test_a_ratio_with_a_limit_is_finite(shape):
    """k (e^l - 1 - l) / (e^l - 1) tends to k; D leaves the doubles before the cost does."""
    with np.errstate(over="ignore"):
        found = capacity_per_unit_cost(Gamma(shape), lambda l: np.expm1(np.abs(l)))
    assert found.nats == pytest.approx(shape, rel=1e-9)


def test_noise_so_small_that_divergences_overflow():
    """Was infinite and OPTIMAL."""
    found = capacity_per_unit_cost(AdditiveGaussian(2.0**-500))
    assert found.nats == pytest.approx(2.0**999, rel=1e-9)


def test_a_cost_is_asked_for_inputs_of_the_domain_only():
    """Was refused: the cost of -1e18 photons is negative."""
    found = capacity_per_unit_cost(Poisson(1.0), lambda l: l**1.5)
    l = np.geomspace(1.0, 50.0, 200_001)
    assert found.nats == pytest.approx((((1 + l) * np.log1p(l) - l) / l**1.5).max(), rel=1e-8)
    assert found.letter == pytest.approx(7.5773567, rel=1e-4)


class Partly(Channel):
    """Inputs near zero are told from it by chance, those beyond one without mistake."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):  # level noise, and all of it moves beyond one
        return np.where(np.abs(y - np.where(np.abs(l) < 1.0, 0.0, l)) <= 0.5, 0.0, -np.inf)

    def divergence_between(self, l, reference):
        return np.where(np.abs(l - reference) < 1.0, 0.0, np.inf)


def test_a_divergence_that_a_channel_calls_infinite_is_infinite():
    """Taken for one that no double holds, it would have no letter that attains it."""
    found = capacity_per_unit_cost(Partly(), throw=False)
    assert found.nats == found.upper == np.inf
    assert found.letter is not None
    assert abs(found.letter) >= 1.0
