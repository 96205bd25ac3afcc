"""Sampled information gain and EPIG of the logistic channel against the general formulas."""

from __future__ import annotations

import numpy as np
import pytest

from apm import EPIG, Belief, VariationalLogistic
from apm._kernels.sampled_gain import binary_epig, logistic_gain, negative_entropy
from apm.selectors.rules.information_gain import empirical_gain
from channelcode.channels import Logistic
from tests.kernel_checks import assert_matches_py_func


class Plain(Logistic):
    """The logistic channel under another type, which takes the general route."""


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1e4])
def test_gain_is_the_general_formula(scale: float, rng: np.random.Generator) -> None:
    inputs = scale * rng.normal(size=(7, 100))
    found = assert_matches_py_func(logistic_gain, inputs, atol=1e-15)
    general = empirical_gain(Plain(), inputs) * np.log(2)
    # the difference of two entropies, each rounded at about 1e-16
    np.testing.assert_allclose(found, general, atol=4e-15)


def test_gain_of_equal_and_of_opposite_inputs(rng: np.random.Generator) -> None:
    assert logistic_gain(np.full((1, 50), 3.0))[0] < 1e-15  # one input tells nothing
    sides = np.where(np.arange(100) % 2, 800.0, -800.0)[None]
    np.testing.assert_allclose(logistic_gain(sides), np.log(2), rtol=1e-15)
    many = rng.normal(size=(1, 5000)) * 0.1  # a product of 5000 factors near 2 would overflow
    assert np.isfinite(logistic_gain(many)).all()


def test_epig_is_the_mutual_information_of_two_labels(rng: np.random.Generator) -> None:
    here, there = rng.random((4, 60)), rng.random((5, 60))
    joint = here @ there.T / 60
    args = joint, here.mean(axis=1), there.mean(axis=1)
    found = assert_matches_py_func(binary_epig, *args, atol=1e-14)
    for i in range(4):
        total = 0.0
        for k in range(5):
            table = np.stack([here[i], 1 - here[i]]) @ np.stack([there[k], 1 - there[k]]).T / 60
            outer = np.outer(table.sum(axis=1), table.sum(axis=0))
            total += float(np.sum(table * np.log(table / outer)))
        np.testing.assert_allclose(found[i], total / 5, atol=1e-14)


def test_epig_of_the_two_routes(rng: np.random.Generator) -> None:
    X = rng.normal(size=(40, 3))
    posterior = VariationalLogistic().fit(X[:6], [0, 1, 0, 1, 1, 0])
    quick = EPIG(num_targets=10).scores(Belief(posterior), X, rng=3)
    general = EPIG(num_targets=10).scores(Belief(posterior, channel=Plain()), X, rng=3)
    np.testing.assert_allclose(quick, general, atol=1e-13)


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_negative_entropy(p: float) -> None:
    found = assert_matches_py_func(negative_entropy, p)
    expected = sum(q * np.log(q) for q in (p, 1 - p) if q > 0)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
