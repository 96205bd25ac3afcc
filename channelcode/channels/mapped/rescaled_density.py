"""A channel with a density, seen in other units of its input and output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._validation import Array, positive
from channelcode.channels.base import Channel
from channelcode.channels.support import Interval, as_support
from channelcode.errors import InvalidArgument


def as_given(channel: Channel, l: float) -> tuple[Channel, float]:
    """The channel and the input as a user knows them, for messages."""
    return (
        (channel.channel, l * channel.unit)
        if isinstance(channel, RescaledDensity)
        else (channel, l)
    )


@dataclass(frozen=True)
class RescaledDensity(Channel):
    """f(y | l) = output_unit channel(output_unit y | unit l): the same law, other units.

    The output has another unit only where its support is the whole line.

    >>> from channelcode import AdditiveGaussian
    >>> seen = RescaledDensity(AdditiveGaussian(1e-9), 1e-9, 1e-9)
    >>> bool(np.isclose(seen.log_density(2.0, 1.0), AdditiveGaussian().log_density(2.0, 1.0)))
    True
    """

    channel: Channel
    unit: float
    output_unit: float = 1.0
    dim = 1

    def __post_init__(self) -> None:
        inner = self.channel
        if not isinstance(inner, Channel) or inner.support is None or inner.dim != 1:
            raise InvalidArgument("channel", "must have a density and inputs on the line", inner)
        object.__setattr__(self, "unit", positive("unit", self.unit))
        object.__setattr__(self, "output_unit", positive("output_unit", self.output_unit))
        support = as_support(inner.support)
        if self.output_unit != 1.0 and support != Interval():
            rule = "must be 1 for outputs that do not fill the line"
            raise InvalidArgument("output_unit", rule, self.output_unit)

    @property
    def support(self) -> Any:  # type: ignore[override]
        """That of the channel behind it: the line, or one whose unit is kept."""
        return self.channel.support

    @property
    def domain(self) -> tuple[float, float]:  # type: ignore[override]
        """The range of inputs, in the unit."""
        low, high = self.channel.domain
        return low / self.unit, high / self.unit

    def log_density(self, y: Any, l: Any) -> Array:
        inputs = np.clip(l * self.unit, *self.channel.domain)  # rounding may be beyond an end
        return self.channel.log_density(y * self.output_unit, inputs) + np.log(self.output_unit)

    @property
    def output_range(self) -> Callable[[Array], tuple[Array, Array]] | None:
        """As the channel behind it declares it, or None."""
        own = self._declared("output_range")
        if own is None:
            return None

        def ends(l: Array) -> tuple[Array, Array]:
            low, high = own(l)
            return np.asarray(low) / self.output_unit, np.asarray(high) / self.output_unit

        return ends

    @property
    def output_scale(self) -> Callable[[Array], Array] | None:
        """As the channel behind it declares it, or None."""
        own = self._declared("output_scale")
        return None if own is None else lambda l: np.asarray(own(l)) / self.output_unit

    @property
    def kinks(self) -> Callable[[Array], Array] | None:
        """As the channel behind it declares them, or None."""
        own = self._declared("kinks")
        return None if own is None else lambda l: np.asarray(own(l)) / self.output_unit

    @property
    def draw(self) -> Callable[[Array, np.random.Generator], Array] | None:
        """As the channel behind it draws, or None."""
        own = self._declared("draw")
        return None if own is None else lambda l, rng: np.asarray(own(l, rng)) / self.output_unit

    @property
    def divergence_between(self) -> Callable[[Any, Any], Array] | None:
        """As the channel behind it declares it, or None."""
        own = getattr(self.channel, "divergence_between", None)
        if own is None:
            return None
        return lambda l, reference: own(np.asarray(l) * self.unit, reference * self.unit)

    def _declared(self, name: str) -> Callable[..., Any] | None:
        """A method of the channel behind it as a function of inputs in the unit."""
        own = getattr(self.channel, name, None)
        return None if own is None else lambda l, *others: own(np.asarray(l) * self.unit, *others)
