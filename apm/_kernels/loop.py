"""Algorithm 1 of the paper with known labels, compiled as one loop: select, update, retrain."""

import numpy as np

from apm._kernels.logistic_map import fit as fit_map
from apm._kernels.variational import update
from channelcode._kernels.jit import kernel

COLUMNS = 7  # chosen score, runner-up's score, mean, lowest, largest power, mean and variance of l


@kernel
def select(features, mean, factor, is_open, target, constant, rtol, spread_tol, scores, row):
    """Score the open rows by -W2^2 to B_t and choose; fill `row` with the numbers of COLUMNS.

    `target` is sqrt(2 P / pi), `constant` (1 - 2/pi) P. Returns `(chosen, runner_up)`, rows of the
    pool; the runner-up is -1 if there is none. Ties as in `apm.selectors.base.best`.
    """
    n, p = features.shape
    centres = np.dot(features, mean[:p])
    images = np.dot(features, factor[:p])
    q = images.shape[1]
    variances = np.empty(n)
    total, count, power = 0.0, 0, 0.0
    top, lowest = -np.inf, np.inf
    for i in range(n):
        if not is_open[i]:
            continue
        variance = 0.0
        if p < q:  # the intercept
            centres[i] += mean[p]
            for k in range(q):
                image = images[i, k] + factor[p, k]
                variance += image * image
        else:
            for k in range(q):
                variance += images[i, k] * images[i, k]
        variances[i] = variance
        off = np.sqrt(variance) - target
        score = -(off * off + centres[i] * centres[i] + constant)
        scores[i] = score
        total += score
        count += 1
        power = max(power, centres[i] * centres[i] + variance)
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
    row[0] = scores[chosen]
    row[1] = scores[runner_up] if runner_up >= 0 else np.nan
    row[2] = total / count
    row[3] = lowest
    row[4] = power
    row[5] = centres[chosen]
    row[6] = variances[chosen]
    return chosen, runner_up


@kernel
def run(
    features, labels, is_open, design, codes, weights, squares, precision, mean, factor, told,
    best, radius, count, rtol, spread_tol, tol, max_steps, retrain,
):  # fmt: skip
    """`count` rounds of Algorithm 1 from a posterior with `told` labels.

    `design`, `codes`, `weights`, `squares` have room for `told + count` rows and are filled, as
    `is_open` is cleared; `best` are the MAP weights to start from. Returns `(done, picks, runners,
    table (count, COLUMNS), maps (count, q), mean, factor, bound, steps, change)`; `done` is less
    than `count` if a posterior or a MAP did not converge, and then that row is not in it.
    """
    p, q = features.shape[1], design.shape[1]
    picks = np.full(count, -1)
    runners = np.full(count, -1)
    table = np.empty((count, COLUMNS))
    maps = np.empty((count if retrain else 0, q))
    scores = np.empty(len(features))
    signs = np.empty(len(codes))
    for i in range(told):
        signs[i] = 2.0 * codes[i] - 1.0
    bound, steps, change = 0.0, 0, 0.0
    done = 0
    while done < count:
        top = np.linalg.eigvalsh(np.dot(factor, factor.T))[-1]
        power = radius * radius * top
        target, constant = np.sqrt(2.0 / np.pi * power), (1.0 - 2.0 / np.pi) * power
        chosen, runner_up = select(
            features, mean, factor, is_open, target, constant, rtol, spread_tol, scores, table[done]
        )
        for j in range(p):
            design[told, j] = features[chosen, j]
        if p < q:
            design[told, p] = 1.0
        codes[told] = labels[chosen]
        signs[told] = 2.0 * codes[told] - 1.0
        weights[told] = 1.0
        seen = told + 1
        held = squares[:seen].copy()
        new_mean, new_factor, new_bound, new_steps, new_change = update(
            design[:seen], precision, codes[:seen], weights[:seen], held,
            told, mean, factor, 0.5, tol, max_steps,
        )  # fmt: skip
        if not new_change <= tol:
            break
        if retrain:
            best, _, moved = fit_map(
                design[:seen], precision, signs[:seen], weights[:seen], best, max_steps
            )
            if not moved <= 1e-8:
                break
            maps[done] = best
        mean, factor, bound, steps, change = new_mean, new_factor, new_bound, new_steps, new_change
        squares[:seen] = held
        is_open[chosen] = False
        picks[done], runners[done] = chosen, runner_up
        told, done = seen, done + 1
    return done, picks, runners, table, maps, mean, factor, bound, steps, change
