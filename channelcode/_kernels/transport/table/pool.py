"""Large planar pools, `LANES` candidates at a time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from channelcode._kernels.jit import inlined, kernel
from channelcode._kernels.transport.table.guess import (
    ACROSS,
    ENOUGH,
    LANES,
    RADII,
    ROUGH,
    TRACE,
    TRIES,
    UNIT,
    lay_lanes,
    size_of_target,
    write_bounds,
)
from channelcode._kernels.transport.table.guess import ROOM as GUESS_ROOM
from channelcode._kernels.transport.table.lanes import (
    EPSILON,
    ERROR,
    HARD,
    ROOM,
    TOTAL,
    WEDGE_ERROR,
    copy_row,
    fill_row,
    lane_cells,
    lane_solve,
)

CHUNK = 128 * LANES  # candidates that are laid out together: those open after a try close ranks
OPEN = math.inf  # the value of a candidate that is for other means


@kernel
def lane_sums(
    weights: np.ndarray, v: np.ndarray, mass: np.ndarray, s: np.ndarray, sums: np.ndarray
) -> None:
    """Give the lowest cell its mass; add up the dual value, `sums[0]`, and w'|v|, `sums[1]`.

    Its rounding joins the row ERROR. `mass (m, LANES)` is what it differs from the weights by.
    """
    m = weights.shape[0]
    lowest, value, spread, largest = sums[2], sums[0], sums[1], sums[3]
    fill_row(lowest, math.inf)
    fill_row(spread, 0.0)
    fill_row(largest, 0.0)
    copy_row(s, TOTAL, value, 0)
    for j in range(m):
        own = v[j]
        for i in range(LANES):
            lowest[i] = own[i] if own[i] < lowest[i] else lowest[i]
        for i in range(LANES):
            spread[i] += weights[j] * abs(own[i])
        for i in range(LANES):
            largest[i] += abs(own[i])
    for j in range(m):
        own, held = v[j], mass[j]
        for i in range(LANES):
            held[i] += (1.0 if own[i] == lowest[i] else 0.0) - weights[j]
        for i in range(LANES):
            value[i] -= own[i] * held[i]
    # A cell takes part in at most m - 1 moves of mass, each of at most a half.
    for i in range(LANES):
        s[ERROR + i] += m * m * EPSILON * largest[i]


@kernel
def lane_losses(
    mass: np.ndarray, radius: float, step: np.ndarray, sums: np.ndarray, loss: np.ndarray
) -> None:
    """As `single.second_order_loss` for each lane; infinite where unproved.

    `step` is what `lane_solve` makes of the mass and the least rates, `sums[2]` the resistance.
    """
    m = mass.shape[0]
    resistance, twice, lowest, highest = sums[2], sums[3], sums[4], sums[5]
    fill_row(twice, 0.0)
    fill_row(lowest, 0.0)
    fill_row(highest, 0.0)
    for j in range(m):
        own, held = step[j], mass[j]
        for i in range(LANES):
            twice[i] += own[i] * held[i]
        for i in range(LANES):
            lowest[i] = own[i] if own[i] < lowest[i] else lowest[i]
        for i in range(LANES):
            highest[i] = own[i] if own[i] > highest[i] else highest[i]
    for i in range(LANES):
        reach = 0.5 * (highest[i] - lowest[i])
        # What the masses are wrong by counts with the step.
        most = twice[i] + 4.0 * m * m * WEDGE_ERROR * reach
        most = most if most > 0.0 else 0.0
        reach += math.sqrt(most * resistance[i])
        loss[i] = 0.5 * most if reach <= radius else math.inf


class Some(NamedTuple):
    """Candidates side by side."""

    rows: np.ndarray  # (3, m, n) coordinates x and y of the atoms and potentials
    about: np.ndarray  # (3, n) unit of these, deviation across the longer axis, trace
    index: np.ndarray  # (n,) which they are


class Room(NamedTuple):
    """Memory for a try at `LANES` candidates."""

    mass: np.ndarray
    step: np.ndarray
    rates: np.ndarray
    low: np.ndarray
    edge: np.ndarray
    sums: np.ndarray
    loss: np.ndarray
    chosen: np.ndarray


@kernel
def make_some(m: int, n: int) -> Some:
    """Memory for n candidates with m atoms."""
    return Some(np.zeros((3, m, n)), np.zeros((3, n)), np.zeros(n, dtype=np.int64))


@inlined
def make_room(m: int) -> Room:
    """Memory for a try."""
    return Room(
        np.zeros((m, LANES)),
        np.zeros((m, LANES)),
        np.zeros((m, m, LANES)),
        np.zeros((m, m, LANES)),
        np.zeros(ROOM),
        np.zeros((6, LANES)),
        np.zeros(LANES),
        np.zeros(LANES, dtype=np.int64),
    )


@inlined
def try_block(
    block: Some,
    size: int,
    attempt: int,
    weights: np.ndarray,
    heaviest: int,
    slack: tuple[float, float],
    room: Room,
    bounds: np.ndarray,
    open_: Some,
    count: int,
) -> int:
    """Bounds for the first `size` lanes of a block; those without join the `count` still open.

    With a step of Newton's method. `slack` is the size of the target, and what it has lost of it.
    """
    m = weights.shape[0]
    x, y, v = block.rows[0], block.rows[1], block.rows[2]
    s, loss, radius = room.edge, room.loss, RADII[attempt]
    deviation, lost = slack
    lane_cells(x, y, v, radius, s, room.mass, room.rates, room.low)
    lane_sums(weights, v, room.mass, s, room.sums)
    for j in range(m):
        copy_row(room.mass[j], 0, room.step[j], 0)
    lane_solve(room.low, room.step, room.sums[2])
    lane_losses(room.mass, radius, room.step, room.sums, loss)
    more = 0
    for i in range(size):
        c, unit, across = block.index[i], block.about[0, i], block.about[1, i]
        if not across > 0.0:
            fill_row(bounds[c], math.nan)
        elif s[HARD + i] != 0.0 or not s[ERROR + i] <= ROUGH:
            fill_row(bounds[c], OPEN)
        elif loss[i] <= ENOUGH:
            rough = deviation * (8.0 * EPSILON / across + lost + 8.0 * EPSILON) / unit
            rough += s[ERROR + i] + 16.0 * EPSILON * room.sums[1, i]
            outer = unit * math.sqrt(block.about[2, i])
            write_bounds(room.sums[0, i], loss[i], rough, outer, bounds[c])
        elif attempt == TRIES - 1:
            fill_row(bounds[c], OPEN)
        else:
            room.chosen[more] = i
            more += 1
    if more > 0:
        lane_solve(room.rates, room.mass, room.sums[2])
    for q in range(more):
        i, place = room.chosen[q], count + q
        open_.index[place] = block.index[i]
        for d in range(3):
            open_.about[d, place] = block.about[d, i]
            for j in range(m):
                open_.rows[d, j, place] = block.rows[d, j, i]
        for j in range(m):
            open_.rows[2, j, place] += room.mass[j, i] - room.mass[heaviest, i]
    return count + more


@kernel
def lane_pool(
    covariance: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    heaviest: int,
    table: np.ndarray,
    lost: float,
    bounds: np.ndarray,
) -> None:
    """rho and its bounds, `bounds (n, 3)`, for covariances `(n, 2, 2)` on the span of a target.

    `points (m, 2)` are the atoms about their mean, of size about one, and `table` holds potentials
    for covariances of trace one (see `table_guess`). A row is NaN where the covariance is too
    narrow for the table, and its value is OPEN where nothing was proved.
    """
    n, m = covariance.shape[0], points.shape[0]
    # An odd number of cache lines, so that rows do not push each other out of the cache.
    block, open_, room = make_some(m, LANES), make_some(m, CHUNK + 8), make_room(m)
    s = np.zeros(GUESS_ROOM)
    slack = (size_of_target(points, weights), lost)
    for first in range(0, n, CHUNK):
        count = min(CHUNK, n - first)
        for attempt in range(TRIES):
            rest, count = count, 0
            for start in range(0, rest, LANES):
                size = min(LANES, rest - start)
                if attempt == 0:
                    x, y, v = block.rows[0], block.rows[1], block.rows[2]
                    place = first + start
                    lay_lanes(covariance, place, points, weights, heaviest, table, s, x, y, v)
                    for i in range(LANES):
                        block.index[i] = place + i
                        block.about[0, i] = s[UNIT + i]
                        block.about[1, i] = s[ACROSS + i]
                        block.about[2, i] = s[TRACE + i]
                else:
                    for i in range(size):
                        block.index[i] = open_.index[start + i]
                        for d in range(3):
                            block.about[d, i] = open_.about[d, start + i]
                            for j in range(m):
                                block.rows[d, j, i] = open_.rows[d, j, start + i]
                count = try_block(
                    block, size, attempt, weights, heaviest, slack, room, bounds, open_, count
                )
