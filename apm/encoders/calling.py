"""Calling an encoder that may be the user's own: shapes, finiteness, and centred logits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders.base import Encoder
from apm.pools.inputs import as_dense
from channelcode._validation import Array, real_array
from channelcode.channels import Channel, Softmax
from channelcode.errors import InvalidArgument


def channel_inputs(encoder: Encoder, theta: Array, X: ArrayLike, channel: Channel) -> Array:
    """The inputs of the channel for every row of X `(n, d)` at every theta `(s, q)`.

    `(n, s)` on the line, `(n, s, k)` in R^k, checked and in float64. Parameters of a linear encoder
    with k > 1 are `(s, k p)`, one class after the other. The logits of a softmax are centred: their
    common shift is not seen by the channel, but would count in E|l|^2 and in W2.

    >>> from apm import Linear
    >>> channel_inputs(Linear(), np.array([[1.0, 3.0]]), [[1.0]], Softmax(2))
    array([[[-1.,  1.]]])
    """
    k, rows = int(channel.dim), as_dense(X)
    draws: Any = theta
    if encoder.is_linear and k > 1:
        if theta.shape[1] % k:
            rule = f"must have a multiple of {k} entries, the same number for each of {k} inputs"
            raise InvalidArgument("theta", rule, theta.shape[1])
        draws = theta.reshape(len(theta), k, -1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        values = real_array("encoder.inputs(theta, X)", encoder.inputs(draws, rows))
    expected = (len(rows), len(theta)) if k == 1 else (len(rows), len(theta), k)
    if values.shape != expected:
        rule = f"must give shape {expected} for {type(channel).__name__} (rows, draws"
        rule += ")" if k == 1 else f", {k} coordinates of the channel's input)"
        raise InvalidArgument("encoder", rule, f"shape {values.shape}")
    if not np.isfinite(values).all():
        _explain(values, theta, rows)
    if isinstance(channel, Softmax):
        values = values - values.mean(axis=-1, keepdims=True)
    return values


def _explain(values: Array, theta: Array, X: Any) -> None:
    """Say at which parameters and for which example the input is not finite."""
    bad = ~np.isfinite(values)
    where = np.unravel_index(int(np.argmax(bad)), values.shape)
    row, draw = int(where[0]), int(where[1])
    at = np.asarray(theta[draw]).tolist()
    example = np.asarray(X[row]).tolist()
    shown = f"{values[where]} at theta = {at} for x = {example}"
    raise InvalidArgument("encoder", "must give finite channel inputs", shown)
