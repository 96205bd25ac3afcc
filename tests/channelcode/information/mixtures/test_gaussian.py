"""Divergences of Gaussian noise from a mixture: against mpmath, and every bound that is claimed."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import AdditiveGaussian, DiscreteMeasure
from channelcode.information.mixtures.gaussian import GaussianMixture
from channelcode.information.output_divergence import output_divergence


def law(seed: int, width: float, noise: float) -> tuple[GaussianMixture, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    atoms = noise * np.concatenate([[-0.5, 0.5], rng.uniform(-0.5, 0.5, 3)]) * width
    weights = rng.dirichlet(np.full(5, 0.5))
    return GaussianMixture(noise, atoms, weights), atoms, weights


def exact(l: float, atoms: np.ndarray, weights: np.ndarray, noise: float) -> float:
    """D by mpmath's own quadrature, with 30 digits."""
    with mpmath.workdps(30):

        def integrand(y):
            f = mpmath.npdf(y, l, noise)
            q = mpmath.fsum(w * mpmath.npdf(y, x, noise) for w, x in zip(weights, atoms))
            return f * mpmath.log(f / q)

        marks = [mpmath.mpf(l) + k * mpmath.mpf(noise) for k in range(-12, 13)]
        value: Any = mpmath.quad(integrand, marks)
        return float(value)


@pytest.mark.parametrize(("width", "noise"), [(0.01, 1.0), (4.0, 0.5), (12.0, 3.0), (40.0, 1.0)])
def test_divergences_are_those_of_mpmath_within_the_stated_error(width, noise):
    mixture, atoms, weights = law(1, width, noise)
    inputs = np.array([atoms[0], 0.3 * atoms[1], atoms[2]])
    found = mixture.divergence(inputs).value
    expected = [exact(float(l), atoms, weights, noise) for l in inputs]
    assert np.abs(found - expected).max() <= mixture.error(float(found.max()))


@given(st.integers(0, 10**6), st.floats(0.05, 40.0), st.sampled_from([1e-100, 0.3, 1.0, 1e100]))
@settings(max_examples=40)
def test_the_bend_is_the_second_derivative_and_grows_no_faster_than_claimed(seed, width, noise):
    mixture, atoms, _ = law(seed, width, noise)
    l = np.linspace(atoms.min() - noise, atoms.max() + noise, 41)
    step = 1e-3 * noise
    beside = [mixture.divergence(l + shift).value for shift in (-step, 0.0, step)]
    numeric = (beside[0] - 2.0 * beside[1] + beside[2]) / (step / noise) ** 2
    bend = mixture.divergence(l).bend * noise**2
    # a difference of values of up to 100, rounded to 1e-16, over 1e-6; and D'''' step^2 / 12
    assert np.abs(numeric - bend).max() <= 1e-7 + 1e-6 * (1.0 + width**4)
    bound = mixture.down(np.minimum(bend[1:], bend[:-1]) / noise**2, np.diff(l)) * noise**2
    inside = -mixture.divergence(0.5 * (l[1:] + l[:-1])).bend * noise**2
    assert (inside <= bound + 1e-9 * (1.0 + np.abs(bound))).all()


def test_the_older_rule_says_the_same():
    mixture, atoms, weights = law(5, 10.0, 2.0)
    l = np.linspace(-12.0, 12.0, 50)
    other = output_divergence(AdditiveGaussian(2.0), l, DiscreteMeasure(atoms, weights))
    assert np.abs(mixture.divergence(l).value - other.nats).max() < 1e-12


def test_atoms_without_weight_do_not_count():
    with_it = GaussianMixture(1.0, np.array([0.0, 1.0, 500.0]), np.array([0.5, 0.5, 0.0]))
    assert with_it.width == 1.0


def lattice(seed: int, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Atoms without large holes, of uneven distances and weights: a narrow posterior anywhere."""
    rng = np.random.default_rng(seed)
    atoms = np.cumsum(rng.uniform(0.5, 2.7, int(width / 1.6)))
    weights = rng.uniform(0.2, 1.0, len(atoms))
    return atoms - atoms.mean(), weights / weights.sum()


def test_a_wide_law_is_resolved_by_the_spread_of_its_posterior_and_right_to_the_stated_error():
    atoms, weights = lattice(3, 120.0)
    mixture = GaussianMixture(1.0, atoms, weights)
    # its own width alone would ask for a strip of 2.4 / 120
    assert mixture.affordable
    assert mixture.spread < 10.0
    inputs = np.array([atoms[0] - 1.0, 0.1, atoms[40], atoms[-1] + 2.0])
    found = mixture.divergence(inputs).value
    near = [np.abs(atoms - l) < 30.0 for l in inputs]  # the others are below 1e-90 there
    expected = [
        exact(float(l), atoms[n], weights[n], 1.0) for l, n in zip(inputs, near, strict=True)
    ]
    assert np.abs(found - expected).max() <= mixture.error(float(found.max()))


@given(st.integers(0, 10**6), st.floats(0.05, 60.0), st.floats(-12.0, 0.0))
@settings(max_examples=60)
def test_no_output_leaves_more_variance_than_claimed(seed, width, lightest):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 30))
    atoms = width * rng.uniform(-0.5, 0.5, count)
    weights = rng.dirichlet(np.full(count, 0.5)) + 10.0**lightest
    mixture = GaussianMixture(1.0, atoms, weights / weights.sum())
    y = np.concatenate([rng.uniform(-width, width, 3000), rng.normal(0.0, 3.0 * width, 300)])
    logs = -0.5 * np.square(y[:, None] - atoms) + np.log(weights)
    share = np.exp(logs - logs.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    variance = (share * np.square(atoms - (share @ atoms)[:, None])).sum(axis=1)
    assert variance.max() <= mixture.spread * (1.0 + 1e-12)
    assert mixture.spread <= 0.25 * width**2


def test_atoms_with_a_hole_that_no_proof_can_afford_are_left_to_estimates():
    atoms = np.concatenate([np.linspace(-350.0, -300.0, 60), np.linspace(300.0, 350.0, 60)])
    assert not GaussianMixture(1.0, atoms, np.full(120, 1 / 120)).affordable
    assert not GaussianMixture(1.0, np.array([0.0, 721.0]), np.array([0.5, 0.5])).affordable
