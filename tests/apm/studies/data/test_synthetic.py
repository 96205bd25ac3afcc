"""The synthetic sets: their seeds, and the laws that they are drawn from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from apm.studies import load
from apm.studies.data.synthetic import SYNTHETIC, clouds, cross, horseshoe


@pytest.mark.parametrize("make", [clouds, cross, horseshoe])
def test_synthetic_sets_depend_on_their_seed_alone(make: Callable[..., Any]) -> None:
    np.testing.assert_array_equal(make(3)[0], make(3)[0])
    assert (make(3)[0] != make(4)[0]).all()


@pytest.mark.parametrize("name", ["clouds", "cross", "horseshoe"])
def test_synthetic_sets_have_the_geometry_of_the_reference(
    name: str, reference: Callable[[str], Any]
) -> None:
    """Class by class, mean and covariance agree with the authors' draw of the same law."""
    known = reference("trajectories")["datasets"][name]
    theirs, their_labels = np.array(known["raw_X"]), np.array(known["raw_Y"])
    ours = load(name)
    assert np.bincount(ours.y).tolist() == np.bincount(their_labels).tolist()
    for label in (0, 1):
        a, b = ours.X[ours.y == label], theirs[their_labels == label]
        spread = np.sqrt(np.trace(np.cov(b.T)))
        # two means of n draws differ by about sqrt(2 / n) deviations; four of those
        assert np.linalg.norm(a.mean(0) - b.mean(0)) < 4 * spread * np.sqrt(2 / len(b))
        # a covariance of n draws errs by about sqrt(2 / n) of itself in each entry; four of those
        assert np.abs(np.cov(a.T) - np.cov(b.T)).max() < 4 * spread**2 * np.sqrt(2 / len(b))


def test_cross_is_separable_by_a_tilted_line_and_not_by_the_obvious_one() -> None:
    X, y = cross(0)
    angles = np.linspace(0, np.pi, 721)[:-1]
    sides = X @ np.stack([np.cos(angles), np.sin(angles)]) > 0
    right = np.mean(sides == (y == 1)[:, None], axis=0)
    best = angles[np.argmax(right)]
    assert right.max() == 1.0
    assert abs(best - 3 * np.pi / 4) < np.pi / 8  # the normal is near the diagonal
    assert right[angles == np.pi / 2] < 0.9  # the large clusters alone suggest this one


def test_clouds_are_two_round_gaussians() -> None:
    X, y = clouds(1)
    for label, centre in ((0, 1.0), (1, -1.0)):
        own = X[y == label]
        # a mean of 300 draws errs by 0.058, a variance by 0.08: four of those
        np.testing.assert_allclose(own.mean(axis=0), centre, atol=0.24)
        np.testing.assert_allclose(np.cov(own.T), np.eye(2), atol=0.33)


def test_horseshoes_bars_are_long_and_thin() -> None:
    X, _ = horseshoe(2)
    for bar, along in zip(np.split(X, 3), ((1, -1), (1, -1), (1, 1)), strict=True):
        lengths, directions = np.linalg.eigh(np.cov(bar.T))
        # variances 0.1 and 1 of 200 draws err by a tenth of themselves: four of those
        np.testing.assert_allclose(lengths, [0.1, 1.0], rtol=0.4)
        assert abs(directions[:, 1] @ np.array(along) / np.sqrt(2)) > 0.99


def test_the_table_names_each() -> None:
    assert {"clouds": clouds, "cross": cross, "horseshoe": horseshoe} == SYNTHETIC
