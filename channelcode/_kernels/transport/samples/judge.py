"""What plans and potentials of weighted points prove, one candidate at a time."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import borrowing
from channelcode._kernels.transport.samples.flow import CELL, POINT

GAP_TOLERANCE = 3e-13  # of the scores that count: primal and dual agree to rounding
MASS_TOLERANCE = 4e-15  # of the largest score, or of a weight: masses are rounded
HALF_EPSILON = 2.0**-53  # of a number: what one operation rounds off at most


@borrowing
def folded_sum(values: np.ndarray) -> float:
    """The sum of `values (n,)`, which are overwritten: the second half onto the first, and again.

    The additions of one fold do not wait for each other, and rounding grows with their number only.
    """
    size = values.shape[0]
    while size > 1:
        half = size // 2
        top = size - half
        low, high = values[:half], values[top:size]
        for i in range(half):
            low[i] += high[i]
        size = top
    return values[0]


@borrowing
def anchor(weights: np.ndarray, v: np.ndarray) -> None:
    """Shift the potentials `v (m,)` so that the one of the heaviest atom is zero.

    They cancel in the dual value, and those of light atoms may be large: at zero costs nothing what
    most of the mass would be multiplied with.
    """
    heaviest = 0
    for j in range(v.shape[0]):
        heaviest = j if weights[j] > weights[heaviest] else heaviest
    level = v[heaviest]
    for j in range(v.shape[0]):
        v[j] -= level


@borrowing
def judge(
    scores: np.ndarray,
    mass: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    cells: np.ndarray,
    near: np.ndarray,
    count: int,
    links: np.ndarray,
    part: np.ndarray,
    size: int,
    points: np.ndarray,
    rows: np.ndarray,
) -> tuple[float, float, float]:
    """What a plan and a potential prove: `primal <= max E<X,T> <= dual` for `scores (m, n)`.

    `dual = E max_j (score_j - v_j) + w'v`, whatever `v (m,)`, which is anchored; what its own
    operations may round off is added. A rounded difference `score_j - v_j` is the exact one at a
    potential that is higher by half an epsilon of |v_j| (and of the score, see below), so it costs
    w_j times that, and not the mass of the points near the edge of a far cell. The plan takes each
    point to its cell, but the first `count` of `near` as the `size` entries say; what its marginals
    lack or exceed is charged with twice the largest score, of the plan and of an atom whose mass is
    wrong by more than rounding. The third number is what rounding may
    add to the difference of the two. `points (3, n)` and `rows (2, m)` are room.

    Left to the caller: errors of the scores. Where they are at most `c |x_i| |y_j|`, and so
    `c (|x_i|^2 + |y_j|^2) / 2`, they change the dual by at most `c (E|X|^2 + E|T|^2) / 2`, for the
    same reason.
    """
    m, n = scores.shape
    best, own, left = points[0], points[1], points[2]
    anchor(weights, v)
    level = v[0]
    for i in range(n):
        best[i] = scores[0, i] - level
        left[i] = mass[i]
    for j in range(1, m):
        level = v[j]
        for i in range(n):
            best[i] = max(best[i], scores[j, i] - level)
    for i in range(n):
        best[i] *= mass[i]
        own[i] = abs(best[i])
    dual = folded_sum(best)
    terms = folded_sum(own)
    raised = 0.0
    for j in range(m):
        dual += weights[j] * v[j]
        raised += weights[j] * abs(v[j])
    # A product and a difference each, the folds of one sum, the terms of the other.
    folds = math.ceil(math.log2(n))
    rounding = HALF_EPSILON * ((folds + m + 2) * terms + 2 * (m + 2) * raised)
    terms += raised
    for q in range(count):
        left[near[q]] = 0.0
    filled, lost = rows[0], rows[1]
    for j in range(m):
        filled[j] = 0.0
        lost[j] = 0.0
    largest = 0.0
    for i in range(n):
        j = cells[i]
        score = scores[j, i]
        total = filled[j] + left[i]
        lost[j] += (filled[j] - total) + left[i]  # what the sum of many rounds off
        filled[j] = total
        largest = max(largest, abs(score))
        own[i] = score
    for i in range(n):
        own[i] *= left[i]
    value = folded_sum(own)
    for i in range(n):
        left[i] = 0.0
    for q in range(count):
        left[near[q]] = mass[near[q]]
    for e in range(size):
        j = links[CELL, e]
        if j >= 0:
            i = near[links[POINT, e]]
            value += part[e] * scores[j, i]
            largest = max(largest, float(abs(scores[j, i])))
            total = filled[j] + part[e]
            lost[j] += (filled[j] - total) + part[e]
            filled[j] = total
            left[i] -= part[e]
    wrong = 0.0
    extra = 0.0
    for j in range(m):
        off = float(abs((filled[j] - weights[j]) + lost[j]))
        wrong += off
        if off > MASS_TOLERANCE * weights[j]:  # a light atom, perhaps far from all that moves
            top = 0.0
            for i in range(n):
                top = max(top, float(abs(scores[j, i])))
            extra += off * top
    for q in range(count):
        wrong += abs(left[near[q]])
    return (
        value - 2.0 * (wrong * largest + extra),
        dual + rounding,
        GAP_TOLERANCE * terms + MASS_TOLERANCE * largest,
    )
