"""Bounds on the lines of all rows of a tile in one go: the highest, and which rows stand out."""

import numpy as np

from apm._kernels.kept_bounds import line, moved
from channelcode._kernels.jit import kernel

STEP = 512  # rows that are bounded together, in arrays that stay in the cache
KINDS = 7  # of values whose largest is found


@kernel
def _add_squares(image, turn, kind, start, count, total):
    """total[i] = sum_c turn[c, kind] image[c, start + i]^2 of `count` rows."""
    for i in range(count):
        total[i] = 0.0
    for c in range(len(turn)):
        weight = turn[c, kind]
        if weight != 0.0:
            row = image[c, start : start + count]
            for i in range(len(row)):
                part = float(row[i])
                total[i] += weight * part * part


@kernel
def _raise(peaks, values, count):
    """Let `peaks` be no less than the first `count` values."""
    for i in range(count):
        peaks[i] = max(peaks[i], values[i])


@kernel
def line_tile(
    codes, strengths, turn, image, means, error, form, signal, blur, rule, roots, limits,
):  # fmt: skip
    """Rows of a tile that stand out, their values, and the largest values of the others.

    `codes` and `strengths` `(n,)` are the steps of V and S. `image` `(c, n)` are products with the
    columns along which they changed, by `turn` `(c, 2)` of each; `means` `(n,)` those with the
    mean, known up to `error`. `form`, `signal` and `blur` are those of `kept_bounds.moved_form`,
    `rule` that of `line_bounds`. A row has four values: bounds on its line at the three `roots`,
    and on the amount of the budget. `limits` are three numbers, for rows

    - that are set aside: the first value is no less than the first limit;
    - that stand out: they are set aside, or the first value is above the second limit, or the
      amount above the third.

    Returns the numbers of those that stand out `(k,)`, their values `(4, k)`, and `(7,)`: the
    largest of the four values of the rows that are not set aside (-inf if there are none), and of
    the changes of V and S and of |m| of all rows. The last is nan where a number overflows.
    """
    n = len(means)
    bend, twice, charged, p, q, mean, own, whole = rule
    low, step, slack, factor, fall, rise, down, up = form
    low_1, step_1, slack_1, factor_1, fall_1, rise_1, down_1, up_1 = signal
    root, root_1, root_2 = roots
    aside, best, strongest = limits
    nearest = min(aside, best)
    found, values = np.empty(n, np.int64), np.empty((4, n))
    first, second, third, amount = np.empty(STEP), np.empty(STEP), np.empty(STEP), np.empty(STEP)
    change, turned, size = np.empty(STEP), np.empty(STEP), np.empty(STEP)
    peaks = np.full((KINDS, STEP), -np.inf)
    many, known = 0, True
    for start in range(0, n, STEP):
        count = min(STEP, n - start)
        # views have no negative places, which loops over parts of an array must look out for
        row, steps = means[start : start + count], codes[start : start + count]
        others = strengths[start : start + count]
        for i in range(count):
            size[i] = abs(float(row[i]))
        _add_squares(image, turn, 0, start, count, change)
        _add_squares(image, turn, 1, start, count, turned)
        for i in range(count):
            least, most, then = moved(
                steps[i], change[i], 0.0, low, step, slack, factor, fall, rise, down, up
            )
            weak, strong, _ = moved(
                others[i], turned[i], then + blur,
                low_1, step_1, slack_1, factor_1, fall_1, rise_1, down_1, up_1,
            )  # fmt: skip
            height, slope, amount[i], _ = line(
                size[i], error, least, most, weak, strong,
                bend, twice, charged, p, q, mean, own, whole,
            )  # fmt: skip
            first[i] = height + root * slope
            second[i] = height + root_1 * slope
            third[i] = height + root_2 * slope
        stands, broken = 0, 0
        for i in range(count):
            stands += (first[i] >= nearest) | (amount[i] > strongest)
            broken += not (change[i] + turned[i] + size[i] < np.inf)
            broken += not (first[i] <= np.inf)
        known = known and broken == 0
        for i in range(count if stands else 0):
            if first[i] >= aside or first[i] > best or amount[i] > strongest:
                found[many] = start + i
                values[0, many], values[1, many] = first[i], second[i]
                values[2, many], values[3, many] = third[i], amount[i]
                many += 1
                if first[i] >= aside:
                    first[i] = second[i] = third[i] = amount[i] = -np.inf
        _raise(peaks[0], first, count)
        _raise(peaks[1], second, count)
        _raise(peaks[2], third, count)
        _raise(peaks[3], amount, count)
        _raise(peaks[4], change, count)
        _raise(peaks[5], turned, count)
        _raise(peaks[6], size, count)
    largest = np.empty(KINDS)
    for kind in range(KINDS):
        largest[kind] = peaks[kind].max()
    if not known:
        largest[6] = np.nan
    return found[:many].copy(), values[:, :many].copy(), largest
