"""Entropy and divergence of laws given by their probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from channelcode._numerics.divergence import missed, pointwise_divergence, shannon
from channelcode._validation import distribution, finite_array
from channelcode.errors import InvalidArgument
from channelcode.information.value import Information, _plain


def entropy(p: ArrayLike) -> Information:
    """Shannon entropy H(p) = -sum_y p_y log p_y of laws along the last axis, `(..., Y)` to `(...)`.

    >>> entropy([0.5, 0.25, 0.25]).bits
    1.5
    """
    return Information(_plain(np.maximum(shannon(distribution("p", p)), 0.0)))


def binary_entropy(p: ArrayLike) -> Information:
    """Entropy of a bit that is one with probability p: h_b(p), for every entry of `p`.

    >>> binary_entropy(0.5).bits
    1.0
    """
    chance = finite_array("p", p)
    outside = (chance < 0) | (chance > 1)
    if outside.any():
        raise InvalidArgument("p", "must lie in [0, 1]", float(chance[outside].ravel()[0]))
    value = -xlogy(chance, chance) - xlog1py(1.0 - chance, -chance)
    return Information(_plain(value[()]))


def kl_divergence(p: ArrayLike, q: ArrayLike) -> Information:
    """Relative entropy D(p || q) = sum_y p_y log(p_y / q_y) along the last axis.

    Infinite where q misses an outcome that p has. Leading axes broadcast.

    >>> kl_divergence([1.0, 0.0], [0.25, 0.75]).bits
    2.0
    """
    left, right = distribution("p", p), distribution("q", q)
    if left.shape[-1] != right.shape[-1]:
        raise InvalidArgument("q", f"must have {left.shape[-1]} outcomes", right.shape[-1])
    try:
        left, right = np.broadcast_arrays(left, right)
    except ValueError:
        shapes = f"shapes {left.shape} and {right.shape}"
        raise InvalidArgument("q", "must broadcast with p", shapes) from None
    value = np.where(missed(left, right), np.inf, pointwise_divergence(left, right))
    return Information(_plain(value[()]))
