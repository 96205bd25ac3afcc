"""The Jaakkola-Jordan fixed point by a safeguarded Newton iteration on ln xi^2.

With the prior whitened, rows z_i, t_i = xi_i^2 and weights s_i, one evaluation gives

    M = I + sum_i 2 s_i lam(t_i) z_i z_i',   K = Z M^-1 Z',   m = K h,   F_i = K_ii + m_i^2.

The fixed point t = F is a maximum of the evidence bound L. As dK = -K dW K, Newton on
ln F - ln t = 0 in the unknown ln t is a symmetric system: with D_i = -s_i lam'(t_i),
c_i = sqrt(D_i t_i / F_i), Q = K o K + 2 (m m') o K and g_i = sqrt(D_i t_i F_i),

    (I - 2 c Q c) v = g (ln F - ln t),   d ln t = v / g.

Where the matrix is not positive definite its eigenvalues are replaced by their absolute values. A
step that lowers L is shortened once, then replaced by plain EM (t <- F), which never lowers L.
"""

import numpy as np

from apm._kernels.dense import (
    add_weighted_gram,
    cholesky_upper,
    inverse_upper,
    row_basis,
    solve_upper_transposed,
    solve_vector,
)
from channelcode._kernels.jit import kernel

LONGEST = 3.0  # of a step in ln t: further than e^3 the model of the bound is not to be trusted
NOISE = 1e-13  # relative rounding of the evidence bound
FLATTEST = 1e-3  # least curvature that an indefinite step divides by
ROUNDING = 3e-14  # times the condition of M: the step in ln t below which there is only rounding
COARSEST = 1e-6  # rounding beyond this is a failure
DIRECT_ROWS = 256  # above this the Newton system is solved by conjugate gradients,
DIRECT_RATIO = 6  # and above so many rows per column: n^3 / 3 against 20 steps of n r^2


@kernel
def bend(t):
    """Return lam, -d lam / dt and ln(1 + e^-xi) at t = xi^2, lam = tanh(xi/2) / (4 xi)."""
    xi = np.sqrt(t)
    decay = np.exp(-xi)
    soft = np.log1p(decay)
    if t < 1e-3:  # series; the first term left out is below 1e-16 of the sum
        u = 0.25 * t
        lam = (1.0 - u / 3.0 * (1.0 - u * (0.4 - u * (17.0 / 105.0 - u * (62.0 / 945.0))))) / 8.0
        slope = (1.0 - u * (0.8 - u * (17.0 / 35.0 - u * (248.0 / 945.0)))) / 96.0
        return lam, slope, soft
    tanh = (1.0 - decay) / (1.0 + decay)
    lam = tanh / (4.0 * xi)
    slope = (lam - 0.125 * (1.0 - tanh * tanh)) / (2.0 * t)
    return lam, slope, soft


@kernel
def evaluate(Z, half, weights, t, U, G, shift, mean, image, slope):
    """Fill the state at t and return the evidence bound.

    U: `(r, r)` upper factor of M; G: `(r, n)` = U'^-1 Z'; shift: U'^-1 Z'h; mean: m; image: F.
    """
    n, r = Z.shape
    pull = np.empty(n)
    bound = 0.0
    for i in range(n):
        lam, fall, soft = bend(t[i])
        slope[i] = weights[i] * fall
        pull[i] = 2.0 * weights[i] * lam
        bound += weights[i] * (lam * t[i] - 0.5 * np.sqrt(t[i]) - soft)
    for a in range(r):
        for b in range(a, r):
            U[a, b] = 0.0
        U[a, a] = 1.0
        shift[a] = 0.0
    add_weighted_gram(Z, pull, U)
    cholesky_upper(U)
    for i in range(n):
        for a in range(r):
            G[a, i] = Z[i, a]
            shift[a] += half[i] * Z[i, a]
        mean[i] = 0.0
        image[i] = 0.0
    solve_upper_transposed(U, G)
    for a in range(r):
        for b in range(a):
            shift[a] -= U[b, a] * shift[b]
        shift[a] /= U[a, a]
        bound += 0.5 * shift[a] * shift[a] - np.log(U[a, a])
        for i in range(n):
            mean[i] += shift[a] * G[a, i]
            image[i] += G[a, i] * G[a, i]
    for i in range(n):
        image[i] += mean[i] * mean[i]
    return bound


@kernel
def newton_direct(G, mean, scale, right):
    """Overwrite `right` by (I - 2 c Q c)^-1 right; True if the matrix is positive definite."""
    n = right.shape[0]
    A = np.dot(G.T, G)
    for i in range(n):
        for j in range(n):
            k = A[i, j]
            A[i, j] = -2.0 * scale[i] * scale[j] * k * (k + 2.0 * mean[i] * mean[j])
        A[i, i] += 1.0
    U = A.copy()
    if cholesky_upper(U):
        solve_vector(U, right)
        return True
    values, vectors = np.linalg.eigh(A)
    parts = np.dot(vectors.T, right)
    for a in range(n):
        parts[a] /= max(abs(values[a]), FLATTEST)
    right[:] = np.dot(vectors, parts)
    return False


@kernel
def newton_low_rank(G, mean, scale, right):
    """As `newton_direct` for r (r + 3) / 2 < n, where 2 c Q c = V V' with that many columns.

    K o K is the Gram matrix of the matrices g_i g_i', and (m m') o K that of the vectors m_i g_i.
    """
    r, n = G.shape
    rank = r * (r + 3) // 2
    V = np.empty((rank, n))
    root = np.sqrt(2.0)
    k = 0
    for a in range(r):
        for i in range(n):
            weight = root * scale[i] * G[a, i]
            V[k, i] = weight * G[a, i]
            V[k + 1, i] = root * weight * mean[i]
        k += 2
        for b in range(a):
            for i in range(n):
                V[k, i] = 2.0 * scale[i] * G[a, i] * G[b, i]
            k += 1
    inner = np.dot(V, V.T)
    parts = np.dot(V, right)
    U = -inner
    for a in range(rank):
        U[a, a] += 1.0
    definite = cholesky_upper(U)
    if definite:
        solve_vector(U, parts)
    else:
        values, vectors = np.linalg.eigh(inner)
        parts = np.dot(vectors.T, parts)
        for a in range(rank):
            value = max(values[a], 1e-300)
            parts[a] *= (1.0 / max(abs(1.0 - value), FLATTEST) - 1.0) / value
        parts = np.dot(vectors, parts)
    right += np.dot(parts, V)
    return definite


@kernel
def newton_iterative(G, mean, scale, right, tol):
    """As `newton_direct` by conjugate gradients, in O(n r^2) per step and O(n) memory.

    At a direction of negative curvature the solution so far is returned (the first is that of EM).
    """
    r, n = G.shape
    solution = np.zeros(n)
    residual = right.copy()
    direction = residual.copy()
    rho = np.dot(residual, residual)
    goal = rho * min(1e-2, max(tol, np.sqrt(rho) * 0.1)) ** 2
    definite = True
    for step in range(200):
        if rho <= goal or rho == 0.0:
            break
        spread = scale * direction
        P = np.dot(G * spread, G.T)
        inner = np.dot(P, G)
        lever = np.dot(G, mean * spread)
        image = direction.copy()
        for i in range(n):
            total = 0.0
            for a in range(r):
                total += G[a, i] * (inner[a, i] + 2.0 * mean[i] * lever[a])
            image[i] -= 2.0 * scale[i] * total
        curvature = np.dot(direction, image)
        if curvature <= 0.0:
            definite = False
            if step == 0:
                solution[:] = right
            break
        length = rho / curvature
        solution += length * direction
        residual -= length * image
        before = rho
        rho = np.dot(residual, residual)
        direction = residual + (rho / before) * direction
    right[:] = solution
    return definite


@kernel
def fixed_point(Z, half, weights, t, tol, max_steps):
    """Solve t = F(t) from t, in place; return `(U, shift, bound, steps, change)`.

    `change` is the length of the last Newton step in ln t, the error left before it; a step within
    rounding counts as zero.
    """
    n, r = Z.shape
    U, G, shift = np.empty((r, r)), np.empty((r, n)), np.empty(r)
    mean, image, slope = np.empty(n), np.empty(n), np.empty(n)
    bound = evaluate(Z, half, weights, t, U, G, shift, mean, image, slope)
    steps, change = 1, 0.0
    old, step, scale, gain = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    direct = min(DIRECT_ROWS, DIRECT_RATIO * r)
    while steps < max_steps:
        for i in range(n):
            old[i] = t[i]
            scale[i] = gain[i] = step[i] = 0.0
            if slope[i] > 0.0 and image[i] > 0.0 and t[i] > 0.0:
                scale[i] = np.sqrt(slope[i] * t[i] / image[i])
                gain[i] = scale[i] * image[i]
                step[i] = gain[i] * np.log(image[i] / t[i])
        if r * (r + 3) // 2 < min(n, direct):
            definite = newton_low_rank(G, mean, scale, step)
        elif n <= direct:
            definite = newton_direct(G, mean, scale, step)
        else:
            definite = newton_iterative(G, mean, scale, step, tol)
        change = 0.0
        for i in range(n):
            if gain[i] > 0.0:
                step[i] /= gain[i]
                change = max(change, abs(step[i]))
        length = min(1.0, LONGEST / change) if change > 0.0 else 1.0
        floor = bound - NOISE * (abs(bound) + n)
        plain = image.copy()
        for attempt in range(3):
            for i in range(n):
                t[i] = plain[i] if attempt == 2 else old[i] * np.exp(length * step[i])
            bound = evaluate(Z, half, weights, t, U, G, shift, mean, image, slope)
            steps += 1
            if bound >= floor:
                break
            definite = False
            length *= 0.25
        largest = 1.0
        for a in range(r):
            largest = max(largest, U[a, a])
        if definite and change <= max(tol, min(ROUNDING * largest * largest, COARSEST)):
            change = min(change, tol)
            break
    return U, shift, bound, steps, change


@kernel
def begin(design, mean, factor, t, known, share):
    """Fill t[known:] with share |F'x|^2 + <x, mean>^2 of an earlier posterior."""
    n, q = design.shape
    image = np.empty(q)
    for i in range(known, n):
        dot, square = 0.0, 0.0
        for k in range(q):
            image[k] = 0.0
        for j in range(q):
            x = design[i, j]
            dot += x * mean[j]
            for k in range(q):
                image[k] += x * factor[j, k]
        for k in range(q):
            square += image[k] * image[k]
        t[i] = share * square + dot * dot


@kernel
def fit(design, precision, half, weights, t, tol, max_steps):
    """The whole update: whiten, reduce to the span of the rows if that is smaller, solve, go back.

    Returns `(mean (q,), factor (q, q), bound, steps, change)`; t becomes xi^2.
    """
    n, q = design.shape
    deviation = 1.0 / np.sqrt(precision)
    Z = design * deviation
    if n < q:
        basis, coordinates = row_basis(Z)
    else:
        basis, coordinates = np.empty((0, q)), Z
    start = t.copy()
    U, shift, bound, steps, change = fixed_point(coordinates, half, weights, t, tol, max_steps)
    for other in range(2):  # hardly ever: a start that leads nowhere in double precision
        if change <= tol:
            break
        for i in range(n):
            start[i] = 1.0
            if other == 0:
                start[i] = 0.5 * np.dot(coordinates[i], coordinates[i])
        tried = fixed_point(coordinates, half, weights, start, tol, max_steps)
        steps += tried[3]
        if tried[4] <= tol or (change > tol and tried[2] > bound):
            U, shift, bound, _, change = tried
            t[:] = start
    inverse = inverse_upper(U)
    centre = np.dot(inverse, shift)
    if n < q:
        for a in range(inverse.shape[0]):
            inverse[a, a] -= 1.0
        factor = np.dot(basis.T, np.dot(inverse, basis))
        for j in range(q):
            factor[j, j] += 1.0
        centre = np.dot(basis.T, centre)
    else:
        factor = inverse
    for j in range(q):
        centre[j] *= deviation[j]
        for k in range(q):
            factor[j, k] *= deviation[j]
    for i in range(n):
        if weights[i] == 0.0:  # a row without weight takes no part: give it its value
            begin(design[i : i + 1], centre, factor, t[i : i + 1], 0, 1.0)
    return centre, factor, bound, steps, change


@kernel
def update(design, precision, codes, weights, t, known, mean, factor, share, tol, max_steps):
    """`fit` from an earlier posterior: t[:known] holds its xi^2, the rest starts from its moments.

    codes: `(n,)` int64 in {0, 1}.
    """
    begin(design, mean, factor, t, known, share)
    half = np.empty(len(codes))
    for i in range(len(codes)):
        half[i] = weights[i] * (codes[i] - 0.5)
    return fit(design, precision, half, weights, t, tol, max_steps)
