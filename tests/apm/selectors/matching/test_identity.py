"""The generic route and the closed form are one: same argmin, same scores (Corollary 3.2.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from apm.belief import Belief
from apm.posteriors import Laplace, VariationalLogistic
from apm.power import FixedPower, PoolMaxPower, SpectralPower, SpectralWithMean
from apm.selectors import APM, APMExploit, APMExplore
from apm.selectors.matching.target import beside, paper_utility, target_input, two_atom_constant
from channelcode.capacity.solvers.continuous import Continuous
from channelcode.channels import Link, Logistic, Probit, Softmax
from channelcode.measures import DiscreteMeasure, FullPool, ScalarPool
from channelcode.transport import w2_squared
from tests.apm.given import given_belief

powers = st.floats(0.05, 400.0)


def posterior_and_pool(seed: int, channel=None) -> tuple[Belief, np.ndarray]:
    """A random posterior of one to six features and a pool with copies and a zero row."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 7))
    root = rng.normal(size=(size, size)) * 10 ** rng.uniform(-1, 0.7)
    mean = rng.normal(size=size) * 10 ** rng.uniform(-1, 0.7)
    X = rng.normal(size=(int(rng.integers(2, 30)), size))
    X[0] = 0.0
    return given_belief(mean, root @ root.T, channel=channel), X


def quantile_cost(mean: float, sigma: float, target: DiscreteMeasure) -> float:
    """W2^2 by quadrature: int (F^-1(u) - G^-1(u))^2 du with u = Phi(z), Gauss-Legendre in z.

    Panels of one deviation, split where the target's quantile function jumps.
    """
    order = np.argsort(target.atoms)
    jumps = ndtri(np.cumsum(target.weights[order])[:-1])
    edges = np.unique(np.concatenate((np.arange(-12.0, 13.0), jumps)))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    z = edges[:-1, None] + half * (1 + nodes)
    atom = target.atoms[order][np.searchsorted(jumps, z)]
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return float(np.sum(half * weights * (mean + sigma * z - atom) ** 2 * density))


@settings(max_examples=40)
@given(st.integers(0, 10**6), powers)
def test_generic_route_equals_the_closed_form(seed, power):
    belief, X = posterior_and_pool(seed)
    closed = APM(FixedPower(power)).scores(belief, X)
    generic = APM(FixedPower(power), solver=Continuous()).scores(belief, X)
    size = np.abs(closed).max()
    # Continuous() stops at a certified gap; its atoms are good to 1e-9 of their size
    np.testing.assert_allclose(generic, closed, rtol=1e-8, atol=1e-8 * size)
    paper = paper_utility(belief.push(X), power)  # type: ignore[arg-type]
    np.testing.assert_allclose(closed, paper - two_atom_constant(power), rtol=1e-12)
    ordered = np.sort(closed)
    assume(len(closed) < 2 or ordered[-1] - ordered[-2] > 1e-7 * size)
    assert np.argmax(generic) == np.argmax(closed) == np.argmax(paper)


@settings(max_examples=40)
@given(st.integers(0, 10**6), powers)
def test_numerical_capacity_and_numerical_transport_agree_too(seed, power):
    belief, X = posterior_and_pool(seed)
    target = target_input(belief.channel, power, solver=Continuous()).input
    laws = belief.push(X)
    numerical = [
        quantile_cost(mean, np.sqrt(variance), target)
        for mean, variance in zip(laws.mean, laws.total_variance)
    ]
    closed = -APM(FixedPower(power)).scores(belief, X)
    # the atoms of Continuous() are good to 1e-9 of their size, the quadrature to 1e-13
    np.testing.assert_allclose(numerical, closed, rtol=1e-8, atol=1e-8 * np.abs(closed).max())
    gaps = np.sort(closed)
    assume(gaps[1] - gaps[0] > 1e-7 * gaps[-1])
    assert np.argmin(numerical) == np.argmin(closed)


@settings(max_examples=25)
@given(st.integers(0, 10**6), powers, st.floats(0.3, 3.0))
def test_probit_generic_route_equals_its_closed_form(seed, power, scale):
    belief, X = posterior_and_pool(seed, Probit(scale))
    closed = APM(FixedPower(power)).scores(belief, X)
    generic = APM(FixedPower(power), solver=Continuous()).scores(belief, X)
    size = np.abs(closed).max()
    assume(np.sqrt(power) / scale < 5)  # beyond, capacity is saturated and the atoms are not unique
    np.testing.assert_allclose(generic, closed, rtol=1e-8, atol=1e-8 * size)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.floats(0.05, 100.0))
def test_a_channel_that_nobody_knows_to_be_logistic(seed, power):
    own = Link(lambda l: 1 / (1 + np.exp(-l)), lambda l: 1 / (1 + np.exp(l)))
    belief, X = posterior_and_pool(seed)
    unknown = Belief(belief.posterior, belief.encoder, own)
    closed = APM(FixedPower(power)).scores(belief, X)
    generic = APM(FixedPower(power)).scores(unknown, X)
    np.testing.assert_allclose(generic, closed, rtol=1e-8, atol=1e-8 * np.abs(closed).max())


@settings(max_examples=40)
@given(st.integers(0, 10**6), powers)
def test_softmax_of_two_classes_is_the_logistic_channel(seed, power):
    """Centred logits (l/2, -l/2) have half the power of l, and half of every squared distance."""
    belief, X = posterior_and_pool(seed)
    laws = belief.push(X)
    assert isinstance(laws, ScalarPool)
    half = np.array([0.5, -0.5])
    pair = FullPool(laws.mean[:, None] * half, laws.variance[:, None, None] * np.outer(half, half))
    target = target_input(Softmax(2), power / 2).input
    scores = -w2_squared(pair, target)
    closed = APM(FixedPower(power)).scores(belief, X)
    np.testing.assert_allclose(2 * scores, closed, rtol=1e-8, atol=1e-8 * np.abs(closed).max())


def test_softmax_of_two_classes_selects_what_logistic_regression_selects(rng):
    X = rng.normal(size=(40, 3))
    labels = (X[:8, 0] > 0).astype(int)
    # theta_1 - theta_0 has precision lambda / 2 if each class has lambda
    two = Belief(Laplace(Softmax(2), 1.0).fit(X[:8], labels))
    one = Belief(Laplace(Logistic(), 0.5).fit(X[:8], labels))
    for policy in (SpectralPower(), SpectralWithMean(), PoolMaxPower()):
        first = APM(policy).scores(two, X)
        second = APM(policy).scores(one, X)
        np.testing.assert_allclose(2 * first, second, rtol=1e-6, atol=1e-6 * np.abs(second).max())
        np.testing.assert_array_equal(APM(policy).select(two, X), APM(policy).select(one, X))


@settings(max_examples=40)
@given(st.integers(0, 10**6), powers, st.booleans())
def test_the_two_terms_add_up(seed, power, generic):
    belief, X = posterior_and_pool(seed)
    options: dict[str, Any] = {"solver": Continuous()} if generic else {}
    whole = APM(FixedPower(power), **options).scores(belief, X)
    first = APMExploit(FixedPower(power), **options).scores(belief, X)
    second = APMExplore(FixedPower(power), **options).scores(belief, X)
    np.testing.assert_allclose(first + second, whole, rtol=1e-9, atol=1e-9 * np.abs(whole).max())
    assert (first <= 0).all()
    assert (second <= 0).all()


def test_the_terms_of_an_asymmetric_target(rng):
    laws = ScalarPool(rng.normal(size=5), rng.uniform(0.1, 4.0, size=5))
    target = DiscreteMeasure([-1.0, 0.5, 4.0], [0.5, 0.3, 0.2])
    found = beside(target, laws)
    exploit, explore = found.exploitation, found.exploration
    np.testing.assert_allclose(exploit, (laws.mean - target.mean) ** 2, rtol=1e-12)
    centred = ScalarPool(np.zeros(5), laws.variance)
    moved = DiscreteMeasure(target.atoms - target.mean, target.weights)
    np.testing.assert_allclose(explore, w2_squared(centred, moved), rtol=1e-9)


@pytest.mark.parametrize("selector", [APM, APMExploit, APMExplore])
def test_zero_power_asks_for_nothing_but_small_inputs(selector):
    belief = given_belief([1.0], [[4.0]])
    scores = selector(FixedPower(0.0)).scores(belief, [[0.0], [1.0]])
    expected = {APM: -5.0, APMExploit: -1.0, APMExplore: -4.0}[selector]
    np.testing.assert_allclose(scores, [0.0, expected], atol=1e-15)


def test_trajectory_of_the_generic_route_is_that_of_the_closed_form(rng):
    X = rng.normal(size=(30, 2))
    labels = (X[:, 0] > 0.2).astype(int)
    belief = Belief(VariationalLogistic(0.1).fit(X[:2], [0, 1]))
    excluded = [0, 1]
    closed, generic = (
        selector.prepared(belief, X) for selector in (APM(), APM(solver=Continuous()))
    )
    for _ in range(8):
        (first,) = closed.select(belief, X, exclude=excluded)
        (second,) = generic.select(belief, X, exclude=excluded)
        assert first == second
        belief = belief.update(X[first], labels[first])
        excluded.append(int(first))
