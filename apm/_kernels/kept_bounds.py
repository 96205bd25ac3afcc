"""Where the forms of many rows can lie, and bounds on their scores at a budget over the pool."""

import numpy as np

from channelcode._kernels.jit import inlined, kernel


@inlined
def moved(code, change, gauge, low, step, slack, factor, fall, rise, down, up):
    """The least and the largest that a form can be now, and what it was at most."""
    base = low + step * code
    then = base + step + slack
    least = factor * (base - slack) + change + fall * gauge + down
    return max(least, 0.0), max(factor * then + change + rise * gauge + up, 0.0), then


@inlined
def line(size, error, least, most, weak, strong, bend, twice, charged, p, q, mean, own, whole):
    """Bounds on A, B, the amount of the budget, and m^2 of a row."""
    signal = min(weak, least)
    below = 1.0 / (1.0 + bend * (most - signal))
    above = 1.0 / (1.0 + bend * max(least - strong, 0.0))
    near, far = max(size - error, 0.0), size + error
    height = -below * (near * near + charged * signal)
    slope = twice * np.sqrt(above * strong)
    amount = (p + q * above) * (mean * far * far + own * strong + whole * most)
    return height, slope, amount, far * far


@kernel
def moved_form(codes, change, gauge, numbers):
    """The least and the largest that a form can be now, and what it was at most, `(n,)` each.

    `codes` `(n,)` are its steps, `change` `(n,)` what is known of its change, `gauge` `(n,)` what
    bounds the rest. `numbers`, a tuple: its least, its step and the slack of both; its factor; the
    least and the largest part of the gauge that may be added, and the same for a constant.
    """
    least, most, then = np.empty(len(codes)), np.empty(len(codes)), np.empty(len(codes))
    low, step, slack, factor, fall, rise, down, up = numbers
    for i in range(len(codes)):
        least[i], most[i], then[i] = moved(
            codes[i], change[i], gauge[i], low, step, slack, factor, fall, rise, down, up
        )
    return least, most, then


@kernel
def line_bounds(size, error, least, most, weak, strong, rule):
    """Bounds on A, B and the amount of the budget, and on m^2, `(n,)` each.

    `size` `(n,)` is |m| as it is known up to `error` `(n,)`; V is between `least` and `most`, S
    between `weak` and `strong`. `rule`, a tuple, is b, 2c, whether the signal is charged, and the
    amount: (r_3 + r_4 k^2) (r_5 m^2 + r_6 S + r_7 V).
    """
    n = len(size)
    height, slope, amount, square = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    bend, twice, charged, p, q, mean, own, whole = rule
    for i in range(n):
        height[i], slope[i], amount[i], square[i] = line(
            size[i], error[i], least[i], most[i], weak[i], strong[i],
            bend, twice, charged, p, q, mean, own, whole,
        )  # fmt: skip
    return height, slope, amount, square


@kernel
def changed_forms(image, turn):
    """sum_c turn[c, f] image[c, i]^2 for every form f and row i, `(f, n)`."""
    count, n = image.shape
    total = np.zeros((turn.shape[1], n))
    for c in range(count):
        for f in range(turn.shape[1]):
            weight = turn[c, f]
            if weight != 0.0:
                for i in range(n):
                    part = float(image[c, i])
                    total[f, i] += weight * part * part
    return total


@kernel
def onward_form(least, most, gauge, change, numbers):
    """The least and the largest that a form can be after another change, `(n,)` each.

    `least` and `most` `(n,)` are those before it; `numbers`, a tuple: its factor, the least and the
    largest part of the gauge that may be added, and the same for a constant.
    """
    low, high = np.empty(len(least)), np.empty(len(least))
    factor, fall, rise, down, up = numbers
    for i in range(len(least)):
        low[i] = max(factor * least[i] + change[i] + fall * gauge[i] + down, 0.0)
        high[i] = max(factor * most[i] + change[i] + rise * gauge[i] + up, 0.0)
    return low, high


@kernel
def range_scores(means, error, least, most, weak, strong, rule, roots):
    """Bounds on lines at three roots of the budget, and on its amount, `(n,)` each.

    V is between `least` and `most`, S between `weak` and `strong`; the mean is known up to `error`.
    """
    n = len(means)
    first, second, third, amount = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    bend, twice, charged, p, q, mean, own, whole = rule
    root, root_1, root_2 = roots
    for i in range(n):
        height, slope, amount[i], _ = line(
            abs(means[i]), error, least[i], most[i], weak[i], strong[i],
            bend, twice, charged, p, q, mean, own, whole,
        )  # fmt: skip
        first[i] = height + root * slope
        second[i] = height + root_1 * slope
        third[i] = height + root_2 * slope
    return first, second, third, amount


@kernel
def plain_bounds(near, least, most, rule):
    """Bounds on the scores of a rule without a budget, now and while a batch grows, `(n,)` each.

    `near` `(n,)` is what |m| is at least, V is between `least` and `most`. `rule` is a, the root r
    and the charge c of `-a m^2 + s (2 r - c s)`, which rises with s up to r where c is one; and
    what rounding can do to |m| and s when the rule is asked again.
    """
    weight, root, charge, off, blur = rule[0], rule[1], rule[2], rule[3], rule[4]
    high, later = np.empty(len(near)), np.empty(len(near))
    for i in range(len(near)):
        wide = np.sqrt(most[i])
        spread = wide
        if charge > 0.0:
            spread = min(max(root, np.sqrt(least[i])), wide)
        high[i] = spread * (2.0 * root - charge * spread) - weight * near[i] * near[i]
        close = max(near[i] - off, 0.0)
        spread = wide + blur
        if charge > 0.0:
            spread = min(root, spread)
        later[i] = spread * (2.0 * root - charge * spread) - weight * close * close
    return high, later
