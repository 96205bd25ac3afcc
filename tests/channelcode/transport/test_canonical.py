"""Gaussians as a standard normal: factors that keep the digits of small variances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import DiscreteMeasure
from channelcode.transport.canonical import flat_loss, flatten, scale_of, span_atoms, span_factors
from channelcode.transport.certify import correlation_bounds
from channelcode.transport.monotone import line_constant
from channelcode.transport.solvers import Plane
from channelcode.transport.target import reduce_target


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_factors_give_the_covariance_on_the_span(rng, rank):
    basis = np.linalg.qr(rng.standard_normal((5, 5)))[0][:, :rank]
    factor = rng.standard_normal((6, 5, 5)) * 10.0 ** rng.uniform(-6, 0, (6, 1, 5))
    covariance = factor @ factor.transpose(0, 2, 1)
    found, error = span_factors(covariance, basis)
    expected = basis.T @ covariance @ basis
    size = np.trace(covariance, axis1=1, axis2=2)
    off = np.abs(found @ found.transpose(0, 2, 1) - expected).max(axis=(1, 2))
    assert (off <= 1e-14 * size).all()
    assert (error >= 0).all()


def test_scales_are_powers_of_two():
    covariance = np.array([np.eye(2) * 9.0, np.eye(2) * 2.0**-801, np.zeros((2, 2))])
    scale = scale_of(covariance)
    np.testing.assert_array_equal(scale, [4.0, 2.0**-400, 1.0])


def test_a_single_atom_has_no_span():
    target = reduce_target(DiscreteMeasure([[1.0, 2.0]], [1.0]), to_gaussian=True)
    atoms, error = span_atoms(np.eye(2)[None], target)
    assert not atoms.any()
    assert not error.any()


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(2, 9),
    thin=st.floats(-4, 0.5),
    near=st.floats(-6, 0),
    light=st.floats(-6, 0),
)
def test_what_a_direction_matters_is_bounded(seed, m, thin, near, light):
    """Exact cells of the plane against the line, also for near atoms and for light ones far off."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(m))
    weights[0] *= 10.0**light
    weights /= weights.sum()
    along, off = rng.standard_normal(m), 10.0**thin * rng.standard_normal((m, 1))
    along[-1] = along[0] + 10.0**near * along[-1]
    off[0] *= 10.0**-light
    atoms = np.column_stack((along, off))
    size = np.sqrt(weights @ (atoms**2).sum(axis=1))
    atoms, along, off = atoms / size, along / size, off / size
    v, _ = Plane().potentials(atoms[None], weights)
    dual, loss, _, _ = correlation_bounds(atoms[None], weights, v)
    line = line_constant(along, weights)
    assert line <= dual[0] + 1e-14
    for allowed in (0.0, 1e-3, 1.0):
        assert dual[0] - loss[0] <= line + flat_loss(along[:, None], off, weights, allowed) + 1e-14


def test_directions_that_hardly_matter_are_left_out(rng):
    atoms, weights = rng.standard_normal((7, 3)), rng.dirichlet(np.ones(7))
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    for thin, dims in (([1.0, 1e-9, 1e-10], 1), ([1.0, 0.5, 1e-9], 2), ([1.0, 0.5, 1e-3], 3)):
        kept, change = flatten(atoms * thin @ turn, weights)
        assert kept.shape == (7, dims)
        assert 0 <= change <= 2e-12
        assert (change > 0) == (dims < 3)
