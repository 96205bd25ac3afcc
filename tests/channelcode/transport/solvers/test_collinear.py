"""Collinear atoms in R^k are the line case."""

from __future__ import annotations

import numpy as np
import pytest

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
