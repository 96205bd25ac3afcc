"""Nothing depends on the unit of the input: 2^-400 to 2^400, for every kind of limit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import (
    Cost,
    Logistic,
    NotConverged,
    Ordinal,
    Peak,
    Power,
    Probit,
    QuantisedGaussian,
    Status,
    Unconstrained,
    Variance,
    capacity,
    capacity_curve,
)
from channelcode.capacity.problem import Problem
from channelcode.capacity.units import in_natural_unit, natural_unit

LIMITS = {
    "power": lambda u: Power(2.0 * u * u),
    "power and peak": lambda u: Power(2.0 * u * u) & Peak(2.0 * u),
    "peak": lambda u: Peak(1.5 * u),
    "nothing": lambda u: Unconstrained(),
    "cost": lambda u: Cost(lambda l: np.abs(l) / u, 1.0, rises=0.0),
    "variance": lambda u: Variance(u * u),
}
SHIFTS = st.integers(-400, 400)


def quantised(unit):
    return QuantisedGaussian((-0.5 * unit, unit), noise=unit)


@settings(max_examples=5, deadline=None)
@given(SHIFTS, st.sampled_from(["power", "power and peak", "peak", "nothing", "cost"]))
def test_the_unit_does_not_matter(shift, kind):
    unit = 2.0**shift
    here = capacity(quantised(1.0), LIMITS[kind](1.0))
    there = capacity(quantised(unit), LIMITS[kind](unit))
    assert there.status is here.status is Status.OPTIMAL
    # two certified answers to one question: their intervals meet
    assert there.lower <= here.upper
    assert here.lower <= there.upper
    assert there.problem.channel == quantised(unit)
    if kind != "nothing":  # far out the law is free to choose
        price = 1.0 if kind == "cost" else unit * unit
        assert there.multiplier * price == pytest.approx(here.multiplier, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("shift", [-400, -300, -60, 60, 300, 400])
def test_the_variance_in_any_unit(shift):
    """One call at 2^-300 ran for more than 100 s; at 2^300 a capacity of zero was certified."""
    unit = 2.0**shift
    there = capacity(quantised(unit), LIMITS["variance"](unit))
    assert there.status is Status.OPTIMAL
    assert there.lower <= 0.42278402362 + 1e-10
    assert there.upper >= 0.42278402344
    law = there.input
    spread = law.weights @ ((law.atoms - law.mean) / unit) ** 2
    assert spread <= 1.0 + 1e-9


@pytest.mark.parametrize("shift", [-300, 60, 300])
def test_curves_in_any_unit(shift):
    unit = 2.0**shift
    here = capacity_curve(quantised(1.0), [0.5, 2.0])
    there = capacity_curve(quantised(unit), [0.5 * unit**2, 2.0 * unit**2])
    np.testing.assert_allclose(there.bits, here.bits, atol=1e-9)
    assert there.status == here.status


def test_which_unit():
    assert natural_unit(Logistic()) == 1.0
    assert natural_unit(Probit(1e-6)) == 1.0  # not far enough to matter
    assert natural_unit(Probit(3.0 * 2.0**100)) == 2.0**101
    assert natural_unit(Ordinal((0.0, 1e30))) == 1.0  # bends of width one, far apart
    moved, unit = in_natural_unit(Problem(quantised(2.0**100), Peak(2.0**101)))
    assert (moved.limits.peak, unit) == (2.0, 2.0**100)


def test_limits_that_no_double_holds_are_left_alone():
    problem = Problem(quantised(2.0**600), Power(1.0))
    assert in_natural_unit(problem) == (problem, 1.0)


class Idle:
    def propose(self, problem, *, tol):
        from channelcode.capacity import Proposal

        return Proposal(np.zeros(1), np.ones(1), 0.0, "Idle")


def test_a_poor_proposal_is_not_excused_by_its_unit():
    with pytest.raises(NotConverged) as caught:
        capacity(quantised(2.0**60), Power(2.0**120), solver=Idle())
    assert caught.value.result.bits == 0.0
    assert caught.value.result.upper > 0.42
    assert caught.value.result.problem.channel == quantised(2.0**60)
