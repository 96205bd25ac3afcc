"""The scheme of Schalkwijk and Kailath (1966) for additive Gaussian noise."""

from __future__ import annotations

from math import exp, inf, log, log1p, log2, pi, sqrt
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from channelcode._validation import integer, number, positive
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument
from channelcode.feedback.scheme import Scheme, State, message_count, message_index
from channelcode.measures.base import Immutable

FLOAT_BITS = 50  # of the 53 of a float: the rest is lost to rounding on the way
REACH = 40.0  # deviations beyond which a normal law has no mass in floats
ENOUGH = 1 << 16  # points that an entropy is summed over


class PointState(State, Immutable):
    """A normal posterior of the message point: mean and variance. Immutable.

    For M messages the points are those of a pulse-amplitude alphabet of mean power `snr`, and no
    prior but theirs is used.
    """

    __slots__ = ("_mean", "_messages", "_snr", "_time", "_variance")
    _snr: float
    _time: int
    _messages: int | None
    _mean: float
    _variance: float

    @property
    def time(self) -> int:
        return self._time

    @property
    def messages(self) -> int | None:
        return self._messages

    @property
    def mean(self) -> float:
        """The estimate of the point."""
        return self._mean

    @property
    def variance(self) -> float:
        """Its variance: (1 + snr)^-n, or (1 + snr)^-(n-1) for M messages; infinite before."""
        return self._variance

    @property
    def best(self) -> Any:
        """The nearest message; the mean for a continuous one."""
        if self._messages is None:
            return self._mean
        place = (self._mean / half_distance(self._snr, self._messages) + self._messages - 1) / 2
        return min(max(round(place), 0), self._messages - 1)

    @property
    def probability(self) -> float:
        if self._messages is None:
            return 0.0  # of a single point
        return 1.0 - self.error_bound if self._time else 1.0 / self._messages

    @property
    def error_bound(self) -> float:
        if self._messages is None:
            rule = "needs finitely many messages: start(messages=M)"
            raise InvalidArgument("error_bound", rule, "a continuous message")
        if self._time == 0:
            return 1.0 - 1.0 / self._messages
        weights, place = self._weights()
        others = float(weights.sum() - weights[place])
        return others / (others + float(weights[place]))

    @property
    def entropy_bits(self) -> float:
        """In bits; the differential entropy 1/2 log2(2 pi e v) for a continuous message."""
        if self._messages is None:
            return 0.5 * log2(2 * pi * np.e * self._variance)
        if self._time == 0:
            return log2(self._messages)
        weights = self._weights()[0]
        law = weights[weights > 0] / weights.sum()
        return float(-(law * np.log2(law)).sum())

    def quantile(self, u: float) -> float:
        """The posterior quantile of the message point."""
        level = number("u", u)
        if not 0.0 <= level <= 1.0:
            raise InvalidArgument("u", "must lie in [0, 1]", u)
        return self._mean + sqrt(self._variance) * float(ndtri(level))

    def _weights(self) -> tuple[np.ndarray, int]:
        """Posterior weights of the points in reach, up to a factor, and the place of the best."""
        messages, best = self._messages or 1, self.best
        half, deviation = half_distance(self._snr, messages), sqrt(self._variance)
        reach = min(int(REACH * deviation / half / 2) + 2, messages)
        if reach > ENOUGH:
            rule = f"must leave fewer than {ENOUGH} messages in reach: use the channel more often"
            raise InvalidArgument("state", rule, self)
        first, last = max(best - reach, 0), min(best + reach, messages - 1)
        points = half * (2 * np.arange(first, last + 1) - (messages - 1.0))
        with np.errstate(under="ignore"):
            distance = np.square((points - self._mean) / deviation)
            return np.exp(-0.5 * (distance - distance.min())), best - first

    def __repr__(self) -> str:
        return (
            f"PointState(mean={self._mean:.6g}, variance={self._variance:.3g}, time={self._time})"
        )


class SchalkwijkKailath(Scheme):
    """Send the error of the receiver's estimate, scaled to the power: for Gaussian noise.

    Unit noise, power `snr`, estimate m of variance v:

        x = sqrt(snr / v) (theta - m),   m <- m + y sqrt(v snr) / (1 + snr),   v <- v / (1 + snr).

    It is posterior matching, as F*^-1 o F is affine for two normal laws. The message is a number
    with a standard normal law (`start()`) or one of M (`start(messages=M)`), whose point is sent
    as it is in the first use.

    >>> scheme = SchalkwijkKailath(1.0)
    >>> state = scheme.update(scheme.start(), 1.3)
    >>> state.mean, state.variance
    (0.65, 0.5)
    >>> round(scheme.error_probability(messages=4, uses=6), 6)
    0.008559
    """

    def __init__(self, snr: float) -> None:
        self.snr = positive("snr", snr)

    @property
    def information_bits(self) -> float:
        """The capacity, 1/2 log2(1 + snr) bits a use."""
        return 0.5 * log1p(self.snr) / log(2.0)

    def start(self, messages: int | None = None) -> PointState:
        """A standard normal message, or `messages` points of mean power `snr`."""
        count = None if messages is None else message_count(messages)
        if count is not None and count > 1 << FLOAT_BITS:
            rule = f"must be at most 2^{FLOAT_BITS}, what a float carries: send it in parts"
            raise InvalidArgument("messages", rule, messages)
        return _point_state(self.snr, 0, count, 0.0, 1.0 if count is None else inf)

    def encode(self, state: PointState, message: Any) -> float:
        if state.messages is None:
            point = number("message", message)
            size = max(abs(point), 1.0)
        else:
            place = message_index(message, state.messages)
            point = half_distance(self.snr, state.messages) * (2 * place - (state.messages - 1))
            size = half_distance(self.snr, state.messages) * state.messages
            if state.time == 0:
                return point
        if sqrt(state.variance) < size * 2.0**-FLOAT_BITS:
            rule = (
                f"must be sent in fewer uses: after {state.time} the estimate is finer than the "
                "last digit of a float"
            )
            raise InvalidArgument("message", rule, message)
        return sqrt(self.snr / state.variance) * (point - state.mean)

    def update(self, state: PointState, output: float) -> PointState:
        heard = number("output", output)
        if state.variance == inf:
            return _point_state(self.snr, 1, state.messages, heard, 1.0)
        mean = state.mean + heard * sqrt(state.variance * self.snr) / (1.0 + self.snr)
        variance = state.variance / (1.0 + self.snr)
        return _point_state(self.snr, state.time + 1, state.messages, mean, variance)

    def respond(self, letter: Any, rng: np.random.Generator, channel: Channel | None = None) -> Any:
        if channel is not None:
            raise InvalidArgument("channel", "must be left out: the noise is Gaussian", channel)
        return float(letter + rng.standard_normal())

    def error_probability(self, *, messages: int, uses: int) -> float:
        """P(error) of the nearest point; see `log_error_probability` where this is below 1e-308.

        P_e = 2 (1 - 1/M) Q( sqrt( 3 snr (1 + snr)^(n-1) / (M^2 - 1) ) ).
        """
        count, log_distance = self._distance(messages, uses)
        if log_distance > 10.0:
            return exp(max(self.log_error_probability(messages=messages, uses=uses), -1e4))
        return 2.0 * ((count - 1) / count) * float(ndtr(-exp(log_distance)))

    def log_error_probability(self, *, messages: int, uses: int) -> float:
        """ln P(error), which falls doubly exponentially in the uses: far below what a float holds.

        >>> round(SchalkwijkKailath(10.0).log_error_probability(messages=4, uses=5), 6)
        -14646.677985
        """
        count, log_distance = self._distance(messages, uses)
        distance = exp(log_distance) if log_distance < 350 else inf
        return log(2.0) + log((count - 1) / count) + float(log_ndtr(-distance))

    def _distance(self, messages: int, uses: int) -> tuple[int, float]:
        """The number of messages, and ln of half the distance of points in deviations."""
        count, steps = message_count(messages), integer("uses", uses, least=1)
        growth = (steps - 1) * log1p(self.snr)
        return count, 0.5 * (log(3.0) + log(self.snr) + growth - log(count * count - 1))

    def __repr__(self) -> str:
        return f"SchalkwijkKailath(snr={self.snr!r})"


def half_distance(snr: float, messages: int) -> float:
    """Half the distance of neighbours among M equally spaced points of mean power `snr`."""
    return sqrt(3.0 * snr / (messages * messages - 1))


def _point_state(
    snr: float, time: int, messages: int | None, mean: float, variance: float
) -> PointState:
    state = object.__new__(PointState)
    state._set(_snr=snr, _time=time, _messages=messages, _mean=mean, _variance=variance)
    return state
