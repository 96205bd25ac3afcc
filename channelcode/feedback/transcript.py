"""One transmission: send, hear, update until the stop; and its record, which can prove itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np

from channelcode._validation import Array, Seed, as_generator
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument, NotConverged
from channelcode.feedback.choices import Confidence, Either, Shifted, Stop, as_stop
from channelcode.feedback.scheme import LetterScheme, Scheme

NO_GAIN = 1e-13  # bits: a use that tells less than this tells nothing
SHIFTS = 100  # this many shifts in a row that tell nothing: no shift will
STUCK = (
    "the outputs can no longer tell the remaining messages apart (see fixed_points): use "
    "cuts=Shifted(), another order of the letters, an input without letters that are alike, or "
    "stop=Uses(n)"
)


@dataclass(frozen=True)
class Transcript:
    """What was sent, heard and decoded, with what is proved about it.

    - `decoded`: the most probable message at the end; `uses`, and `rate_bits` = log2 M / uses;
    - `error_bound`: the posterior probability that `decoded` is wrong (None for a continuous
      message);
    - `loss_bits` `(uses,)`: the certified rate loss of each use, I(p, W) - I(p_t, W), which at the
      capacity-achieving input is D(q_t || q*); `gain_bits` `(uses,)` is what each use tells;
    - `information_bits`: the sum of the gains, what was gathered in all;
    - `truth_bits` `(uses,)`: log2 of the posterior density at the true message after each use.

    The last four are None for a scheme without letters (`SchalkwijkKailath`). `replay()` does it
    all again from the outputs alone.
    """

    scheme: Any
    message: Any
    messages: int | None
    stop: Stop
    letters: tuple[Any, ...]
    outputs: tuple[Any, ...]
    induced: tuple[tuple[float, ...], ...]
    decoded: Any
    error_bound: float | None

    @property
    def uses(self) -> int:
        """How often the channel was used."""
        return len(self.outputs)

    @property
    def correct(self) -> bool:
        """Whether the decoded message is the one that was sent."""
        return self.decoded == self.message

    @property
    def rate_bits(self) -> float:
        """log2 of the number of messages over the number of uses; infinite without uses."""
        if self.messages is None:
            rule = "needs finitely many messages: use information_bits"
            raise InvalidArgument("rate_bits", rule, "a continuous message")
        return log2(self.messages) / self.uses if self.uses else float("inf")

    @property
    def gain_bits(self) -> Any:
        """I(p_t, W) of each use in bits, `(uses,)`."""
        if not isinstance(self.scheme, LetterScheme):
            return None
        return self.scheme.gain_bits(self._laws(self.scheme))

    @property
    def loss_bits(self) -> Any:
        """The certified rate loss of each use in bits, `(uses,)`."""
        if not isinstance(self.scheme, LetterScheme):
            return None
        return self.scheme.loss_bits(self._laws(self.scheme))

    @property
    def information_bits(self) -> float | None:
        """The sum of `gain_bits`."""
        gains = self.gain_bits
        return None if gains is None else float(gains.sum())

    @property
    def truth_bits(self) -> Any:
        """log2 of the posterior density at the true message after each use, `(uses,)`."""
        if not isinstance(self.scheme, LetterScheme):
            return None
        matrix = self.scheme.matrix
        letters, outputs = np.array(self.letters, dtype=int), np.array(self.outputs, dtype=int)
        chance = (self._laws(self.scheme) @ matrix)[np.arange(self.uses), outputs]
        with np.errstate(divide="ignore"):
            return np.cumsum(np.log2(matrix[letters, outputs] / chance))

    def states(self) -> Iterator[Any]:
        """The states from the start to the end, `uses + 1` of them."""
        state = self.scheme.start(messages=self.messages)
        yield state
        for output in self.outputs:
            state = self.scheme.update(state, output)
            yield state

    def replay(self) -> Transcript:
        """The same transmission from its outputs alone; equal to this one, or an error."""
        heard = iter(self.outputs)
        again = _run(
            self.scheme, self.message, self.messages, self.stop, lambda _: next(heard, None)
        )
        if again != self:
            rule = "must be those of this scheme, message and stop: the replay differs"
            raise InvalidArgument("outputs", rule, f"{self.uses} outputs")
        return again

    def _laws(self, scheme: LetterScheme) -> Array:
        return np.array(self.induced).reshape(self.uses, len(scheme.weights))

    def __repr__(self) -> str:
        bound = "" if self.error_bound is None else f", error_bound={self.error_bound:.3g}"
        right = "right" if self.correct else "not the message"
        return f"Transcript({self.scheme!r}, {self.uses} uses, {right}{bound})"


def transmit(
    scheme: Scheme,
    message: Any,
    *,
    messages: int | None = None,
    stop: Stop,
    rng: Seed = None,
    channel: Channel | None = None,
) -> Transcript:
    """Send one message through the simulated channel, with feedback, until the stop.

    `messages` is the number of messages (None: a continuous message in [0, 1)), `stop` is `Uses(n)`
    or `Confidence(error)`, or both joined by `|`. `channel` is the true one where it is not the one
    that the scheme was built for.

    >>> from channelcode.feedback import Confidence, Horstein
    >>> run = transmit(Horstein(0.11), 2024, messages=2**16, stop=Confidence(1e-3), rng=1)
    >>> run.decoded, run.error_bound <= 1e-3
    (2024, True)
    """
    if not isinstance(scheme, Scheme):
        raise InvalidArgument("scheme", "must be a scheme such as Horstein(0.1)", scheme)
    rule = as_stop(stop)
    generator = as_generator(rng)
    return _run(
        scheme, message, messages, rule, lambda letter: scheme.respond(letter, generator, channel)
    )


def _run(
    scheme: Scheme, message: Any, messages: int | None, stop: Stop, respond: Any
) -> Transcript:
    state: Any = scheme.start(messages=messages)
    if state.messages is None and _needs_confidence(stop):
        rule = "must be Uses(n): a continuous message is never known for certain"
        raise InvalidArgument("stop", rule, stop)
    by_letter = isinstance(scheme, LetterScheme)
    # a shift may ask something else the next time; without one the next use is the same
    patience = SHIFTS if isinstance(getattr(scheme, "cuts", None), Shifted) else 0
    confident, dull = isinstance(stop, Confidence), 0
    letters, outputs, induced = [], [], []

    def record() -> Transcript:
        bound = None if state.messages is None else state.error_bound
        return Transcript(
            scheme, message, state.messages, stop, tuple(letters), tuple(outputs), tuple(induced),
            state.best, bound,
        )  # fmt: skip

    if stop.done(state):
        scheme.encode(state, message)  # a message out of range is an error all the same
    while not stop.done(state):
        if by_letter:
            law = scheme.induced(state)
            place = scheme.letter(state, message)
            dull = dull + 1 if confident and _tells_nothing(scheme, law) else 0
            if dull > patience:
                raise NotConverged(STUCK, record())
            value = scheme.letters[place]
        else:
            law, place = (), scheme.encode(state, message)
            value = place
        output = respond(value)
        if output is None:
            raise InvalidArgument("outputs", "must last until the stop", f"{len(outputs)} outputs")
        state = scheme.update(state, output)
        letters.append(place)
        outputs.append(output)
        induced.append(law)
    return record()


def _needs_confidence(stop: Stop) -> bool:
    if isinstance(stop, Either):
        return _needs_confidence(stop.first) or _needs_confidence(stop.second)
    return isinstance(stop, Confidence)


def _tells_nothing(scheme: LetterScheme, law: tuple[float, ...]) -> bool:
    """Whether every letter that may be sent has the same law of the output."""
    rows = [row for row, weight in zip(scheme.matrix, law, strict=True) if weight > 0]
    if len(rows) > 1 and any(not np.array_equal(row, rows[0]) for row in rows[1:]):
        return False
    return bool(scheme.gain_bits(np.array(law)) < NO_GAIN)
