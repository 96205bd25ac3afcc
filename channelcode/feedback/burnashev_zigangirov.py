"""The scheme of Burnashev and Zigangirov (1974): bisection that bears unknown, bounded noise."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np

from channelcode._validation import Array, Seed, integer, number
from channelcode.channels import BinarySymmetric
from channelcode.errors import InvalidArgument
from channelcode.feedback.choices import entropy
from channelcode.feedback.horstein import binary_crossover
from channelcode.feedback.scheme import LetterScheme, State, message_index
from channelcode.measures.base import Immutable


class BinState(State, Immutable):
    """A working posterior over bins, and the boundary to ask about next. Immutable.

    Its masses come from the update with `alpha`, so they are weights to choose questions by and not
    probabilities of the bins; the guarantee is `BurnashevZigangirov.error_bound`.
    """

    __slots__ = ("_bound", "_law", "_query", "_time")
    _law: Array
    _query: int
    _time: int
    _bound: float

    @property
    def time(self) -> int:
        return self._time

    @property
    def messages(self) -> int:
        return len(self._law)

    @property
    def law(self) -> Array:
        """The working posterior over the bins, `(bins,)`."""
        return self._law

    @property
    def query(self) -> int:
        """The boundary to ask about: is the message in one of the bins 0 .. query - 1?"""
        return self._query

    @property
    def best(self) -> int:
        """The bin of the working median."""
        return median_bin(self._law)

    @property
    def probability(self) -> float:
        """The working mass of `best`."""
        return float(self._law[self.best])

    @property
    def error_bound(self) -> float:
        """The proved bound on P(best is wrong) after this many uses, at most one."""
        return self._bound

    @property
    def entropy_bits(self) -> float:
        """The entropy of the working posterior."""
        law = self._law[self._law > 0]
        return float(-(law * np.log2(law)).sum())

    def __repr__(self) -> str:
        return f"BinState({len(self._law)} bins, time={self._time}, query={self._query})"


class BurnashevZigangirov(LetterScheme):
    """Ask at an end of the median bin, drawn so that the mean imbalance vanishes; update gently.

    The update uses `alpha` above the crossover; whatever the noise is, as long as it never exceeds
    `crossover`, after n questions (Burnashev and Zigangirov; proof in docs/feedback.md)

        P(wrong bin) <= (bins - 1) { (1 - e) / (2 (1 - alpha)) + e / (2 alpha) }^n,

    least at `alpha = sqrt e / (sqrt e + sqrt(1 - e))`, the default: {1/2 + sqrt(e (1 - e))}^n. The
    draws follow from `rng` and the time, so that both ends know them.

    >>> scheme = BurnashevZigangirov(0.1, 8)
    >>> scheme.alpha, round(scheme.error_bound(20), 4)
    (0.25, 0.0807)
    """

    def __init__(
        self, crossover: float, bins: int, *, alpha: float | None = None, rng: Seed = 0
    ) -> None:
        self.crossover = binary_crossover(crossover)
        self.bins = integer("bins", bins, least=2)
        root, other = sqrt(self.crossover), sqrt(1.0 - self.crossover)
        self.alpha = root / (root + other) if alpha is None else number("alpha", alpha)
        if not self.crossover <= self.alpha < 0.5:
            rule = f"must lie between the crossover {self.crossover} and 1/2"
            raise InvalidArgument("alpha", rule, alpha)
        self.seed = entropy(rng)
        self._begin(BinarySymmetric(self.crossover), np.array([0.0, 1.0]), np.array([0.5, 0.5]))

    def start(self, messages: int | None = None) -> BinState:
        """Equal weights on all bins; `messages` is the number of bins, if given."""
        if messages is not None and integer("messages", messages, least=2) != self.bins:
            rule = f"must be the number of bins, {self.bins}, or be left out"
            raise InvalidArgument("messages", rule, messages)
        return self._state(np.full(self.bins, 1.0 / self.bins), 0)

    def letter(self, state: BinState, message: Any) -> int:
        """0 (yes) if the message's bin lies left of the boundary, else 1 (no)."""
        return 0 if message_index(message, self.bins) < state.query else 1

    def induced(self, state: BinState) -> tuple[float, ...]:
        left = float(state.law[: state.query].sum())
        return left, float(state.law[state.query :].sum())

    def update(self, state: BinState, output: int) -> BinState:
        return self._state(
            self.reweighted(state.law, state.query, self._output(output)), state.time + 1
        )

    def reweighted(self, law: Array, query: int, output: int) -> Array:
        """The working posterior after the answer to one question."""
        factor = np.full(self.bins, self.alpha if output == 0 else 1.0 - self.alpha)
        factor[:query] = 1.0 - self.alpha if output == 0 else self.alpha
        after = law * factor
        return after / after.sum()

    def choices(self, law: Array) -> tuple[tuple[int, float], tuple[int, float]]:
        """The two boundaries of the median bin with their chances; the mean imbalance is zero."""
        place = median_bin(law)
        below, inside = float(law[:place].sum()), float(law[place])
        chance = min(max((below + inside - 0.5) / inside, 0.0), 1.0)
        return (place, chance), (place + 1, 1.0 - chance)

    def error_bound(self, uses: int) -> float:
        """The proved bound on P(wrong bin) after `uses` questions; it may exceed one."""
        n = integer("uses", uses, least=0)
        e, alpha = self.crossover, self.alpha
        rate = log((1 - e) / (2 * (1 - alpha)) + e / (2 * alpha))
        return exp(log(self.bins - 1) + n * rate)

    def error_probability(self, uses: int, *, most: int = 200_000) -> float:
        """P(wrong bin) after `uses` questions, exactly, for a uniform message and full noise.

        All outputs and draws are followed, and equal laws joined; `most` limits their number.
        """
        from channelcode.feedback.theory.bins import exact_error

        return exact_error(self, integer("uses", uses, least=0), most)

    def _state(self, law: Array, time: int) -> BinState:
        (left, chance), (right, _) = self.choices(law)
        draw = np.random.default_rng([self.seed, time]).random()
        law.setflags(write=False)
        state = object.__new__(BinState)
        query = left if draw < chance else right
        state._set(_law=law, _query=query, _time=time, _bound=min(1.0, self.error_bound(time)))
        return state

    def __repr__(self) -> str:
        return f"BurnashevZigangirov(crossover={self.crossover!r}, bins={self.bins})"


def median_bin(law: Array) -> int:
    """The first bin at which the cumulated law reaches one half."""
    cumulated = np.cumsum(law)
    # sums of equal parts may fall short of one half by rounding
    return int(np.searchsorted(cumulated, 0.5 - 1e-13))
