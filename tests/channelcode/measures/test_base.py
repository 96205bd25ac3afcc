"""What every measure shares: one rule of shapes, immutability, copies."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode import DiscreteMeasure, Empirical, FullPool, Gaussian, Measure, ScalarPool
from channelcode.measures.base import affine_map, points_of, sizes, squeeze_line
from channelcode.testing import measures

LAWS = [
    DiscreteMeasure([0.0, 1.0], [0.3, 0.7]),
    DiscreteMeasure(np.eye(2), [0.3, 0.7]),
    Empirical([1.0, 2.0, 3.0]),
    Gaussian(0.0, 2.0),
    Gaussian([0.0, 1.0], np.eye(2)),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_are_whole_and_immutable(law, duplicate):
    other = duplicate(law)
    assert type(other) is type(law)
    np.testing.assert_array_equal(other.mean, law.mean)
    np.testing.assert_array_equal(other.covariance, law.covariance)
    with pytest.raises(AttributeError, match="immutable"):
        other.name = "new"
    points = getattr(other, "points", None)
    if points is not None:
        assert not points.flags.writeable


@given(st.integers(1, 3).flatmap(lambda k: measures(dim=k)))
def test_shapes_and_second_moment(law):
    k = law.dim
    assert np.shape(law.mean) == (() if k == 1 else (k,))
    assert np.shape(law.covariance) == (() if k == 1 else (k, k))
    total = np.sum(np.square(law.mean)) + np.trace(np.atleast_2d(law.covariance))
    assert law.second_moment == pytest.approx(float(total), rel=1e-9, abs=1e-9)
    assert law.sample(5, rng=0).shape == ((5,) if k == 1 else (5, k))


@given(measures(dim=2), st.floats(-3, 3), st.floats(-3, 3))
def test_projection_is_a_transform(law, a, b):
    line = law.project([a, b])
    assert line.dim == 1
    assert line.mean == pytest.approx(float(np.dot([a, b], law.mean)), abs=1e-9)
    wanted = float(np.array([a, b]) @ law.covariance @ np.array([a, b]))
    assert line.covariance == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Measure()  # type: ignore[abstract]


def test_parts():
    assert points_of("x", [1.0, 2.0]).shape == (2, 1)
    assert sizes(None) == ()
    assert sizes(3) == (3,)
    assert sizes((2, 3)) == (2, 3)
    assert squeeze_line(np.ones((4, 1)), 1).shape == (4,)
    assert squeeze_line(np.ones((4, 2)), 2).shape == (4, 2)
    linear, shift = affine_map(2, 3.0, 1.0)
    np.testing.assert_array_equal(linear, 3 * np.eye(2))
    np.testing.assert_array_equal(shift, [1.0, 1.0])


@pytest.mark.parametrize("kind", [DiscreteMeasure, Empirical, Gaussian, ScalarPool, FullPool])
def test_scaling_alone_does_not_shift(kind):
    """`transform(matrix)` is the law of matrix @ L: the offset is zero wherever it is left out."""
    for owner in (kind, Measure):
        assert inspect.signature(owner.transform).parameters["offset"].default == 0.0


def test_a_scaled_pool_has_scaled_means():
    doubled = ScalarPool([1.0, -2.0], [1.0, 4.0]).transform(2.0)
    np.testing.assert_allclose(doubled.mean, [2.0, -4.0])
