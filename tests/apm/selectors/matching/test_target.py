"""The target and what a law costs against it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from apm.selectors.matching.target import (
    beside,
    exploitation,
    has_known_target,
    paper_utility,
    target_input,
    two_atom_constant,
    two_atom_scores,
)
from channelcode.capacity.solvers.continuous import Continuous
from channelcode.channels import AdditiveGaussian, Cloglog, Link, Logistic, Probit, Softmax
from channelcode.measures import DiscreteMeasure, EmpiricalPool, FullPool, ScalarPool
from channelcode.transport import w2_squared


def test_target_is_two_atoms_at_the_root_of_the_power():
    for solver in (None, Continuous()):
        target = target_input(Logistic(), 9.0, solver=solver)
        np.testing.assert_allclose(np.sort(target.input.atoms), [-3.0, 3.0], rtol=1e-7)
        np.testing.assert_allclose(target.input.weights, 0.5, rtol=1e-7)
        p = 1 / (1 + np.exp(-3.0))
        expected = 1 + p * np.log2(p) + (1 - p) * np.log2(1 - p)
        assert target.bits == pytest.approx(expected, abs=1e-9)


def test_the_target_is_known_by_theorem_only_for_these_channels_and_laws():
    line, draws = ScalarPool([0.0], [1.0]), EmpiricalPool(np.zeros((1, 3)))
    assert has_known_target(Logistic(), line)
    assert has_known_target(Probit(2.0), line)
    assert has_known_target(AdditiveGaussian(2.0), line)
    assert not has_known_target(Logistic(), draws)
    assert not has_known_target(Cloglog(), line)
    assert not has_known_target(Link(norm.cdf), line)
    assert not has_known_target(Softmax(2), FullPool(np.zeros((1, 2)), np.zeros((1, 2, 2))))


@pytest.mark.parametrize("power", [0.0, 0.3, 50.0])
def test_scores_are_the_distance_by_definition(power, rng):
    """W2 of two laws on the line pairs their quantiles: here 200,000 of each."""
    laws = ScalarPool(rng.normal(size=4), np.array([0.0, 0.5, 4.0, 100.0]))
    z = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    atoms = np.sqrt(power) * np.where(z < 0, -1.0, 1.0)
    for found, mean, variance in zip(two_atom_scores(laws, power), laws.mean, laws.variance):
        cost = np.mean((mean + np.sqrt(variance) * z - atoms) ** 2)
        assert -found == pytest.approx(cost, rel=1e-4)  # the tails beyond the last quantile
    shifted = paper_utility(laws, power) - two_atom_constant(power)
    np.testing.assert_allclose(two_atom_scores(laws, power), shifted, rtol=1e-12)


@pytest.mark.parametrize("dim", [1, 3])
def test_terms_add_up_and_a_shift_of_the_law_moves_the_first_alone(dim, rng):
    if dim == 1:
        laws, moved = (ScalarPool([mean], [2.0]) for mean in (0.5, 1.75))
        target, step = DiscreteMeasure([-1.0, 2.0], [0.25, 0.75]), 1.25
    else:
        root = rng.normal(size=(3, 3))
        step = np.array([1.0, -2.0, 0.5])
        laws, moved = (
            FullPool(np.array([mean]), (root @ root.T)[None]) for mean in (np.ones(3), 1 + step)
        )
        target = DiscreteMeasure(rng.normal(size=(4, 3)), np.full(4, 0.25))
    found, later = beside(target, laws), beside(target, moved)
    first, second = found.exploitation, found.exploration
    np.testing.assert_allclose(first + second, w2_squared(laws, target), rtol=1e-9)
    np.testing.assert_allclose(first, exploitation(laws, target))
    assert first[0] == pytest.approx(np.sum((laws.mean[0] - target.mean) ** 2))
    after, same = later.exploitation, later.exploration
    # in R^k the distance is the optimum of a dual, found to about 1e-8
    np.testing.assert_allclose(same, second, rtol=1e-6)
    expected = np.sum((laws.mean[0] + step - target.mean) ** 2)
    assert after[0] == pytest.approx(expected)
