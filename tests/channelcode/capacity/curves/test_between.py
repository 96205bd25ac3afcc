"""Powers between solved ones: as good as solved, and judged as every other answer is."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Binomial, Cloglog, Ordinal
from channelcode.capacity import Continuous, Power, Problem, capacity, certify
from channelcode.capacity.curves.between import _interpolated, _newton, between
from channelcode.capacity.solvers.continuous.newton import _State
from tests.channelcode.capacity.oracles import kkt, mutual_information

TOL = 1e-9
CASES = [
    (Ordinal([-1.0, 1.0]), [1.0, 1.5, 2.0, 2.5]),
    (Ordinal([-1.0, 1.0]), [10.0, 12.0, 14.0, 16.0]),
    (Binomial(2), [1.0, 1.2, 1.5]),
    (Cloglog(), [0.5, 0.7, 1.0]),
]


def anchors(channel, powers):
    return [(p, capacity(channel, Power(p), solver=Continuous())) for p in powers]


@pytest.mark.parametrize(("channel", "solved"), CASES)
def test_proposals_are_optimal_by_a_grid_and_by_a_separate_call(channel, solved):
    powers = np.linspace(solved[0], solved[-1], 9)[1:-1]
    for power, proposal in zip(powers, between(channel, anchors(channel, solved), powers)):
        assert proposal is not None
        atoms, weights, s = proposal.points, proposal.weights, proposal.multiplier
        nats = mutual_information(channel.prob(atoms), weights)
        assert weights @ atoms**2 <= power * (1 + 1e-12)
        grid = np.concatenate([np.linspace(-30.0, 30.0, 30_001), atoms])
        heights = kkt(channel.prob(grid), weights @ channel.prob(atoms), grid**2 - power, s)
        assert heights.max() <= nats + 0.5 * TOL
        single = capacity(channel, Power(float(power)), solver=Continuous())
        assert nats == pytest.approx(single.nats, abs=TOL)


def test_a_stretch_over_a_new_atom_is_found_out_by_the_judge():
    # from two atoms at both ends one cannot tell the three that are needed far between them
    channel = Ordinal([-1.0, 1.0])
    two = anchors(channel, [1.0, 2.0])
    wrong = [(8.0, two[0][1]), (20.0, two[1][1])]
    for power, proposal in zip((12.0, 16.0), between(channel, wrong, np.array([12.0, 16.0]))):
        if proposal is None:
            continue
        problem = Problem(channel, Power(power))
        bounds = certify(problem, proposal.points, proposal.weights, proposal.multiplier, tol=TOL)
        assert bounds.upper - bounds.lower > 1e-6


def test_interpolation_is_exact_for_cubics_in_the_log():
    channel, powers = Ordinal([-1.0, 1.0]), [1.0, 1.4, 2.0, 2.8]
    solved = anchors(channel, powers)
    atoms, weights, price = _interpolated(solved, np.array([1.4, 1.9]))
    np.testing.assert_allclose(atoms[0], solved[1][1].input.atoms, rtol=1e-13)
    np.testing.assert_allclose(weights[0], solved[1][1].input.weights, rtol=1e-13)
    places = np.log(powers)
    cubic = np.polyfit(places, [r.input.atoms[1] for _, r in solved], 3)
    assert atoms[1, 1] == pytest.approx(np.polyval(cubic, np.log(1.9)), rel=1e-10)
    logs = np.polyfit(places, [np.log(r.multiplier * np.log(2)) for _, r in solved], 3)
    assert price[1] == pytest.approx(np.exp(np.polyval(logs, np.log(1.9))), rel=1e-10)


def test_one_step_is_newtons():
    """The batched step is that of `newton` for each row."""
    channel, power = Ordinal([-1.0, 1.0]), 16.0
    best = capacity(channel, Power(power), solver=Continuous())
    points = np.asarray(best.input.atoms) * 1.01 + 0.003
    weights = np.array([0.35, 0.3, 0.35])
    s = best.multiplier * np.log(2) * 1.02
    batched = _newton(channel, points[None], weights[None], np.array([s]), np.array([power]))
    single = _State(Problem(channel, Power(power)), points[:, None], weights, s).step()
    assert single is not None
    np.testing.assert_allclose(batched[0][0], single.points[:, 0], rtol=1e-9)
    np.testing.assert_allclose(batched[1][0] / batched[1][0].sum(), single.weights, rtol=1e-9)
    assert batched[2][0] == pytest.approx(single.multiplier, rel=1e-9)
