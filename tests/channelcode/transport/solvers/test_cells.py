"""What the three methods for a Gaussian against atoms have in common."""

import numpy as np
import pytest

from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Empirical, Gaussian
from channelcode.transport.problem import Problem
from channelcode.transport.solve import Auto
from channelcode.transport.solvers import CELL_SOLVERS, Plane, QuasiMonteCarlo, Space
from tests.naming import plain


@pytest.mark.parametrize(
    "dim, names",
    [
        (2, ["Plane", "QuasiMonteCarlo"]),
        (3, ["Space", "QuasiMonteCarlo"]),
        (4, ["QuasiMonteCarlo", "QuasiMonteCarlo"]),
    ],
)
def test_the_most_special_comes_first(dim, names, rng):
    target = DiscreteMeasure.uniform(rng.standard_normal((dim + 2, dim)))
    problem = Problem(Gaussian(np.zeros(dim), np.eye(dim)), target)
    assert [type(method).__name__ for method in Auto().methods(problem)] == names
    accepting = [type(solver).__name__ for solver in CELL_SOLVERS if solver.accepts(problem)]
    assert accepting == names


@pytest.mark.parametrize("solver", CELL_SOLVERS, ids=plain)
def test_samples_are_refused(solver, rng):
    points = rng.standard_normal((4, 3))
    problem = Problem(Empirical(points), DiscreteMeasure.uniform(points + 1.0))
    assert not solver.accepts(problem)
    with pytest.raises(InvalidArgument, match="solver"):
        solver.propose(problem, tol=1e-9)


@pytest.mark.parametrize(
    "solver, dim", [(Plane(), 2), (Space(), 3), (QuasiMonteCarlo(), 3)], ids=plain
)
def test_one_pair_is_a_stack_of_one(solver, dim, rng):
    target = DiscreteMeasure.uniform(rng.standard_normal((dim + 2, dim)))
    problem = Problem(Gaussian(np.zeros(dim), np.diag(np.arange(1.0, dim + 1))), target)
    sketch = problem.sketch
    single = solver.propose(problem, tol=1e-9)
    stack, steps = solver.potentials(np.stack([sketch.atoms] * 3), sketch.weights)
    assert single.steps == steps[0] == steps[2]
    np.testing.assert_allclose(stack, np.tile(single.potential, (3, 1)), atol=1e-12)
