"""Problems whose inputs are very small or very large numbers, solved in a unit of their own."""

from __future__ import annotations

from math import frexp

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode.capacity.problem import CapacityResult, Problem, answer
from channelcode.certificate import Status
from channelcode.channels import AdditiveGaussian, AdditiveLaplace, Channel
from channelcode.channels.densities.range import has_density
from channelcode.channels.densities.units import own_units, power_of_two
from channelcode.channels.mapped.rescaled import Rescaled
from channelcode.channels.mapped.rescaled_density import RescaledDensity
from channelcode.channels.row_check import is_builtin
from channelcode.constraints import Constraint, Cost, Peak, Power, Unconstrained, Variance
from channelcode.measures import DiscreteMeasure

FAR = 2.0**24  # widths of a channel between its inverse and this need no other unit
SAFE = 1e300


def natural_unit(channel: Channel) -> float:
    """A power of two near the width of the channel's bends, or 1 where that is not far from 1.

    >>> from channelcode import Probit
    >>> natural_unit(Probit(3.0)), natural_unit(Probit(2.0**300)) == 2.0**300
    (1.0, True)
    """
    if channel.inputs is not None or channel.dim != 1 or has_density(channel):
        return 1.0
    tails = channel.tails()
    widths = [width for _, width in tails.landmarks] if tails is not None else []
    if not widths or (min(widths) <= FAR and max(widths) >= 1.0 / FAR):
        return 1.0
    width = min(widths) if min(widths) > FAR else max(widths)
    return 2.0 ** (frexp(width)[1] - 1)


def seen_in_natural_unit(channel: Channel) -> tuple[Channel, float]:
    """The channel with inputs (of a user's density: outputs too) in its own unit, and that unit.

    The channel itself where no other unit is needed.
    """
    if not has_density(channel):
        unit = natural_unit(channel)
        return (channel if unit == 1.0 else Rescaled(channel, unit)), unit
    if is_builtin(channel) or isinstance(channel, RescaledDensity) or channel.dim != 1:
        return channel, 1.0
    unit, output_unit = own_units(channel)
    if unit == output_unit == 1.0:
        return channel, 1.0
    return RescaledDensity(channel, unit, output_unit), unit


def seen_in_noise_unit(channel: Channel) -> tuple[Channel, float]:
    """The same for additive noise of the library too, which theorems see in any unit."""
    size = 1.0
    if type(channel) is AdditiveGaussian:
        size = channel.noise
    elif type(channel) is AdditiveLaplace:
        size = channel.scale
    if 1.0 / FAR <= size <= FAR:
        return seen_in_natural_unit(channel)
    unit = power_of_two(size)
    noisy = AdditiveGaussian if type(channel) is AdditiveGaussian else AdditiveLaplace
    return noisy(size / unit), unit


def _seen_under(problem: Problem) -> tuple[Channel, float]:
    alone = not problem.has_own_cost and problem.limits.peak == np.inf
    return (seen_in_natural_unit if alone else seen_in_noise_unit)(problem.channel)


def in_natural_unit(problem: Problem) -> tuple[Problem, float]:
    """The same problem with inputs in the channel's own unit, and that unit.

    The problem itself where the channel needs no other.
    """
    (seen, unit), limit = _seen_under(problem), problem.limits
    if seen is problem.channel:
        return problem, 1.0
    peak, variance = limit.peak / unit, limit.variance / unit / unit
    power = limit.budget / unit / unit if limit.is_power else 1.0
    given = (limit.peak, limit.variance, limit.budget if limit.is_power else 1.0)
    for before, after in zip(given, (peak, variance, power), strict=True):
        if 0.0 < before < np.inf and not 1.0 / SAFE < after < SAFE:
            return problem, 1.0  # no double holds the limit in that unit
    within: Constraint = Unconstrained()
    if peak < np.inf:
        within = within & Peak(peak)
    if variance < np.inf:
        within = within & Variance(variance)
    elif limit.is_power:
        within = within & Power(power)
    elif limit.cost is not None:
        cheap = tuple(float(np.ravel(c)[0]) / unit for c in limit.cheap)
        rises = limit.rises / unit
        seen_cost = Cost(lambda l: problem.cost(l * unit), limit.budget, cheap=cheap, rises=rises)
        within = within & seen_cost
    return Problem(seen, within), unit


def in_given_unit(
    found: CapacityResult, problem: Problem, unit: float, *, tol: float, throw: bool
) -> CapacityResult:
    """A result in the problem's own unit as one of the problem that was posed; `tol` in bits."""
    price = found.multiplier * LOG_TWO
    return answer(
        problem,
        DiscreteMeasure(found.input.atoms * unit, found.input.weights),
        found.certificate,
        found.stats,
        nats=found.nats,
        multiplier=price if problem.has_own_cost else price / unit / unit,
        scope=f"in units of {unit:.6g}, {found.scope}",
        tol=tol,
        throw=throw,
        output=found.output,
        deficit=found.deficit_nats,
        exhausted=found.status is Status.MAX_STEPS,
        complete=found.status is not Status.WITHIN_SCOPE,
    )
