"""As few atoms as the theory promises, with the same output, cost and information."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import (
    Binomial,
    DiscreteChannel,
    Link,
    Logistic,
    Ordinal,
    Power,
    Softmax,
    Unconstrained,
    capacity,
)
from channelcode.capacity import Problem
from channelcode.capacity.few_atoms import few_atoms, most_atoms
from tests.channelcode.capacity.oracles import mutual_information

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=30)
@given(
    seeds,
    st.sampled_from([Logistic(), Ordinal([-1.0, 1.0]), Binomial(3), Softmax(3)]),
    st.sampled_from([Power(1.0), Unconstrained()]),
)
def test_few_atoms_keep_output_cost_and_information(seed, channel, constraint):
    rng = np.random.default_rng(seed)
    shape = (10,) if channel.dim == 1 else (10, channel.dim)
    points, weights = rng.normal(0.0, 2.0, shape), rng.dirichlet(np.ones(10))
    problem = Problem(channel, constraint)
    few, masses = few_atoms(problem, points, weights)
    limited = isinstance(constraint, Power)
    assert len(masses) <= channel.num_outputs + limited
    assert (masses > 0).all()
    before, after = channel.prob(points), channel.prob(few)
    np.testing.assert_allclose(masses @ after, weights @ before, atol=1e-11)
    if limited:
        assert masses @ problem.cost(few) == pytest.approx(
            weights @ problem.cost(points), rel=1e-10
        )
    gained = mutual_information(after, masses) - mutual_information(before, weights)
    assert gained >= -1e-11


def test_many_atoms_become_few_without_losing_digits():
    rng = np.random.default_rng(3)
    channel, problem = Binomial(10), Problem(Binomial(10), Power(4.0))
    points, weights = rng.normal(0.0, 2.0, 400), rng.dirichlet(np.ones(400))
    few, masses = few_atoms(problem, points, weights)
    assert len(few) <= most_atoms(problem) == 12
    np.testing.assert_allclose(
        masses @ channel.prob(few), weights @ channel.prob(points), atol=1e-13
    )
    assert masses @ few**2 == pytest.approx(weights @ points**2, rel=1e-13)


@pytest.mark.parametrize(
    ("channel", "constraint"),
    [
        (Link(lambda l: 1 / (1 + np.exp(-(l - 3.0)))), Power(5e-6)),
        (Binomial(10), Power(30.0)),
        (Binomial(3), Power(1e-4)),
        (DiscreteChannel(np.repeat(np.eye(4) * 0.6 + 0.1, 5, axis=0)), Unconstrained()),
        (DiscreteChannel(np.tile([0.25, 0.75], (30, 1)), np.arange(30.0)), Power(9.0)),
    ],
)
def test_no_answer_has_more_atoms_than_outputs_and_one(channel, constraint):
    result = capacity(channel, constraint)
    limited = isinstance(constraint, Power)
    assert len(result.input) <= channel.num_outputs + limited
    assert result.gap <= 1e-9
