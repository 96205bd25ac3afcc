"""Quasi-Newton steps for softmax regression around one factored Hessian."""

import numpy as np

from apm._kernels.dense import solve_vector
from channelcode._kernels.jit import kernel


@kernel
def point(Z, ZT, codes, weights, VT, residual, gradient):
    """The loss at VT `(r, k)` and the sum of what it cancels from; fill residual and gradient.

    `residual (n, k)`, `gradient (r, k)`.
    """
    n, k = residual.shape
    l = np.dot(Z, VT)
    loss, size = 0.0, 1.0
    for i in range(n):
        top = l[i, 0]
        for a in range(1, k):
            top = max(top, l[i, a])
        total = 0.0
        for a in range(k):
            residual[i, a] = np.exp(l[i, a] - top)
            total += residual[i, a]
        own = codes[i]
        size += weights[i] * abs(top)
        loss += weights[i] * (top + np.log(total) - l[i, own])
        others = 0.0
        for a in range(k):
            residual[i, a] *= weights[i] / total
            if a != own:
                others += residual[i, a]
        residual[i, own] = -others
    gradient[:] = np.dot(ZT, residual)
    for j in range(VT.shape[0]):
        for a in range(k):
            gradient[j, a] += VT[j, a]
            loss += 0.5 * VT[j, a] * VT[j, a]
    return loss, size + abs(loss)


@kernel
def own_systems(roots, G, result):
    """A_a^-1 g_a of every class for `roots (k, r, r)`, L_a^-1 of A_a = L_a L_a'; all `(r, k)`."""
    r, k = G.shape
    column = np.empty(r)
    for a in range(k):
        for j in range(r):
            column[j] = G[j, a]
        half = np.dot(roots[a], column)
        for j in range(r):
            column[j] = 0.0
        for b in range(r):  # the transpose, along the rows of the root
            for j in range(b + 1):
                column[j] += roots[a, b, j] * half[b]
        for j in range(r):
            result[j, a] = column[j]


@kernel
def solve(Z, ZT, lever, roots, joint, dense, G, result):
    """H^-1 G by the K systems of size r and the joint one, or by the dense factor if it has rows.

    `lever (n, k)`, `joint (n, n)` and `dense (k r, k r)` upper factors; G and `result` `(r, k)`.
    """
    n, k = lever.shape
    r = G.shape[0]
    if dense.shape[0] > 0:
        flat = np.empty(k * r)
        for a in range(k):
            for j in range(r):
                flat[a * r + j] = G[j, a]
        solve_vector(dense, flat)
        for j in range(r):
            mean = 0.0
            for a in range(k):
                mean += flat[a * r + j] / k
            for a in range(k):
                result[j, a] = flat[a * r + j] - mean
        return
    own_systems(roots, G, result)
    along, shared = np.dot(Z, result), np.empty(n)
    for i in range(n):
        total = 0.0
        for a in range(k):
            total += along[i, a] * lever[i, a]
        shared[i] = total
    solve_vector(joint, shared)
    for i in range(n):
        for a in range(k):
            along[i, a] = lever[i, a] * shared[i]
    back, more = np.dot(ZT, along), np.empty((r, k))
    own_systems(roots, back, more)
    for j in range(r):
        for a in range(k):
            result[j, a] += more[j, a]


@kernel
def descend(Z, ZT, codes, weights, VT, lever, roots, joint, dense, most, tolerance, steep, eps):
    """Up to `most` full steps of limited-memory BFGS from VT `(r, k)`, in place.

    Returns how many, and whether the last was below `tolerance` relative to the weights. Ends
    before a step that does not lower the loss enough (`steep` of Armijo's rule, or, where the loss
    differs by rounding alone, a slope that is not smaller): the caller judges where it stands.
    """
    r, k = VT.shape
    n = Z.shape[0]
    residual, gradient, next_gradient = np.empty((n, k)), np.empty((r, k)), np.empty((r, k))
    direction, step, trial = np.empty((r, k)), np.empty((r, k)), np.empty((r, k))
    moves, turns = np.empty((most, r, k)), np.empty((most, r, k))
    inverses, shares = np.empty(most), np.empty(most)
    loss, cancels = point(Z, ZT, codes, weights, VT, residual, gradient)
    for done in range(most):
        direction[:] = gradient
        for back in range(done):
            i = done - 1 - back
            shares[i] = inverses[i] * (moves[i] * direction).sum()
            direction -= shares[i] * turns[i]
        solve(Z, ZT, lever, roots, joint, dense, direction, step)
        for i in range(done):
            step += (shares[i] - inverses[i] * (turns[i] * step).sum()) * moves[i]
        descent = (step * gradient).sum()
        if done == 0 and descent <= eps * cancels:  # at the maximum, or rounding is all there is
            return 0, False
        trial[:] = VT - step
        lower, cancels = point(Z, ZT, codes, weights, trial, residual, next_gradient)
        if not lower <= loss - steep * descent:
            ahead = -(step * next_gradient).sum()
            if not (lower <= loss + eps * cancels and ahead <= 0.8 * descent):
                return done, False
        largest, size = 0.0, 0.0
        for j in range(r):
            for a in range(k):
                largest, size = max(largest, abs(step[j, a])), max(size, abs(trial[j, a]))
        moves[done] = trial - VT
        turns[done] = next_gradient - gradient
        curved = (moves[done] * turns[done]).sum()
        VT[:] = trial
        if largest <= tolerance * size:
            return done + 1, True
        if not curved > 0.0:
            return done + 1, False
        inverses[done] = 1.0 / curved
        gradient[:] = next_gradient
        loss = lower
    return most, False
