"""What an input law may cost: a mean power, a variance, a peak, a cost of your own, nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array, finite_array, number, real_array
from channelcode.errors import InvalidArgument, is_scalar_code


class Constraint:
    """A limit on the law of the channel input; `a & b` asks for both."""

    def __and__(self, other: Constraint) -> Constraint:
        if not isinstance(other, Constraint):
            return NotImplemented
        return All((*_parts(self), *_parts(other)))


@dataclass(frozen=True)
class Power(Constraint):
    """A mean power budget, E|L|^2 <= power; zero allows only l = 0, infinity anything.

    >>> Power(4.0) & Peak(3.0)
    All(parts=(Power(power=4.0), Peak(amplitude=3.0)))
    """

    power: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", _limit("power", self.power))


@dataclass(frozen=True)
class Variance(Constraint):
    """A limit on the spread of the input alone, Var L <= variance, with a mean of its own choice.

    `Power` measures from l = 0, which for a channel without symmetry is an arbitrary place; a
    variance has no origin. Inputs are on the line, or the numbered letters of a finite channel.
    Zero leaves one input and no information, infinity allows anything.

    >>> from channelcode import Cloglog, Power, Variance, capacity
    >>> round(capacity(Cloglog(), Variance(1.0)).bits, 4)
    0.3572
    >>> round(capacity(Cloglog(), Power(1.0)).bits, 4)
    0.3386
    """

    variance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", _limit("variance", self.variance))


@dataclass(frozen=True)
class Peak(Constraint):
    """An amplitude limit, |L| <= amplitude always (the Euclidean norm in R^k)."""

    amplitude: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "amplitude", _limit("amplitude", self.amplitude))


@dataclass(frozen=True)
class Cost(Constraint):
    """A mean cost of your own, E function(L) <= budget.

    `function` maps inputs `(n,)` (`(n, dim)` in R^dim) to costs `(n,)`; infinity forbids an input.
    One that is written for single numbers is asked for one input after another, which is slow.
    A function is a black box: it is searched for its least value and for cheap inputs far out, on
    the line every 0.1 or so near zero. `cheap` names inputs near which it is small, for a cost
    whose valley is narrow or far away. `rises` is a distance beyond which the cost falls nowhere as
    |l| grows, along any ray from zero. Without it nothing is known of inputs farther out than those
    tried, and a capacity without a peak is proved for what was looked at only.

    >>> Cost(lambda l: abs(l), 1.0, rises=0.0).budget
    1.0
    >>> Cost(lambda l: (l - 1e7) ** 2, 1.0, cheap=(1e7,)).cheap
    (10000000.0,)
    """

    function: Callable[[Any], Any]
    budget: float
    cheap: Any = field(default=(), kw_only=True)  # kept as a tuple of floats, or of tuples
    rises: float = field(default=np.inf, kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidArgument("function", "must be callable", self.function)
        if self.budget is None:
            raise InvalidArgument("budget", "must be a number", None)
        raw = real_array("budget", self.budget)
        if raw.ndim or isinstance(self.budget, bool) or np.isnan(raw) or raw == -np.inf:
            raise InvalidArgument("budget", "must be a number", self.budget)
        object.__setattr__(self, "rises", _limit("rises", self.rises))
        object.__setattr__(self, "budget", float(raw))
        if np.size(self.cheap):
            places = finite_array("cheap", self.cheap, ndim=(0, 1, 2))
            if places.ndim == 2:
                object.__setattr__(self, "cheap", tuple(tuple(p) for p in places.tolist()))
            else:
                object.__setattr__(self, "cheap", tuple(places.reshape(-1).tolist()))
        else:
            object.__setattr__(self, "cheap", ())


@dataclass(frozen=True)
class Unconstrained(Constraint):
    """No limit at all."""


@dataclass(frozen=True)
class All(Constraint):
    """Several constraints at once: what `&` returns."""

    parts: tuple[Constraint, ...]


class Limits(NamedTuple):
    """A constraint in one form: E cost(L) <= budget (if `cost` is not None), |L| <= peak, Var L.

    `cheap` are inputs near which the cost is said to be small, and beyond `rises` it falls nowhere.
    A limit on the variance excludes a mean cost.
    """

    cost: Callable[[Array], Array] | None
    budget: float
    peak: float
    is_power: bool
    cheap: tuple[Any, ...] = ()
    variance: float = np.inf
    rises: float = np.inf


def limits(constraint: Constraint) -> Limits:
    """Reduce a constraint to one mean cost and one peak; at most one kind of mean cost is allowed.

    >>> limits(Power(4.0) & Peak(3.0) & Power(2.0))[1:]
    (2.0, 3.0, True, (), inf, inf)
    """
    if type(constraint) is Power:
        if constraint.power == np.inf:
            return _FREE
        return Limits(squared_norm, constraint.power, np.inf, True)
    if not isinstance(constraint, Constraint):
        raise InvalidArgument(
            "constraint", "must be Power, Variance, Peak, Cost or Unconstrained", constraint
        )
    cost, budget, peak, is_power, cheap, variance, rises = _FREE
    for part in _parts(constraint):
        if isinstance(part, Peak):
            peak = min(peak, part.amplitude)
        elif isinstance(part, Variance):
            variance = min(variance, part.variance)
        elif isinstance(part, Power | Cost):
            power = isinstance(part, Power)
            function = squared_norm if power else part.function
            limit = part.power if power else part.budget
            if limit == np.inf:
                continue
            if cost is not None and function is not cost:
                rule = "must hold at most one mean cost (Power or Cost); combine them in one Cost"
                raise InvalidArgument("constraint", rule, constraint)
            budget = limit if cost is None else min(budget, limit)
            cost, is_power = function, power
            cheap = cheap if power else (*cheap, *part.cheap)
            rises = rises if power else min(rises, part.rises)
        elif not isinstance(part, Unconstrained):
            raise InvalidArgument("constraint", "must be built of known constraints", part)
    if variance < np.inf and cost is not None:
        rule = "must not limit both the variance and a mean cost"
        raise InvalidArgument("constraint", rule, constraint)
    return Limits(cost, budget, peak, is_power, cheap, variance, rises)


def squared_norm(points: Array) -> Array:
    """|l|^2 of inputs `(n,)` on the line or `(n, dim)` in R^dim."""
    with np.errstate(over="ignore"):
        return points * points if points.ndim == 1 else np.einsum("nk,nk->n", points, points)


def costs_of(function: Callable[[Any], Any], points: Array) -> Array:
    """A user's cost at inputs `(n,)` or `(n, dim)`, checked: one real number, or inf, for each."""
    with np.errstate(all="ignore"):
        try:
            raw = np.asarray(function(points))
        except (TypeError, ValueError) as error:  # math.fabs, or an if: one number at a time
            if isinstance(error, ValueError) and not is_scalar_code(error):
                raise
            raw = np.asarray([function(point) for point in points.tolist()])
    if raw.dtype.kind not in "buif":
        raise InvalidArgument("function", "must return real numbers", raw.ravel()[:1].tolist())
    if raw.shape != (len(points),):
        rule = f"must return shape {(len(points),)}, one cost for each input"
        raise InvalidArgument("function", rule, f"shape {raw.shape}")
    values = raw.astype(np.float64)
    bad = np.isnan(values) | (values == -np.inf)
    if bad.any():
        first = int(np.argmax(bad))
        shown = f"{values[first]} at l = {points[first].tolist()}"
        raise InvalidArgument("function", "must return numbers", shown)
    return values


_FREE = Limits(None, np.inf, np.inf, False)


def _limit(argument: str, value: Any) -> float:
    """A float that is zero or above; infinity is allowed, NaN is not."""
    if type(value) is float and value >= 0:
        return value
    if isinstance(value, float | int | np.floating | np.integer) and value == np.inf:
        return np.inf
    if value is None or isinstance(value, bool | np.bool_):
        raise InvalidArgument(argument, "must be a number", value)
    result = number(argument, value)
    if result < 0:
        raise InvalidArgument(argument, "must be non-negative", value)
    return result


def _parts(constraint: Constraint) -> tuple[Constraint, ...]:
    return constraint.parts if isinstance(constraint, All) else (constraint,)
