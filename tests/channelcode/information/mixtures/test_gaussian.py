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
