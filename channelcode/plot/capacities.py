"""Pictures of capacities: the KKT function touching its bound, atoms splitting as power grows."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.constraints import All, Constraint, Cost, Peak, Power, Variance
from channelcode.plot.style import BLUE, COLOURS, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from channelcode.capacity import CapacityCurve, CapacityResult
    from channelcode.channels import Channel

_POINTS = 801
_SHOWN = 6  # numbers of a list that a title has room for


def capacity(result: CapacityResult) -> Figure:
    """The KKT function touching the capacity at the atoms, and the weights of the atoms.

    Optimality means D(W(.|l) || q) - s (b(l) - P) <= C for every input l, with equality on the
    support. On the line the whole curve is drawn; in R^k its section along each atom's direction.
    """
    figure, (upper, lower) = new_figure(
        2, 1, figsize=(7.0, 5.0), sharex=True, height_ratios=(3.0, 1.0)
    )
    if result.problem.is_finite:
        _finite_alphabet(upper, lower, result)
    elif result.input.dim == 1:
        _line(upper, lower, result)
    else:
        _sections(upper, lower, result)
    upper.axhline(result.upper, color=ORANGE, linewidth=1.2, linestyle="--")
    upper.annotate(
        f"C = {result.bits:.9g} bits (gap {result.gap:.1g})",
        (0.02, result.upper),
        xycoords=("axes fraction", "data"),
        xytext=(0, 4),
        textcoords="offset points",
        color=ORANGE,
    )
    upper.set_ylim(*_heights(upper, result.upper))
    upper.set_ylabel("KKT function (bits)")
    problem = result.problem
    upper.set_title(
        f"{in_words(problem.channel)}, {limit_in_words(problem.constraint)}", fontsize=10
    )
    lower.set_ylabel("weight")
    lower.set_ylim(0.0, 1.15 * float(result.input.weights.max()))
    return figure


def capacity_curve(curve: CapacityCurve) -> Figure:
    """C(P) from P = 0 with its slope, and the atoms of the optimal input as they split."""
    figure, (left, right) = new_figure(1, 2, figsize=(11.0, 4.0))
    powers, order = np.asarray(curve.powers), np.argsort(curve.powers)
    drawn = np.concatenate([[0.0], powers[order]])  # C(0) = 0: without power nothing is sent
    left.plot(drawn, np.concatenate([[0.0], curve.bits[order]]), color=BLUE, linewidth=2.0)
    left.set_xlim(left=0.0)
    left.set_ylim(bottom=0.0)
    left.set_title(in_words(curve.results[0].problem.channel), fontsize=10)
    left.set_xlabel("power P")
    left.set_ylabel("capacity C(P) (bits)")
    slope = left.twinx()
    sent = order[powers[order] > 0]  # at zero the slope is not told
    slope.plot(powers[sent], curve.multiplier[sent], color=ORANGE, linestyle="--", linewidth=1.2)
    slope.set_ylim(bottom=0.0)
    slope.set_ylabel("dC/dP (bits per unit power)", color=ORANGE)
    for power, law in zip(powers, curve.inputs, strict=True):
        height = law.atoms if law.dim == 1 else np.linalg.norm(law.points, axis=1)
        right.scatter(
            np.full(len(law), power), height, s=4.0 + 60.0 * law.weights, color=BLUE, linewidths=0
        )
    right.set_xlim(left=0.0)
    right.set_xlabel("power P")
    right.set_ylabel("atoms" if curve.inputs[0].dim == 1 else "norms of the atoms")
    right.set_title("area of a dot: weight of the atom", fontsize=10)
    return figure


def kkt_function(result: CapacityResult, points: Array) -> Array:
    """D(W(.|l) || q) - s (b(l) - P) in bits at inputs `(n,)` or `(n, dim)`."""
    from channelcode.capacity.kkt import kkt_function as in_nats

    return in_nats(result.problem, points, result.output, result.multiplier * LOG_TWO) / LOG_TWO


def in_words(channel: Channel) -> str:
    """A channel's name and parameters as a reader would say them.

    >>> from channelcode import QuantisedGaussian, Softmax
    >>> in_words(QuantisedGaussian((-1.0, 1.0)))
    'Quantised Gaussian channel (thresholds -1, 1; noise 1)'
    >>> in_words(Softmax(3))
    'Softmax channel (num classes 3)'
    """
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(channel).__name__)
    told = []
    for field in fields(channel) if is_dataclass(channel) else ():
        value = getattr(channel, field.name)
        if hasattr(value, "log_prob"):
            told.append(type(value).__name__.lower())
        elif isinstance(value, (int, float)):
            told.append(f"{field.name.replace('_', ' ')} {value:g}")
        elif np.ndim(value) == 1 and np.size(value) <= _SHOWN:
            listed = ", ".join(f"{number:g}" for number in value)
            told.append(f"{field.name.replace('_', ' ')} {listed}")
    return f"{name} channel" + (f" ({'; '.join(told)})" if told else "")


def limit_in_words(constraint: Constraint) -> str:
    """A constraint as a reader would say it.

    >>> from channelcode import Peak, Power
    >>> limit_in_words(Power(4.0) & Peak(3.0))
    'mean power at most 4 and size at most 3'
    """
    if isinstance(constraint, All):
        return " and ".join(map(limit_in_words, constraint.parts))
    if isinstance(constraint, Power):
        return f"mean power at most {constraint.power:g}"
    if isinstance(constraint, Variance):
        return f"variance at most {constraint.variance:g}"
    if isinstance(constraint, Peak):
        return f"size at most {constraint.amplitude:g}"
    if isinstance(constraint, Cost):
        return f"mean cost at most {constraint.budget:g}"
    return "no limit"


def _heights(axes: Axes, top: float) -> tuple[float, float]:
    """The range of an axis that the curves fill; a deep fall is cut at the height above zero."""
    drawn = [np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.lines]
    values = np.concatenate([line[np.isfinite(line)] for line in drawn])
    span = max(top, 1e-12)
    low = min(max(float(values.min()), -0.6 * span), 0.9 * span)
    return low - 0.08 * (span - low), span + 0.22 * (span - low)


def _line(upper: Axes, lower: Axes, result: CapacityResult) -> None:
    atoms, weights = result.input.atoms, result.input.weights
    reach = min(1.8 * max(float(np.abs(atoms).max()), 0.5), result.problem.limits.peak)
    grid = np.linspace(-reach, reach, _POINTS)
    upper.plot(grid, kkt_function(result, grid), color=BLUE, linewidth=2.0)
    upper.plot(atoms, kkt_function(result, atoms), "o", color=BLUE)
    lower.vlines(atoms, 0.0, weights, color=BLUE, linewidth=3.0)
    lower.set_xlabel("channel input l")


def _sections(upper: Axes, lower: Axes, result: CapacityResult) -> None:
    points, weights = result.input.points, result.input.weights
    norms = np.linalg.norm(points, axis=1)
    reach = min(1.8 * max(float(norms.max()), 0.5), result.problem.limits.peak)
    radii = np.linspace(0.0, reach, _POINTS // 4)
    colours = [COLOURS[j % len(COLOURS)] for j in range(len(norms))]
    for j in np.flatnonzero(norms > 0):
        ray = radii[:, None] * (points[j] / norms[j])
        upper.plot(radii, kkt_function(result, ray), color=colours[j], linewidth=1.2, alpha=0.8)
    upper.plot(norms, kkt_function(result, points), "o", color=BLUE)
    lower.vlines(_side_by_side(norms, 0.012 * reach), 0.0, weights, color=colours, linewidth=3.0)
    lower.set_xlabel("|l| along the direction of each atom (atoms of one size side by side)")


def _side_by_side(places: Array, step: float) -> Array:
    """Places for sticks: those that would hide each other stand `step` apart, around their own."""
    order = np.argsort(places, kind="stable")
    moved = places.copy()
    for group in np.split(order, np.flatnonzero(np.diff(places[order]) > step) + 1):
        moved[group] += step * (np.arange(len(group)) - (len(group) - 1) / 2)
    return moved


def _finite_alphabet(upper: Axes, lower: Axes, result: CapacityResult) -> None:
    letters = np.asarray(result.problem.channel.inputs)
    place = np.arange(len(letters)) if result.input.dim > 1 else letters
    upper.plot(place, kkt_function(result, letters), ".", color=BLUE)
    atoms = result.input.atoms
    if result.input.dim > 1:
        same = (letters[None, :, :] == result.input.points[:, None, :]).all(axis=2)
        atoms = same.argmax(axis=1)
    lower.vlines(atoms, 0.0, result.input.weights, color=BLUE, linewidth=3.0)
    lower.set_xlabel("input letter")
