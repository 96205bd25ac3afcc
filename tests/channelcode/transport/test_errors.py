"""Bad input is refused with the argument, the rule and the value."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, EmpiricalPool, Gaussian, ScalarPool
from channelcode.transport import (
    Line,
    Plane,
    bures_squared,
    dual_bound,
    nearest,
    projection_bound,
    w2,
    w2_squared,
)

LINE = DiscreteMeasure.symmetric(1.0)
PLANE = DiscreteMeasure.uniform([[0, 1], [1, 0], [-1, -1]])


def test_dimension_mismatch():
    with pytest.raises(InvalidArgument, match="nu must have dimension 1"):
        w2(Gaussian(0.0, 1.0), PLANE)
    with pytest.raises(InvalidArgument, match="target must have dimension 1"):
        w2_squared(ScalarPool([0.0], [1.0]), PLANE)
    with pytest.raises(InvalidArgument, match="target must have dimension 1"):
        nearest(ScalarPool([0.0], [1.0]), PLANE)
    with pytest.raises(InvalidArgument, match="pool must have dimension 1"):
        w2_squared([Gaussian(0.0, 1.0), Gaussian([0, 0], np.eye(2))], LINE)
    with pytest.raises(InvalidArgument, match="dimension"):
        bures_squared(Gaussian(0.0, 1.0), Gaussian([0, 0], np.eye(2)))


def test_covariances_must_be_positive_semidefinite():
    with pytest.raises(InvalidArgument, match=r"positive semidefinite.*eigenvalue -1\.0"):
        w2(Gaussian([0, 0], [[1.0, 2.0], [2.0, 1.0]]), PLANE)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_must_be_finite(bad):
    with pytest.raises(InvalidArgument, match="finite"):
        w2(Gaussian(bad, 1.0), LINE)
    with pytest.raises(InvalidArgument, match="finite"):
        w2_squared(EmpiricalPool([[0.0, bad]]), LINE)


def test_weights_must_sum_to_one():
    with pytest.raises(InvalidArgument, match="sum to one"):
        w2(Gaussian(0.0, 1.0), DiscreteMeasure([0.0, 1.0], [0.5, 0.6]))


def test_empty_pools():
    with pytest.raises(InvalidArgument, match="empty"):
        w2_squared([], LINE)
    with pytest.raises(InvalidArgument, match="empty"):
        nearest([], LINE)
    with pytest.raises(InvalidArgument, match="empty"):
        w2_squared(ScalarPool([], []), LINE)


def test_other_objects():
    with pytest.raises(InvalidArgument, match="mu must be"):
        w2([0.0, 1.0], LINE)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgument, match="target must be"):
        w2_squared(ScalarPool([0.0], [1.0]), [1.0])  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgument, match="pool must be"):
        w2_squared(Gaussian(0.0, 1.0), LINE)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgument, match="solver must be"):
        w2(Gaussian(0.0, 1.0), LINE, solver="line")  # pyright: ignore[reportArgumentType]


def test_a_solver_must_take_the_pair():
    with pytest.raises(InvalidArgument, match="solver must accept"):
        w2(Gaussian([0, 0], np.eye(2)), PLANE, solver=Line())
    with pytest.raises(InvalidArgument, match="solver must accept"):
        w2(Gaussian(0.0, 1.0), LINE, solver=Plane())


def test_bases_and_potentials_are_checked():
    law = Gaussian([0, 0], np.eye(2))
    with pytest.raises(InvalidArgument, match="orthonormal"):
        projection_bound(law, PLANE, basis=[[1.0, 1.0], [0.0, 1.0]])
    with pytest.raises(InvalidArgument, match="potential must have length 3"):
        dual_bound(law, PLANE, [0.0, 1.0])
