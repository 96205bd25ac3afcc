"""Where the line is probed: far enough, in order, and with every maximum found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import Binomial, Logistic, Ordinal
from channelcode.capacity import Cost, Peak, Power, Problem, Unconstrained
from channelcode.capacity.search.line import FARTHEST, HALO, halo, joined, probe, probes, reach
from tests.channelcode.capacity.oracles import Short, kkt, mutual_information


@settings(max_examples=30)
@given(
    st.sampled_from([Logistic(), Ordinal([-2.0, 0.3, 1.5]), Binomial(3)]),
    st.integers(0, 2**32 - 1),
    st.floats(-3.0, 1.0).map(lambda e: 10.0**e),
)
def test_nothing_beyond_the_reach_breaks_kkt(channel, seed, multiplier):
    rng = np.random.default_rng(seed)
    atoms, weights = rng.normal(size=3), rng.dirichlet(np.ones(3))
    rows = channel.prob(atoms)
    output, value = weights @ rows, mutual_information(rows, weights)
    radius, proved = reach(Problem(channel, Power(1.5)), output, multiplier, value)
    assert proved
    beyond = radius * np.concatenate([np.geomspace(1.0, 1e3, 2001), -np.geomspace(1.0, 1e3, 2001)])
    assert kkt(channel.prob(beyond), output, beyond**2 - 1.5, multiplier).max() <= value + 1e-11


def test_what_ends_the_line():
    q = np.array([0.5, 0.5])
    assert reach(Problem(Logistic(), Peak(3.0)), q, 0.0, 0.1) == (3.0, True)
    assert reach(Problem(Logistic(), Unconstrained()), q, 0.0, 0.1) == (FARTHEST, False)
    assert reach(Problem(Logistic(), Power(1.0) & Peak(2.0)), q, 1e-9, 0.1) == (2.0, True)
    radius, proved = reach(Problem(Logistic(), Cost(np.abs, 1.0)), q, 0.1, 0.1)
    assert not proved  # a black-box cost: monotone as far as it was tried
    assert 0.1 * (radius - 1.0) > np.log(2) - 0.1


@pytest.mark.parametrize("radius", [0.5, 7.3, 200.0])
def test_probes_cover_the_range(radius):
    problem = Problem(Ordinal([-1.0, 1.0]), Power(2.0))
    found = probes(problem, radius, fine=101, wide=120)
    assert (np.diff(found.points) > 0).all()
    assert found.points[0] <= -radius < radius <= found.points[-1]
    assert found.points[-1] <= radius * np.sqrt(2) * (1 + 1e-12)
    assert 0.0 in found.points
    rows = problem.channel.prob(found.points)
    np.testing.assert_allclose(found.prob, rows, atol=1e-15)
    np.testing.assert_allclose(found.order, (rows * np.log(rows)).sum(axis=1), atol=1e-13)
    again = probes(
        Problem(problem.channel, Power(2.1), cache=problem.cache), radius, fine=101, wide=120
    )
    assert again is found  # neighbouring powers share them
    q = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(found.divergence(q), kkt(rows, q, 0.0, 0.0), atol=1e-13)
    only = np.array([0.0, 0.5, 0.5])
    assert np.isinf(found.divergence(only)).all()


def test_probes_stay_within_the_peak_and_where_there_are_numbers():
    assert probes(Problem(Logistic(), Peak(3.0)), 3.0, fine=101, wide=120).points[-1] == 3.0
    found = probes(Problem(Short(), Power(1.0)), 50.0, fine=101, wide=120)
    assert found.points[0] <= -50.0
    assert 4.0 < found.points[-1] < 5.0


def test_halo_and_joined():
    problem = Problem(Logistic(), Peak(1.0))
    near = halo(problem, np.array([0.0, 0.9]))
    assert np.abs(near).max() <= 1.0
    assert {0.0, 0.9, 0.25, -0.25}.issubset(near.tolist())
    assert np.abs(near - 0.9)[near != 0.9].min() == pytest.approx(HALO[-1], rel=1e-6)
    grid = probe(problem, np.linspace(-1.0, 1.0, 5))
    both = joined(problem, grid, np.array([0.5, 0.3, 7.0, 0.3]))
    np.testing.assert_allclose(both.points, [-1.0, -0.5, 0.0, 0.3, 0.5, 1.0])
    np.testing.assert_allclose(both.prob, Logistic().prob(both.points), atol=1e-15)
    assert joined(problem, grid, np.array([0.5])) is grid
    rounded = np.array([np.nextafter(0.5, 0.0), 0.5 + 1e-12, -1.0, 1.0])
    assert joined(problem, grid, rounded) is grid  # apart by rounding alone
