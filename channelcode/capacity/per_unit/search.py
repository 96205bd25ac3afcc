"""The supremum of D(W(.|l) || W(.|l0)) / b(l) over a continuous input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.low_power import best_rate
from channelcode.capacity.per_unit.gain import gain_from, in_closed_form, overflows
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.cheap import priced_probes, valleys
from channelcode.channels import AdditiveGaussian, AdditiveLaplace, Channel, Poisson
from channelcode.channels.densities.range import has_density, output_scale
from channelcode.constraints import Cost, Power
from channelcode.errors import InvalidArgument
from channelcode.information.densities import check_total
from channelcode.information.output_divergence import output_divergence
from channelcode.measures import DiscreteMeasure

SMALLEST = 1e-3  # relative to the width of the channel at the free input: below, the limit counts
NEAR = 0.03  # widths: nearer, the error of D counts for more than the change of the ratio
FARTHEST = 1e8
_OWN_FARTHEST = (1e6, 1e4, 1e3, 300.0, 100.0, 30.0, 10.0, 3.0)  # widths; of a user's density
_OWN_SIZES = 100  # probes on either side, where each takes an integral
_RISE = 1e-9  # a letter must beat the limit of small inputs by this, relatively
_ROUNDS = 60
_AT_WALL = 1e-13  # how near to a wall of the cost, relatively, a letter is taken
FREE = 1e-14  # of the median cost: an input that costs no more costs nothing
TOLD_APART = 1e-12  # nats of divergence: below, it is rounding


class Ratio(NamedTuple):
    """What was found, in nats a unit: value, bounds, the letter, the free input, and where."""

    nats: float
    lower: float
    upper: float
    letter: Any
    free: Any
    scope: str
    probes: int
    declared: bool
    method: str = "ratio to a free input"


def steepest_ratio(
    channel: Channel, price: Callable[[Array], Array], *, is_power: bool
) -> Ratio | None:
    """The largest ratio over the line or R^k; None if no input is found to be free."""
    free = _free_inputs(channel, price, is_power)
    if len(free) == 0:
        return None
    origin = free[0]
    gain = gain_from(channel, origin)
    told = free[gain(free) > TOLD_APART]
    if len(told):
        scope = "two inputs that cost nothing and can be told apart"
        infinite = (np.inf, np.inf, np.inf, told[0].tolist(), origin.tolist())
        return Ratio(*infinite, scope, len(free), True)
    if channel.dim == 1:
        return _proved(channel, _on_line(channel, price, gain, float(origin), is_power), is_power)
    return _in_space(channel, price, gain, np.asarray(origin), is_power)


def _proved(channel: Channel, found: Ratio, is_power: bool) -> Ratio:
    """The ratio with an upper bound that has a reason, or with the words that it has none.

    Under the power alone: with finitely many outputs sup D/l^2 is bounded between probes, and
    beyond them by -ln min W_0 / l^2. For Gaussian noise D/l^2 is constant; for Laplace noise,
    (d + e^-d - 1)/d^2, and for counts, ((1 + t) ln(1 + t) - t)/t^2, it falls with the distance.
    """
    if found.nats == np.inf:
        return found
    if is_power and type(channel) in (AdditiveGaussian, AdditiveLaplace, Poisson):
        return found._replace(scope="every input: the ratio nowhere rises with the distance")
    if is_power and not has_density(channel) and found.declared:
        rate = best_rate(Problem(channel, Power(1.0)))
        if rate is not None:
            where = f"between {rate.used} probes within {rate.radius:.4g}"
            return found._replace(
                upper=max(found.lower, rate.upper * (1.0 + 1e-12)),
                scope=f"every input: the ratio bounded {where}, beyond them by -ln min W_0 / l^2",
            )
    return found._replace(declared=False, scope=f"{found.scope}: a search, not a proof")


def _free_inputs(channel: Channel, price: Callable[[Array], Array], is_power: bool) -> Array:
    """The inputs found to cost nothing, `(n,)` or `(n, dim)`, the one nearest to zero first.

    Probes whose cost is zero, and least costs between probes that are zero up to rounding.
    """
    zero = np.zeros((1, channel.dim)) if channel.dim > 1 else np.zeros(1)
    low, high = channel.domain
    if is_power:
        return zero if low <= 0.0 <= high else zero[:0]
    problem = Problem(channel, Cost(price, 1.0))
    points, costs = priced_probes(problem)
    inside = np.isfinite(costs)
    points, costs = points[inside], costs[inside]
    if len(points) == 0:
        raise InvalidArgument("cost", "must be finite for some input", "inf at every input tried")
    lowest = valleys(problem)
    least = lowest[problem.cost(lowest) <= FREE * float(np.median(costs))]
    found = np.concatenate([points[costs == 0.0], least])
    return found[np.argsort(problem.norm(found), kind="stable")]


def _bits_for_cost(
    price: Callable[[Array], Array], gain: Callable[[Array], Array], is_power: bool
) -> Callable[[Array], Array]:
    """l -> D / b(l): infinite where a free input can be told from the other, nothing at that."""

    def ratio(l: Array) -> Array:
        costs, gains = price(l), gain(l)
        free = np.where((gains > TOLD_APART) & (not is_power), np.inf, -np.inf)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = np.where(costs > 0, gains / np.where(costs > 0, costs, 1.0), free)
        return np.where(np.isinf(costs), -np.inf, found)

    return ratio


def _curvature(channel: Channel, origin: Any) -> Any:
    """Half the Fisher information, J/2 = E (d ln W / dl)^2 / 2: the limit of D / |l - l0|^2."""
    point = np.asarray(origin, dtype=np.float64)
    gradient = channel.derivatives(point).gradient
    p = channel.prob(point)
    if channel.dim == 1:
        return 0.5 * float(p[p > 0] @ gradient[p > 0] ** 2)
    return 0.5 * np.einsum("y,yi,yj->ij", p, gradient, gradient)


def _on_line(
    channel: Channel,
    price: Callable[[Array], Array],
    gain: Callable[[Array], Array],
    origin: float,
    is_power: bool,
) -> Ratio:
    promise = channel.tails()
    width = _width(channel, origin, promise)
    smallest = SMALLEST * width

    anywhere = _bits_for_cost(price, gain, is_power)

    def ratio(l: Array) -> Array:  # nearer to the free input the divergence is rounding
        return np.where(np.abs(l - origin) < 0.999 * smallest, -np.inf, anywhere(l))

    farthest, count = FARTHEST, 1600
    if has_density(channel) and not in_closed_form(channel):
        farthest, count = _integrable(channel, origin, width), _OWN_SIZES
    grid = _grid(channel, origin, np.geomspace(smallest, farthest, count), promise)
    values = ratio(grid)
    if np.isnan(values).all():
        rule = "must have outputs that can be told from those of the free input"
        raise InvalidArgument("channel", rule, f"no number at any of {len(grid)} inputs")
    values = np.where(np.isnan(values), -np.inf, values)
    top, place, slack = _climbed(ratio, grid, values)
    limit, extrapolated = _limit(channel, price, anywhere, origin, width, is_power)
    declared = promise is not None or in_closed_form(channel)
    scope = (
        f"inputs at distances {smallest:.2g} to {farthest:.2g} from the free one, "
        f"{len(grid)} probes and climbs, and the limit of small inputs"
    )
    report = (origin, scope, len(grid), declared)
    unsure = _unsure(channel, price, origin, grid[np.abs(grid - origin) >= NEAR * width])
    if in_closed_form(channel) and overflows(ratio, gain, origin, place):
        scope += ", beyond which it outgrows every double"
        return Ratio(np.inf, np.inf, np.inf, None, origin, scope, len(grid), is_power)
    if max(top, limit) == -np.inf:  # nothing else can be paid for, or nothing tells
        return Ratio(0.0, 0.0, 0.0, None, *report)
    if top < np.inf and limit == np.inf and extrapolated:
        scope += ", which is infinite by what is seen of the ratio nearby"
        return Ratio(np.inf, np.inf, np.inf, None, origin, scope, len(grid), False)
    if max(top, limit) == np.inf:
        letter = place if top == np.inf and np.isfinite(limit) else None
        at = np.array([place])
        if not is_power and top == np.inf and price(at)[0] > 0.0 and gain(at)[0] < np.inf:
            scope += ", where it outgrows every double"
            return Ratio(np.inf, np.inf, np.inf, letter, origin, scope, len(grid), False)
        return Ratio(np.inf, np.inf, np.inf, letter, *report)
    if abs(place - origin) >= 0.99 * farthest and top > limit:
        return _at_the_far_end(ratio, top, place, 1e-12 * top + unsure(top), report)
    if top > limit * (1.0 + _RISE) and abs(place - origin) > 2.0 * smallest:
        twin = 2.0 * origin - place
        if place < origin and abs(float(ratio(np.array([twin]))[0]) - top) <= 1e-12 * top:
            place = twin  # of two letters alike, the positive one
        rounding = 1e-12 * top + unsure(top)
        return Ratio(top, max(top - rounding, 0.0), top + slack + rounding, place, *report)
    # D of small inputs loses digits, and so does a limit that was extrapolated
    rounding = 1e-9 * abs(limit) + max(top - limit, 0.0) + unsure(limit)
    return Ratio(limit, max(limit - rounding, 0.0), limit + rounding, None, *report)


def _unsure(
    channel: Channel, price: Callable[[Array], Array], origin: float, grid: Array
) -> Callable[[float], float]:
    """Value -> how far the errors of integrals over a density may carry a ratio above it."""
    if not has_density(channel) or in_closed_form(channel):
        return lambda value: 0.0
    found = output_divergence(channel, grid, DiscreteMeasure([origin], [1.0]))
    costs = price(grid)
    paid = (costs > 0) & np.isfinite(costs) & np.isfinite(found.nats)
    highest = (found.nats + found.errors)[paid] / costs[paid]
    return lambda value: max(float(highest.max(initial=-np.inf)) - value, 0.0)


def _at_the_far_end(
    ratio: Callable[[Array], Array],
    top: float,
    place: float,
    rounding: float,
    report: tuple[Any, ...],
) -> Ratio:
    """Still rising where the search ends: towards a limit, or without one."""
    origin, scope, probes, _ = report
    before = float(ratio(np.array([origin + 0.1 * (place - origin)]))[0])
    rise = top - before
    if rise <= 1e-6 * top:  # a tenth of the distance made no difference: a limit far out
        far = top + max(rise, 0.0) + rounding
        return Ratio(top, max(top - rounding, 0.0), far, None, origin, scope, probes, False)
    scope += "; the ratio still rises at the far end, so that no bound is known"
    return Ratio(top, max(top - rounding, 0.0), np.inf, place, origin, scope, probes, False)


def _width(channel: Channel, origin: float, promise: Any) -> float:
    if has_density(channel):
        return float(output_scale(channel, np.array([origin]))[0])
    return min((w for _, w in promise.landmarks), default=1.0) if promise is not None else 1.0


def _limit(
    channel: Channel,
    price: Callable[[Array], Array],
    ratio: Callable[[Array], Array],
    origin: float,
    width: float,
    is_power: bool,
) -> tuple[float, bool]:
    """The ratio as l nears the free input, and whether that is extrapolated from three inputs.

    Under the power alone, with finitely many outputs, it is half the Fisher information.
    """
    if is_power and not has_density(channel):
        return _curvature(channel, origin), False
    (low, high), found = channel.domain, [-np.inf]
    for sign in (-1.0, 1.0):
        steps = origin + sign * width * np.array([8e-4, 4e-4, 2e-4])
        if (steps < low).any() or (steps > high).any():
            continue
        wide, middle, narrow = ratio(steps)
        if not np.isfinite(narrow):
            return float(narrow), False
        clear = _RISE * middle + 2.0 * _wrong(channel, price, origin, steps)  # more than rounding
        if middle - wide > clear and narrow - middle > 0.9 * middle * (middle / wide - 1.0):
            return np.inf, True  # each half of the distance adds as much again: no limit
        first, second = 2.0 * middle - wide, 2.0 * narrow - middle  # without the linear term
        value = (4.0 * second - first) / 3.0
        steady = abs(second - first) <= 1e-3 * abs(second)  # no limit where it blows up
        found.append(float(value if steady else narrow))
    return max(found), True


def _wrong(
    channel: Channel, price: Callable[[Array], Array], origin: float, inputs: Array
) -> float:
    """How far errors of integrals over a density may have moved the ratios of these inputs."""
    if not has_density(channel) or in_closed_form(channel):
        return 0.0
    found, costs = (
        output_divergence(channel, inputs, DiscreteMeasure([origin], [1.0])),
        price(inputs),
    )
    return float(np.divide(found.errors, costs, out=np.zeros(len(costs)), where=costs > 0.0).max())


def _integrable(channel: Channel, origin: float, width: float) -> float:
    """How far to look in a user's density: where its laws, on either side, are still resolved.

    A mean of e^l, say, is beyond the doubles at l = 1000. At the free input it must be a law.
    """
    low, high = channel.domain
    check_total(channel, origin)
    for size in _OWN_FARTHEST:
        try:
            for place in (origin - size * width, origin + size * width):
                check_total(channel, float(np.clip(place, low, high)))
        except InvalidArgument:
            continue
        return size * width
    return width


def _grid(channel: Channel, origin: float, sizes: Array, promise: Any) -> Array:
    pieces = [origin - sizes, origin + sizes]
    if promise is not None:
        pieces.append(promise.resolving_inputs(FARTHEST))
    grid = np.unique(np.concatenate(pieces))
    low, high = channel.domain
    return grid[(grid >= low) & (grid <= high) & (np.abs(grid - origin) >= sizes[0])]


def _climbed(
    ratio: Callable[[Array], Array], grid: Array, values: Array
) -> tuple[float, float, float]:
    """The highest ratio, its place, and how far it may rise between the last probes."""
    if (values == np.inf).any():
        return np.inf, float(grid[int(np.argmax(values))]), 0.0
    order = np.argsort(values)[-8:]
    best, place, slack = -np.inf, float(grid[0]), 0.0
    for index in order:
        left, right = grid[max(index - 1, 0)], grid[min(index + 1, len(grid) - 1)]
        for _ in range(_ROUNDS):
            inner = np.linspace(left, right, 17)
            heights = ratio(inner)
            top = int(np.argmax(heights))
            if heights[top] > best:
                best, place = float(heights[top]), float(inner[top])
                sides = heights[[max(top - 1, 0), min(top + 1, 16)]]
                paid = sides[sides > -np.inf]  # beyond a wall nothing is
                # a smooth top rises less than its sides fall
                slack = max(best - float(paid.min(initial=best)), 0.0)
            left, right = inner[max(top - 1, 0)], inner[min(top + 1, 16)]
            walled = heights.min() == -np.inf
            if right - left <= (_AT_WALL if walled else 1e-7) * max(abs(left), abs(right)):
                break
    return best, place, slack


def _in_space(
    channel: Channel,
    price: Callable[[Array], Array],
    gain: Callable[[Array], Array],
    origin: Array,
    is_power: bool,
) -> Ratio:
    from scipy.optimize import minimize

    ratio = _bits_for_cost(price, gain, is_power)
    dim = channel.dim
    rng = np.random.default_rng(0)
    axes = np.eye(dim)
    centred = axes - 1.0 / dim
    directions = np.concatenate([axes, -axes, centred, -centred, rng.standard_normal((256, dim))])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = np.geomspace(1e-3, 1e3, 121)
    starts = origin + (directions[:, None] * radii[:, None]).reshape(-1, dim)
    values = ratio(starts)
    values = np.where(np.isnan(values), -np.inf, values)
    best, place = float(values.max()), starts[int(np.argmax(values))]
    if 0.0 < best < np.inf:
        for index in np.argsort(values)[-12:]:
            climb = minimize(
                lambda x: -float(ratio(x[None])[0]), starts[index], method="BFGS",
                options={"gtol": 1e-10},
            )  # fmt: skip
            if -climb.fun > best:
                best, place = float(-climb.fun), np.asarray(climb.x)
    limit = -np.inf
    if is_power:
        limit = float(np.linalg.eigvalsh(_curvature(channel, origin))[-1])
    attained = best > limit * (1.0 + 1e-7)
    value = max(best if attained else limit, 0.0)  # -inf: nothing else can be paid for
    scope = f"R^{dim}: {len(starts)} starts out to radius 1e3, the best twelve climbed: a search"
    slack = 1e-9 * abs(value) if np.isfinite(value) else 0.0
    return Ratio(
        value, value - slack if np.isfinite(value) else value, value + slack,
        place.tolist() if attained else None, origin.tolist(), scope, len(starts), False,
    )  # fmt: skip
