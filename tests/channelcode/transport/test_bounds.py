"""Lower bounds without a solve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.measures import (
    DiscreteMeasure,
    Gaussian,
    Measure,
)
from channelcode.transport import (
    dual_bound,
    gelbrich_bound,
    projection_bound,
    w2,
)
from tests.channelcode.transport.laws import (
    gaussians,
    samples,
    targets,
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Measure, DiscreteMeasure]:
    dim = draw(st.integers(1, 3))
    source = draw(st.one_of(gaussians(dim), samples(dim, largest=12)))
    return source, draw(targets(dim, largest=5))


def scale_of(mu: Measure, nu: Measure) -> float:
    return 1 + mu.second_moment + nu.second_moment


TOLERANCE = 2e-9  # rank three is quadrature


@settings(max_examples=60)
@given(pair=pairs(), seed=st.integers(0, 2**32 - 1))
def test_any_dual_vector_is_a_lower_bound(pair, seed):
    mu, nu = pair
    result = w2(mu, nu)
    # The quasi-Monte Carlo expectation of rank three errs by its own standard error.
    slack = 10 * result.stats.details.get("error", 0.0) + TOLERANCE * scale_of(mu, nu)
    vector = np.random.default_rng(seed).standard_normal(len(nu)) * 2
    assert dual_bound(mu, nu, vector).squared <= result.squared + slack
    if result.potentials.target is not None:
        best = dual_bound(mu, nu, result.potentials.target).squared
        assert abs(best - result.squared) <= slack


def test_gelbrich_is_tight_for_gaussians_and_loose_for_atoms():
    law = Gaussian([0.0, 0.0], [[2.0, 0.5], [0.5, 1.0]])
    other = Gaussian([1.0, 0.0], np.eye(2))
    assert gelbrich_bound(law, other).squared == pytest.approx(w2(law, other).squared)
    nu = DiscreteMeasure.uniform([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])
    assert 0 < gelbrich_bound(law, nu).squared < w2(law, nu).squared


def test_projection_is_exact_for_products():
    square = DiscreteMeasure.uniform([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    law = Gaussian([0.3, 0.1], np.diag([1.0, 4.0]))
    exact = w2(law, square).squared
    assert projection_bound(law, square, basis=np.eye(2)).squared == pytest.approx(exact, rel=1e-11)
    assert projection_bound(square, law, basis=np.eye(2)).squared == pytest.approx(exact, rel=1e-11)
