"""Plans of weighted points to few atoms: those of POT, whatever the start."""

from __future__ import annotations

import numpy as np
import ot
import pytest

from channelcode.transport.solvers.assignment import Assignment

# POT leaves flows of about 1e-14 of unequal masses unmoved; our plans keep the masses to 1e-15.
POT_ERROR = 2e-12


def best_correlation(scores: np.ndarray, masses: np.ndarray, weights: np.ndarray) -> float:
    return -float(np.asarray(ot.emd2(masses, weights, np.ascontiguousarray(-scores.T))))


def solved(
    samples: np.ndarray, masses: np.ndarray, atoms: np.ndarray, weights: np.ndarray
) -> tuple[Assignment, np.ndarray]:
    scores = np.ascontiguousarray(atoms @ samples.transpose(0, 2, 1))
    found = Assignment(len(samples), masses, atoms, weights)
    found.solve(scores, samples)
    return found, scores


def masses_of(rng: np.random.Generator, size: int, even: bool) -> np.ndarray:
    return np.full(size, 1 / size) if even else rng.dirichlet(np.ones(size))


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize(("size", "m"), [(3, 5), (50, 5), (333, 5), (333, 40), (20, 90), (2001, 3)])
def test_closed_and_best(rng, size, m, even):
    masses, weights = masses_of(rng, size, even), rng.dirichlet(np.full(m, 2.0))
    samples, atoms = rng.standard_normal((4, size, 3)), rng.standard_normal((m, 3))
    found, scores = solved(samples, masses, atoms, weights)
    assert found.closed.all()
    for table, low, high in zip(scores, found.primal, found.dual, strict=True):
        best = best_correlation(table, masses, weights)
        assert low == pytest.approx(best, abs=POT_ERROR)
        assert high == pytest.approx(best, abs=POT_ERROR)


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("m", [2, 7, 20])
@pytest.mark.parametrize("size", [200, 700])  # seven hundredths are no binary fractions
def test_plan_has_the_marginals_and_the_value(rng, m, even, size):
    masses, weights = masses_of(rng, size, even), rng.dirichlet(np.full(m, 2.0))
    samples, atoms = rng.standard_normal((1, size, 2)), rng.standard_normal((m, 2))
    found, scores = solved(samples, masses, atoms, weights)
    assert found.closed.all()
    point, atom, amount = found.plan()
    assert (amount >= 0).all()
    assert len(amount) == size + m - 1  # a vertex of the transport polytope
    np.testing.assert_allclose(np.bincount(point, amount, size), masses, atol=1e-15)
    np.testing.assert_allclose(np.bincount(atom, amount, m), weights, atol=1e-14)
    assert amount @ scores[0, atom, point] == pytest.approx(found.primal[0], abs=1e-13)
    assert found.primal[0] == pytest.approx(best_correlation(scores[0], masses, weights), abs=1e-12)


@pytest.mark.parametrize("size", [120, 512, 1000])
@pytest.mark.parametrize("m", [4, 16])
def test_ties(rng, size, m):
    """Samples of few values: every edge holds many points at once."""
    masses = np.full(size, 1 / size)
    for _ in range(10):
        weights = rng.dirichlet(np.ones(m))
        samples = rng.integers(-1, 2, (1, size, 3)).astype(float)
        atoms = rng.integers(-1, 2, (m, 3)).astype(float)
        found, scores = solved(samples, masses, atoms, weights)
        assert found.closed.all()
        best = best_correlation(scores[0], masses, weights)
        assert found.primal[0] == pytest.approx(best, abs=1e-12)


def test_hostile_shapes(rng):
    """Clusters, heavy tails, a tight half: Newton's method gets lost, the paths do not."""
    size = 1500
    half = np.where(rng.random((size, 1)) < 0.5, 1e-6, 1.0)
    shapes = (
        rng.integers(0, 3, (size, 1)) * 10.0 + 0.01 * rng.standard_normal((size, 2)),
        rng.standard_t(1.0, (size, 2)),
        half * rng.standard_normal((size, 2)) + 5,
    )
    masses = np.full(size, 1 / size)
    for samples in shapes:
        samples /= np.abs(samples).max()
        for m in (4, 30):
            atoms, weights = rng.standard_normal((m, 2)), rng.dirichlet(np.ones(m))
            found, scores = solved(samples[None], masses, atoms, weights)
            assert found.closed.all()
            best = best_correlation(scores[0], masses, weights)
            assert found.primal[0] == pytest.approx(best, abs=1e-12)


def test_one_point_goes_to_every_atom():
    masses, weights = np.ones(1), np.array([0.25, 0.75])
    samples, atoms = np.array([[[1.0, 2.0]], [[0.0, -1.0]]]), np.array([[1.0, 0.0], [0.0, 2.0]])
    found, scores = solved(samples, masses, atoms, weights)
    np.testing.assert_allclose(found.primal, (scores[:, :, 0] * weights).sum(axis=1), atol=1e-15)


def test_a_far_atom_that_the_plan_left_out_is_paid_for():
    """All points stay at the first atom: what the far one lacks was charged with their scores."""
    from channelcode._kernels.transport.samples.judge import judge

    light, far = 1e-6, 1e6
    scores = np.array([[1.0, -1.0], [-far, -far]])
    mass, weights, v = np.full(2, 0.5), np.array([1.0 - light, light]), np.array([0.0, -far])
    whole, none = np.zeros(2, dtype=np.int64), np.zeros((4, 1), dtype=np.int64)
    primal, dual, _ = judge(
        scores, mass, weights, v, whole, whole, 0, none, np.zeros(1), 0, np.empty((3, 2)),
        np.empty((2, 2)),
    )  # fmt: skip
    truth = (0.5 - 0.5 + light) - light * far  # the far atom takes from the point at -1
    assert primal <= truth <= dual
