"""Primal-dual interior point for the capacity of a finite alphabet (see `capacity.interior_point`)."""

from __future__ import annotations

import numpy as np

from channelcode._kernels.jit import kernel


@kernel
def solve_factored(factor, right, out):
    """out = (L L')^-1 right for the lower triangle L = `factor`; columns of `right` are systems."""
    count, systems = right.shape
    for c in range(systems):
        for i in range(count):
            total = right[i, c]
            for j in range(i):
                total -= factor[i, j] * out[j, c]
            out[i, c] = total / factor[i, i]
        for i in range(count - 1, -1, -1):
            total = out[i, c]
            for j in range(i + 1, count):
                total -= factor[j, i] * out[j, c]
            out[i, c] = total / factor[i, i]


@kernel
def factorise(matrix):
    """The Cholesky factor of I + A, A >= 0, in place; its pivots are at least one, and are kept so."""
    count = matrix.shape[0]
    column = np.empty(count)
    for j in range(count):
        pivot = np.sqrt(max(matrix[j, j], 1.0))
        matrix[j, j] = pivot
        for i in range(j + 1, count):
            column[i] = matrix[i, j] / pivot
            matrix[i, j] = column[i]
        for i in range(j + 1, count):
            factor = column[i]
            for k in range(j + 1, i + 1):
                matrix[i, k] -= factor * column[k]
    return matrix


@kernel
def apply_inverse(scaled, theta, factor, right, out):
    """out = (diag(theta) + V V')^-1 right by Woodbury; `scaled` is V, `(n, Y)`.

    `factor` is the Cholesky factor of I + V' diag(1/theta) V.
    """
    count, systems = right.shape
    lifted = np.empty((count, systems))
    for i in range(count):
        for c in range(systems):
            lifted[i, c] = right[i, c] / theta[i]
    small = np.dot(scaled.T, lifted)
    inner = np.empty_like(small)
    solve_factored(factor, small, inner)
    spread = np.dot(scaled, inner)
    for i in range(count):
        for c in range(systems):
            out[i, c] = lifted[i, c] - spread[i, c] / theta[i]
    # one step of iterative refinement: the two terms above cancel where theta is tiny
    back = np.dot(scaled, np.dot(scaled.T, out))
    for i in range(count):
        for c in range(systems):
            lifted[i, c] = (right[i, c] - back[i, c]) / theta[i] - out[i, c]
    small = np.dot(scaled.T, lifted)
    solve_factored(factor, small, inner)
    spread = np.dot(scaled, inner)
    for i in range(count):
        for c in range(systems):
            out[i, c] += lifted[i, c] - spread[i, c] / theta[i]


@kernel
def longest_step(values, steps):
    """The largest fraction, up to one, of `steps` that keeps `values` positive."""
    fraction = 1.0
    for i in range(values.shape[0]):
        if steps[i] < 0.0:
            fraction = min(fraction, -values[i] / steps[i])
    return fraction


@kernel
def kkt_values(matrix, entropy, weights, divergence, output):
    """Fill `output` = W'p and `divergence` = D(W_i || q) in nats; return I(p)."""
    count, size = matrix.shape
    output[:] = np.dot(matrix.T, weights)
    logs = np.empty(size)
    for y in range(size):
        logs[y] = np.log(max(output[y], 1e-320))
    spread = np.dot(matrix, logs)
    total = 0.0
    for i in range(count):
        divergence[i] = -entropy[i] - spread[i]
        total += weights[i] * divergence[i]
    return total


@kernel
def interior_point(matrix, entropy, cost, budget, weights, tol, max_steps):
    """Maximise I(p) over p >= 0, sum p = 1, cost'p <= budget (no cost when budget is infinite).

    `weights` is strictly inside. Each step solves (diag(z/p) + W diag(1/q) W') dp = right side by
    Woodbury, O(n Y^2), with Mehrotra's predictor and corrector. Returns (weights, slack z,
    multiplier, steps, gap), the gap being the KKT bound minus I(p), in nats.
    """
    count, size = matrix.shape
    limited = budget < np.inf
    p = weights.copy()
    divergence, output = np.empty(count), np.empty(size)
    value = kkt_values(matrix, entropy, p, divergence, output)
    top = divergence.max()
    room = budget - np.dot(cost, p) if limited else 1.0
    s = 0.0
    if limited:
        s = max(value, 1e-8) / (abs(budget) + abs(room)) * 0.1
    # slacks that centre the start
    level = divergence[0]
    for i in range(count):
        level = max(level, divergence[i] - s * cost[i])
    mu = max(1e-3 * (top - value), 1e-3)
    if limited:
        s = max(s, mu / count / room)
    z = np.empty(count)
    for i in range(count):
        z[i] = max(level - divergence[i] + s * cost[i], 0.1 * mu) + mu
    nu = -level - mu
    right, solved = np.empty((count, 3)), np.empty((count, 3))
    one_right, one_solved = np.empty((count, 1)), np.empty((count, 1))
    theta, dp, dz = np.empty(count), np.empty(count), np.empty(count)
    scaled, weighted = np.empty((count, size)), np.empty((count, size))
    best_gap, best_p, best_s, best_z = np.inf, p.copy(), s, z.copy()
    steps, stalls = 0, 0
    cautious = False
    trial = np.empty(count)
    for step in range(max_steps + 1):
        steps = step
        value = kkt_values(matrix, entropy, p, divergence, output)
        top = -np.inf
        for i in range(count):
            top = max(top, divergence[i] - s * cost[i])
        gap = top - value + (s * budget if limited else 0.0)
        if gap < best_gap:
            if gap > 0.9 * best_gap:
                stalls += 1
            else:
                stalls = 0
            best_gap, best_s = gap, s
            best_p[:], best_z[:] = p, z
        else:
            stalls += 1
        if gap <= tol or step == max_steps or stalls > 12 or not np.isfinite(gap):
            break
        for i in range(count):
            theta[i] = z[i] / p[i]
        for y in range(size):
            root = 1.0 / np.sqrt(max(output[y], 1e-300))
            for i in range(count):
                scaled[i, y] = matrix[i, y] * root
        for i in range(count):
            root = 1.0 / np.sqrt(theta[i])
            for y in range(size):
                weighted[i, y] = scaled[i, y] * root
        normal = np.dot(weighted.T, weighted)
        for y in range(size):
            normal[y, y] += 1.0
        if not np.isfinite(normal.sum()):
            break
        factor = factorise(normal)
        mu = np.dot(p, z)
        if limited:
            mu += s * room
        mu /= count + (1 if limited else 0)
        for i in range(count):
            residual = -divergence[i] + s * cost[i] + nu - z[i]
            right[i, 0] = -residual - z[i]
            right[i, 1] = 1.0
            right[i, 2] = cost[i]
        apply_inverse(scaled, theta, factor, right, solved)
        ones_ones, ones_cost, cost_cost = 0.0, 0.0, 0.0
        for i in range(count):
            ones_ones += solved[i, 1]
            ones_cost += solved[i, 2]
            cost_cost += cost[i] * solved[i, 2]
        ratio = room / s if limited else 0.0
        excess = p.sum() - 1.0
        overspent = np.dot(cost, p) + room - budget if limited else 0.0
        target, cross = 0.0, 0.0
        alpha = 1.0
        ds, dnu, droom = 0.0, 0.0, 0.0
        for stage in range(2):
            if stage == 1:
                for i in range(count):
                    one_right[i, 0] = right[i, 0] + (target - dp[i] * dz[i]) / p[i]
                apply_inverse(scaled, theta, factor, one_right, one_solved)
                for i in range(count):
                    solved[i, 0] = one_solved[i, 0]
                cross = ds * droom
            # K dp = g - cost ds - 1 dnu, 1'dp = -excess, cost'dp + droom = -overspent
            first, second = excess, 0.0
            for i in range(count):
                first += solved[i, 0]
                second += cost[i] * solved[i, 0]
            if limited:
                second += overspent + (target - cross) / s - room
                a11, a12, a22 = ones_ones, ones_cost, cost_cost + ratio
                determinant = a11 * a22 - a12 * a12
                dnu = (a22 * first - a12 * second) / determinant
                ds = (a11 * second - a12 * first) / determinant
            else:
                dnu = first / ones_ones
                ds = 0.0
            for i in range(count):
                move = solved[i, 0] - solved[i, 1] * dnu - solved[i, 2] * ds
                product = dp[i] * dz[i] if stage == 1 else 0.0
                dz[i] = (target - product) / p[i] - z[i] - theta[i] * move
                dp[i] = move
            if limited:
                droom = (target - cross) / s - room - ratio * ds
            alpha = min(longest_step(p, dp), longest_step(z, dz))
            if limited:
                if ds < 0.0:
                    alpha = min(alpha, -s / ds)
                if droom < 0.0:
                    alpha = min(alpha, -room / droom)
            if stage == 0:
                after = 0.0
                for i in range(count):
                    after += (p[i] + alpha * dp[i]) * (z[i] + alpha * dz[i])
                if limited:
                    after += (s + alpha * ds) * (room + alpha * droom)
                after /= count + (1 if limited else 0)
                target = mu * (after / mu) ** 3
                if cautious:
                    target = max(target, 0.3 * mu)
                if cautious or alpha < 0.1:  # the linear model is poor: centre, do not correct
                    dp[:] = 0.0
                    ds = 0.0
        alpha *= max(0.99, 1.0 - mu)
        # the objective bends: shorten the step until residual and complementarity fall together
        merit = mu * (count + 1)
        for i in range(count):
            merit = max(merit, abs(-divergence[i] + s * cost[i] + nu - z[i]))
        cautious = False
        for _ in range(8):
            for i in range(count):
                trial[i] = p[i] + alpha * dp[i]
            kkt_values(matrix, entropy, trial, divergence, output)
            after = (s + alpha * ds) * (room + alpha * droom) if limited else 0.0
            residual = 0.0
            for i in range(count):
                slack = z[i] + alpha * dz[i]
                after += trial[i] * slack
                shifted = -divergence[i] + (s + alpha * ds) * cost[i] + nu + alpha * dnu - slack
                residual = max(residual, abs(shifted))
            if max(after, residual) <= (1.0 - 0.01 * alpha) * merit or merit < 1e-12:
                break
            alpha *= 0.5
            cautious = True
        for i in range(count):
            p[i] += alpha * dp[i]
            z[i] += alpha * dz[i]
        nu += alpha * dnu
        total = p.sum()
        for i in range(count):
            p[i] /= total
        if limited:
            s += alpha * ds
            room += alpha * droom
    return best_p, best_z, best_s, steps, best_gap
