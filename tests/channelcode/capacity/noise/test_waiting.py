"""Waiting times under tiny powers: zero and a rare level, against integrals of forty digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from channelcode import Exponential, Gamma, Power, Status, capacity, capacity_curve
from channelcode.capacity import Peak
from channelcode.capacity.noise.waiting import RareLevels, near_zero, on_off

LOG_TWO = np.log(2.0)


class Exact:
    """Zero and a level sent with probability p: digit by digit."""

    def __init__(self, shape, level, share):
        self.k, self.a, self.p = mp.mpf(shape), mp.mpf(level), mp.mpf(share)
        self.ahead = self.k * self.a - mp.log(self.p / (1 - self.p))
        self.fall = self.k * (1 - mp.exp(-self.a))

    def mean(self, l, function):
        k, turn = self.k, mp.log(self.ahead / self.fall) - l
        near = [turn + d / self.ahead for d in (-40, -20, -10, -5, 0, 5, 10, 20, 40)]
        low, high = min(-60 / k, mp.mpf(-10)), mp.log(100 / k) + 2
        ends = [low, -20 / k, -8 / k, -3, -1, 0, 1, 2, 3, high, *near]
        places = sorted({x for x in map(mp.mpf, ends) if low <= x <= high})
        scale = k**k / mp.gamma(k)
        return mp.quad(
            lambda x: scale * mp.exp(k * x - k * mp.exp(x)) * function(self.log_ratio(l + x)),
            places,
        )

    def log_ratio(self, u):
        return self.fall * mp.exp(u) - self.ahead

    def log_more(self, z):
        return mp.log1p(mp.exp(z)) if z < 100 else z + mp.exp(-z)

    def at_zero(self):
        kept = self.mean(self.a, lambda z: self.log_more(z) * mp.exp(-z))
        return -mp.log1p(-self.p) - self.p / (1 - self.p) * kept

    def divergence(self, l):
        own = self.k * (mp.exp(l) - 1 - l) - mp.log1p(-self.p)
        return own - self.mean(mp.mpf(l), self.log_more)

    def nats(self):
        return self.p * self.divergence(self.a) + (1 - self.p) * self.at_zero()


@pytest.mark.parametrize(
    ("shape", "power"), [(1.0, "1e-13"), (1.0, "1e-300"), (0.2, "1e-20"), (3.0, "1e-7")]
)
def test_the_information_and_the_multiplier(shape, power):
    with mp.workdps(40):
        law = on_off(Gamma(shape), float(power))
        assert law is not None
        level = mp.mpf(float(law.input.atoms[1]))
        exact = Exact(shape, level, mp.mpf(power) / level**2)
        nats, zero = exact.nats(), exact.at_zero()
        assert law.nats / float(nats) == pytest.approx(1.0, rel=1e-13)
        price = (exact.divergence(level) - zero) / level**2
        assert law.multiplier == pytest.approx(float(price), rel=1e-13)
        assert law.lower <= float(nats) <= law.upper <= float(nats) * (1.0 + 1e-7)
        step = mp.mpf("1e-4")  # the best level: F is flat there
        higher = exact.divergence(level * (1 + step)) - price * (level * (1 + step)) ** 2
        lower = exact.divergence(level * (1 - step)) - price * (level * (1 - step)) ** 2
        assert abs(higher - lower) < 1e-3 * float(step) * float(price * level**2)
        assert max(higher, lower) < zero


@pytest.mark.parametrize("shape", [0.1, 0.2, 1.0, 3.0, 50.0])
@pytest.mark.parametrize("power", [1e-6, 1e-10, 1e-16, 1e-40, 1e-120])
def test_tiny_powers(shape, power):
    """1e-13 had a multiplier of 8.5 and 0 bits, 1e-16 one of 4.6e4; 1e-5 and 1e-6 stalled."""
    result = capacity(Gamma(shape), Power(power))
    assert result.status is Status.OPTIMAL
    assert result.lower <= result.bits <= result.upper
    if shape < 50.0 or power < 1e-6:
        assert result.upper <= result.lower * (1.0 + 4.0 * power + 1e-9)
    assert result.multiplier * power < result.bits  # C is concave
    near = capacity(Gamma(shape), Power(power * 1.01))
    slope = (near.bits - result.bits) / (0.01 * power)
    assert near.multiplier < slope < result.multiplier


def test_the_smallest_doubles():
    for power in (1e-300, 1e-310, 1e-320):
        result = capacity(Exponential(), Power(power))
        assert result.status is Status.OPTIMAL
        assert result.multiplier == pytest.approx(15.05, rel=0.06)
        assert result.nats / power == pytest.approx(10.5, rel=0.06)


@pytest.mark.parametrize("channel", [Exponential(), Gamma(0.2), Gamma(3.0)], ids=repr)
def test_a_curve_through_tiny_powers(channel):
    curve = capacity_curve(channel, np.geomspace(1e-40, 1e-5, 15))
    assert all(status is Status.OPTIMAL for status in curve.status)
    assert (np.diff(curve.bits / curve.powers) < 0).all()
    assert (np.diff(curve.multiplier) < 0).all()
    slope = np.diff(curve.bits) / np.diff(curve.powers)
    assert (slope < curve.multiplier[:-1]).all()
    assert (slope > curve.multiplier[1:]).all()


def test_a_peak_at_which_the_rare_level_is():
    """Below the level that is best without it the peak is, and C / P tends to D_A / A^2."""
    for peak in (1.0, 0.1):
        most = (np.expm1(peak) - peak) / peak**2
        low = capacity(Exponential(), Power(1e-30) & Peak(peak))
        assert low.status is Status.OPTIMAL
        assert low.input.atoms[-1] == peak
        assert low.nats / 1e-30 == pytest.approx(most, rel=1e-9)
        assert low.multiplier * LOG_TWO == pytest.approx(most, rel=1e-9)
    far = capacity(Exponential(), Power(1e-13) & Peak(5.0))
    free = capacity(Exponential(), Power(1e-13))
    assert far.bits == pytest.approx(free.bits, rel=1e-12)


@pytest.mark.parametrize("shape", [0.2, 1.0, 40.0])
def test_a_peak_next_to_zero(shape):
    for peak in (1e-5, 1e-9, 1e-100):
        alone = capacity(Gamma(shape), Peak(peak))
        assert alone.nats == pytest.approx(0.5 * shape * peak**2, rel=1e-4)
        assert alone.upper <= alone.lower * (1.0 + 1e-4)
        both = capacity(Gamma(shape), Power(1e-3 * peak**2) & Peak(peak))
        assert both.multiplier * LOG_TWO == pytest.approx(0.5 * shape, rel=1e-4)
        assert both.nats == pytest.approx(0.5e-3 * shape * peak**2, rel=1e-4)
    assert near_zero(shape, 1.0, 0.1) is None


def test_what_two_inputs_near_zero_lose():
    with mp.workdps(50):
        for k, t in ((mp.mpf(1) / 5, mp.mpf("1e-3")), (mp.mpf(30), mp.mpf("1e-4"))):
            c = 4 * mp.sinh(t / 2) ** 2
            found = (1 - c * mp.exp(t)) ** -k + (1 - c * mp.exp(-t)) ** -k + 2 * (1 + c) ** -k
            assert 0 < found / 4 - 1 < c**2 * (k + k**2)


def test_light_atoms_do_no_harm_to_divergences():
    """D with a light atom on top against mpmath, where it matters and where it does not."""
    law = RareLevels(Gamma(1.0), np.array([3.0, 8.0]), np.array([-20.0, -60.0]))
    with mp.workdps(30):
        for l in (0.5, 3.0, 7.0, 9.0):

            def log_more(x, l=l):
                y = mp.exp(l + x)
                parts = [
                    mp.exp(w - a - mp.log(1 - mp.exp(-20)) + (1 - mp.exp(-a)) * y)
                    for a, w in ((mp.mpf(3), -20), (mp.mpf(8), -60))
                ]
                return mp.log(1 + sum(parts))

            exact = mp.quad(
                lambda x, l=l: mp.exp(x - mp.exp(x)) * log_more(x),
                [-40, -20, -8, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4.5],
            )
            assert law.gain(l) == pytest.approx(float(str(exact)), rel=1e-9, abs=1e-15)


def test_a_large_power_with_a_far_peak_is_left_to_others():
    """Was an OverflowError (e^1000), and a warning where the power is above e^5."""
    for power, peak in ((150.0, 1e3), (1e3, 3.0), (1e3, 1e6), (1e-3, 1e6)):
        found = on_off(Exponential(), power, peak)
        assert found is None or found.input.atoms[1] < 100.0
    low, high = on_off(Exponential(), 1e-6, 1e6), on_off(Exponential(), 1e-6)
    assert low is not None
    assert high is not None
    assert low.nats == pytest.approx(high.nats, rel=1e-12)
