"""A curve is its single calls, in the order given, at a fraction of the cost."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

from channelcode import Link, Logistic, Ordinal, Probit, Recentred
from channelcode.capacity import Continuous, Peak, Power, capacity, capacity_curve
from channelcode.certificate import Status
from channelcode.errors import InvalidArgument, NotConverged
from tests.channelcode.capacity.oracles import Poisson

FIELDS = ("bits", "nats", "lower", "upper", "gap", "multiplier", "deficit_bits", "deficit_nats")


def test_fields_and_order():
    powers = [4.0, 1.0, 16.0]
    curve = capacity_curve(Ordinal([-1.0, 1.0]), powers)
    singles = [capacity(Ordinal([-1.0, 1.0]), Power(p)) for p in powers]
    for name in FIELDS:
        assert getattr(curve, name).shape == (3,)
    np.testing.assert_allclose(curve.bits, [r.bits for r in singles], atol=1e-9)
    assert [len(m) for m in curve.inputs] == [2, 2, 3]
    assert curve.input == curve.inputs
    np.testing.assert_array_equal(curve.num_atoms, [2, 2, 3])
    assert len(curve) == len(curve.status) == len(curve.scope) == 3
    assert all(status.ok for status in curve.status)
    assert curve.output.shape == (3, 3)


@pytest.mark.parametrize(
    ("channel", "solver"),
    [
        (Ordinal([-1.0, 1.0]), None),
        (Logistic(), Continuous()),
        (Logistic(), None),
        (Link(lambda l: (1 / (1 + np.exp(-l))) ** 3), None),
        pytest.param(Poisson(), None, marks=pytest.mark.slow),
    ],
)
def test_a_long_curve_is_the_same_as_single_calls(channel, solver):
    powers = np.geomspace(0.05, 200.0, 41)[::-1]
    curve = capacity_curve(channel, powers, solver=solver)
    assert (curve.gap <= 1e-9).all()
    for place in range(0, 41, 5):
        single = capacity(channel, Power(powers[place]), solver=solver)
        assert curve.bits[place] == pytest.approx(single.bits, abs=1e-9)
        if single.multiplier > 1e-6:
            assert curve.multiplier[place] == pytest.approx(single.multiplier, rel=1e-5)
            assert len(curve.inputs[place]) == len(single.input)
            np.testing.assert_allclose(curve.inputs[place].atoms, single.input.atoms, atol=1e-5)
    for result in curve.results:
        assert result.input.second_moment <= result.problem.limits.budget * (1 + 1e-12)


@pytest.mark.parametrize("channel", [Logistic(), Probit(), Probit(2.0)])
def test_formulas_all_at_once_are_the_single_formulas(channel):
    powers = np.array([0.0, 1e-10, 1e-3, 0.5, 4.0, 90.0, np.inf])
    curve = capacity_curve(channel, powers)
    singles = [capacity(channel, Power(p)) for p in powers]
    for name in FIELDS:
        # `lower` and `upper` are moved by rounding; the slope of a probit is a difference of logs
        np.testing.assert_allclose(
            getattr(curve, name), [getattr(r, name) for r in singles], rtol=1e-7, atol=2e-14
        )
    np.testing.assert_allclose(
        curve.deficit_bits[2:6], [r.deficit_bits for r in singles[2:6]], rtol=1e-12
    )
    assert [r.bits for r in curve.results] == [r.bits for r in singles]


def test_through_zero_and_infinity():
    curve = capacity_curve(Ordinal([-1.0, 1.0]), [np.inf, 0.0, 1.0])
    assert curve.bits[1] == pytest.approx(0.0, abs=1e-15)
    assert curve.bits[0] > 1.0 > curve.bits[2]


def test_repeated_powers_and_a_peak():
    powers = [1.0, 9.0, 1.0, 9.0]
    curve = capacity_curve(Ordinal([-1.0, 1.0]), powers, peak=2.0)
    assert curve.bits[0] == pytest.approx(curve.bits[2], abs=1e-9)
    assert curve.bits[1] == pytest.approx(curve.bits[3], abs=1e-9)
    held = capacity(Ordinal([-1.0, 1.0]), Power(9.0) & Peak(2.0))
    assert curve.bits[1] == pytest.approx(held.bits, abs=1e-9)
    assert all(np.abs(law.atoms).max() <= 2.0 for law in curve.inputs)


def test_most_of_a_long_curve_is_not_solved_afresh():
    curve = capacity_curve(Ordinal([-1.0, 1.0]), np.geomspace(0.5, 8.0, 60))
    fresh = [r for r in curve.results if r.stats.method == "Continuous"]
    assert len(fresh) <= 6


@pytest.mark.parametrize("powers", [[], [1.0, -1.0], [[1.0]], [1.0, np.nan]])
def test_misuse(powers):
    with pytest.raises(InvalidArgument):
        capacity_curve(Logistic(), powers)


class Judged:
    """A solver that gives a poor answer at one power."""

    def propose(self, problem, *, tol):
        found = Continuous().propose(problem, tol=tol)
        if problem.limits.budget == 2.0:
            return dataclasses.replace(found, points=0.9 * found.points)
        return found


def test_one_failure_does_not_lose_the_curve():
    channel, powers = Ordinal([-1.0, 1.0]), [1.0, 2.0, 3.0]
    with pytest.raises(NotConverged, match="1 of 3 powers") as caught:
        capacity_curve(channel, powers, solver=Judged())
    quiet = capacity_curve(channel, powers, solver=Judged(), throw=False)
    for curve in (caught.value.result, quiet):
        assert [status.ok for status in curve.status] == [True, False, True]
        assert curve.bits[2] == pytest.approx(capacity(channel, Power(3.0)).bits, abs=1e-9)
        assert curve.gap[1] > 1e-4
        assert curve.results[1].status is Status.STALLED


@pytest.mark.parametrize("powers", [[1e-320, 1.0], list(np.geomspace(1e-12, 1e6, 30))])
def test_powers_of_every_size_in_one_curve(powers):
    curve = capacity_curve(Ordinal([-1.0, 1.0]), powers)
    assert (curve.gap <= 1e-9).all()
    assert (np.diff(curve.upper) > -1e-9).all()  # the gaps
    assert curve.multiplier[0] == pytest.approx(0.2073655415, rel=1e-6)  # sup D(W_l || W_0)/l^2


@pytest.mark.parametrize("channel", [Logistic(), Ordinal([-1.0, 1.0])], ids=["binary", "ordinal"])
def test_a_curve_is_copied_by_pickle_and_shows_its_values(channel):
    curve = capacity_curve(channel, [1.0, 4.0])
    copy = pickle.loads(pickle.dumps(curve))
    assert copy == curve
    assert hash(copy) == hash(curve)
    assert repr(curve).startswith(f"CapacityCurve(2 powers, bits=[{curve.bits[0]:.6f}, ")


def test_powers_hundreds_of_orders_apart():
    """The guess from the smallest power overflowed: a warning, an error where these are errors."""
    curve = capacity_curve(Recentred(Logistic(), 700.0), [5e-324, 1e4], throw=False)
    assert len(curve) == 2
    wide = capacity_curve(Ordinal([-1.0, 0.5]), [5e-324, 1e-300, 1.0, 1e4], throw=False)
    assert (wide.gap <= 1e-9).all()
