"""The Jaakkola-Jordan fixed point by a safeguarded Newton iteration on ln xi^2.

With the prior whitened, rows z_i, t_i = xi_i^2 and weights s_i, one evaluation gives

    M = I + sum_i 2 s_i lam(t_i) z_i z_i',   K = Z M^-1 Z',   m = K h,   F_i = K_ii + m_i^2.

The fixed point t = F is a maximum of the evidence bound L. As dK = -K dW K, Newton on
ln F - ln t = 0 in the unknown ln t is a symmetric system: with D_i = -s_i lam'(t_i),
c_i = sqrt(D_i t_i / F_i), Q = K o K + 2 (m m') o K and g_i = sqrt(D_i t_i F_i),

    (I - 2 c Q c) v = g (ln F - ln t),   d ln t = v / g.

A step that lowers L is shortened once, then replaced by plain EM (t <- F), which never lowers L.
Systems that are large or not positive definite are left to
`apm.posteriors.fitting.fixed_point`: the
kernels below compile in a few seconds because they call neither BLAS nor LAPACK.
"""

import numpy as np

from apm._kernels.dense import (
    cholesky_upper,
    row_basis,
    solve_upper_transposed,
    solve_vector,
    weighted_gram,
)
from channelcode._kernels.jit import inlined, kernel

LONGEST = 3.0  # of a step in ln t: further than e^3 the model of the bound is not to be trusted
NOISE = 1e-13  # relative rounding of the evidence bound
ROUNDING = 3e-14  # times the condition of M: the step in ln t below which there is only rounding
COARSEST = 1e-6  # rounding beyond this is a failure
DIRECT_RATIO = 6  # rows per column above which conjugate gradients win: n^3 / 3 against n r^2
LARGEST = 1 << 21  # multiplications of a Newton system above which BLAS wins

# the rows of `work (8, n)`, and the places of `record (4,)`
MEAN, IMAGE, SLOPE, SCALE, STEP, GAIN, OLD, PLAIN = 0, 1, 2, 3, 4, 5, 6, 7
BOUND, STEPS, CHANGE, GIVEN = 0, 1, 2, 3


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


@inlined
def evaluate(Z, half, weights, t, U, G, shift, work):
    """Fill the state at t and return the evidence bound.

    U: `(r, r)` upper factor of M; G: `(r, n)` = U'^-1 Z'; shift: U'^-1 Z'h; of `work` the rows
    MEAN: m, IMAGE: F, SLOPE: D / t, GAIN: 2 s lam.
    """
    n, r = Z.shape
    pull = work[GAIN]
    bound = 0.0
    for i in range(n):
        lam, fall, soft = bend(t[i])
        work[SLOPE, i] = weights[i] * fall
        pull[i] = 2.0 * weights[i] * lam
        bound += weights[i] * (lam * t[i] - 0.5 * np.sqrt(t[i]) - soft)
        work[MEAN, i] = work[IMAGE, i] = 0.0
    weighted_gram(Z, pull, 1.0, U)
    cholesky_upper(U)
    for a in range(r):
        shift[a] = 0.0
    for i in range(n):
        for a in range(r):
            G[a, i] = Z[i, a]
            shift[a] += half[i] * Z[i, a]
    solve_upper_transposed(U, G)
    for a in range(r):
        for b in range(a):
            shift[a] -= U[b, a] * shift[b]
        shift[a] /= U[a, a]
        bound += 0.5 * shift[a] * shift[a] - np.log(U[a, a])
        for i in range(n):
            work[MEAN, i] += shift[a] * G[a, i]
            work[IMAGE, i] += G[a, i] * G[a, i]
    for i in range(n):
        work[IMAGE, i] += work[MEAN, i] * work[MEAN, i]
    return bound


@inlined
def newton(G, work):
    """Overwrite the row STEP of `work` by (I - 2 c Q c)^-1 STEP; False: it was left as it is.

    For r (r + 3) / 2 < n by 2 c Q c = V V' with that many columns: K o K is the Gram matrix of the
    matrices g_i g_i', and (m m') o K that of the vectors m_i g_i.
    """
    r, n = G.shape
    rank = r * (r + 3) // 2
    low_rank = rank < min(n, DIRECT_RATIO * r)
    size = rank if low_rank else n
    rows = n if low_rank else r
    if size > DIRECT_RATIO * r or rows * size * size > LARGEST:
        return False
    A, right, ones, V = np.empty((size, size)), np.empty(size), np.empty(rows), G
    for i in range(rows):
        ones[i] = -1.0 if low_rank else 1.0
    for i in range(size):
        right[i] = 0.0 if low_rank else work[STEP, i]
    if low_rank:
        V = np.empty((n, rank))
        for i in range(n):
            k = r
            for a in range(r):
                weight = 2.0 * work[SCALE, i] * G[a, i]
                V[i, a] = weight * work[MEAN, i]
                right[a] += work[STEP, i] * V[i, a]
                for b in range(a + 1):
                    V[i, k] = weight * G[b, i] * (1.0 if b < a else np.sqrt(0.5))
                    right[k] += work[STEP, i] * V[i, k]
                    k += 1
    weighted_gram(V, ones, 1.0 if low_rank else 0.0, A)
    if not low_rank:
        for i in range(n):
            scale, lever = -2.0 * work[SCALE, i], 2.0 * work[MEAN, i]
            for j in range(i, n):
                k = A[i, j]
                A[i, j] = scale * work[SCALE, j] * k * (k + lever * work[MEAN, j])
            A[i, i] += 1.0
    if not cholesky_upper(A):
        return False
    solve_vector(A, right)
    for i in range(n):
        if low_rank:
            for k in range(rank):
                work[STEP, i] += right[k] * V[i, k]
        else:
            work[STEP, i] = right[i]
    return True


@kernel
def climb(Z, half, weights, t, tol, max_steps, U, G, shift, work, record):
    """Solve t = F(t) from t, in place; True when done, False to have a Newton system solved.

    In the latter case the row STEP of `work` is to be overwritten by the solution, and
    record[GIVEN] set to 2, or to 1 if the matrix was not positive definite; `record` starts as
    zeros. record[CHANGE] is the length of the last step in ln t, the error left before it; a step
    within rounding counts as at most tol.
    """
    n, r = Z.shape
    bound, steps, change, given = record[BOUND], record[STEPS], record[CHANGE], record[GIVEN]
    length, floor, attempt, definite = 0.0, -np.inf, 0, False
    while True:
        if given == 0.0:
            if steps > 0.0:
                for i in range(n):
                    if attempt == 2:
                        t[i] = work[PLAIN, i]
                    else:
                        t[i] = work[OLD, i] * np.exp(length * work[STEP, i])
            bound = evaluate(Z, half, weights, t, U, G, shift, work)
            steps += 1.0
            if not bound >= floor:
                definite = False
                length *= 0.25
                attempt += 1
                if attempt < 3:
                    continue
            largest = 1.0
            for a in range(r):
                largest = max(largest, U[a, a])
            record[BOUND], record[STEPS], record[CHANGE] = bound, steps, change
            if definite and change <= max(tol, min(ROUNDING * largest * largest, COARSEST)):
                record[CHANGE] = min(change, tol)
                return True
            if steps >= max_steps:
                return True
            for i in range(n):
                here, there = t[i], work[IMAGE, i]
                work[OLD, i], work[PLAIN, i] = here, there
                work[SCALE, i] = work[GAIN, i] = work[STEP, i] = 0.0
                if work[SLOPE, i] > 0.0 and there > 0.0 and here > 0.0:
                    work[SCALE, i] = np.sqrt(work[SLOPE, i] * here / there)
                    work[GAIN, i] = work[SCALE, i] * there
                    work[STEP, i] = work[GAIN, i] * np.log(there / here)
            if not newton(G, work):
                return False
            given = 2.0
        definite = given == 2.0
        change = given = record[GIVEN] = 0.0
        for i in range(n):
            if work[GAIN, i] > 0.0:
                work[STEP, i] /= work[GAIN, i]
                change = max(change, abs(work[STEP, i]))
        length = 1.0 if change <= LONGEST else LONGEST / change
        floor = bound - NOISE * (abs(bound) + n)
        attempt = 0


@kernel
def begin(design, precision, codes, weights, t, known, mean, factor, share, half, Z, basis):
    """Fill t[known:] with share |F'x|^2 + <x, mean>^2, h, and Z with the whitened rows.

    design: `(n, q)`; codes: `(n,)` int64 in {0, 1}; mean, F: those of an earlier posterior. With
    n < q the whitened rows are Z basis, Z `(n, n)`; else Z is `(n, q)` and the basis `(0, q)`.
    """
    n, q = design.shape
    image = np.empty(q)
    white = basis if n < q else Z
    for i in range(n):
        half[i] = weights[i] * (codes[i] - 0.5)
        dot, square = 0.0, 0.0
        for j in range(q):
            white[i, j] = design[i, j] / np.sqrt(precision[j])
            image[j] = 0.0
        if i >= known:
            for j in range(q):
                dot += design[i, j] * mean[j]
                for k in range(q):
                    image[k] += design[i, j] * factor[j, k]
            for j in range(q):
                square += image[j] * image[j]
            t[i] = share * square + dot * dot
    if n < q:
        row_basis(basis, Z)


@kernel
def lift(U, shift, basis, precision, mean, factor):
    """Fill the mean `(q,)` and the factor `(q, q)` of the weights from the whitened coordinates.

    These are U^-1 shift and U^-1, and with a basis B those of its span and I of the rest:
    B'U^-1 shift and I + B'(U^-1 - I)B.
    """
    r, q = shift.shape[0], precision.shape[0]
    reduced = basis.shape[0] == r
    X = np.zeros((r, q + 1))  # U^-1 [B, shift]; without a basis B = I
    for a in range(r - 1, -1, -1):
        first = 0 if reduced else a
        X[a, q] = shift[a]
        if reduced:
            for k in range(q):
                X[a, k] = basis[a, k]
        else:
            X[a, a] = 1.0
        for b in range(a + 1, r):
            for k in range(first, q + 1):
                X[a, k] -= U[a, b] * X[b, k]
        for k in range(first, q + 1):
            X[a, k] /= U[a, a]
    for j in range(q):
        deviation = 1.0 / np.sqrt(precision[j])
        if reduced:
            mean[j] = 0.0
            for k in range(q):
                factor[j, k] = 0.0
            factor[j, j] = deviation
            for a in range(0, r, 2):  # two rows at once
                b = min(a + 1, r - 1)
                x = deviation * basis[a, j]
                y = deviation * basis[b, j] if b > a else 0.0
                mean[j] += x * X[a, q] + y * X[b, q]
                for k in range(q):
                    factor[j, k] += x * (X[a, k] - basis[a, k]) + y * (X[b, k] - basis[b, k])
        else:
            mean[j] = deviation * X[j, q]
            for k in range(q):
                factor[j, k] = deviation * X[j, k]
