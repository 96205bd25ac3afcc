"""Several labellers, each with a channel and a price: their channels as one, chosen by a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from apm.encoders.base import Encoder
from apm.pools.inputs import as_dense
from channelcode._validation import Array, integer, positive
from channelcode.channels import Channel, Logistic, Softmax, UnknownLapse
from channelcode.channels.base import Derivatives
from channelcode.errors import InvalidArgument

NOT_COMPARABLE = (
    "must be one channel for posterior matching: distances to different channels' targets are not "
    "comparable across experts (a useless channel is matched perfectly); use GainPerCost()"
)
RATE_SHIFT = -1.3862943611198906  # logit 0.2: v = 0 is a rate of a fifth of the largest, as 0.1


@dataclass(frozen=True)
class Expert:
    """A labeller: the channel from l to the answer, the price of an answer, a name.

    A channel `UnknownLapse(channel, symmetric=True)` says that the rate of wrong answers is not
    known: it becomes one more parameter, learnt along with the others.

    >>> from channelcode import Lapse, Logistic
    >>> Expert(Lapse(Logistic(), 0.2, 0.2), 1.0, "student").cost
    1.0
    """

    channel: Channel
    cost: float
    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.channel, Channel) or self.channel.inputs is not None:
            rule = "must be a channel with a continuous input"
            raise InvalidArgument("channel", rule, self.channel)
        object.__setattr__(self, "cost", positive("cost", self.cost))
        if not isinstance(self.name, str) or not self.name:
            raise InvalidArgument("name", "must be a text that is not empty", self.name)

    @property
    def rate_is_unknown(self) -> bool:
        """Whether the rate of wrong answers is a parameter."""
        return isinstance(self.channel, UnknownLapse)

    @property
    def dim(self) -> int:
        """The dimension of l, without a rate."""
        return 1 if self.rate_is_unknown else int(self.channel.dim)


@dataclass(frozen=True)
class LapseByLogit(Channel):
    """A channel with an unknown lapse rate, as a function of (l, v).

    The rate is `r = r_max sigma(v + logit 0.2)`, any v is allowed, and v = 0 is a fifth of r_max.
    """

    channel: UnknownLapse
    dim = 2
    num_outputs = 2
    same_units = False

    def rate(self, v: ArrayLike) -> Array:
        """The lapse rate at v."""
        return np.asarray(self.channel.largest_rate * expit(np.asarray(v) + RATE_SHIFT))

    def log_prob(self, l: Any) -> Array:
        inner = np.stack([l[..., 0], self.rate(l[..., 1])], axis=-1)
        return self.channel.log_prob(inner)


@dataclass(frozen=True)
class Chosen(Channel):
    """The channels of several experts as one: p(y | l, e) = W_e(y | l), the input is (l, e).

    Where a rate is unknown there is a last coordinate v for it (`LapseByLogit`). What the
    coordinates mean differs, and distances to different channels' targets cannot be compared (a
    useless channel is matched perfectly), so that posterior matching refuses it: information is the
    currency across experts. `truth` is the channel of the label itself, whoever may answer: the
    logistic one, or the softmax, if it is not given.

    >>> from channelcode import Lapse, Logistic
    >>> sure, unsure = Expert(Logistic(), 3, "a"), Expert(Lapse(Logistic(), 0.4, 0.4), 1, "b")
    >>> Chosen((sure, unsure)).prob([[2.0, 0.0], [2.0, 1.0]]).round(3)
    array([[0.119, 0.881],
           [0.424, 0.576]])
    """

    experts: tuple[Expert, ...]
    truth: Channel | None = None
    same_units = False
    not_comparable = NOT_COMPARABLE

    def __post_init__(self) -> None:
        members = tuple(self.experts)
        if not members or not all(isinstance(member, Expert) for member in members):
            raise InvalidArgument("experts", "must be one Expert or more", self.experts)
        if len({member.name for member in members}) != len(members):
            names = [member.name for member in members]
            raise InvalidArgument("experts", "must have different names", names)
        shapes = {(member.dim, int(member.channel.num_outputs)) for member in members}
        if len(shapes) != 1:
            rule = "must all have channels with the same input and the same number of outputs"
            raise InvalidArgument("experts", rule, sorted(shapes))
        object.__setattr__(self, "experts", members)
        shape = self.inner_dim, self.num_outputs
        known = self.truth is None or isinstance(self.truth, Channel)
        if not known or (self.label_channel.dim, self.label_channel.num_outputs) != shape:
            rule = "must be a channel with the input and outputs of the experts"
            raise InvalidArgument("truth", rule, self.truth)

    @property
    def inner_dim(self) -> int:
        """The dimension of l, without the number of the expert."""
        return self.experts[0].dim

    @property
    def label_channel(self) -> Channel:
        """The channel of the label itself."""
        if self.truth is not None:
            return self.truth
        return Logistic() if self.inner_dim == 1 else Softmax(self.inner_dim)

    @property
    def unknown(self) -> list[int]:
        """The experts whose rate is a parameter."""
        return [e for e, member in enumerate(self.experts) if member.rate_is_unknown]

    @property
    def dim(self) -> int:
        return self.inner_dim + 1 + bool(self.unknown)

    @property
    def num_outputs(self) -> int:
        return int(self.experts[0].channel.num_outputs)

    @cached_property
    def costs(self) -> Array:
        """The price of an answer of each expert, `(e,)`."""
        return np.array([member.cost for member in self.experts])

    def of(self, name: Any) -> int:
        """The number of an expert from its name or number, or the expert itself."""
        names = [member.name for member in self.experts]
        if isinstance(name, Expert):
            name = name.name
        if isinstance(name, str):
            if name not in names:
                raise InvalidArgument("expert", f"must be one of {names}", name)
            return names.index(name)
        number = integer("expert", name, least=0)
        if number >= len(names):
            raise InvalidArgument("expert", f"must be a number below {len(names)}, or a name", name)
        return number

    def part(self, expert: int) -> Channel:
        """What an expert's own coordinates of the input go through."""
        member = self.experts[expert].channel
        return LapseByLogit(member) if isinstance(member, UnknownLapse) else member

    def own_input(self, expert: int, l: Any) -> Any:
        """The coordinates of the input that an expert's channel reads."""
        if self.experts[expert].rate_is_unknown:
            return l[..., [0, self.dim - 1]]
        return l[..., 0] if self.inner_dim == 1 else l[..., : self.inner_dim]

    def numbers(self, l: Any) -> Any:
        """The number of the expert of each input; one that is not a number of these is refused."""
        given = l[..., self.inner_dim]
        nearest = np.rint(given)
        wrong = (np.abs(given - nearest) > 1e-6) | (nearest < 0) | (nearest >= len(self.experts))
        if wrong.any():
            rule = f"must have an expert's number in 0..{len(self.experts) - 1} after l"
            raise InvalidArgument("l", rule, float(given[wrong].ravel()[0]))
        return nearest.astype(np.intp)

    def log_prob(self, l: Any) -> Array:
        numbers = self.numbers(l)
        logs = np.empty((*l.shape[:-1], self.num_outputs))
        for expert in np.unique(numbers):
            where = numbers == expert
            logs[where] = self.part(expert).log_prob(self.own_input(expert, l[where]))
        return logs

    def derivatives(self, l: Any) -> Derivatives:
        """Derivatives along what an expert's channel reads; along his number there are none."""
        last = len(self.experts) - 1
        numbers = np.clip(np.rint(l[..., self.inner_dim]), 0, last).astype(np.intp)
        shape = (*l.shape[:-1], self.num_outputs)
        gradient = np.zeros((*shape, self.dim))
        hessian = np.zeros((*shape, self.dim, self.dim))
        for expert in np.unique(numbers):
            where = numbers == expert
            found = self.part(expert).derivatives(self.own_input(expert, l[where]))
            places = list(range(self.inner_dim))
            if self.experts[expert].rate_is_unknown:
                places = [0, self.dim - 1]
            size = len(places)
            slope = np.zeros((*found.gradient.shape[:2], self.dim))
            slope[..., places] = found.gradient.reshape(*slope.shape[:2], size)
            bend = np.zeros((*slope.shape, self.dim))
            bend[..., np.array(places)[:, None], places] = found.hessian.reshape(
                *slope.shape[:2], size, size
            )
            gradient[where], hessian[where] = slope, bend
        return Derivatives(gradient, hessian)


@dataclass(frozen=True)
class WithExpert(Encoder):
    """The encoder of (example, expert) pairs: rows (x, e), the channel input (l, e) of `Chosen`.

    `encoder` gives l, and has `count` parameters; unknown rates have one more each, at the end.
    """

    encoder: Encoder
    channel: Chosen
    count: int

    def __post_init__(self) -> None:
        integer("count", self.count, least=1)

    @property
    def num_parameters(self) -> int:  # type: ignore[override]
        """Those of the encoder, and one for each unknown rate."""
        return self.count + len(self.channel.unknown)

    @property
    def has_jacobian(self) -> bool:
        return self.encoder.has_jacobian

    def inputs(self, theta: ArrayLike, X: ArrayLike) -> Array:
        draws = np.asarray(theta, dtype=np.float64)
        rows, numbers = self._split(X)
        k = self.channel.inner_dim
        own = draws[:, : self.count]
        if self.encoder.is_linear and k > 1:
            own = own.reshape(len(own), k, -1)
        found = np.asarray(self.encoder.inputs(own, rows), dtype=np.float64)
        values = np.zeros((len(rows), len(draws), self.channel.dim))
        values[..., :k] = found.reshape(len(rows), len(draws), k)
        values[..., k] = numbers[:, None]
        for place, expert in enumerate(self.channel.unknown):
            values[numbers == expert, :, -1] = draws[:, self.count + place]
        return values

    def jacobian(self, theta: ArrayLike, X: ArrayLike) -> Array:
        at = np.asarray(theta, dtype=np.float64)
        if at.ndim == 2:
            return super().jacobian(at, X)
        rows, numbers = self._split(X)
        k = self.channel.inner_dim
        found = np.asarray(self.encoder.jacobian(at[: self.count], rows), dtype=np.float64)
        if self.encoder.is_linear and k > 1:
            found = np.einsum("jk,np->njkp", np.eye(k), found).reshape(len(rows), k, -1)
        slopes = np.zeros((len(rows), self.channel.dim, self.num_parameters))
        slopes[:, :k, : self.count] = found.reshape(len(rows), k, self.count)
        for place, expert in enumerate(self.channel.unknown):
            slopes[numbers == expert, -1, self.count + place] = 1.0
        return slopes

    def _split(self, X: ArrayLike) -> tuple[Any, Any]:
        matrix = as_dense(X)
        if matrix.shape[1] < 2:
            rule = "must have an expert's number as its last column"
            raise InvalidArgument("X", rule, f"shape {matrix.shape}")
        return matrix[:, :-1], np.rint(matrix[:, -1]).astype(np.intp)
