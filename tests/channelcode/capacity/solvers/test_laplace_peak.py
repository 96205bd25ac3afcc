"""Laplace noise under a peak: the constants, KKT by mpmath, and the certified capacity."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode import AdditiveLaplace, Peak, Power, Status, capacity
from channelcode.capacity import Proposal
from channelcode.capacity.solvers.laplace_peak import DISTANCE, SHARE, laplace_peak


def closed_form(peak, scale=1.0):
    """log2((A/b + mu + (1 - mu) e^d - d) / e)."""
    extra = SHARE + (1.0 - SHARE) * np.exp(DISTANCE) - DISTANCE
    return np.log2((peak / scale + extra) / np.e)


def test_constants_solve_both_equations():
    with mpmath.workdps(30):
        d, mu = mpmath.mpf(DISTANCE), mpmath.mpf(SHARE)

        def g(x):
            return mpmath.log(mpmath.cosh(x) - mu * mpmath.sinh(x))

        for sign in (-1, 1):
            whole = mpmath.quad(lambda x, s=sign: mpmath.exp(s * x) * g(x), [0, d / 2, d])
            assert abs(whole + mpmath.exp(sign * d) * (g(d) - 1)) < 1e-14


def test_the_continuous_law_meets_kkt_by_mpmath():
    peak = 4.0
    half = peak - DISTANCE
    level = 1.0 / (2 * half + 2 * SHARE + 2 * (1 - SHARE) * np.exp(DISTANCE))

    def output(y):
        x = abs(y) - half
        if x <= 0:
            return mpmath.mpf(level)
        inner = min(x, DISTANCE)
        value = level * (mpmath.cosh(inner) - SHARE * mpmath.sinh(inner))
        return value * mpmath.exp(-max(x - DISTANCE, 0))

    def divergence(l):
        def term(y):
            f = mpmath.exp(-abs(y - l)) / 2
            return f * mpmath.log(f / output(y))

        return float(
            mpmath.quad(term, sorted({-60, -peak, -half, l, half, peak, 60})) / mpmath.log(2)
        )

    exact = closed_form(peak)
    for l in (0.0, 1.0, half, peak):  # on the support
        assert divergence(l) == pytest.approx(exact, abs=1e-9)  # quadrature of mpmath
    for share in (0.2, 0.5, 0.8):  # between the even part and the peak
        assert divergence(half + share * DISTANCE) < exact - 1e-6


@pytest.mark.parametrize("peak", [1.94, 2.0, 4.0, 8.0])
def test_capacity_reaches_the_tolerance(peak):
    result = capacity(AdditiveLaplace(1.0), Peak(peak))
    assert result.status is Status.OPTIMAL
    assert result.gap <= 1e-9
    assert result.lower <= closed_form(peak) <= result.upper
    assert "bends bounded" in result.scope


def test_scale_does_not_matter():
    wide, narrow = (capacity(AdditiveLaplace(b), Peak(4.0 * b)) for b in (1e6, 1e-3))
    assert wide.bits == pytest.approx(narrow.bits, abs=1e-12)


def test_small_peaks_have_no_even_part():
    assert laplace_peak(1.0, 1.9, tol=1e-9) is None
    result = capacity(AdditiveLaplace(1.0), Peak(1.9))
    assert len(result.input) == 3
    assert result.gap <= 1e-9


def test_power_and_peak_together():
    both = capacity(AdditiveLaplace(1.0), Power(0.1) & Peak(4.0))
    assert both.gap <= 1e-9
    assert float(both.input.weights @ both.input.atoms**2) <= 0.1 * (1 + 1e-12)
    # the variance of the output limits its entropy; a Gaussian of that variance has the most
    noise = 1.0 + np.log(2.0)
    most = (0.5 * np.log(2 * np.pi * np.e * 2.1) - noise) / np.log(2)
    assert both.upper <= most


def test_a_power_that_does_not_bind_leaves_the_law_alone():
    free = capacity(AdditiveLaplace(1.0), Peak(4.0))
    spent = float(free.input.weights @ free.input.atoms**2)
    loose = capacity(AdditiveLaplace(1.0), Peak(4.0) & Power(1.01 * spent))
    assert loose.bits == pytest.approx(free.bits, abs=1e-14)
    assert loose.multiplier == 0.0


class TwoAtoms:
    def propose(self, problem, *, tol):
        return Proposal(np.array([-0.1, 0.1]), np.array([0.5, 0.5]), 0.45, "TwoAtoms")


@pytest.mark.parametrize(
    ("peak", "power"),
    [(1.0, 0.5), (1.5, 1.1), (2.0, 3.0), (3.0, 2.3), (6.0, 8.0), (6.0, 17.0), (6.351272, 5.633303)],
)
def test_power_and_peak_where_both_count(peak, power):
    """Certified; below either limit alone; and the atoms at the ends of the range carry mass."""
    result = capacity(AdditiveLaplace(1.0), Power(power) & Peak(peak))
    assert result.status is Status.OPTIMAL
    assert result.stats.method == "ClosedForm (Laplace noise, peak and power)"
    assert result.upper < capacity(AdditiveLaplace(1.0), Power(power)).lower
    assert result.upper < capacity(AdditiveLaplace(1.0), Peak(peak)).lower
    assert abs(result.input.atoms).max() == peak
    assert result.input.second_moment == pytest.approx(power, rel=1e-9)
    # dC/dP between neighbours: C is concave
    more = capacity(AdditiveLaplace(1.0), Power(1.001 * power) & Peak(peak))
    slope = (more.bits - result.bits) / (0.001 * power)
    assert more.multiplier - 1e-5 <= slope <= result.multiplier + 1e-5


def test_power_alone_is_proved_for_the_whole_line():
    result = capacity(AdditiveLaplace(1.0), Power(0.01))
    assert result.status is Status.OPTIMAL
    assert result.scope.startswith("the real line")
    # a solver of one's own is judged by probes, and by the slope of D beyond them
    result = capacity(AdditiveLaplace(1.0), Power(0.01), solver=TwoAtoms(), throw=False)
    assert "farther out the power outweighs" in result.scope, result.scope
    assert result.upper >= result.lower > 0
