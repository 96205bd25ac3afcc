"""Weights of samples under labels, in logarithms."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.posteriors.samples.reweighting import (
    CollapsedWeights,
    Pending,
    effective_size,
    is_collapsed,
    label_log_likelihoods,
    log_masses,
    normalised,
    warn_if_collapsed,
)
from channelcode import Logistic, Softmax
from channelcode.errors import InvalidArgument


@given(
    st.lists(st.one_of(st.just(0.0), st.floats(1e-30, 1e30)), min_size=1, max_size=8),
    st.integers(-900, 900),
)
def test_masses_do_not_depend_on_the_unit(weights, power):
    if not any(weights):
        return
    scaled = np.ldexp(weights, power)  # exact
    logs = log_masses(scaled, len(weights))
    expected = np.array(weights) / np.max(weights)
    np.testing.assert_allclose(np.exp(logs), expected / expected.sum(), rtol=1e-9, atol=1e-300)
    assert normalised(logs)[1] == pytest.approx(0.0, abs=1e-12)
    assert 1.0 - 1e-9 <= effective_size(logs) <= len(weights) + 1e-9


def test_all_ruled_out_has_no_mass():
    logs, total = normalised(np.full(3, -np.inf))
    assert total == -np.inf
    assert not np.isnan(logs).any()
    for bad in ([0.0, 0.0], [1.0, -1.0], [1.0], [np.nan, 1.0], ["a", "b"]):
        with pytest.raises(InvalidArgument):
            log_masses(bad, 2)


@pytest.mark.parametrize("channel", [Logistic(), Softmax(3)])
def test_likelihoods_are_weighted_sums(channel, monkeypatch):
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(20, 7) if channel.dim == 1 else (20, 7, 3))
    codes, weights = rng.integers(0, channel.num_outputs, 20), rng.random(20)
    weights[3] = 0.0
    expected = np.zeros(7)
    for i in range(20):
        expected += weights[i] * np.log(channel.prob(inputs[i])[:, codes[i]])
    found = label_log_likelihoods(channel, inputs, codes, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    monkeypatch.setattr("apm.posteriors.samples.reweighting.CHUNK_ENTRIES", 30)
    np.testing.assert_allclose(
        label_log_likelihoods(channel, inputs, codes, weights), expected, rtol=1e-12
    )


def test_a_label_of_weight_zero_says_nothing():
    class Never(Logistic):
        def log_prob(self, l):
            return np.stack([np.zeros_like(l), np.full_like(l, -np.inf)], axis=-1)

    inputs = np.ones((2, 3))
    found = label_log_likelihoods(Never(), inputs, np.array([1, 0]), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(found, 0.0)


def test_collapse_is_told_when_it_happens():
    even, one = log_masses(None, 40), log_masses([1.0] + [1e-9] * 39, 40)
    assert not is_collapsed(even)
    assert is_collapsed(one)
    assert not is_collapsed(np.zeros(1))  # one sample cannot become fewer
    with pytest.warns(CollapsedWeights, match="1.0 of 40"):
        warn_if_collapsed(even, one)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_collapsed(one, one)
        warn_if_collapsed(even, even)


@given(st.integers(0, 2**32 - 1), st.floats(-100, 100))
def test_pending_never_widens_a_law(seed, exponent):
    """Variances of every candidate shrink or stay, at every size of the precision."""
    rng = np.random.default_rng(seed)
    inputs, weights = rng.normal(size=(4, 9, 2)), rng.random(9)
    weights /= weights.sum()
    root = rng.normal(size=(2, 2))
    pending = Pending.of(inputs[0], weights, np.exp(exponent) * root @ root.T)
    moved = pending.moved(inputs)

    def variances(samples):
        centred = samples - np.einsum("s,nsk->nk", weights, samples)[:, None]
        return np.einsum("s,nsk,nsk->n", weights, centred, centred)

    assert np.isfinite(moved).all()
    # 1e-9: rounding of a covariance that a precision of e^100 takes to nothing
    assert (variances(moved) <= variances(inputs) * (1 + 1e-9)).all()
