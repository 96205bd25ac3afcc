"""The most probable weights of logistic regression by Newton with a line search."""

import numpy as np

from apm._kernels.dense import cholesky_upper, row_basis, solve_vector, weighted_gram
from channelcode._kernels.jit import kernel

ROUNDING = 1e-14  # a Newton step below this, relative to the weights, changes nothing
CANCELLED = 1e-15  # part of its terms below which a sum of them is nothing but rounding


@kernel
def loss(Z, signs, weights, v, margins):
    """Fill margins with s_i <z_i, v> and return |v|^2 / 2 + sum_i w_i ln(1 + exp(-margin_i))."""
    n, r = Z.shape
    total = 0.0
    for a in range(r):
        total += 0.5 * v[a] * v[a]
    for i in range(n):
        dot = 0.0
        for a in range(r):
            dot += Z[i, a] * v[a]
        margins[i] = signs[i] * dot
        if margins[i] > 0.0:
            total += weights[i] * np.log1p(np.exp(-margins[i]))
        else:
            total += weights[i] * (np.log1p(np.exp(margins[i])) - margins[i])
    return total


@kernel
def newton(Z, signs, weights, v, max_steps):
    """Minimise the loss from v, in place; return `(steps, change)`, change relative."""
    n, r = Z.shape
    margins, pull = np.empty(n), np.empty(n)
    value = loss(Z, signs, weights, v, margins)
    H, gradient, step, trial = np.empty((r, r)), np.empty(r), np.empty(r), np.empty(r)
    terms = np.empty(r)
    change = np.inf
    steps = 0
    while steps < max_steps:
        steps += 1
        noise = 1.0 + abs(value)  # of the loss, in roundings
        for a in range(r):
            gradient[a] = v[a]
            terms[a] = abs(v[a])
        for i in range(n):
            if margins[i] > 0.0:
                decay = np.exp(-margins[i])
                miss = decay / (1.0 + decay)
            else:
                miss = 1.0 / (1.0 + np.exp(margins[i]))
            pull[i] = weights[i] * miss * (1.0 - miss)
            lever = weights[i] * signs[i] * miss
            reach = 0.0  # a margin is off by the rounding of its own terms
            for a in range(r):
                reach += abs(Z[i, a] * v[a])
            size = abs(lever) + pull[i] * reach
            noise += abs(lever) * reach
            for a in range(r):
                gradient[a] -= lever * Z[i, a]
                terms[a] += size * abs(Z[i, a])
        level = True
        for a in range(r):
            level = level and abs(gradient[a]) <= CANCELLED * terms[a] < np.inf
        if level:  # the gradient is the rounding of its own terms
            return steps, 0.0
        for a in range(r):
            step[a] = gradient[a]
        weighted_gram(Z, pull, 1.0, H)
        cholesky_upper(H)
        solve_vector(H, step)
        slope, size, large = 0.0, 0.0, 0.0
        for a in range(r):
            slope += gradient[a] * step[a]
            size = max(size, abs(v[a]))
            large = max(large, abs(step[a]))
        change = large / max(size, 1e-300) if large > 0.0 else 0.0
        length = 1.0
        lower = value
        for _ in range(60):
            for a in range(r):
                trial[a] = v[a] - length * step[a]
            lower = loss(Z, signs, weights, trial, margins)
            if lower <= value - 1e-4 * length * slope + 1e-15 * noise:
                break
            length *= 0.5
        for a in range(r):
            v[a] = trial[a]
        value = lower
        if change <= ROUNDING or (length == 1.0 and change <= 1e-8):  # the next error is its square
            break
    return steps, change


@kernel
def fit(design, precision, signs, weights, start, max_steps):
    """The MAP weights `(q,)` from `start`, in the span of the rows if that is smaller."""
    n, q = design.shape
    Z, v, best = np.empty((n, q)), np.empty(q), np.empty(q)
    for j in range(q):
        v[j] = start[j] * np.sqrt(precision[j])
        for i in range(n):
            Z[i, j] = design[i, j] / np.sqrt(precision[j])
    basis = Z
    if n < q:
        Z, whitened, v = np.empty((n, n)), v, np.zeros(n)
        row_basis(basis, Z)
        for a in range(n):
            for j in range(q):
                v[a] += basis[a, j] * whitened[j]
    steps, change = newton(Z, signs, weights, v, max_steps)
    for j in range(q):
        best[j] = 0.0 if n < q else v[j]
    if n < q:
        for a in range(n):
            for j in range(q):
                best[j] += v[a] * basis[a, j]
    for j in range(q):
        best[j] /= np.sqrt(precision[j])
    return best, steps, change
