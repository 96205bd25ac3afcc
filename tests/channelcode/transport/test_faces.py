"""Cells in R^3 from integrals along their edges: boxes, other formulas, ties, doubt."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from channelcode import DiscreteMeasure, FullPool, Gaussian, w2, w2_squared
from channelcode._kernels.transport.edges import cell_edges
from channelcode._kernels.transport.space.face_pool import UNSURE, face_judge
from channelcode._kernels.transport.space.faces import face_cells, split_cells
from channelcode.transport.certify import SLAB_DOUBT, space_judge
from channelcode.transport.solvers import Space

CUBE = np.array(list(product((-1.0, 1.0), repeat=3)))


def turn_of(rng: np.random.Generator) -> np.ndarray:
    return np.linalg.qr(rng.standard_normal((3, 3)))[0]


def cells(
    atoms: np.ndarray, v: np.ndarray
) -> tuple[float, float, np.ndarray, np.ndarray, np.ndarray]:
    """E max, doubt, masses, their derivatives and moments."""
    m = len(v)
    mass, hessian, moment = np.empty(m), np.empty((m, m)), np.empty((m, 3))
    found = split_cells(np.ascontiguousarray(atoms), np.zeros(m), v, mass, hessian, moment)
    return *found, mass, hessian, moment


@pytest.mark.parametrize("sizes", [(1.0, 1.0, 1.0), (2.0, 0.3, 1e-3), (1.0, 1e-3, 1e-6)])
@pytest.mark.parametrize("cuts", [([0.3], [-0.5, 0.8], [0.0]), ([0.0], [0.0], [0.0])])
@pytest.mark.parametrize("turned", [False, True])
def test_boxes(rng, sizes, cuts, turned):
    """A grid of atoms has boxes as cells, four to every edge, and all of them at the mean."""
    lines = [s * np.arange(len(c) + 1.0) for s, c in zip(sizes, cuts, strict=True)]
    heights = [np.append(0.0, np.cumsum(s * np.array(c))) for s, c in zip(sizes, cuts, strict=True)]
    masses = [np.diff(norm.cdf(np.concatenate(([-np.inf], c, [np.inf])))) for c in cuts]
    atoms = np.array(list(product(*lines)))
    v = np.array([sum(parts) for parts in product(*heights)])
    exact = np.array([np.prod(parts) for parts in product(*masses)])
    if turned:
        atoms = atoms @ turn_of(rng).T
    emax, doubt, mass, _, _ = cells(atoms, v)
    assert doubt <= UNSURE
    # Rounding of a potential, 1e-16, moves a face between atoms 1e-6 apart by 1e-10 deviations.
    np.testing.assert_allclose(mass, exact, atol=4e-15 + 1e-15 / min(sizes))
    # E (x - c)_+ summed over the cuts
    by_axis = [s * (norm.pdf(c) - c * norm.sf(c)).sum() for s, c in zip(sizes, map(np.array, cuts))]
    assert emax == pytest.approx(sum(by_axis), abs=1e-14)


@pytest.mark.parametrize("size", [0.0, 1e-17, 1e-13, 1e-9])
def test_potentials_that_tie_to_rounding(rng, size):
    """All eight cells of a turned cube meet at the mean, but for noise of any size."""
    for _ in range(20):
        emax, doubt, mass, _, _ = cells(CUBE @ turn_of(rng).T, size * rng.standard_normal(8))
        assert doubt <= UNSURE
        # A face moves by half the difference of two potentials.
        np.testing.assert_allclose(mass, 0.125, atol=1e-15 + 3 * size)
        assert emax == pytest.approx(3 * np.sqrt(2 / np.pi), abs=1e-14 + 3 * size)


def planes(atoms: np.ndarray, v: np.ndarray, count: int) -> tuple[float, np.ndarray]:
    """E max and masses by exact planes and the trapezoid rule: slow, and another formula."""
    m = len(v)
    mass, part, flat, slope = np.zeros(m), np.empty(m), np.empty((m, 2)), np.empty((m, m))
    heights = np.linspace(-8.5, 8.5, count)
    shares = norm.pdf(heights)
    shares /= shares.sum()
    total = 0.0
    for z, share in zip(heights, shares, strict=True):
        level = v - z * atoms[:, 2]
        value = cell_edges(atoms, level, part, flat, slope)
        total += share * (value - part @ level)
        mass += share * part
    return total, mass


@pytest.mark.parametrize("m", [4, 6, 9, 12])
def test_cells_against_planes_and_differences(rng, m):
    atoms, v = rng.standard_normal((m, 3)), 0.3 * rng.standard_normal(m)
    emax, doubt, mass, hessian, moment = cells(atoms, v)
    assert doubt < 1e-10
    total, parts = planes(atoms, v, 4001)
    # A jump of the third (value: fourth) derivative times the step, 0.00425, to the third power.
    np.testing.assert_allclose(mass, parts, atol=1e-8)
    assert emax == pytest.approx(total, abs=1e-9)
    assert mass.sum() == pytest.approx(1.0, abs=1e-14)
    assert (moment * atoms).sum() - v @ mass == pytest.approx(emax, abs=1e-7)
    step = 1e-5
    for j in range(m):
        ahead, behind = v.copy(), v.copy()
        ahead[j] += step
        behind[j] -= step
        slope = (cells(atoms, ahead)[2] - cells(atoms, behind)[2]) / (2 * step)
        # Central differences: a third derivative times 1e-10, and jumps of it.
        np.testing.assert_allclose(slope, -hessian[:, j], atol=1e-6)


def test_light_cells_keep_their_digits():
    """A half-space of mass 1e-12 beside the octants of three cuts through the origin."""
    atoms = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 5.0]])
    _, _, mass, _, _ = cells(atoms, np.array([0.0, 0.0, 0.0, 35.0]))
    # x_3 > 7 where the first cell holds, and a little more elsewhere: the slopes 1 / 5 and 1 / 5.
    assert 0.2 * norm.sf(7.0) < mass[3] < norm.sf(7.0)
    assert mass[0] == pytest.approx(0.25, abs=1e-10)


def test_doubt_where_rounding_decides():
    """Four cells on a line, not taken apart: infinite doubt instead of numbers."""
    mass, hessian, moment = np.empty(8), np.empty((8, 8)), np.empty((8, 3))
    assert face_cells(CUBE, np.zeros(8), mass, hessian, moment)[1] == np.inf
    atoms = CUBE * [1.0, 1.0, 1e-11]
    assert cells(atoms, atoms @ [0.3, 0.1, 0.2])[1] == np.inf


def test_slabs_take_over_in_doubt(rng):
    """Layers 1e-11 apart: no value from the edges, and that of the slabs, with their error."""
    thin = CUBE * [1.0, 1.0, 1e-11]
    atoms, weights = np.stack((thin, rng.standard_normal((8, 3)))), np.full(8, 0.125)
    v = np.stack((thin @ [0.3, 0.1, 0.2], 0.1 * rng.standard_normal(8)))
    _, _, doubt = face_judge(atoms, weights, v)
    dual, loss, granted = space_judge(atoms, weights, v)
    assert doubt[0] == np.inf
    assert granted[0] == SLAB_DOUBT
    assert granted[1] == doubt[1] < 1e-10
    # Two independent cuts of the plane, at .3 and .1, and one that does not count: E |x - c|.
    cuts = np.array([0.3, 0.1])
    exact = (2 * norm.pdf(cuts) + cuts * (1 - 2 * norm.sf(cuts))).sum()
    assert dual[0] == pytest.approx(exact, abs=1e-10)
    assert (loss > 0).all()
    potentials, steps = Space().potentials(atoms, weights)
    assert (steps > 0).all()
    assert np.ptp(potentials[0]) == pytest.approx(0.0, abs=1e-8)  # by symmetry


def test_atoms_that_coincide_are_judged_as_one(rng):
    atoms, weights = rng.standard_normal((5, 3)), np.array([0.1, 0.2, 0.3, 0.1, 0.3])
    atoms[4] = atoms[2]
    v = 0.1 * rng.standard_normal(5)
    v[4] = v[2]
    whole = face_judge(atoms[None], weights, v[None])
    parts = face_judge(atoms[None, :4], np.array([0.1, 0.2, 0.6, 0.1]), v[None, :4])
    np.testing.assert_allclose(whole, parts, rtol=1e-12)
    v[4] += 1e-3
    assert face_judge(atoms[None], weights, v[None])[2][0] == np.inf


@pytest.mark.parametrize("turned", [False, True])
def test_products(rng, turned):
    """Independent coordinates: W2^2 is the sum of those on the lines, alone and in a pool."""
    for _ in range(5):
        sides = [
            DiscreteMeasure(np.sort(rng.standard_normal(n)), rng.dirichlet(np.full(n, 2.0)))
            for n in (2, 3, 2)
        ]
        deviations = 10 ** rng.uniform(-2, 1, 3)
        exact = sum(w2(Gaussian(0.0, s**2), side).squared for s, side in zip(deviations, sides))
        turn = turn_of(rng) if turned else np.eye(3)
        atoms = np.array(list(product(*(side.atoms for side in sides)))) @ turn.T
        weights = np.array([np.prod(w) for w in product(*(side.weights for side in sides))])
        covariance = turn @ np.diag(deviations**2) @ turn.T
        covariance = 0.5 * (covariance + covariance.T)
        nu = DiscreteMeasure(atoms, weights / weights.sum())
        scale = np.trace(covariance) + np.trace(nu.covariance)
        found = w2_squared(FullPool(np.zeros((1, 3)), covariance[None]), nu)[0]
        # 1e-14 was seen in 100 products.
        assert found == pytest.approx(exact, abs=1e-12 * scale)
        single = w2(Gaussian(np.zeros(3), covariance), nu)
        assert single.squared == pytest.approx(exact, abs=1e-12 * scale)
