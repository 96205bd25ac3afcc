"""Kernels against their plain functions."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode._kernels.capacity_blahut import tilt
from channelcode._kernels.capacity_interior import factorise, kkt_values, solve_factored
from tests.kernel_checks import assert_matches_py_func


def test_factorise_and_solve(rng):
    root = rng.normal(size=(6, 6))
    matrix = root @ root.T + np.eye(6)
    factor = matrix.copy()
    factorise(factor)
    right = rng.normal(size=6)
    answer = right.copy()
    solve_factored(factor, answer)
    np.testing.assert_allclose(matrix @ answer, right, rtol=1e-10)
    assert_matches_py_func(factorise, matrix)
    assert_matches_py_func(solve_factored, factor, right)


def test_kkt_values(rng):
    matrix = rng.dirichlet(np.ones(4), size=5)
    weights = rng.dirichlet(np.ones(5))
    entropy = -(matrix * np.log(matrix)).sum(axis=1)
    arguments = (matrix, entropy, weights, np.empty(5), np.empty(4))
    value = assert_matches_py_func(kkt_values, *arguments)
    output = weights @ matrix
    direct = (weights[:, None] * matrix * np.log(matrix / output)).sum()
    assert value == pytest.approx(direct, rel=1e-12)


def test_tilt_meets_the_budget(rng):
    logs, cost = rng.normal(size=20), rng.uniform(0.0, 3.0, 20)
    s = assert_matches_py_func(tilt, logs, cost, 0.7, 0.0)
    weights = np.exp(logs - s * cost)
    assert weights @ cost / weights.sum() == pytest.approx(0.7, rel=1e-12)
    assert tilt(logs, cost, 3.0, 0.0) == 0.0
