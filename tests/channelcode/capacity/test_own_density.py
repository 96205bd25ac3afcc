"""Capacities of users' own densities: heavy tails, jumps, and what is no density."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from channelcode import (
    AdditiveGaussian,
    Channel,
    Counts,
    DiscreteMeasure,
    Exponential,
    Gaussian,
    InvalidArgument,
    Peak,
    Poisson,
    Power,
    Status,
    capacity,
    capacity_per_unit_cost,
    mutual_information,
)
from channelcode.information.output_divergence import output_divergence


class Additive(Channel):
    """Y = l + noise, the noise a law of SciPy's."""

    support = (-np.inf, np.inf)

    def __init__(self, noise):
        self.noise = noise

    def log_density(self, y, l):
        return self.noise.logpdf(y - l)


class Shifted(Additive):
    """A Gaussian whose density is wrong by `shift` nats for inputs in (low, high)."""

    def __init__(self, shift, low=-np.inf, high=np.inf):
        super().__init__(stats.norm())
        self.shift, self.low, self.high = shift, low, high

    def log_density(self, y, l):
        wrong = (l > self.low) & (l < self.high)
        return super().log_density(y, l) + np.where(wrong, self.shift, 0.0)


class Student(Channel):
    """Y = l + Student's t with three degrees of freedom."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        return np.log(2.0 / (np.pi * np.sqrt(3.0))) - 2.0 * np.log1p((y - l) ** 2 / 3.0)


class Cauchy(Channel):
    """Y = l + Cauchy noise."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        return -np.log(np.pi) - np.log1p((y - l) ** 2)


class Uniform(Channel):
    """Y = l + noise that is even on (-1, 1)."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        return np.where(np.abs(y - l) <= 1.0, -np.log(2.0), -np.inf)


HEAVY = [stats.t(3), stats.cauchy(), stats.t(1.5, scale=0.2), stats.logistic(scale=2.0)]


@pytest.mark.parametrize("noise", HEAVY, ids=["t3", "cauchy", "t1.5", "logistic"])
def test_two_inputs_through_heavy_tails_agree_with_scipy(noise):
    found = mutual_information(Additive(noise), DiscreteMeasure([-1.0, 1.0], [0.5, 0.5]))

    def integrand(y):
        f, g = noise.pdf(y - 1.0), noise.pdf(y + 1.0)
        return f * np.log2(2.0 * f / (f + g)) if f > 0.0 else 0.0

    pieces = [(-np.inf, -9), (-9, -1.5), (-1.5, 0), (0, 1), (1, 2), (2, 9), (9, np.inf)]
    expected = sum(quad(integrand, *ends, epsabs=1e-13, limit=200)[0] for ends in pieces)
    # SciPy's own integrals are good to 1e-11 each; a Cauchy law has 2e-11 beyond the range
    assert float(found) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("channel", [Student(), Cauchy()], ids=["student", "cauchy"])
def test_heavy_tails_are_solved_and_no_law_beats_the_bound(channel):
    result = capacity(channel, Peak(3.0))
    assert result.status is Status.WITHIN_SCOPE
    assert result.gap < 1e-9
    rng = np.random.default_rng(4)
    for _ in range(6):
        other = DiscreteMeasure(rng.uniform(-3, 3, 6), rng.dirichlet(np.ones(6)))
        assert float(mutual_information(channel, other)) <= result.upper
    inwards = DiscreteMeasure(0.999 * result.input.atoms, result.input.weights)
    assert result.bits - 1e-3 < float(mutual_information(channel, inwards)) <= result.upper


def test_small_inputs_through_students_noise_are_worth_half_its_fisher_information():
    found = capacity_per_unit_cost(Student())
    # J = (v + 1) / (v + 3)
    assert found.nats == pytest.approx(1.0 / 3.0, rel=1e-6)
    assert found.letter is None


def test_a_gaussian_of_ones_own_is_solved_like_the_built_in():
    for peak in (1.5, 3.0, 5.0):
        own = capacity(Additive(stats.norm()), Peak(peak))
        assert own.bits == pytest.approx(capacity(AdditiveGaussian(), Peak(peak)).bits, abs=1e-9)


@pytest.mark.parametrize(
    "channel", [Shifted(0.1), Shifted(-1e-6), Shifted(-0.3, 0.7, 0.75), Shifted(0.3, -1.0, -0.9)]
)
def test_what_is_no_density_at_some_input_is_refused_with_the_input(channel):
    with pytest.raises(InvalidArgument, match=r"integrate to one .* at l = -?[0-9]"):
        capacity(channel, Peak(1.2))


@pytest.mark.parametrize("channel", [Shifted(0.1), Shifted(0.3, 0.5, np.inf)])
def test_a_rate_per_cost_needs_densities_too(channel):
    with pytest.raises(InvalidArgument, match="integrate to one"):
        capacity_per_unit_cost(channel)


def test_a_light_atom_with_heavy_tails_is_not_accused():
    found = mutual_information(Student(), Gaussian(0.0, 1.0))
    assert 0.33 < float(found) < 0.35
    assert found.error < 1e-12
    assert found.resolution > 0.0  # the spacing of the inputs that were looked at


def test_a_jump_gives_an_honest_interval():
    result = capacity(Uniform(), Peak(1.0), throw=False)
    # inputs two apart are told apart without error, and Y in (-2, 2) is worth no more: one bit
    assert result.lower - 1e-9 <= 1.0 <= result.upper
    assert capacity_per_unit_cost(Uniform()).nats == np.inf


def test_inputs_whose_laws_lie_apart_are_integrated_one_by_one():
    channel = Additive(stats.norm(scale=0.01))
    law = DiscreteMeasure([-3.0, 3.0], [0.5, 0.5])
    inputs = np.array([-3.0, -1.0, 0.5, 2.5, 3.0])
    found = output_divergence(channel, inputs, law)
    nearest = np.minimum(np.abs(inputs - 3.0), np.abs(inputs + 3.0))
    expected = 0.5 * (nearest / 0.01) ** 2 + np.log(2.0)
    np.testing.assert_allclose(found.nats, expected, rtol=1e-9)


class Waiting(Channel):
    """Counts before a success: p = 1/(1 + e^-l), so that far inputs have counts without end."""

    support = Counts()

    def log_density(self, y, l):
        return -np.logaddexp(0.0, -l) - y * np.logaddexp(0.0, l)


class Logarithmic(Channel):
    """A log-normal output: e^l is beyond the doubles from l = 710 on."""

    support = (0.0, np.inf)

    def log_density(self, y, l):
        return -0.5 * (np.log(y) - l) ** 2 - np.log(y) - 0.5 * np.log(2.0 * np.pi)


def test_a_rate_per_cost_is_looked_for_where_the_laws_can_be_integrated():
    found = capacity_per_unit_cost(Logarithmic())
    assert found.nats == pytest.approx(0.5, rel=1e-6)
    assert "e+02 from the free one" in found.scope


def test_counts_of_ones_own_are_solved():
    result = capacity(Waiting(), Peak(1.0))
    assert result.gap < 1e-9
    counts = np.arange(0, 400)
    rows = np.exp(Waiting().log_density(counts, np.array([[-1.0], [1.0]])))
    q = rows.mean(axis=0)
    assert result.upper >= float((rows * np.log2(rows / q)).sum() / 2)


class FarPeaks(Channel):
    """Y = l + a normal variable of deviation 1e-3 + either 0 or 50."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        z = y - l
        peaks = stats.norm.logpdf(z, 0.0, 1e-3), stats.norm.logpdf(z, 50.0, 1e-3)
        return np.logaddexp(*peaks) - np.log(2.0)


class DeclaredPeaks(FarPeaks):
    """The same, and says where it lies."""

    def output_range(self, l):
        return l - 0.01, l + 50.01

    def output_scale(self, l):
        return np.full_like(l, 1e-3)


def test_far_peaks_are_found_where_the_channel_says_so_and_the_message_tells_how():
    law = DiscreteMeasure([-1e-3, 1e-3], [0.5, 0.5])
    with pytest.raises(InvalidArgument, match=r"output_range\(l\) gives both ends"):
        mutual_information(FarPeaks(), law)
    # far from each other both peaks tell as much as one: that is Gaussian noise
    expected = mutual_information(AdditiveGaussian(1e-3), law).bits
    found = mutual_information(DeclaredPeaks(), law)
    assert found.bits == pytest.approx(expected, abs=found.error)


class LogisticNoise(Channel):
    """Y = l + logistic noise."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        size = np.abs(y - l)
        return -size - 2.0 * np.log1p(np.exp(-size))


def test_logistic_noise_under_a_power_is_solved():
    """Was `STALLED` at a gap of 1e-5 bits."""
    result = capacity(LogisticNoise(), Power(1.0))
    assert result.gap <= 1e-9
    assert result.status is Status.WITHIN_SCOPE  # a black box, and no peak
    pair = mutual_information(Additive(stats.logistic()), DiscreteMeasure.symmetric(1.0))
    assert result.bits == pytest.approx(pair.bits, abs=1e-10)


class Gumbel(Channel):
    """The logarithm of a waiting time with mean e^l, as a density of one's own."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        return y - l - np.exp(np.minimum(y - l, 700.0))


@pytest.mark.parametrize("power", [1e-2, 1e-4])
def test_letters_sent_rarely_are_looked_for_as_far_out_as_the_noise_is_wide(power):
    # within eight roots of the power the letters carry a tenth less, or half
    result = capacity(Gumbel(), Power(power), throw=False)
    known = capacity(Exponential(), Power(power), throw=False)
    assert result.bits == pytest.approx(known.bits, rel=1e-5)
    assert result.lower <= known.upper
    assert known.lower <= result.upper


def test_photons_against_a_bright_background_are_sent_rarely():
    result = capacity(Poisson(1e4), Power(0.5), throw=False)
    letter, mass = 80.0, 0.5 / 80.0**2
    flash = DiscreteMeasure([0.0, letter], [1.0 - mass, mass])
    assert float(mutual_information(Poisson(1e4), flash)) <= result.upper
    assert result.upper <= 0.5 / (2e4 * np.log(2.0)) * (1.0 + 1e-3)
