"""What a feedback coding scheme is: start, encode, update; and what can be read from its state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from channelcode._numerics.divergence import pointwise_divergence
from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array, integer, read_only
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument


class State(ABC):
    """What both ends know after some uses: the posterior of the message. Immutable."""

    __slots__ = ()

    @property
    @abstractmethod
    def time(self) -> int:
        """How often the channel has been used."""

    @property
    @abstractmethod
    def messages(self) -> int | None:
        """How many messages there are; None for a continuous message."""

    @property
    @abstractmethod
    def best(self) -> Any:
        """The most probable message."""

    @property
    @abstractmethod
    def probability(self) -> float:
        """The posterior probability of `best`."""

    @property
    @abstractmethod
    def error_bound(self) -> float:
        """The probability that `best` is wrong, without cancellation."""

    @property
    @abstractmethod
    def entropy_bits(self) -> float:
        """The entropy of the message given the outputs, in bits."""


class Scheme(ABC):
    """A feedback code: both ends hold the same state, and the encoder also the message.

    - `start(messages=M)`: the state before the first use;
    - `encode(state, message)`: what to send;
    - `update(state, output)`: the state after an output, the same at both ends.
    """

    @abstractmethod
    def start(self, messages: int | None = None) -> State:
        """The state before the first use."""

    @abstractmethod
    def encode(self, state: Any, message: Any) -> Any:
        """The channel input to send, in the channel's own units."""

    @abstractmethod
    def update(self, state: Any, output: Any) -> State:
        """The state after one more output; the old state stays as it is."""

    @abstractmethod
    def respond(self, letter: Any, rng: np.random.Generator, channel: Channel | None = None) -> Any:
        """An output of the channel (or of another one) for this input."""


class LetterScheme(Scheme):
    """A scheme for a channel with finitely many letters and outputs.

    `letters` `(m,)` or `(m, dim)` in the order of the cuts, `weights` `(m,)` their input law p,
    `matrix` `(m, |Y|)` the laws of the output, `output` q = pW, `information_bits` I(p, W).
    """

    channel: Channel
    letters: Array
    weights: Array
    matrix: Array
    output: Array
    information_bits: float

    def _begin(self, channel: Channel, letters: Array, weights: Array) -> None:
        self.channel = channel
        self.letters, self.weights = read_only(letters), read_only(weights)
        self._values = self.letters.tolist() if self.letters.ndim == 1 else list(self.letters)
        self.matrix = read_only(channel.prob(letters))
        self.output = read_only(self.weights @ self.matrix)
        self._divergences = pointwise_divergence(self.matrix, self.output) / LOG_TWO
        self.information_bits = float(self.weights @ self._divergences)
        self._cumulative = np.cumsum(self.matrix, axis=1)[:, :-1].tolist()

    @abstractmethod
    def letter(self, state: Any, message: Any) -> int:
        """The place of the letter to send in `letters`."""

    @abstractmethod
    def induced(self, state: Any) -> tuple[float, ...]:
        """The law of the next letter given the outputs so far, `(m,)`."""

    def encode(self, state: Any, message: Any) -> Any:
        return self._values[self.letter(state, message)]

    def respond(self, letter: Any, rng: np.random.Generator, channel: Channel | None = None) -> Any:
        return int((self.channel if channel is None else channel).sample(letter, rng=rng))

    def predictive(self, state: Any) -> Array:
        """The law of the next output given the outputs so far, `(|Y|,)`."""
        return np.asarray(self.induced(state)) @ self.matrix

    def loss_bits(self, induced: Array) -> Array:
        """I(p, W) - I(p_t, W) in bits for induced laws `(..., m)`: what rounding costs a use.

        D(q_t || q) + sum_x (p(x) - p_t(x)) D(W_x || q), an identity for any p. At the capacity
        -achieving p* the second term vanishes, and the loss C - I(p_t) is D(q_t || q*).
        """
        laws = np.asarray(induced, dtype=np.float64)
        shift = (self.weights - laws) @ self._divergences
        return pointwise_divergence(laws @ self.matrix, self.output) / LOG_TWO + shift

    def gain_bits(self, induced: Array) -> Array:
        """I(p_t, W) in bits for induced laws `(..., m)`: what a use tells, on average."""
        laws = np.asarray(induced, dtype=np.float64)
        rows = pointwise_divergence(self.matrix, (laws @ self.matrix)[..., None, :])
        return (laws * rows).sum(axis=-1) / LOG_TWO

    def _output(self, output: Any) -> int:
        if type(output) is int and 0 <= output < self.matrix.shape[1]:
            return output
        place = integer("output", output, least=0)
        if place >= self.matrix.shape[1]:
            rule = f"must be one of the outputs 0..{self.matrix.shape[1] - 1}"
            raise InvalidArgument("output", rule, output)
        return place


def impossible(output: int) -> InvalidArgument:
    """The error for an output that cannot follow the outputs so far."""
    rule = (
        "must be possible after the outputs so far; it has probability zero: check that the scheme "
        "is built for this channel and that no output was left out or swapped"
    )
    return InvalidArgument("output", rule, output)


def message_count(messages: Any) -> int:
    """The number of messages, at least two."""
    if type(messages) is int and messages >= 2:
        return messages
    return integer("messages", messages, least=2)


def message_index(message: Any, messages: int) -> int:
    """The message as an int in 0..messages-1."""
    if type(message) is int and 0 <= message < messages:
        return message
    place = integer("message", message, least=0)
    if place >= messages:
        bits = messages.bit_length() - 1
        last = str(messages - 1) if bits < 64 else f"messages - 1 (messages has {bits + 1} bits)"
        raise InvalidArgument("message", f"must be one of 0..{last}", message)
    return place
