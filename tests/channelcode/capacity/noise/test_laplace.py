"""Laplace noise under a power: the closed form against mpmath, laws near it, and units."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode import (
    AdditiveLaplace,
    DiscreteMeasure,
    Gaussian,
    Peak,
    Power,
    Status,
    capacity,
    mutual_information,
)
from channelcode.capacity.noise.laplace import (
    best_under_power,
    gaussian_loss,
    law_under_power,
    pair_information,
    power_limit,
)

LOG_TWO = np.log(2)


def _integral(function: Any, marks: Any) -> Any:
    return mpmath.quad(function, marks)


def _output(half):
    """The density of Y in many digits: Gaussian within half, exponential beyond."""
    a = mpmath.mpf(half)
    v = a + 1

    def shape(y):
        y = abs(y)
        return mpmath.exp(-(min(y, a) ** 2) / (2 * v) - max(y - a, 0))

    total = 2 * _integral(shape, [0, a, a + 5, a + 30, a + 80])
    return lambda y: shape(y) / total


@pytest.mark.parametrize("half", [0.05, 1.0, 4.0])
def test_kkt_by_mpmath(half):
    """D(f_l || q) - s (l^2 - P) is C within half, and less beyond; P and C are those of q."""
    with mpmath.workdps(20):
        q = _output(half)
        far = half + 80
        marks = [-far, -half - 30, -half - 5, -half, 0, half, half + 5, half + 30, far]
        found = power_limit(half)
        second = _integral(lambda y: y * y * q(y), marks)
        assert float(second - 2) == pytest.approx(found.power, rel=1e-12)
        entropy = -_integral(lambda y: q(y) * mpmath.log(q(y)), marks)
        assert float(entropy - 1 - mpmath.log(2)) == pytest.approx(found.nats, rel=1e-12)
        for l in (0.0, 0.6 * half, half, half + 0.5, half + 3.0):

            def term(y, l=l):
                f = mpmath.exp(-abs(y - l)) / 2
                return f * mpmath.log(f / q(y))

            height = float(_integral(term, sorted({*marks, mpmath.mpf(l)})))
            height -= found.price * (l * l - found.power)
            x = max(l - half, 0.0)
            wanted = found.nats - found.price * (x * x - 2.0 * (x - 1.0 + np.exp(-x)))
            assert height == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("power", [1e-9, 1e-3, 0.3, 1.0, 4.0, 9.0, 25.0, 400.0, 1e4, 1e12])
def test_capacity_under_power(power):
    result = capacity(AdditiveLaplace(1.0), Power(power))
    exact = best_under_power(power).nats / LOG_TWO
    assert result.status is Status.OPTIMAL
    assert result.lower <= exact <= result.upper
    assert result.gap <= 1e-9
    if isinstance(result.input, DiscreteMeasure):
        assert result.input.second_moment <= power * (1 + 1e-12)
    else:
        assert isinstance(result.input, Gaussian)
        assert (result.input.mean, result.input.covariance) == (0.0, power)
    # a law of our own that is within the power does not carry more; 1e-9: quadrature
    assert (
        mutual_information(AdditiveLaplace(1.0), Gaussian(0.0, power)).bits <= result.upper + 1e-9
    )


def test_published_digits_of_the_exchange():
    """What the exchange of letters had certified before the formula was known (36 s)."""
    assert 0.37698034375216 <= best_under_power(1.0).nats / LOG_TWO <= 0.37698034414010
    assert 0.89590061628097 <= best_under_power(4.0).nats / LOG_TWO <= 0.89590064611304


@given(st.floats(-280, 280))
def test_the_power_is_met_at_every_size(exponent):
    power = 10.0**exponent
    best = best_under_power(power)
    assert best.power == pytest.approx(power, rel=1e-12)
    # 1/2 ln(1 + P/2) < C <= P/2: the Gaussian has the least favourable noise of its variance
    assert best.nats <= 0.5 * power * (1 + 1e-12)
    assert best.nats >= 0.5 * np.log1p(0.5 * power) * (1 - 1e-12)


@given(st.floats(1e-4, 60.0), st.floats(1e-4, 60.0))
def test_each_limit_bounds_every_other(half, other):
    """C is concave in P: the tangent at one power lies above C at every other."""
    here, there = power_limit(half), power_limit(other)
    assert here.bound(there.power) >= there.nats * (1 - 1e-14)


@pytest.mark.parametrize("shift", [-400, -200, 200, 400])
def test_units_do_not_matter(shift):
    unit = 2.0**shift
    here = capacity(AdditiveLaplace(1.0), Power(4.0))
    there = capacity(AdditiveLaplace(unit), Power(4.0 * unit * unit))
    assert there.certificate == here.certificate
    np.testing.assert_array_equal(there.input.atoms, here.input.atoms * unit)


def test_atoms_lose_as_the_fourth_power_of_their_distance():
    best = best_under_power(2.0)
    loss = []
    for tol in (1e-9, 1.6e-8):
        points, weights = law_under_power(2.0, best.half, tol)
        law = DiscreteMeasure(points, weights)
        loss.append(best.nats - mutual_information(AdditiveLaplace(1.0), law).nats)
    assert 0 < loss[0] < 1e-9
    assert loss[1] / loss[0] == pytest.approx(16.0, rel=0.2)  # whole cells: not exactly


@pytest.mark.parametrize("power", [100.0, 1000.0])
def test_a_gaussian_input_loses_less_than_is_stated(power):
    """The bound by Fourier transforms, whose true size is 3/P^4."""
    law = mutual_information(AdditiveLaplace(1.0), Gaussian(0.0, power))
    loss = best_under_power(power).nats - law.nats
    assert loss <= gaussian_loss(power)
    if power == 100.0:
        assert loss == pytest.approx(3.0 / power**4, rel=0.5)


@pytest.mark.parametrize("t", [1e-4, 1e-2])
def test_two_atoms_by_mpmath(t):
    with mpmath.workdps(30):
        x = mpmath.mpf(t)

        def term(y):
            p, m = mpmath.exp(-abs(y - x)) / 2, mpmath.exp(-abs(y + x)) / 2
            return (p * mpmath.log(2 * p / (p + m)) + m * mpmath.log(2 * m / (p + m))) / 2

        truth = float(_integral(term, [-70, -10, -x, 0, x, 10, 70]))
    nats, lower = pair_information(t)
    assert lower <= truth
    assert nats == pytest.approx(truth, rel=t * t)


def test_a_peak_beyond_the_law_changes_nothing():
    free = capacity(AdditiveLaplace(1.0), Power(1.0))
    assert capacity(AdditiveLaplace(1.0), Power(1.0) & Peak(3.0)).bits == free.bits
    tight = capacity(AdditiveLaplace(1.0), Power(1.0) & Peak(1.5))
    assert tight.upper < free.lower
    nothing = capacity(AdditiveLaplace(1.0), Power(0.0))
    assert (nothing.bits, nothing.status) == (0.0, Status.OPTIMAL)
