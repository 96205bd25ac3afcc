"""The most probable weights of softmax regression, by a preconditioned quasi-Newton method."""

import numpy as np

from channelcode._kernels.jit import kernel

MEMORY = 12


@kernel
def softmax_loss(X, y, theta, precision, gradient):
    """-ln p(theta | labels) up to a constant; its gradient is written into `gradient` `(k, q)`."""
    n, k = X.shape[0], theta.shape[0]
    l = X @ theta.T
    loss = 0.0
    for i in range(n):
        top = l[i, 0]
        for a in range(1, k):
            top = max(top, l[i, a])
        own = l[i, y[i]]
        total = 0.0
        for a in range(k):
            l[i, a] = np.exp(l[i, a] - top)
            total += l[i, a]
        loss += top + np.log(total) - own
        for a in range(k):
            l[i, a] /= total
        l[i, y[i]] -= 1.0
    gradient[:] = l.T @ X
    for a in range(k):
        for j in range(theta.shape[1]):
            gradient[a, j] += precision * theta[a, j]
            loss += 0.5 * precision * theta[a, j] * theta[a, j]
    return loss


@kernel
def softmax_map(X, y, start, inverse, precision, tolerance, max_steps):
    """Minimise from `start` `(k, q)` until the gradient's norm is below `tolerance`.

    Limited-memory BFGS whose first inverse Hessian is `inverse` `(q, q)`, that of Bohning's bound,
    for every class; halved steps until the loss falls enough. Returns theta and the steps taken.
    """
    k, q = start.shape
    theta = start.copy()
    gradient, trial = np.empty((k, q)), np.empty((k, q))
    moves, turns = np.zeros((MEMORY, k, q)), np.zeros((MEMORY, k, q))
    inverses, shares = np.zeros(MEMORY), np.zeros(MEMORY)
    loss = softmax_loss(X, y, theta, precision, gradient)
    stored, scale, steps = 0, 1.0, 0
    while steps < max_steps:
        if np.sqrt((gradient * gradient).sum()) < tolerance:
            break
        direction = gradient.copy()
        used = min(stored, MEMORY)
        for back in range(used):
            i = (stored - 1 - back) % MEMORY
            shares[i] = inverses[i] * (moves[i] * direction).sum()
            direction -= shares[i] * turns[i]
        direction = scale * (direction @ inverse)
        for forth in range(used):
            i = (stored - used + forth) % MEMORY
            direction += (shares[i] - inverses[i] * (turns[i] * direction).sum()) * moves[i]
        descent = (direction * gradient).sum()
        length, lower = 1.0, loss
        found = False
        for _ in range(40):
            lower = softmax_loss(X, y, theta - length * direction, precision, trial)
            if lower <= loss - 1e-4 * length * descent:
                found = True
                break
            length *= 0.5
        if not found:  # as low as rounding allows
            break
        i = stored % MEMORY
        moves[i] = -length * direction
        turns[i] = trial - gradient
        curvature = (moves[i] * turns[i]).sum()
        if curvature > 1e-14:
            inverses[i] = 1.0 / curvature
            scale = curvature / (turns[i] * (turns[i] @ inverse)).sum()
            stored += 1
        theta = theta - length * direction
        gradient[:] = trial
        loss = lower
        steps += 1
    return theta, steps
