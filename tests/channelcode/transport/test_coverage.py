"""The 99.9 % interval of rank three and more covers, on hostile problems with known answers."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from channelcode import DiscreteMeasure, Gaussian, w2
from channelcode.transport import QuasiMonteCarlo, certify, expected_maximum
from channelcode.transport.problem import Problem

Case = tuple[Gaussian, DiscreteMeasure, float]


def product(rng: np.random.Generator, sides: list[DiscreteMeasure], spread: float) -> Case:
    """Independent parts in a turned frame: W2^2 is the sum of theirs, each exact."""
    laws = []
    for side in sides:
        factor = rng.standard_normal((side.dim, side.dim))
        size = np.exp(spread * rng.standard_normal())
        if side.dim == 1:
            laws.append(Gaussian(0.0, size**2))
        else:
            laws.append(Gaussian(np.zeros(side.dim), size**2 * factor @ factor.T))
    exact = sum(w2(law, side).squared for law, side in zip(laws, sides))
    dim = sum(side.dim for side in sides)
    covariance, start = np.zeros((dim, dim)), 0
    for law in laws:
        part = slice(start, start + law.dim)
        covariance[part, part] = law.covariance
        start += law.dim
    index = np.indices([len(side) for side in sides]).reshape(len(sides), -1)
    atoms = np.concatenate([side.points[i] for side, i in zip(sides, index)], axis=1)
    weights = np.prod([side.weights[i] for side, i in zip(sides, index)], axis=0)
    turn = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    turned = turn @ covariance @ turn.T
    law = Gaussian(np.zeros(dim), 0.5 * (turned + turned.T))
    return law, DiscreteMeasure(atoms @ turn.T, weights / weights.sum()), float(exact)


def far_side(rng: np.random.Generator) -> DiscreteMeasure:
    """Two atoms on the line; the lighter, down to 1e-6, may be far away."""
    light = 10.0 ** rng.uniform(-6.0, np.log10(0.5))
    far = rng.choice([1.0, 1.0, 10.0, 1.0 / np.sqrt(light)])
    return DiscreteMeasure([0.0, far * (0.5 + rng.random())], [1 - light, light])


def lines(rng: np.random.Generator) -> Case:
    """Boxes with light far corners in R^4 and R^5, 16 and 32 atoms."""
    return product(rng, [far_side(rng) for _ in range(rng.integers(4, 6))], 0.7)


def planes(rng: np.random.Generator) -> Case:
    """A planar target of three or four atoms, Dirichlet(.05), times two lines: rank four."""
    m = int(rng.integers(3, 5))
    weights = np.maximum(rng.dirichlet(np.full(m, 0.05)), 1e-12)
    atoms = rng.standard_normal((m, 2))
    atoms[weights < 1e-2] *= rng.choice([1.0, 10.0, 100.0])
    plane = DiscreteMeasure(atoms, weights / weights.sum())
    return product(rng, [plane, far_side(rng), far_side(rng)], 0.5)


def cubes(rng: np.random.Generator) -> Case:
    """The corners of a box in R^6, 64 atoms."""
    sides = [DiscreteMeasure.symmetric(float(t)) for t in rng.uniform(0.2, 2.0, 6)]
    return product(rng, sides, 0.5)


def simplices(rng: np.random.Generator) -> Case:
    """Regular simplices of five to thirty atoms; moved by 1e-9 so that no formula takes them."""
    size = int(rng.integers(5, 31))
    atoms = np.eye(size) + 1e-9 * rng.standard_normal((size, size))
    # W2^2 = tr I + tr Cov T - 2 rho and the shift, with rho = e_K.
    exact = 1 / size + size + (1 - 1 / size) - 2 * expected_maximum(size)
    return Gaussian(np.zeros(size), np.eye(size)), DiscreteMeasure.uniform(atoms), exact


def fair(rng: np.random.Generator) -> Case:
    """Lines and planes of two to five atoms, none of them light: what plain points are used for."""
    sides: list[DiscreteMeasure] = []
    while sum(side.dim for side in sides) < 4:
        size, dim = (int(rng.integers(3, 6)), 2) if rng.random() < 0.3 else (rng.integers(2, 5), 1)
        weights = 0.96 * rng.dirichlet(np.ones(size)) + 0.04 / size
        sides.append(DiscreteMeasure(rng.standard_normal((size, dim)), weights))
    return product(rng, sides, 0.6)


def corners(deviations: list[float], light: list[float], far: list[float]) -> Case:
    """The corners of a box along the axes: zero, or `far` with the weight `light`."""
    sides = [DiscreteMeasure([0.0, y], [1 - w, w]) for w, y in zip(light, far)]
    exact = sum(w2(Gaussian(0.0, s**2), side).squared for s, side in zip(deviations, sides))
    index = np.indices((2,) * len(sides)).reshape(len(sides), -1)
    atoms = np.stack([side.points[i, 0] for side, i in zip(sides, index)], axis=1)
    weights = np.prod([side.weights[i] for side, i in zip(sides, index)], axis=0)
    law = Gaussian(np.zeros(len(sides)), np.diag(np.square(deviations)))
    return law, DiscreteMeasure(atoms, weights / weights.sum()), float(exact)


def edges(rng: np.random.Generator) -> Case:
    """Boxes in R^4 and R^5 with light corners, about half of the sides up to 160 long."""
    dim = int(rng.integers(4, 6))
    far = rng.random(dim) < 0.5
    light = np.where(far, 10.0 ** rng.uniform(-8, -2, dim), rng.uniform(0.05, 0.5, dim))
    length = np.where(far, 10.0 ** rng.uniform(0.3, 2.2, dim), rng.uniform(0.5, 2.0, dim))
    law, nu, exact = corners(
        list(np.exp(0.4 * rng.standard_normal(dim))), list(light), list(length)
    )
    turn = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    turned = turn @ law.covariance @ turn.T
    turned_law = Gaussian(np.zeros(dim), 0.5 * (turned + turned.T))
    return turned_law, DiscreteMeasure(nu.points @ turn.T, nu.weights), exact


def light(rng: np.random.Generator) -> tuple[Gaussian, DiscreteMeasure]:
    """R^6, ten atoms, Dirichlet(.05) weights, the light ones far away."""
    atoms, weights = rng.standard_normal((10, 6)), rng.dirichlet(np.full(10, 0.05))
    far = np.argsort(weights)[: 3 + rng.integers(6)]
    atoms[far] *= rng.choice([1.0, 10.0, 100.0, 1000.0])
    factor = rng.standard_normal((6, 6))
    return Gaussian(rng.standard_normal(6), factor @ factor.T), DiscreteMeasure(atoms, weights)


def missed(case: Callable[[np.random.Generator], Case], count: int, seed: int) -> int:
    total = 0
    for child in np.random.SeedSequence(seed).spawn(count):
        law, nu, exact = case(np.random.default_rng(child))
        result = w2(law, nu)
        assert result.status.name in ("BOUND_ONLY", "OPTIMAL")
        slack = 1e-9 * result.problem.scale  # of the simplices' perturbation, and of rounding
        total += not result.lower - slack <= exact <= result.upper + slack
    return total


@pytest.mark.parametrize("case", [lines, planes, cubes, simplices, fair, edges])
def test_intervals_cover_known_answers(case):
    """At 99.9 % one miss in twelve would be one in eighty runs; the seeds are fixed."""
    assert missed(case, 3, 7) == 0


def test_cells_of_less_than_a_point_are_not_noise():
    """A whole point for a cell of 6e-7 at a distance of 100 made the interval 27 % wide."""
    law, nu, exact = corners([1.0] * 4, [1e-8, 1e-7, 1e-6, 0.4], [100.0, 90.0, 80.0, 1.0])
    result = w2(law, nu)
    assert result.lower <= exact <= result.upper
    assert result.gap < 0.02 * exact


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "count"),
    [(lines, 500), (planes, 600), (cubes, 50), (simplices, 150), (fair, 500), (edges, 1000)],
)
def test_coverage_against_closed_forms(case, count):
    """Expected is one miss in a thousand; light cells that no point had seen missed one in 80.

    Of fair ones plain points missed one in 285 before their errors were widened.
    """
    assert missed(case, count, 11) <= 1 + count // 500


@pytest.mark.slow
def test_coverage_with_light_far_atoms(monkeypatch):
    """700 more, against eight times as many points of other scrambles."""
    wrong = 0
    for child in np.random.SeedSequence(12).spawn(700):
        law, nu = light(np.random.default_rng(child))
        result = w2(law, nu)
        if result.status.ok:
            continue
        problem = Problem(law, nu)
        finer = QuasiMonteCarlo(points=1024, rng=77)
        with monkeypatch.context() as other:
            other.setattr(sys.modules[certify.__module__], "JUDGE_SEED", 1234)
            truth = certify(problem, finer.propose(problem, tol=1.0), points=1024)
        wrong += truth.lower > result.upper or truth.upper < result.lower
    assert wrong <= 2
