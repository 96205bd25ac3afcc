"""Pictures of capacities: the KKT function touching its bound, atoms splitting as power grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.plot.style import BLUE, COLOURS, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from channelcode.capacity import CapacityCurve, CapacityResult

_POINTS = 801


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
    span = max(result.upper, 1e-12)
    upper.set_ylim(-0.6 * span, 1.25 * span)
    upper.set_ylabel("KKT function (bits)")
    upper.set_title(f"{result.problem.channel!r}, {result.problem.constraint!r}", fontsize=10)
    lower.set_ylabel("weight")
    lower.set_ylim(0.0, 1.15 * float(result.input.weights.max()))
    return figure


def capacity_curve(curve: CapacityCurve) -> Figure:
    """C(P) with its tangent slope, and the atoms of the optimal input as they split."""
    figure, (left, right) = new_figure(1, 2, figsize=(11.0, 4.0))
    powers = np.asarray(curve.powers)
    left.plot(powers, np.asarray(curve.bits), color=BLUE, linewidth=2.0)
    left.set_xlabel("power P")
    left.set_ylabel("capacity C(P) (bits)")
    slope = left.twinx()
    slope.plot(powers, np.asarray(curve.multiplier), color=ORANGE, linestyle="--", linewidth=1.2)
    slope.set_ylabel("dC/dP (bits per unit power)", color=ORANGE)
    for power, law in zip(powers, curve.inputs, strict=True):
        height = law.atoms if law.dim == 1 else np.linalg.norm(law.points, axis=1)
        right.scatter(
            np.full(len(law), power), height, s=4.0 + 60.0 * law.weights, color=BLUE, linewidths=0
        )
    right.set_xlabel("power P")
    right.set_ylabel("atoms" if curve.inputs[0].dim == 1 else "norms of the atoms")
    right.set_title("area of a dot: weight of the atom", fontsize=10)
    return figure


def kkt_function(result: CapacityResult, points: Array) -> Array:
    """D(W(.|l) || q) - s (b(l) - P) in bits at inputs `(n,)` or `(n, dim)`."""
    from channelcode.capacity.kkt import kkt_function as in_nats

    return in_nats(result.problem, points, result.output, result.multiplier * LOG_TWO) / LOG_TWO


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
    for j in np.flatnonzero(norms > 0):
        ray = radii[:, None] * (points[j] / norms[j])
        colour = COLOURS[j % len(COLOURS)]
        upper.plot(radii, kkt_function(result, ray), color=colour, linewidth=1.2, alpha=0.8)
    upper.plot(norms, kkt_function(result, points), "o", color=BLUE)
    lower.vlines(norms, 0.0, weights, color=BLUE, linewidth=3.0)
    lower.set_xlabel("|l| along the direction of each atom")


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
