"""Prop. 3.2: two symmetric atoms need only the median."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode.measures import (
    DiscreteMeasure,
    Empirical,
)
from channelcode.transport import (
    Line,
    Median,
    w2,
)
from tests.channelcode.transport.laws import (
    samples,
)
from tests.channelcode.transport.oracles import emd_squared

radii = st.floats(0, 10)


@given(mu=samples(1), radius=radii)
def test_proposition_3_2_for_every_law_and_every_median(mu, radius):
    nu = DiscreteMeasure.symmetric(radius)
    exact = emd_squared(mu, nu)
    scale = mu.second_moment + radius**2
    order = np.argsort(mu.atoms)
    x, below = mu.atoms[order], np.cumsum(mu.weights[order])
    # All medians: from the first point with half the mass to the first with more than half.
    low = x[np.searchsorted(below, 0.5 - 1e-12)]
    high = x[min(np.searchsorted(below, 0.5 + 1e-12), len(x) - 1)]
    for median in (low, high, 0.5 * (low + high)):
        identity = mu.second_moment + radius**2
        identity -= 2 * radius * (mu.weights @ np.abs(mu.atoms - median))
        assert abs(identity - exact) <= 1e-12 * (1 + scale)
    result = w2(mu, nu)
    assert result.method == "line, Prop. 3.2"
    assert abs(result.squared - exact) <= 1e-12 * (1 + scale)
    assert abs(result.squared - w2(mu, nu, solver=Line()).squared) <= 1e-12 * (1 + scale)
    assert result.gap <= 1e-12 * (1 + scale)


def test_proposition_3_2_for_continuous_laws(rng):
    # Laplace: E L^2 = 2, E|L - med| = 1. The quantile sample errs by its tail, near 1e-4.
    u = (np.arange(200_000) + 0.5) / 200_000
    quantiles = -np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5))
    for radius in (0.5, 2.0):
        squared = w2(
            Empirical(quantiles), DiscreteMeasure.symmetric(radius), solver=Median()
        ).squared
        assert squared == pytest.approx(2 + radius**2 - 2 * radius, abs=2e-4)
