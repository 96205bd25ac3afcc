"""Channels with densities against SciPy, and densities of users' own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from channelcode import (
    AdditiveGaussian,
    AdditiveLaplace,
    Channel,
    Counts,
    Exponential,
    Features,
    Gamma,
    InvalidArgument,
    Logistic,
    Poisson,
    restrict,
)
from channelcode.channels.densities.range import output_range
from channelcode.testing import check_channel
from tests.naming import plain

L = np.array([-3.0, 0.0, 0.4, 2.0])
Y = np.array([0.001, 0.7, 3.0, 20.0])[:, None]


@pytest.mark.parametrize(
    ("channel", "law"),
    [
        (AdditiveGaussian(0.7), lambda l: stats.norm(l, 0.7)),
        (AdditiveLaplace(0.7), lambda l: stats.laplace(l, 0.7)),
        (Exponential(), lambda l: stats.expon(scale=np.exp(l))),
        (Gamma(2.5), lambda l: stats.gamma(2.5, scale=np.exp(l) / 2.5)),
    ],
    ids=plain,
)
def test_densities_against_scipy(channel, law):
    np.testing.assert_allclose(channel.log_density(Y, L), law(L).logpdf(Y), rtol=1e-12, atol=1e-12)
    low, high = output_range(channel, L)
    ends = channel.support.from_line(low)[0], channel.support.from_line(high)[0]
    # what is left out is promised to be about 1e-20 on either side
    assert (law(L).cdf(ends[0]) < 2e-20).all()
    assert (law(L).sf(ends[1]) < 2e-20).all()


def test_counts_against_scipy():
    rates = np.array([0.0, 1e-6, 0.5, 40.0, 1e4])
    counts = np.arange(30.0)[:, None]
    for dark in (0.0, 0.3):
        law: Any = stats.poisson(rates + dark)
        found = Poisson(dark).log_density(counts, rates)
        np.testing.assert_allclose(np.exp(found), law.pmf(counts), rtol=1e-9, atol=1e-300)
        first, last = output_range(Poisson(dark), rates)
        assert (law.sf(last) < 1e-18).all()  # the tail that Chernoff's bound promises
        assert (law.cdf(first - 1) < 1e-18).all()
    assert Poisson().log_density(2.5, 1.0) == -np.inf  # half a count is no output


@pytest.mark.parametrize(
    ("channel", "draws"),
    [
        (AdditiveGaussian(2.0), stats.norm(0.3, 2.0)),
        (AdditiveLaplace(2.0), stats.laplace(0.3, 2.0)),
        (Gamma(3.0), stats.gamma(3.0, scale=np.exp(0.3) / 3)),
    ],
    ids=plain,
)
def test_samples_follow_the_law(channel, draws):
    sample = channel.sample(np.full(2000, 0.3), rng=0)
    assert stats.kstest(sample, draws.cdf).pvalue > 1e-4


class Cauchy(Channel):
    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        return -np.log(np.pi) - np.log1p((y - l) ** 2)


class Geometric(Channel):
    support = Counts()

    def log_density(self, y, l):
        return y * -np.logaddexp(0, -l) - np.logaddexp(0, l)


class Beta(Channel):
    support = (0.0, 1.0)

    def log_density(self, y, l):
        a = 2.0 + np.tanh(l)
        return stats.beta.logpdf(y, a, 4.0 - a)


@pytest.mark.parametrize("channel", [Cauchy(), Beta()], ids=lambda c: type(c).__name__)
def test_densities_of_your_own_pass_the_contract(channel):
    check_channel(channel)


def test_counts_of_your_own():
    class Narrow(Geometric):
        def log_density(self, y, l):
            return super().log_density(y, np.minimum(l, 3.0))

    check_channel(Narrow())


@pytest.mark.parametrize(
    ("log_density", "message"),
    [
        (lambda s, y, l: -0.5 * (y - l) ** 2, "must integrate to one; at l = .* 2.506"),
        (lambda s, y, l: stats.norm.logpdf(y - l) + np.where(l == 9, 0.1, 0), "at l = 9.0"),
        (lambda s, y, l: np.nan * y * l, "must be a number"),
        (lambda s, y, l: stats.norm.logpdf(y - l)[..., None], "must return shape"),
        (lambda s, y, l: stats.norm.logpdf(y - l) + 0j, "real numbers"),
        (lambda s, y, l: stats.norm.logpdf(y - l + 0 * l * y.mean() + np.ptp(l)), "one by one"),
    ],
)
def test_mistakes_in_densities_are_named(log_density, message):
    channel = type("Mine", (Channel,), {"support": (-np.inf, np.inf), "log_density": log_density})()
    with pytest.raises(AssertionError, match=message):
        check_channel(channel)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, "one"])
def test_bad_parameters(bad):
    for make in (AdditiveGaussian, AdditiveLaplace, Gamma):
        with pytest.raises(InvalidArgument, match="must"):
            make(bad)
    if bad != 0.0:
        with pytest.raises(InvalidArgument, match="dark must"):
            Poisson(bad)


def test_what_needs_a_list_of_outputs_says_so():
    for call in (
        lambda: AdditiveGaussian().log_prob(0.0),
        lambda: AdditiveGaussian().prob([0.0]),
        lambda: AdditiveGaussian().conditional_entropy(0.0),
        lambda: restrict(AdditiveGaussian(), [0.0, 1.0]),
        lambda: Features(AdditiveGaussian(), [[2.0]]).prob(0.0),
    ):
        with pytest.raises(InvalidArgument, match="outputs without end"):
            call()


def test_inputs_outside_the_domain():
    with pytest.raises(InvalidArgument, match="must lie in the channel's domain"):
        Poisson().log_density(1.0, -0.5)
    with pytest.raises(InvalidArgument, match="must lie in the channel's domain"):
        Poisson().sample([-0.5])
    assert Logistic().domain == (-np.inf, np.inf)
