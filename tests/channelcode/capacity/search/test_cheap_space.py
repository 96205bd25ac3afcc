"""Costs in R^k: far and narrow valleys are found, and the budget is compared with the least."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Cost, InvalidArgument, Peak, Softmax, capacity
from channelcode.capacity import Problem
from channelcode.capacity.search.cheap import check_budget, priced_probes, valleys
from channelcode.capacity.search.cheap_space import descend

FAR = np.array([20.0, 0.0, -20.0])


def dips(l):
    """Free at two places far out, |l|^2 elsewhere."""
    each = [((l - centre) ** 2).sum(axis=1) for centre in (FAR, -FAR)]
    return np.minimum(np.minimum(*each), (l**2).sum(axis=1))


def test_valleys_of_a_cost():
    problem = Problem(Softmax(3), Cost(dips, 0.1))
    lowest = valleys(problem)
    for centre in (FAR, -FAR, np.zeros(3)):
        assert np.linalg.norm(lowest[:64] - centre, axis=1).min() <= 1e-6
    points, cost = priced_probes(problem)
    np.testing.assert_allclose(cost, dips(points), atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_descents_end_at_the_minimum(dim):
    centre = np.arange(1.0, dim + 1.0)
    stretch = np.geomspace(1.0, 10.0, dim)
    cost = Cost(lambda l: (stretch * (l - centre) ** 2).sum(axis=1), 1.0)
    problem = Problem(Softmax(dim), cost)
    found, value = descend(problem, np.zeros((3, dim)), np.full(3, 0.3))
    assert value.max() <= 1e-8
    np.testing.assert_allclose(found, np.tile(centre, (3, 1)), atol=1e-3)


def test_far_dips_are_used():
    """The search ended at radius 4 and certified 0.0267 bits."""
    result = capacity(Softmax(3), Cost(dips, 0.1))
    assert result.bits == pytest.approx(1.1454677, abs=1e-6)
    assert result.scope.startswith("only the inputs looked at in R^3")


@pytest.mark.slow
def test_one_far_dip_is_feasible():
    """It was refused: no input near zero is within the budget."""
    far = np.array([20.0, 5.0, -25.0])
    named = Cost(lambda l: ((l - far) ** 2).sum(axis=1), 1.0, cheap=[tuple(far)])
    found = capacity(Softmax(3), Cost(named.function, 1.0))
    assert found.bits == pytest.approx(capacity(Softmax(3), named).bits, abs=1e-8)
    assert (found.input.weights @ named.function(found.input.atoms)) <= 1.0 + 1e-12


def test_a_budget_below_the_least_cost_is_refused():
    dear = Cost(lambda l: 3.0 + (l**2).sum(axis=1), 2.0)
    problem = Problem(Softmax(2), dear)
    with pytest.raises(InvalidArgument, match=r"budget must be at least the least cost found, 3"):
        check_budget(problem)
    with pytest.raises(InvalidArgument, match="budget must be at least"):
        capacity(Softmax(2), dear & Peak(5.0))
