"""A channel seen from another origin of its input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from channelcode._validation import Array, number
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.tails import Tails
from channelcode.errors import InvalidArgument


@dataclass(frozen=True)
class Recentred(Channel):
    """A channel on the line, its input measured from `origin`: p(y | l) = channel(y | l + origin).

    Under `Power(P)` the mean square distance from that origin is limited, E (L - origin)^2 <= P.

    >>> from channelcode import Logistic
    >>> Recentred(Logistic(), 3.0).prob(-3.0)
    array([0.5, 0.5])
    """

    channel: Channel
    origin: float
    dim = 1

    def __post_init__(self) -> None:
        inner = self.channel
        if not isinstance(inner, Channel) or inner.inputs is not None or inner.dim != 1:
            raise InvalidArgument("channel", "must be a channel with inputs on the line", inner)
        object.__setattr__(self, "origin", number("origin", self.origin))

    @property
    def num_outputs(self) -> int:  # type: ignore[override]
        """Number of outputs of the channel behind it."""
        return self.channel.num_outputs

    def log_prob(self, l: Any) -> Array:
        return self.channel.log_prob(l + self.origin)

    def tails(self) -> Tails | None:
        inner = self.channel.tails()
        return None if inner is None else inner.moved(self.origin, 1.0)

    def derivatives(self, l: Any) -> Derivatives:
        return self.channel.derivatives(l + self.origin)
