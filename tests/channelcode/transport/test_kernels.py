"""Each kernel equals the same function run as Python."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from channelcode._kernels.transport import (
    cells as cells_kernels,
)
from channelcode._kernels.transport import (
    edges as edges_kernels,
)
from channelcode._kernels.transport import (
    line as line_kernels,
)
from channelcode._kernels.transport import (
    newton as newton_kernels,
)
from channelcode._kernels.transport import (
    owen as owen_kernels,
)
from channelcode._kernels.transport import (
    plane as plane_kernels,
)
from channelcode._kernels.transport import (
    quasi as quasi_kernels,
)
from channelcode._kernels.transport import (
    rare as rare_kernels,
)
from channelcode._kernels.transport import (
    ties as ties_kernels,
)
from channelcode._kernels.transport.space import (
    face_pool as face_kernels,
)
from channelcode._kernels.transport.space import (
    faces as faces_kernels,
)
from channelcode._kernels.transport.space import (
    lines as lines_kernels,
)
from channelcode._kernels.transport.space import (
    slab_solve as slab_kernels,
)
from channelcode._kernels.transport.space import (
    slabs as slabs_kernels,
)
from channelcode.transport.rules import directions_in, normal_nodes, upper_quantiles
from tests.channelcode.transport.laws import atoms_and_weights
from tests.kernel_checks import assert_matches_py_func


def test_line(rng):
    mean, variance = rng.standard_normal(5), rng.exponential(size=5)
    assert_matches_py_func(line_kernels.gaussian_line, mean, variance, 0.3, 1e-3, 0.8, 0.1)
    ordered = np.sort(rng.standard_normal((3, 9)), axis=1)
    index, column = np.array([0, 1, 2, 2, 3, 4, 5, 6, 7, 8]), np.repeat([0, 1, 2], [3, 3, 4])
    atoms, mass, out = rng.standard_normal(3), rng.random(10), np.zeros(3)
    runs = (np.array([0, 3, 6, 10]), np.array([0, 2, 5]), atoms, mass, np.zeros(10))
    assert_matches_py_func(line_kernels.shared_plan_cost, ordered, *runs, out)
    line_kernels.shared_plan_cost(ordered, *runs, out)
    expected = (ordered[:, index] - atoms[column]) ** 2 @ mass
    np.testing.assert_allclose(out, expected, rtol=1e-14)


@pytest.mark.parametrize(("h", "t"), [(0.5, 0.2), (0.5, 3.0), (0.0, -1.0), (9.0, 1.0), (1.0, 50.0)])
def test_owen(h, t):
    tail = assert_matches_py_func(owen_kernels.upper_tail, h)
    across = owen_kernels.upper_tail(abs(t))
    for fine in (True, False):
        assert_matches_py_func(owen_kernels.wedge, h, t, tail, across, fine)
        for ratio in (min(abs(t), 1.0), 0.7, 0.4, 0.2):
            assert_matches_py_func(owen_kernels.owen_near, h, ratio, fine)
            given = (h, h / ratio, tail, owen_kernels.upper_tail(h / ratio), fine)
            # two terms of the size of a tail cancel
            assert_matches_py_func(owen_kernels.corner, *given, atol=1e-16)


def test_plane(rng):
    points, weights = atoms_and_weights(rng, 5, 2)
    v = 0.2 * rng.standard_normal(5)
    room = (np.zeros(5), np.zeros((5, 2)), np.zeros((5, 5)))
    assert_matches_py_func(edges_kernels.cell_edges, points, v, *room, atol=1e-14)
    low = np.zeros((5, 5))
    for fine, radius in ((True, 0.0), (False, 1e-3)):
        given = (points, v, fine, radius, *room, low)
        assert_matches_py_func(edges_kernels.judged_edges, *given, atol=1e-14)
    mass, moment, hessian = room
    edges_kernels.cell_edges(points, v, mass, moment, hessian)
    assert_matches_py_func(cells_kernels.repair_loss, points, weights, v, mass, moment, atol=1e-14)
    for first, second in ((0, 1), (1, 0), (1, 2)):
        assert_matches_py_func(ties_kernels.untied, first, second, 0)
    for line in ((0.0, 1.0), (1.0, 1.0), (0.5, 1.0), (2.0, 1.0)):
        assert_matches_py_func(edges_kernels._shadows, *line, 0, 1, 2)
    tails, stack = upper_quantiles(weights), np.stack((points, 1.1 * points, 3 * points))
    for ordered, warm in ((False, False), (True, False), (False, True)):
        # Newton stops at rounding, where the two may differ in the last step.
        assert_matches_py_func(
            plane_kernels.plane_pool,
            stack,
            weights,
            tails,
            1e-14,
            ordered,
            warm,
            np.tile(v, (3, 1)),
            rtol=1e-9,
            atol=1e-9,
        )
    assert_matches_py_func(
        plane_kernels.plane_judge, stack, weights, np.tile(v, (3, 1)), atol=1e-13
    )


def test_newton(rng):
    assert_matches_py_func(newton_kernels.newton_arrays, 4)
    weights = rng.dirichlet(np.full(5, 3.0))
    rates = rng.exponential(size=(5, 5))
    laplacian = -np.triu(rates, 1) - np.triu(rates, 1).T
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    right = rng.standard_normal(5)
    right -= right.mean()
    for ground in range(5):
        solved = right.copy()
        room = np.zeros((5, 5))
        assert_matches_py_func(
            newton_kernels.solve_laplacian, laplacian, solved.copy(), room, ground, atol=1e-13
        )
        newton_kernels.solve_laplacian(laplacian, solved, room, ground)
        np.testing.assert_allclose(laplacian @ solved, right, atol=1e-13)
        assert solved[ground] == 0
    for phase in (0.0, 1.0, 2.0, 3.0):
        state = np.zeros(newton_kernels.STATE)
        state[newton_kernels.PHASE] = phase
        assert_matches_py_func(
            newton_kernels.newton_move,
            weights,
            0.2 * rng.standard_normal(5),
            rng.dirichlet(np.ones(5)),
            laplacian,
            0.5,
            1e-14,
            rng.standard_normal((3, 5)),
            np.zeros((5, 5)),
            state,
            atol=1e-13,
        )


def test_cells_in_space(rng):
    points, weights = atoms_and_weights(rng, 5, 3)
    points = points[np.argsort(points[:, 0])]
    v = 0.2 * rng.standard_normal(5)
    nodes = normal_nodes(2, 8, 2, 0)
    mass, hessian, moment = np.zeros(5), np.zeros((5, 5)), np.zeros((5, 3))
    shares = rng.random(16)
    assert_matches_py_func(
        cells_kernels.line_cells, points, v, nodes, shares, mass, hessian, moment, atol=1e-14
    )
    assert_matches_py_func(cells_kernels.first_potential, 3 * points, upper_quantiles(weights), v)
    assert_matches_py_func(cells_kernels.axis_potential, 3 * points, weights, v, atol=1e-14)
    assert_matches_py_func(lines_kernels.two_sides, points, 0, 1, 2)
    assert_matches_py_func(cells_kernels.spread_potential, v, np.arange(len(v))[::-1].copy(), 0 * v)
    assert_matches_py_func(slabs_kernels.corner_heights, points, v, np.zeros(60))
    assert_matches_py_func(slabs_kernels.crossing_heights, points, v, np.zeros(80), 0)
    for step in (0.5, 1.25):
        assert_matches_py_func(
            slabs_kernels.slab_nodes, points, v, step, np.zeros(900), np.zeros(900), atol=1e-14
        )
        assert_matches_py_func(
            slabs_kernels.slab_cells, points, v, step, mass, hessian, moment, atol=1e-13
        )
    cells = (np.zeros(5), np.zeros((5, 5)), np.zeros((5, 3)))
    assert_matches_py_func(faces_kernels.split_cells, points, weights, v, *cells, atol=1e-13)
    doubled = np.concatenate((points, points[:1]))
    assert_matches_py_func(
        cells_kernels.merge_atoms, doubled, np.full(6, 1 / 6), np.zeros(6, dtype=np.int64), 1e-26
    )


def test_quasi_and_space(rng):
    points, weights = atoms_and_weights(rng, 4, 3)
    nodes, directions = normal_nodes(2, 8, 2, 0), directions_in(3)
    order, tails = np.zeros(4, dtype=np.int64), upper_quantiles(weights)
    assert_matches_py_func(quasi_kernels.turn_apart, points, directions, atol=1e-14)
    assert_matches_py_func(quasi_kernels.sort_atoms, points, order)
    stack, v = np.stack((points, 1.2 * points)), np.zeros((2, 4))
    ordered = points[np.argsort(points[:, 0])]
    assert_matches_py_func(
        quasi_kernels.quasi_newton, ordered, weights, v[0], nodes, np.ones(16), 1e-9, atol=1e-8
    )
    rule = (nodes, np.ones(16), 1e-9)
    assert_matches_py_func(quasi_kernels.nodes_newton, ordered, weights, v[0], *rule, atol=1e-8)
    assert_matches_py_func(quasi_kernels.move_origin, points, weights)
    for own in (weights, np.array([0.6, 0.3987, 0.0008, 0.0005])):  # the second has rare cells
        tails = upper_quantiles(own)
        given = (stack, own, tails, nodes, directions, 2, 1e-9, v)
        assert_matches_py_func(quasi_kernels.quasi_pool, *given, atol=1e-8)
        rule = (stack, own, tails, v, nodes, directions, 1e-9, np.zeros((2, 2)))
        assert_matches_py_func(quasi_kernels.quasi_judge, *rule, atol=1e-8)
    assert_matches_py_func(slab_kernels.lay_slabs, points, directions, atol=1e-14)
    assert_matches_py_func(slab_kernels.slab_newton, points, weights, v[0], 1.25, 1e-7, atol=1e-9)
    slabs = (stack[0], weights, directions, 1e-12, v[0])
    assert_matches_py_func(slab_kernels.slab_solve, *slabs, atol=1e-9)
    judge = (stack[0], weights, v[0], directions, 2.0)
    assert_matches_py_func(slab_kernels.slab_judge, *judge, atol=1e-12)
    assert_matches_py_func(face_kernels.face_pool, stack, weights, 1e-13, v, atol=1e-12)
    assert_matches_py_func(face_kernels.face_judge, stack, weights, v, atol=1e-13)


@pytest.mark.parametrize("shape", [(1.0, 1.0), (1.0, 1e-3), (40.0, 1e-4)])
def test_no_cell_of_the_first_potential_is_empty(rng, shape):
    """Each holds about the product of its weights along the axes, and more."""
    for m in (3, 9, 25):
        points, weights = atoms_and_weights(rng, m, 2)
        points, v, mass = points * np.array(shape), np.empty(m), np.empty(m)
        cells_kernels.axis_potential(points, weights, v)
        edges_kernels.cell_edges(points, v, mass, np.empty((m, 2)), np.empty((m, m)))
        assert (mass >= 0.99 * weights**2).all()  # the quantiles are rough


def test_rare(rng):
    points, weights = atoms_and_weights(rng, 6, 4)
    weights = weights * np.array([1.0, 1.0, 1.0, 1e-4, 1e-5, 1e-4])
    v, point = np.empty(6), np.zeros(4)
    cells_kernels.axis_potential(points, weights, v)
    assert_matches_py_func(rare_kernels.nearest_in_cell, points, v, 4, point, atol=1e-12)
    rare_kernels.nearest_in_cell(points, v, 4, point)
    assert (points @ point - v).max() == pytest.approx(points[4] @ point - v[4], abs=2e-2)
    tails, rare = upper_quantiles(weights), np.zeros(2, dtype=np.int64)
    assert_matches_py_func(rare_kernels.rarest_cells, points, weights, tails, rare)
    assert rare_kernels.rarest_cells(points, weights, tails, rare) == 2
    given = normal_nodes(3, 64, 2, 0)
    nodes, shares = np.zeros((192, 3)), np.zeros(192)
    mixed = (points, v, rare, given, 2, 16, nodes, shares)
    assert_matches_py_func(rare_kernels.mixed_nodes, *mixed, atol=1e-12)


def test_shifted_nodes_see_a_far_half_space():
    """P(X > 5) = 2.9e-7 and E(X - 5)_+ across the exact axis: no plain node of 1024 comes near."""
    atoms = np.array([[0.0, 0.0, 0.0], [1e-3, 1.0, 0.0]])  # sorted along the exact axis
    v, rare = np.array([0.0, 5.0]), np.array([1])
    given = normal_nodes(2, 128, 8, 0)
    nodes, shares = np.zeros((8 * 144, 2)), np.zeros(8 * 144)
    assert rare_kernels.mixed_nodes(atoms, v, rare, given, 8, 16, nodes, shares) == 8 * 144
    assert shares.sum() == pytest.approx(8.0, rel=0.05)  # one for each replicate
    mass, hessian = np.zeros(2), np.zeros((2, 2))
    total = cells_kernels.line_cells(atoms, v, nodes, shares, mass, hessian, hessian[:0])
    size = np.hypot(1.0, 1e-3)
    tail = special.ndtr(-5 / size)
    assert mass[1] == pytest.approx(tail, rel=0.2)
    density = np.exp(-12.5 / size**2) / np.sqrt(2 * np.pi)
    assert total == pytest.approx(size * density - 5 * tail, rel=0.2)


def test_masses_of_far_cells_keep_their_digits():
    """From the other end a mass of 1e-17 was 0 or 1e-16, and its potential of 1e8 multiplied it."""
    atoms = np.array([[-1e7, 0.0], [-1.0, 0.0], [1.0, 0.0], [1e7, 0.0]])
    z = np.array([-8.6, 0.3, 8.4])
    v = np.array([8.6 * (1e7 - 1), 0.0, 0.6, 0.6 + 8.4 * (1e7 - 1)])
    mass, hessian = np.empty(4), np.empty((4, 4))
    nodes, shares = np.zeros((1, 1)), np.ones(1)
    total = cells_kernels.line_cells(atoms, v, nodes, shares, mass, hessian, hessian[:0])
    exact = special.ndtr([-8.6, 0.3, -0.3, -8.4])
    np.testing.assert_allclose(mass, exact, rtol=1e-12)
    edge = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    moment = np.diff(np.concatenate(([0.0], -edge, [0.0])))
    assert total == pytest.approx(moment @ atoms[:, 0] - exact @ v, rel=1e-12)
