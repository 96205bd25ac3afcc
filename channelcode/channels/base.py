"""The channel: a label's law given the channel input, and all that follows from it."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from channelcode._numerics.differentiate import from_values, steps
from channelcode._numerics.divergence import missed, pointwise_divergence
from channelcode._numerics.logspace import plogp
from channelcode._validation import (
    Array,
    Seed,
    as_generator,
    distribution,
    finite_array,
    of_arrays,
    real_array,
)
from channelcode.channels.tails import Tails
from channelcode.errors import InvalidArgument


class Derivatives(NamedTuple):
    """Gradient and Hessian, in the channel input, of each log-probability (nats).

    Shapes `(..., num_outputs)` each for a scalar channel; `(..., num_outputs, dim)` and
    `(..., num_outputs, dim, dim)` for a vector channel.
    """

    gradient: Array
    hessian: Array


class Channel(ABC):
    """A memoryless channel p(y | l) with input l in R^dim and outputs 0 .. num_outputs - 1.

    A new channel sets `dim` and `num_outputs` (as class attributes or in `__init__`) and writes
    `log_prob`; everything else follows. Inputs are checked before `log_prob` runs: it receives a
    finite float64 array, of shape `(...)` when `dim` is 1 and `(..., dim)` otherwise.

    A channel whose outputs are real numbers, or counts without end, sets `support` (a pair
    (low, high), `Interval` or `Counts`) and writes `log_density(y, l)` instead: arrays that
    broadcast, in nats. `domain` is the range of inputs it takes, on the line. Both are called with
    arrays; code for single numbers (`math`, `if`) is refused by name.

    >>> import numpy as np
    >>> class Coin(Channel):
    ...     dim, num_outputs = 1, 2
    ...     def log_prob(self, l):
    ...         return np.log(np.stack([0.6 - 0.1 * np.tanh(l), 0.4 + 0.1 * np.tanh(l)], axis=-1))
    >>> Coin().prob(0.0)
    array([0.6, 0.4])
    """

    dim: Any
    num_outputs: Any
    support: Any = None
    domain: tuple[float, float] = (-np.inf, np.inf)
    #: False where the coordinates of the input have different units, so that |l| means nothing.
    same_units: bool = True
    _final: ClassVar[tuple[str, ...]] = ("prob", "sample", "conditional_entropy", "divergence")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in Channel._final:
            if name in cls.__dict__:
                raise TypeError(
                    f"{cls.__name__}.{name} is derived from log_prob: do not override it"
                )
        if "log_prob" in cls.__dict__:
            cls.log_prob = _checked(cls.__dict__["log_prob"], checks_values=True)
            # what a parent promised, and its formulas, were about its own log_prob
            if "tails" not in cls.__dict__:
                cls.tails = Channel.tails
            if "derivatives" not in cls.__dict__:
                cls.derivatives = Channel.derivatives
        elif "log_density" in cls.__dict__:
            cls.log_prob = _endless
            cls.log_density = _checked_density(cls.__dict__["log_density"])
            if not hasattr(cls, "num_outputs"):
                cls.num_outputs = np.inf
            if not hasattr(cls, "dim"):
                cls.dim = 1
        if "derivatives" in cls.__dict__:
            cls.derivatives = _checked(cls.__dict__["derivatives"], checks_values=False)

    @property
    def inputs(self) -> Array | None:
        """The letters of a finite channel, `(n,)` or `(n, dim)`; None for a continuous one."""
        return None

    def tails(self) -> Tails | None:
        """What the channel promises about every input (see `Tails`); None promises nothing.

        A bound on a capacity needs a reason for inputs that no probe has seen. A channel that
        declares its tails gives one; without it the result is proved for the probed range only.
        """
        return None

    if TYPE_CHECKING:  # a subclass writes one of the two, which no type can say

        def log_prob(self, l: ArrayLike) -> Array: ...

        def log_density(self, y: ArrayLike, l: ArrayLike) -> Array: ...

    else:

        @abstractmethod
        def log_prob(self, l: ArrayLike) -> Array:
            """ln p(y | l) for every output y, `(..., num_outputs)`, in nats."""

    @final
    def prob(self, l: ArrayLike) -> Array:
        """p(y | l) for every output y, `(..., num_outputs)`."""
        with np.errstate(under="ignore"):
            return np.exp(self.log_prob(l))

    @final
    def sample(self, l: ArrayLike, *, rng: Seed = None) -> np.ndarray[Any, Any]:
        """Draw one output for each input, shape `(...)`: integers, or floats from a density."""
        if self.support is not None:
            from channelcode.channels.densities.sampling import sample_outputs

            return sample_outputs(self, as_input(self, l), as_generator(rng))
        probabilities = self.prob(l)
        cumulative = np.cumsum(probabilities, axis=-1)
        uniform = as_generator(rng).random(cumulative.shape[:-1])
        uniform = uniform * cumulative[..., -1]  # the total differs from one by rounding only
        return np.asarray((uniform[..., None] >= cumulative[..., :-1]).sum(axis=-1), dtype=np.int64)

    @final
    def conditional_entropy(self, l: ArrayLike) -> Array:
        """H(Y | L = l) = -sum_y p(y|l) ln p(y|l) in nats, shape `(...)`."""
        return -plogp(self.log_prob(l)).sum(axis=-1)

    @final
    def divergence(self, l: ArrayLike, q: ArrayLike) -> Array:
        """D(p(.|l) || q) in nats, shape `(...)`; infinite where q misses a possible output."""
        law = distribution("q", q, ndim=1)
        if law.shape[0] != self.num_outputs:
            raise InvalidArgument("q", f"must have length {self.num_outputs}", law.shape[0])
        rows = self.prob(l)
        return np.where(missed(rows, law), np.inf, pointwise_divergence(rows, law))

    def derivatives(self, l: ArrayLike) -> Derivatives:
        """Gradient and Hessian of every log-probability in l (see `Derivatives`).

        The default is numerical, accurate to about 1e-6 of the size of the result; a subclass may
        override it with formulas, and `channelcode.testing.check_channel` compares the two.
        """
        return numerical_derivatives(self, l)


def numerical_derivatives(channel: Channel, l: ArrayLike) -> Derivatives:
    """The default of `Channel.derivatives`, from values of `log_prob` alone."""
    if channel.inputs is not None:
        raise InvalidArgument(
            "channel", "must have a continuous input to be differentiated", channel
        )
    point = as_input(channel, l)
    unit = _narrowest(channel)

    def along(direction: Any) -> tuple[Array, Array]:
        """Both derivatives along one direction, from one call of `log_prob`."""
        shifts = steps(unit=unit)
        shape = (-1, *(1,) * point.ndim)
        return from_values(channel.log_prob(point + shifts.reshape(shape) * direction), unit=unit)

    if channel.dim == 1:
        return Derivatives(*along(1.0))
    dim = channel.dim
    shape = (*point.shape[:-1], channel.num_outputs)
    gradient, hessian = np.empty((*shape, dim)), np.empty((*shape, dim, dim))
    basis = np.eye(dim)
    for i in range(dim):
        gradient[..., i], hessian[..., i, i] = along(basis[i])
    for i in range(dim):
        for j in range(i):
            _, second = along(basis[i] + basis[j])
            mixed = 0.5 * (second - hessian[..., i, i] - hessian[..., j, j])
            hessian[..., i, j] = hessian[..., j, i] = mixed
    return Derivatives(gradient, hessian)


def _narrowest(channel: Channel) -> float:
    """The unit of the steps: one, or the narrowest landmark where the channel declares it."""
    tails = channel.tails()
    return min([1.0, *(width for _, width in tails.landmarks)]) if tails is not None else 1.0


def as_input(channel: Channel, l: ArrayLike) -> Array:
    """Return `l` as a finite float64 array of a shape that the channel takes."""
    point = finite_array("l", l)
    low, high = channel.domain
    if channel.dim == 1 and (low > -np.inf or high < np.inf):
        outside = (point < low) | (point > high)
        if outside.any():
            rule = f"must lie in the channel's domain, [{low:g}, {high:g}]"
            raise InvalidArgument("l", rule, float(point[outside].ravel()[0]))
    if channel.dim != 1 and (point.ndim == 0 or point.shape[-1] != channel.dim):
        raise InvalidArgument("l", f"must have shape (..., {channel.dim})", f"shape {point.shape}")
    return point


def _endless(self: Channel, l: ArrayLike) -> Array:
    """What `log_prob` says where there is no list of outputs."""
    rule = "has outputs without end: use log_density(y, l), mutual_information or capacity"
    raise InvalidArgument("channel", rule, self)


def _checked_density(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a subclass's log_density: checked inputs, -inf outside the support, no NaN."""

    @functools.wraps(method)
    def checked(self: Channel, y: ArrayLike, l: ArrayLike) -> Array:
        from channelcode.channels.support import as_support

        outputs, point = finite_array("y", y), as_input(self, l)
        support = as_support(self.support)
        name = f"{type(self).__name__}.log_density"
        try:
            shape = np.broadcast_shapes(outputs.shape, point.shape)
        except ValueError:
            shapes = f"shapes {outputs.shape} and {point.shape}"
            raise InvalidArgument("y", "must broadcast with l", shapes) from None
        inside = np.broadcast_to(support.contains(outputs), shape)
        with np.errstate(all="ignore"):
            values = real_array(name, of_arrays(name, method, self, outputs, point))
        if values.shape != shape:
            raise InvalidArgument(name, f"must return shape {shape}", f"shape {values.shape}")
        values = np.where(inside, values, -np.inf)
        undefined = np.isnan(values) | np.isposinf(values)
        if undefined.any():
            where = np.unravel_index(int(np.argmax(undefined)), shape)
            at_y = float(np.broadcast_to(outputs, shape)[where])
            at_l = float(np.broadcast_to(point, shape)[where])
            shown = f"{values[where]} at y = {at_y}, l = {at_l}"
            raise InvalidArgument(name, "must be a number or -inf", shown)
        return values

    return checked


def _check_values(channel: Channel, point: Array, values: Array) -> None:
    """Refuse log-probabilities of a wrong shape, and NaN, with the input that gave it."""
    argument = f"{type(channel).__name__}.log_prob"
    batch = point.shape if channel.dim == 1 else point.shape[:-1]
    if values.shape != (*batch, channel.num_outputs):
        rule = f"must return shape {(*batch, channel.num_outputs)} for l of shape {point.shape}"
        raise InvalidArgument(argument, rule, f"shape {values.shape}")
    if np.isnan(values).any():
        undefined = np.isnan(values).any(axis=-1)
        raise InvalidArgument(argument, "must not return NaN", f"nan at l = {point[undefined][0]}")


def _checked(method: Callable[..., Any], *, checks_values: bool) -> Callable[..., Any]:
    """Wrap a subclass's method so that it receives checked input and returns the right shape."""

    @functools.wraps(method)
    def checked(self: Channel, l: ArrayLike) -> Any:
        if not (hasattr(self, "dim") and hasattr(self, "num_outputs")):
            missing = "num_outputs" if hasattr(self, "dim") else "dim"
            raise TypeError(f"{type(self).__name__} must set {missing}")
        point = as_input(self, l)
        with np.errstate(all="ignore"):  # tails: log 0 = -inf is meant, and NaN is refused below
            result = of_arrays(f"{type(self).__name__}.{method.__name__}", method, self, point)
        if checks_values:
            result = real_array(f"{type(self).__name__}.log_prob", result)
            _check_values(self, point, result)
        return result

    return checked
