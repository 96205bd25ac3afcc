"""Which inputs are searched, and what is known of a cost of one's own there."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import (
    AdditiveGaussian,
    Cost,
    Exponential,
    Peak,
    Poisson,
    Power,
    Unconstrained,
)
from channelcode.capacity import Problem
from channelcode.capacity.density_range import (
    FARTHEST,
    allowed,
    input_range,
    is_cost_seen,
    walls,
    where,
    within_walls,
)
from channelcode.errors import InvalidArgument


def wall(l):
    return np.where(np.abs(l) > 2.5, np.inf, np.abs(l))


def test_domain_and_peak_are_all_that_is_allowed():
    assert allowed(Problem(AdditiveGaussian(1.0), Peak(3.0))) == (-3.0, 3.0)
    assert allowed(Problem(Poisson(1.0), Peak(3.0))) == (0.0, 3.0)
    assert allowed(Problem(Poisson(1.0), Power(3.0))) == (0.0, np.inf)


def test_a_peak_is_searched_whole_and_a_power_to_some_roots():
    assert input_range(Problem(AdditiveGaussian(1.0), Peak(3.0)), FARTHEST) == (-3.0, 3.0, True)
    low, high, whole = input_range(Problem(AdditiveGaussian(1.0), Power(4.0)), FARTHEST)
    assert (low, high, whole) == (-16.0, 16.0, False)
    nothing = Problem(AdditiveGaussian(1.0), Power(0.0))
    assert input_range(nothing, FARTHEST) == (0.0, 0.0, True)


def test_what_limits_no_input_is_refused():
    with pytest.raises(InvalidArgument, match="must limit the input"):
        input_range(Problem(AdditiveGaussian(1.0), Unconstrained()), FARTHEST)


def test_a_search_under_a_cost_reaches_its_far_valley():
    cost = Cost(lambda l: np.minimum(np.abs(l), np.abs(l - 300.0)), 1.0)
    low, high, whole = input_range(Problem(AdditiveGaussian(1.0), cost), FARTHEST)
    assert low < 0.0
    assert high >= 300.0
    assert not whole


@pytest.mark.parametrize("declared", [np.inf, 3.0])
def test_walls_are_all_there_is_only_if_the_cost_says_so(declared):
    problem = Problem(AdditiveGaussian(1.0), Cost(wall, 1.0, rises=declared))
    inside = within_walls(problem, -16.0, 16.0)
    np.testing.assert_allclose(inside, (-2.5, 2.5), rtol=1e-9)
    found = walls(problem, -16.0, 16.0)
    if declared == np.inf:
        assert found is None
    else:
        assert found is not None
        np.testing.assert_allclose(found, (-2.5, 2.5), rtol=1e-9)


def test_a_power_has_no_walls():
    problem = Problem(Exponential(), Power(1.0))
    assert within_walls(problem, 0.0, 8.0) == (0.0, 8.0)
    assert walls(problem, 0.0, 8.0) is None


@pytest.mark.parametrize(
    ("constraint", "seen"),
    [
        (Power(1.0), True),
        (Cost(np.abs, 1.0), False),
        (Cost(np.abs, 1.0, rises=0.0), True),
        (Cost(np.abs, 1.0) & Peak(100.0), True),
        (Cost(np.abs, 1.0) & Peak(2000.0), False),
        (Cost(np.abs, 1.0, rises=1.0) & Peak(2000.0), True),
    ],
)
def test_a_cost_is_known_where_it_was_looked_at_or_declares_to_rise(constraint, seen):
    problem = Problem(AdditiveGaussian(1.0), constraint)
    peak = problem.limits.peak
    assert is_cost_seen(problem, -min(peak, 16.0), min(peak, 16.0)) is seen


def test_words_say_how_closely_a_cost_was_looked_at():
    power = Problem(AdditiveGaussian(1.0), Power(1.0))
    assert where(power, (-8.0, 8.0), everywhere=True) == "[-8, 8]"
    near = Problem(AdditiveGaussian(1.0), Cost(np.abs, 1.0) & Peak(100.0))
    text = where(near, (-100.0, 100.0), everywhere=True)
    assert text == "[-100, 100], the cost looked at every 0.1 up to 100"
    far = Problem(AdditiveGaussian(1.0), Cost(np.abs, 1.0) & Peak(2000.0))
    text = where(far, (-2000.0, 2000.0), everywhere=False)
    assert text.startswith("inputs within [-64, 64], and only those looked at further out")
