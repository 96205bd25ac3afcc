"""No unit matters, to any solver and any pool; sizes beyond squares are refused in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from channelcode import (
    DiscreteMeasure,
    Empirical,
    EmpiricalPool,
    FullPool,
    Gaussian,
    InvalidArgument,
    Measure,
    ScalarPool,
    ScaledPool,
    nearest,
    w2,
    w2_squared,
    wasserstein_line,
)
from channelcode.transport import (
    Bures,
    EarthMover,
    ExactFlow,
    Line,
    Median,
    Plane,
    QuasiMonteCarlo,
    SemiDual,
    Simplex,
    Solver,
    Space,
    solvers,
)
from tests.channelcode.transport.hostile import exponents

RNG = np.random.default_rng(3)


def some(m: int, dim: int) -> DiscreteMeasure:
    points = RNG.standard_normal((m, dim) if dim > 1 else m)
    return DiscreteMeasure(points, RNG.dirichlet(np.full(m, 2.0)))


def gaussian(dim: int) -> Gaussian:
    factor = RNG.standard_normal((dim, dim))
    return Gaussian(RNG.standard_normal(dim), factor @ factor.T)


def light(m: int, dim: int) -> DiscreteMeasure:
    """Some atoms so light that they get nodes of their own."""
    weights = RNG.dirichlet(np.full(m, 2.0)) * np.where(np.arange(m) < 2, 1e-4, 1.0)
    return DiscreteMeasure(RNG.standard_normal((m, dim)), weights / weights.sum())


CASES: list[tuple[Solver, Measure, Measure]] = [
    (Line(), Gaussian(0.4, 1.7), some(4, 1)),
    (Line(), Empirical(RNG.standard_normal(20)), some(5, 1)),
    (Line(), gaussian(3), some(2, 3)),
    (Median(), Empirical(RNG.standard_normal(9)), DiscreteMeasure.symmetric(0.7)),
    (Bures(), gaussian(3), gaussian(3)),
    (Plane(), gaussian(2), some(5, 2)),
    (Plane(), gaussian(4), some(3, 4)),
    (Simplex(), Gaussian(np.ones(4), 2 * np.eye(4)), DiscreteMeasure.uniform(np.eye(4))),
    (Space(), gaussian(3), some(5, 3)),
    (QuasiMonteCarlo(), gaussian(4), some(6, 4)),
    (QuasiMonteCarlo(), gaussian(4), light(6, 4)),
    (SemiDual(), Empirical(RNG.standard_normal((40, 3))), some(5, 3)),
    (EarthMover(), Empirical(RNG.standard_normal((30, 2))), some(9, 2)),
    (ExactFlow(), Empirical(RNG.standard_normal((30, 2))), some(6, 2)),
]


def test_every_solver_is_in_the_list():
    given = {type(solver) for solver, _, _ in CASES}
    members = (getattr(solvers, name) for name in solvers.__all__)
    assert given == {member for member in members if hasattr(member, "propose")}


def full(n: int, dim: int) -> FullPool:
    factors = RNG.standard_normal((n, dim, dim))
    return FullPool(RNG.standard_normal((n, dim)), factors @ factors.transpose(0, 2, 1))


def weighted(draws: np.ndarray) -> EmpiricalPool:
    return EmpiricalPool(draws, weights=RNG.integers(0, 4, draws.shape[1]) + 1.0)


SHAPE = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 0.5]])
POOLS: dict[str, tuple[Any, DiscreteMeasure]] = {
    "scalar": (ScalarPool(RNG.standard_normal(9), RNG.exponential(size=9)), some(3, 1)),
    "scaled": (ScaledPool(RNG.standard_normal((9, 3)), RNG.exponential(size=9), SHAPE), some(4, 3)),
    "full, rank one": (full(9, 3), some(2, 3)),
    "full, rank two": (full(9, 3), some(3, 3)),
    "full, rank three": (full(9, 3), some(5, 3)),
    "full, rank four": (full(9, 4), some(7, 4)),
    "full, rank four, light atoms": (full(5, 4), light(7, 4)),
    "table": (full(10_000, 2), some(3, 2)),
    "draws on the line": (EmpiricalPool(RNG.standard_normal((9, 30))), some(3, 1)),
    "draws, two atoms": (EmpiricalPool(RNG.standard_normal((9, 30, 3))), some(2, 3)),
    "two draws": (EmpiricalPool(RNG.standard_normal((9, 2, 3))), some(4, 3)),
    "draws": (EmpiricalPool(RNG.standard_normal((9, 40, 3))), some(5, 3)),
    "draws, many atoms": (EmpiricalPool(RNG.standard_normal((3, 80, 3))), some(66, 3)),
    "weighted draws": (weighted(RNG.standard_normal((9, 40, 2))), some(5, 2)),
    "weighted draws on the line": (weighted(RNG.standard_normal((9, 40))), some(4, 1)),
    "laws": ([gaussian(2), Empirical(RNG.standard_normal((20, 2)))], some(4, 2)),
}


def scaled(law: Any, unit: float) -> Any:
    """A law, a pool or a list of laws times `unit`."""
    if isinstance(law, Gaussian):
        return Gaussian(np.asarray(law.mean) * unit, np.asarray(law.covariance) * unit**2)
    if isinstance(law, DiscreteMeasure):
        atoms = law.points[:, 0] if law.dim == 1 else law.points
        return DiscreteMeasure(atoms * unit, law.weights)
    if isinstance(law, EmpiricalPool):
        return EmpiricalPool(law.samples * unit, weights=law.weights)
    if isinstance(law, ScalarPool):
        return ScalarPool(law.mean * unit, law.covariance * unit**2)
    if isinstance(law, ScaledPool):
        return ScaledPool(law.mean * unit, law.scale * unit**2, law.shape)
    if isinstance(law, FullPool):
        return FullPool(law.mean * unit, law.covariance * unit**2)
    if isinstance(law, Sequence):
        return [scaled(part, unit) for part in law]
    raise TypeError(law)


@pytest.mark.parametrize(
    ("solver", "mu", "nu"), CASES, ids=lambda x: type(x).__name__ if hasattr(x, "propose") else ""
)
@settings(max_examples=6)
@given(power=exponents)
def test_units_do_not_matter(solver, mu, nu, power):
    """Times 2^k, |k| <= 400: the same value, bounds, status and number of steps."""
    unit = 2.0**power
    plain, other = w2(mu, nu, solver=solver), w2(scaled(mu, unit), scaled(nu, unit), solver=solver)
    # The same numbers but for the last bits, which the weights' normalisation and BLAS may change.
    for name in ("squared", "lower", "upper"):
        expected = getattr(plain, name) * unit**2
        assert getattr(other, name) == pytest.approx(expected, rel=1e-9)
    assert other.squared == pytest.approx(plain.squared * unit**2, rel=1e-12)
    assert other.status is plain.status
    assert other.stats.steps == plain.stats.steps


@pytest.mark.parametrize("name", POOLS)
@settings(max_examples=4)
@given(power=exponents)
def test_units_do_not_matter_to_pools(name, power):
    """Every pool and `nearest`: times 2^k, |k| <= 400, the same values and the same winners."""
    unit = 2.0**power
    pool, nu = POOLS[name]
    other, target = scaled(pool, unit), scaled(nu, unit)
    expected = unit**2 * w2_squared(pool, nu)
    # Cancellation of a value far below the scale may show the last bits of the change of unit.
    np.testing.assert_allclose(w2_squared(other, target), expected, rtol=1e-9)
    best, plain = nearest(other, target), nearest(pool, nu)
    assert best.index.tolist() == plain.index.tolist()
    assert best.status is plain.status
    assert best.solves == plain.solves


@pytest.mark.parametrize("size", [1e154, 1e160, 1e200, 1e300])
def test_sizes_whose_squares_are_no_numbers_are_refused(size):
    """Atoms of 1e160 raised a raw `OverflowError`."""
    triangle = size * np.array([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
    far, law = DiscreteMeasure.uniform(triangle), Gaussian([0.0, 0.0], np.eye(2))
    near = DiscreteMeasure.uniform([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    draws = np.random.default_rng(0).standard_normal((3, 5, 2))
    with pytest.raises(InvalidArgument, match="finite"):
        w2(law, far)
    with pytest.raises(InvalidArgument, match="finite"):
        w2(Empirical(draws[0]), far)
    for call in (w2_squared, nearest):
        with pytest.raises(InvalidArgument, match="finite"):
            call(EmpiricalPool(draws), far)
        with pytest.raises(InvalidArgument, match="finite"):
            call(EmpiricalPool(draws * size), near)
        with pytest.raises(InvalidArgument, match="finite"):
            call(FullPool(np.full((3, 2), size), np.stack([np.eye(2)] * 3)), near)


def test_distances_on_the_line_need_no_squares():
    assert wasserstein_line(Empirical([0.0, 1e160]), Empirical([0.0, 3e160]), p=2) == pytest.approx(
        np.sqrt(2) * 1e160
    )
