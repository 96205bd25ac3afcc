"""Primal-dual interior point for the capacity of a finite alphabet.

With V = W diag(q)^(-1/2), theta = z/p and g the right-hand side, the Newton step is

    dp = theta^-1 (g - V x - b ds),   dnu = sqrt(q)'x + excess,

where (x, ds) solves a symmetric positive system of size |Y| + 1. The row sums of W are one, so the
vector of ones is V sqrt(q) and the equation for the total mass drops into x: nothing is eliminated
that would cancel later.
"""

from __future__ import annotations

import numpy as np

from channelcode._kernels.jit import kernel

BLOCK = 32  # columns of the factorisation at a time


@kernel
def factorise(matrix):
    """The Cholesky factor of a positive matrix, in place; a pivot lost to rounding is shut off.

    Columns go in blocks, and what a block does to the rest is one matrix product.
    """
    count = matrix.shape[0]
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        for j in range(start, stop):
            pivot = matrix[j, j]
            for k in range(start, j):
                pivot -= matrix[j, k] * matrix[j, k]
            pivot = np.sqrt(pivot) if pivot > 1e-290 else 1e100
            matrix[j, j] = pivot
            for i in range(j + 1, count):
                total = matrix[i, j]
                for k in range(start, j):
                    total -= matrix[i, k] * matrix[j, k]
                matrix[i, j] = total / pivot
        if stop < count:
            panel = np.empty((count - stop, stop - start))
            for i in range(stop, count):
                for k in range(start, stop):
                    panel[i - stop, k - start] = matrix[i, k]
            product = np.dot(panel, panel.T)
            for i in range(stop, count):
                for k in range(stop, count):
                    matrix[i, k] -= product[i - stop, k - stop]


@kernel
def solve_factored(factor, right):
    """Solve L L' x = right in place for the lower triangle L = `factor`."""
    count = right.shape[0]
    for i in range(count):
        total = right[i]
        for j in range(i):
            total -= factor[i, j] * right[j]
        right[i] = total / factor[i, i]
    for i in range(count - 1, -1, -1):
        total = right[i] / factor[i, i]
        right[i] = total
        for j in range(i):
            right[j] -= factor[i, j] * total


@kernel
def inner_product(left, right):
    """sum_i left_i right_i."""
    total = 0.0
    for i in range(left.shape[0]):
        total += left[i] * right[i]
    return total


@kernel
def longest_step(values, steps):
    """The largest fraction, up to one, of `steps` that keeps `values` positive."""
    fraction = 1.0
    for i in range(values.shape[0]):
        if values[i] + fraction * steps[i] < 0.0:
            fraction = -values[i] / steps[i]
    return fraction


@kernel
def kkt_values(matrix, entropy, weights, divergence, output):
    """Fill `output` = W'p and `divergence` = D(W_i || q) in nats; return I(p)."""
    count, size = matrix.shape
    law = np.dot(matrix.T, weights)
    logs = np.empty(size)
    for y in range(size):
        output[y] = law[y]
        logs[y] = np.log(max(output[y], 1e-320))
    spread = np.dot(matrix, logs)
    total = 0.0
    for i in range(count):
        divergence[i] = -entropy[i] - spread[i]
        total += weights[i] * divergence[i]
    return total


@kernel
def normal_matrix(matrix, cost, output, theta, ratio, limited, columns):
    """Fill `columns` = [V, b] and return the factor of its normal matrix (see the module)."""
    count, size = matrix.shape
    width = size + 1 if limited else size
    weighted = np.empty((count, width))
    roots = np.empty(size)
    for y in range(size):
        roots[y] = np.sqrt(max(output[y], 1e-300))
    for i in range(count):
        share = 1.0 / np.sqrt(theta[i])
        for y in range(size):
            columns[i, y] = matrix[i, y] / roots[y]
            weighted[i, y] = columns[i, y] * share
        if limited:
            columns[i, size] = cost[i]
            weighted[i, size] = cost[i] * share
    normal = np.dot(weighted.T, weighted)
    for y in range(size):
        normal[y, y] += 1.0
        for other in range(size):
            normal[y, other] -= roots[y] * roots[other]
    if limited:
        normal[size, size] += ratio
    factorise(normal)
    return normal, roots


@kernel
def start_point(weights, divergence, room, value, limited):
    """Slacks, multiplier and level on the central path of a flat objective: p z = mu = s room."""
    count = divergence.shape[0]
    top = -np.inf
    for i in range(count):
        top = max(top, divergence[i])
    mu = max(top - value, 1e-3) / count
    slack = np.empty(count)
    for i in range(count):
        slack[i] = mu / weights[i]
    s = mu / room if limited else 0.0
    return slack, s, top + mu


@kernel
def interior_point(matrix, entropy, cost, budget, weights, tol, max_steps):
    """Maximise I(p) over p >= 0, sum p = 1, cost'p <= budget (no cost when budget is infinite).

    `weights` is strictly inside. Mehrotra's predictor and corrector, with the step shortened where
    the objective bends. Returns (weights, slack z, multiplier, steps, gap): the gap is the KKT
    bound minus I(p), in nats.
    """
    count, size = matrix.shape
    limited = budget < np.inf
    p, best_p, best_z = np.empty(count), np.empty(count), np.empty(count)
    for i in range(count):
        p[i] = weights[i]
    divergence, output = np.empty(count), np.empty(size)
    value = kkt_values(matrix, entropy, p, divergence, output)
    room = budget - inner_product(cost, p) if limited else 1.0
    z, s, nu = start_point(p, divergence, room, value, limited)
    width = size + 1 if limited else size
    pairs = count + 1 if limited else count
    columns = np.empty((count, width))
    theta, g, trial = np.empty(count), np.empty(count), np.empty(count)
    dp, dz = np.empty(count), np.empty(count)
    best_gap, best_s = np.inf, s
    for i in range(count):
        best_p[i], best_z[i] = p[i], z[i]
    steps, stalls, cautious = 0, 0, False
    for step in range(max_steps + 1):
        steps = step
        value = kkt_values(matrix, entropy, p, divergence, output)
        top, excess = -np.inf, -1.0
        for i in range(count):
            top = max(top, divergence[i] - s * cost[i])
            excess += p[i]
        overspent = inner_product(cost, p) + room - budget if limited else 0.0
        # mass or cost off by rounding counts against the gap
        gap = top - value / (1.0 + excess) + (s * budget if limited else 0.0)
        gap += (s + value) * abs(overspent)
        stalls = 0 if gap < 0.9 * best_gap else stalls + 1
        if gap < best_gap:
            best_gap, best_s = gap, s
            for i in range(count):
                best_p[i], best_z[i] = p[i], z[i]
        if gap <= tol or step == max_steps or stalls > 15 or not np.isfinite(gap):
            break
        mu = inner_product(p, z)
        if limited:
            mu += s * room
        mu /= pairs
        ratio = room / s if limited else 0.0
        for i in range(count):
            theta[i] = z[i] / p[i]
        normal, roots = normal_matrix(matrix, cost, output, theta, ratio, limited, columns)
        target, cross = 0.0, 0.0
        alpha, ds, dnu, droom = 1.0, 0.0, 0.0, 0.0
        for i in range(count):
            dp[i] = dz[i] = 0.0
        for stage in range(2):
            cross = ds * droom
            for i in range(count):
                g[i] = divergence[i] - s * cost[i] - nu + (target - dp[i] * dz[i]) / p[i]
                trial[i] = g[i] / theta[i]
            right = np.dot(columns.T, trial)
            for y in range(size):
                right[y] += roots[y] * excess
            if limited:
                right[size] += overspent + (target - cross) / s - room
            solve_factored(normal, right)
            step_in = np.dot(columns, right)
            dnu = excess
            for y in range(size):
                dnu += roots[y] * right[y]
            for i in range(count):
                product = dp[i] * dz[i]
                dp[i] = (g[i] - step_in[i]) / theta[i]
                dz[i] = (target - product) / p[i] - z[i] - theta[i] * dp[i]
            if limited:
                ds = right[size]
                droom = (target - cross) / s - room - ratio * ds
            alpha = min(longest_step(p, dp), longest_step(z, dz))
            if limited:
                if s + alpha * ds < 0.0:
                    alpha = -s / ds
                if room + alpha * droom < 0.0:
                    alpha = -room / droom
            if stage == 0:
                after = (s + alpha * ds) * (room + alpha * droom) if limited else 0.0
                for i in range(count):
                    after += (p[i] + alpha * dp[i]) * (z[i] + alpha * dz[i])
                target = mu * (after / pairs / mu) ** 3
                if cautious:
                    target = max(target, 0.3 * mu)
                if cautious or alpha < 0.1:  # the linear model is poor: centre, do not correct
                    for i in range(count):
                        dp[i] = 0.0
                    ds = 0.0
        alpha *= max(0.99, 1.0 - mu)
        merit = mu * pairs
        for i in range(count):
            merit += p[i] * abs(-divergence[i] + s * cost[i] + nu - z[i])
        cautious = False
        for _ in range(8):
            for i in range(count):
                trial[i] = p[i] + alpha * dp[i]
            kkt_values(matrix, entropy, trial, divergence, output)
            after = (s + alpha * ds) * (room + alpha * droom) if limited else 0.0
            for i in range(count):
                slack = z[i] + alpha * dz[i]
                shifted = -divergence[i] + (s + alpha * ds) * cost[i] + nu + alpha * dnu - slack
                after += trial[i] * (slack + abs(shifted))
            if after <= (1.0 - 0.01 * alpha) * merit or merit < 1e-12:
                break
            alpha *= 0.5
            cautious = True
        for i in range(count):
            p[i] += alpha * dp[i]
            z[i] += alpha * dz[i]
        nu += alpha * dnu
        if limited:
            s += alpha * ds
            room += alpha * droom
    return best_p, best_z, best_s, steps, best_gap
