"""The compiled Blahut-Arimoto against itself uncompiled and against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import rel_entr

from channelcode._kernels.capacity_blahut import FLOOR, blahut_arimoto, tilt, update
from tests.channelcode.capacity.oracles import entropy, mutual_information, priced_blahut_arimoto
from tests.kernel_checks import assert_matches_py_func


@pytest.mark.parametrize("guess", [0.0, 0.5, 40.0])
def test_tilt_meets_the_budget(rng, guess):
    logs, cost = rng.normal(size=20), rng.uniform(0.0, 3.0, 20)
    s = assert_matches_py_func(tilt, logs, cost, 0.7, guess)
    weights = np.exp(logs - s * cost)
    assert weights @ cost / weights.sum() == pytest.approx(0.7, rel=1e-12)
    assert tilt(logs, cost, 3.0, guess) == 0.0


def test_tilt_of_a_steep_law():
    logs, cost = np.array([-600.0, 0.0, 300.0]), np.array([0.0, 1.0, 50.0])
    s = assert_matches_py_func(tilt, logs, cost, 0.01, 0.0)
    away = logs - s * cost
    weights = np.exp(away - away.max())
    assert weights @ cost / weights.sum() == pytest.approx(0.01, rel=1e-9)


@pytest.mark.parametrize("budget", [0.4, np.inf])
def test_update_is_the_textbooks(rng, budget):
    matrix, cost = rng.dirichlet(np.ones(4), size=6), rng.uniform(0.0, 1.0, 6)
    weights = rng.dirichlet(np.ones(6))
    logs, divergence, out = np.log(weights), np.empty(6), np.empty(6)
    args = (matrix, entropy(matrix), cost, budget, logs, divergence, out, 0.0)
    assert_matches_py_func(update, *args, rtol=1e-11)
    value, s, highest = update(*args)
    direct = rel_entr(matrix, weights @ matrix).sum(axis=1)
    assert value == pytest.approx(mutual_information(matrix, weights), rel=1e-12)
    np.testing.assert_allclose(divergence, direct, atol=1e-13)
    assert highest == pytest.approx((direct - s * cost).max(), rel=1e-12)
    following = weights * np.exp(direct - s * cost)
    np.testing.assert_allclose(np.exp(out), following / following.sum(), rtol=1e-12)
    if budget < np.inf:
        assert np.exp(out) @ cost <= budget * (1 + 1e-12)


def test_update_keeps_weights_off_the_subnormal():
    matrix = np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
    out = np.empty(3)
    update(
        matrix,
        entropy(matrix),
        np.zeros(3),
        np.inf,
        np.array([-0.7, -0.7, -699.9999]),
        np.empty(3),
        out,
        0.0,
    )
    assert out.min() == FLOOR


@pytest.mark.parametrize("price", [0.0, 0.1])
def test_whole_runs(rng, price):
    matrix, cost = rng.dirichlet(np.full(4, 0.5), size=5), rng.uniform(0.0, 2.0, 5)
    _, nats, spent = priced_blahut_arimoto(matrix, cost, price)
    budget = spent if price > 0 else np.inf
    start = np.full(5, 0.2)
    args = (matrix, entropy(matrix), cost if price > 0 else np.zeros(5), budget, start)
    weights, s, steps, gap = blahut_arimoto(*args, 1e-10, 100_000)
    assert gap <= 1e-10
    assert 0 < steps < 100_000
    assert mutual_information(matrix, weights) == pytest.approx(nats, abs=2e-10)
    assert s == pytest.approx(price, abs=1e-4)
    # a few steps only: rounding decides later which branch an extrapolation takes
    assert_matches_py_func(blahut_arimoto, *args, 1e-10, 12, rtol=1e-8, atol=1e-12)
