"""Gaussians as a standard normal: factors that keep the digits of small variances."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import DiscreteMeasure
from channelcode.transport.canonical import scale_of, span_atoms, span_factors
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
