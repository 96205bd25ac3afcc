"""Small dense algebra in forms the compiler vectorises: every inner loop runs along a row.

Plain loops also compile in a fraction of the time that BLAS, slices and array expressions take.
"""

import numpy as np

from channelcode._kernels.jit import kernel

DEPENDENT = 1e-13  # a row this close to the span of the others, relative to its norm, lies in it


@kernel
def weighted_gram(Z, weights, ridge, A):
    """Set the upper triangle of A to `ridge` I + sum_i w_i z_i z_i'; z_i are the rows of Z."""
    n, r = Z.shape
    for a in range(r):
        for b in range(a, r):
            A[a, b] = 0.0
        A[a, a] = ridge
    for i in range(0, n, 4):  # four rows at once: a row of A is read and written once for them
        j, k, l = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        for a in range(r):
            w = weights[i] * Z[i, a]
            x = weights[j] * Z[j, a] if i + 1 < n else 0.0
            y = weights[k] * Z[k, a] if i + 2 < n else 0.0
            z = weights[l] * Z[l, a] if i + 3 < n else 0.0
            for b in range(a, r):
                A[a, b] += (w * Z[i, b] + x * Z[j, b]) + (y * Z[k, b] + z * Z[l, b])


@kernel
def cholesky_upper(A):
    """Overwrite the upper triangle of A by U with U'U = A; False if A is not positive definite."""
    n = A.shape[0]
    for k in range(n):
        pivot = A[k, k]
        if not pivot > 0.0:
            return False
        root = np.sqrt(pivot)
        for j in range(k, n):
            A[k, j] /= root
        for i in range(k + 1, n):
            factor = A[k, i]
            if factor != 0.0:
                for j in range(i, n):
                    A[i, j] -= factor * A[k, j]
    return True


@kernel
def solve_upper_transposed(U, B):
    """Overwrite the rows of B, `(r, n)`, by the solution X of U'X = B."""
    r, n = B.shape
    for a in range(r):
        for b in range(a):
            factor = U[b, a]
            for j in range(n):
                B[a, j] -= factor * B[b, j]
        inverse = 1.0 / U[a, a]
        for j in range(n):
            B[a, j] *= inverse


@kernel
def solve_vector(U, b):
    """Overwrite b by the solution x of U'U x = b."""
    n = b.shape[0]
    for a in range(n):
        b[a] /= U[a, a]
        for j in range(a + 1, n):
            b[j] -= U[a, j] * b[a]
    for a in range(n - 1, -1, -1):
        total = b[a]
        for j in range(a + 1, n):
            total -= U[a, j] * b[j]
        b[a] = total / U[a, a]


@kernel
def row_basis(Q, C):
    """Turn the rows of Q, Z `(n, q)`, into a basis with Z = C Q, C `(n, n)`; return the rank r.

    The first r rows of Q become orthonormal; the others, and those columns of C, become zero.
    """
    n, q = Q.shape
    r = 0
    for i in range(n):
        norm, rest = 0.0, 0.0
        for j in range(q):
            x = Q[i, j]
            Q[i, j] = 0.0
            Q[r, j] = x
            norm += x * x
        for a in range(n):
            C[i, a] = 0.0
        for turn in range(2 * r):  # twice is enough for orthogonality to rounding
            a = turn % r
            dot = 0.0
            for j in range(q):
                dot += Q[a, j] * Q[r, j]
            C[i, a] += dot
            for j in range(q):
                Q[r, j] -= dot * Q[a, j]
        for j in range(q):
            rest += Q[r, j] * Q[r, j]
        independent = rest > DEPENDENT * DEPENDENT * norm
        scale = np.sqrt(rest) if independent else np.inf  # what is left of a dependent row: zero
        for j in range(q):
            Q[r, j] /= scale
        if independent:
            C[i, r] = scale
            r += 1
    return r
