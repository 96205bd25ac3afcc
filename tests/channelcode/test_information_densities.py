"""Information through channels with densities: closed forms, SciPy's integrals, inequalities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from channelcode import (
    AdditiveGaussian,
    AdditiveLaplace,
    Channel,
    DiscreteMeasure,
    EmpiricalPool,
    Exponential,
    Gamma,
    Gaussian,
    InvalidArgument,
    Poisson,
    QuantisedGaussian,
    ScalarPool,
    binary_entropy,
    information_gap_bound,
    mutual_information,
)
from channelcode.information.densities import atoms_information
from channelcode.information.output_divergence import output_divergence
from tests.naming import plain

PAIR = DiscreteMeasure([-1.0, 1.5], [0.3, 0.7])


@pytest.mark.parametrize("noise", [1e-3, 1.0, 50.0])
def test_gaussian_in_gaussian_noise(noise):
    """I = 1/2 log2(1 + sigma^2 / noise^2)."""
    for variance in (1e-6, 1.0, 100.0):
        info = mutual_information(AdditiveGaussian(noise), Gaussian(0.7, variance))
        assert info.nats == pytest.approx(0.5 * np.log1p(variance / noise**2), rel=1e-14)
    pool = mutual_information(AdditiveGaussian(noise), ScalarPool([0.0, 1.0], [1.0, 4.0]))
    np.testing.assert_allclose(pool.bits, 0.5 * np.log2(1 + np.array([1, 4]) / noise**2))


@pytest.mark.parametrize(
    ("channel", "law", "ends", "corners"),
    [
        (AdditiveGaussian(0.8), lambda l: stats.norm(l, 0.8), (-12, 12), []),
        (AdditiveLaplace(0.8), lambda l: stats.laplace(l, 0.8), (-40, 40), [-1.0, 1.5]),
        (Gamma(3.0), lambda l: stats.gamma(3.0, scale=np.exp(l) / 3), (0, 70), [0.1, 1.0, 5.0]),
        (Exponential(), lambda l: stats.expon(scale=np.exp(l)), (0, 200), [0.1, 1.0, 9.0]),
    ],
    ids=plain,
)
def test_two_inputs_against_scipy(channel, law, ends, corners):
    def term(y):
        f = [law(l).pdf(y) for l in PAIR.atoms]
        q = PAIR.weights @ f
        return sum(w * x * np.log2(x / q) for w, x in zip(PAIR.weights, f, strict=True) if x > 0)

    wanted = quad(term, *ends, points=corners or None, limit=400, epsabs=1e-12)[0]
    info = mutual_information(channel, PAIR)
    assert info.bits == pytest.approx(wanted, abs=1e-10)  # what quad was asked for, with room
    assert info.error < 1e-12


def test_counts_against_a_plain_sum():
    y = np.arange(400)
    law = DiscreteMeasure([0.0, 3.0, 90.0], [0.5, 0.3, 0.2])
    rows = np.array([stats.poisson.pmf(y, l + 0.4) for l in law.atoms])
    q = law.weights @ rows
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(rows > 0, rows * np.log2(rows / q), 0.0)
    info = mutual_information(Poisson(0.4), law)
    assert info.bits == pytest.approx(float(law.weights @ terms.sum(axis=1)), abs=1e-12)


def test_nothing_or_photons_is_a_z_channel():
    """Without dark counts {0, A} is told by Y > 0 alone: I = h(w (1 - p)) - w h(p), p = e^-A."""
    for A, w in ((0.01, 0.3), (2.0, 0.5), (300.0, 0.4)):
        p = np.exp(-A)
        wanted = binary_entropy(w * (1 - p)).bits - w * binary_entropy(p).bits
        info = mutual_information(Poisson(0.0), DiscreteMeasure([0.0, A], [1 - w, w]))
        assert info.bits == pytest.approx(wanted, abs=1e-13)


@settings(max_examples=25)
@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.05, 0.95), st.floats(0.05, 5.0))
def test_bounds_and_data_processing(a, b, w, noise):
    """0 <= I <= H(L), and a quantiser behind the channel can only lose."""
    law = DiscreteMeasure([a, b], [w, 1 - w])
    info = mutual_information(AdditiveGaussian(noise), law)
    assert -1e-15 <= info.bits <= binary_entropy(w).bits + 1e-12
    cells = QuantisedGaussian(np.linspace(-5, 5, 21), noise=noise)
    assert mutual_information(cells, law).bits <= info.bits + info.error + 1e-12


def test_close_inputs_keep_their_digits():
    """I = (d/2)^2 J / 2 for two equal inputs d apart: 1e-12 of a nat is not lost."""
    for channel, fisher in ((AdditiveGaussian(2.0), 0.25), (Exponential(), 1.0)):
        info = mutual_information(channel, DiscreteMeasure.symmetric(1e-6))
        assert info.nats == pytest.approx(0.5 * 1e-12 * fisher, rel=1e-4)


def test_far_inputs_are_told_apart():
    law = DiscreteMeasure([-500.0, 0.0, 1e6], [0.2, 0.3, 0.5])
    entropy = -(law.weights @ np.log2(law.weights))
    info = mutual_information(AdditiveGaussian(1e-3), law)
    assert info.bits == pytest.approx(entropy, abs=info.error)
    assert info.error < 1e-6  # outputs near 1e6 are themselves rounded by 1e-7 of the noise
    assert mutual_information(AdditiveLaplace(1.0), law).bits == pytest.approx(entropy, abs=1e-9)


def test_gaussian_inputs_by_two_steps():
    """A user's Gaussian noise, which the library does not recognise, gives Shannon's formula."""

    class Noise(Channel):
        support = (-np.inf, np.inf)

        def log_density(self, y, l):
            return stats.norm.logpdf(y - l)

    info = mutual_information(Noise(), Gaussian(0.0, 3.0))
    assert info.bits == pytest.approx(1.0, abs=1e-12)
    assert abs(info.bits - 1.0) <= info.error + 1e-14


@pytest.mark.parametrize("sigma", [1e-3, 1.0, 30.0, 1e4])
def test_gaussian_inputs_in_laplace_noise(sigma):
    """Between I = sigma^2 J / 2 for narrow inputs and h(L) - h(noise) for wide ones."""
    info = mutual_information(AdditiveLaplace(2.0), Gaussian(1.0, sigma**2))
    if sigma == 1e-3:
        assert info.nats == pytest.approx(0.5 * sigma**2 / 4.0, rel=1e-2)
    if sigma == 1e4:
        wide = 0.5 * np.log(2 * np.pi * np.e * sigma**2) - 1.0 - np.log(4.0)
        assert info.nats == pytest.approx(wide, abs=1e-6)
    if sigma == 1.0:  # against atoms, whose own error falls with the square of their spacing
        z = np.linspace(-8.0, 8.0, 641)
        law = DiscreteMeasure(1.0 + z, np.exp(-0.5 * z * z) / np.exp(-0.5 * z * z).sum())
        assert info.bits == pytest.approx(
            mutual_information(AdditiveLaplace(2.0), law).bits, abs=2e-5
        )
    assert info.error < 1e-8


def test_large_counts_say_how_many_digits_are_left():
    info = mutual_information(Poisson(), DiscreteMeasure([0.0, 1e5], [0.5, 0.5]))
    assert abs(info.bits - 1.0) <= info.error + 1e-15


@pytest.mark.parametrize("shape", [0.1, 1.0, 199.0, 201.0, 1e6, 1e10])
def test_waiting_times_of_every_shape(shape):
    """Two means half a deviation apart in ln Y; at large shapes ln Y is Gaussian."""
    d = 0.25 / np.sqrt(shape)
    info = mutual_information(Gamma(shape), DiscreteMeasure.symmetric(d))
    gaussian = mutual_information(AdditiveGaussian(1.0), DiscreteMeasure.symmetric(0.25))
    if shape >= 199.0:
        assert info.bits == pytest.approx(gaussian.bits, rel=0.01)
    assert 0 < info.bits < 0.2


def test_scale_families_see_the_logarithm_only():
    """ln Y = l + noise: shifting the input changes nothing."""
    here = mutual_information(Gamma(2.0), Gaussian(0.0, 1.5))
    there = mutual_information(Gamma(2.0), Gaussian(40.0, 1.5))
    assert here.bits == pytest.approx(there.bits, abs=1e-11)


def test_pools_of_samples_are_laws_of_samples(rng):
    samples = rng.normal(size=(3, 5))
    weights = rng.dirichlet(np.ones(5))
    pool = mutual_information(AdditiveLaplace(), EmpiricalPool(samples, weights=weights))
    for row, bits in zip(samples, pool.bits, strict=True):
        alone = mutual_information(AdditiveLaplace(), DiscreteMeasure(row, weights)).bits
        assert bits == pytest.approx(alone, abs=1e-12)


def test_divergences_against_closed_forms():
    single = DiscreteMeasure([0.3], [1.0])
    l = np.array([-2.0, 0.3, 1.0, 4.0])
    for channel in (AdditiveGaussian(0.5), AdditiveLaplace(0.5), Gamma(2.0)):
        found = output_divergence(channel, l, single)
        np.testing.assert_allclose(found.nats, channel.divergence_between(l, 0.3), atol=1e-11)
    rates = np.array([0.0, 0.3, 7.0])
    found = output_divergence(Poisson(0.1), rates, single)
    np.testing.assert_allclose(found.nats, Poisson(0.1).divergence_between(rates, 0.3), atol=1e-13)


def test_bad_laws_and_channels():
    with pytest.raises(InvalidArgument, match="must lie in the channel's domain"):
        mutual_information(Poisson(), Gaussian(5.0, 1.0))
    with pytest.raises(InvalidArgument, match="must lie in the channel's domain"):
        mutual_information(Poisson(), DiscreteMeasure([-1.0, 1.0], [0.5, 0.5]))
    with pytest.raises(InvalidArgument, match="must have finitely many outputs"):
        information_gap_bound(AdditiveGaussian(), Gaussian(0.0, 1.0), PAIR)

    class Leaky(Channel):
        support = (-np.inf, np.inf)

        def log_density(self, y, l):
            return stats.norm.logpdf(y - l) - 0.1

    # both atoms are equally wrong: rounding decides which is named
    with pytest.raises(InvalidArgument, match=r"an integral of 0\.9048\d* at l = (-1\.0|1\.5)"):
        mutual_information(Leaky(), PAIR)


@pytest.mark.parametrize("channel", [AdditiveLaplace(1.5), AdditiveGaussian(0.7)], ids=repr)
def test_errors_are_in_bits_and_integrals_in_nats(channel):
    integral = atoms_information(channel, PAIR.atoms, PAIR.weights)
    found = mutual_information(channel, PAIR)
    assert found.nats == integral.nats
    assert found.error == pytest.approx(integral.error / np.log(2), rel=1e-12)


@pytest.mark.parametrize(
    "channel", [AdditiveGaussian(0.8), AdditiveLaplace(0.8), Gamma(3.0)], ids=plain
)
def test_an_error_in_bits_is_that_in_nats_over_ln_2(channel):
    found = atoms_information(channel, PAIR.atoms, PAIR.weights)
    info = mutual_information(channel, PAIR)
    assert info.error == pytest.approx(found.error / np.log(2.0), rel=1e-12, abs=0.0)


def test_the_error_of_a_divergence_covers_the_rounding_of_the_largest():
    """Laplace noise, one atom at zero: D = |l| + e^-|l| - 1, which is a million at l = 1e6."""
    l = np.array([0.0, 1e6 / 3, 1e6 / 7])
    found = output_divergence(AdditiveLaplace(1.0), l, DiscreteMeasure([0.0], [1.0]))
    assert found.error >= 2.0**-53 * found.nats.max()  # half a unit of its own last place
    assert np.abs(found.nats - (l + np.expm1(-l))).max() <= found.error


def test_a_narrow_law_at_an_odd_place_is_found():
    """A user's density far from l and narrow: what the same noise at l itself would give."""

    class Odd(Channel):
        dim = 1
        support = AdditiveGaussian(1.0).support

        def log_density(self, y, l):
            return stats.norm.logpdf(y, 2.0 * np.asarray(l) + 7.3217, 1e-4)

    info = mutual_information(Odd(), DiscreteMeasure([-5e-5, 1e-4], [0.4, 0.6]))
    plain_noise = DiscreteMeasure([-1e-4, 2e-4], [0.4, 0.6])
    wanted = mutual_information(AdditiveGaussian(1e-4), plain_noise)
    # y is near 7: its own rounding is 1e-11 of the scale
    assert info.nats == pytest.approx(wanted.nats, abs=1e-9)


def test_a_density_seen_as_finitely_many_outputs_keeps_its_moments():
    """Also over a range of inputs far narrower than the noise."""
    from channelcode.channels.densities.view import FiniteView

    view = FiniteView(AdditiveGaussian(1.0), 4.9, 5.1)
    law = view.prob(0.05)
    assert law @ view.nodes == pytest.approx(5.05, abs=1e-12)
    assert law @ (view.nodes - 5.05) ** 2 == pytest.approx(1.0, abs=1e-12)
