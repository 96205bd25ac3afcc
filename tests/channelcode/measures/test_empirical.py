"""Laws known through samples."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import DiscreteMeasure, Empirical, InvalidArgument


def test_moments(rng):
    samples = rng.standard_normal((50, 3))
    law = Empirical(samples)
    np.testing.assert_allclose(law.mean, samples.mean(axis=0))
    np.testing.assert_allclose(law.covariance, np.cov(samples.T, ddof=0))
    np.testing.assert_array_equal(law.samples, samples)
    assert isinstance(law, DiscreteMeasure)
    assert len(law) == 50


def test_weights():
    assert Empirical([0.0, 4.0], weights=[0.75, 0.25]).mean == 1.0
    np.testing.assert_allclose(Empirical([1.0, 2.0, 3.0]).weights, 1 / 3)


@pytest.mark.parametrize("bad", [[], [np.nan], np.zeros((2, 2, 2)), "x", 3.0])
def test_bad_samples(bad):
    with pytest.raises(InvalidArgument, match=r"^samples must"):
        Empirical(bad)


@pytest.mark.parametrize("bad", [[0.5, 0.6], [1.0], [[0.5, 0.5]], [np.inf, 0.0]])
def test_bad_weights(bad):
    with pytest.raises(InvalidArgument, match=r"^weights must"):
        Empirical([0.0, 1.0], bad)


def test_transform_stays_empirical():
    law = Empirical([[1.0, 0.0], [0.0, 1.0]]).transform([[1.0, -1.0]], 3.0)
    assert isinstance(law, Empirical)
    np.testing.assert_array_equal(law.samples, [4.0, 2.0])
    assert "2 samples in R^1" in repr(law)
