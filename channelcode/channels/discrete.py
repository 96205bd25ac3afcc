"""Channels with a finite input alphabet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import Array, distribution, finite_array, probability, read_only
from channelcode.channels.base import Channel
from channelcode.errors import InvalidArgument


class DiscreteChannel(Channel):
    """A discrete memoryless channel: `matrix[i, y]` is the probability of output y for letter i.

    Rows are laws of the output, `(n, num_outputs)`. `inputs` gives each letter its value, `(n,)`
    or `(n, dim)`, which power is measured by; by default the letters are 0, 1, ..., n - 1. The
    channel takes exactly those values as `l`.

    >>> DiscreteChannel([[0.9, 0.1], [0.2, 0.8]]).prob(1)
    array([0.2, 0.8])
    """

    def __init__(self, matrix: ArrayLike, inputs: ArrayLike | None = None) -> None:
        rows = finite_array("matrix", matrix, ndim=2)
        if ((rows < 0) | (rows > 1)).any():
            bad = rows[(rows < 0) | (rows > 1)][0]
            raise InvalidArgument("matrix", "must hold probabilities in [0, 1]", float(bad))
        rows = distribution("matrix", rows)
        letters = np.arange(len(rows)) if inputs is None else inputs
        values = finite_array("inputs", letters, ndim=(1, 2))
        if len(values) != len(rows):
            raise InvalidArgument("inputs", f"must have one entry a row, {len(rows)}", len(values))
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        keys = values.reshape(len(values), -1)
        if len(np.unique(keys, axis=0)) != len(keys):
            raise InvalidArgument("inputs", "must be distinct", values)
        self.dim = keys.shape[1]
        self.num_outputs = rows.shape[1]
        self._matrix = read_only(rows)
        self._inputs = read_only(values)
        with np.errstate(divide="ignore"):
            self._log_matrix = read_only(np.log(rows))
        self._order = np.lexsort(keys.T[::-1])

    @property
    def matrix(self) -> Array:
        """The transition matrix, `(n, num_outputs)`."""
        return self._matrix

    @property
    def inputs(self) -> Array:
        return self._inputs

    def log_prob(self, l: Any) -> Array:
        return self._log_matrix[self._index(l)]

    def _index(self, l: Array) -> Any:
        if self.dim == 1:
            sorted_inputs = self._inputs[self._order]
            place = np.minimum(np.searchsorted(sorted_inputs, l), len(sorted_inputs) - 1)
            index = self._order[place]
            found = self._inputs[index] == l
        else:
            equal = (l[..., None, :] == self._inputs).all(axis=-1)
            index, found = equal.argmax(axis=-1), equal.any(axis=-1)
        if not np.all(found):
            letters = l.reshape(-1) if self.dim == 1 else l.reshape(-1, self.dim)
            bad = letters[~np.ravel(found)][0].tolist()
            rule = f"must be one of the {len(self._inputs)} input letters"
            raise InvalidArgument("l", rule, bad)
        return index

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._matrix.shape[0]} x {self._matrix.shape[1]})"


class BinarySymmetric(DiscreteChannel):
    """A bit that is flipped with probability p; capacity 1 - h_b(p) bits."""

    def __init__(self, p: float) -> None:
        self.p = probability("p", p)
        super().__init__([[1 - self.p, self.p], [self.p, 1 - self.p]])

    def __repr__(self) -> str:
        return f"BinarySymmetric(p={self.p})"


class BinaryErasure(DiscreteChannel):
    """A bit that is lost with probability e; outputs 0, erased, 1; capacity 1 - e bits."""

    def __init__(self, e: float) -> None:
        self.e = probability("e", e)
        super().__init__([[1 - self.e, self.e, 0.0], [0.0, self.e, 1 - self.e]])

    def __repr__(self) -> str:
        return f"BinaryErasure(e={self.e})"


class ZChannel(DiscreteChannel):
    """A one that turns to zero with probability p; capacity log2(1 + (1 - p) p^(p/(1-p))) bits."""

    def __init__(self, p: float) -> None:
        self.p = probability("p", p)
        super().__init__([[1.0, 0.0], [self.p, 1 - self.p]])

    def __repr__(self) -> str:
        return f"ZChannel(p={self.p})"


def restrict(channel: Channel, points: ArrayLike) -> DiscreteChannel:
    """The channel with its input held to the given points: `(n,)`, or `(n, dim)` in R^dim.

    >>> from channelcode import Logistic
    >>> restrict(Logistic(), [-1.0, 0.0, 1.0])
    DiscreteChannel(3 x 2)
    """
    alphabet = finite_array("points", points, ndim=(1, 2))
    if channel.dim == 1 and alphabet.ndim == 2 and alphabet.shape[1] == 1:
        alphabet = alphabet[:, 0]
    return DiscreteChannel(channel.prob(alphabet), alphabet)
