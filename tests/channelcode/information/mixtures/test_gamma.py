"""Divergences of waiting times from a mixture: against mpmath, and every bound that is claimed."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import DiscreteMeasure
from channelcode.channels import Gamma
from channelcode.information.mixtures.gamma import GammaMixture
from channelcode.information.output_divergence import output_divergence


def law(
    seed: int, width: float, shape: float, lightest: float = 0.0
) -> tuple[GammaMixture, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    atoms = np.concatenate([[-0.5, 0.5], rng.uniform(-0.5, 0.5, 3)]) * width
    weights = rng.dirichlet(np.full(5, 0.5)) * np.array([10.0**lightest, 1, 1, 1, 1]) + 1e-300
    weights = weights / weights.sum()
    return GammaMixture(Gamma(shape), atoms, weights), atoms, weights


def exact(l: float, atoms: np.ndarray, weights: np.ndarray, shape: float) -> float:
    """D by mpmath's own quadrature, with 30 digits."""
    with mpmath.workdps(30):
        k = mpmath.mpf(shape)
        top = k * mpmath.log(k) - mpmath.loggamma(k)

        def log_g(x):
            return top + k * x - k * mpmath.exp(x)

        def integrand(u):
            own = log_g(u - l)
            others = [mpmath.log(w) + log_g(u - x) for w, x in zip(weights, atoms)]
            largest = max(others)
            log_q = largest + mpmath.log(mpmath.fsum(mpmath.exp(o - largest) for o in others))
            return mpmath.exp(own) * (own - log_q)

        size = 1 / mpmath.sqrt(max(shape, 1.0))
        below = [l - 80 * size / min(shape, 1.0) * mpmath.mpf(j) / 80 for j in range(80, 0, -1)]
        value: Any = mpmath.quad(integrand, [*below, *[l + 0.5 * j * size for j in range(17)]])
        return float(value)


@pytest.mark.parametrize(
    ("width", "shape", "lightest"),
    [(1e-3, 1.0, 0.0), (4.0, 1.0, -20.0), (12.0, 0.3, 0.0), (6.0, 30.0, -200.0), (40.0, 1.0, 0.0)],
)
def test_divergences_are_those_of_mpmath_within_the_stated_error(width, shape, lightest):
    mixture, atoms, weights = law(1, width, shape, lightest)
    inputs = np.array([atoms[0], 0.3 * atoms[1], atoms[2], atoms.max() + 1.0])
    found = mixture.divergence(inputs).value
    expected = [exact(float(l), atoms, weights, shape) for l in inputs]
    for each, true in zip(found, expected, strict=True):
        assert abs(each - true) <= mixture.error(float(each))


@given(st.integers(0, 10**6), st.floats(0.01, 12.0), st.floats(-1.0, 2.5), st.floats(-30.0, 0.0))
@settings(max_examples=40)
def test_bends_are_no_less_than_claimed_at_probes_and_between(seed, width, order, lightest):
    shape = 10.0**order
    mixture, atoms, _ = law(seed, width, shape, lightest)
    size = 1.0 / np.sqrt(max(shape, 1.0))
    l = np.linspace(atoms.min() - size, atoms.max() + size, 31)
    step = 2e-3 * size
    beside = [mixture.divergence(l + shift).value for shift in (-step, 0.0, step)]
    numeric = (beside[0] - 2.0 * beside[1] + beside[2]) / step**2
    bend = mixture.divergence(l).bend
    convex = shape * np.exp(l - atoms.max())  # left out of `bend`
    # rounding of differences, and D'''' step^2 / 12
    spread, mean = mixture.posterior
    allowed = 4.0 * mixture.error(float(beside[1].max())) / step**2
    allowed += shape * (spread + mean + np.exp(size)) * step**2
    assert np.abs(numeric - convex - bend).max() <= allowed
    bound = mixture.down(np.minimum(bend[1:], bend[:-1]), np.diff(l))
    inside = -mixture.divergence(0.5 * (l[1:] + l[:-1])).bend
    assert (inside <= bound + 1e-9 * (1.0 + np.abs(bound))).all()


@given(st.integers(0, 10**6), st.floats(1e-6, 60.0), st.floats(-1.0, 2.5), st.floats(-60.0, 0.0))
@settings(max_examples=60)
def test_no_output_leaves_more_variance_than_claimed(seed, width, order, lightest):
    shape = 10.0**order
    mixture, atoms, weights = law(seed, width, shape, lightest)
    rng = np.random.default_rng(seed)
    last = atoms.max()
    u = np.concatenate(
        [rng.uniform(atoms.min() - 10.0, last + 10.0, 4000), last + rng.normal(0.0, 15.0, 500)]
    )
    rates = shape * np.expm1(last - atoms) * np.exp(u - last)[:, None]
    logs = np.log(weights) - shape * atoms - rates
    share = np.exp(logs - logs.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    mean = (share * rates).sum(axis=1)
    variance = (share * np.square(rates - mean[:, None])).sum(axis=1)
    assert variance.max() <= mixture.posterior.spread * (1.0 + 1e-12)
    assert mean.max() <= mixture.posterior.mean * (1.0 + 1e-12)


def test_the_adaptive_rule_says_the_same():
    mixture, atoms, weights = law(5, 6.0, 2.0)
    l = np.linspace(-4.0, 4.0, 50)
    other = output_divergence(Gamma(2.0), l, DiscreteMeasure(atoms, weights))
    assert np.abs(mixture.divergence(l).value - other.nats).max() < 1e-11


def test_atoms_far_apart_are_left_to_estimates():
    assert not GammaMixture(Gamma(1.0), np.array([0.0, 601.0]), np.array([0.5, 0.5])).affordable
    assert not GammaMixture(Gamma(90.0), np.array([0.0, 590.0]), np.array([0.5, 0.5])).affordable
