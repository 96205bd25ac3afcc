"""What holds for every solver: splits, motions, order, padding, triangles, degenerate cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.measures import DiscreteMeasure, Empirical, Gaussian, Measure
from channelcode.transport import (
    gelbrich_bound,
    projection_bound,
    w2,
)
from tests.channelcode.transport.laws import (
    covariances,
    gaussians,
    points,
    rotations,
    samples,
    targets,
)

dims = st.integers(1, 3)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Measure, DiscreteMeasure]:
    """Any source against a discrete target, dimension one to three."""
    dim = draw(dims)
    source = draw(st.one_of(gaussians(dim), samples(dim, largest=12)))
    return source, draw(targets(dim, largest=5))


def scale_of(mu: Measure, nu: Measure) -> float:
    return 1 + mu.second_moment + nu.second_moment


# Rank three is quadrature to 1e-9; everything else is exact to rounding.
TOLERANCE = 2e-9


@settings(max_examples=60)
@given(pair=pairs())
def test_the_mean_splits_off(pair):
    mu, nu = pair
    shift = np.atleast_1d(mu.mean) - np.atleast_1d(nu.mean)
    centred = w2(
        mu.transform(1.0, -np.atleast_1d(mu.mean)), nu.transform(1.0, -np.atleast_1d(nu.mean))
    )
    whole = w2(mu, nu).squared
    assert abs(whole - shift @ shift - centred.squared) <= TOLERANCE * scale_of(mu, nu)


@settings(max_examples=60)
@given(data=st.data(), pair=pairs())
def test_joint_motions_change_nothing(data, pair):
    mu, nu = pair
    turn, shift = data.draw(rotations(mu.dim)), data.draw(points(1, mu.dim))[0]
    moved = w2(mu.transform(turn, shift), nu.transform(turn, shift)).squared
    assert abs(w2(mu, nu).squared - moved) <= TOLERANCE * 10 * scale_of(mu, nu)


@settings(max_examples=60)
@given(pair=pairs())
def test_bounds_order(pair):
    mu, nu = pair
    result = w2(mu, nu)
    rounding = TOLERANCE * scale_of(mu, nu)
    assert result.lower <= result.squared <= result.upper
    assert result.gap >= 0
    assert result.distance**2 == pytest.approx(result.squared)
    assert gelbrich_bound(mu, nu).squared <= result.squared + rounding
    assert projection_bound(mu, nu).squared <= result.squared + rounding


@settings(max_examples=40)
@given(pair=pairs())
def test_order_of_arguments(pair):
    mu, nu = pair
    there, back = w2(mu, nu), w2(nu, mu)
    assert back.squared == pytest.approx(there.squared, rel=1e-12, abs=1e-12)
    assert back.plan.shape == there.plan.shape[::-1]
    np.testing.assert_allclose(there.plan.sum(axis=0), nu.weights, atol=1e-12)
    assert there.plan.sum() == pytest.approx(1.0)


@settings(max_examples=50)
@given(data=st.data(), pair=pairs())
def test_permuting_splitting_and_massless_atoms(data, pair):
    mu, nu = pair
    whole = w2(mu, nu).squared
    order = data.draw(st.permutations(range(len(nu))))
    permuted = DiscreteMeasure(nu.points[list(order)], nu.weights[list(order)])
    extra = data.draw(points(1, mu.dim))
    split = DiscreteMeasure(
        np.concatenate((nu.points, nu.points[:1], extra)),
        np.concatenate((nu.weights * np.r_[0.5, np.ones(len(nu) - 1)], [0.5 * nu.weights[0], 0.0])),
    )
    for other in (permuted, split):
        result = w2(mu, other)
        assert abs(result.squared - whole) <= TOLERANCE * scale_of(mu, nu)
        assert result.potentials.target is None or len(result.potentials.target) == len(other)


@settings(max_examples=40)
@given(data=st.data(), dim=st.integers(1, 2), extra=st.floats(0.1, 2))
def test_padding_dimensions_changes_only_the_trace(data, dim, extra):
    mu, nu = data.draw(gaussians(dim)), data.draw(targets(dim, largest=5))
    padded = np.eye(dim + 1) * extra
    padded[:dim, :dim] = mu.covariance
    wide = Gaussian(np.append(np.atleast_1d(mu.mean), 0.0), padded)
    flat = DiscreteMeasure(np.column_stack((nu.points, np.zeros(len(nu)))), nu.weights)
    assert w2(wide, flat).squared - extra == pytest.approx(
        w2(mu, nu).squared, abs=TOLERANCE * scale_of(mu, nu)
    )


@settings(max_examples=40)
@given(data=st.data(), dim=dims)
def test_triangle_inequality(data, dim):
    first = data.draw(st.one_of(gaussians(dim), samples(dim, largest=8)))
    second, third = data.draw(targets(dim, largest=5)), data.draw(targets(dim, largest=5))
    sides = [w2(a, b).distance for a, b in ((first, second), (second, third), (first, third))]
    # A distance near zero is the root of a rounding error.
    assert sides[2] <= sides[0] + sides[1] + 1e-4 * np.sqrt(TOLERANCE) + 1e-6


@settings(max_examples=40)
@given(nu=targets(2, largest=5), covariance=covariances(2), c=st.floats(0.1, 10))
def test_correlation_scales_with_the_deviation(nu, covariance, c):
    """rho(c^2 S) = c rho(S)."""

    def rho(matrix: np.ndarray) -> float:
        squared = w2(Gaussian(nu.mean, matrix), nu).squared
        return 0.5 * (np.trace(matrix) + np.trace(nu.covariance) - squared)

    scale = (1 + c**2) * (np.trace(covariance) + nu.second_moment + 1)
    assert abs(rho(c**2 * covariance) - c * rho(covariance)) <= 1e-10 * scale


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_one_atom_is_the_second_moment(rng, dim):
    factor = rng.standard_normal((dim, dim))
    law = Gaussian(rng.standard_normal(dim), factor @ factor.T)
    atom = rng.standard_normal(dim)
    nu = DiscreteMeasure([atom], [1.0])
    shift = np.atleast_1d(law.mean) - atom
    expected = shift @ shift + np.trace(np.atleast_2d(law.covariance))
    assert w2(law, nu).squared == pytest.approx(expected, rel=1e-12)
    repeated = DiscreteMeasure([atom, atom, atom], [0.2, 0.3, 0.5])
    assert w2(law, repeated).squared == pytest.approx(expected, rel=1e-12)


def test_identical_laws_have_distance_zero(rng):
    law = Empirical(rng.standard_normal((30, 2)))
    assert w2(law, law).squared <= 1e-15
