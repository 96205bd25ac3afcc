"""Products of feature matrices, dense or sparse, with weights whose last may be the constant's."""

from __future__ import annotations

from typing import Any

from apm.pools.inputs import is_sparse
from channelcode._validation import Array


def times(features: Any, matrix: Array) -> Any:
    """features `(n, p)` times matrix `(q, m)` or `(q,)`; if q > p its last row is a constant."""
    count, kind = features.shape[1], features.dtype
    constant = len(matrix) > count
    own = matrix[:count] if constant else matrix
    result = features @ (own if own.dtype == kind else own.astype(kind))
    if constant:
        result += matrix[count].astype(kind)
    return result


def weighted_squares(features: Any, weights: Array) -> Any:
    """sum_j w_j x_j^2 of every row, `(n,)`; a weight without a feature is that of the constant."""
    count = features.shape[1]
    own = weights[:count].astype(features.dtype)
    squares = (
        features.multiply(features) @ own if is_sparse(features) else (features * features) @ own
    )
    return squares + weights[count] if len(weights) > count else squares


def weighted_products(features: Any, others: Any, weights: Array) -> Array:
    """sum_j w_j x_j x*_j of every pair of rows, `(n, t)`; the constant as in `weighted_squares`."""
    count = features.shape[1]
    own = weights[:count]
    if is_sparse(features):
        product = features.multiply(own).tocsr() @ others.T
        products = product.toarray() if is_sparse(product) else product
    else:
        products = (features * own) @ (others.toarray() if is_sparse(others) else others).T
    return products + weights[count] if len(weights) > count else products
