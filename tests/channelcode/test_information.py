"""Information against integrals in many digits, closed forms and the theory's inequalities."""

from __future__ import annotations

import itertools
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from channelcode import (
    BinaryErasure,
    BinarySymmetric,
    Binomial,
    Cauchit,
    Cloglog,
    DiscreteMeasure,
    Empirical,
    EmpiricalPool,
    Features,
    FullPool,
    Gaussian,
    InvalidArgument,
    Lapse,
    Link,
    Logistic,
    Ordinal,
    Probit,
    QuantisedGaussian,
    ScalarPool,
    ScaledPool,
    Softmax,
    ZChannel,
    binary_entropy,
    entropy,
    kl_divergence,
    mutual_information,
)
from channelcode.information import Information
from channelcode.testing import channels, gaussians, measures
from tests.channelcode.channels.test_base import TruncatedPoisson

TARGET = 1e-10  # bits: what the library promises for Gaussian laws on the line

CUBIC = Link(lambda l: expit(l**3), lambda l: expit(-(l**3)))
SCALAR = {
    "logistic": Logistic(),
    "probit": Probit(),
    "steep probit": Probit(0.01),
    "cauchit": Cauchit(),
    "cloglog": Cloglog(),
    "cubic link": CUBIC,
    "clipped link": Link(lambda l: np.clip(0.4 + 0.3 * l, 0.05, 0.9)),
    "lapse": Lapse(Logistic(), low=0.02, high=0.1),
    "ordinal": Ordinal([-2.0, 0.0, 0.01], Cloglog()),
    "binomial": Binomial(5),
    "quantised": QuantisedGaussian(np.linspace(-3, 3, 13), noise=0.05),
    "poisson": TruncatedPoisson(),
}


# --- entropies ------------------------------------------------------------------------------------


def test_entropy_values():
    assert entropy([0.5, 0.5]) == 1.0
    assert entropy([0.5, 0.5]).nats == pytest.approx(np.log(2), abs=1e-16)
    assert float(entropy([1.0, 0.0])) == 0.0
    np.testing.assert_allclose(entropy([[0.25] * 4, [1, 0, 0, 0]]).bits, [2.0, 0.0], atol=1e-15)


def test_binary_entropy_values():
    # h_b(0.11) in 20 digits from mpmath
    with mpmath.workdps(30):
        p = mpmath.mpf(0.11)
        wanted = float(-p * mpmath.log(p, 2) - (1 - p) * mpmath.log(1 - p, 2))
    assert binary_entropy(0.11) == pytest.approx(wanted, rel=1e-15)
    np.testing.assert_array_equal(binary_entropy([0.0, 0.5, 1.0]).bits, [0, 1, 0])
    assert binary_entropy(1e-300).bits == pytest.approx(1e-300 * (np.log2(1e300) + 1 / np.log(2)))


def test_divergence_keeps_small_values():
    # D(p || q) = d^2 / (2 q (1 - q)) + ... ; log ratios alone would leave no digits here
    with mpmath.workdps(60):
        p, q = mpmath.mpf(0.3 + 1e-9), mpmath.mpf(0.3)
        wanted = float(p * mpmath.log(p / q, 2) + (1 - p) * mpmath.log((1 - p) / (1 - q), 2))
    got = kl_divergence([0.7 - 1e-9, 0.3 + 1e-9], [0.7, 0.3]).bits
    # 1e-16 / 1e-9: the relative rounding of the difference of the arguments
    assert got == pytest.approx(wanted, rel=1e-6)


def test_divergence_infinite_and_zero():
    assert kl_divergence([0.5, 0.5], [1.0, 0.0]).bits == np.inf
    assert kl_divergence([1.0, 0.0], [1.0, 0.0]).bits == 0.0
    both = kl_divergence([[0.5, 0.5], [0.9, 0.1]], [0.5, 0.5])
    np.testing.assert_allclose(both.bits, 1 - entropy([[0.5, 0.5], [0.9, 0.1]]).bits, atol=1e-15)


@pytest.mark.parametrize(
    "bad", [[0.5, 0.6], [np.nan, 1.0], [-0.1, 1.1], [], 0.5, "p", [[0.5, 0.5], [1.0, 1.0]]]
)
def test_bad_laws(bad):
    with pytest.raises(InvalidArgument, match=r"^p must"):
        entropy(bad)
    with pytest.raises(InvalidArgument, match=r"^q must"):
        kl_divergence([0.5, 0.5], bad)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, np.inf, [], "p", [0.5, 2.0]])
def test_bad_probability(bad):
    with pytest.raises(InvalidArgument, match=r"^p must"):
        binary_entropy(bad)


def test_laws_of_different_length():
    with pytest.raises(InvalidArgument, match="q must have 2 outcomes"):
        kl_divergence([0.5, 0.5], [0.2, 0.3, 0.5])
    with pytest.raises(InvalidArgument, match="q must broadcast with p"):
        kl_divergence(np.full((3, 2), 0.5), np.full((4, 2), 0.5))


def test_information_is_a_number_of_bits():
    info = Information(np.log(2) * 0.25, 1e-12)
    assert info.bits == pytest.approx(0.25)
    assert float(info) == pytest.approx(0.25)
    assert 0.2 < info < 0.3
    assert info - 0.25 == pytest.approx(0.0, abs=1e-16)
    assert info == pytest.approx(0.25)
    assert np.sqrt(info) == pytest.approx(0.5)
    assert f"{info:.2f}" == "0.25"
    assert "bits=0.25" in repr(info)
    several = mutual_information(Logistic(), ScalarPool([0.0, 0.0], [1.0, 4.0]))
    assert len(several) == 2
    assert several[1].bits > several[0].bits
    np.testing.assert_array_equal(np.asarray(several), several.bits)
    assert int(np.argmax(several)) == 1


# --- discrete laws --------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.0, 0.11, 0.5, 1.0])
def test_binary_symmetric(p):
    info = mutual_information(BinarySymmetric(p), DiscreteMeasure([0, 1], [0.5, 0.5]))
    assert info.bits == pytest.approx(1 - binary_entropy(p).bits, abs=1e-15)


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_binary_erasure(e):
    for p in (0.5, 0.2):
        info = mutual_information(BinaryErasure(e), DiscreteMeasure([0, 1], [1 - p, p]))
        assert info.bits == pytest.approx((1 - e) * binary_entropy(p).bits, abs=1e-15)


def test_z_channel():
    info = mutual_information(ZChannel(0.3), DiscreteMeasure([0, 1], [0.6, 0.4]))
    wanted = binary_entropy(0.4 * 0.7).bits - 0.4 * binary_entropy(0.3).bits
    assert info.bits == pytest.approx(wanted, abs=1e-15)


@pytest.mark.parametrize("power", [1e-8, 0.01, 1.0, 16.0, 400.0])
def test_proposition_21(power):
    """I(B_sqrt(P)) = 1 - h_b(f(sqrt P)) for the logistic channel."""
    info = mutual_information(Logistic(), DiscreteMeasure.symmetric(np.sqrt(power)))
    with mpmath.workdps(40):
        f = 1 / (1 + mpmath.exp(-mpmath.sqrt(mpmath.mpf(power))))
        wanted = float(1 + f * mpmath.log(f, 2) + (1 - f) * mpmath.log(1 - f, 2))
    assert info.bits == pytest.approx(wanted, rel=1e-11, abs=1e-16)


def test_atoms_without_mass_and_repeated_atoms():
    plain = mutual_information(Logistic(), DiscreteMeasure([-2.0, 1.0], [0.5, 0.5]))
    split = DiscreteMeasure([1.0, -2.0, 1.0, 9.0], [0.25, 0.5, 0.25, 0.0])
    assert mutual_information(Logistic(), split).bits == pytest.approx(plain.bits, abs=1e-15)


# --- Gaussian laws on the line --------------------------------------------------------------------


def _many_digits(response: Any, mean: Any, sigma: Any, splits: Any) -> float:
    """I for a binary channel by mpmath, split where the integrand bends, in bits."""
    with mpmath.workdps(25):
        mean, sigma = mpmath.mpf(mean), mpmath.mpf(sigma)

        def average(function: Any) -> Any:
            marks = sorted({(mpmath.mpf(s) - mean) / sigma for s in splits})
            inside = [m for m in marks if abs(m) < 10]
            even = [mpmath.mpf(k) for k in range(-10, 11, 2)]
            edges = sorted({*inside, *even})
            return mpmath.quad(lambda z: function(mean + sigma * z) * mpmath.npdf(z), edges)

        def h(f):
            return -sum(p * mpmath.log(p, 2) for p in (f, 1 - f) if p > 0)

        return float(h(average(response)) - average(lambda l: h(response(l))))


@pytest.mark.parametrize("sigma", [1e-3, 0.3, 2.0, 70.0, 1e3])
@pytest.mark.parametrize("mean", [0.0, -1.7, 12.0])
def test_logistic_against_mpmath(mean, sigma):
    splits = [0, *(s * t for s in (-1, 1) for t in (1, 2, 4, 8, 16, 32, 64))]
    wanted = _many_digits(lambda l: 1 / (1 + mpmath.exp(-l)), mean, sigma, splits)
    info = mutual_information(Logistic(), Gaussian(mean, sigma**2))
    assert abs(info.bits - wanted) < TARGET
    assert abs(info.bits - wanted) < info.error + 1e-14  # the estimate is honest
    assert info.error < TARGET


@pytest.mark.parametrize(("mean", "sigma"), [(0.0, 0.5), (0.4, 5.0), (-1.0, 300.0)])
def test_cubic_link_against_mpmath(mean, sigma):
    splits = [0, *(s * t for s in (-1, 1) for t in (0.25, 0.5, 1, 1.5, 2, 2.5, 3, 4))]
    wanted = _many_digits(lambda l: 1 / (1 + mpmath.exp(-(l**3))), mean, sigma, splits)
    assert abs(mutual_information(CUBIC, Gaussian(mean, sigma**2)).bits - wanted) < TARGET


@pytest.mark.parametrize("mean", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_probit_output_has_a_closed_form(mean, scale):
    """E Phi(L / s) = Phi(m / sqrt(s^2 + sigma^2)): the output law is known exactly."""
    from scipy.special import ndtr

    for sigma in (1e-6, 0.2, 5.0, 1e3):
        info = mutual_information(Probit(scale), Gaussian(mean, sigma**2))
        wanted = ndtr(mean / np.hypot(scale, sigma))
        assert info.output[1] == pytest.approx(wanted, abs=1e-14)


def _brute(channel, mean, sigma):
    """A composite rule on tens of thousands of nodes of its own, in bits; no adaptivity."""
    bends = np.concatenate([[0.0], np.geomspace(1e-3, 2e4, 100)])
    marks = [np.linspace(-9.5, 9.5, 400)]
    for centre in [0.0, *np.atleast_1d(getattr(channel, "thresholds", ()))]:
        for sign in (-1, 1):
            marks.append((centre + sign * bends - mean) / sigma)
    marks.append((np.array([-7 / 6, 5 / 3]) - mean) / sigma)  # kinks of the clipped link
    edges = np.unique(np.concatenate(marks))
    edges = edges[np.abs(edges) <= 9.5]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = 0.5 * np.diff(edges)[:, None]
    z = (edges[:-1, None] + half + half * nodes).ravel()
    w = (half * weights).ravel() * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    p = channel.prob(mean + sigma * z)
    q = w @ p
    from scipy.special import xlogy

    return float(-xlogy(q, q).sum() + w @ xlogy(p, p).sum(axis=1)) / np.log(2)


@pytest.mark.parametrize("name", SCALAR)
def test_every_scalar_channel_against_a_brute_rule(name):
    channel = SCALAR[name]
    for mean, sigma in itertools.product((0.0, 0.8, -40.0, 1e3), (1e-6, 1e-2, 1.0, 30.0, 1e3)):
        info = mutual_information(channel, Gaussian(mean, sigma**2))
        assert abs(info.bits - _brute(channel, mean, sigma)) < TARGET, (mean, sigma)
        assert info.error < TARGET


@pytest.mark.parametrize("name", SCALAR)
def test_pool_agrees_with_one_law_at_a_time(name, rng):
    channel = SCALAR[name]
    mean = np.concatenate([rng.normal(0, 3, 150), rng.normal(0, 50, 150), [0.0, 1e3, -1e3]])
    sigma = np.exp(rng.uniform(np.log(1e-6), np.log(1e3), len(mean)))
    pool = mutual_information(channel, ScalarPool(mean, sigma**2))
    assert pool.bits.shape == pool.error.shape == (303,)
    for i in rng.choice(303, 40, replace=False):
        alone = mutual_information(channel, Gaussian(mean[i], sigma[i] ** 2))
        assert abs(pool.bits[i] - alone.bits) < 0.2 * TARGET
        np.testing.assert_allclose(pool.output[i], alone.output, atol=1e-11)
    assert pool.error.max() < TARGET
    assert (pool.bits >= 0).all()  # and none is NaN


@pytest.mark.parametrize("name", ["steep probit", "cauchit", "clipped link", "ordinal", "logistic"])
def test_tables_agree_with_one_law_at_a_time(name, rng):
    """Pools so large that every width from 0.2 to 1e6 is served from tables."""
    channel = SCALAR[name]
    mean = rng.normal(0, 3, 2000)
    sigma = np.exp(rng.uniform(np.log(0.2), np.log(1e6), len(mean)))
    mean[::3] *= sigma[::3]
    pool = mutual_information(channel, ScalarPool(mean, sigma**2))
    for i in rng.choice(2000, 60, replace=False):
        alone = mutual_information(channel, Gaussian(mean[i], sigma[i] ** 2))
        assert abs(pool.bits[i] - alone.bits) < 0.2 * TARGET, (mean[i], sigma[i])


@pytest.mark.parametrize(
    "scale, sigma",  # scale / sigma small enough for the leading order
    [(1e-2, 1e3), (1e-5, 1.0), (1e-5, 1e3), (1e-8, 1e-3), (1e-8, 1.0), (1e-8, 1e3)],
)
def test_a_steep_response_is_a_step_less_a_known_loss(scale, sigma):
    """Phi(l / s) under N(0, sigma^2): I = 1 - E h_b, and E h_b ~ s/sigma phi(0) int h_b(Phi)."""
    z = np.linspace(-9, 9, 20001)
    area = binary_entropy(Probit().prob(z)[:, 1]).bits.sum() * (z[1] - z[0])
    loss = scale / sigma / np.sqrt(2 * np.pi) * area
    for info in (
        mutual_information(Probit(scale), Gaussian(0.0, sigma**2)).bits,
        mutual_information(Probit(scale), ScalarPool([0.0] * 99, [sigma**2] * 99)).bits[0],
    ):
        assert 1 - info == pytest.approx(loss, rel=1e-4, abs=TARGET)


def test_jumps_anywhere(rng):
    """A response that is 0.9 on an interval and 0.1 elsewhere has a closed form."""
    from scipy.special import ndtr

    means, sigma = rng.uniform(-20, 20, 30), rng.uniform(0.1, 30, 30)
    for left, width in ((2.8, 1.0), (-7.1, 0.3)):
        box = Link(lambda l, a=left, b=left + width: np.where((l > a) & (l < b), 0.9, 0.1))
        inside = ndtr((left + width - means) / sigma) - ndtr((left - means) / sigma)
        wanted = binary_entropy(0.1 + 0.8 * inside).bits - binary_entropy(0.1).bits
        found = [mutual_information(box, Gaussian(m, s**2)).bits for m, s in zip(means, sigma)]
        np.testing.assert_allclose(found, wanted, atol=TARGET)
        pool = mutual_information(box, ScalarPool(np.repeat(means, 3), np.repeat(sigma**2, 3)))
        np.testing.assert_allclose(pool.bits, np.repeat(wanted, 3), atol=TARGET)


def test_certain_candidates_carry_nothing():
    """Far out the small probability underflows; the answer is zero, not NaN."""
    mean = np.repeat([-1e4, -1e3, -700.0, 700.0, 1e3, 1e4], 50)
    sigma = np.tile(np.geomspace(1e-6, 5.0, 50), 6)
    for channel in (Logistic(), Probit(), Cloglog()):
        bits = mutual_information(channel, ScalarPool(mean, sigma**2)).bits
        np.testing.assert_allclose(bits, 0.0, atol=1e-200 if channel == Logistic() else 1e-15)


@pytest.mark.parametrize("sigma", [1e-6, 1e-5, 1e-3])
def test_narrow_laws_see_the_fisher_information(sigma):
    """I = sigma^2 J / 2 to leading order, J = E (d ln W / dl)^2: relative accuracy is kept."""
    for channel in (Logistic(), Probit(), Cauchit(), Cloglog(), Ordinal([-1.0, 0.5])):
        p, gradient = channel.prob(0.3), channel.derivatives(0.3).gradient
        leading = 0.5 * sigma**2 * float(p @ gradient**2)
        one = mutual_information(channel, Gaussian(0.3, sigma**2)).nats
        many = mutual_information(channel, ScalarPool([0.3] * 100, [sigma**2] * 100)).nats
        # next order sigma^2; rounding in W of 1e-16 against changes of sigma
        assert one == pytest.approx(leading, rel=10 * sigma**2 + 1e-15 / sigma)
        np.testing.assert_allclose(many, one, rtol=1e-15 / sigma + 1e-9)


def test_wide_laws_approach_a_threshold():
    """As sigma grows the logistic channel is a clean threshold, and I tends to H(Y) = 1 bit.

    E h_b(f(L)) tends to phi(0)/sigma times the integral of h_b(f(l)), pi^2 / (3 ln 2) bits.
    """
    sigma = 1e3
    lost = 1 - mutual_information(Logistic(), Gaussian(0.0, sigma**2)).bits
    leading = np.pi**2 / (3 * np.log(2)) / (sigma * np.sqrt(2 * np.pi))
    assert lost == pytest.approx(leading, rel=1e-5)


def test_plain_gauss_hermite_is_not_enough():
    """Why this is not one line of NumPy: 200 nodes err by hundredths of a bit at sigma = 70."""
    z, w = np.polynomial.hermite_e.hermegauss(200)
    w = w / w.sum()
    p = Logistic().prob(70.0 * z)
    crude = 1 - float(w @ Logistic().conditional_entropy(70.0 * z)) / np.log(2)
    assert p.shape == (200, 2)
    exact = mutual_information(Logistic(), Gaussian(0.0, 4900.0)).bits
    assert abs(crude - exact) > 0.005


def test_no_spread_no_information():
    for channel in (Logistic(), CUBIC):
        assert mutual_information(channel, Gaussian(1.0, 0.0)).bits == 0.0
        assert mutual_information(channel, ScalarPool(np.ones(100), np.zeros(100))).bits.max() == 0
    assert mutual_information(Softmax(3), Gaussian([1.0, 0, 0], np.zeros((3, 3)))).bits == 0.0


# --- what theory says of every law ----------------------------------------------------------------


@settings(max_examples=60)
@given(channels(dim=1, finite=False), measures(dim=1))
def test_bounds_on_the_line(channel, measure):
    info = mutual_information(channel, measure)
    assert info.bits >= 0
    assert info.bits <= entropy(info.output).bits + 1e-15
    assert info.bits <= np.log2(channel.num_outputs)


@settings(max_examples=25)
@given(st.integers(2, 4).flatmap(lambda k: st.tuples(st.just(Softmax(k)), measures(dim=k))))
def test_bounds_in_space(case):
    channel, measure = case
    info = mutual_information(channel, measure, num_points=256)
    assert 0 <= info.bits <= min(entropy(info.output).bits + 1e-15, np.log2(channel.num_outputs))


@settings(max_examples=30)
@given(channels(dim=1, finite=False), gaussians(), st.floats(0.1, 0.9))
def test_processing_loses_information(channel, law, shrink):
    """A lapse after a binary channel is a noisy channel behind it: information can only fall."""
    if channel.num_outputs != 2:
        return
    before = mutual_information(channel, law)
    after = mutual_information(Lapse(channel, low=0.1, high=0.3 * shrink), law)
    assert after.bits <= before.bits + before.error + after.error


@settings(max_examples=30)
@given(gaussians(), gaussians(), st.floats(0.05, 0.95))
def test_information_is_concave_in_the_input(first, second, share):
    """I((1 - t) p + t r) >= (1 - t) I(p) + t I(r), on samples of two laws."""
    x, y = first.sample(20, rng=0), second.sample(20, rng=1)
    weights = np.concatenate([np.full(20, (1 - share) / 20), np.full(20, share / 20)])
    mixed = mutual_information(Logistic(), DiscreteMeasure(np.concatenate([x, y]), weights))
    parts = [mutual_information(Logistic(), Empirical(s)).bits for s in (x, y)]
    assert mixed.bits >= (1 - share) * parts[0] + share * parts[1] - 1e-14


@settings(max_examples=30)
@given(gaussians())
def test_mirror_image(law):
    mirrored = Gaussian(-law.mean, law.covariance)
    a, b = (mutual_information(Logistic(), m).bits for m in (law, mirrored))
    assert a == pytest.approx(b, abs=1e-14)


# --- R^k ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", [0.5, 14.0, 400.0])
def test_two_classes_are_the_logistic_channel(variance):
    """Softmax(2) sees the difference of its inputs only, so it costs no sampling error."""
    law = Gaussian([0.3, 0.0], 0.5 * variance * np.eye(2))
    line = mutual_information(Logistic(), Gaussian(0.3, variance))
    plane = mutual_information(Softmax(2), law)
    assert plane.bits == pytest.approx(line.bits, abs=1e-13)
    np.testing.assert_allclose(plane.output, line.output[::-1], atol=1e-14)
    pool = FullPool([[0.3, 0.0]] * 2, [0.5 * variance * np.eye(2)] * 2)
    np.testing.assert_allclose(mutual_information(Softmax(2), pool).bits, line.bits, atol=1e-13)


def test_error_bars_cover_the_truth():
    line = mutual_information(Logistic(), Gaussian(0.5, 8.0)).bits
    law = Gaussian([0.5, 0.0], 4.0 * np.eye(2))
    hidden = Features(Logistic(), lambda l: l[..., 0] - l[..., 1], dim=2)  # a map not known linear
    found = [mutual_information(hidden, law, num_points=512, rng=seed) for seed in range(60)]
    inside = [abs(info.bits - line) <= info.error for info in found]
    assert sum(inside) >= 59  # four standard errors: 0.1 % outside
    # and they are no wider than they need be
    spread = np.std([info.bits for info in found])
    assert np.mean([info.error for info in found]) < 8 * spread + 1e-12


def test_rank_one_needs_no_sampling():
    law = Gaussian([0.3, 0.0], [[4.0, -4.0], [-4.0, 4.0]])
    line = mutual_information(Logistic(), Gaussian(0.3, 16.0))
    assert mutual_information(Softmax(2), law).bits == pytest.approx(line.bits, abs=1e-12)


def test_projection_through_features():
    """A map to the line of a Gaussian in R^3 is a Gaussian on the line."""
    direction, covariance = np.array([1.0, -2.0, 0.5]), np.diag([1.0, 0.5, 2.0])
    space = mutual_information(Features(Logistic(), direction), Gaussian(np.ones(3), covariance))
    line = mutual_information(
        Logistic(), Gaussian(direction.sum(), direction @ covariance @ direction)
    )
    assert space.bits == pytest.approx(line.bits, abs=1e-14)
    mapped = Features(Logistic(), lambda l: l @ direction, dim=3)
    sampled = mutual_information(mapped, Gaussian(np.ones(3), covariance))
    assert abs(sampled.bits - line.bits) <= sampled.error < 1e-3
    head = Features(Softmax(3), np.arange(6.0).reshape(3, 2))
    through = mutual_information(head, Gaussian([0.1, -0.2], 0.1 * np.eye(2)))
    pushed = Gaussian([0.1, -0.2], 0.1 * np.eye(2)).transform(np.arange(6.0).reshape(3, 2))
    assert through.bits == mutual_information(Softmax(3), pushed).bits


def test_a_shift_of_all_logits_is_not_seen():
    law = Gaussian([0.1, 0.5, -0.2], np.eye(3))
    shaken = Gaussian([0.1, 0.5, -0.2], np.eye(3) + 50.0)
    assert mutual_information(Softmax(3), law).bits == pytest.approx(
        mutual_information(Softmax(3), shaken).bits, abs=mutual_information(Softmax(3), law).error
    )
    common = Gaussian(np.zeros(3), np.full((3, 3), 7.0))
    assert mutual_information(Softmax(3), common).bits == pytest.approx(0.0, abs=1e-14)


def test_pools_in_space_agree(rng):
    mean, scale = rng.standard_normal((7, 3)), rng.uniform(0.1, 5, 7)
    shape = np.eye(3) + 0.3
    scaled = mutual_information(Softmax(3), ScaledPool(mean, scale, shape))
    full = mutual_information(Softmax(3), FullPool(mean, scale[:, None, None] * shape))
    assert scaled.bits.shape == (7,)
    assert (np.abs(scaled.bits - full.bits) <= scaled.error + full.error).all()
    alone = [
        mutual_information(Softmax(3), law) for law in FullPool(mean, scale[:, None, None] * shape)
    ]
    for i, info in enumerate(alone):
        assert abs(info.bits - full.bits[i]) <= info.error + full.error[i]


def test_narrow_laws_in_space_keep_their_digits():
    mean, spread = np.array([0.2, -0.1, 0.4]), 1e-10
    p, gradient = Softmax(3).prob(mean), Softmax(3).derivatives(mean).gradient
    leading = 0.5 * spread * np.einsum("y,yk,yk->", p, gradient, gradient)
    info = mutual_information(Softmax(3), Gaussian(mean, spread * np.eye(3)))
    assert info.nats == pytest.approx(leading, rel=1e-2)


def test_sampling_is_repeatable():
    law = Gaussian(np.zeros(3), np.eye(3))
    assert mutual_information(Softmax(3), law).bits == mutual_information(Softmax(3), law).bits
    other = mutual_information(Softmax(3), law, rng=1)
    assert other.bits != mutual_information(Softmax(3), law).bits


def test_empirical_pool_is_exact(rng):
    samples = rng.standard_normal((5, 40))
    pool = mutual_information(Logistic(), EmpiricalPool(samples))
    wanted = [mutual_information(Logistic(), Empirical(s)).bits for s in samples]
    np.testing.assert_allclose(pool.bits, wanted, rtol=1e-13)
    vectors = rng.standard_normal((4, 30, 3))
    pool = mutual_information(Softmax(3), EmpiricalPool(vectors))
    wanted = [mutual_information(Softmax(3), Empirical(s)).bits for s in vectors]
    np.testing.assert_allclose(pool.bits, wanted, rtol=1e-13)


# --- bad input ------------------------------------------------------------------------------------


def test_bad_arguments():
    law = Gaussian(0.0, 1.0)
    with pytest.raises(InvalidArgument, match="channel must be a channel"):
        mutual_information(Logistic, law)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="measure must be a measure"):
        mutual_information(Logistic(), [0.0, 1.0])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"measure must live in .* R\^3"):
        mutual_information(Softmax(3), law)
    with pytest.raises(InvalidArgument, match="measure must be discrete"):
        mutual_information(BinarySymmetric(0.1), law)
    with pytest.raises(InvalidArgument, match="num_points must be"):
        mutual_information(Logistic(), law, num_points=0)
    with pytest.raises(InvalidArgument, match="must be one of the 2 input letters"):
        mutual_information(BinarySymmetric(0.1), DiscreteMeasure([0.0, 0.5], [0.5, 0.5]))


def test_reference_information_gain(reference):
    """Exact information gains of forty candidates, from programs independent of this library."""
    for record in reference("scores")["records"]:
        mean, covariance = np.array(record["mean"]), np.array(record["covariance"])
        X = np.array(record["pool"])
        pool = ScalarPool(X @ mean, np.einsum("ni,ij,nj->n", X, covariance, X))
        np.testing.assert_allclose(
            mutual_information(Logistic(), pool).bits, record["utilities"]["INFOGAIN"], atol=TARGET
        )


@pytest.mark.parametrize("factor", [1e-280, 1e-300])
def test_a_channel_that_bends_beyond_the_doubles(factor):
    """Widths of 1e280 and more: nothing is told, and nothing overflows."""
    channel = Lapse(Features(Logistic(), [[factor]]), low=0.1, high=0.2)
    assert mutual_information(channel, Gaussian(0.0, 1.0)).bits == pytest.approx(0.0, abs=1e-12)
