"""The compiled interior point against itself uncompiled and against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import rel_entr

from channelcode._kernels.capacity_interior import (
    BLOCK,
    factorise,
    interior_point,
    kkt_values,
    longest_step,
    normal_matrix,
    solve_factored,
    start_point,
)
from tests.channelcode.capacity.oracles import entropy, mutual_information, priced_blahut_arimoto
from tests.kernel_checks import assert_matches_py_func


@pytest.mark.parametrize("size", [1, 6, BLOCK, BLOCK + 1, 2 * BLOCK + 5])
def test_factorise_and_solve(rng, size):
    root = rng.normal(size=(size, size))
    matrix = root @ root.T + np.eye(size)
    factor = matrix.copy()
    factorise(factor)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), atol=1e-10)
    right = rng.normal(size=size)
    answer = right.copy()
    solve_factored(factor, answer)
    np.testing.assert_allclose(answer, np.linalg.solve(matrix, right), rtol=1e-8, atol=1e-10)
    assert_matches_py_func(factorise, matrix, rtol=1e-9, atol=1e-12)
    assert_matches_py_func(solve_factored, factor, right, rtol=1e-9, atol=1e-12)


def test_a_lost_pivot_is_shut_off():
    factor = np.array([[1.0, 1.0], [1.0, 1.0]])
    factorise(factor)
    right = np.array([2.0, 2.0])
    solve_factored(factor, right)
    np.testing.assert_allclose(right, [2.0, 0.0], atol=1e-12)


def test_longest_step(rng):
    values, steps = rng.uniform(0.1, 1.0, 50), rng.normal(size=50)
    fraction = assert_matches_py_func(longest_step, values, steps)
    falling = steps < 0
    assert fraction == pytest.approx(min(1.0, (values[falling] / -steps[falling]).min()))
    assert longest_step(values, np.abs(steps)) == 1.0


def test_kkt_values(rng):
    matrix, weights = rng.dirichlet(np.ones(4), size=5), rng.dirichlet(np.ones(5))
    divergence, output = np.empty(5), np.empty(4)
    args = (matrix, entropy(matrix), weights, divergence, output)
    value = assert_matches_py_func(kkt_values, *args, rtol=1e-11)
    kkt_values(*args)
    assert value == pytest.approx(mutual_information(matrix, weights), rel=1e-12)
    np.testing.assert_allclose(output, weights @ matrix, rtol=1e-14)
    np.testing.assert_allclose(divergence, rel_entr(matrix, output).sum(axis=1), atol=1e-13)


@pytest.mark.parametrize("limited", [False, True])
def test_normal_matrix(rng, limited):
    matrix, cost = rng.dirichlet(np.ones(4), size=7), rng.uniform(0.0, 1.0, 7)
    output, theta = rng.dirichlet(np.ones(7)) @ matrix, rng.uniform(0.5, 2.0, 7)
    columns = np.empty((7, 5 if limited else 4))
    args = (matrix, cost, output, theta, 0.3, limited, columns)
    assert_matches_py_func(normal_matrix, *args, rtol=1e-9, atol=1e-13)
    factor, roots = normal_matrix(*args)
    v = matrix / np.sqrt(output)
    wide = np.column_stack([v, cost]) if limited else v
    expected = wide.T @ (wide / theta[:, None])
    expected[:4, :4] += np.eye(4) - np.outer(np.sqrt(output), np.sqrt(output))
    if limited:
        expected[4, 4] += 0.3
    np.testing.assert_allclose(roots, np.sqrt(output), rtol=1e-14)
    np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, expected, atol=1e-12)


def test_start_point(rng):
    weights, divergence = rng.dirichlet(np.ones(5)), rng.uniform(0.0, 1.0, 5)
    value = float(weights @ divergence)
    slack, s, level = assert_matches_py_func(start_point, weights, divergence, 0.4, value, True)
    products = slack * weights
    np.testing.assert_allclose(products, products[0], rtol=1e-12)  # on the central path
    assert s * 0.4 == pytest.approx(products[0])
    assert level > divergence.max()
    assert start_point(weights, divergence, 1.0, value, False)[1] == 0.0


@pytest.mark.parametrize("price", [0.0, 0.1])
def test_whole_runs(rng, price):
    matrix, cost = rng.dirichlet(np.full(4, 0.5), size=6), rng.uniform(0.0, 2.0, 6)
    _, nats, spent = priced_blahut_arimoto(matrix, cost, price)
    if price > 0:
        cost, budget, scale = (cost - cost.min()) / (spent - cost.min()), 1.0, spent - cost.min()
        share = 0.5 / max(1.0, cost.mean())  # half of the budget at most, every letter in use
        start = np.full(6, share / 6)
        start[np.argmin(cost)] += 1.0 - share
    else:
        cost, budget, scale, start = np.zeros(6), np.inf, 1.0, np.full(6, 1 / 6)
    args = (matrix, entropy(matrix), cost, budget, start)
    weights, slack, s, steps, gap = interior_point(*args, 1e-10, 100)
    assert gap <= 1e-10
    assert steps < 60
    assert mutual_information(matrix, weights) == pytest.approx(nats, abs=1e-9)
    assert (slack > 0).all()
    assert s == pytest.approx(price * scale, abs=1e-4)
    # a few steps only: rounding decides later where a step is cut
    assert_matches_py_func(interior_point, *args, 1e-10, 6, rtol=1e-7, atol=1e-10)
