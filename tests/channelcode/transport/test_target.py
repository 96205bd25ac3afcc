"""A target in its own span."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode.measures import (
    DiscreteMeasure,
)
from channelcode.transport.target import reduce_target


def test_atoms_are_rebuilt_from_the_span(rng):
    plane = rng.standard_normal((2, 4))
    atoms = rng.standard_normal((5, 2)) @ plane + [1.0, 2.0, 3.0, 4.0]
    reduced = reduce_target(DiscreteMeasure(atoms, [0.1, 0.2, 0.3, 0.2, 0.2]), to_gaussian=True)
    assert reduced.rank == 2
    rebuilt = reduced.unit * (reduced.points @ reduced.basis.T) + reduced.mean
    np.testing.assert_allclose(rebuilt[reduced.groups], atoms, atol=1e-12)
    np.testing.assert_allclose(reduced.basis.T @ reduced.basis, np.eye(2), atol=1e-14)
    assert reduced.weights @ (reduced.points**2).sum(axis=1) == pytest.approx(reduced.variance)


def test_equal_and_massless_atoms():
    nu = DiscreteMeasure([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [5.0, 5.0]], [0.2, 0.3, 0.5, 0.0])
    reduced = reduce_target(nu, to_gaussian=True)
    assert reduced.rank == 1
    assert len(reduced.weights) == 2
    assert reduced.groups[0] == reduced.groups[2]
    assert reduced.groups[3] == -1
    assert reduced.weights[reduced.groups[0]] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("m", "dim", "rank"), [(1, 3, 0), (2, 3, 1), (3, 5, 2), (4, 2, 2), (1, 1, 0)]
)
def test_rank(rng, m, dim, rank):
    reduced = reduce_target(
        DiscreteMeasure.uniform(rng.standard_normal((m, dim)) + 100.0), to_gaussian=True
    )
    assert reduced.rank == rank


def test_the_heaviest_atom_is_never_a_light_one():
    """Beside a mass of 1e-30 at distance one a Gaussian sees a single atom."""
    reduced = reduce_target(DiscreteMeasure([[0.0], [1.0]], [1.0, 1e-30]), to_gaussian=True)
    assert reduced.weights.tolist() == [1.0]
    assert reduced.groups.tolist() == [0, -1]
    assert 0 < reduced.lost < 1e-12
