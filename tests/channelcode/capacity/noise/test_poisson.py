"""Counts under tiny powers: on and off, against sums of sixty digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from channelcode import Poisson, Power, Status, capacity, capacity_curve
from channelcode.capacity import Peak
from channelcode.capacity.noise.poisson import on_off

TINY = [1e-12, 1e-30, 1e-100, 1e-200, 1e-300, 1e-310, 1e-320]


def information(dark, level, share):
    """I of on and off in nats, digit by digit."""
    with mp.workdps(60):
        dark, level, share = mp.mpf(dark), mp.mpf(level), mp.mpf(share)
        total = mp.mpf(0)
        for y in range(40 + int(4 * dark)):
            off = mp.exp(-dark) * dark**y / mp.factorial(y)
            on = mp.exp(-dark - level) * (dark + level) ** y / mp.factorial(y)
            mixed = (1 - share) * off + share * on
            total += sum(w * p * mp.log(p / mixed) for w, p in ((1 - share, off), (share, on)) if p)
        return float(total)


@pytest.mark.parametrize("dark", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("power", [1e-10, 1e-14, 1e-20])
def test_the_information_of_on_and_off(dark, power):
    law = on_off(power, dark)
    assert law is not None
    exact = information(dark, law.level, law.share)
    assert law.share * law.level**2 == pytest.approx(power, rel=1e-12)
    assert law.nats == pytest.approx(exact, rel=1e-7 if dark else 1e-12)
    assert law.lower <= exact * (1 + 1e-13)
    assert exact <= law.upper


@pytest.mark.parametrize("power", TINY)
@pytest.mark.parametrize("dark", [0.25, 1.0])
def test_dark_counts(dark, power):
    """1e-320 ended in "a negative gap is a bug", 1e-200 in 0 bits with a multiplier of 0."""
    result = capacity(Poisson(dark), Power(power))
    assert result.status is Status.OPTIMAL
    loss = 3.0 * (np.sqrt(power) / dark) ** (2 / 3) + 5e-323 / power  # the last: subnormal doubles
    assert result.nats / power * 2.0 * dark == pytest.approx(1.0, abs=loss + 1e-12)
    assert result.multiplier * np.log(2.0) * 2.0 * dark == pytest.approx(1.0, abs=loss + 1e-12)
    assert result.lower <= result.bits <= result.upper


@pytest.mark.parametrize("power", TINY)
def test_no_dark_counts(power):
    result = capacity(Poisson(0.0), Power(power))
    assert result.status is Status.OPTIMAL
    root = np.sqrt(power)
    assert result.nats / root == pytest.approx(2.0 / np.e, rel=2.0 * root + 1e-12)
    assert result.multiplier * np.log(2.0) * root == pytest.approx(1.0 / np.e, rel=1e-12)
    assert result.lower <= result.bits <= result.upper


def test_the_bound_without_dark_counts_holds_at_every_power():
    for power in (1e-6, 1e-3, 1.0, 10.0):
        found = capacity(Poisson(0.0), Power(power), throw=False)
        assert found.lower * np.log(2.0) <= 2.0 * np.sqrt(power) / np.e


def test_powers_next_to_those_that_are_searched():
    """The formula takes over where it is within the tolerance: no step in between."""
    for dark in (0.0, 1.0):
        curve = capacity_curve(Poisson(dark), np.geomspace(1e-12, 1e-7, 11))
        slope = np.diff(curve.nats) / np.diff(curve.powers)
        assert (np.diff(curve.nats) > 0).all()
        assert (np.diff(slope) < 0).all()


def test_a_peak_in_the_way():
    low = capacity(Poisson(1.0), Power(1e-40) & Peak(1e-15))
    assert low.input.atoms.max() == 1e-15
    assert low.status is Status.OPTIMAL


@pytest.mark.parametrize("dark", [0.0, 1e-3, 1.0, 50.0])
@pytest.mark.parametrize("share", [1e-3, 0.1, 0.3, 0.45, 0.7, np.inf])
def test_a_peak_that_is_lit(dark, share):
    """Peak(1e-8) with dark counts gave 3.4e-17 bits, 32 inputs; it is A^2 / 8 nats, of two."""
    peak = 1e-6 * (dark if dark else 1.0)
    law = on_off(share * peak * peak, dark, peak)
    assert law is not None
    assert law.share * law.level**2 <= share * peak * peak * (1 + 1e-14)
    exact = information(dark, law.level, law.share)
    assert law.lower <= exact * (1 + 1e-13)
    assert exact <= law.upper * (1 + 1e-13)
    size = share if dark else 1.0
    assert law.upper - law.lower <= 3e-5 * exact / min(size, 1.0)
    rng = np.random.default_rng(3)
    for other, often in rng.uniform(0.0, 1.0, (40, 2)):  # no other law of two does better
        often = min(often, share / other**2)
        assert information(dark, other * peak, often) <= law.upper * (1 + 1e-13)


@pytest.mark.parametrize("peak", [1e-8, 1e-100, 1e-160])
def test_a_tiny_peak_alone(peak):
    dim = capacity(Poisson(2.0), Peak(peak))
    assert dim.status is Status.OPTIMAL
    assert dim.nats == pytest.approx(peak**2 / 16.0, rel=1e-7, abs=1e-322)
    clear = capacity(Poisson(0.0), Peak(peak))
    assert clear.nats == pytest.approx(peak / np.e, rel=1e-7)
    assert (len(dim.input), len(clear.input), clear.multiplier) == (2, 2, 0.0)
