"""A candidate of a planar pool: its atoms, and potentials read off a table."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import inlined, kernel

NARROW = 1e-6  # ratio of variances below which a factor needs more digits than this one has
LEAST = 1e-3  # spread u at which the table begins: the square root of NARROW
BEND = 0.15  # rows of the table are this plus u apart, in proportion
ROOT_HALF = math.sqrt(0.5)
SPAN = math.log((ROOT_HALF + BEND) / (LEAST + BEND))
MIDDLE = math.sqrt((ROOT_HALF + BEND) * (LEAST + BEND))
PER_ROW = 2.0 / SPAN
PER_TURN = 0.5 / math.pi
LANES = 64  # candidates side by side
# Rows of the room for one block.
FIRST, SECOND, MIXED, INVERSE = 0 * LANES, 1 * LANES, 2 * LANES, 3 * LANES
TRACE, ACROSS, UNIT = 4 * LANES, 5 * LANES, 6 * LANES
ROOT, SLOPE, SWAP = 7 * LANES, 8 * LANES, 9 * LANES
ALONG, AROUND = 10 * LANES, 11 * LANES
ROOM = 12 * LANES
VALUE, BELOW, ABOVE, BOUNDS = 0, 1, 2, 3  # columns of what is found
TRIES = 4  # evaluations of a candidate, each after a step of Newton's method
RADII = (1e-3, 1e-4, 1e-5, 1e-8)  # around each potential, in which the rates are bounded
ENOUGH = 2e-10  # loss in rho, for atoms of size one, at which a candidate is done
ROUGH = 3e-10  # and the rounding on either side: together less than RTOL of the scale


@inlined
def cubic_weights(place: float) -> tuple[float, float, float, float]:
    """Lagrange weights of the nodes -1, 0, 1, 2 at `place` in [0, 1] (or near)."""
    before = place + 1.0
    after = place - 1.0
    last = place - 2.0
    return (
        -place * after * last / 6.0,
        before * after * last / 2.0,
        -before * place * last / 2.0,
        before * place * after / 6.0,
    )


@kernel
def table_guess(table: np.ndarray, along: float, around: float, v: np.ndarray) -> None:
    """Cubic interpolation of potentials `table (rows, columns + 3, m)` at the place given.

    `along` counts rows, `around` columns; the first column and the last two repeat others, as the
    columns go round a circle.
    """
    rows, columns, m = table.shape
    row = min(max(int(along), 1), rows - 3)
    column = min(max(int(around), 0), columns - 4)
    r0, r1, r2, r3 = cubic_weights(along - row)
    c0, c1, c2, c3 = cubic_weights(around - column)
    t0, t1, t2, t3 = table[row - 1], table[row], table[row + 1], table[row + 2]
    k0, k1, k2, k3 = column, column + 1, column + 2, column + 3
    for j in range(m):
        u0 = c0 * t0[k0, j] + c1 * t0[k1, j] + c2 * t0[k2, j] + c3 * t0[k3, j]
        u1 = c0 * t1[k0, j] + c1 * t1[k1, j] + c2 * t1[k2, j] + c3 * t1[k3, j]
        u2 = c0 * t2[k0, j] + c1 * t2[k1, j] + c2 * t2[k2, j] + c3 * t2[k3, j]
        u3 = c0 * t3[k0, j] + c1 * t3[k1, j] + c2 * t3[k2, j] + c3 * t3[k3, j]
        v[j] = (r0 * u0 + r1 * u1) + (r2 * u2 + r3 * u3)


@inlined
def row_place(spread: float) -> float:
    """Where a spread u stands among the rows, from 0 at LEAST to 1 at sqrt(1/2): denser below.

    `log((u + BEND) / (LEAST + BEND))` over its value at the end, within 1e-7: a place need not be
    exact. The logarithm of a ratio is twice the inverse hyperbolic tangent of `(r - 1) / (r + 1)`.
    """
    s = (spread + (BEND - MIDDLE)) / (spread + (BEND + MIDDLE))
    q = s * s
    q = 1.0 + q * (
        0.3333333333333333
        + q
        * (
            0.2
            + q
            * (
                0.14285714285714285
                + q
                * (
                    0.1111111111111111
                    + q * (0.09090909090909091 + q * (0.07692307692307693 + q * 0.09))
                )
            )
        )
    )
    return 0.5 + s * q * PER_ROW


@inlined
def turn_of(x: float, y: float) -> float:
    """The angle of (x, y) as a part of a turn, from 0 at -pi to 1 at pi, within 1e-7."""
    across = abs(y)
    along = abs(x)
    steep = across > along
    short = along if steep else across
    long = across if steep else along
    s = short / (long + 1e-300)
    wide = s > 0.4142135623730951  # tan(pi / 8): a turn by as much makes the ratio small
    s = (s - 1.0) / (s + 1.0) if wide else s
    q = s * s
    q = 1.0 - q * (
        0.3333333333333333
        - q
        * (
            0.2
            - q
            * (
                0.14285714285714285
                - q * (0.1111111111111111 - q * (0.09090909090909091 - q * 0.07))
            )
        )
    )
    angle = s * q * PER_TURN + (0.125 if wide else 0.0)
    angle = 0.25 - angle if steep else angle
    angle = 0.5 - angle if x < 0.0 else angle
    return 0.5 - angle if y < 0.0 else 0.5 + angle


@kernel
def lay_lanes(
    covariance: np.ndarray,
    first: int,
    points: np.ndarray,
    weights: np.ndarray,
    heaviest: int,
    table: np.ndarray,
    s: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    v: np.ndarray,
) -> None:
    """Fill `x, y, v (m, LANES)` for the candidates from `first` on.

    Atoms as a standard normal sees them, of size one, and a guess at the potentials. The rows TRACE
    of the room `s` hold the trace of each covariance, ACROSS the deviation across its longer axis
    for a trace of one, zero if that is too narrow for the table, UNIT that of atoms and potentials.
    """
    n, m = covariance.shape[0], points.shape[0]
    rows, columns = table.shape[0] - 1.0, table.shape[1] - 3.0
    for i in range(LANES):
        c = first + i if first + i < n else n - 1
        s[FIRST + i] = covariance[c, 0, 0]
        s[SECOND + i] = covariance[c, 1, 1]
        s[MIXED + i] = covariance[c, 0, 1]
    for i in range(LANES):
        trace = s[FIRST + i] + s[SECOND + i]
        one = s[FIRST + i] / trace
        two = s[SECOND + i] / trace
        mixed = s[MIXED + i] / trace
        large = one if one > two else two
        small = two if one > two else one
        root = math.sqrt(large)
        slope = mixed / root
        rest = small - slope * slope
        apart = one - two
        far = math.sqrt(apart * apart + 4.0 * mixed * mixed)
        far = far if far < 1.0 else 1.0
        wide = trace > 0.0 and rest > NARROW
        s[TRACE + i] = trace
        s[ACROSS + i] = math.sqrt(rest) if wide else 0.0
        s[ROOT + i] = root
        s[SLOPE + i] = slope
        s[SWAP + i] = 1.0 if one < two else 0.0
        along = rows * row_place(math.sqrt(0.5 * (1.0 - far)))
        around = columns * turn_of(apart, 2.0 * mixed)
        s[ALONG + i] = along if wide else 1.0
        s[AROUND + i] = around if wide else 1.0
        s[UNIT + i] = 0.0
    guess = np.empty(m)
    for i in range(LANES):
        table_guess(table, s[ALONG + i], s[AROUND + i], guess)
        origin = guess[heaviest]
        for j in range(m):
            v[j, i] = guess[j] - origin
    for j in range(m):
        one, two, weight, row, beside = points[j, 0], points[j, 1], weights[j], x[j], y[j]
        for i in range(LANES):
            a = two if s[SWAP + i] > 0.0 else one
            b = one if s[SWAP + i] > 0.0 else two
            a = s[ROOT + i] * a + s[SLOPE + i] * b
            b = s[ACROSS + i] * b
            s[UNIT + i] += weight * (a * a + b * b)
            row[i] = a
            beside[i] = b
    for i in range(LANES):
        s[UNIT + i] = math.sqrt(s[UNIT + i])
        s[INVERSE + i] = 1.0 / s[UNIT + i]
    for j in range(m):
        row, beside, own = x[j], y[j], v[j]
        for i in range(LANES):
            row[i] *= s[INVERSE + i]
        for i in range(LANES):
            beside[i] *= s[INVERSE + i]
        for i in range(LANES):
            own[i] *= s[INVERSE + i]


@kernel
def size_of_target(points: np.ndarray, weights: np.ndarray) -> float:
    """The root of the mean square of the points' lengths."""
    total = 0.0
    for j in range(points.shape[0]):
        total += weights[j] * (points[j, 0] ** 2 + points[j, 1] ** 2)
    return math.sqrt(total)


@inlined
def write_bounds(total: float, loss: float, slack: float, outer: float, row: np.ndarray) -> None:
    """rho in given units, `outer`, and what may lie below and above it."""
    row[VALUE] = (total - loss) * outer
    row[BELOW] = slack * outer
    row[ABOVE] = (loss + slack) * outer
