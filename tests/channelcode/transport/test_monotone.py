"""Quantile couplings against exact fractions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import DiscreteMeasure, Empirical, EmpiricalPool, w2, w2_squared
from channelcode.transport.monotone import monotone_plan, normal_cuts, upper_envelope
from tests.channelcode.transport.hostile import line_laws
from tests.channelcode.transport.oracles import line_squared_exactly


def test_far_atoms_without_mass_or_nearly_so():
    """Used to be 1.1102 with the status OPTIMAL, 1 % off, and an IndexError."""
    ten = np.arange(10.0)
    massless = DiscreteMeasure(np.append(ten, 1e8), [0.1] * 10 + [0.0])
    assert w2(Empirical(ten), massless).squared == 0.0
    light = DiscreteMeasure(np.append(ten, 1e8), [*([0.1] * 9), 0.1 - 1e-14, 1e-14])
    result = w2(Empirical(ten), light)
    exact = float(line_squared_exactly(Empirical(ten), light))
    assert result.squared == pytest.approx(exact, rel=1e-13)
    assert result.lower <= exact <= result.upper
    last = DiscreteMeasure([0.0, 1.0, 2.0, 3.0], [0.2, 0.7, 0.1, 0.0])
    assert w2(Empirical([0.0, 1.0, 2.0]), last).squared == pytest.approx(11 / 30, rel=1e-14)
    assert w2_squared(EmpiricalPool([[0.0, 1.0, 2.0]]), last)[0] == pytest.approx(
        11 / 30, rel=1e-14
    )


@settings(max_examples=200)
@given(mu=line_laws(), nu=line_laws())
def test_the_line_equals_exact_fractions(mu, nu):
    result = w2(mu, nu)
    exact = float(line_squared_exactly(mu, nu))
    assert result.status.ok
    assert result.lower <= exact <= result.upper
    # Weights are floats that sum to one but for rounding: they know the cost to a few roundings.
    scale = (mu.mean - nu.mean) ** 2 + mu.covariance + nu.covariance
    assert result.squared == pytest.approx(exact, rel=1e-12, abs=2e-15 * scale)


@settings(max_examples=100)
@given(data=st.data(), nu=line_laws())
def test_pools_on_the_line_equal_exact_fractions(data, nu):
    mu = data.draw(line_laws())
    pool = EmpiricalPool([mu.atoms], mu.weights)
    exact = float(line_squared_exactly(mu, nu))
    scale = float(mu.weights @ (mu.atoms - nu.mean) ** 2 + nu.covariance)
    assert w2_squared(pool, nu)[0] == pytest.approx(exact, rel=1e-11, abs=1e-14 * scale)


@given(
    a=st.lists(st.integers(0, 5), min_size=1, max_size=8),
    b=st.lists(st.integers(0, 5), min_size=1, max_size=8),
)
def test_plans_have_the_marginals(a, b):
    if sum(a) == 0 or sum(b) == 0:
        return
    first, second = np.array(a) / sum(a), np.array(b) / sum(b)
    plan = monotone_plan(first, second)
    np.testing.assert_allclose(np.bincount(plan.row, plan.mass, len(a)), first, atol=1e-16)
    np.testing.assert_allclose(np.bincount(plan.column, plan.mass, len(b)), second, atol=1e-16)
    assert (np.diff(plan.row) >= 0).all()
    assert (np.diff(plan.column) >= 0).all()


def test_cuts_come_from_the_nearer_tail():
    cuts = normal_cuts(np.array([1e-20, 0.5, 0.5, 1e-20]))
    assert cuts[0] == pytest.approx(-cuts[2], rel=1e-14)


def test_envelope():
    line, cuts = upper_envelope(np.array([-1.0, 0.0, 1.0]), np.array([0.0, 5.0, 0.0]))
    np.testing.assert_array_equal(line, [0, 2])
    np.testing.assert_array_equal(cuts, [0.0])
