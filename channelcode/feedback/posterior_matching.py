"""Posterior matching (Shayevitz and Feder, 2011) for any channel with finitely many outputs."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from math import log2, ulp
from numbers import Rational
from typing import Any

import numpy as np

from channelcode.capacity import CapacityResult, capacity
from channelcode.channels import Channel
from channelcode.constraints import Constraint, Unconstrained
from channelcode.errors import InvalidArgument
from channelcode.feedback.choices import Cuts, Dithered, Rounded, Shifted
from channelcode.feedback.intervals import regions, zipper
from channelcode.feedback.intervals.cells import LOG_ZERO
from channelcode.feedback.intervals.regions import Regions
from channelcode.feedback.intervals.state import MatchingState, matching_state
from channelcode.feedback.intervals.zipper import updated
from channelcode.feedback.scheme import LetterScheme, impossible, message_count, message_index
from channelcode.measures import DiscreteMeasure

START_BITS = 256  # digits after the point that a continuous axis starts with; it grows


class PosteriorMatching(LetterScheme):
    """Send the letter whose cell of the input law holds the message's posterior quantile.

        x_n = F*^-1( F_{n-1}(theta) ),    F*^-1(u) = letter j  where  c_{j-1} <= u < c_j,

    with F_{n-1} the posterior distribution function given n - 1 outputs and c_j = p_1 + ... + p_j.
    The letter then has law p whatever the outputs were, the outputs are independent with law q,
    and the information gathered is n I(p, W) exactly: n C for the capacity-achieving input.

    - `channel`: any channel with finitely many outputs;
    - `constraint`: what the input may spend; the letters are the atoms of the input that `capacity`
      finds and proves. Only a channel with a finite alphabet needs none;
    - `input`: a law of your own instead, whose atoms, in their order, are the letters;
    - `cuts`: `Rounded()`, `Dithered()` or `Shifted()`, for finitely many messages.

    Message ends are integers and masses have exponents of their own, so that any number of messages
    and of uses will do; a use costs time for the intervals that a cut passes only.

    >>> from channelcode import Logistic, Power
    >>> scheme = PosteriorMatching(Logistic(), Power(4.0))
    >>> state = scheme.start(messages=2**64)
    >>> scheme.encode(state, 2**63), scheme.encode(state, 2**63 - 1)
    (2.0, -2.0)
    >>> state = scheme.update(state, 1)
    >>> round(64 - state.entropy_bits, 6)
    0.472935
    """

    capacity: CapacityResult | None
    input: DiscreteMeasure

    def __init__(
        self,
        channel: Channel,
        constraint: Constraint | None = None,
        *,
        input: DiscreteMeasure | None = None,
        cuts: Cuts = Rounded(),
    ) -> None:
        if not isinstance(channel, Channel):
            raise InvalidArgument("channel", "must be a channel", channel)
        if not isinstance(cuts, Cuts):
            raise InvalidArgument("cuts", "must be Rounded(), Dithered() or Shifted()", cuts)
        if not isinstance(getattr(channel, "num_outputs", None), int | np.integer):
            rule = "must have finitely many outputs; SchalkwijkKailath is for Gaussian noise"
            raise InvalidArgument("channel", rule, channel)
        if input is None:
            if constraint is None and channel.inputs is None:
                rule = (
                    "must limit the input of a channel whose input is continuous: give Power(P), "
                    "Peak(A), or input=DiscreteMeasure(...)"
                )
                raise InvalidArgument("constraint", rule, constraint)
            limit = Unconstrained() if constraint is None else constraint
            self.capacity = capacity(channel, limit)
            law = self.capacity.input
        else:
            if constraint is not None:
                rule = "must be left out when input= is given: the input law is then yours"
                raise InvalidArgument("constraint", rule, constraint)
            if not isinstance(input, DiscreteMeasure):
                raise InvalidArgument("input", "must be a DiscreteMeasure", input)
            if input.dim != channel.dim:
                rule = f"must live in R^{channel.dim}, as the channel's input does"
                raise InvalidArgument("input", rule, f"dimension {input.dim}")
            self.capacity, law = None, input
        self._match(channel, law, cuts)

    @classmethod
    def from_capacity(cls, result: CapacityResult, *, cuts: Cuts = Rounded()) -> PosteriorMatching:
        """The scheme of a capacity that is known already.

        >>> from channelcode import ZChannel, Unconstrained, capacity
        >>> known = capacity(ZChannel(0.5), Unconstrained())
        >>> PosteriorMatching.from_capacity(known).weights.round(4)
        array([0.6, 0.4])
        """
        scheme = cls(result.problem.channel, input=result.input, cuts=cuts)
        scheme.capacity = result
        return scheme

    def _match(self, channel: Channel, law: DiscreteMeasure, cuts: Cuts) -> None:
        used = law.weights > 0
        self.input, self.cuts = law, cuts
        self._begin(channel, law.atoms[used], law.weights[used])
        rows = tuple(
            tuple((float(w), log2(w) if w > 0 else LOG_ZERO) for w in column)
            for column in self.matrix.T
        )
        self._likelihoods = rows
        self._two = len(self.weights) == 2 and not isinstance(cuts, Shifted)
        if self._two:
            self._rule = zipper.Rule.of(self.weights.tolist(), rows)
        self._ends = tuple(np.cumsum(self.weights)[:-1].tolist())
        self._last = self.matrix.shape[1]

    # The scheme -------------------------------------------------------------------------------

    def start(self, messages: int | None = None) -> MatchingState:
        """The uniform law on `messages` messages 0..messages-1, or on [0, 1) without a number."""
        count = None if messages is None else message_count(messages)
        exact = count is None or isinstance(self.cuts, Dithered)
        bits = START_BITS if exact else 0
        if self._two:
            core: zipper.Parts | Regions = zipper.begin(self._rule, count or 1, bits)
        else:
            core = regions.begin(self._layout(0)[0], count or 1, bits)
        return matching_state(core, 0, count)

    def letter(self, state: MatchingState, message: Any) -> int:
        parts: Any = state._parts
        core, time, count = parts
        if self._two and core[0] is not None and type(message) is int and not core[7]:
            if 0 <= message < core[0][1]:  # the common case without ceremony
                return 0
            if 0 < message < count:
                return 1
        core = state._core
        if count is None:
            lower, upper = _digits(message, core.bits)
        elif core.bits == 0:
            lower = upper = message_index(message, count)
        else:
            place = message_index(message, count)
            cuts = self.cuts
            inside = cuts.offset(place, core.bits) if isinstance(cuts, Dithered) else 0
            lower = upper = (place << core.bits) + inside
        piece = bisect_right(core.cuts, lower)
        if upper != lower and bisect_right(core.cuts, upper) != piece:
            rule = (
                "must have more digits: a float carries 53 bits, and a cut lies within its last "
                "one after this many uses; give a fractions.Fraction, or use start(messages=M)"
            )
            raise InvalidArgument("message", rule, message)
        return piece if self._two else self._layout(time)[1][piece]

    def update(self, state: MatchingState, output: int) -> MatchingState:
        parts: Any = state._parts
        core, time, count = parts
        place = output if type(output) is int and 0 <= output < self._last else self._output(output)
        if self._two:
            after = updated(self._rule, core, place)
        else:
            row = self._likelihoods[place]
            likelihoods = [row[letter] for letter in self._layout(time)[1]]
            after = regions.updated(core, likelihoods, self._layout(time + 1)[0])
        if after is None:
            raise impossible(output)
        return matching_state(after, time + 1, count)

    def induced(self, state: MatchingState) -> tuple[float, ...]:
        masses = state._core.masses
        if self._two:
            return masses
        law = [0.0] * len(self.weights)
        for letter, mass in zip(self._layout(state.time)[1], masses, strict=True):
            law[letter] += mass
        return tuple(law)

    def _layout(self, time: int) -> tuple[tuple[float, ...], tuple[int, ...]]:
        """The quantiles to cut at for the use after `time` uses, and the letter of each piece."""
        count = len(self.weights)
        if not isinstance(self.cuts, Shifted):
            return self._ends, tuple(range(count))
        shift = self.cuts.shift(time)
        first = bisect_right(self._ends, shift)
        letters = tuple((first + j) % count for j in range(count + 1))
        ends = (*self._ends, 1.0)
        cuts = [ends[letter] - shift + (place + first >= count) for place, letter in
                enumerate(letters[:-1])]  # fmt: skip
        return tuple(min(max(cut, 0.0), 1.0) for cut in cuts), letters

    def __repr__(self) -> str:
        inputs = f"{len(self.weights)} letters"
        extra = "" if isinstance(self.cuts, Rounded) else f", cuts={self.cuts!r}"
        return f"{type(self).__name__}({self.channel!r}, {inputs}{extra})"


def _digits(message: Any, bits: int) -> tuple[int, int]:
    """The first and the last place of a finer axis that the message may mean.

    A Fraction is one point; a float stands for all numbers that begin with its digits.
    """
    exact: Any = message
    if isinstance(message, bool | np.bool_) or not isinstance(
        message, Rational | float | np.floating
    ):
        rule = "must be a float or a fractions.Fraction in [0, 1): start() has a continuous message"
        raise InvalidArgument("message", rule, message)
    if not 0 <= exact < 1:
        raise InvalidArgument("message", "must lie in [0, 1)", message)
    if isinstance(message, Rational):
        place = (int(exact.numerator) << bits) // int(exact.denominator)
        return place, place
    exact = Fraction(float(message))
    lower = (exact.numerator << bits) // exact.denominator
    following = exact + Fraction(ulp(float(message)))
    upper = -((-following.numerator << bits) // following.denominator) - 1
    return lower, max(lower, upper)
