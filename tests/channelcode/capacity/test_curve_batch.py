"""Powers between solved ones: as good as solved, and judged as every other answer is."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Binomial, Cloglog, Ordinal
from channelcode.capacity import Continuous, Power, Problem, capacity, certify
from channelcode.capacity.curve_batch import _interpolated, _newton, _upper, between
from channelcode.capacity.newton import _State
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
def test_certificates_are_those_of_certify(channel, solved):
    powers = np.linspace(solved[0], solved[-1], 9)[1:-1]
    found = between(channel, anchors(channel, solved), powers, TOL, {})
    assert all(result is not None for result in found)
    for power, result in zip(powers, found):
        assert result is not None
        problem = Problem(channel, Power(float(power)))
        atoms, weights = np.asarray(result.input.atoms), np.asarray(result.input.weights)
        s = result.multiplier * np.log(2)
        bounds = certify(problem, atoms, weights, s, tol=TOL * np.log(2))
        assert result.nats == pytest.approx(bounds.information.nats, abs=1e-15)
        assert result.lower * np.log(2) == pytest.approx(bounds.lower, abs=1e-14)
        # both bound the same maximum, from probes of their own
        assert result.upper * np.log(2) == pytest.approx(bounds.upper, abs=TOL)
        assert result.gap <= TOL
        # and both are right: by a grid of the test's own, and by a separate call
        assert result.nats == pytest.approx(
            mutual_information(channel.prob(atoms), weights), abs=1e-13
        )
        assert weights @ atoms**2 <= power * (1 + 1e-12)
        grid = np.concatenate([np.linspace(-30.0, 30.0, 30_001), atoms])
        heights = kkt(channel.prob(grid), result.output, grid**2 - power, s)
        assert heights.max() / np.log(2) <= result.upper + 1e-13
        single = capacity(channel, Power(float(power)), solver=Continuous())
        assert result.bits == pytest.approx(single.bits, abs=TOL)


def test_a_stretch_over_a_new_atom_is_not_certified():
    # from two atoms at both ends one cannot tell the three that are needed far between them
    channel = Ordinal([-1.0, 1.0])
    two = anchors(channel, [1.0, 2.0])
    wrong = [(8.0, two[0][1]), (20.0, two[1][1])]
    found = between(channel, wrong, np.array([12.0, 16.0]), TOL, {})
    assert found == [None, None]


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


def test_the_bound_holds_for_any_law_and_price():
    """Wrong laws: F is highest away from their atoms, and the bound is above it there too."""
    channel, powers = Ordinal([-1.0, 1.0]), np.array([4.0, 9.0, 16.0])
    points = np.array([[-2.0, 2.0], [-3.0, 2.0], [-4.0, 4.0]])
    weights, price = np.full((3, 2), 0.5), np.array([0.03, 0.02, 0.01])
    output = np.einsum("nm,nmy->ny", weights, channel.prob(points))
    nats = np.array([mutual_information(channel.prob(x), w) for x, w in zip(points, weights)])
    upper, _, radius = _upper(channel, powers, points, output, nats, price, {})
    grid = np.linspace(-radius, radius, 100_001)
    for i in range(3):
        top = kkt(channel.prob(grid), output[i], grid**2 - powers[i], price[i]).max()
        assert upper[i] >= top - 1e-13
        # probes 0.03 apart, three times the curvature of a top at most: 0.03^2 / 8 * 3
        assert upper[i] <= top + 5e-4
        assert top > nats[i] + 1e-3
