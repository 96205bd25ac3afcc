"""Large planar pools: potentials from a table in the two shape variables, every value proved."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.transport.solvers import Plane
from channelcode.transport.target import Reduced

TABLE_SIZE = 10_000  # pools from this size on use a table
NODES = 10.0  # of the table for each root of the number of candidates
COLUMNS = 3.0  # in the angle for each row in u
MOST_LANES = 24  # atoms: of more, the errors of so many edges add up to too much for the fast way
TABLE_GOAL = 1e-8  # decrement at which the last step is taken: it leaves less than the cubic does
FEW = 0.01  # of the candidates: left open by the fast way, they are solved without a table


def covariances_of(spread: Array, angle: Array) -> Array:
    """Covariances of trace one with `u = sqrt(least eigenvalue)` and the angle of (S_11 - S_22, 2
    S_12): `(n, 2, 2)`.
    """
    radius = 1 - 2 * spread**2
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    return 0.5 * np.stack((1 + x, y, y, 1 - x), axis=-1).reshape(-1, 2, 2)


def potential_table(target: Reduced, size: int) -> Array:
    """Potentials of the target `(rows, columns + 3, m)` for a grid of covariances of trace one.

    Rows are spreads u up to sqrt(1/2), denser below, columns the angles from -pi on, with one more
    before the first and two after the last.
    """
    from channelcode._kernels.transport.table.guess import BEND, LEAST, ROOT_HALF

    rows = max(int(np.sqrt(NODES * np.sqrt(size) / COLUMNS)), 6)
    columns = int(COLUMNS * rows)
    place = np.linspace(0.0, 1.0, rows)
    spread = (LEAST + BEND) * ((ROOT_HALF + BEND) / (LEAST + BEND)) ** place - BEND
    spread = np.repeat(spread, columns)
    angle = -np.pi + 2 * np.pi / columns * np.arange(columns)
    # Back and forth, so that every node is next to the one before.
    order = np.where(np.arange(rows)[:, None] % 2, angle[::-1], angle).ravel()
    half = 0.5 * order
    long, short = np.sqrt(1 - spread**2), spread
    turn = np.stack((np.cos(half), np.sin(half), -np.sin(half), np.cos(half)), axis=-1)
    factor = turn.reshape(-1, 2, 2) * np.stack((long, short), axis=-1)[:, :, None]
    atoms = np.einsum("md,nqd->nmq", target.points, factor)
    inner = np.sqrt(np.einsum("nmq,nmq,m->n", atoms, atoms, target.weights))
    potentials, _ = Plane().potentials(
        np.ascontiguousarray(atoms / inner[:, None, None]),
        target.weights,
        ordered=True,
        goal=TABLE_GOAL,
    )
    table = (potentials * inner[:, None]).reshape(rows, columns, -1)
    table[1::2] = table[1::2, ::-1].copy()
    heaviest = int(np.argmax(target.weights))
    table = table - table[..., heaviest, None]
    return np.ascontiguousarray(np.concatenate((table[:, -1:], table, table[:, :2]), axis=1))


def table_correlations(covariance: Array, target: Reduced) -> Array:
    """rho and what may lie below and above it, `(n, 3)`, in units of the target; NaN if not known.

    `covariance (n, 2, 2)` on the span of a planar target. The potentials of a candidate are read
    off a table (cubic in u and the angle), which need not be exact: the cells of any potential are,
    and the dual value is as far above rho as the square of what the potential lacks, which
    `second_order_loss` bounds. A candidate with a larger gap takes a step of Newton's method.
    """
    from channelcode._kernels.transport.table.pool import lane_pool

    bounds = np.empty((len(covariance), 3))
    table = potential_table(target, len(covariance))
    heaviest = int(np.argmax(target.weights))
    given = np.ascontiguousarray(covariance)
    rest = (target.points, target.weights, heaviest, table, target.lost, bounds)
    if len(target.weights) <= MOST_LANES:
        lane_pool(given, *rest)
        rows = np.flatnonzero(np.isinf(bounds[:, 0]))
    else:
        rows = np.arange(len(bounds))
    if len(rows) > FEW * len(bounds):
        from channelcode._kernels.transport.table.single import table_pool

        table_pool(given, rows, *rest)
    else:
        bounds[rows] = np.nan
    return bounds
