"""Walls of a cost in R^k: how points are drawn back to them, and climbs along them."""

from __future__ import annotations

import numpy as np

from channelcode import Cost, Power, Softmax
from channelcode.capacity import Problem
from channelcode.capacity.search.wall import anchors, has_wall, slide, touching, within_wall


def _ball(radius: float, budget: float = 50.0) -> Problem:
    def cost(l):
        square = np.square(l).sum(axis=-1)
        return np.where(square <= radius**2, square, np.inf)

    return Problem(Softmax(3), Cost(cost, budget))


def test_who_has_a_wall():
    assert has_wall(_ball(2.0))
    assert not has_wall(Problem(Softmax(3), Power(2.0)))
    assert not has_wall(Problem(Softmax(3), Cost(lambda l: np.abs(l).sum(axis=-1), 2.0)))


def test_points_are_drawn_back_to_the_wall():
    problem, rng = _ball(2.0), np.random.default_rng(0)
    points = rng.normal(size=(50, 3)) * 3.0
    towards = anchors(problem, points)
    np.testing.assert_allclose(towards, 0.0, atol=1e-6)  # the only valley
    drawn = within_wall(problem, points, towards)
    size, before = np.linalg.norm(drawn, axis=1), np.linalg.norm(points, axis=1)
    assert (problem.cost(drawn) < np.inf).all()
    np.testing.assert_allclose(size, np.minimum(before, 2.0), atol=1e-6)
    np.testing.assert_array_equal(drawn[before <= 2.0], points[before <= 2.0])
    np.testing.assert_array_equal(touching(problem, drawn, towards), before > 1.99)


def test_sliding_finds_the_vertex_of_the_simplex():
    """On a sphere the divergence from the uniform law is largest at e_k - 1/3."""
    problem = _ball(2.0)
    start = np.array([[1.5, -0.2, -1.0], [0.3, 1.2, 0.1]])
    place, height = slide(problem, start, np.full(3, 1 / 3), 0.0, np.zeros((2, 3)))
    vertices = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0]]) * np.sqrt(4.0 / 6.0)
    np.testing.assert_allclose(place, vertices, atol=1e-4)
    rows = Softmax(3).prob(vertices)
    np.testing.assert_allclose(height, (rows * np.log(3.0 * rows)).sum(axis=1), atol=1e-9)
