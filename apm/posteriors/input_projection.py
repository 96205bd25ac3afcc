"""Directions of the channel input that make no difference to its output."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.channels import Channel, Softmax
from channelcode.errors import InvalidArgument

POINTS = 16  # random inputs: a direction without effect at all of them has none
PASSES = 4  # a large common part leaves a rounding error of its own size; the second pass takes it
BLIND = 1e-5  # relative size of a derivative that counts as none; numerical ones err by 1e-6


def informative_projection(channel: Channel) -> Array:
    """The projection C `(k, k)` onto what moves the output; I - 11'/K for a softmax.

    A shift along the rest changes no probability, so it carries no information and costs power
    (theory 1, centred inputs).

    >>> from channelcode.channels import Softmax
    >>> informative_projection(Softmax(2)).round(3)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    k = channel.dim
    if k == 1:
        return np.eye(1)
    if type(channel) is Softmax:
        return np.eye(k) - 1.0 / k
    points = np.random.default_rng(0).standard_normal((POINTS, k))
    gradients = channel.derivatives(points).gradient.reshape(-1, k)
    _, sizes, directions = np.linalg.svd(gradients, full_matrices=True)
    seen = directions[: int((sizes > BLIND * sizes[0]).sum())]
    return seen.T @ seen


def seen_part(channel: Channel, l: Array) -> Array:
    """Inputs `(..., k)` less what the channel does not see of them; what is seen stays as it is.

    For a softmax `l - mean_k l`: the common shift changes no probability, but would count in W2 and
    in E|l|^2. Inputs that are centred up to rounding are returned bit for bit. On the line, with
    or without an axis of length one, the axis is dropped.

    >>> from channelcode.channels import Softmax
    >>> seen_part(Softmax(2), np.array([[3.0, 5.0]]))
    array([[-1.,  1.]])
    """
    if channel.dim == 1:
        return l[..., 0] if l.ndim == 3 else l
    rest = np.eye(channel.dim) - informative_projection(channel)
    if not np.abs(rest).max() > BLIND:
        return l
    small = 4.0 * channel.dim * float(np.finfo(np.float64).eps)
    softmax = type(channel) is Softmax
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(PASSES):
            # a mean of shares does not overflow where a sum of logits would
            unseen = (l / channel.dim).sum(axis=-1, keepdims=True) if softmax else l @ rest
            large = np.abs(l).max(axis=-1, keepdims=True)
            unseen = np.where(np.abs(unseen) > small * large, unseen, 0.0)
            if not unseen.any():
                break
            l = l - unseen
    if not np.isfinite(l).all():
        raise InvalidArgument("l", "must be within floating-point range", "an overflow")
    return l
