"""A whole APM-LR run with known labels: select, update, retrain, without leaving compiled code."""

import numpy as np

from apm._kernels import logistic_map, variational
from channelcode._kernels.jit import kernel


@kernel
def select(pool, open_rows, mean, factor, power):
    """The first open row with the least (mu'x)^2 + (sigma_x - sqrt(2P/pi))^2; -1 if none."""
    rows, q = pool.shape
    images = np.dot(pool, factor)
    goal = np.sqrt(2.0 * power / np.pi)
    best, least = -1, np.inf
    for i in range(rows):
        if not open_rows[i]:
            continue
        centre, square = 0.0, 0.0
        for j in range(q):
            centre += pool[i, j] * mean[j]
            square += images[i, j] * images[i, j]
        rest = np.sqrt(square) - goal
        cost = centre * centre + rest * rest
        if cost < least:
            best, least = i, cost
    return best


@kernel
def apm_run(pool, codes, seeds, queries, precision, radius, tol, max_steps):
    """Label `queries` rows of the pool `(N, q)` after the seeds, by Algorithm 1 of the paper.

    codes: `(N,)` int64 labels in {0, 1}; seeds: int64 rows; precision: `(q,)`; radius: B. Returns
    picks `(queries,)`, budgets P `(queries,)`, MAP weights `(queries + 1, q)`, steps of each update
    `(queries + 1,)` and the largest last change of any of them.
    """
    rows, q = pool.shape
    first = seeds.shape[0]
    total = first + queries
    design, weights, t = np.empty((total, q)), np.ones(total), np.empty(total)
    labels, signs = np.empty(total, dtype=np.int64), np.empty(total)
    open_rows = np.ones(rows, dtype=np.bool_)
    mean, factor = np.zeros(q), np.diag(1.0 / np.sqrt(precision))
    picks, budgets = np.empty(queries, dtype=np.int64), np.empty(queries)
    thetas, steps = np.zeros((queries + 1, q)), np.empty(queries + 1, dtype=np.int64)
    theta, worst, known = np.zeros(q), 0.0, 0
    for query in range(queries + 1):
        if query == 0:
            n = first
            for k in range(first):
                open_rows[seeds[k]] = False
                design[k] = pool[seeds[k]]
                labels[k] = codes[seeds[k]]
        else:
            power = radius * radius * np.linalg.eigvalsh(np.dot(factor, factor.T))[-1]
            row = select(pool, open_rows, mean, factor, power)
            picks[query - 1], budgets[query - 1] = row, power
            open_rows[row] = False
            design[n] = pool[row]
            labels[n] = codes[row]
            n += 1
        for k in range(known, n):
            signs[k] = 2.0 * labels[k] - 1.0
        mean, factor, _, used, change = variational.update(
            design[:n], precision, labels[:n], weights[:n], t[:n], known, mean, factor, 0.5, tol,
            max_steps,
        )  # fmt: skip
        known = n
        steps[query] = used
        worst = max(worst, change)
        theta, _, _ = logistic_map.fit(
            design[:n], precision, signs[:n], weights[:n], theta, max_steps
        )
        thetas[query] = theta
    return picks, budgets, thetas, steps, worst
