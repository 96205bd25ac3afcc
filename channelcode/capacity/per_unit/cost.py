"""Bits for each unit of cost, when only the cost counts and not the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from channelcode._numerics.divergence import missed, pointwise_divergence
from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array, positive
from channelcode.capacity.per_unit.search import Ratio, steepest_ratio
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.cheap import priced_probes
from channelcode.capacity.solve import capacity
from channelcode.capacity.units import seen_in_natural_unit, seen_in_noise_unit
from channelcode.certificate import Certificate, Certified, SolveStats, Status, conclude
from channelcode.channels import Channel
from channelcode.channels.densities.range import has_density
from channelcode.channels.row_check import checked_log_prob
from channelcode.constraints import Cost, costs_of, squared_norm
from channelcode.errors import InvalidArgument

_FREE = 1e-14  # of the largest cost met: an input that costs no more costs nothing


@dataclass(frozen=True, repr=False, eq=False)
class UnitCostResult(Certified):
    """A capacity per unit cost, in `bits` or `nats` for each unit.

    `letter` is the input whose rare use attains it beside the free one; None where only the limit
    of small inputs does, or where no input is free. `free` is the input that costs nothing, if
    there is one. `certificate` holds bounds in bits, `scope` says for which inputs the upper one
    was found.
    """

    nats: float
    letter: Any
    free: Any
    certificate: Certificate
    scope: str
    status: Status
    stats: SolveStats

    def _identity(self) -> tuple[Any, ...]:
        place = (_hashable(self.letter), _hashable(self.free))
        return self.nats, *place, self.certificate, self.scope, self.status

    def __repr__(self) -> str:
        return (
            f"UnitCostResult(bits={self.bits!r}, letter={self.letter!r}, free={self.free!r}, "
            f"status={self.status.name})"
        )

    @property
    def bits(self) -> float:
        """The value in bits for each unit of cost."""
        return self.nats / LOG_TWO


def _hashable(place: Any) -> Any:
    return tuple(place) if isinstance(place, list) else place


def capacity_per_unit_cost(
    channel: Channel,
    cost: Callable[[Any], Any] | None = None,
    *,
    tol: float = 1e-8,
    throw: bool = True,
) -> UnitCostResult:
    """The most bits that a unit of cost can carry, however long it takes: sup_P C(P) / P.

    With an input l0 that costs nothing it is sup_l D(W(.|l) || W(.|l0)) / b(l) (Verdu 1990,
    Theorem 3): send l rarely, l0 otherwise. Without one it is the largest C(P) / P, where the
    multiplier dC/dP equals C/P. `cost` maps inputs `(n,)`, or `(n, dim)`, to costs `(n,)`, by
    default |l|^2. Inputs that cost nothing and can be told apart make it infinite. `tol` is
    relative.

    >>> from channelcode import Logistic
    >>> found = capacity_per_unit_cost(Logistic())
    >>> round(found.nats, 9), found.letter is None
    (0.125, True)
    """
    if not isinstance(channel, Channel):
        raise InvalidArgument("channel", "must be a channel", channel)
    if cost is not None and not callable(cost):
        raise InvalidArgument("cost", "must be a function of the input", cost)
    tolerance = positive("tol", tol)
    started = perf_counter()
    price = _priced(cost)
    if channel.inputs is not None:
        ratio = _among_letters(channel, price)
    else:
        ratio = _in_natural_unit(channel, price, is_power=cost is None)
    if ratio is None:
        ratio = _without_free_input(channel, price, tolerance)
    certificate = Certificate(ratio.lower / LOG_TWO, ratio.upper / LOG_TWO)
    stats = SolveStats(ratio.method, ratio.probes, perf_counter() - started)
    size = ratio.nats / LOG_TWO if np.isfinite(ratio.nats) else 1.0
    if not np.isfinite(ratio.nats):
        certificate = Certificate(np.inf, np.inf)
    return conclude(
        lambda status: UnitCostResult(
            ratio.nats, ratio.letter, ratio.free, certificate, ratio.scope, status, stats
        ),
        certificate if np.isfinite(ratio.nats) else Certificate(0.0, 0.0),
        tol=tolerance * max(size, 1e-300),
        throw=throw,
        best=Status.OPTIMAL if ratio.declared else Status.WITHIN_SCOPE,
        unit="bits a unit of cost",
    )


def _in_natural_unit(
    channel: Channel, price: Callable[[Array], Array], *, is_power: bool
) -> Ratio | None:
    """The steepest ratio, looked for with inputs in the channel's own unit."""
    seen, unit = (seen_in_natural_unit if is_power else seen_in_noise_unit)(channel)
    if seen is channel or not (is_power or has_density(channel)):
        return steepest_ratio(channel, price, is_power=is_power)
    own = price if is_power else lambda l: price(l * unit)
    found = steepest_ratio(seen, own, is_power=is_power)
    if found is None:
        return None
    squared = unit if is_power else 1.0
    nats, lower, upper = (value / squared / squared for value in found[:3])
    letter = None if found.letter is None else found.letter * unit
    scope = f"in units of {unit:.6g}, {found.scope}"
    return found._replace(
        nats=nats, lower=lower, upper=upper, letter=letter, free=found.free * unit, scope=scope
    )


def _priced(cost: Callable[[Any], Any] | None) -> Callable[[Array], Array]:
    """The cost as a checked function: real numbers, none negative."""
    if cost is None:
        return squared_norm

    def price(points: Array) -> Array:
        values = costs_of(cost, points)
        if (values < 0).any():
            place = int(np.argmin(values))
            shown = f"{float(values[place])!r} at l = {np.asarray(points)[place].tolist()}"
            raise InvalidArgument("cost", "must not be negative", shown)
        return values

    return price


def _among_letters(channel: Channel, price: Callable[[Array], Array]) -> Ratio | None:
    """Finitely many letters: the maximum over them; None if none is free."""
    letters = np.asarray(channel.inputs)
    costs = price(letters)
    within = np.isfinite(costs)
    _require_finite(costs)
    letters, costs = letters[within], costs[within]  # nobody can pay for the others
    rows = np.exp(checked_log_prob(channel, letters))
    free = costs <= _FREE * costs.max()
    if not free.any():
        return None
    scope = f"the {len(letters)} letters"
    first = int(np.argmax(free))
    law = rows[first] / rows[first].sum()
    gains = np.where(missed(rows, law), np.inf, pointwise_divergence(rows, law))
    origin = letters[first].tolist()
    if (gains[free] > 1e-12).any():
        told = letters[int(np.argmax(free & (gains > 1e-12)))].tolist()
        return Ratio(np.inf, np.inf, np.inf, told, origin, scope, len(letters), True)
    if free.all():
        return Ratio(0.0, 0.0, 0.0, None, origin, scope, len(letters), True)
    with np.errstate(divide="ignore"):
        ratios = np.where(free, -np.inf, gains / np.where(free, 1.0, costs))
    best = int(np.argmax(ratios))
    top = float(ratios[best])
    slack = 1e-14 * top if np.isfinite(top) else 0.0
    return Ratio(
        top, max(top - slack, 0.0), top + slack, letters[best].tolist(), origin, scope,
        len(letters), True,
    )  # fmt: skip


def _require_finite(costs: Array) -> None:
    if not np.isfinite(costs).any():
        raise InvalidArgument("cost", "must be finite for some input", "inf at every input tried")


def _without_free_input(channel: Channel, price: Callable[[Array], Array], tol: float) -> Ratio:
    """The largest C(P)/P from the zero of P C'(P) - C(P), which falls as P grows.

    At any P the dual of C(P), with slope s and value U, bounds every other power: C(P') <= U +
    s (P' - P), so C(P')/P' <= s + (U - s P)/P', and no P' is below the least cost.
    """
    if has_density(channel):
        raise InvalidArgument("cost", "must be zero for some input of this channel", "none found")
    least, flat = _least_cost(channel, price)

    def at(power: float) -> Any:
        return capacity(channel, Cost(price, power), tol=1e-10, throw=False)

    finite = channel.inputs is not None  # else a cost below the least one found is not excluded
    lower, upper, value, solved = 0.0, np.inf, 0.0, 0
    declared, scope = False, ""
    low, high, most = least, np.inf, float(np.log2(channel.num_outputs))
    left = right = 0.0  # P C'(P) - C(P) at both ends
    power, rising = least if flat else 2.0 * least, False
    while solved < 90:
        solved += 1
        found = at(power)
        scope = found.scope
        lower, value = max(lower, found.lower / power), max(value, found.bits / power)
        # cut to log |Y|, the bound at this power says nothing of smaller ones
        slope = 0.0 if found.upper >= most else found.multiplier
        excess = max(found.upper - slope * power, 0.0)
        if slope + excess / least < upper:
            upper = slope + excess / least
            declared = finite and found.status is Status.OPTIMAL
        rise = found.multiplier * power - found.bits
        stays = 0.5 if (rise > 0.0) == rising else 1.0  # Illinois: an end that stays is halved
        rising = rise > 0.0
        if power > least and rising:
            low, left, right = power, rise, stays * right
        elif power > least:
            high, right, left = power, rise, stays * left
        if upper - lower <= 0.25 * tol * lower:
            break
        if high == np.inf:
            power = 2.0 * power
        elif high - low <= 1e-14 * high:
            break
        elif left > 0.0 > right and solved % 5:
            power = low + (high - low) * left / (left - right)
        else:
            power = 0.5 * (low + high)
    if not finite:
        scope += f"; the least cost, {least:.6g}, by a search, not a proof"
    return Ratio(
        value * LOG_TWO, lower * LOG_TWO, max(upper, lower) * LOG_TWO, None, None, scope, solved,
        declared, "capacity at many powers",
    )  # fmt: skip


def _least_cost(channel: Channel, price: Callable[[Array], Array]) -> tuple[float, bool]:
    """The least cost that was found, and whether half of all inputs share it."""
    if channel.inputs is None:
        costs = priced_probes(Problem(channel, Cost(price, 1.0)))[1]
    else:
        costs = price(np.asarray(channel.inputs))
    _require_finite(costs)
    least = float(costs.min())
    return least, bool(np.median(costs) == least)
