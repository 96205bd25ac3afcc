"""Algorithm 1 of the paper with known labels, compiled as one loop: select, update."""

import numpy as np

from apm._kernels.variational import BOUND, CHANGE, STEPS, begin, climb, lift
from channelcode._kernels.jit import kernel

COLUMNS = 7  # chosen score, runner-up's score, mean, lowest, largest power, mean and variance of l


@kernel
def select(features, mean, factor, is_open, target, constant, rtol, spread_tol, scores, row):
    """Score the open rows by -W2^2 to B_t and choose; fill `row` with the numbers of COLUMNS.

    `target` is sqrt(2 P / pi), `constant` P. Rows are compared without the constant, which would
    hide their differences if it is large. Returns `(chosen, runner_up)`, rows of the pool; the
    runner-up is -1 if there is none. Ties as in `apm.selectors.ranking.best`.
    """
    n, p = features.shape
    q = mean.shape[0]
    both, centres, variances = np.empty((p, q + 1)), np.empty(n), np.empty(n)
    for j in range(p):
        both[j, q] = mean[j]
        for k in range(q):
            both[j, k] = factor[j, k]
    images = np.dot(features, both)
    total, count, power = 0.0, 0, 0.0
    top, lowest = -np.inf, np.inf
    for i in range(n):
        if not is_open[i]:
            continue
        variance, centre = 0.0, images[i, q]
        if p < q:  # the intercept
            centre += mean[p]
            for k in range(q):
                image = images[i, k] + factor[p, k]
                variance += image * image
        else:
            for k in range(q):
                variance += images[i, k] * images[i, k]
        centres[i], variances[i] = centre, variance
        deviation = np.sqrt(variance)
        score = -(deviation * (deviation - 2.0 * target) + centre * centre)
        scores[i] = score
        total += score
        count += 1
        power = max(power, centre * centre + variance)
        top = max(top, score)
        lowest = min(lowest, score)
    bar = top - rtol * abs(top) - spread_tol * max(abs(lowest), abs(top))
    chosen = -1
    for i in range(n):
        if is_open[i] and scores[i] >= bar:
            chosen = i
            break
    runner_up = -1
    for i in range(n):
        if is_open[i] and i != chosen and (runner_up < 0 or scores[i] > scores[runner_up]):
            runner_up = i
    row[0] = scores[chosen] - constant
    row[1] = scores[runner_up] - constant if runner_up >= 0 else np.nan
    row[2] = total / count - constant
    row[3] = lowest - constant
    row[4] = power
    row[5] = centres[chosen]
    row[6] = variances[chosen]
    return chosen, runner_up


@kernel
def run(
    features, labels, is_open, design, codes, weights, squares, precision, mean, factor, told,
    radius, count, rtol, spread_tol, tol, max_steps,
):  # fmt: skip
    """`count` rounds of Algorithm 1 from a posterior with `told` labels, `mean` and `factor`.

    `design`, `codes`, `weights`, `squares` have room for `told + count` rows and are filled, as
    `is_open` is cleared; `mean` and `factor` become those of the last posterior. Returns `(done,
    picks, runners, table (count, COLUMNS), bound, steps, change)`; `done` is less than `count` if a
    posterior needs more than `climb` does, and then that row is not in it.
    """
    p, q = features.shape[1], design.shape[1]
    picks, runners = np.empty(count, np.int64), np.empty(count, np.int64)
    table, scores, turned = np.empty((count, COLUMNS)), np.empty(len(features)), np.empty((q, q))
    bound, steps, change = 0.0, 0.0, 0.0
    done = 0
    while done < count:
        for j in range(q):
            for k in range(q):
                turned[j, k] = factor[k, j]
        power = radius * radius * np.linalg.eigvalsh(np.dot(turned, factor))[q - 1]
        target = np.sqrt(2.0 / np.pi * power)
        chosen, runner_up = select(
            features, mean, factor, is_open, target, power, rtol, spread_tol, scores, table[done]
        )
        for j in range(p):
            design[told, j] = features[chosen, j]
        if p < q:
            design[told, p] = 1.0
        codes[told] = labels[chosen]
        weights[told] = 1.0
        n = told + 1
        rows, given = design[:n], weights[:n]
        t, half, work, record = np.empty(n), np.empty(n), np.empty((8, n)), np.zeros(4)
        for i in range(told):
            t[i] = squares[i]
        r = min(n, q)
        Z, basis = np.empty((n, r)), np.empty((n if n < q else 0, q))
        begin(rows, precision, codes[:n], given, t, told, mean, factor, 0.5, half, Z, basis)
        U, G, shift = np.empty((r, r)), np.empty((r, n)), np.empty(r)
        if not climb(Z, half, given, t, tol, max_steps, U, G, shift, work, record):
            break
        if not record[CHANGE] <= tol:
            break
        lift(U, shift, basis, precision, mean, factor)
        bound, steps, change = record[BOUND], record[STEPS], record[CHANGE]
        for i in range(n):
            squares[i] = t[i]
        is_open[chosen] = False
        picks[done], runners[done] = chosen, runner_up
        told, done = n, done + 1
    return done, picks, runners, table, bound, int(steps), change
