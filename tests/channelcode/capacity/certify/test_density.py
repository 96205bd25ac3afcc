"""No input between the probes of a density is forgotten."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import (
    AdditiveGaussian,
    AdditiveLaplace,
    Channel,
    Cost,
    DiscreteMeasure,
    Exponential,
    Peak,
    Poisson,
    Power,
    capacity,
)
from channelcode.capacity.certify.density import density_bound
from channelcode.capacity.problem import Problem
from channelcode.information.output_divergence import output_divergence
from tests.naming import plain


def law_of(rng, low, high):
    count = int(rng.integers(1, 6))
    return DiscreteMeasure(rng.uniform(low, high, count), rng.dirichlet(np.ones(count)))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(0.0, 0.5))
def test_laplace_bound_is_above_every_input(seed, multiplier):
    rng = np.random.default_rng(seed)
    peak = float(np.exp(rng.uniform(-2, 2)))
    law = law_of(rng, -peak, peak)
    problem = Problem(AdditiveLaplace(1.0), Peak(peak) & Power(0.3 * peak**2))
    bound = density_bound(problem, law, multiplier, (-peak, peak), tol=1e-8)
    inputs = np.sort(np.concatenate([rng.uniform(-peak, peak, 2000), law.atoms, [-peak, peak]]))
    heights = output_divergence(problem.channel, inputs, law).nats
    heights = heights - multiplier * (inputs**2 - 0.3 * peak**2)
    assert bound.proved
    assert heights.max() <= bound.nats + bound.error + 1e-13
    assert bound.nats <= heights.max() + 1e-3 * peak**2  # and not far above


@pytest.mark.parametrize(
    ("channel", "ends"),
    [
        (AdditiveGaussian(1.0), (-3.0, 3.0)),
        (AdditiveGaussian(0.5), (-20.0, 20.0)),
        (Poisson(0.1), (0.0, 9.0)),
        (Poisson(0.0), (0.0, 9.0)),
        (Exponential(), (-2.0, 2.0)),
    ],
    ids=plain,
)
def test_no_input_is_above_the_bound(channel, ends):
    rng = np.random.default_rng(3)
    for _ in range(3):
        law = law_of(rng, *ends)
        problem = Problem(channel, Peak(9.0))
        bound = density_bound(problem, law, 0.0, ends, tol=1e-8)
        inputs = rng.uniform(ends[0], ends[1], 2000)
        assert output_divergence(channel, inputs, law).nats.max() <= bound.nats + bound.error
        assert bound.proved


def test_one_input_alone():
    law = DiscreteMeasure([0.0], [1.0])
    problem = Problem(AdditiveLaplace(1.0), Peak(0.0))
    assert density_bound(problem, law, 0.0, (0.0, 0.0), tol=1e-9).nats == pytest.approx(
        0, abs=1e-14
    )


class Bell(Channel):
    """Gaussian noise that nothing is known of."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        return -0.5 * (y - l) ** 2 - 0.5 * np.log(2.0 * np.pi)


@pytest.mark.parametrize("off", [0.0, 2e-14, 1e-12, 1e-9, 1e-7])
def test_an_atom_beside_a_probe_makes_no_bound_worse(off):
    """Was 9e-10 above the highest probe for an atom 2e-14 from one: differences were rounding."""
    problem = Problem(Bell(), Peak(1.5))
    law = DiscreteMeasure([-1.5, off, 1.5], [0.4, 0.2, 0.4])
    bound = density_bound(problem, law, 0.0, (-1.5, 1.5), tol=1e-10)
    heights = output_divergence(problem.channel, np.linspace(-1.5, 1.5, 301), law).nats
    assert heights.max() <= bound.nats <= heights.max() + 5e-11


def test_errors_count_where_they_are():
    """Far out D is large, and so is its error, but not F: the bound was 6e-10 nats too high."""
    problem = Problem(Poisson(0.0), Power(100.0))
    law = DiscreteMeasure([0.0, 5.0, 20.0], [0.5, 0.3, 0.2])
    near = density_bound(problem, law, 0.05, (0.0, 60.0), tol=1e-10)
    far = density_bound(problem, law, 0.05, (0.0, 900.0), tol=1e-10)
    assert near.nats + near.error <= far.nats + far.error + 1e-10
    assert far.nats + far.error <= near.nats + near.error + 1e-10


def test_a_multiplier_that_went_astray_is_not_believed():
    """Under a budget of 1e-30 the bound was 8.6e6 bits."""
    limit = Cost(np.abs, 1e-30) & Peak(1.0)
    found = capacity(AdditiveLaplace(), limit, throw=False)
    assert found.upper <= capacity(AdditiveLaplace(), Peak(1.0)).upper + np.log2(np.e)
