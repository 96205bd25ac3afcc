"""Exact plans from weighted points to few atoms, one candidate of a pool after the other."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import borrowing
from channelcode._kernels.transport.samples.flow import CELL, POINT, settle
from channelcode._kernels.transport.samples.judge import GAP_TOLERANCE, judge
from channelcode._kernels.transport.samples.semidual import (
    add_masses,
    approach,
    lead_of,
    measure,
    newton_step,
)

FIRST_POINTS = 20  # for each atom, that Newton's method looks at before all
POINTS_EACH = 1.5  # the masses may differ by so many points for each atom when paths take over,
POINTS_PAIR = 1 / 16  # and by so many for each pair: a step costs the cube, a path the square
LOST = 4.0  # times that: then the first points are solved exactly
LOOSE_STEPS = 1.5  # times as far as the first step on all points reaches,
LOOSE_STRIPS = 1.0  # and so many strips: what lies nearer to an edge may move after it
NEAR_POINTS = 20  # of these paths may move so many, or this part of all if it is less,
NEAR_SHARE = 1 / 16
NEAR_EACH = 5  # and for each atom,
NEAR_ERROR = 3.0  # and for each that is too much;
NEAR_PART = 0.6  # but all, if this part of them would
WIDER = 4  # times as many, if bounds over all points do not meet or Newton's method went too far


@borrowing
def shortened(step: np.ndarray, out: np.ndarray) -> None:
    """By how much a change `(m,)` of potentials shortens at most the lead of a point of a cell."""
    low = math.inf
    for j in range(step.shape[0]):
        low = min(low, step[j])
    for j in range(step.shape[0]):
        out[j] = step[j] - low


@borrowing
def newton_near(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    bits: int,
    enough: float,
    scale: float,
    v: np.ndarray,
    cells: np.ndarray,
    near: np.ndarray,
    table: np.ndarray,
    points: np.ndarray,
    pair: np.ndarray,
    squares: np.ndarray,
    rows: np.ndarray,
) -> tuple[int, float]:
    """Damped Newton on the points `(m, n)` that lie near edges after one step on all.

    `v (m,)` has the start and receives the end; its cells go to `cells (n,)`, the points that were
    looked at to `near (n,)`. Returns their number, and how far the masses `rows[2]` of the cells
    are off; their leads are in `points[1]`. `table (m n,)` is room.
    """
    m, n = scores.shape
    filled, held, base, step = rows[2], rows[3], rows[4], rows[5]
    start, reach, moved = rows[6], rows[7], rows[8]
    wider = 1.0
    while True:
        for j in range(m):
            held[j] = 0.0
            start[j] = v[j]
        best, lead = points[0], points[1]
        error = measure(
            scores, mass, weights, held, bits, v, best, lead, pair, filled, squares[0, 0]
        )
        if error <= enough:
            for i in range(n):
                cells[i] = pair[i] >> bits
                near[i] = i
            return n, error
        width = newton_step(mass, weights, bits, scale, best, lead, pair, filled, squares, step)
        shortened(step, reach)
        for j in range(m):
            reach[j] = wider * (LOOSE_STEPS * reach[j] + LOOSE_STRIPS * width)
            base[j] = v[j]
            v[j] = base[j] + step[j]
        # Loops without branches: which points are near an edge cannot be foretold.
        beyond = points[2]
        for i in range(n):
            cells[i] = pair[i] >> bits
            beyond[i] = lead[i] - reach[cells[i]]
        loose = 0
        for i in range(n):
            near[loose] = i
            loose += 0 if beyond[i] > 0.0 else 1
        some, load = scores, mass
        if loose >= NEAR_PART * n:
            loose = n
            for i in range(n):
                near[i] = i
        else:
            for i in range(n):
                beyond[i] = mass[i] if beyond[i] > 0.0 else 0.0
            add_masses(beyond, cells, 0, held, squares[0, 0])
            load = points[3, :loose]
            some = table[: m * loose].reshape((m, loose))
            for q in range(loose):
                load[q] = mass[near[q]]
            for j in range(m):
                for q in range(loose):
                    some[j, q] = scores[j, near[q]]
        error = approach(
            some, load, weights, held, bits, enough, scale, error, v, points[0, :loose],
            points[1, :loose], pair, filled, squares, base, step,
        )  # fmt: skip
        for j in range(m):
            step[j] = v[j] - start[j]
        shortened(step, moved)
        good = True
        for j in range(m):
            good = good and moved[j] <= reach[j]
        if good or loose == n:  # no other point has left its cell
            for q in range(loose):
                cells[near[q]] = pair[q] >> bits
            return loose, error
        wider *= WIDER


@borrowing
def nearest_points(lead: np.ndarray, wanted: float, near: np.ndarray) -> int:
    """Leave the points with the least leads `(n,)`, about `wanted`, in `near`; their number.

    All, where few would be left out.
    """
    among = lead.shape[0]
    if wanted >= NEAR_PART * among:
        return among
    margin = lead_of(lead, int(wanted))
    count = 0
    for q in range(among):
        near[count] = near[q]
        count += 1 if lead[q] <= margin else 0
    return count


@borrowing
def settle_near(
    scores: np.ndarray,
    stride: int,
    mass: np.ndarray,
    weights: np.ndarray,
    later: np.ndarray,
    v: np.ndarray,
    cells: np.ndarray,
    near: np.ndarray,
    count: int,
    links: np.ndarray,
    part: np.ndarray,
    table: np.ndarray,
    squares: np.ndarray,
    rows: np.ndarray,
    entry: np.ndarray,
) -> int:
    """Shortest paths for the first `count` of `near`: see `settle`; how many entries there are.

    Point i of these is `scores[:, stride i]`, in `cells[i]` with `mass[i]`.
    """
    m = weights.shape[0]
    prices = table[: count * m].reshape((count, m))
    for q in range(count):
        links[POINT, q] = q
        links[CELL, q] = cells[near[q]]
        part[q] = mass[near[q]]
    for start in range(0, count, 64):
        stop = min(start + 64, count)
        for j in range(m):
            for q in range(start, stop):
                prices[q, j] = scores[j, stride * near[q]]
    return settle(
        prices, weights, later, mass.shape[0], rows[2], v, links, part, squares, entry, rows[3:]
    )


@borrowing
def solve_some(
    scores: np.ndarray,
    stride: int,
    mass: np.ndarray,
    weights: np.ndarray,
    bits: int,
    enough: float,
    scale: float,
    v: np.ndarray,
    cells: np.ndarray,
    near: np.ndarray,
    links: np.ndarray,
    part: np.ndarray,
    tables: np.ndarray,
    points: np.ndarray,
    pair: np.ndarray,
    squares: np.ndarray,
    rows: np.ndarray,
    entry: np.ndarray,
) -> None:
    """Potentials `v (m,)` for each stride-th point of `scores (m, n)`, with `mass`, to begin with.

    By Newton's method, and where that is lost, exactly.
    """
    m, size = scores.shape[0], mass.shape[0]
    table = tables[0, : m * size].reshape((m, size))
    for j in range(m):
        rows[3, j] = 0.0
        for i in range(size):
            table[j, i] = scores[j, i * stride]
    error = approach(
        table, mass, weights, rows[3], bits, enough, scale, math.inf, v, points[0, :size],
        points[1, :size], pair, rows[2], squares, rows[4], rows[5],
    )  # fmt: skip
    if error > LOST * enough:
        for i in range(size):
            near[i] = i
            cells[i] = pair[i] >> bits
        unequal = rows[8]
        unequal[0] = math.nan
        settle_near(
            scores, stride, mass, weights, unequal, v, cells, near, size, links, part, tables[1],
            squares, rows, entry,
        )  # fmt: skip


@borrowing
def assign_pool(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    later: np.ndarray,
    bits: int,
    scale: np.ndarray,
    v: np.ndarray,
    bounds: np.ndarray,
    cells: np.ndarray,
    near: np.ndarray,
    links: np.ndarray,
    part: np.ndarray,
    closed: np.ndarray,
    tables: np.ndarray,
    points: np.ndarray,
    pair: np.ndarray,
    squares: np.ndarray,
    rows: np.ndarray,
    entry: np.ndarray,
) -> tuple[int, int]:
    """Potentials `v (n, m)` and `bounds (n, 2)` on max E<X,T> for each of `scores (n, m, s)`.

    `scores[c, j, i]` is <x_i, y_j>, m > 1, their size about `scale (n,)`; v holds a start. Newton's
    method comes first, on some points, then on those of all that lie near the edges of its cells;
    then shortest paths between fewer of these. Where bounds over all points do not meet, more
    points count as near. `closed (n,)` is one where they meet to rounding.

    The plan of the last candidate is left behind: `cells (s,)` has the points' cells, and `near
    (s,)` those that may have moved, to where `links (4, room)` and `part (room,)` say; returns how
    many of the points may have, and how many entries there are. `tables (2, m s)`, `points (5, s)`,
    `pair (s,)`, `squares (2, m, m)`, `rows (9, m)` and `entry (m + 6, m)` are room.
    """
    candidates, m, n = scores.shape
    stride = max(1, n // (FIRST_POINTS * m))
    first = (n - 1) // stride + 1
    some = points[4, :first]
    whole = 0.0
    for i in range(first):
        some[i] = mass[i * stride]
        whole += some[i]
    for i in range(first):
        some[i] /= whole
    enough = m * (POINTS_EACH + m * POINTS_PAIR) / n
    usual = min(NEAR_POINTS, NEAR_SHARE * n) + NEAR_EACH * m
    count = 0
    size = 0
    for c in range(candidates):
        table, at = scores[c], v[c]
        if stride > 1:
            solve_some(
                table, stride, some, weights, bits, enough * n / first, scale[c], at, cells, near,
                links, part, tables, points, pair, squares, rows, entry,
            )  # fmt: skip
        wider = 1.0
        while True:
            # Paths that did not see all they should leave better potentials than Newton's method.
            goal = enough if wider == 1.0 else math.inf
            loose, error = newton_near(
                table, mass, weights, bits, goal, scale[c], at, cells, near, tables[0], points,
                pair, squares, rows,
            )  # fmt: skip
            wanted = wider * (usual + NEAR_ERROR * error * n)
            count = nearest_points(points[1, :loose], wanted, near)
            size = settle_near(
                table, 1, mass, weights, later, at, cells, near, count, links, part, tables[1],
                squares, rows, entry,
            )  # fmt: skip
            primal, dual, rounding = judge(
                table, mass, weights, at, cells, near, count, links, part, size, points, rows
            )
            bounds[c, 0] = primal
            bounds[c, 1] = dual
            closed[c] = 1 if dual - primal <= max(GAP_TOLERANCE * scale[c], rounding) else 0
            if closed[c] == 1 or count == n:
                break
            wider *= WIDER
    return count, size
