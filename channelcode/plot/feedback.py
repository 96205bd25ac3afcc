"""Pictures of codes with feedback: the waterfall, information, rates, and the maps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from channelcode._validation import integer
from channelcode.errors import InvalidArgument
from channelcode.feedback import (
    Confidence,
    FixedPoints,
    LetterScheme,
    Transcript,
    bounds,
    expected_uses,
    fixed_points,
)
from channelcode.feedback.intervals.state import MatchingState
from channelcode.feedback.theory.fixed_points import maps as phi_maps
from channelcode.plot.style import BLUE, COLOURS, GREEN, GREY, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from channelcode.channels import Channel
    from channelcode.measures import DiscreteMeasure

_COLUMNS = 900
_ROWS, _DIGITS = 500, 256  # at most, in a picture
_DASHES: tuple[Any, ...] = ("-", (0, (5, 3)), (0, (2, 2)), (0, (7, 2, 1, 2)))
_FLOOR = -20.0  # log2 densities below this share of the picture's top are drawn as this


def waterfall(run: Transcript, *, zoom: bool = False) -> Figure:
    """The posterior of a message as it sharpens: time runs down, the message axis across.

    Shade is log2 of the posterior density, dots are the cuts of each use, the line is the true
    message. Beside it, where a line soon hides all, the same posterior by binary digits: the mass
    of the messages that agree with the true one in exactly so many leading digits, with the line
    n I. With `zoom=True` each row is drawn around the truth instead, at the scale of
    2^-information.
    """
    first = next(run.states())
    if not isinstance(first, MatchingState):
        raise InvalidArgument("run", "must be of posterior matching, such as Horstein", run)
    truth = _position(run.message, run.messages)
    picture, digits, cuts = [], [], []
    depths = _depths(run)
    every = -(-(run.uses + 1) // _ROWS)
    for time, state in enumerate(run.states()):
        if time < run.uses:
            cuts += [(_position(cut, run.messages), time) for cut in state.cuts]
        if time % every:
            continue
        ends, masses = state.intervals
        places = np.array([_position(end, run.messages) for end in ends])
        grid = (np.arange(_COLUMNS) + 0.5) / _COLUMNS
        if zoom:
            width = 2.0 ** (2.0 - run.scheme.information_bits * time)
            grid = truth + (grid - 0.5) * min(width, 1.0)
        else:
            digits.append(_agreement(ends, masses, run.message, run.messages, depths))
        inside = np.clip(np.searchsorted(places, grid, side="right") - 1, 0, len(places) - 2)
        row = state.log_densities[inside]
        if zoom:
            row = row - run.scheme.information_bits * time
        picture.append(np.where((grid >= 0) & (grid < 1), row, np.nan))
    values = np.array(picture)
    top = float(np.nanmax(values))
    values = np.maximum(values, max(_FLOOR, -top - 8.0))
    last = len(picture) * every - 0.5
    if zoom:
        figure, axes = new_figure(figsize=(7.0, 5.5))
    else:
        figure, (axes, beside) = new_figure(1, 2, figsize=(11.0, 5.5), sharey=True)
        _draw_digits(beside, np.array(digits), depths, last, run)
    box = (-0.5, 0.5, last, -0.5) if zoom else (0.0, 1.0, last, -0.5)
    shade = axes.imshow(values, extent=box, aspect="auto", cmap="viridis", interpolation="nearest")
    label = "log2 of the posterior density" + (" less n I" if zoom else "")
    figure.colorbar(shade, ax=axes, label=label)
    if zoom:
        axes.axvline(0.0, color="white", linewidth=0.8, linestyle="--")
        axes.set_xlabel("place around the true message, in units of 4 / 2^(n I)")
        axes.set_xticks([-0.5, 0.0, 0.5], ["-1/2", "true", "1/2"])
    else:
        axes.axvline(truth, color="white", linewidth=0.8, linestyle="--")
        x, y = np.array(cuts).T if cuts else (np.zeros(0), np.zeros(0))
        axes.plot(x, y, ".", color=ORANGE, markersize=4, label="cuts")
        axes.plot([], [], color="white", linestyle="--", linewidth=0.8, label="true message")
        _dark_legend(axes, "lower left")
        axes.set_xlabel("message")
    axes.set_ylabel("uses of the channel")
    return figure


def _draw_digits(axes: Any, values: Any, depths: list[int], last: float, run: Transcript) -> None:
    """The mass by leading digits, and where n I bits would be."""
    box = (0.0, float(depths[-1]), last, -0.5)
    axes.imshow(values, extent=box, aspect="auto", cmap="viridis", interpolation="nearest",
                vmin=0.0, vmax=1.0)  # fmt: skip
    uses = np.arange(run.uses + 1)
    line = uses * run.scheme.information_bits
    axes.plot(line, uses, color=ORANGE, linewidth=1.2, label="n I")
    axes.set_xlim(0.0, float(depths[-1]))
    axes.set_xlabel("leading binary digits that agree with the true message")
    _dark_legend(axes, "lower left")


def _dark_legend(axes: Any, place: str) -> None:
    legend = axes.legend(loc=place, fontsize=8, facecolor="#444444")
    for text in legend.get_texts():
        text.set_color("white")


def _depths(run: Transcript) -> list[int]:
    """Numbers of leading digits, from none to all that the message has, at most `_DIGITS`."""
    if run.messages is None:
        most = max(8, int(run.uses * run.scheme.information_bits) + 8)
    else:
        most = (run.messages - 1).bit_length()
    return sorted({round(depth) for depth in np.linspace(0, most, min(most, _DIGITS) + 1)})


def _agreement(
    ends: Sequence[Any], masses: Any, message: Any, messages: int | None, depths: Sequence[int]
) -> list[float]:
    """The posterior mass of what agrees with the message in depths[j] to depths[j + 1] - 1 leading
    digits of its place on the axis; the last takes what agrees in all.
    """
    size: Any = 1 if messages is None else messages
    below = np.concatenate(([0.0], np.cumsum(masses)))

    def reached(place: Any) -> float:
        at = min(bisect_right(ends, place), len(ends) - 1) - 1
        width = ends[at + 1] - ends[at]
        return float(below[at] + masses[at] * float(Fraction(place - ends[at]) / Fraction(width)))

    within = []
    for depth in depths:
        cell = int((Fraction(message) * 2**depth) // size)
        low, high = (Fraction(size * (cell + side), 2**depth) for side in (0, 1))
        if messages is not None:
            low, high = ceil(low), ceil(high)
        within.append(reached(high) - reached(low))
    return [*(one - other for one, other in pairwise(within)), within[-1]][-len(depths) :]


def information(run: Transcript) -> Figure:
    """What was gathered against n C: the log2 density at the truth, with a band of two deviations.

    On a symmetric channel the path is a sum of independent terms of mean I and variance V, and
    n I plus or minus 2 sqrt(n V) is its band; elsewhere the mean is the same and the band a guide.
    """
    if not isinstance(run.scheme, LetterScheme):
        raise InvalidArgument("run", "must be of a scheme with letters", run.scheme)
    scheme = run.scheme
    uses = np.arange(run.uses + 1)
    joint = scheme.weights[:, None] * scheme.matrix
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.where(joint > 0, np.log2(scheme.matrix / scheme.output), 0.0)
    spread = float((joint * (density - scheme.information_bits) ** 2).sum())
    line = uses * scheme.information_bits
    band = 2.0 * np.sqrt(uses * spread)
    figure, axes = new_figure(figsize=(7.0, 4.2))
    axes.fill_between(uses, line - band, line + band, color=BLUE, alpha=0.12, linewidth=0)
    axes.plot(uses, line, color=BLUE, linewidth=3.0, alpha=0.6, label="n I(p, W)")
    axes.plot(uses, np.concatenate(([0.0], np.cumsum(run.gain_bits))), color=GREEN, linewidth=1.5,
              label="gathered, rounding taken off")  # fmt: skip
    axes.plot(uses, np.concatenate(([0.0], run.truth_bits)), color=ORANGE, linewidth=1.2,
              label="log2 density at the truth")  # fmt: skip
    if run.messages is not None:
        axes.axhline(np.log2(float(run.messages)) if run.messages < 2**1000 else
                     run.messages.bit_length() - 1, color=GREY, linestyle=":", linewidth=1.2,
                     label="log2 of the number of messages")  # fmt: skip
    axes.set_xlabel("uses of the channel")
    axes.set_ylabel("bits")
    axes.set_xlim(0, max(run.uses, 1))
    axes.legend(loc="lower right", fontsize=8)
    return figure


def rates(
    schemes: Sequence[Any],
    bits: Sequence[int],
    *,
    stop: Confidence = Confidence(1e-3),
    runs: int | None = None,
) -> Figure:
    """Rate k / E tau against k for schemes on one channel, between the bounds that are proved.

    No code is above Fano's line; SED is proved to be above the two-phase line.
    """
    sizes = [integer("bits", k, least=1) for k in bits]
    figure, axes = new_figure(figsize=(7.0, 4.5))
    limits = [bounds(schemes[0], 2**k, stop=stop) for k in sizes]
    axes.axhline(limits[0].capacity_bits, color=GREY, linewidth=1.0, linestyle=":")
    axes.annotate("capacity", (sizes[0], limits[0].capacity_bits), xytext=(0, 3),
                  textcoords="offset points", color=GREY, fontsize=8)  # fmt: skip
    above = [k / limit.lower for k, limit in zip(sizes, limits, strict=True)]
    axes.plot(sizes, above, color="black", linestyle="--", linewidth=1.0, label="no code (Fano)")
    if all(limit.upper is not None for limit in limits):
        below = [k / float(limit.upper or np.inf) for k, limit in zip(sizes, limits, strict=True)]
        axes.plot(sizes, below, color="black", linewidth=1.0, label="SED at least (two phases)")
        axes.fill_between(sizes, below, above, color=GREY, alpha=0.1, linewidth=0)
    for scheme, colour in zip(schemes, COLOURS):
        found = [expected_uses(scheme, 2**k, stop=stop, runs=runs) for k in sizes]
        middle = np.array([each.rate_bits for each in found])
        error = np.array([2 * each.standard_error / each.mean for each in found]) * middle
        axes.errorbar(sizes, middle, error, color=colour, marker="o", markersize=3, linewidth=1.2,
                      label=type(scheme).__name__)  # fmt: skip
    axes.set_xlabel("bits of the message, k")
    axes.set_ylabel("bits a use, k / E tau")
    axes.set_title(f"error at most {stop.error:g}", fontsize=10)
    axes.legend(loc="lower right", fontsize=8)
    return figure


def maps(channel: Channel, input: DiscreteMeasure) -> Figure:
    """The maps phi -> F(phi | y) of a normalised message, with the diagonal and the fixed points.

    Where every map meets the diagonal at once, the mass left of that point never moves.
    """
    found: FixedPoints = fixed_points(channel, input)
    used = input.weights > 0
    rows, weights = channel.prob(input.atoms[used]), input.weights[used]
    possible = weights @ rows > 0
    grid = np.unique(np.concatenate((np.linspace(0, 1, 201), np.cumsum(weights)[:-1])))
    values = phi_maps(rows[:, possible], weights, grid)
    figure, axes = new_figure(figsize=(5.0, 5.0))
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1.0, linestyle="--")
    for place, colour in zip(np.flatnonzero(possible), np.resize(COLOURS, possible.sum())):
        column = int(np.count_nonzero(possible[:place]))
        # lines that coincide stay visible: each later one is thinner and dashed otherwise
        style = _DASHES[column % len(_DASHES)]
        axes.plot(grid, values[:, column], color=colour, linewidth=3.0 / (1 + 0.5 * column),
                  linestyle=style, label=f"output {place}")  # fmt: skip
    for cut in np.cumsum(weights)[:-1]:
        axes.axvline(cut, color=GREY, linewidth=0.6, alpha=0.5)
    for point in found.points:
        axes.plot(point, point, "o", markersize=11, fillstyle="none", color="black")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.set_xlabel("phi before the use (thin lines: cuts)")
    axes.set_ylabel("phi after output y")
    verdict = "a fixed point: a bit is never learned" if found else "no common fixed point"
    axes.set_title(verdict, fontsize=10)
    axes.legend(loc="upper left", fontsize=8)
    return figure


def _position(place: Any, messages: int | None) -> float:
    """A place of the message axis in [0, 1]; integers of any size."""
    if messages is None:
        return float(place)
    if isinstance(place, int | np.integer):
        return int(place) / messages
    return float(place / messages)
