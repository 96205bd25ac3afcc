"""Several starts, and the alarm where maxima compete."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from apm import NonLinear
from apm.posteriors.fitting.gauss_newton import Problem, expanded, maximise
from apm.posteriors.fitting.restarts import CompetingMaxima, apartness, best_maximum, settled
from channelcode import Logistic


def square(rows=4):
    """l = theta^2 x - 1: two maxima that say the same; and theta x^2 - ..: one."""
    encoder = NonLinear(lambda t, X: np.square(t)[:, 0] * X[:, :1] - 1.0, 1)
    X = np.ones((rows, 1))
    return Problem(
        encoder,
        Logistic(),
        X,
        np.ones(rows, dtype=np.int64),
        np.ones(rows),
        np.zeros(1),
        np.ones(1) * 2,
    )


def test_a_saddle_is_not_a_maximum():
    held, rng = square(), np.random.default_rng(0)
    stuck = maximise(held, np.zeros(1))
    assert stuck.u[0] == 0.0
    found = settled(held, stuck, rng)
    assert found.value < stuck.value
    assert abs(found.u[0]) > 0.1


def test_maxima_that_say_the_same_do_not_compete():
    held, rng = square(), np.random.default_rng(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best = best_maximum(held, None, 6, rng)
    mirrored = expanded(held, -best.u)
    assert apartness(held, best, mirrored, rng) == pytest.approx(0.0, abs=1e-6)
    assert apartness(held, best, best, rng) == 0.0


def test_maxima_that_differ_off_the_labels_compete():
    encoder = NonLinear(
        lambda t, X: 2.0 - 4 * np.abs(np.square(t[:, 0]) - 4.0) + t[:, 0] * X[:, :1], 1
    )
    X = np.zeros((30, 1))
    held = Problem(
        encoder,
        Logistic(),
        X,
        np.ones(30, dtype=np.int64),
        np.ones(30),
        np.zeros(1),
        np.ones(1) * 2,
    )
    smooth = NonLinear(
        lambda t, X: 2.0 - np.square(np.square(t[:, 0]) - 4.0) + t[:, 0] * X[:, :1], 1
    )
    with pytest.warns(CompetingMaxima, match="starts found maxima within 3 nats"):
        best_maximum(held._replace(encoder=smooth), None, 8, np.random.default_rng(2))
