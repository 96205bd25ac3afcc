"""Information per query: the library, quadrature, and the constant."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from apm.studies.paper.information import LIPSCHITZ, first_distance, per_query_information
from channelcode import DiscreteMeasure, Gaussian, Logistic
from channelcode.guarantees import information_gap_bound
from channelcode.information import mutual_information
from tests.apm.given import entropy_bits


def test_information_per_query_against_the_library() -> None:
    rng = np.random.default_rng(2)
    mean, spread = 2 * rng.normal(size=12), np.exp(rng.normal(size=12))
    power = (mean**2 + spread**2) * rng.uniform(1, 3, size=12)
    found = per_query_information(mean, spread**2, power)
    for i in range(12):
        law, target = (
            Gaussian(mean[i], spread[i] ** 2),
            DiscreteMeasure.symmetric(np.sqrt(power[i])),
        )
        bound = information_gap_bound(Logistic(), law, target, power=power[i])
        best, own = (
            mutual_information(Logistic(), target).bits,
            mutual_information(Logistic(), law).bits,
        )
        np.testing.assert_allclose(found["capacity"][i], best, atol=1e-10)
        np.testing.assert_allclose(found["gain"][i], own, atol=1e-10)
        np.testing.assert_allclose(
            first_distance(mean[i : i + 1], spread[i : i + 1], np.sqrt(power[i : i + 1])), bound.w1
        )
        # the constant is rounded up from 0.322979
        assert bound.bits - 1e-10 <= found["transport_bound"][i] <= bound.bits + 3e-5 * bound.w2
        assert found["transport_bound"][i] >= found["bound"][i] - 1e-10


def test_what_is_known_gains_nothing() -> None:
    found = per_query_information(np.array([0.0, 1.5]), np.zeros(2), np.array([4.0, 4.0]))
    p = expit(2.0)
    np.testing.assert_allclose(found["gain"], 0.0, atol=1e-12)
    np.testing.assert_allclose(found["capacity"], 1 - entropy_bits([p, 1 - p]), rtol=1e-12)
    np.testing.assert_allclose(found["bound"], found["capacity"], rtol=1e-12)


@pytest.mark.parametrize(
    ("mean", "spread", "amplitude"), [(0.0, 1.0, 0.8), (2.5, 0.4, 1.0), (-0.7, 3.0, 2.0)]
)
def test_first_distance_is_the_integral_over_quantiles(
    mean: float, spread: float, amplitude: float
) -> None:
    """W1 = integral of |F^-1(u) - G^-1(u)| over u: the atoms are met at u = 1/2."""
    u = (np.arange(200_000) + 0.5) / 200_000
    target = np.where(u < 0.5, -amplitude, amplitude)
    expected = np.abs(norm.ppf(u, mean, spread) - target).mean()
    found = first_distance(np.array([mean]), np.array([spread]), np.array([amplitude]))
    # midpoints miss about the spread times 1 / 200 000 in each tail
    np.testing.assert_allclose(found, [expected], atol=1e-4)


def test_the_constant_is_the_steepest_slope_rounded_up() -> None:
    """d/dl [1 - h_b(f(l))] = l f(l) (1 - f(l)) log2 e."""
    l = np.linspace(0, 10, 100_001)
    steepest = (l * expit(l) * expit(-l)).max() / np.log(2)
    assert steepest <= LIPSCHITZ < steepest + 1e-4
