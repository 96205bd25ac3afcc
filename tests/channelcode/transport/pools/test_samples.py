"""Pools of samples: any number of atoms, any weights, any units."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import (
    Channel,
    Cloglog,
    DiscreteMeasure,
    Empirical,
    EmpiricalPool,
    Lapse,
    Logistic,
    Ordinal,
    mutual_information,
    nearest,
    w2,
    w2_squared,
)
from channelcode.transport.pool import judged_pool
from tests.channelcode.transport.oracles import emd_squared, exact_cost


@pytest.mark.parametrize("m", [2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 66, 70, 127, 128, 129])
def test_any_number_of_atoms(m):
    """65 atoms gave .0751 for .2020, and 66 and more ended the process: 64 slots were overrun."""
    rng = np.random.default_rng(m)
    nu = DiscreteMeasure(rng.standard_normal((m, 2)), rng.dirichlet(np.ones(m)))
    draws = rng.standard_normal((3, 80, 2))
    pool = EmpiricalPool(draws)
    looped = [emd_squared(Empirical(x), nu) for x in draws]
    np.testing.assert_allclose(w2_squared(pool, nu), looped, rtol=1e-11)
    assert int(nearest(pool, nu).index[0]) == int(np.argmin(looped))


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), dim=st.integers(1, 3), m=st.integers(1, 6))
def test_weights_are_repeated_or_absent_samples(seed, dim, m):
    rng = np.random.default_rng(seed)
    nu = DiscreteMeasure(rng.standard_normal((m, dim)), rng.dirichlet(np.ones(m)))
    draws, counts = rng.standard_normal((4, 7, dim)), rng.integers(0, 4, 7)
    counts[rng.integers(7)] += 1
    weighted, repeated = (
        EmpiricalPool(draws, counts),
        EmpiricalPool(np.repeat(draws, counts, axis=1)),
    )
    expected = w2_squared(repeated, nu)
    np.testing.assert_allclose(w2_squared(weighted, nu), expected, rtol=1e-11, atol=1e-13)
    assert nearest(weighted, nu).index[0] == np.argmin(expected)
    for law, value in zip(weighted, expected, strict=True):
        assert w2(law, nu).squared == pytest.approx(value, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("scale", [1e-20, 1e-8, 1e-4, 1e-3, 1.0, 1e6])
def test_two_draws_in_any_unit(scale):
    """Coordinates of 1e-8 were wrong by 1.2 % in 3 of 20, those of 1e-20 in 16 of 20."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        draws, atoms = rng.standard_normal((1, 2, 2)), rng.standard_normal((5, 2))
        nu = DiscreteMeasure(scale * atoms, rng.dirichlet(np.ones(5)))
        plain = DiscreteMeasure(atoms, nu.weights)
        expected = emd_squared(Empirical(draws[0]), plain) * scale**2
        found = w2_squared(EmpiricalPool(scale * draws), nu)[0]
        assert found == pytest.approx(expected, rel=1e-11)
        assert w2(Empirical(scale * draws[0]), nu).squared == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("exponent", [-400, -300, -100, -27, 27, 100, 300, 400])
def test_units_change_no_pool_of_few_draws(exponent):
    """Two draws in R^3 against four atoms, all times a power of two: the values by its square."""
    for seed in range(8):
        draw = np.random.default_rng(seed)
        samples, atoms = draw.normal(size=(5, 2, 3)), draw.normal(size=(4, 3))
        weights, unit = draw.dirichlet(np.ones(4)), 2.0**exponent
        plain = w2_squared(EmpiricalPool(samples), DiscreteMeasure(atoms, weights))
        moved = w2_squared(EmpiricalPool(samples * unit), DiscreteMeasure(atoms * unit, weights))
        np.testing.assert_allclose(moved / unit / unit, plain, rtol=1e-9)


WEIGHTED = json.loads((Path(__file__).parents[3] / "data" / "weighted.json").read_text())["cases"]
CHANNELS: dict[str, Channel] = {
    "logistic": Logistic(),
    "lapse_cloglog_0.5_0.02": Lapse(Cloglog(), low=0.5, high=0.02),
    "ordinal_-1_1": Ordinal([-1.0, 1.0]),
}


@pytest.mark.parametrize("place", range(len(WEIGHTED)))
def test_weighted_samples_equal_a_linear_programme(place):
    """HiGHS for the distance (its own 1e-9), sums for the information: one law, and a pool."""
    case = WEIGHTED[place]
    samples, weights = np.array(case["samples"]), np.array(case["weights"])
    target = DiscreteMeasure(np.array(case["atoms"]), np.array(case["masses"]))
    pool = EmpiricalPool(np.stack([samples, samples + 1.0]), weights)
    one = w2(Empirical(samples, weights), target).squared
    assert one == pytest.approx(case["lp"], rel=1e-9)
    assert one == pytest.approx(case["w2_squared"], rel=1e-11)
    assert w2_squared(pool, target)[0] == pytest.approx(case["w2_squared"], rel=1e-11)
    for name, nats in case.get("information_nats", {}).items():
        found = mutual_information(CHANNELS[name], pool)
        assert found.nats[0] == pytest.approx(nats, abs=1e-12)


def test_more_atoms_than_a_search_takes_are_solved_all_the_same():
    """Beyond 256 atoms each candidate is a problem of its own; none is left as it was begun."""
    rng = np.random.default_rng(2)
    pool = EmpiricalPool(rng.standard_normal((2, 12, 2)))
    nu = DiscreteMeasure(rng.standard_normal((260, 2)), np.full(260, 1 / 260))
    wanted = [emd_squared(law, nu) for law in pool]
    np.testing.assert_allclose(w2_squared(pool, nu), wanted, rtol=1e-9)


@pytest.mark.parametrize("weights", [None, [0.5, 0.25, 0.25]], ids=["equal", "weighted"])
@pytest.mark.parametrize("atoms", [[0.0, 1.0], [0.0, 1.0, 3.0]], ids=len)
def test_far_from_zero_on_the_line_no_digit_of_the_mean_is_lost(atoms, weights):
    """At 2^50 neighbours are a quarter apart, and the mean of the target lies between two."""
    far = 2.0**50
    samples = np.array([[0.0, 1.0, 5.0], [2.0, 2.0, -4.0]])
    masses = np.array([1.0, 2.0, 4.0][: len(atoms)])
    masses /= masses.sum()
    near, away = (
        w2_squared(
            EmpiricalPool(samples + at, weights=weights), DiscreteMeasure(np.add(atoms, at), masses)
        )
        for at in (0.0, far)
    )
    np.testing.assert_allclose(away, near, rtol=1e-12)


@pytest.mark.parametrize("light", [1e-30, 1e-16, 1e-12])
@pytest.mark.parametrize(("m", "n"), [(4, 2), (5, 64), (12, 17)])
def test_a_far_sample_of_hardly_any_mass(m, n, light):
    """The rounding of masses, times its distance, passed for that of the value: 2e-5 off."""
    rng = np.random.default_rng(m)
    draws, weights = rng.standard_normal((3, n, 2)), rng.dirichlet(np.full(n, 3.0))
    draws[:, 0] *= 1e8
    weights[0] = light
    weights /= weights.sum()
    nu = DiscreteMeasure(rng.standard_normal((m, 2)), rng.dirichlet(np.full(m, 3.0)))
    pool = EmpiricalPool(draws, weights)
    for value, law, x in zip(w2_squared(pool, nu), pool, draws, strict=True):
        found = w2(law, nu)
        slack = 2e-12 * (weights @ (x**2).sum(axis=1) + nu.weights @ (nu.points**2).sum(axis=1))
        assert found.lower - slack <= value <= found.upper + slack


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("far", [1e5, 1e6, 1e7])
@pytest.mark.parametrize(("m", "n", "seed"), [(4, 512, 0), (4, 512, 3), (5, 128, 1), (5, 128, 3)])
def test_a_far_atom_of_hardly_any_mass(m, n, seed, far, weighted):
    """Bounds hold without rounding, and the value is near them.

    Potentials as large as the far scores cancelled in the dual, which put `lower` 3e-9 above the
    value, and a plan that gave the far atom the rounding of other masses was taken at its cost.
    """
    rng = np.random.default_rng(seed)
    atoms, masses = rng.standard_normal((m, 2)), rng.dirichlet(np.ones(m))
    atoms[0] *= far
    masses[0] = 1e-30
    nu = DiscreteMeasure(atoms, masses / masses.sum())
    draws = rng.standard_normal((2, n, 2))
    pool = EmpiricalPool(draws, rng.dirichlet(np.ones(n)) if weighted else None)
    found = judged_pool(pool, nu)
    assert (found.upper - found.lower <= 1e-9 * found.squared).all()
    for lower, value, law in zip(found.lower, found.squared, pool, strict=True):
        # POT's own tolerance grows with the largest distance: it does not see the far atom.
        away = law.points[:, None] - nu.points[1:]
        rest = nu.weights[1:] / nu.weights[1:].sum()
        plan = ot.emd(np.array(law.weights), rest, (away**2).sum(axis=2))
        row, column = np.nonzero(plan)
        cost = exact_cost(law, nu, (row, column + 1, plan[row, column]))
        assert Fraction(lower) <= cost
        assert value == pytest.approx(float(cost), rel=1e-9)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 5), size=st.integers(1, 12))
def test_ties_on_the_line_against_every_plan(seed, m, size):
    """Whole weights and equal points: quantiles by partitions, the cost by exact fractions."""
    rng = np.random.default_rng(seed)
    parts = rng.multinomial(2 * size, np.full(m, 1 / m))
    atoms, draws = rng.integers(-3, 4, m), rng.integers(-2, 3, (4, size))
    spread_atoms = np.sort(np.repeat(atoms, parts))
    found = w2_squared(EmpiricalPool(draws), DiscreteMeasure(atoms, parts / parts.sum()))
    for value, x in zip(found, draws, strict=True):
        expected = Fraction(int(((np.repeat(np.sort(x), 2) - spread_atoms) ** 2).sum()), 2 * size)
        assert value == pytest.approx(float(expected), abs=1e-13)
