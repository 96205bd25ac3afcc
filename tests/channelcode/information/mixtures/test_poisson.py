"""Divergences of Poisson counts from a mixture: the bound on how they bend."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import DiscreteMeasure, Poisson
from channelcode.information.mixtures.poisson import PoissonMixture


@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 1e-3, 1.0, 20.0]),
    st.sampled_from([0.5, 8.0, 60.0]),
)
@settings(max_examples=40)
def test_the_second_derivative_is_never_below_the_bend(seed, dark, peak):
    rng = np.random.default_rng(seed)
    atoms = peak * np.concatenate([[0.0, 1.0], rng.uniform(size=2)])
    mixture = PoissonMixture(Poisson(dark), DiscreteMeasure(atoms, rng.dirichlet(np.ones(4))))
    l = np.linspace(0.02 * peak, peak, 60)
    step = 1e-3 * peak
    beside = [mixture.divergence(l + shift).value for shift in (-step, 0.0, step)]
    second = (beside[0] - 2.0 * beside[1] + beside[2]) / step**2
    found = mixture.divergence(l).bend
    # D'' = 1/r + bend; D'''' step^2 / 12 near r = 0.02 peak is 6 / r^4 step^2 / 12, and rounding
    rate = l + dark
    slack = step**2 / (rate - step) ** 4 + step**2 * mixture.steepest + 1e-13 / step**2
    assert np.abs(second - 1.0 / rate - found).max() <= slack.max()
    assert (second >= found - slack).all()
    assert (found <= 1e-12).all()
    # and E h(Y) changes by no more than max h times the distance
    change = np.abs(np.diff(found))
    assert (change <= mixture.steepest * np.diff(l) + 1e-11).all()


def test_a_rate_of_zero_is_allowed():
    law = DiscreteMeasure([0.0, 2.0], [0.5, 0.5])
    found = PoissonMixture(Poisson(0.0), law).divergence(np.array([0.0, 1e-9, 2.0]))
    assert np.isfinite(found.bend).all()
    # D(0) = -ln q(0), q(0) = (1 + e^-2) / 2
    assert abs(found.value[0] + np.log(0.5 * (1.0 + np.exp(-2.0)))) < 1e-14


def test_where_a_power_outweighs_the_divergence_it_does_so_for_good():
    law = DiscreteMeasure([0.0, 2.0, 7.0], [0.6, 0.3, 0.1])
    for dark in (0.0, 0.5):
        mixture = PoissonMixture(Poisson(dark), law)
        for price, level in ((1e-3, 0.2), (0.05, 0.2), (0.05, -3.0), (3.0, -1.0)):
            radius = mixture.outweighed(price, level)
            assert 0.0 < radius < np.inf
            l = radius * np.linspace(1.0, 5.0, 41)
            assert (mixture.divergence(l).value - price * l**2 <= level).all()
    assert (
        PoissonMixture(Poisson(0.0), DiscreteMeasure([0.0], [1.0])).outweighed(1.0, 0.0) == np.inf
    )
