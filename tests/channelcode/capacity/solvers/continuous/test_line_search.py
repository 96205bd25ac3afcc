"""The exchange's view of the line: violations as a dense grid sees them, alphabets that narrow."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Logistic, Ordinal
from channelcode.capacity import Continuous, Cost, Peak, Power, Problem, Unconstrained, capacity
from channelcode.capacity.solvers.continuous.line_search import LineSearch
from channelcode.errors import InvalidArgument
from tests.channelcode.capacity.hostile import bump
from tests.channelcode.capacity.oracles import kkt, mutual_information


@pytest.mark.parametrize("multiplier", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("channel", [Logistic(), Ordinal([-1.0, 1.0]), Ordinal([-2.0, 0.3, 1.5])])
def test_violations_are_those_of_a_dense_grid(channel, multiplier):
    atoms, weights = np.array([-1.0, 0.4, 1.0]), np.array([0.3, 0.3, 0.4])
    rows = channel.prob(atoms)
    output, value = weights @ rows, mutual_information(rows, weights)
    points, violation = LineSearch(Problem(channel, Power(1.0))).violations(
        output, multiplier, value, atoms
    )
    dense = np.linspace(-40.0, 40.0, 400_001)
    heights = kkt(channel.prob(dense), output, dense**2 - 1.0, multiplier)
    # the grid of step 2e-4 misses F'' step^2 / 8 of a top, with F'' below 2 here
    assert violation == pytest.approx(max(heights.max() - value, 0.0), abs=1e-8)
    if violation > 0:
        assert np.abs(points - dense[heights.argmax()]).min() <= 1e-3


def test_the_optimum_has_no_violation():
    best = capacity(Ordinal([-1.0, 1.0]), Power(16.0), solver=Continuous())
    points, violation = LineSearch(best.problem).violations(
        best.output, best.multiplier * np.log(2), best.nats, np.asarray(best.input.atoms)
    )
    assert abs(violation) <= 1e-12
    # every atom is a maximum, and there is no other (one may be found twice)
    distance = np.abs(points[:, None] - best.input.atoms)
    assert distance.min(axis=0).max() <= 1e-5
    assert distance.min(axis=1).max() <= 1e-5


def test_alphabets_narrow_around_the_centres():
    search = LineSearch(Problem(Ordinal([-1.0, 1.0]), Power(4.0) & Peak(3.0)))
    first = search.first_inputs()
    assert np.abs(first).max() == 3.0
    assert (np.diff(first) > 0).all()
    coarse = search.spacing(np.array([1.0]))[0]
    widths = []
    atoms, violators = np.array([-2.0, 2.0]), np.array([3.0])
    for _ in range(3):
        following = search.next_inputs(first, atoms, violators)
        assert {-2.0, 2.0, 3.0}.issubset(following.tolist())
        assert np.abs(following).max() <= 3.0
        widths.append(np.abs(following - 2.0)[following != 2.0].min())
        assert search.spacing(np.array([1.0]))[0] < coarse
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_how_far_the_first_inputs_reach():
    assert LineSearch(Problem(Logistic(), Power(100.0))).first_inputs()[-1] >= 400.0
    assert LineSearch(Problem(Logistic(), Unconstrained())).first_inputs()[-1] >= 1e4
    assert LineSearch(Problem(Logistic(), Peak(2.0))).first_inputs()[-1] == 2.0
    far = LineSearch(Problem(Ordinal([5000.0, 9e6]), Unconstrained())).first_inputs()
    assert far[-1] > 9e6
    assert np.abs(far - 9e6).min() == 0.0


def test_the_turns_of_a_black_box_are_among_the_first_inputs():
    hidden = bump(12.41, 0.05, 0.9, Logistic())
    first = LineSearch(Problem(hidden, Power(16.0))).first_inputs()
    assert np.abs(first - 12.41).min() < 0.05


def test_a_budget_that_nothing_meets():
    with pytest.raises(InvalidArgument, match="least cost"):
        LineSearch(Problem(Logistic(), Cost(lambda l: l**2 + 5.0, 2.0)))
