"""A channel seen through a fixed map of its input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import Array, finite_array, integer, read_only
from channelcode.channels.base import Channel, Derivatives, numerical_derivatives
from channelcode.channels.links.link import function_name
from channelcode.channels.tails import Landmark, Tails
from channelcode.errors import InvalidArgument


class Features(Channel):
    """A channel behind a fixed map: p(y | l) = channel(y | map(l)), such as a neural head.

    `map` is a matrix of shape `(channel.dim, dim)`, or a function of arrays `(..., dim)` (no
    trailing axis when `dim` is 1) that returns inputs of the inner channel; a function needs `dim`
    unless the map keeps the dimension.

    >>> from channelcode import Softmax
    >>> head = Features(Softmax(2), [[1.0], [-1.0]])
    >>> head.dim, head.prob(0.0)
    (1, array([0.5, 0.5]))
    """

    def __init__(
        self,
        channel: Channel,
        map: ArrayLike | Callable[[Any], Any],
        *,
        dim: int | None = None,
    ) -> None:
        if not isinstance(channel, Channel) or channel.inputs is not None:
            raise InvalidArgument("channel", "must be a channel with a continuous input", channel)
        self.channel = channel
        self.num_outputs = channel.num_outputs
        self.map = map
        self._matrix: Array | None = None
        if callable(map):
            self.dim = channel.dim if dim is None else integer("dim", dim, least=1)
            return
        matrix = np.atleast_2d(finite_array("map", map, ndim=(0, 1, 2)))
        if matrix.shape[0] != channel.dim:
            raise InvalidArgument("map", f"must have {channel.dim} rows", f"shape {matrix.shape}")
        if dim is not None and dim != matrix.shape[1]:
            raise InvalidArgument("dim", "must equal the number of columns of map", dim)
        self.dim = matrix.shape[1]
        self._matrix = read_only(matrix)

    def _mapped(self, l: Array) -> Array:
        if self._matrix is not None:
            vectors = l[..., None] if self.dim == 1 else l
            inner = vectors @ self._matrix.T
            return inner[..., 0] if self.channel.dim == 1 else inner
        inner = np.asarray(self.map(l), dtype=np.float64)  # type: ignore[operator]
        batch = l.shape if self.dim == 1 else l.shape[:-1]
        expected = batch if self.channel.dim == 1 else (*batch, self.channel.dim)
        if inner.shape != expected:
            raise InvalidArgument("map", f"must return shape {expected}", f"shape {inner.shape}")
        return inner

    def log_prob(self, l: Any) -> Array:
        return self.channel.log_prob(self._mapped(l))

    def tails(self) -> Tails | None:
        """What a matrix keeps of the inner promise: a straight line maps to a straight line."""
        inner = self.channel.tails()
        if inner is None or self._matrix is None:
            return None
        if self.dim == 1 and self.channel.dim == 1:
            return inner.moved(0.0, float(self._matrix[0, 0]))
        size = float(np.linalg.norm(self._matrix, 2))
        if size == 0.0:
            return Tails((), 0.0, None, True)
        if any(np.any(np.asarray(c) != 0.0) for c, _ in inner.landmarks):
            return None if self.dim == 1 else Tails(turns_once=inner.turns_once)
        zero = 0.0 if self.dim == 1 else (0.0,) * self.dim
        places = tuple(Landmark(zero, w / size) for _, w in inner.landmarks)
        return Tails(places, 0.0 if inner.radius == 0.0 else np.inf, None, inner.turns_once)

    def derivatives(self, l: Any) -> Derivatives:
        if self._matrix is None:
            return numerical_derivatives(self, l)
        inner = self.channel.derivatives(self._mapped(l))
        if self.channel.dim == 1:
            gradient, hessian = inner.gradient[..., None], inner.hessian[..., None, None]
        else:
            gradient, hessian = inner
        gradient = gradient @ self._matrix
        hessian = self._matrix.T @ hessian @ self._matrix
        if self.dim == 1:
            return Derivatives(gradient[..., 0], hessian[..., 0, 0])
        return Derivatives(gradient, hessian)

    def __repr__(self) -> str:
        shown = function_name(self.map) if callable(self.map) else f"{self.map!r}"
        return f"Features({self.channel!r}, {shown})"
