"""Capacities of channels with densities: Shannon, Smith, Shamai."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import rel_entr

from channelcode import (
    AdditiveGaussian,
    AdditiveLaplace,
    Channel,
    Cost,
    DiscreteMeasure,
    Exponential,
    Gamma,
    Gaussian,
    InvalidArgument,
    NotConverged,
    Peak,
    Poisson,
    Power,
    Status,
    Unconstrained,
    ZChannel,
    capacity,
    capacity_curve,
    mutual_information,
)
from channelcode.capacity.noise.gaussian import peak_bound
from channelcode.capacity.problem import Problem
from channelcode.information.output_divergence import output_divergence

# Where Shamai's channel without dark counts takes its third (Shamai 1990: 3.3679).
SHAMAI = 3.3679


@pytest.mark.parametrize("power", [0.0, 1e-6, 1.0, 100.0])
@pytest.mark.parametrize("noise", [0.1, 1.0, 7.0])
def test_gaussian_noise_under_power(power, noise):
    """C = 1/2 log2(1 + P/N), L ~ N(0, P), dC/dP = 1 / (2 ln 2 (N + P))."""
    result = capacity(AdditiveGaussian(noise), Power(power))
    assert result.bits == pytest.approx(0.5 * np.log1p(power / noise**2) / np.log(2), rel=1e-14)
    assert isinstance(result.input, Gaussian)
    assert result.input.covariance == power
    assert result.multiplier == pytest.approx(0.5 / np.log(2) / (noise**2 + power), rel=1e-12)
    assert result.status is Status.OPTIMAL
    assert result == capacity(AdditiveGaussian(noise), Power(power))
    assert mutual_information(AdditiveGaussian(noise), result.input).bits == pytest.approx(
        result.bits, abs=1e-14
    )


def _smith_excess_in_many_digits(amplitude: float) -> Any:
    """D(f_0 || q) - D(f_A || q) for q half f_A, half f_-A, by mpmath."""
    with mpmath.workdps(20):
        a = mpmath.mpf(amplitude)

        def divergence(l: Any) -> Any:
            def term(y):
                q = (mpmath.npdf(y, a) + mpmath.npdf(y, -a)) / 2
                return mpmath.npdf(y, l) * mpmath.log(mpmath.npdf(y, l) / q)

            return mpmath.quad(term, [-10, -5, -2, 0, 2, 5, 10])

        return divergence(0) - divergence(a)


def test_smiths_transition_by_kkt():
    """Two mass points are best up to A = 1.6659...: there D at zero meets the information."""

    def excess(amplitude):
        law = DiscreteMeasure.symmetric(amplitude)
        at_zero = output_divergence(AdditiveGaussian(1.0), [0.0], law).nats[0]
        return at_zero - mutual_information(AdditiveGaussian(1.0), law).nats

    place: Any = brentq(excess, 1.5, 1.8, xtol=1e-12)
    assert place == pytest.approx(1.6659, abs=5e-5)  # the published digits
    assert _smith_excess_in_many_digits(place - 1e-6) < 0
    assert _smith_excess_in_many_digits(place + 1e-6) > 0
    below = capacity(AdditiveGaussian(1.0), Peak(place - 1e-6), tol=1e-12, throw=False)
    above = capacity(AdditiveGaussian(1.0), Peak(place + 1e-3))
    assert len(below.input) == 2
    assert len(above.input) == 3


def test_smiths_channel_beyond_the_transition():
    for amplitude, atoms in ((0.5, 2), (1.6, 2), (2.5, 3), (4.0, 4)):
        result = capacity(AdditiveGaussian(1.0), Peak(amplitude))
        assert result.status is Status.OPTIMAL
        assert len(result.input) == atoms
        assert result.lower <= result.bits <= result.upper <= result.lower + 1e-9
        # below Shannon's value at the same power, above two points
        assert result.upper <= 0.5 * np.log2(1 + amplitude**2)
        pair = mutual_information(AdditiveGaussian(1.0), DiscreteMeasure.symmetric(amplitude))
        assert pair.bits <= result.bits + 1e-12


def test_scaling_the_noise_scales_the_input():
    reference = capacity(AdditiveGaussian(1.0), Peak(2.0))
    for scale in (2.0**-40, 2.0**40):
        result = capacity(AdditiveGaussian(scale), Peak(2.0 * scale))
        assert result.bits == pytest.approx(reference.bits, abs=1e-9)


@pytest.mark.parametrize("amplitude", [0.01, 1.0, 3.3])
def test_on_off_keying_without_dark_counts(amplitude):
    """Up to A = 3.3679 only 0 and A are used, and the channel is a Z channel with p = e^-A."""
    result = capacity(Poisson(0.0), Peak(amplitude))
    wanted = capacity(ZChannel(float(np.exp(-amplitude))), Unconstrained())
    np.testing.assert_allclose(result.input.atoms, [0.0, amplitude], atol=1e-12)
    assert result.bits == pytest.approx(wanted.bits, abs=1e-9)
    assert result.lower - 1e-12 <= wanted.bits <= result.upper + 1e-12


def test_shamais_transition():
    """The third mass point enters where D between the ends meets the information."""

    def on_off(amplitude):
        p = float(np.exp(-amplitude))
        one = float(capacity(ZChannel(p), Unconstrained()).input.weights[-1])
        return DiscreteMeasure([0.0, amplitude], [1.0 - one, one])

    def excess(amplitude):
        law = on_off(amplitude)
        inside = np.linspace(0.2, 0.6, 401) * amplitude
        best = float(output_divergence(Poisson(0.0), inside, law).nats.max())
        return best - mutual_information(Poisson(0.0), law).nats

    assert brentq(excess, 3.0, 3.6, xtol=1e-8) == pytest.approx(SHAMAI, abs=1e-4)
    assert len(capacity(Poisson(0.0), Peak(3.4)).input) == 3


def test_poisson_with_peak_and_average():
    """Shamai's channel with both limits: certified, feasible, and below either limit alone."""
    both = capacity(Poisson(0.5), Peak(5.0) & Cost(lambda l: l, 1.0))
    assert both.status is Status.OPTIMAL
    assert both.input.mean <= 1.0 + 1e-12
    assert both.bits < capacity(Poisson(0.5), Peak(5.0)).bits
    # the wideband bound C <= E log(1 + A/dark), loose but proved
    assert both.upper <= np.log2(1 + 5.0 / 0.5)


@pytest.mark.parametrize("channel", [Exponential(), Gamma(5.0)], ids=repr)
def test_waiting_times(channel):
    result = capacity(channel, Peak(1.0))
    assert result.gap <= 1e-9
    # the integrals and the bends between probes are proved, and so is the capacity
    assert result.status is Status.OPTIMAL
    assert "estimated" not in result.scope
    # KKT: no input of the range tells more about itself than the capacity
    grid = np.linspace(-1.0, 1.0, 301)
    divergence = output_divergence(channel, grid, result.input).nats / np.log(2)
    assert divergence.max() <= result.upper + 1e-12
    assert mutual_information(channel, result.input).bits >= result.lower


def test_laplace_noise():
    result = capacity(AdditiveLaplace(1.0), Peak(1.0))
    assert result.status is Status.OPTIMAL
    np.testing.assert_allclose(result.input.atoms, [-1.0, 1.0], atol=1e-9)


class Noise(Channel):
    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        return -0.5 * (y - l) ** 2 - 0.5 * np.log(2 * np.pi)


def test_a_density_of_your_own():
    result = capacity(Noise(), Peak(1.0))
    assert result.bits == pytest.approx(capacity(AdditiveGaussian(1.0), Peak(1.0)).bits, abs=1e-10)
    assert result.status is Status.WITHIN_SCOPE  # a black box: probed, not proved
    assert "[-1, 1]" in result.scope


def test_power_without_a_peak_says_where_it_looked():
    result = capacity(Noise(), Power(1.0), tol=1e-3, throw=False)
    assert result.status is Status.WITHIN_SCOPE
    assert "not looked at" in result.scope
    # Shannon's value, less what atoms within eight deviations lose
    assert result.bits == pytest.approx(0.5, abs=1e-3)


def test_curves():
    curve = capacity_curve(AdditiveGaussian(1.0), [1.0, 3.0])
    np.testing.assert_allclose(curve.bits, [0.5, 1.0], rtol=1e-14)
    assert (curve.num_atoms == np.inf).all()


def test_what_cannot_be_answered():
    with pytest.raises(InvalidArgument, match="without a peak or a cost"):
        capacity(AdditiveGaussian(1.0), Unconstrained())
    assert capacity(AdditiveGaussian(1.0), Peak(0.0)).bits == 0.0
    assert capacity(Poisson(1.0), Peak(0.0)).bits == 0.0

    class Liar:
        def propose(self, problem, *, tol):
            from channelcode.capacity import Proposal

            return Proposal(np.array([0.0]), np.array([1.0]), 0.0, "Liar")

    with pytest.raises(NotConverged) as caught:
        capacity(AdditiveGaussian(1.0), Peak(2.0), solver=Liar())
    assert caught.value.result.bits == 0.0
    found = capacity(AdditiveGaussian(1.0), Peak(2.0))
    assert caught.value.result.upper > found.lower > 0.9  # no solver grades itself


@pytest.mark.parametrize(
    ("channel", "limit"),
    [
        (AdditiveGaussian(1.0), Peak(1e12)),
        (AdditiveGaussian(1.0), Power(1e12) & Peak(1e14)),
        (Poisson(1.0), Peak(1e9)),
        (AdditiveLaplace(1.0), Power(1e12) & Peak(1e14)),
    ],
    ids=str,
)
def test_a_range_that_cannot_be_looked_at_is_said_and_not_tried(channel, limit):
    with pytest.raises(InvalidArgument, match="constraint must"):
        capacity(channel, limit)


@pytest.mark.parametrize("peak", [0.3, 1.0, 1.6, 3.0])
def test_the_bound_by_a_level_output_is_above_what_is_reached(peak):
    found = capacity(AdditiveGaussian(0.5), Peak(0.5 * peak))
    bound = peak_bound(found.problem) / np.log(2)
    assert found.lower <= bound <= found.upper + 0.5  # near: the capacity is .06 to 1.2 bits
    assert peak_bound(Problem(AdditiveLaplace(1.0), Peak(peak))) == np.inf


@pytest.mark.slow
def test_far_peaks_end_with_a_bound_that_says_something():
    found = capacity(AdditiveGaussian(1.0), Peak(300.0), throw=False)
    # an input that is level within the peak: h(Y) >= ln(2 A) by the entropy power inequality
    reached = 0.5 * np.log2(1.0 + 2.0 * 300.0**2 / (np.pi * np.e))
    assert reached <= found.upper <= np.log2(1.0 + 600.0 / np.sqrt(2.0 * np.pi * np.e)) + 1e-9


@pytest.mark.slow  # half a minute
def test_letters_for_counts_are_even_in_their_root():
    """From evenly spaced letters P = 1000 ended with a gap of 4e-8."""
    result = capacity(Poisson(1.0), Power(1000.0))
    assert result.gap <= 1e-9
    y = np.arange(700.0)
    rows = np.exp(Poisson(1.0).log_density(y, result.input.atoms[:, None]))
    weights = result.input.weights
    nats = weights @ rel_entr(rows, weights @ rows).sum(axis=1)
    assert nats == pytest.approx(result.nats, abs=1e-10)
