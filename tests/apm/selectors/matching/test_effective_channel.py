"""The effective channel: moments, laws, costs and stakes against direct sums."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from apm.belief import Belief
from apm.posteriors import Bohning
from apm.power import PoolMaxPower, SpectralWithMean
from apm.selectors import AllClasses, ContestedPair
from apm.selectors.matching import effective_channel as module
from apm.selectors.matching.effective_channel import (
    EffectiveChannel,
    correlation,
    noise_variance,
    scalar_channel,
    slopes_at,
    stakes,
)
from apm.selectors.matching.input_noise import slope
from apm.selectors.matching.target import target_input
from channelcode.channels import Cauchit, Cloglog, Logistic, Probit
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, ScalarPool, ScaledPool
from tests.apm.given import entropy_bits, given_belief, three_classes

WEIGHTS = np.array([0.5, 0.3, 0.2])


def on_the_line(rng: np.random.Generator, channel=None, **options):
    """Six candidates and three targets under a Gaussian posterior, with m, sigma^2 and rho^2."""
    root = rng.normal(size=(3, 3))
    mean, covariance = rng.normal(size=3), root @ root.T
    belief = given_belief(mean, covariance, channel=channel)
    X, targets = rng.normal(size=(6, 3)), rng.normal(size=(3, 3))
    view = ContestedPair().view(belief, belief.push(X))
    variance = np.einsum("ni,ij,nj->n", X, covariance, X)
    theirs = np.einsum("ni,ij,nj->n", targets, covariance, targets)
    share = (X @ covariance @ targets.T) ** 2 / np.outer(variance, theirs)
    effective = EffectiveChannel(belief, view, X, None, targets, WEIGHTS, **options)
    return effective, X @ mean, variance, share


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize(
    ("channel", "known"), [(Logistic(), pi / 8), (Probit(), 1.0), (Probit(2.0), 0.25)], ids=repr
)
def test_moments_and_costs_are_the_formula(channel, known, pooled, rng) -> None:
    """W2^2 of N(k m, k^2 sigma^2 rho^2) to B_sqrt(P), averaged over the targets."""
    effective, mean, variance, share = on_the_line(rng, channel, pooled=pooled)
    weights = WEIGHTS
    if pooled:
        share, weights = (share @ WEIGHTS)[:, None], np.ones(1)
    k = 1 / np.sqrt(1 + known * variance[:, None] * (1 - share))
    spread = k * np.sqrt(variance[:, None] * share)
    moments = effective.moments
    assert effective.slopes is None
    np.testing.assert_allclose(moments.square, k**2 @ weights, rtol=1e-9)
    np.testing.assert_allclose(moments.signal, (k**2 * share) @ weights, rtol=1e-9)
    np.testing.assert_allclose(moments.linear, (k * np.sqrt(share)) @ weights, rtol=1e-9)
    np.testing.assert_allclose(moments.slope, k @ weights, rtol=1e-9)
    np.testing.assert_allclose(moments.share, share @ weights, rtol=1e-9)
    power = ((k * mean[:, None]) ** 2 + spread**2) @ weights
    np.testing.assert_allclose(effective.laws.second_moment, power, rtol=1e-9)
    budget = 3.0
    distance = (k * mean[:, None]) ** 2 + (spread - np.sqrt(2 * budget / pi)) ** 2
    expected = distance @ weights + (1 - 2 / pi) * budget
    found = effective.match(budget)
    np.testing.assert_allclose(-found.scores, expected, rtol=1e-8)
    terms = found.exploitation + found.exploration
    np.testing.assert_allclose(terms, expected, rtol=1e-8)
    np.testing.assert_allclose(found.exploitation, (k * mean[:, None]) ** 2 @ weights, rtol=1e-8)


def test_pieces_do_not_matter(rng, monkeypatch) -> None:
    effective, *_ = on_the_line(rng)
    whole = effective.moments
    monkeypatch.setattr(module, "CHUNK_ENTRIES", 7)  # two rows of three targets at a time
    assert [part.indices(6)[:2] for part, _ in effective.shares()] == [(0, 2), (2, 4), (4, 6)]
    again = replace(effective).moments
    for name in ("square", "signal", "linear", "slope", "share"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))


def test_a_channel_without_a_formula_has_a_table(rng) -> None:
    effective, _, variance, share = on_the_line(rng, Cauchit())
    moments, table = effective.moments, effective.slopes
    assert table is not None
    noise = np.sqrt(variance[:, None] * (1 - share))
    k = np.array([[slope(Cauchit(), float(s)) for s in row] for row in noise])
    # linear between 33 noise levels
    np.testing.assert_allclose(slopes_at(share, variance, table), k, rtol=2e-3)
    np.testing.assert_allclose(moments.slope, k @ WEIGHTS, rtol=2e-3)


def test_a_target_with_a_mean_of_its_own(rng) -> None:
    """W2^2 = (k m - E T)^2 + (k sigma rho)^2 + Var T - 2 k sigma rho E[Z T], Z and T in order."""
    channel = Cloglog()
    effective, mean, variance, share = on_the_line(rng, channel)
    table = effective.slopes
    assert table is not None
    target = target_input(channel, 3.0).input
    atoms, weights = np.asarray(target.atoms), target.weights
    assert abs(weights @ atoms) > 0.005  # far above the tolerance below
    ends = norm.ppf(np.concatenate(([0.0], np.cumsum(weights)[:-1], [1.0])))
    inner = atoms @ (norm.pdf(ends[:-1]) - norm.pdf(ends[1:]))
    k = slopes_at(share, variance, table)
    spread = k * np.sqrt(variance[:, None] * share)
    centre = weights @ atoms
    cost = (k * mean[:, None] - centre) ** 2 + spread**2 - 2 * spread * inner
    expected = cost @ WEIGHTS + weights @ atoms**2 - centre**2
    found = effective.match(3.0)
    np.testing.assert_allclose(-found.scores, expected, rtol=1e-8)
    away = (k * mean[:, None] - centre) ** 2 @ WEIGHTS
    # E over targets of |k m|^2 - 2 k m m_T, plus m_T^2: exact, as the weights sum to one
    np.testing.assert_allclose(found.exploitation, away, rtol=1e-8)


def test_a_softmax_bends_like_two_of_its_logits() -> None:
    """The variance of l_a - l_b, averaged over all pairs, is 2 tr S / (K - 1) when centred."""
    belief, X = three_classes()
    laws = belief.push(X)
    view = AllClasses().view(belief, laws)
    covariance = np.asarray(laws.covariance)  # type: ignore[attr-defined]
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = np.mean(
        [covariance[:, a, a] + covariance[:, b, b] - 2 * covariance[:, a, b] for a, b in pairs],
        axis=0,
    )
    np.testing.assert_allclose(noise_variance(view), expected, rtol=1e-9)
    assert scalar_channel(view) == Logistic()


def test_correlation_with_two_atoms() -> None:
    """The upper half goes to the upper atom: E<L, T> = a E|Z| = a sqrt(2 / pi)."""
    expected = 1.7 * np.sqrt(2 / pi)
    line = correlation(ScalarPool([3.0], [9.0]), DiscreteMeasure([-1.7, 1.7], [0.5, 0.5]))
    np.testing.assert_allclose(line, expected, rtol=1e-10)
    atoms = 1.7 * np.array([[1.0, -1.0], [-1.0, 1.0]]) / np.sqrt(2)
    laws = ScaledPool([[1.0, -1.0]], [5.0], [[1.0, -1.0], [-1.0, 1.0]])
    plane = correlation(laws, DiscreteMeasure(atoms, [0.5, 0.5]))
    np.testing.assert_allclose(plane, expected, rtol=1e-6)


def test_correlation_needs_one_shape() -> None:
    belief, X = three_classes()
    with pytest.raises(InvalidArgument, match="ContestedPair"):
        correlation(belief.push(X), DiscreteMeasure(np.eye(3), np.full(3, 1 / 3)))


def test_stakes_are_entropies_of_the_labels(rng) -> None:
    effective, *_ = on_the_line(rng)
    targets = effective.targets
    laws = effective.belief.push(targets)
    p = expit(laws.mean / np.sqrt(1 + pi / 8 * laws.total_variance))
    entropy = np.array([entropy_bits([q, 1 - q]) for q in p])
    found = stakes(ContestedPair(), effective.belief, effective.X, targets)
    np.testing.assert_allclose(found, entropy / entropy.sum(), rtol=1e-9)


def test_stakes_of_settled_targets_are_alike() -> None:
    belief = given_belief([1e5, 0.0], np.zeros((2, 2)))
    targets = np.array([[1.0, 0.0], [-1.0, 0.0]])
    found = stakes(ContestedPair(), belief, targets, targets)
    np.testing.assert_array_equal(found, [0.5, 0.5])


@pytest.mark.parametrize("power", [PoolMaxPower(), SpectralWithMean()], ids=repr)
def test_budget_is_valid_in_the_channels_own_units(power) -> None:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(14, 3))
    belief = Belief(Bohning(3, 0.5).fit(X[:8], np.arange(8) % 3))
    view = ContestedPair().view(belief, belief.push(X))
    weights = stakes(ContestedPair(), belief, X, X[:5])
    for pooled in (False, True):
        effective = EffectiveChannel(belief, view, X, None, X[:5], weights, pooled=pooled)
        laws, budget = effective.laws, effective.budget(power, X, radius=None)
        assert budget >= laws.second_moment.max() * (1 - 1e-12)
        # own units are never larger than the input's
        assert (laws.second_moment <= view.laws.second_moment * (1 + 1e-12)).all()
