"""Label probabilities under posterior draws, class by class: what the sampled K-class rules need.

Arrays are class-major, `(K, n, s)`: a sum over classes then runs over contiguous blocks, and each
class is one matrix product.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from apm.belief import Belief
from apm.pools.inputs import is_sparse
from apm.posteriors.covariances.feature_covariance import times
from channelcode._validation import Array
from channelcode.channels import Softmax

PIECE = (
    1 << 16
)  # entries `(K, rows, s)` at a time: half a mebibyte, which stays in the second cache
TINY = float(np.finfo(np.float64).tiny)  # 0 ln 0 = 0: added where a probability may be zero


def class_major(theta: Array) -> Array:
    """Draws `(s, k, q)` of a posterior in R^k as `(k, q, s)`, for `class_inputs`."""
    return np.ascontiguousarray(np.moveaxis(theta, 0, 2))


def class_inputs(belief: Belief, X: Any, theta: Array) -> Array:
    """Channel inputs of every row of X under draws `(k, q, s)`: `(k, n, s)`."""
    features: Any = belief.encoder.encode(X)
    if is_sparse(features):
        return np.stack([times(features, own) for own in theta])
    inputs = np.matmul(features.astype(np.float64, copy=False), theta[:, : features.shape[1]])
    if belief.posterior.intercept:
        inputs += theta[:, -1:]
    return inputs


def class_probabilities(belief: Belief, X: Any, theta: Array) -> Array:
    """p(y | x, theta_s) for every row of X, `(K, n, s)`; draws `(k, q, s)`."""
    inputs = class_inputs(belief, X, theta)
    if type(belief.channel) is not Softmax:
        l = np.moveaxis(inputs, 0, 2) if belief.channel.dim > 1 else inputs[0]
        return np.ascontiguousarray(np.moveaxis(belief.channel.prob(l), 2, 0))
    _, total = _exponentials(inputs)
    inputs /= total
    return inputs


def softmax_gain(inputs: Array) -> Array:
    """I(L; Y) in nats through a softmax for L uniform on `inputs (K, n, s)`, overwritten: `(n,)`.

    H(Y | l) = ln Z - sum_y p_y (l_y - max l), Z = sum_y exp(l_y - max l): one logarithm a draw.
    """
    below = inputs.copy()
    top, total = _exponentials(inputs)
    below -= top
    below *= inputs
    within = np.log(total) - below.sum(axis=0) / total
    inputs /= total
    gain = entropies(inputs) - within.mean(axis=1)
    return np.maximum(gain, 0.0)  # I >= 0 by Jensen; both terms round at 1e-16


def entropies(prob: Array, weights: Array | None = None) -> Array:
    """The entropy in nats of the label averaged over draws, `(K, n, s)` to `(n,)`.

    `weights (s,)` sum to one; None counts all draws alike.
    """
    mean = prob.mean(axis=2) if weights is None else prob @ weights
    return -(mean * np.log(mean + TINY)).sum(axis=0)


def _exponentials(inputs: Array) -> tuple[Array, Array]:
    """Turn logits into exp(l - max l), in place; the maxima and the sums over classes, `(n, s)`."""
    top = inputs.max(axis=0)
    inputs -= top
    with np.errstate(under="ignore"):
        np.exp(inputs, out=inputs)
    return top, inputs.sum(axis=0)
