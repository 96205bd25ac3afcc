"""Choices of a scheme, as objects: what happens at the cuts, and when to stop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from channelcode._validation import Seed, as_generator, integer, number
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from channelcode.feedback.scheme import State


class Cuts:
    """How a finite set of messages meets cuts at exact quantiles."""


@dataclass(frozen=True)
class Rounded(Cuts):
    """Move each cut to the nearest boundary of a message; ties go down.

    The induced law differs from the input law by less than one message's mass, and
    `Transcript.loss_bits` says what that costs, exactly. Never are all messages on one letter.
    """


@dataclass(frozen=True)
class Dithered(Cuts):
    """Send a point drawn once, uniformly, inside the message's cell; nothing is rounded.

    The input law is matched exactly at every use. The draw follows from `rng` and the message.
    """

    rng: Seed = 0
    seed: int = field(init=False, repr=False, compare=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", entropy(self.rng))

    def offset(self, message: int, bits: int) -> int:
        """The first `bits` binary digits of the point within the message's cell."""
        return _digits(self.seed, message, bits)


@dataclass(frozen=True)
class Shifted(Cuts):
    """Turn the circle of quantiles by a common random amount before each use.

    `x = F*^-1((F(theta) + U_t) mod 1)` keeps the input law, and no half of the messages stays
    unasked for ever (see `fixed_points`). It costs one more cut. Both ends know U_t: it follows
    from `rng` and the time. As the cuts jump, a use costs time in proportion to all intervals.
    """

    rng: Seed = 0
    seed: int = field(init=False, repr=False, compare=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", entropy(self.rng))

    def shift(self, time: int) -> float:
        """U_t in [0, 1) for the use after `time` uses."""
        return float(np.random.default_rng([self.seed, time]).random())


class Stop(ABC):
    """When to stop; `a | b` stops at whichever comes first."""

    @abstractmethod
    def done(self, state: State) -> bool:
        """Whether the transmission ends in this state."""

    def __or__(self, other: Stop) -> Stop:
        if not isinstance(other, Stop):
            return NotImplemented
        return Either(self, other)


@dataclass(frozen=True)
class Uses(Stop):
    """Stop after `n` uses of the channel."""

    n: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", integer("n", self.n, least=0))

    def done(self, state: State) -> bool:
        return state.time >= self.n


@dataclass(frozen=True)
class Confidence(Stop):
    """Stop once the most probable message is wrong with probability at most `error`."""

    error: float

    def __post_init__(self) -> None:
        error = number("error", self.error)
        if not 0.0 < error < 1.0:
            raise InvalidArgument("error", "must lie between 0 and 1", self.error)
        object.__setattr__(self, "error", error)

    def done(self, state: State) -> bool:
        return state.error_bound <= self.error


@dataclass(frozen=True)
class Either(Stop):
    """Stop at whichever of two rules comes first: what `|` returns."""

    first: Stop
    second: Stop

    def done(self, state: State) -> bool:
        return self.first.done(state) or self.second.done(state)


def as_stop(stop: object) -> Stop:
    """The rule itself, or a typed error."""
    if not isinstance(stop, Stop):
        raise InvalidArgument("stop", "must be Uses(n) or Confidence(error)", stop)
    return stop


def entropy(rng: Seed) -> int:
    """A seed that can be kept: of a seed itself, of a generator a draw, of None a fresh one."""
    if rng is None or isinstance(rng, np.random.Generator):
        return int(as_generator(rng).integers(2**63))
    return integer("rng", rng, least=0)


@lru_cache(maxsize=1024)
def _digits(seed: int, message: int, bits: int) -> int:
    words = np.random.default_rng([seed, message]).integers(
        0, 2**64, size=-(-bits // 64), dtype=np.uint64
    )
    point = int.from_bytes(words.astype(">u8").tobytes(), "big")
    return point >> (64 * len(words) - bits)
