"""What a channel cannot see of a Gaussian law is removed before anything is integrated."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode.channels import Channel, Features, Logistic, Softmax


def reduced(channel: Channel, measure: Any) -> tuple[Channel, Any]:
    """An equal problem of lower dimension, for a Gaussian or a pool of Gaussians.

    A linear feature map carries a Gaussian to a Gaussian of the inner channel, and two softmax
    classes are the logistic channel in the difference of their logits. On the line nothing is
    estimated, so both then cost no sampling error.
    """
    while True:
        if isinstance(channel, Features) and not callable(channel.map):
            matrix = np.atleast_2d(np.asarray(channel.map, dtype=np.float64))
            measure = measure.project(matrix[0]) if len(matrix) == 1 else measure.transform(matrix)
            channel = channel.channel
        elif type(channel) is Softmax and channel.num_classes == 2:
            channel, measure = Logistic(), measure.project([-1.0, 1.0])
        else:
            return channel, measure
