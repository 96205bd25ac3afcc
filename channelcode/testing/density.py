"""The contract of a channel whose outputs are real numbers or counts without end."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from channelcode._numerics.quadrature import gauss_kronrod
from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.channels.densities.range import graded_edges, kinks, line_log_density, spread_of
from channelcode.channels.support import Counts, Support, as_support
from channelcode.errors import InvalidArgument
from channelcode.information.densities import check_total
from channelcode.testing.density_sweep import check_everywhere
from channelcode.testing.verdict import attempt, expect_refusal, fail

TOTAL_ATOL = 1e-9  # what quadrature of a smooth density reaches, with room
DRAWS = 4000
_FAR_FROM_ONE = 2.0**20
_SIZES = np.array([0.0, 0.01, 0.3, 1.0, 2.7, 9.0, 40.0])


def check_density(channel: Channel, rng: np.random.Generator) -> None:
    """What `check_channel` asks of a channel with `log_density(y, l)` and a `support`."""
    if channel.dim != 1:
        fail(channel, f"a channel with a density must have dim = 1, not {channel.dim!r}")
    support = attempt(channel, "support", lambda: as_support(channel.support))
    unit = _unit(channel, support)
    inputs = _inputs(channel, unit)
    _check_hints(channel, inputs)
    found = attempt(channel, "the range of the outputs", lambda: spread_of(channel, inputs))
    low, high = found.low, found.high
    middles = 0.5 * (low + high)
    outputs = np.round(middles) if isinstance(support, Counts) else support.from_line(middles)[0]
    _check_answers(channel, inputs, outputs)
    for l in inputs:
        _check_total(channel, float(l))
    check_everywhere(channel, inputs, found, lambda l: _check_total(channel, l), rng, unit=unit)
    _check_samples(channel, inputs, low, high, rng)
    _check_divergence(channel, inputs, 3.0 * unit)
    _check_refusals(channel, inputs, outputs)
    try:
        copy = pickle.loads(pickle.dumps(channel))  # noqa: S301  our own bytes
    except (pickle.PicklingError, AttributeError, TypeError):
        return  # a lambda or a class inside a function: nothing to hold against the channel
    if not np.array_equal(_logs(copy, outputs, inputs), _logs(channel, outputs, inputs)):
        fail(channel, "a pickled copy must behave like the original")


def _unit(channel: Channel, support: Support) -> float:
    """The width of the noise where it is nowhere near one, and 1 otherwise."""
    if isinstance(support, Counts) or np.isfinite([support.low, support.high]).any():
        return 1.0
    origin = np.clip(np.zeros(1), *channel.domain)
    if not np.isfinite(origin).all():
        return 1.0
    found = attempt(channel, "the range of the output at l = 0", lambda: spread_of(channel, origin))
    size = float(np.ravel(found.scale)[0])
    far = not 1.0 / _FAR_FROM_ONE < size < _FAR_FROM_ONE
    return size if far and 1e-200 < size < 1e200 else 1.0


def _inputs(channel: Channel, unit: float) -> Array:
    both = unit * np.concatenate([-_SIZES[:0:-1], _SIZES])
    low, high = attempt(channel, "domain", lambda: (float(end) for end in channel.domain))
    if not low < high:
        fail(channel, f"domain must be two numbers, the lesser first, not {channel.domain!r}")
    inside = both[(both >= low) & (both <= high)]
    if len(inside) < len(_SIZES):  # some at the near end of a domain that lies elsewhere
        near = low if abs(low) <= abs(high) else high
        size = min(high - low, max(abs(near), 1.0))
        steps = np.array([0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 1.0]) * (size if near == low else -size)
        inside = np.union1d(inside, near + steps)
    return inside


def _check_hints(channel: Channel, inputs: Array) -> None:
    """What a channel says of its own output: ends in order, a scale within them, corners."""
    hints: dict[str, Any] = {
        name: getattr(channel, name, None) for name in ("output_range", "output_scale", "kinks")
    }
    found = {
        name: attempt(channel, name, lambda own=own: own(inputs.copy()))
        for name, own in hints.items()
        if own is not None
    }
    width = np.full(len(inputs), np.inf)
    if "output_range" in found:
        ends = np.asarray(attempt(channel, "output_range", lambda: _numbers(found["output_range"])))
        if ends.shape != (2, len(inputs)):
            shape = f"two arrays of shape {inputs.shape}, not {ends.shape}"
            fail(channel, f"output_range of inputs of shape {inputs.shape} must give {shape}")
        width = ends[1] - ends[0]
        if not (np.isfinite(ends).all() and (width > 0.0).all()):
            fail(channel, "output_range must give finite ends, the lower one first")
    if "output_scale" in found:
        scale = np.asarray(
            attempt(channel, "output_scale", lambda: _numbers(found["output_scale"]))
        )
        if scale.shape != inputs.shape:
            fail(channel, f"output_scale must have shape {inputs.shape}, not {scale.shape}")
        if not (np.isfinite(scale) & (scale > 0.0) & (scale <= width)).all():
            fail(channel, "output_scale must be positive, and no more than the range of the output")
    if "kinks" in found:
        corners = np.asarray(attempt(channel, "kinks", lambda: _numbers(found["kinks"])))
        if corners.ndim != 1 or not np.isfinite(corners).all():
            fail(channel, "kinks must be an array of finite numbers with one axis")


def _numbers(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)


def _logs(channel: Channel, y: Any, l: Any) -> Array:
    what = f"log_density of y of shape {np.shape(y)} and l of shape {np.shape(l)}"
    return attempt(channel, what, lambda: channel.log_density(y, l))


def _check_answers(channel: Channel, inputs: Array, outputs: Array) -> None:
    given = outputs.copy(), inputs.copy()
    flat = _logs(channel, *given)
    if not (np.array_equal(given[0], outputs) and np.array_equal(given[1], inputs)):
        fail(channel, "log_density must not write into its arguments")
    if not np.array_equal(_logs(channel, outputs, inputs), flat):
        fail(channel, "log_density must give the same answer for the same arguments")
    table = _logs(channel, outputs[:, None], inputs)
    alone = np.array([float(_logs(channel, y, l)) for y, l in zip(outputs, inputs, strict=True)])
    for found in (flat, np.diagonal(table)):
        if not np.allclose(found, alone, rtol=1e-12, atol=1e-12):
            fail(channel, "log_density of a batch must equal that of its entries one by one")


def _check_total(channel: Channel, l: float) -> None:
    """Fail unless the law at this input is one, by a fine rule of its own."""
    rule, counted = gauss_kronrod(), isinstance(as_support(channel.support), Counts)
    what = f"the range of the output at l = {l!r}"
    found = attempt(channel, what, lambda: spread_of(channel, np.array([l])))
    if counted:
        counts = np.arange(found.low[0], found.high[0] + 1.0)
        total = float(np.exp(line_log_density(channel, counts, np.asarray(l))).sum())
    else:
        corners = kinks(channel, np.array([l]))
        edges = np.unique(np.concatenate([graded_edges(channel, l, 200), corners]))
        half = 0.5 * np.diff(edges)[:, None]
        nodes = edges[:-1, None] + half * (1.0 + rule.nodes)
        values = np.exp(line_log_density(channel, nodes, np.asarray(l)))
        total = float((half * rule.fine * values).sum())
    if abs(total - 1.0) <= TOTAL_ATOL or (not counted and _integrates(channel, l)):
        return
    what = "probabilities must sum" if counted else "the density must integrate"
    fail(channel, f"{what} to one; at l = {l!r} the total is {total!r}")


def _integrates(channel: Channel, l: float) -> bool:
    """Whether panels that adapt, to a jump say, find a total of one, as they do for a capacity."""
    try:
        check_total(channel, l)
    except InvalidArgument:
        return False
    return True


def _check_samples(
    channel: Channel, inputs: Array, low: Array, high: Array, rng: np.random.Generator
) -> None:
    """The share of draws below the middle of the law, against its mass there."""
    seed = int(rng.integers(2**31))
    support = as_support(channel.support)
    for l, start, stop in zip(inputs, low, high, strict=True):
        batch = np.full(DRAWS, l)
        drawn = np.asarray(attempt(channel, "sample", lambda b=batch: channel.sample(b, rng=seed)))
        if drawn.shape != (DRAWS,) or not np.asarray(support.contains(drawn)).all():
            fail(channel, f"samples at l = {float(l)!r} must have shape {(DRAWS,)} in the support")
        if not np.array_equal(drawn, channel.sample(batch, rng=seed)):
            fail(channel, "sample with one seed must repeat itself")
        if isinstance(support, Counts):
            grid, widths = np.arange(start, stop + 1.0), np.ones(1)
        else:
            edges = graded_edges(channel, float(l), 20_000)
            grid, drawn = 0.5 * (edges[1:] + edges[:-1]), support.to_line(drawn)
            widths = np.diff(edges)
        mass = np.exp(line_log_density(channel, grid, np.asarray(l))) * widths
        cumulative = np.cumsum(mass) / mass.sum()
        for level in (0.2, 0.5, 0.8):
            place = int(np.searchsorted(cumulative, level))
            cut = grid[place] + (0.5 if isinstance(support, Counts) else 0.0)
            share = float((drawn <= cut).mean())
            if abs(share - cumulative[place]) > 6.0 * 0.5 / np.sqrt(DRAWS) + 1e-3:
                shown = f"{share:.3f} instead of {float(cumulative[place]):.3f}"
                fail(channel, f"samples at l = {float(l)!r} must follow the density: {shown}")


def _check_divergence(channel: Channel, inputs: Array, reach: float) -> None:
    """A closed form `divergence_between` against quadrature."""
    closed = getattr(channel, "divergence_between", None)
    if closed is None:
        return
    from channelcode.information.output_divergence import output_divergence
    from channelcode.measures import DiscreteMeasure

    near = inputs[np.abs(inputs) <= reach]
    near = near if len(near) > 2 else inputs
    reference = float(near[len(near) // 2 + 1])
    given = np.asarray(closed(near, reference))
    expected = output_divergence(channel, near, DiscreteMeasure([reference], [1.0]))
    if not np.allclose(given, expected.nats, rtol=1e-7, atol=1e-9 + expected.error):
        fail(channel, f"divergence_between is wrong: {given} where integrals give {expected.nats}")
    for other in inputs[:: max(1, len(inputs) // 5)]:
        far = attempt(
            channel, "divergence_between", lambda other=other: np.asarray(closed(inputs, other))
        )
        if far.shape != inputs.shape or not (far >= 0.0).all():
            rule = f"must give {len(inputs)} numbers from zero to infinity, not {far}"
            fail(channel, f"divergence_between the inputs and {float(other)!r} {rule}")


def _check_refusals(channel: Channel, inputs: Array, outputs: Array) -> None:
    y, l = outputs[:2], inputs[:2]
    density: Any = channel.log_density
    for what, call in (
        ("log_density of an input that is NaN", lambda: density(y, [np.nan, 0.0])),
        ("log_density of an output that is NaN", lambda: density([np.nan, 0.0], l)),
        ("log_density of text", lambda: density("y", l)),
        ("log_prob, as there is no list of outputs", lambda: channel.log_prob(l)),
        ("sample of an infinite input", lambda: channel.sample([np.inf])),
    ):
        expect_refusal(channel, what, call)
    low, _ = channel.domain
    if low > -np.inf:
        expect_refusal(channel, "an input outside the domain", lambda: density(y[0], low - 1.0))
