"""Arithmetic on logarithms of probabilities."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode._numerics.logspace import (
    LARGEST,
    log1mexp,
    log_difference,
    normal_hazard,
    plogp,
    saturated,
)


@pytest.mark.parametrize(
    "x", [-1e-300, -1e-17, -1e-5, -0.5, -0.6931471805599453, -0.7, -30.0, -745.0]
)
def test_log1mexp(x):
    with mpmath.workdps(400):
        wanted = float(mpmath.log(-mpmath.expm1(mpmath.mpf(x))))
    assert float(log1mexp(np.asarray(x))) == pytest.approx(wanted, rel=1e-14, abs=0)


def test_log1mexp_at_the_end():
    assert float(log1mexp(np.asarray(0.0))) == -np.inf


def test_log_difference():
    a, b = np.log(0.75), np.log(0.5)
    assert float(log_difference(a, b)) == pytest.approx(np.log(0.25), rel=1e-15)


@pytest.mark.parametrize("x", [-1e4, -300.0, -5.0, -0.1, 0.0, 0.1, 5.0, 37.0])
def test_hazard(x):
    with mpmath.workdps(60):
        z = mpmath.mpf(x)
        density = mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)
        wanted = float(density / (mpmath.erfc(-z / mpmath.sqrt(2)) / 2))
    # above zero the exponent is formed in doubles: 1e-16 of z^2 / 2
    assert float(normal_hazard(x)) == pytest.approx(wanted, rel=1e-15 * (5 + max(x, 0) ** 2), abs=0)


def test_saturated():
    np.testing.assert_array_equal(saturated(np.array([-np.inf, -1.0])), [-LARGEST, -1.0])


def test_plogp():
    np.testing.assert_allclose(
        plogp(np.array([-np.inf, 0.0, np.log(0.5)])), [0, 0, 0.5 * np.log(0.5)]
    )
    assert float(plogp(np.asarray(-1e-20))) == -1e-20
    assert float(plogp(np.asarray(-LARGEST))) == 0.0
