"""Where the forms of many rows can lie, and bounds on their scores at a budget over the pool."""

import numpy as np

from channelcode._kernels.jit import kernel


@kernel
def moved_form(codes, moved, gauge, numbers):
    """The least and the largest that a form can be now, and what it was at most, `(n,)` each.

    `codes` `(n,)` are its steps, `moved` `(n,)` what is known of its change, `gauge` `(n,)` what
    bounds the rest. `numbers`: its least, its step and the slack of both; its factor; the least and
    the largest part of the gauge that may be added, and the same for a constant.
    """
    low, step, slack, factor = numbers[0], numbers[1], numbers[2], numbers[3]
    fall, rise, down, up = numbers[4], numbers[5], numbers[6], numbers[7]
    least, most, then = np.empty(len(codes)), np.empty(len(codes)), np.empty(len(codes))
    for i in range(len(codes)):
        base = low + step * codes[i]
        then[i] = base + step + slack
        least[i] = max(factor * (base - slack) + moved[i] + fall * gauge[i] + down, 0.0)
        most[i] = max(factor * then[i] + moved[i] + rise * gauge[i] + up, 0.0)
    return least, most, then


@kernel
def line_bounds(size, error, least, most, weak, strong, rule):
    """Bounds on A, B and the amount of the budget, and on m^2, `(n,)` each.

    `size` `(n,)` is |m| as it is known up to `error` `(n,)`; V is between `least` and `most`, S
    between `weak` and `strong`. `rule` is b, 2c, whether the signal is charged, and the amount:
    (r_3 + r_4 k^2) (r_5 m^2 + r_6 S + r_7 V).
    """
    n = len(size)
    height, slope, amount, square = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        signal = min(weak[i], least[i])
        below = 1.0 / (1.0 + rule[0] * (most[i] - signal))
        above = 1.0 / (1.0 + rule[0] * max(least[i] - strong[i], 0.0))
        near = max(size[i] - error[i], 0.0)
        far = size[i] + error[i]
        square[i] = far * far
        height[i] = -below * (near * near + rule[2] * signal)
        slope[i] = rule[1] * np.sqrt(above * strong[i])
        whole = rule[5] * square[i] + rule[6] * strong[i] + rule[7] * most[i]
        amount[i] = (rule[3] + rule[4] * above) * whole
    return height, slope, amount, square
