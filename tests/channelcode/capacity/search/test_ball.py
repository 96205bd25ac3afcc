"""Even points of a ball: all of them, the spacing stated, and the peaks among values."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode.capacity.search.ball import FINE, INNER, balls


@pytest.mark.parametrize("dim", [2, 3, 4])
def test_a_ball_is_filled_at_the_stated_spacing(dim):
    outer, *rest = balls(dim, 40.0, 20_000)
    assert outer.radius == 40.0
    assert np.linalg.norm(outer.points, axis=1).max() <= 40.0 * (1 + 1e-12)
    assert 5_000 < len(outer.points) < 60_000
    rng = np.random.default_rng(dim)
    inside = rng.normal(size=(50, dim))
    inside *= 0.9 * 40.0 * rng.uniform(size=(50, 1)) / np.linalg.norm(inside, axis=1, keepdims=True)
    nearest = np.linalg.norm(outer.points[None] - inside[:, None], axis=2).min(axis=1)
    assert nearest.max() <= 0.5 * np.sqrt(dim) * outer.spacing * (1 + 1e-9)
    for before, ball in zip([outer, *rest], rest):
        assert ball.radius == 0.5 * before.radius
    last = [outer, *rest][-1]
    assert last.spacing <= FINE or last.radius <= INNER


@pytest.mark.parametrize("dim", [2, 3])
def test_peaks_are_the_tops_of_separate_hills(dim):
    ball = balls(dim, 4.0, 30_000)[0]
    centres = np.array([[1.5] + [0.0] * (dim - 1), [-1.0] * dim])
    apart = np.square(ball.points - centres[:, None]).sum(axis=2)
    height = np.exp(-apart / 0.18).sum(axis=0)
    found = ball.points[ball.peaks(height)[:2]]
    for centre in centres:
        off = np.linalg.norm(found - centre, axis=1).min()
        assert off <= 0.5 * np.sqrt(dim) * ball.spacing * 1.01


def test_a_narrow_peak_comes_before_a_broad_one_of_the_same_height():
    ball = balls(2, 4.0, 30_000)[0]
    spike = int(np.argmin(np.linalg.norm(ball.points - [2.0, 1.0], axis=1)))
    height = 1.0 - 0.01 * (ball.points**2).sum(axis=1)
    height[spike] = 1.0
    assert ball.peaks(height)[0] == spike


def test_values_that_are_no_numbers_are_no_peaks():
    ball = balls(2, 1.0, 500)[0]
    assert len(ball.peaks(np.full(len(ball.points), -np.inf))) == 0
