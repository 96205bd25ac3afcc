"""The rules behind information on the line."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode._numerics.quadrature import (
    HALF_RANGE,
    averaged_divergence,
    gauss_hermite,
    gauss_kronrod,
)


def test_kronrod_is_exact_to_degree_31():
    rule = gauss_kronrod()
    for degree in range(0, 33, 2):
        wanted = 2.0 / (degree + 1)
        fine, coarse = rule.fine @ rule.nodes**degree, rule.coarse @ rule.nodes**degree
        if degree <= 31:
            assert fine == pytest.approx(wanted, abs=1e-15)
        if degree <= 19:
            assert coarse == pytest.approx(wanted, abs=1e-15)
    # and no further, or the error estimate would always be zero
    assert abs(rule.coarse @ rule.nodes**20 - 2 / 21) > 1e-9
    assert (rule.fine[1:-1] > 0).all()


def test_a_jump_beyond_the_outermost_node_is_seen():
    rule = gauss_kronrod()
    for place in (-0.999, 0.999, 0.3):
        values = (rule.nodes > place).astype(float)[None, :, None]
        assert rule.disagreement(values, np.array([1.0]))[0, 0] > 1e-3
    smooth = np.exp(rule.nodes)[None, :, None]
    assert rule.disagreement(smooth, np.array([1.0]))[0, 0] < 1e-14


def test_hermite_integrates_moments():
    nodes, weights = gauss_hermite(20)
    for degree, wanted in ((0, 1), (2, 1), (4, 3), (6, 15), (8, 105)):
        assert weights @ nodes**degree == pytest.approx(wanted, rel=1e-13)


def test_a_clean_threshold_has_its_closed_form():
    """Y = sign(Z - t): the divergence is the entropy of the output; a jump is bracketed."""
    t = 0.3

    def log_rows(z):
        with np.errstate(divide="ignore"):
            return np.log(np.stack([z <= t, z > t], axis=-1).astype(float))

    found = averaged_divergence(log_rows, np.linspace(-HALF_RANGE, HALF_RANGE, 25))
    from scipy.special import ndtr

    q = np.array([ndtr(t), ndtr(-t)])
    assert found.nats == pytest.approx(-(q * np.log(q)).sum(), abs=1e-12)
    np.testing.assert_allclose(found.output, q, atol=1e-13)


def test_a_channel_that_says_nothing():
    found = averaged_divergence(
        lambda z: np.log(np.full((len(z), 2), 0.5)), np.linspace(-HALF_RANGE, HALF_RANGE, 25)
    )
    assert found.nats == pytest.approx(0.0, abs=1e-30)
    assert found.error < 1e-14
