"""Samples with weights: a weight of two is a sample seen twice, a weight of zero none at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apm.belief import Belief
from apm.power import (
    FixedPower,
    MatchedPower,
    PoolMaxPower,
    SharePower,
    SignalPower,
    SpectralPower,
    SpectralWithMean,
    VariancePower,
)
from apm.selectors import (
    APM,
    BALD,
    EPIG,
    APMExploit,
    APMExplore,
    ContestedPair,
    Entropy,
    GainPerCost,
    InformationGain,
    LeastConfidence,
    Margin,
    MaxVariance,
    Predictions,
    Selector,
    Uncertainty,
)
from tests.apm.given import GivenSamples

PAIR = ContestedPair()
RNG = np.random.default_rng(7)
X = RNG.normal(size=(6, 2))
LINE: list[Selector] = [
    APM(PoolMaxPower()),
    APM(SpectralPower()),
    APM(SpectralWithMean()),
    APM(PoolMaxPower(), message=Predictions(X[:3])),
    APM(PoolMaxPower(), message=Predictions(X[:3], pooled=False, weighted=False)),
    APM(MatchedPower()),
    APM(VariancePower()),
    APM(SignalPower()),
    APM(SharePower()),
    APMExploit(FixedPower(2.0), averaged=True),
    APMExplore(PoolMaxPower()),
    GainPerCost(),
    BALD(),
    EPIG(targets=X[:2]),
    InformationGain(),
    InformationGain(samples=50),
    MaxVariance(),
    Margin(bayesian=True),
    Margin(bayesian=True, samples=50),
    Entropy(bayesian=True),
    LeastConfidence(bayesian=True),
    Uncertainty(),
]
CLASSES: list[Selector] = [
    APM(PoolMaxPower(), channel=PAIR),
    APM(SpectralPower(), channel=PAIR),
    APMExploit(FixedPower(2.0), channel=PAIR, averaged=True),
    BALD(),
    EPIG(targets=X[:2]),
    InformationGain(),
    InformationGain(samples=50),
    MaxVariance(),
    Margin(bayesian=True),
    Entropy(bayesian=True, samples=50),
    Uncertainty(),
]


def scores(selector: Selector, theta: Any, weights: Any) -> np.ndarray:
    return selector.scores(Belief(GivenSamples(theta, weights)), X, rng=0)


@pytest.mark.parametrize("selector", LINE, ids=repr)
@settings(max_examples=8)
@given(
    seed=st.integers(0, 10**6),
    counts=st.lists(st.integers(0, 3), min_size=4, max_size=6),
)
def test_weights_are_repetitions_on_the_line(selector, seed, counts):
    assume(sum(count > 0 for count in counts) > 1)
    theta = 2.0 * np.random.default_rng(seed).normal(size=(len(counts), 2))
    found = scores(selector, theta, counts)
    repeated = scores(selector, np.repeat(theta, counts, axis=0), np.ones(sum(counts)))
    # the same sums in another order; W2 to a target of size 1 to 100
    np.testing.assert_allclose(found, repeated, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("selector", CLASSES, ids=repr)
def test_weights_are_repetitions_in_space(selector):
    theta, counts = 2.0 * RNG.normal(size=(5, 3, 2)), [1, 0, 3, 2, 1]
    found = scores(selector, theta, counts)
    repeated = scores(selector, np.repeat(theta, counts, axis=0), np.ones(7))
    np.testing.assert_allclose(found, repeated, rtol=1e-9, atol=1e-10)
    alike = scores(selector, theta, np.ones(5))
    assert not np.allclose(found, alike, rtol=1e-3)


def test_weights_matter_on_the_line():
    """Else the property above would hold for a rule that ignores them."""
    theta = 2.0 * RNG.normal(size=(5, 2))
    for selector in LINE:
        some, other = (scores(selector, theta, w) for w in ([1, 0, 3, 2, 1], np.ones(5)))
        assert not np.allclose(some, other, rtol=1e-3), selector


@pytest.mark.parametrize("selector", LINE, ids=repr)
def test_batches_and_explanations_work(selector):
    belief = Belief(GivenSamples(2.0 * RNG.normal(size=(5, 2)), [1, 0, 3, 2, 1]))
    picks = selector.select(belief, X, n=4, rng=0)
    assert len(set(picks.tolist())) == 4
    told = selector.explain(belief, X, int(picks[0]), rng=0)
    assert sum(told.terms.values()) == pytest.approx(told.score, rel=1e-9)
