"""Collinear atoms in R^k are the line case."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode.certificate import Status
from channelcode.measures import (
    DiscreteMeasure,
    Empirical,
    EmpiricalPool,
    Gaussian,
)
from channelcode.transport import (
    w2,
    w2_squared,
)
from tests.channelcode.transport.oracles import emd_squared


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_two_atoms_in_any_dimension_are_the_line(rng, dim):
    factor = rng.standard_normal((dim, dim))
    law = Gaussian(rng.standard_normal(dim), factor @ factor.T)
    nu = DiscreteMeasure(rng.standard_normal((2, dim)), [0.3, 0.7])
    axis = nu.points[1] - nu.points[0]
    axis = axis / np.linalg.norm(axis)
    across = np.eye(dim) - np.outer(axis, axis)
    shift = across @ (law.mean - nu.mean)
    rest = shift @ shift + np.trace(across @ law.covariance)
    line = w2(law.project(axis), nu.project(axis)).squared
    assert w2(law, nu).squared == pytest.approx(line + rest, rel=1e-12)
    assert w2(law, nu).method.startswith("line")


def test_collinear_atoms_in_space_are_the_line(rng):
    nu = DiscreteMeasure(np.outer([-1.0, 0.5, 2.0], [1.0, 2.0, -1.0]), [0.2, 0.5, 0.3])
    draws = rng.standard_normal((5, 100, 3))
    looped = [emd_squared(Empirical(x), nu) for x in draws]
    np.testing.assert_allclose(w2_squared(EmpiricalPool(draws), nu), looped, rtol=1e-12)
    single = w2(Empirical(draws[0]), nu)
    assert single.method.startswith("line")
    assert single.squared == pytest.approx(looped[0], rel=1e-13)
    source, target = single.potentials
    assert source is not None
    cost = ((draws[0][:, None] - nu.points[None]) ** 2).sum(axis=2)
    assert (cost - source[:, None] - target).min() >= -1e-12


def test_covariances_that_are_singular_but_for_rounding_are_the_line():
    """Edges that are nearly parallel cost the cells of the plane all digits: an interval was left.

    The second variance is 1e-17 of the first, or the atoms lie off their line by 1e-9.
    """
    for seed in range(12):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(12, 40))
        atoms, weights = rng.standard_normal((m, 2)), rng.dirichlet(np.full(m, 0.3))
        axis = rng.standard_normal(2)
        law = Gaussian([0.0, 0.0], np.outer(axis, axis))
        thin = np.outer(atoms[:, 0], axis) + 1e-9 * atoms
        for mu, places in ((law, atoms), (Gaussian([0.0, 0.0], np.eye(2)), thin)):
            nu = DiscreteMeasure(places, weights)
            result = w2(mu, nu)
            assert result.status is Status.OPTIMAL
            direction = axis / np.linalg.norm(axis)
            along = w2(mu.project(direction), nu.project(direction)).squared
            across = np.array([-direction[1], direction[0]])
            # The other coordinate is not seen by the plan but for 1e-16.
            rest = nu.project(across).second_moment + across @ mu.covariance @ across
            assert result.squared == pytest.approx(along + rest, abs=1e-12 * (along + rest))
