"""Pools with a closed form: the values, and bounds that hold on both sides of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.measures import DiscreteMeasure, EmpiricalPool, FullPool, ScalarPool, ScaledPool
from channelcode.transport import nearest

RHO = np.sqrt(2 / np.pi)  # E |Z|


def two_atoms(
    dim: int, radius: float, rng: np.random.Generator
) -> tuple[DiscreteMeasure, np.ndarray, np.ndarray]:
    """Atoms at c +- radius u with equal weights, and c, u as arrays."""
    centre, direction = rng.standard_normal(dim), rng.standard_normal(dim)
    direction /= np.linalg.norm(direction)
    atoms = np.array([centre - radius * direction, centre + radius * direction])
    law = DiscreteMeasure(atoms if dim > 1 else atoms[:, 0], [0.5, 0.5])
    return law, centre, direction


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 3, 5]), st.floats(0.01, 30))
def test_gaussians_against_two_atoms(seed, dim, radius):
    """|m - c|^2 + tr S + r^2 - 2 r sqrt(2/pi) sqrt(u'Su), and bounds around it."""
    rng = np.random.default_rng(seed)
    target, centre, direction = two_atoms(dim, radius, rng)
    means = centre + rng.standard_normal((7, dim))
    factors = rng.standard_normal((7, dim, dim))
    spreads = factors @ factors.transpose(0, 2, 1)
    if dim == 1:
        pool = ScalarPool(means[:, 0], spreads[:, 0, 0])
    elif seed % 2:
        scales = rng.uniform(0.1, 3, size=7)
        spreads = scales[:, None, None] * spreads[0]
        pool = ScaledPool(means, scales, spreads[0] / scales[0])
    else:
        pool = FullPool(means, spreads)
    along = np.sqrt(np.einsum("i,nij,j->n", direction, spreads, direction))
    shift = np.square(means - centre).sum(axis=1)
    traces = np.trace(spreads, axis1=1, axis2=2)
    expected = shift + traces + radius**2 - 2 * radius * RHO * along
    found = nearest(pool, target, k=7)
    assert sorted(found.index.tolist()) == list(range(7))
    # the terms cancel to a share of their sum
    scale = 1e-12 * (shift + traces + radius**2)[found.index]
    assert (np.abs(found.squared - expected[found.index]) <= scale).all()
    assert (found.lower <= found.squared).all()
    assert (found.squared <= found.upper).all()
    assert (found.lower < found.upper).all()  # rounding has room
    assert (found.upper - found.lower <= scale).all()


@pytest.mark.parametrize("dim", [1, 3])
def test_a_law_on_the_target_is_at_distance_zero(dim):
    """Nothing between the two: the lower bound must not rise above the truth, which is zero."""
    atoms = np.array([[-1.0] * dim, [2.0] * dim])
    target = DiscreteMeasure(atoms if dim > 1 else atoms[:, 0], [0.5, 0.5])
    draws = np.stack([atoms, atoms + 1.0])
    found = nearest(EmpiricalPool(draws if dim > 1 else draws[:, :, 0]), target, k=2)
    assert found.index.tolist() == [0, 1]
    np.testing.assert_allclose(found.squared, [0.0, dim], atol=1e-12)
    assert found.lower[0] == 0.0
    assert found.lower[1] < dim < found.upper[1]
    point = DiscreteMeasure(atoms[:1] if dim > 1 else atoms[:1, 0], [1.0])
    means = atoms if dim > 1 else atoms[:, 0]
    none = np.zeros((2, dim, dim)) if dim > 1 else np.zeros(2)
    pool = FullPool(means, none) if dim > 1 else ScalarPool(means, none)
    alone = nearest(pool, point, k=2)
    assert (alone.squared[0], alone.lower[0]) == (0.0, 0.0)
    assert alone.squared[1] == pytest.approx(9.0 * dim)
