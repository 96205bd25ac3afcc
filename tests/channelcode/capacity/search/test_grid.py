"""Where the line is probed, and how finely."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Cost, Link, Logistic, Ordinal, Peak, Power, Probit, Unconstrained
from channelcode.capacity import Problem
from channelcode.capacity.search.grid import inner_radius, landmarks, probes, resolved, spacing
from channelcode.capacity.search.line import probe
from tests.channelcode.capacity.oracles import Short, kkt

BLACK = Link(lambda l: 1 / (1 + np.exp(-l)))


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


@pytest.mark.parametrize("power", [0.01, 1.0, 20.0, 400.0, 1e4])
def test_a_bump_of_width_one_twentieth_cannot_hide_in_a_black_box(power):
    problem = Problem(BLACK, Power(power))
    reach = 8.0 * np.sqrt(power)
    points = probes(problem, reach, fine=801, wide=400).points
    inside = points[np.abs(points) <= reach]
    assert np.diff(inside).max() <= 0.1 + 1e-12
    assert spacing(problem, inner_radius(problem), 801) <= 0.1 + 1e-12


def test_a_black_box_is_probed_evenly_up_to_its_peak():
    problem = Problem(BLACK, Power(25.0) & Peak(35.0))
    points = probes(problem, 35.0, fine=801, wide=400).points
    assert np.diff(points).max() <= 0.1 + 1e-12
    assert inner_radius(problem) == 35.0


@pytest.mark.parametrize("constraint", [Power(1.0), Cost(np.abs, 1.0)])
def test_a_black_box_can_be_probed_evenly_as_far_as_it_matters(constraint):
    problem = Problem(BLACK, constraint)
    points = probes(problem, 300.0, fine=801, wide=400, throughout=True).points
    assert np.diff(points[np.abs(points) <= 300.0]).max() <= 0.1 + 1e-12
    assert inner_radius(problem, 300.0) >= 300.0
    assert inner_radius(problem, 3000.0) == inner_radius(problem) <= 64.0
    rising = Cost(np.abs, 1.0, rises=0.0)
    declared = Problem(Logistic(), rising if isinstance(constraint, Cost) else constraint)
    assert inner_radius(declared, 300.0) == inner_radius(declared)


def test_declared_bends_are_resolved_at_their_own_scale():
    channel = Ordinal((44.661, 44.848), link=Probit(0.01))
    points = probes(Problem(channel, Unconstrained()), 1e18, fine=801, wide=400).points
    for cut in channel.thresholds:
        near = points[np.abs(points - cut) < 0.03]
        assert np.diff(near).max() < 0.006


def test_landmarks_are_those_of_the_channel_and_of_the_cost():
    assert len(landmarks(Problem(BLACK, Power(1.0)))) == 0
    assert 0.0 in landmarks(Problem(Logistic(), Power(1.0)))
    priced = landmarks(Problem(BLACK, Cost(lambda l: (l - 17.3) ** 2, 1e-6)))
    assert np.abs(priced - 17.3).min() < 1e-6


def test_a_response_that_one_probe_sees_is_looked_at_closely():
    def foot(l):  # a triangle of 0.1 in all; the probe at 20 sees the hundredth part of it
        return 0.7 * np.maximum(1.0 - np.abs(l - 20.0495) / 0.05, 0.0)

    problem = Problem(Link(lambda l: 0.1 + foot(l)), Power(4.0))
    narrow = Problem(Link(foot), Power(4.0))
    points = np.arange(-30.0, 30.05, 0.1)
    assert foot(points).max() < 0.01
    found = resolved(narrow, probe(narrow, points))
    assert found.prob[:, 1].max() > 0.35
    assert len(found.points) < len(points) + 100
    assert (np.diff(found.points) > 0).all()
    same = probe(problem, points)  # a floor hides it from this rule: nothing falls by half
    assert resolved(problem, same) is same


def test_a_comb_that_no_probes_resolve_ends():
    comb = Problem(Link(lambda l: np.where(np.mod(l * 1e7, 2.0) < 1.0, 0.0, 0.5)), Power(4.0))
    points = np.linspace(-3.0, 3.0, 3001)
    assert len(resolved(comb, probe(comb, points)).points) <= 3001 + 4000
