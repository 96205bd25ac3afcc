"""A channel seen in another unit of its input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from channelcode._validation import Array, positive
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.tails import Tails
from channelcode.errors import InvalidArgument


@dataclass(frozen=True)
class Rescaled(Channel):
    """A channel on the line, its input measured in a `unit`: p(y | l) = channel(y | unit l).

    >>> from channelcode import Probit
    >>> Rescaled(Probit(1e-9), 1e-9).prob(1.0) == Probit().prob(1.0)
    array([ True,  True])
    """

    channel: Channel
    unit: float
    dim = 1

    def __post_init__(self) -> None:
        inner = self.channel
        if not isinstance(inner, Channel) or inner.inputs is not None or inner.dim != 1:
            raise InvalidArgument("channel", "must be a channel with inputs on the line", inner)
        object.__setattr__(self, "unit", positive("unit", self.unit))

    @property
    def num_outputs(self) -> int:  # type: ignore[override]
        """Number of outputs of the channel behind it."""
        return self.channel.num_outputs

    def log_prob(self, l: Any) -> Array:
        return self.channel.log_prob(l * self.unit)

    def tails(self) -> Tails | None:
        inner = self.channel.tails()
        return None if inner is None else inner.moved(0.0, self.unit)

    def derivatives(self, l: Any) -> Derivatives:
        gradient, hessian = self.channel.derivatives(l * self.unit)
        return Derivatives(gradient * self.unit, hessian * self.unit * self.unit)
