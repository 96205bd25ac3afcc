"""What a transport solve returns."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode.certificate import Certificate, SolveStats
from channelcode.measures import (
    DiscreteMeasure,
    Empirical,
    Gaussian,
)
from channelcode.transport import (
    Potentials,
    TransportResult,
    w2,
)


def test_swapping_the_laws_transposes_the_plan(rng):
    mu, nu = Empirical(rng.standard_normal((7, 2))), DiscreteMeasure.uniform(np.eye(2))
    result, back = w2(mu, nu), w2(nu, mu)
    assert back.plan.shape == (2, 7)
    assert isinstance(back.potentials, Potentials)
    np.testing.assert_array_equal(back.potentials.target, result.potentials.source)
    np.testing.assert_array_equal(back.potentials.source, result.potentials.target)
    np.testing.assert_array_equal(back.plan.toarray().T, result.plan.toarray())
    assert back.problem.first is nu


def test_derived_figures():
    result = w2(Gaussian(0.0, 1.0), DiscreteMeasure.symmetric(1.0))
    assert result.certificate == Certificate(result.lower, result.upper)
    assert result.gap == result.upper - result.lower
    assert result.distance == pytest.approx(np.sqrt(result.squared))
    assert isinstance(result, TransportResult)
    assert isinstance(result.stats, SolveStats)
    assert result.stats.seconds > 0


def test_a_gaussian_is_one_row_of_the_plan():
    nu = DiscreteMeasure([-1.0, 0.0, 2.0], [0.2, 0.3, 0.5])
    assert w2(Gaussian(0.0, 1.0), nu).plan.shape == (1, 3)
    assert w2(nu, Gaussian(0.0, 1.0)).plan.shape == (3, 1)
    np.testing.assert_allclose(w2(nu, Gaussian(0.0, 1.0)).plan.toarray()[:, 0], nu.weights)
