"""The errors that come with information: in bits, above the true ones, and not much larger."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from channelcode import (
    Cloglog,
    Gaussian,
    Lapse,
    Logistic,
    Ordinal,
    Probit,
    ScalarPool,
    Softmax,
    mutual_information,
)
from channelcode.information import Information, pool
from channelcode.information.line import scalar_information

MEANS = [0.3, -1.7, 2.5, -4.0, 1.2]
SIGMAS = [0.2, 0.9, 1.4, 3.0, 12.0]


def logistic_bits(mean: float, sigma: float) -> Any:
    """h(E f(L)) - E h(f(L)) with more digits than a float has."""
    with mpmath.workdps(25):
        m, s = mpmath.mpf(mean), mpmath.mpf(sigma)

        def f(l):
            return 1 / (1 + mpmath.exp(-l))

        def h(l):
            return -(f(l) * mpmath.log(f(l), 2) + f(-l) * mpmath.log(f(-l), 2))

        def density(l):
            return mpmath.exp(-(((l - m) / s) ** 2) / 2) / (s * mpmath.sqrt(2 * mpmath.pi))

        ends = sorted(
            {*(m + s * k for k in range(-12, 13, 3)), *map(mpmath.mpf, range(-48, 49, 8))}
        )
        ends = [end for end in ends if abs(end - m) <= 12 * s]
        one: Any = mpmath.quad(lambda l: f(l) * density(l), ends)
        conditional: Any = mpmath.quad(lambda l: h(l) * density(l), ends)
        mixed = -(one * mpmath.log(one, 2) + (1 - one) * mpmath.log(1 - one, 2))
        return mixed - conditional


def test_the_error_of_a_logistic_pool_covers_the_truth_and_is_small():
    found = mutual_information(Logistic(), ScalarPool(MEANS, np.square(SIGMAS)))
    off = [
        float(abs(bits - logistic_bits(mean, sigma)))
        for bits, mean, sigma in zip(found.bits, MEANS, SIGMAS, strict=True)
    ]
    assert (np.array(off) <= found.error).all()
    assert max(off) > 0  # so an error of nothing would be a lie
    assert (found.error <= 2e-12 * np.minimum(1.0, np.square(SIGMAS))).all()


def test_errors_count_bits_like_the_values():
    """Inside all is in nats; what is handed out, value and error alike, is in bits."""
    pooled = mutual_information(Logistic(), ScalarPool(MEANS, np.square(SIGMAS)))
    wide = np.array(SIGMAS) > 1
    np.testing.assert_allclose(pooled.error[wide], pool.TABLE_ERROR / np.log(2))
    alone = mutual_information(Probit(), Gaussian(0.4, 2.0))
    nats, error, *_ = scalar_information(Probit(), 0.4, 2.0)
    assert alone.bits == pytest.approx(float(nats) / np.log(2))
    assert alone.error == pytest.approx(float(error) / np.log(2), rel=1e-6, abs=0.0)


def test_a_logistic_pool_needs_no_integral_for_each_law(monkeypatch):
    """The tables are good enough by themselves: an error stated too large would cost the speed."""

    def refused(*_):
        raise AssertionError("one law at a time")

    laws = ScalarPool(MEANS, np.square(SIGMAS))
    alone = [mutual_information(Logistic(), law).bits for law in laws]
    monkeypatch.setattr(pool, "scalar_information", refused)
    found = mutual_information(Logistic(), laws)
    assert (np.abs(found.bits - alone) <= found.error + 1e-13).all()  # rounding of those alone


@pytest.mark.parametrize("small", [0.03, 0.003])
def test_a_narrow_direction_counts(small):
    """A direction of one hundredth of the largest still tells something; rounding does not."""
    wide = 4.0
    # in the plane that softmax sees, along two orthogonal directions
    first, second = np.array([1.0, -1.0, 0.0]) / np.sqrt(2), np.array([1.0, 1.0, -2.0]) / np.sqrt(6)
    covariance = wide**2 * np.outer(first, first) + small**2 * np.outer(second, second)
    mean = np.array([0.2, 0.0, -0.4])
    with_both = mutual_information(Softmax(3), Gaussian(mean, covariance))
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    few, light = np.polynomial.hermite_e.hermegauss(12)
    weights, light = weights / weights.sum(), light / light.sum()
    logits = (
        mean + wide * nodes[:, None, None] * first + small * few[None, :, None] * second
    ).reshape(-1, 3)
    law = np.exp(logits - logits.max(axis=1, keepdims=True))
    law /= law.sum(axis=1, keepdims=True)
    weight = np.outer(weights, light).ravel()
    mixed = weight @ law
    entropy = -(np.where(law > 0, law, 1.0) * np.log2(np.where(law > 0, law, 1.0))).sum(axis=1)
    expected = float(-(mixed * np.log2(mixed)).sum() - weight @ entropy)
    # what the narrow direction tells is small^2 J / 2 ln 2 bits: 1e-4 of them, or 1e-6
    assert with_both.bits == pytest.approx(expected, abs=max(3 * with_both.error, 1e-9))


@pytest.mark.parametrize("channel", [Cloglog(), Lapse(Probit(0.2), low=0.1), Ordinal((-1.0, 0.4))])
def test_a_pool_of_wide_laws_has_small_errors_that_hold(channel):
    """Tables of the smoothed channel against one integral each, also at the ends of the pool."""
    mean, deviation = np.array([-6.0, -1.0, 0.0, 2.0, 7.0]), np.array([3.0, 8.0, 3.0, 20.0, 3.0])
    found = mutual_information(channel, ScalarPool(mean, deviation**2))
    one = [mutual_information(channel, Gaussian(m, s**2)) for m, s in zip(mean, deviation)]
    away = np.abs(np.asarray(found.bits) - [each.bits for each in one])
    errors = np.asarray(found.error)
    assert (away <= errors + [each.error for each in one]).all()
    assert errors.max() < 1e-10


def test_landmarks_are_no_edges():
    """A jump at an edge would look smooth from either side, and its error be missed."""
    from channelcode.information.line import bends

    channel = Ordinal((-1.0, 0.4), link=Probit(1e-3))
    edges = bends(channel, -40.0, 40.0)
    assert edges is not None
    assert not set(edges.tolist()) & {-1.0, 0.4}
    # and they go out geometrically: no panel is longer than four times its distance to a bend
    inner = edges[(edges > 0.4)]
    assert (np.diff(inner) <= 4 * (inner[:-1] - 0.4)).all()
    assert inner[-1] > 4.0


def test_a_number_alone_is_exact():
    assert Information(0.25).error == 0.0
