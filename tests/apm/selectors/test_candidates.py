"""Large pools: pieces, single precision, and memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from apm.belief import Belief
from apm.encoders import Affine
from apm.posteriors import Laplace, VariationalLogistic
from apm.selectors import APM, BALD, InformationGain, MaxVariance, Uncertainty
from apm.selectors.candidates import SMALL, candidate_laws
from channelcode.channels import Softmax
from channelcode.errors import InvalidArgument

ROWS, FEATURES = 3000, 40


def large(seed: int = 0) -> tuple[Belief, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(ROWS, FEATURES))
    assert X.size > SMALL
    return Belief(VariationalLogistic(0.1).fit(X[:20], (X[:20, 0] > 0).astype(int))), X


def test_some_rows_of_many_features_have_means_in_double_precision():
    # beyond 192 features the variance was double and the mean single, and the square of it too
    X = np.random.default_rng(0).normal(size=(256, 193)).astype(np.float32)
    posterior = VariationalLogistic(intercept=True).fit(X[:8], (X[:8, 0] > 0).astype(int))
    belief = Belief(posterior)
    every = candidate_laws(belief, X, np.arange(256))
    some = candidate_laws(belief, X, np.arange(8, 256))
    assert some.mean.dtype == np.float64
    np.testing.assert_array_equal(some.mean, every.mean[8:])
    np.testing.assert_array_equal(some.second_moment, every.second_moment[8:])


@pytest.mark.parametrize("kind, rtol", [(np.float64, 1e-12), (np.float32, 1e-5)])
@pytest.mark.parametrize("excluded", [0, 5])
def test_laws_in_pieces_are_the_pushed_ones(kind, rtol, excluded):
    belief, X = large()
    candidates = np.arange(excluded, ROWS)
    laws = candidate_laws(belief, X.astype(kind), candidates)
    whole = belief.push(X)[candidates]
    assert laws.mean.dtype == np.float64
    np.testing.assert_allclose(laws.mean, whole.mean, rtol=rtol, atol=100 * rtol)
    np.testing.assert_allclose(laws.total_variance, whole.total_variance, rtol=rtol)
    with pytest.raises(ValueError, match="read-only"):
        laws.mean[0] = 1.0


@pytest.mark.parametrize("place", range(3))
def test_other_structures_and_encoders_take_the_general_way(place):
    _, X = large()
    y = X[:30, :3].argmax(axis=1)
    belief = [
        Belief(VariationalLogistic(0.1, intercept=True).fit(X[:20], (X[:20, 0] > 0).astype(int))),
        Belief(VariationalLogistic(0.1), Affine()).fit(X[:20], (X[:20, 0] > 0).astype(int)),
        Belief(Laplace(Softmax(3), 1.0).fit(X[:30], y)),
    ][place]
    candidates = np.arange(3, ROWS)
    laws = candidate_laws(belief, X, candidates)
    whole = belief.push(X)[candidates]
    np.testing.assert_allclose(laws.mean, whole.mean, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(laws.total_variance, whole.total_variance, rtol=1e-10)


@pytest.mark.parametrize(
    "selector", [APM(), MaxVariance(), InformationGain(), BALD(), Uncertainty()]
)
def test_single_precision_selects_as_well(selector):
    belief, X = large()
    scores = selector.scores(belief, X)
    (chosen,) = selector.select(belief, X.astype(np.float32))
    # rounding to float32 moves scores by about 1e-6 of their size
    assert scores[chosen] >= scores.max() - 1e-5 * np.abs(scores).max()


def test_inputs_out_of_range_are_refused():
    belief, X = large()
    X[17, 3] = 1e200
    with pytest.raises(InvalidArgument):
        APM().select(belief, X)


def test_memory_on_top_of_a_pool_stays_small():
    X = np.random.default_rng(0).normal(size=(100_000, 64))
    belief = Belief(VariationalLogistic(0.1).fit(X[:20], (X[:20, 0] > 0).astype(int)))
    for selector in (APM(), InformationGain(), Uncertainty(), InformationGain(samples=100)):
        selector.select(belief, X[:500])  # compile first
        tracemalloc.start()
        selector.select(belief, X, exclude=[1, 2])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 64 * 2**20
