"""Gaussian laws on the line and in R^k."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from channelcode import Gaussian, InvalidArgument
from channelcode.testing import gaussians


@pytest.mark.parametrize("mean", [1.0, [1.0], np.array(1.0)])
@pytest.mark.parametrize("variance", [4.0, [4.0], [[4.0]]])
def test_on_the_line(mean, variance):
    law = Gaussian(mean, variance)
    assert (law.dim, law.mean, law.covariance, law.second_moment) == (1, 1.0, 4.0, 5.0)


@given(gaussians(dim=3, sigma=(0.1, 10.0)))
def test_factor(law):
    size = np.abs(law.covariance).max()
    np.testing.assert_allclose(law.factor @ law.factor.T, law.covariance, atol=1e-13 * size)


def test_singular_is_allowed():
    law = Gaussian([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]])
    draws = law.sample(100, rng=0)
    np.testing.assert_allclose(draws[:, 0], draws[:, 1], atol=1e-7)
    assert Gaussian(1.0, 0.0).sample(rng=0) == 1.0


def test_sampling(rng):
    covariance = np.array([[2.0, 0.6], [0.6, 1.0]])
    draws = Gaussian([1.0, -1.0], covariance).sample(50_000, rng=rng)
    assert draws.shape == (50_000, 2)
    # five standard errors of a mean and of a variance
    np.testing.assert_allclose(draws.mean(axis=0), [1.0, -1.0], atol=5 * np.sqrt(2 / 50_000))
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=5 * 2 * np.sqrt(2 / 50_000))
    assert Gaussian(0.0, 1.0).sample((3, 2), rng=0).shape == (3, 2)


@pytest.mark.parametrize(
    ("mean", "covariance", "name"),
    [
        (np.nan, 1.0, "mean"),
        ([], 1.0, "mean"),
        (np.zeros((2, 2)), np.eye(2), "mean"),
        (0.0, -1.0, "covariance"),
        (0.0, np.inf, "covariance"),
        ([0.0, 0.0], np.eye(3), "covariance"),
        ([0.0, 0.0], [1.0, 1.0], "covariance"),
        ([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]], "covariance"),
        ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], "covariance"),
        (0.0, np.eye(2), "covariance"),
    ],
)
def test_bad_input(mean, covariance, name):
    with pytest.raises(InvalidArgument, match=f"^{name} must"):
        Gaussian(mean, covariance)


def test_the_offending_eigenvalue_is_told():
    with pytest.raises(InvalidArgument, match=r"positive semidefinite, got .*eigenvalue -1\.0"):
        Gaussian([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])


def test_rounding_below_zero_is_not_an_error():
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))[0]
    covariance = (vectors * [1e6, 1.0, 0, 0, 0, 0]) @ vectors.T
    assert np.linalg.eigvalsh(covariance)[0] < 0  # rounding
    np.testing.assert_allclose(Gaussian(np.zeros(6), covariance).covariance, covariance, rtol=1e-9)


def test_transform_and_project():
    law = Gaussian([1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]])
    moved = law.transform([[1.0, 1.0], [0.0, 2.0], [1.0, 0.0]], [0.0, 0.0, 5.0])
    np.testing.assert_allclose(moved.mean, [3.0, 4.0, 6.0])
    assert moved.dim == 3
    line = law.project([1.0, -1.0])
    assert line.mean == pytest.approx(-1.0)
    assert line.covariance == pytest.approx(2.0)
    assert Gaussian(1.0, 4.0).transform(-2.0, 1.0).covariance == 16.0


def test_directions_in_which_a_law_does_not_move(rng):
    """A projection may leave nothing but rounding: that is a variance of zero, not an error."""
    for _ in range(50):
        v, w = rng.standard_normal((2, 3))
        law = Gaussian(np.zeros(3), 1e3 * np.outer(v, v))
        assert 0 <= law.project(np.cross(v, w)).covariance < 1e-10
        law.transform(np.stack([np.cross(v, w), w]))


def test_immutable():
    law = Gaussian([0.0, 1.0], np.eye(2))
    with pytest.raises(ValueError, match="read-only"):
        law.mean[0] = 1.0
    with pytest.raises(AttributeError, match="immutable"):
        law.extra = 1  # type: ignore[attr-defined]
    assert "Gaussian(mean=1.0, covariance=4.0)" in repr(Gaussian(1.0, 4.0))


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_an_indefinite_matrix_is_refused_however_slightly(size):
    """Rounding leaves eigenvalues of -1e-16 of the largest; -1e-8 is no covariance."""
    Gaussian([0.0, 0.0], size * np.array([[1.0, 0.0], [0.0, -1e-16]]))
    for least in (-1e-8, -1e-4):
        with pytest.raises(InvalidArgument, match="positive semidefinite"):
            Gaussian([0.0, 0.0], size * np.array([[1.0, 0.0], [0.0, least]]))
    with pytest.raises(InvalidArgument, match="symmetric"):
        Gaussian([0.0, 0.0], size * np.array([[1.0, 0.5], [0.5 + 1e-8, 1.0]]))
