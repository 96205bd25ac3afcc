"""The covariance (I + G'G)^-1 in the span of the labels."""

from __future__ import annotations

import numpy as np
import pytest

from apm.posteriors.covariances.expansion import Spread


@pytest.mark.parametrize(("m", "q"), [(3, 8), (8, 3), (5, 5), (0, 4)])
def test_images_and_draws_have_the_covariance(m, q):
    rng = np.random.default_rng(m)
    rows, slopes = rng.normal(size=(m, q)), rng.normal(size=(6, q))
    spread = Spread.of(rows)
    covariance = np.linalg.inv(np.eye(q) + rows.T @ rows)
    image = spread.image(slopes)
    np.testing.assert_allclose(image @ image.T, slopes @ covariance @ slopes.T, atol=1e-12)
    root = spread.draw(np.eye(q))
    np.testing.assert_allclose(root @ root.T, covariance, atol=1e-12)


def test_nothing_cancels_where_labels_say_much():
    """A variance of 1e-24 beside a prior of one, to relative 1e-8."""
    rows = np.array([[1e12, 0.0, 0.0]])
    image = Spread.of(rows).image(np.array([[1.0, 0.0, 0.0]]))
    assert float((image @ image.T)[0, 0]) == pytest.approx(1e-24, rel=1e-8)
