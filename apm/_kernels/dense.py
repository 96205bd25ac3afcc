"""Small dense algebra in forms the compiler vectorises: every inner loop runs along a row."""

import numpy as np

from channelcode._kernels.jit import kernel

DEPENDENT = 1e-13  # a row this close to the span of the others, relative to its norm, lies in it


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
def inverse_upper(U):
    """Return the inverse of the upper triangular U."""
    n = U.shape[0]
    V = np.zeros((n, n))
    for a in range(n - 1, -1, -1):
        V[a, a] = 1.0
        for b in range(a + 1, n):
            factor = U[a, b]
            for j in range(b, n):
                V[a, j] -= factor * V[b, j]
        inverse = 1.0 / U[a, a]
        for j in range(a, n):
            V[a, j] *= inverse
    return V


@kernel
def add_weighted_gram(Z, weights, A):
    """Add sum_i w_i z_i z_i' to the upper triangle of A; z_i are the rows of Z."""
    n, r = Z.shape
    for i in range(n):
        weight = weights[i]
        for a in range(r):
            factor = weight * Z[i, a]
            for b in range(a, r):
                A[a, b] += factor * Z[i, b]


@kernel
def row_basis(Z):
    """Return `(Q, C)` with orthonormal rows Q `(r, q)` and Z = C Q, r the rank of Z `(n, q)`."""
    n, q = Z.shape
    Q = np.empty((n, q))
    C = np.zeros((n, n))
    row = np.empty(q)
    r = 0
    for i in range(n):
        norm = 0.0
        for j in range(q):
            row[j] = Z[i, j]
            norm += row[j] * row[j]
        for _ in range(2):  # twice is enough for orthogonality to rounding
            for a in range(r):
                dot = 0.0
                for j in range(q):
                    dot += Q[a, j] * row[j]
                C[i, a] += dot
                for j in range(q):
                    row[j] -= dot * Q[a, j]
        rest = 0.0
        for j in range(q):
            rest += row[j] * row[j]
        if rest > DEPENDENT * DEPENDENT * norm:
            rest = np.sqrt(rest)
            C[i, r] = rest
            for j in range(q):
                Q[r, j] = row[j] / rest
            r += 1
    return Q[:r].copy(), C[:, :r].copy()
