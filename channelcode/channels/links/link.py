"""A binary channel from any response curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.channels.base import Channel
from channelcode.errors import InvalidArgument


@dataclass(frozen=True, repr=False)
class Link(Channel):
    """A binary channel from a response of your own: P(Y = 1 | l) = function(l).

    `function` maps an array of inputs to probabilities of the same shape. In double precision
    1 - function(l) loses its digits where the response nears one; give `complement`, the
    probability of the other label, if that tail matters.

    >>> import numpy as np
    >>> steep = Link(lambda l: 1 / (1 + np.exp(-(l**3))))
    >>> steep.prob(0.0)
    array([0.5, 0.5])
    """

    function: Callable[[Any], Any]
    complement: Callable[[Any], Any] | None = None
    dim = 1
    num_outputs = 2

    def __post_init__(self) -> None:
        for name in ("function", "complement"):
            value = getattr(self, name)
            if not callable(value) and not (name == "complement" and value is None):
                raise InvalidArgument(name, "must be callable", value)

    def __repr__(self) -> str:
        if self.complement is None:
            return f"Link({function_name(self.function)})"
        return f"Link({function_name(self.function)}, {function_name(self.complement)})"

    def log_prob(self, l: Any) -> Array:
        up = _response("function", self.function, l)
        with np.errstate(divide="ignore"):
            if self.complement is None:
                return np.stack([np.log1p(-up), np.log(up)], axis=-1)
            down = _response("complement", self.complement, l)
            _check_total(up, down, l)
            # whichever of the two is small carries the digits
            log_down = np.where(down <= 0.5, np.log(down), np.log1p(-np.minimum(up, 0.5)))
            log_up = np.where(up <= 0.5, np.log(up), np.log1p(-np.minimum(down, 0.5)))
        return np.stack([log_down, log_up], axis=-1)


def function_name(function: Any) -> str:
    """The name that a function was given; a repr would show where it lies in memory."""
    return getattr(function, "__name__", type(function).__name__)


def _response(argument: str, function: Callable[[Any], Any], l: Array) -> Array:
    """Evaluate a user's curve, elementwise if it does not take arrays, and check its range."""
    with np.errstate(over="ignore", under="ignore"):
        try:
            values = np.asarray(function(l))
        except TypeError:  # math.exp and friends take one number at a time
            values = np.reshape([function(float(x)) for x in l.ravel()], l.shape)
    if values.shape != l.shape:
        if values.ndim != 0:
            rule = f"must return shape {l.shape}, one probability for each input"
            raise InvalidArgument(argument, rule, f"shape {values.shape}")
        values = np.broadcast_to(values, l.shape)
    if values.dtype.kind not in "buif":
        raise InvalidArgument(argument, "must return real numbers", values)
    values = values.astype(np.float64)
    bad = ~((values >= 0) & (values <= 1))
    if bad.any():
        where = int(np.argmax(bad))
        rule = "must return probabilities in [0, 1]"
        raise InvalidArgument(argument, rule, f"{values.ravel()[where]} at l = {l.ravel()[where]}")
    return values


def _check_total(up: Array, down: Array, l: Array) -> None:
    worst = np.abs(up + down - 1.0)
    if (worst > 1e-9).any():
        where = int(np.argmax(worst))
        rule = "must return one minus the response"
        total = (up + down).ravel()[where]
        raise InvalidArgument("complement", rule, f"a total of {total} at l = {l.ravel()[where]}")
