"""LawValue, its deficit and divergences, to all digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr

from channelcode import Link, Logistic
from channelcode.capacity.law_value import divergence, law_value, quiet_log_prob
from tests.channelcode.capacity.oracles import mutual_information

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=40)
@given(seeds)
def test_plain_values(seed):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(4, rng.choice([0.2, 1.0, 10.0])), size=3)
    weights = rng.dirichlet(np.ones(3))
    with np.errstate(divide="ignore"):
        found = law_value(np.log(rows), weights)
    assert found.nats == pytest.approx(mutual_information(rows, weights), abs=1e-14)
    assert found.nats + found.deficit == pytest.approx(np.log(4), abs=1e-14)
    np.testing.assert_allclose(found.output, weights @ rows, atol=1e-15)


def exact(rows, weights):
    """I and log|Y| - I in fifty digits."""
    rows = [[mpmath.mpf(w) for w in row] for row in rows]
    weights = [mpmath.mpf(w) for w in weights]
    output = [sum(p * row[y] for p, row in zip(weights, rows)) for y in range(len(rows[0]))]
    value = sum(
        p * w * mpmath.log(w / output[y])
        for p, row in zip(weights, rows)
        for y, w in enumerate(row)
        if w > 0
    )
    return value, mpmath.log(len(rows[0])) - value


@pytest.mark.parametrize("miss", ["1e-30", "1e-12", "1e-3"])
def test_deficit_near_saturation(miss):
    with mpmath.workdps(60):
        miss = mpmath.mpf(miss)
        value, deficit = exact([[1 - miss, miss], [miss, 1 - miss]], [mpmath.mpf("0.5")] * 2)
        logs = [[float(mpmath.log1p(-miss)), float(mpmath.log(miss))]]
    logs = np.array(logs + [logs[0][::-1]])
    found = law_value(logs, np.array([0.5, 0.5]))
    assert found.deficit == pytest.approx(float(deficit), rel=1e-12)
    assert found.nats == pytest.approx(float(value), rel=1e-14)


@pytest.mark.parametrize("shift", [1e-2, 1e-5, 1e-8])
def test_small_information_keeps_its_digits(shift):
    rows = np.array([[0.5 + shift, 0.5 - shift], [0.5 - shift, 0.5 + shift]])
    with mpmath.workdps(60):
        value, _ = exact(rows, [mpmath.mpf("0.5")] * 2)
    found = law_value(np.log(rows), np.array([0.5, 0.5]))
    # the logs themselves are rounded: a relative error of eps / shift reaches the square
    assert found.nats == pytest.approx(float(value), rel=1e-15 / shift + 1e-13)


@settings(max_examples=40)
@given(seeds)
def test_divergence(seed):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(4, 0.5), size=6)
    output = rng.dirichlet(np.ones(4))
    np.testing.assert_allclose(
        divergence(np.log(rows), output), rel_entr(rows, output).sum(axis=1), atol=1e-13
    )


def test_divergence_at_the_edges():
    with np.errstate(divide="ignore"):
        logs = np.log([[1.0, 0.0], [0.5, 0.5]])
    np.testing.assert_array_equal(
        divergence(logs, np.array([1.0, 0.0])), [0.0, np.inf]
    )  # an output that q misses but the input makes
    np.testing.assert_allclose(divergence(logs, np.array([0.5, 0.5])), [np.log(2), 0.0], atol=1e-16)


def test_safe_log_prob_is_quiet():
    loud = Link(lambda l: 1 / (1 + np.exp(-l)))  # overflows far out
    found = quiet_log_prob(loud, np.array([-2000.0, 0.0]))
    assert found.shape == (2, 2)
    np.testing.assert_allclose(found[1], -np.log(2), atol=1e-15)
    np.testing.assert_array_equal(
        quiet_log_prob(Logistic(), np.array([0.3])), Logistic().log_prob(np.array([0.3]))
    )
