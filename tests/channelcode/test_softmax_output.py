"""E softmax of independent Gaussian logits: against quadrature, limits and symmetries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import expit, softmax

from channelcode._kernels.softmax_output import softmax_output
from channelcode.information.softmax_output import (
    LEVEL_STEP,
    LOW,
    NODE_STEP,
    SPREAD,
    STEP,
    UNIT,
    _table,
    isotropic_part,
    isotropic_softmax_output,
)
from tests.kernel_checks import assert_matches_py_func

# six levels of noise in a step of 0.2, nodes of Hermite cubics in a step of 1/8: see the module
ERROR = 1e-6


def two_classes(mean: float, deviation: float) -> float:
    """E 1/(1 + exp(-L)), L ~ N(mean, 2 deviation^2), by adaptive quadrature."""
    spread = np.sqrt(2.0) * deviation

    def integrand(z: float) -> float:
        return float(np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi) * expit(mean + spread * z))

    turn = float(np.clip(-mean / spread, -9.0, 9.0)) if spread > 0 else 0.0
    width = min(30.0 / spread, 9.0) if spread > 0 else 1.0
    points = sorted({float(np.clip(turn + k * width, -9.0, 9.0)) for k in (-1, -0.2, 0, 0.2, 1)})
    return integrate.quad(integrand, -9.0, 9.0, points=points, limit=400, epsabs=1e-11)[0]


@pytest.mark.parametrize(
    "deviation", [1e-6, 0.01, 0.03, 0.1, 0.3, 0.49, 0.51, 1, 2, 5, 20, 100, 3e3]
)
@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0, 3.0])
def test_two_classes_are_one_integral(deviation, ratio):
    mean = ratio * (1.0 + deviation)
    found = isotropic_softmax_output(np.array([[mean, 0.0]]), np.array([float(deviation)]))[0]
    assert found[0] == pytest.approx(two_classes(mean, deviation), abs=ERROR)
    assert found.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("deviation", [0.05, 0.4, 1.0, 3.0])
def test_three_classes_by_quadrature(deviation):
    mean = np.array([0.7, -0.4, 1.5]) * max(1.0, deviation)
    z = np.arange(-7.0, 7.0, 0.175)  # the softmax is smooth on the scale of 1/deviation
    weight = np.exp(-0.5 * z * z)
    weight /= weight.sum()
    logits = mean + deviation * np.stack(np.meshgrid(z, z, z, indexing="ij"), axis=-1)
    expected = np.einsum("a,b,c,abck->k", weight, weight, weight, softmax(logits, axis=-1))
    found = isotropic_softmax_output(mean[None], np.array([deviation]))[0]
    np.testing.assert_allclose(found, expected, atol=ERROR)


@given(st.integers(2, 12), st.floats(0.0, 50.0), st.integers(0, 2**32 - 1), st.floats(-1e3, 1e3))
def test_shifts_and_permutations(classes, deviation, seed, shift):
    rng = np.random.default_rng(seed)
    mean = 5.0 * rng.normal(size=(1, classes))
    found = isotropic_softmax_output(mean, np.array([deviation]))
    order = rng.permutation(classes)
    again = isotropic_softmax_output(mean[:, order] + shift, np.array([deviation]))
    np.testing.assert_allclose(again, found[:, order], atol=1e-10)  # a shift of 1e3 costs digits
    assert (found >= 0).all()
    ranks = np.argsort(mean[0])
    assert (np.diff(found[0, ranks]) >= -ERROR).all()  # the larger mean is the likelier


def test_without_noise_it_is_the_softmax_and_with_much_all_are_alike():
    mean = np.array([[0.0, 1.0, -2.0]])
    sharp = isotropic_softmax_output(mean, np.array([0.0]))
    np.testing.assert_allclose(sharp, softmax(mean, axis=1), rtol=1e-14)
    blurred = isotropic_softmax_output(mean, np.array([1e9]))
    np.testing.assert_allclose(blurred, 1 / 3, atol=ERROR)


def test_far_means_are_certain():
    found = isotropic_softmax_output(np.array([[1e300, 0.0, -1e300]]), np.array([3.0]))
    assert found[0, 0] == pytest.approx(1.0, abs=ERROR)


def test_kernel_matches_its_python():
    rng = np.random.default_rng(0)
    arguments = (
        rng.normal(size=(3, 4)), np.array([0.0, 0.3, 4.0]), _table(), UNIT, LEVEL_STEP, LOW,
        NODE_STEP, STEP, SPREAD, np.empty((3, 4)),
    )  # fmt: skip
    assert_matches_py_func(softmax_output, *arguments, rtol=1e-9)


def test_what_a_softmax_sees_of_a_covariance():
    assert isotropic_part(2.0 * np.eye(3)) == 2.0
    assert isotropic_part(2.0 * np.eye(3) + 5.0) == pytest.approx(2.0)
    assert isotropic_part(np.diag([1.0, 1.0, 1.1])) is None
    assert isotropic_part(np.eye(1)) is None
