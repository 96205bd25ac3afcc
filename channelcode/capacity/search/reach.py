"""How far out an input can still break KKT, and by which reason none does beyond."""

from __future__ import annotations

from enum import Enum
from math import sqrt
from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.channels.tails import FARTHEST

SHARE = 0.1  # of the tolerance, mixed into outputs that the law misses


class End(Enum):
    """Why no input beyond the reach can break KKT; the value is for the reader."""

    PEAK = ""
    MULTIPLIER = "tails by the multiplier"
    COST = "beyond, the cost rules every probe out"
    NONE = "beyond, nothing is known"


class Reach(NamedTuple):
    """A radius, and why it ends the search."""

    radius: float
    end: End


def filled(output: Array, tol: float) -> Array:
    """The output law with a little mass, `tol` / 10, on outputs that it misses.

    Any law of the output gives an upper bound, and D(W || q) is infinite where W has an output
    that q misses. The bound grows by `tol` / 10 at most, and D(W || q) <= -ln min q is finite.
    """
    share = SHARE * tol
    missed = output < 1e-3 * share / len(output)
    if not missed.any():
        return output
    mixed = output * (1.0 - share)
    mixed[missed] += share / np.count_nonzero(missed)
    return mixed / mixed.sum()


def reach(problem: Problem, output: Array, multiplier: float, value: float) -> Reach:
    """A radius beyond which no input can break KKT; `output` must be positive.

    As D(W||q) <= -ln min q, inputs with s (b(l) - P) above -ln min q - I cannot. The peak ends the
    search too, and a cost of one's own that is infinite from some input on. Otherwise the radius is
    FARTHEST.
    """
    limit = problem.limits
    room = max(float(-np.log(output.min())) - value, 0.0) + 1e-12
    end = Reach(min(limit.peak, FARTHEST), End.PEAK if limit.peak <= FARTHEST else End.NONE)
    if limit.cost is None:
        return end
    if not limit.is_power:
        return _by_cost(problem, room / multiplier if multiplier > 0 else np.inf, end)
    if multiplier <= 0:
        return end
    radius = sqrt(limit.budget + room / float(multiplier))
    return Reach(radius, End.MULTIPLIER) if radius < end.radius else end


def _by_cost(problem: Problem, room: float, end: Reach) -> Reach:
    """The last of many probes, out to FARTHEST, that the cost does not rule out, and one more."""
    from channelcode.capacity.search.cheap import priced_probes

    points, cost = priced_probes(problem)
    sizes = problem.norm(points)
    allowed = (cost < np.inf) & (cost - problem.limits.budget <= room)
    last = float(sizes[allowed].max()) if allowed.any() else min(1.0, end.radius)
    beyond = sizes[sizes > last]
    if len(beyond) == 0:
        return end
    radius = float(beyond.min())
    if problem.limits.rises < np.inf:  # from there on each probe speaks for those beyond it
        radius = max(radius, problem.limits.rises)
    return Reach(min(radius, end.radius), End.COST)
