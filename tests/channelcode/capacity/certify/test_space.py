"""The bound in R^k: above every sampled input, and honest about being a search."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import (
    Cloglog,
    Continuous,
    Features,
    Lapse,
    Logistic,
    Peak,
    Probit,
    Softmax,
    Status,
    Unconstrained,
    capacity,
)
from channelcode.capacity import Cost, Power, Problem
from channelcode.capacity.certify.space import space_bound
from channelcode.capacity.law_value import law_value
from channelcode.capacity.simplex import simplex_code
from tests.channelcode.capacity.oracles import kkt

TOL = 1e-9


def seen_as_a_map(classes: int) -> Features:
    """Softmax that is not known to be softmax: its capacity has to be searched for."""
    return Features(Softmax(classes), np.eye(classes))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("classes", [3, 5])
def test_above_random_inputs(classes, seed):
    rng = np.random.default_rng(seed)
    channel, power = seen_as_a_map(classes), 3.0
    atoms, weights = rng.normal(size=(4, classes)), rng.dirichlet(np.ones(4))
    price = float(10.0 ** rng.uniform(-2, -0.5))
    found = law_value(channel.log_prob(atoms), weights)
    upper, scope, _ = space_bound(Problem(channel, Power(power)), atoms, found, price, TOL)
    points = rng.normal(size=(20_000, classes)) * rng.uniform(0.0, 6.0, (20_000, 1))
    heights = kkt(channel.prob(points), found.output, (points**2).sum(axis=1) - power, price)
    assert upper >= max(heights.max(), found.nats)
    assert "multi-start + grid" in scope
    assert "the multiplier rules all out" in scope


@pytest.mark.parametrize(("classes", "power"), [(3, 0.3), (3, 4.0), (6, 2.0), (6, 30.0)])
def test_the_simplex_code_is_optimal_by_search_too(classes, power):
    code = simplex_code(classes, power)
    found = law_value(Softmax(classes).log_prob(code.points), code.weights)
    upper, scope, complete = space_bound(
        Problem(seen_as_a_map(classes), Power(power)), code.points, found, code.multiplier, TOL
    )
    assert not complete  # a search, whatever the channel declares
    assert scope.startswith(f"only the inputs looked at in R^{classes}, and nothing between them")
    assert upper == pytest.approx(found.nats, abs=1e-11)


@pytest.mark.parametrize("constraint", [Power(0.3), Power(4.0) & Peak(1.5), Peak(2.0)])
def test_softmax_is_bounded_by_its_formula_whatever_is_proposed(constraint):
    problem = Problem(Softmax(3), constraint)
    atoms = np.array([[0.3, 0.0, -0.3], [-0.3, 0.0, 0.3]])
    found = law_value(Softmax(3).log_prob(atoms), np.array([0.5, 0.5]))
    bound = space_bound(problem, atoms, found, 0.2, TOL)
    best = capacity(seen_as_a_map(3), constraint)
    assert bound.complete
    assert bound.nats == pytest.approx(best.nats, abs=1e-10)
    assert capacity(Softmax(3), constraint, solver=Continuous()).status is Status.OPTIMAL


@pytest.mark.parametrize("link", [Logistic(), Cloglog(), Lapse(Probit(), low=0.1, high=0.05)])
@pytest.mark.parametrize("constraint", [Power(0.7), Power(2.0) & Peak(1.5), Unconstrained()])
def test_one_row_is_proved_on_its_line(link, constraint):
    row = np.array([[0.6, -0.8, 2.0]])
    result = capacity(Features(link, row), constraint)
    line = capacity(Features(link, [[float(np.linalg.norm(row))]]), constraint)
    assert result.status is Status.OPTIMAL
    assert result.bits == pytest.approx(line.bits, abs=1e-9)
    rng = np.random.default_rng(1)
    points = rng.normal(size=(5000, 3)) * rng.uniform(0.0, 4.0, (5000, 1))
    points = points[np.linalg.norm(points, axis=1) <= result.problem.limits.peak]
    budget = min(result.problem.limits.budget, 1e9)
    price = result.multiplier * np.log(2)
    heights = kkt(
        result.problem.channel.prob(points),
        result.output,
        (points**2).sum(axis=1) - budget if price > 0 else np.zeros(len(points)),
        price,
    )
    assert heights.max() <= result.upper * np.log(2) + 1e-12


def test_two_rows_of_a_map_are_no_line():
    result = capacity(seen_as_a_map(3), Power(1.0))
    assert result.status is Status.WITHIN_SCOPE
    assert result.bits == pytest.approx(capacity(Softmax(3), Power(1.0)).bits, abs=1e-9)


def test_a_plane_against_its_grid():
    head = Features(Softmax(4), np.array([[1.0, 0.2], [0.0, 1.0], [-1.0, -1.0], [0.5, -2.0]]))
    rng = np.random.default_rng(4)
    atoms, weights = rng.normal(size=(4, 2)), rng.dirichlet(np.ones(4))
    found = law_value(head.log_prob(atoms), weights)
    upper, _, _ = space_bound(Problem(head, Power(2.0)), atoms, found, 0.05, TOL)
    side = np.linspace(-10.0, 10.0, 1001)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    top = kkt(head.prob(grid), found.output, (grid**2).sum(axis=1) - 2.0, 0.05).max()
    # a grid of step 0.02 misses F'' step^2 / 4 of the top
    assert top - 1e-13 <= upper <= top + 1e-3


def test_a_cost_of_ones_own_proves_nothing_far_out():
    problem = Problem(Softmax(3), Cost(lambda x: np.abs(x).sum(axis=1), 1.0))
    atoms = np.array([[1.0, 0.0, -1.0], [-1.0, 0.0, 1.0]])
    found = law_value(Softmax(3).log_prob(atoms), np.array([0.5, 0.5]))
    _, scope, complete = space_bound(problem, atoms, found, 0.1, TOL)
    assert "further out nothing is known" in scope
    assert not complete


def test_a_black_box_in_the_plane_names_what_was_looked_at():
    head = Features(
        Softmax(3), lambda l: np.stack([l[..., 0], l[..., 1], -l.sum(axis=-1)], -1), dim=2
    )
    atoms = np.array([[2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
    found = law_value(head.log_prob(atoms), np.full(3, 1 / 3))
    bound = space_bound(Problem(head, Power(4.0)), atoms, found, 0.1, TOL)
    assert not bound.complete
    assert bound.scope.startswith("only the inputs looked at in R^2, and nothing between them")
