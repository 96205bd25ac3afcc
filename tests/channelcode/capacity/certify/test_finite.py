"""The bound over a finite alphabet, against a textbook Blahut-Arimoto."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import Cost, DiscreteChannel
from channelcode.capacity import Problem, certify
from channelcode.capacity.certify.finite import finite_bound
from tests.channelcode.capacity.oracles import kkt, priced_blahut_arimoto

seeds = st.integers(0, 2**32 - 1)
TOL = 1e-9


@settings(max_examples=40)
@given(seeds, st.floats(-4.0, 0.5).map(lambda e: 10.0**e))
def test_finite_bounds_hold_the_capacity(seed, multiplier):
    rng = np.random.default_rng(seed)
    matrix, cost = rng.dirichlet(np.ones(4), size=5), rng.uniform(0.0, 2.0, 5)
    _, nats, spent = priced_blahut_arimoto(matrix, cost, 0.1, gap=1e-7)
    problem = Problem(DiscreteChannel(matrix), Cost(lambda l: cost[l.astype(int)], spent))
    weights = rng.dirichlet(np.ones(5))
    bounds = certify(problem, np.arange(5.0), weights, multiplier, tol=TOL)
    assert 0.0 <= bounds.lower <= bounds.upper
    assert bounds.lower <= nats + 1e-7  # the textbook's own gap
    assert bounds.upper >= nats - 1e-12
    output = weights @ matrix
    expected = kkt(matrix, output, cost - spent, multiplier).max()
    assert finite_bound(problem, output, multiplier)[0] == pytest.approx(expected, abs=1e-12)
