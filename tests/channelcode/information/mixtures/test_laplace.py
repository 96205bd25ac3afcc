"""Laplace noise: divergences from a mixture, against mpmath and closed forms."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import AdditiveLaplace, DiscreteMeasure
from channelcode.information.densities import atoms_information
from channelcode.information.mixtures.laplace import LaplaceMixture, laplace_rows


def by_quadrature(scale, atoms, weights, l):
    """D(f(.|l) || q) by mpmath, split at every corner."""

    def density(y, at):
        return mpmath.exp(-abs(y - at) / scale) / (2 * scale)

    def term(y):
        f = density(y, l)
        return f * mpmath.log(f / sum(w * density(y, x) for x, w in zip(atoms, weights)))

    far = [l + sign * scale * step for sign in (-1, 1) for step in (0.5, 2, 8, 30, 80)]
    near = [x for x in atoms if abs(x - l) < 80 * scale]
    whole: Any = mpmath.quad(term, sorted({l, *far, *near}))
    return float(whole)


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.0])
def test_agrees_with_mpmath(scale):
    atoms, weights = scale * np.array([-2.0, 0.3, 0.31, 5.0]), np.array([0.1, 0.2, 0.3, 0.4])
    l = scale * np.array([-4.0, 0.3, 0.305, 2.2, 5.0, 9.0])
    found = LaplaceMixture(scale, atoms, weights).divergence(l).value
    with mpmath.workdps(25):
        expected = [by_quadrature(scale, atoms, weights, float(x)) for x in l]
    # sums of a few hundred terms of size one
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_one_atom_is_the_closed_form():
    l = np.array([0.0, 1e-3, 1.0, 50.0, 1e5])
    found = LaplaceMixture(2.0, np.array([0.0]), np.array([1.0])).divergence(l).value
    expected = AdditiveLaplace(2.0).divergence_between(l, 0.0)
    # relative: D is 25,000 nats at the last input
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_derivatives_and_their_bounds(seed):
    rng = np.random.default_rng(seed)
    count, scale = int(rng.integers(1, 9)), float(np.exp(rng.uniform(-2, 2)))
    atoms = scale * np.sort(rng.normal(0.0, 4.0, count))
    law = LaplaceMixture(scale, atoms, rng.dirichlet(np.ones(count)))
    l = scale * np.sort(rng.normal(0.0, 6.0, 40))
    here = law.divergence(l)
    assert (here.value >= 0).all()
    assert (np.abs(here.slope) <= (1 + 1e-12) / scale).all()
    assert (np.abs(here.bend) <= (1 + 1e-12) / scale**2).all()
    change = np.abs(np.diff(here.bend))
    assert (change <= 2.0 * np.diff(l) / scale**3 + 1e-10 / scale**2).all()
    step = 1e-4 * scale
    ahead, behind = law.divergence(l + step), law.divergence(l - step)
    # central differences: the third derivative jumps at atoms, so first order in the step there
    slope = (ahead.value - behind.value) / (2 * step)
    np.testing.assert_allclose(slope, here.slope, atol=1e-7 / scale)
    bend = (ahead.slope - behind.slope) / (2 * step)
    np.testing.assert_allclose(bend, here.bend, atol=3e-4 / scale**2)


def test_rows_are_laws_that_carry_the_same_information():
    letters, weights = np.array([-3.0, -2.99, 0.0, 1.0, 40.0]), np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    rows = laplace_rows(1.0, letters)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-13)
    output = weights @ rows
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(rows > 0, rows * np.log(rows / output), 0.0)
    expected = atoms_information(AdditiveLaplace(1.0), letters, weights).nats
    assert float(weights @ terms.sum(axis=1)) == pytest.approx(expected, abs=1e-12)


def test_far_atoms_and_tiny_weights():
    law = LaplaceMixture(1.0, np.array([-1e6, 0.0, 1e6]), np.array([0.5, 1e-300, 0.5]))
    found = law.divergence(np.array([-1e6, 0.0, 1e6]))
    assert found.value[0] == pytest.approx(np.log(2), abs=1e-9)
    assert found.value[1] == pytest.approx(300 * np.log(10), rel=1e-9)
    measure = DiscreteMeasure([-1e6, 1e6], [0.5, 0.5])
    information = atoms_information(AdditiveLaplace(1.0), measure.atoms, measure.weights)
    assert information.nats == pytest.approx(np.log(2), abs=1e-9)
