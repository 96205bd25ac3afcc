"""Planar cells of many candidates side by side: one loop over `LANES` of them for each step.

All that a loop reads and writes lies in one flat array at places that the compiler knows, so that
it can see that nothing overlaps and use vector registers.
"""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import inlined, kernel
from channelcode._kernels.transport.owen import DENSITY, NODES_6, WEIGHTS_6
from channelcode._kernels.transport.table.guess import LANES
from channelcode._kernels.transport.table.quick import (
    EXP_ERROR,
    TAIL_ERROR,
    clamped,
    quick_exp,
    quick_tail,
)

EPSILON = 2.220446049250313e-16
ROUNDING = 1e-15  # a few units in the last place
BULK = 10.0  # deviations: the mass beyond, 1e-23, is no part of any bound
WEDGE_ERROR = 3e-12  # of `edge_wedge`: 1.0e-12 was measured
TURN = 2.0 * math.pi
SAFE = 1e-12  # more than what a probability below is wrong by
KEPT = 1 - 1e-5  # a density below 5 deviations is wrong by less

# Rows of the room for one block: two atoms, a third, their edge, and what it gives.
XJ, YJ, VJ = 0 * LANES, 1 * LANES, 2 * LANES
XK, YK, VK = 3 * LANES, 4 * LANES, 5 * LANES
XL, YL, VL = 6 * LANES, 7 * LANES, 8 * LANES
NX, NY, LENGTH, HEIGHT = 9 * LANES, 10 * LANES, 11 * LANES, 12 * LANES
LEFT, LEFT_LOW, LEFT_HIGH, LEFT_NEAR = 13 * LANES, 14 * LANES, 15 * LANES, 16 * LANES
RIGHT, RIGHT_LOW, RIGHT_HIGH, RIGHT_NEAR = 17 * LANES, 18 * LANES, 19 * LANES, 20 * LANES
BEYOND, RATE, LOW = 21 * LANES, 22 * LANES, 23 * LANES
TAIL, TAIL_LEFT, TAIL_RIGHT, PEAK = 24 * LANES, 25 * LANES, 26 * LANES, 27 * LANES
TOTAL, ERROR, HARD = 28 * LANES, 29 * LANES, 30 * LANES
START, WIDTH, HALF, WEDGE = 31 * LANES, 32 * LANES, 33 * LANES, 34 * LANES
SHORTER = 35 * LANES
ROOM = 36 * LANES


@inlined
def copy_row(row: np.ndarray, start: int, into: np.ndarray, place: int) -> None:
    """Copy `LANES` numbers from a place in a row to one in another."""
    for i in range(LANES):
        into[place + i] = row[start + i]


@kernel
def fill_row(row: np.ndarray, value: float) -> None:
    """Set a whole row to one value."""
    for i in range(row.shape[0]):
        row[i] = value


@kernel
def lay_edge(s: np.ndarray) -> None:
    """The line between the cells of two atoms, not cut yet."""
    for i in range(LANES):
        dx = s[XK + i] - s[XJ + i]
        dy = s[YK + i] - s[YJ + i]
        rise = s[VK + i] - s[VJ + i]
        length = math.sqrt(dx * dx + dy * dy)
        shorter = 1.0 / length
        s[NX + i] = dx * shorter
        s[NY + i] = dy * shorter
        s[LENGTH + i] = length
        s[SHORTER + i] = shorter
        s[HEIGHT + i] = rise * shorter
        s[HARD + i] += 0.0 if rise != 0.0 and length > 0.0 else 1.0
    for i in range(LANES):
        s[LEFT_LOW + i] = -math.inf
        s[LEFT_HIGH + i] = -math.inf
        s[LEFT_NEAR + i] = -math.inf
        s[RIGHT_LOW + i] = math.inf
        s[RIGHT_HIGH + i] = math.inf
        s[RIGHT_NEAR + i] = math.inf


@kernel
def cut_edge(s: np.ndarray, radius: float) -> None:
    """Cut the line by the cell of a third atom; see `edges` for the ends within rounding."""
    for i in range(LANES):
        nx, ny, h, length = s[NX + i], s[NY + i], s[HEIGHT + i], s[LENGTH + i]
        ex = s[XL + i] - s[XJ + i]
        ey = s[YL + i] - s[YJ + i]
        along = nx * ex + ny * ey
        # Differences from the nearer end keep their digits when atoms nearly coincide.
        far = along > 0.5 * length
        ex = s[XL + i] - s[XK + i] if far else ex
        ey = s[YL + i] - s[YK + i] if far else ey
        level = s[VL + i] - (s[VK + i] if far else s[VJ + i])
        part = h * (nx * ex + ny * ey)
        first = nx * ey
        second = ny * ex
        slope = first - second
        blur = ROUNDING * (abs(first) + abs(second))
        room = level - part
        doubt = ROUNDING * (abs(level) + abs(part))
        reach = 2.0 * radius * (1.0 + abs(along) * s[SHORTER + i])
        # A parallel edge takes all of this one or nothing.
        parallel = abs(slope) <= blur
        s[HARD + i] += 1.0 if parallel and abs(room) <= 4.0 * doubt else 0.0
        inverse = 1.0 / slope
        size = abs(inverse)
        end = room * inverse
        off = 0.0 if parallel else (doubt + abs(end) * blur) * size
        away = off + reach * size
        end = (-math.inf if room < 0.0 else math.inf) if parallel else end
        up = slope > 0.0 or parallel
        above = end if up else math.inf
        below = -math.inf if up else end
        low = above - off
        high = above + off
        near = above - away
        near = (-math.inf if room <= reach else math.inf) if parallel else near
        s[RIGHT_LOW + i] = low if low < s[RIGHT_LOW + i] else s[RIGHT_LOW + i]
        s[RIGHT_HIGH + i] = high if high < s[RIGHT_HIGH + i] else s[RIGHT_HIGH + i]
        s[RIGHT_NEAR + i] = near if near < s[RIGHT_NEAR + i] else s[RIGHT_NEAR + i]
        low = below - off
        high = below + off
        near = below + away
        s[LEFT_LOW + i] = low if low > s[LEFT_LOW + i] else s[LEFT_LOW + i]
        s[LEFT_HIGH + i] = high if high > s[LEFT_HIGH + i] else s[LEFT_HIGH + i]
        s[LEFT_NEAR + i] = near if near > s[LEFT_NEAR + i] else s[LEFT_NEAR + i]


@kernel
def end_edge(s: np.ndarray) -> bool:
    """Put the ends in the middle of where they may be; whether there is an edge in any lane."""
    count = 0.0
    for i in range(LANES):
        s[LEFT + i] = 0.5 * (s[LEFT_LOW + i] + s[LEFT_HIGH + i])
        s[RIGHT + i] = 0.5 * (s[RIGHT_LOW + i] + s[RIGHT_HIGH + i])
    for i in range(LANES):
        count += 0.0 if s[LEFT_LOW + i] >= s[RIGHT_HIGH + i] else 1.0
    return count > 0.0


@kernel
def edge_tails(s: np.ndarray) -> None:
    """The normal tails at the foot and the ends of an edge, and the density at its foot."""
    for i in range(LANES):
        size = clamped(s[HEIGHT + i])
        peak = quick_exp(-0.5 * size * size)
        s[PEAK + i] = DENSITY * peak
        s[TAIL + i] = quick_tail(size, peak)
    for i in range(LANES):
        size = clamped(s[LEFT + i])
        s[TAIL_LEFT + i] = quick_tail(size, quick_exp(-0.5 * size * size))
    for i in range(LANES):
        size = clamped(s[RIGHT + i])
        s[TAIL_RIGHT + i] = quick_tail(size, quick_exp(-0.5 * size * size))


@kernel
def edge_wedge(s: np.ndarray, end: int, tail_end: int) -> None:
    """Fill the row WEDGE with `T(h, |t|/h)` for the row of ends t, within `WEDGE_ERROR`.

    See `owen.wedge`. With a the lesser of |t|/h and h/|t|, by six nodes of Gauss and Legendre on
    [0, a], or on [a, 1] beside `T(h, 1) = Q(h) (1 - Q(h)) / 2`, whichever is shorter.
    """
    for i in range(LANES):
        h, t = clamped(s[HEIGHT + i]), clamped(s[end + i])
        long = t if t > h else h
        short = h if t > h else t
        ratio = short / (long + 1e-300)
        s[START + i] = ratio if ratio > 0.5 else 0.0
        s[WIDTH + i] = 1.0 - ratio if ratio > 0.5 else ratio
        s[HALF + i] = -0.5 * long * long
        s[WEDGE + i] = 0.0
    for node in range(NODES_6.shape[0] // 2):
        near, far = NODES_6[node], 1.0 - NODES_6[node]
        weight = WEIGHTS_6[node] / TURN
        for i in range(LANES):
            start, width, half = s[START + i], s[WIDTH + i], s[HALF + i]
            x = start + near * width
            y = start + far * width
            u = 1.0 + x * x
            w = 1.0 + y * y
            both = quick_exp(half * u) * w + quick_exp(half * w) * u
            s[WEDGE + i] += weight * both / (u * w)
    for i in range(LANES):
        tail, tail_t = s[TAIL + i], s[tail_end + i]
        beyond = clamped(s[end + i]) > clamped(s[HEIGHT + i])
        at_one = tail_t if beyond else tail
        near = s[WIDTH + i] * s[WEDGE + i]
        near = 0.5 * at_one * (1.0 - at_one) - near if s[START + i] > 0.0 else near
        s[WEDGE + i] = 0.5 * (tail + tail_t) - tail * tail_t - near if beyond else near


@kernel
def edge_beyond(s: np.ndarray) -> None:
    """The mass beyond an edge, seen from the origin."""
    edge_wedge(s, LEFT, TAIL_LEFT)
    for i in range(LANES):
        s[BEYOND + i] = s[WEDGE + i] if s[LEFT + i] < 0.0 else -s[WEDGE + i]
    edge_wedge(s, RIGHT, TAIL_RIGHT)
    for i in range(LANES):
        right, part = s[RIGHT + i], s[WEDGE + i]
        part = s[BEYOND + i] + (part if right > 0.0 else -part)
        part = part if s[HEIGHT + i] > 0.0 else -part
        s[BEYOND + i] = part if s[LEFT + i] < right else 0.0


@kernel
def move_mass(s: np.ndarray, source: np.ndarray, goal: np.ndarray) -> None:
    """Move the mass beyond an edge from one cell to the other."""
    for i in range(LANES):
        source[i] -= s[BEYOND + i]
    for i in range(LANES):
        goal[i] += s[BEYOND + i]


@inlined
def moved_end(end: float, tail: float, width: float) -> float:
    """The mass of a standard normal variable within `width` of the end of an edge, at most.

    `tail` is Q(|end|), and `phi(t) <= (1 + t) Q(t)` (Birnbaum).
    """
    size = abs(end)
    near = 1.2 * (1.0 + size) * (tail + TAIL_ERROR) * width
    near = DENSITY * width if size * width > 0.1 else near
    return near if size < BULK else 0.0


@kernel
def edge_rates(s: np.ndarray, radius: float) -> None:
    """How fast mass moves across an edge, now and at least within `radius`; value and error."""
    for i in range(LANES):
        left, right, length = s[LEFT + i], s[RIGHT + i], s[LENGTH + i]
        exists = left < right
        peak = s[PEAK + i]
        tail_left, tail_right = s[TAIL_LEFT + i], s[TAIL_RIGHT + i]
        before = tail_left if left > 0.0 else 1.0 - tail_left
        after = tail_right if right > 0.0 else 1.0 - tail_right
        span = before - after if exists else 0.0
        line = span * peak
        shorter = s[SHORTER + i]
        s[RATE + i] = line * shorter
        s[TOTAL + i] += length * line
        # What a mass is wrong by counts with the potentials, which are large far away.
        error = 2.0 * WEDGE_ERROR * abs(s[VK + i] - s[VJ + i])
        error += length * (2.0 * TAIL_ERROR * peak + EXP_ERROR)
        open_ = moved_end(left, tail_left, s[LEFT_HIGH + i] - s[LEFT_LOW + i])
        open_ += moved_end(right, tail_right, s[RIGHT_HIGH + i] - s[RIGHT_LOW + i])
        error += 2.0 * length * open_ * (peak + EXP_ERROR)
        s[ERROR + i] += error if exists else 0.0
        # No edge, but there may be one within rounding.
        s[HARD + i] += 1.0 if not exists and s[LEFT_LOW + i] < s[RIGHT_HIGH + i] else 0.0
        turn = 2.0 * radius * shorter
        size = abs(s[HEIGHT + i])
        inner = right if right < BULK else BULK
        outer = s[RIGHT_NEAR + i] if s[RIGHT_NEAR + i] > -BULK else -BULK
        lost = inner - outer if inner > outer else 0.0
        inner = left if left > -BULK else -BULK
        outer = s[LEFT_NEAR + i] if s[LEFT_NEAR + i] < BULK else BULK
        lost += outer - inner if outer > inner else 0.0
        kept = KEPT * (1.0 - size * turn - turn * turn)
        rest = span - DENSITY * lost - SAFE
        sure = kept > 0.0 and rest > 0.0 and size < 5.0
        s[LOW + i] = kept * rest * peak * shorter if sure else 0.0


@inlined
def lane_cells(
    x: np.ndarray,
    y: np.ndarray,
    v: np.ndarray,
    radius: float,
    s: np.ndarray,
    mass: np.ndarray,
    rates: np.ndarray,
    low: np.ndarray,
) -> None:
    """As `edges.judged_edges` for `LANES` problems with atoms `x, y (m, LANES)` and their v.

    Fills `mass (m, LANES)`, but for the one of the lowest cell, and the rates now and the least
    ones around, `(m, m, LANES)` above the diagonal. The rows TOTAL, ERROR and HARD of the room `s`
    hold E <X, a(X)>, what the dual value may be off by and whether the lane is for other means.
    """
    m = x.shape[0]
    fill_row(s[TOTAL : HARD + LANES], 0.0)
    for j in range(m):
        fill_row(mass[j], 0.0)
    for j in range(m - 1):
        copy_row(x[j], 0, s, XJ)
        copy_row(y[j], 0, s, YJ)
        copy_row(v[j], 0, s, VJ)
        for k in range(j + 1, m):
            copy_row(x[k], 0, s, XK)
            copy_row(y[k], 0, s, YK)
            copy_row(v[k], 0, s, VK)
            lay_edge(s)
            for l in range(m):
                if l not in (j, k):
                    copy_row(x[l], 0, s, XL)
                    copy_row(y[l], 0, s, YL)
                    copy_row(v[l], 0, s, VL)
                    cut_edge(s, radius)
            if not end_edge(s):
                fill_row(rates[j, k], 0.0)
                fill_row(low[j, k], 0.0)
                continue
            edge_tails(s)
            edge_beyond(s)
            edge_rates(s, radius)
            move_mass(s, mass[j], mass[k])
            copy_row(s, RATE, rates[j, k], 0)
            copy_row(s, LOW, low[j, k], 0)


@kernel
def lane_solve(rates: np.ndarray, right: np.ndarray, resistance: np.ndarray) -> None:
    """As `newton.solve_laplacian` for each lane, in place; NaN where a cell has no edge.

    `rates (m, m, LANES)` above the diagonal, `right (m, LANES)`; fills `resistance (LANES,)` with
    the sum of the inverse pivots.
    """
    m = right.shape[0]
    share = np.empty(LANES)
    fill_row(resistance, 0.0)
    for i in range(m - 1):
        inverse, above = rates[i, i], right[i]
        fill_row(inverse, 0.0)
        for k in range(i + 1, m):
            row = rates[i, k]
            for q in range(LANES):
                inverse[q] += row[q]
        for q in range(LANES):
            inverse[q] = 1.0 / inverse[q] if inverse[q] > 0.0 else math.nan
        for q in range(LANES):
            resistance[q] += inverse[q]
        for j in range(i + 1, m):
            row, beside = rates[i, j], right[j]
            for q in range(LANES):
                share[q] = row[q] * inverse[q]
            for q in range(LANES):
                beside[q] += share[q] * above[q]
            for k in range(j + 1, m):
                source, place = rates[i, k], rates[j, k]
                for q in range(LANES):
                    place[q] += share[q] * source[q]
    fill_row(right[m - 1], 0.0)
    for i in range(m - 2, -1, -1):
        above, inverse = right[i], rates[i, i]
        for k in range(i + 1, m):
            row, beside = rates[i, k], right[k]
            for q in range(LANES):
                above[q] += row[q] * beside[q]
        for q in range(LANES):
            above[q] *= inverse[q]
