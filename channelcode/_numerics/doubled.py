"""Arithmetic with twice the digits: a number as the unevaluated sum of two floats."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array

SPLITTER = 134217729.0  # 2^27 + 1: halves of 26 bits


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """a + b exactly, as the rounded sum and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """a b exactly, as the rounded product and its error (Dekker); for factors below 1e150."""
    total = a * b
    high_a, high_b = _high(a), _high(b)
    low_a, low_b = a - high_a, b - high_b
    return total, ((high_a * high_b - total) + high_a * low_b + low_a * high_b) + low_a * low_b


def running_sum(values: Array) -> tuple[Array, Array]:
    """The partial sums of `(n,)` values with twice the digits.

    >>> high, low = running_sum(np.array([1.0, 1e-20, -1.0]))
    >>> float(high[-1] + low[-1])
    1e-20
    """
    high = np.cumsum(values)
    before, after = high[:-1], high[1:]
    part = after - before
    error = (before - (after - part)) + (values[1:] - part)
    low = np.concatenate(([0.0], np.cumsum(error)))
    return two_sum(high, low)


def contract(first: Array, second: Array) -> tuple[Array, Array]:
    """`first @ second` for `(..., i, j)` and `(..., j, k)`, with twice the digits."""
    return contract_doubled(first, (second, np.zeros_like(second)))


def contract_doubled(first: Array, second: tuple[Array, Array]) -> tuple[Array, Array]:
    """`first @ (second[0] + second[1])` with twice the digits."""
    total = np.zeros((*first.shape[:-1], second[0].shape[-1]))
    rest = np.zeros_like(total)
    for j in range(first.shape[-1]):
        column = first[..., :, j, None]
        product, error = two_product(column, second[0][..., None, j, :])
        total, lost = two_sum(total, product)
        rest = rest + (lost + error + column * second[1][..., None, j, :])
    return two_sum(total, rest)


def _high(a: Array) -> Array:
    scaled = SPLITTER * a
    return scaled - (scaled - a)


def factor(high: Array, low: Array) -> Array:
    """F with F F' = high + low for `(n, r, r)` PSD matrices, each entry to rounding.

    Cholesky with pivots and twice the digits: also where a plain one would leave of a small
    variance nothing but rounding. Directions whose variance comes out as zero or less are zero.

    >>> matrix = np.array([[[1.0, 1.0 - 2.0**-50], [1.0 - 2.0**-50, 1.0]]])
    >>> result = factor(matrix, np.zeros_like(matrix))[0]
    >>> round(float(result[1, 1] / 2.0**-24.5), 9)
    1.0
    """
    n, r, _ = high.shape
    a, b = high.copy(), low.copy()
    out = np.zeros_like(high)
    row = np.arange(n)
    done = np.zeros((n, r), dtype=bool)
    for step in range(r):
        diagonal = np.where(done, -np.inf, np.einsum("nii->ni", a))
        pivot = np.argmax(diagonal, axis=1)
        done[row, pivot] = True
        top, rest = a[row, pivot, pivot], b[row, pivot, pivot]
        usable = top + rest > 0
        top, rest = np.where(usable, top, 1.0), np.where(usable, rest, 0.0)
        column, column_rest = a[row, :, pivot], b[row, :, pivot]
        live = usable[:, None] & (~done | (np.arange(r) == pivot[:, None]))
        column, column_rest = np.where(live, column, 0.0), np.where(live, column_rest, 0.0)
        share, share_rest = _divide(column, column_rest, top[:, None], rest[:, None])
        out[:, :, step] = share * np.sqrt(top + rest)[:, None]
        product, error = two_product(share[:, :, None], column[:, None, :])
        error = error + share[:, :, None] * column_rest[:, None, :]
        error = error + share_rest[:, :, None] * column[:, None, :]
        a, lost = two_sum(a, -product)
        a, b = two_sum(a, b + (lost - error))
    return out


def _divide(a: Array, a_rest: Array, b: Array, b_rest: Array) -> tuple[Array, Array]:
    quotient = a / b
    product, error = two_product(quotient, np.broadcast_to(b, quotient.shape))
    return two_sum(quotient, ((a - product) - error + a_rest - quotient * b_rest) / b)
