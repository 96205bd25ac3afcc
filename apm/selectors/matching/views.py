"""Through which channel posterior matching looks at a candidate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apm.belief import Belief
from apm.power import Candidates, PowerPolicy
from channelcode._validation import Array
from channelcode.channels import AdditiveGaussian, Channel, Logistic, Softmax
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool, GaussianPool, Pool, ScalarPool, ScaledPool

PAIR_POWER = 2.0  # |e_a - e_b|^2, so E(l_a - l_b)^2 <= 2 E|L|^2, with equality for K = 2


@dataclass(frozen=True)
class View:
    """A channel and the induced laws of its input, one for each candidate.

    `pairs` `(n, 2)` holds the contested classes where the input is a difference of two logits.
    `gain` is how much larger the power of this input may be than that of the belief's own input.
    """

    channel: Channel
    laws: Pool
    pairs: NDArray[np.intp] | None = None
    gain: float = 1.0

    def budget(self, policy: PowerPolicy, belief: Belief, X: Any, *, radius: float | None) -> float:
        """The budget P in the units of this channel's input.

        A spectral budget bounds the belief's own input, so it is multiplied by `gain`; the pool's
        maximum is taken over the laws of this view; a fixed budget is in this channel's units.
        """
        return policy.amount(Candidates(belief, X, radius, self.laws, self.gain, self.channel))


class ChannelChoice(ABC):
    """A rule that says which channel posterior matching uses for each candidate."""

    @abstractmethod
    def view(self, belief: Belief, laws: Pool) -> View:
        """The channel, and the laws of its input made from those of the belief's channel."""

    @abstractmethod
    def describe(self, belief: Belief) -> str:
        """The choice in words."""


@dataclass(frozen=True)
class AllClasses(ChannelChoice):
    """The belief's own channel: for K classes the softmax, whose target is a simplex.

    Below the power u* the target is on-off: zero, or one of K vertices (theory of the capacity).

    >>> from apm import APM, Belief
    >>> from apm.posteriors import Bohning
    >>> APM(channel=AllClasses()).scores(Belief(Bohning(3, 1.0)), [[0.0], [1.0]]).round(3)
    array([-2.   , -1.068])
    """

    def view(self, belief: Belief, laws: Pool) -> View:
        return View(belief.channel, laws)

    def describe(self, belief: Belief) -> str:
        return "the label's own"


@dataclass(frozen=True)
class ContestedPair(ChannelChoice):
    """The logistic channel between the two likeliest classes a and b of each candidate.

    Given that the label is a or b, `P(a) = 1 / (1 + exp(-l))` with `l = l_a - l_b`: a logistic
    channel with the mean `m_a - m_b` and the variance `S_aa + S_bb - 2 S_ab` under the posterior.
    For K = 2 this is the whole channel, and a binary scalar channel is left as it is.

    >>> from apm import APM, Belief
    >>> from apm.posteriors import Bohning
    >>> APM(channel=ContestedPair()).scores(Belief(Bohning(3, 1.0)), [[0.0], [1.0]]).round(3)
    array([-4.   , -1.486])
    """

    def view(self, belief: Belief, laws: Pool) -> View:
        channel = belief.channel
        if channel.dim == 1 and channel.num_outputs == 2:
            return View(channel, laws)
        if not isinstance(channel, Softmax):
            raise InvalidArgument("channel", "must be a softmax to have a contested pair", channel)
        if not isinstance(laws, GaussianPool | EmpiricalPool):
            raise InvalidArgument("laws", "must be Gaussian or empirical", laws)
        pairs = contested(laws.mean)
        return View(Logistic(), pair_laws(laws, pairs), pairs, PAIR_POWER)

    def describe(self, belief: Belief) -> str:
        if belief.channel.dim == 1:
            return "the label's own"
        return "between the two likeliest classes"


@dataclass(frozen=True)
class Through(ChannelChoice):
    """A channel of the user's own in place of the belief's, with the same input."""

    channel: Channel

    def view(self, belief: Belief, laws: Pool) -> View:
        if self.channel.dim != laws.dim:
            raise InvalidArgument("channel", f"must have dim {laws.dim}", self.channel)
        return View(self.channel, laws)

    def describe(self, belief: Belief) -> str:
        return repr(self.channel)


def as_choice(channel: Any) -> ChannelChoice:
    """A channel choice as it is, a channel as `Through(channel)`, None as `AllClasses()`."""
    if channel is None:
        return AllClasses()
    if isinstance(channel, ChannelChoice):
        return channel
    if isinstance(channel, Channel):
        return Through(channel)
    rule = "must be AllClasses(), ContestedPair(), a channel or None"
    raise InvalidArgument("channel", rule, channel)


def known_view(channel: Any) -> str | None:
    """Why a choice of channel may need all rows at once: it is none of the library's."""
    choice = as_choice(channel)
    if type(choice) in (AllClasses, ContestedPair, Through):
        return None
    return f"the choice of channel {type(choice).__name__} is not known to go by rows"


def known_slope(channel: Any, belief: Belief, *, exact: bool = False) -> str | None:
    """Why the noise of a message needs all rows: its slopes are tabled up to the largest."""
    from apm.selectors.matching.input_noise import bend

    choice, own = as_choice(channel), belief.channel
    if isinstance(choice, Through):
        own = choice.channel
    elif own.dim > 1:
        own = Logistic()
    if bend(own) is not None and (not exact or type(own) is AdditiveGaussian):
        return None
    return f"slopes of {type(own).__name__} behind noise are tabled up to the largest of the pool"


def contested(mean: Array) -> NDArray[np.intp]:
    """The two largest logits of each row, likeliest first, ties to the lower class: `(n, 2)`.

    >>> contested(np.array([[0.0, 2.0, 1.0], [3.0, 3.0, 3.0]]))
    array([[1, 2],
           [0, 1]])
    """
    rows = np.arange(len(mean))
    first = np.argmax(mean, axis=1)
    others = mean.copy()
    others[rows, first] = -np.inf
    return np.stack((first, np.argmax(others, axis=1)), axis=1)


def pair_laws(laws: GaussianPool | EmpiricalPool, pairs: NDArray[np.intp]) -> Pool:
    """The laws of l_a - l_b for the pair (a, b) of each candidate."""
    rows = np.arange(len(laws))
    first, second = pairs[:, 0], pairs[:, 1]
    if isinstance(laws, EmpiricalPool):
        draws = laws.samples
        return EmpiricalPool(draws[rows, :, first] - draws[rows, :, second], laws.weights)
    mean = laws.mean[rows, first] - laws.mean[rows, second]
    if isinstance(laws, ScaledPool):
        form = laws.shape
        variance = laws.scale * (
            form[first, first] + form[second, second] - 2 * form[first, second]
        )
    else:
        spread = laws.covariance
        variance = (
            spread[rows, first, first]
            + spread[rows, second, second]
            - 2 * spread[rows, first, second]
        )
    # the variance of a difference: what falls below zero is rounding
    return ScalarPool(mean, np.maximum(variance, 0.0))
