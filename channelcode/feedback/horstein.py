"""Horstein's scheme (1963): posterior matching for the binary symmetric channel."""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

from channelcode._validation import non_negative, number
from channelcode.channels import BinarySymmetric
from channelcode.errors import InvalidArgument
from channelcode.feedback.choices import Cuts, Rounded
from channelcode.feedback.posterior_matching import PosteriorMatching
from channelcode.measures import DiscreteMeasure


class Horstein(PosteriorMatching):
    """Send whether the message lies right of the posterior median, through a BSC.

    The log2 density at the true message after n uses is n + K log2 e + (n - K) log2(1 - e), with K
    binomial: n (1 - h(e)) on average. The channel of logistic regression at power P is the same
    with crossover `sigma(-sqrt P)` (Prop. 2.1).

    >>> scheme = Horstein(0.1)
    >>> state = scheme.update(scheme.start(), 0)
    >>> round(state.quantile(0.5), 6), round(scheme.information_bits, 6)
    (0.277778, 0.531004)
    """

    def __init__(self, crossover: float, *, cuts: Cuts = Rounded()) -> None:
        self.crossover = binary_crossover(crossover)
        if not isinstance(cuts, Cuts):
            raise InvalidArgument("cuts", "must be Rounded(), Dithered() or Shifted()", cuts)
        self.capacity = None
        channel = BinarySymmetric(self.crossover)
        self._match(channel, DiscreteMeasure([0.0, 1.0], [0.5, 0.5]), cuts)

    @classmethod
    def at_power(cls, power: float, **options: Any) -> Horstein:
        """The scheme for logistic labels at mean power P: crossover sigma(-sqrt P)."""
        return cls(1.0 / (1.0 + exp(sqrt(non_negative("power", power)))), **options)

    def __repr__(self) -> str:
        return f"Horstein(crossover={self.crossover!r})"


def binary_crossover(value: Any) -> float:
    """A crossover probability in (0, 1/2), where a binary symmetric channel is noisy but useful."""
    crossover = number("crossover", value)
    if not 0.0 < crossover < 0.5:
        rule = (
            "must lie between 0 and 1/2: at 1/2 the output says nothing, above it swap the two "
            "outputs, and a noiseless channel needs no feedback"
        )
        raise InvalidArgument("crossover", rule, value)
    return crossover
