"""`nearest` against brute force, for every kind of pool."""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.certificate import Status
from channelcode.errors import InvalidArgument
from channelcode.measures import (
    DiscreteMeasure,
    EmpiricalPool,
    FullPool,
    Gaussian,
    ScalarPool,
    ScaledPool,
)
from channelcode.transport import nearest, w2_squared


def random_pool(rng: np.random.Generator, size: int, dim: int) -> FullPool:
    spread = rng.lognormal(size=(size, 1, 1))
    factors = spread * rng.standard_normal((size, dim, dim)) / np.sqrt(dim)
    return FullPool(rng.standard_normal((size, dim)), factors @ factors.transpose(0, 2, 1))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    dim=st.sampled_from([2, 3, 5]),
    m=st.integers(2, 6),
    k=st.integers(1, 4),
)
def test_pruned_argmin_is_brute_force(seed, dim, m, k):
    rng = np.random.default_rng(seed)
    nu = DiscreteMeasure(rng.standard_normal((m, dim)), rng.dirichlet(np.full(m, 2.0)))
    pool = random_pool(rng, 60, dim)
    found = nearest(pool, nu, k=k)
    squared = w2_squared(pool, nu)
    np.testing.assert_array_equal(found.index, np.argsort(squared, kind="stable")[:k])
    np.testing.assert_allclose(found.squared, squared[found.index], rtol=1e-10)
    assert found.solves + found.pruned == 60


@pytest.mark.parametrize("regular", [True, False])
def test_few_solves_on_a_large_pool(rng, regular):
    if regular:
        nu = DiscreteMeasure.uniform([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    else:
        nu = DiscreteMeasure(rng.standard_normal((4, 3)), [0.1, 0.2, 0.3, 0.4])
    pool = random_pool(rng, 20_000, 3)
    found = nearest(pool, nu)
    assert found.solves <= 100  # half a percent
    assert found.pruned == 20_000 - found.solves
    # Brute force on the candidates that the loosest bound leaves; the rest cannot win.
    shift = pool.mean - nu.mean
    spread = (np.sqrt(pool.total_variance) - np.sqrt(np.trace(nu.covariance))) ** 2
    loosest = (shift**2).sum(axis=1) + spread
    close = np.flatnonzero(loosest <= found.squared[0] + 1e-9)
    best = close[np.argmin(w2_squared(pool[close], nu))]
    assert found.index[0] == best


@pytest.mark.parametrize(
    "pool",
    [
        ScalarPool([3.0, 0.1, 0.1, -2.0], [1.0, 0.5, 0.5, 1.0]),
        EmpiricalPool(np.random.default_rng(0).standard_normal((5, 40))),
    ],
    ids=["scalar", "samples"],
)
def test_the_line(pool):
    nu = DiscreteMeasure([-1.0, 0.0, 2.0], [0.2, 0.3, 0.5])
    squared = w2_squared(pool, nu)
    found = nearest(pool, nu, k=2)
    np.testing.assert_array_equal(found.index, np.argsort(squared, kind="stable")[:2])
    assert found.solves == len(pool)
    assert found.pruned == 0


def test_scaled_and_sample_pools(rng):
    nu = DiscreteMeasure(rng.standard_normal((4, 3)), [0.1, 0.2, 0.3, 0.4])
    factor = rng.standard_normal((3, 3))
    scaled = ScaledPool(rng.standard_normal((30, 3)), rng.uniform(0, 2, 30), factor @ factor.T)
    draws = EmpiricalPool(rng.standard_normal((30, 50, 3)) * rng.uniform(0.1, 3, (30, 1, 1)))
    for pool in (scaled, draws):
        squared = w2_squared(pool, nu)
        found = nearest(pool, nu, k=3)
        np.testing.assert_array_equal(found.index, np.argsort(squared, kind="stable")[:3])


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_ties_go_to_the_lowest_index(rng, dim):
    nu = DiscreteMeasure(rng.standard_normal((4, dim)), [0.25, 0.25, 0.25, 0.25])
    law = Gaussian(np.zeros(dim), np.eye(dim))
    far = Gaussian(np.full(dim, 9.0), np.eye(dim))
    found = nearest([far, law, far, law, law], nu, k=3)
    np.testing.assert_array_equal(found.index, [1, 3, 4])
    assert int(nearest([far, law, law], nu).index[0]) == 1


def test_duplicated_pool_keeps_the_first_copy(rng):
    nu = DiscreteMeasure(rng.standard_normal((4, 3)), [0.1, 0.2, 0.3, 0.4])
    pool = random_pool(rng, 200, 3)
    twice = FullPool(
        np.concatenate((pool.mean, pool.mean)), np.concatenate((pool.covariance, pool.covariance))
    )
    index = nearest(twice, nu, k=2).index
    assert index[0] < 200
    assert index[1] == index[0] + 200


@pytest.mark.parametrize("k", [0, 4, 1.0, True])
def test_k_is_checked(k):
    pool = ScalarPool([0.0, 1.0, 2.0], [1.0, 1.0, 1.0])
    with pytest.raises(InvalidArgument, match="k "):
        nearest(pool, DiscreteMeasure.symmetric(1.0), k=k)


def test_a_search_with_proved_distances_is_optimal(rng):
    nu = DiscreteMeasure(rng.standard_normal((3, 2)), [0.2, 0.3, 0.5])
    assert nearest(random_pool(rng, 40, 2), nu, k=3).status is Status.OPTIMAL
    # nothing to be wrong about: both laws are the same point
    at_zero = EmpiricalPool(np.zeros((3, 4, 2)))
    found = nearest(at_zero, DiscreteMeasure([[0.0, 0.0]], [1.0]))
    assert found.squared.tolist() == [0.0]
    assert found.status is Status.OPTIMAL


def test_what_was_found_cannot_be_changed(rng):
    found = nearest(random_pool(rng, 5, 2), DiscreteMeasure([[0.0, 1.0], [1.0, 0.0]], [0.5, 0.5]))
    with pytest.raises(FrozenInstanceError):
        found.solves = 0  # type: ignore[misc]


def test_small_pools_are_solved_once_and_without_bounds(monkeypatch):
    """Up to 16 candidates are solved at once: bounds exclude none, and cost solves of their own."""
    rng = np.random.default_rng(2)
    factor = rng.standard_normal((5, 4, 4))
    pool = FullPool(rng.standard_normal((5, 4)), factor @ factor.transpose(0, 2, 1))
    target = DiscreteMeasure.uniform(rng.standard_normal((6, 4)))

    def refuse(*_: object) -> None:
        raise AssertionError("no bound is needed")

    with monkeypatch.context() as no_bounds:
        no_bounds.setattr(sys.modules["channelcode.transport.nearest"], "GaussianBounds", refuse)
        found = nearest(pool, target, k=2)
    assert found.solves == 5
    assert found.pruned == 0
    values = w2_squared(pool, target)
    np.testing.assert_array_equal(found.index, np.argsort(values)[:2])
