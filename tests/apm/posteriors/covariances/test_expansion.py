"""The covariance (I + G'G)^-1 in the span of the labels."""

from __future__ import annotations

import numpy as np
import pytest

from apm.posteriors.covariances.expansion import Factor, Spread, spread_from, spread_of


@pytest.mark.parametrize("kind", [Spread, Factor])
@pytest.mark.parametrize(("m", "q"), [(3, 8), (8, 3), (5, 5), (0, 4)])
def test_images_and_draws_have_the_covariance(m, q, kind):
    rng = np.random.default_rng(m)
    rows, slopes = rng.normal(size=(m, q)), rng.normal(size=(6, q))
    spread = kind.of(rows)
    covariance = np.linalg.inv(np.eye(q) + rows.T @ rows)
    image = spread.image(slopes)
    np.testing.assert_allclose(image @ image.T, slopes @ covariance @ slopes.T, atol=1e-12)
    root = spread.draw(np.eye(q))
    np.testing.assert_allclose(root.T @ root, covariance, atol=1e-12)
    noise = rng.normal(size=q)
    np.testing.assert_allclose(spread.solve(noise), covariance @ noise, atol=1e-12)
    expected = -0.5 * np.linalg.slogdet(np.eye(q) + rows.T @ rows)[1]
    assert spread.log_shrink == pytest.approx(expected, abs=1e-12)
    again = spread_from(spread.arrays())
    np.testing.assert_array_equal(again.image(slopes), image)
    stacked = spread.image(slopes.reshape(2, 3, q))
    np.testing.assert_allclose(stacked.reshape(6, -1), image, atol=1e-14)


def test_the_factor_serves_where_it_is_exact():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 4))
    assert isinstance(spread_of(rows), Factor)
    assert isinstance(spread_of(1e4 * rows), Spread)  # squares would lose eight digits
    assert isinstance(spread_of(rows[:1]), Spread)  # fewer rows than half the parameters
    slopes = rng.normal(size=(3, 4))
    for scale in (1e-3, 1.0, 20.0):  # the last is just below the limit
        factor, exact = spread_of(scale * rows).image(slopes), Spread.of(scale * rows).image(slopes)
        np.testing.assert_allclose(factor @ factor.T, exact @ exact.T, rtol=1e-9, atol=1e-13)


def test_nothing_cancels_where_labels_say_much():
    """A variance of 1e-24 beside a prior of one, to relative 1e-8."""
    rows = np.array([[1e12, 0.0, 0.0]])
    image = Spread.of(rows).image(np.array([[1.0, 0.0, 0.0]]))
    assert float((image @ image.T)[0, 0]) == pytest.approx(1e-24, rel=1e-8)
