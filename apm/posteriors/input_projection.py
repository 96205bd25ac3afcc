"""Directions of the channel input that make no difference to its output."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.channels import Channel, Softmax

POINTS = 16  # random inputs: a direction without effect at all of them has none
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
