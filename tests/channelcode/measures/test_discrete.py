"""Laws with finitely many atoms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode import DiscreteMeasure, InvalidArgument


def test_on_the_line():
    law = DiscreteMeasure([3.0, -1.0], [0.25, 0.75])
    assert law.atoms.shape == (2,)
    assert law.points.shape == (2, 1)
    assert law.mean == 0.0
    assert law.covariance == 3.0
    assert law.second_moment == 3.0
    assert isinstance(law.mean, float)
    assert isinstance(law.covariance, float)


def test_columns_are_the_line_too():
    law = DiscreteMeasure([[3.0], [-1.0]], [0.25, 0.75])
    assert law.dim == 1
    assert law.atoms.shape == (2,)


def test_in_the_plane(rng):
    points, weights = rng.standard_normal((5, 2)), rng.dirichlet(np.ones(5))
    law = DiscreteMeasure(points, weights)
    np.testing.assert_allclose(law.mean, weights @ points)
    np.testing.assert_allclose(law.covariance, np.cov(points.T, aweights=weights, ddof=0))
    total = np.trace(law.covariance) + law.mean @ law.mean
    assert law.second_moment == pytest.approx(total)


@pytest.mark.parametrize(
    ("atoms", "weights", "name"),
    [
        ([0.0, 1.0], [0.5, 0.6], "weights"),
        ([0.0, 1.0], [-0.5, 1.5], "weights"),
        ([0.0, 1.0], [1.0], "weights"),
        ([0.0, 1.0], [0.5, np.nan], "weights"),
        ([0.0, 1.0], [[0.5, 0.5]], "weights"),
        ([0.0, np.inf], [0.5, 0.5], "atoms"),
        ([], [], "atoms"),
        (np.zeros((2, 2, 2)), [0.5, 0.5], "atoms"),
        ("ab", [0.5, 0.5], "atoms"),
    ],
)
def test_bad_input(atoms, weights, name):
    with pytest.raises(InvalidArgument, match=f"^{name} must"):
        DiscreteMeasure(atoms, weights)


def test_the_sum_of_bad_weights_is_told():
    with pytest.raises(InvalidArgument, match=r"sum to one, got .*1\.1"):
        DiscreteMeasure([0.0, 1.0], [0.5, 0.6])


def test_immutable():
    source = np.array([0.0, 1.0])
    law = DiscreteMeasure(source, [0.5, 0.5])
    source[0] = 9.0
    assert law.atoms[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        law.atoms[0] = 1.0
    with pytest.raises(AttributeError, match="immutable"):
        law._points = source
    with pytest.raises(AttributeError, match="immutable"):
        del law._points


def test_sampling():
    law = DiscreteMeasure([-1.0, 2.0], [0.25, 0.75])
    draws = law.sample(40_000, rng=3)
    assert set(np.unique(draws)) == {-1.0, 2.0}
    # five standard deviations of the frequency
    assert abs((draws == 2.0).mean() - 0.75) < 5 * np.sqrt(0.25 * 0.75 / 40_000)
    np.testing.assert_array_equal(draws, law.sample(40_000, rng=3))
    assert np.shape(law.sample(rng=0)) == ()
    assert DiscreteMeasure(np.eye(3), [0.2, 0.3, 0.5]).sample((4, 2), rng=0).shape == (4, 2, 3)


def test_transform_and_project():
    law = DiscreteMeasure([[1.0, 2.0], [3.0, 4.0]], [0.5, 0.5])
    np.testing.assert_array_equal(law.transform([[1.0, 1.0]], 10.0).atoms, [13.0, 17.0])
    np.testing.assert_array_equal(law.project([2.0, 0.0]).mean, 4.0)
    np.testing.assert_array_equal(law.transform(-1.0).atoms, -law.atoms)
    for matrix in ([[1.0]], np.zeros((2, 2, 2)), [[np.nan, 0.0]]):
        with pytest.raises(InvalidArgument, match=r"^matrix must"):
            law.transform(matrix)
    with pytest.raises(InvalidArgument, match=r"^offset must"):
        law.transform(np.eye(2), [1.0, 2.0, 3.0])
    with pytest.raises(InvalidArgument, match=r"^direction must"):
        law.project([1.0, 2.0, 3.0])


@given(st.floats(0, 1e3))
def test_symmetric(radius):
    law = DiscreteMeasure.symmetric(radius)
    assert law.mean == 0.0
    assert law.second_moment == pytest.approx(radius**2)


def test_uniform():
    np.testing.assert_allclose(DiscreteMeasure.uniform([1.0, 2.0, 4.0]).weights, 1 / 3)
    with pytest.raises(InvalidArgument, match="radius must be non-negative"):
        DiscreteMeasure.symmetric(-1.0)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.integers(0, 10**6))
def test_simplify_keeps_the_law(values, seed):
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(values)))
    law = DiscreteMeasure(np.array(values, dtype=float), weights)
    simple = law.simplify()
    assert len(simple) == len(set(values))
    assert (np.diff(simple.atoms) > 0).all()
    for atom, weight in zip(simple.atoms, simple.weights, strict=True):
        assert weight == pytest.approx(weights[np.array(values) == atom].sum())


def test_simplify_merges_near_atoms_and_drops_empty_ones():
    law = DiscreteMeasure([0.0, 1e-9, 5.0, 7.0], [0.25, 0.25, 0.5, 0.0])
    simple = law.simplify(atol=1e-8)
    np.testing.assert_allclose(simple.atoms, [5e-10, 5.0], atol=1e-15)
    np.testing.assert_allclose(simple.weights, [0.5, 0.5])


def test_simplify_merges_to_the_centre_of_mass():
    """Weights that do not sum to one, and a third atom that joins the first two."""
    law = DiscreteMeasure([0.0, 1.0, 1.5, 9.0], [0.1, 0.3, 0.2, 0.4])
    simple = law.simplify(atol=1.1)
    np.testing.assert_allclose(simple.atoms, [(0.3 * 1.0 + 0.2 * 1.5) / 0.6, 9.0])
    assert simple.mean == pytest.approx(law.mean)


def test_repr_is_readable():
    assert "atoms=[-2.,  2.]" in repr(DiscreteMeasure.symmetric(2.0))


def test_simplify_sorts_by_the_first_coordinate_then_the_next():
    measure = DiscreteMeasure.uniform([[0.0, 2.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 5.0]])
    expected = [[-1.0, 5.0], [0.0, 1.0], [0.0, 2.0], [1.0, 0.0]]
    assert measure.simplify().points.tolist() == expected
