"""The upper bound in R^k: the highest maximum of F found from many starts.

This is a search, not a proof: `scope` says from how many starts and out to which radius, beyond
which the multiplier rules every input out.
"""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.certify.line import UpperBound
from channelcode.capacity.law_value import LawValue
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.reach import End, filled
from channelcode.capacity.search.space import (
    climb,
    climbing_starts,
    reach_in_space,
    spread_directions,
)

CERTIFYING_SEED = 7919  # other random directions than the solver's


def space_bound(
    problem: Problem, atoms: Array, found: LawValue, multiplier: float, tol: float
) -> UpperBound:
    """The maximum of F over climbs from a grid of radii and directions, in nats, and its scope."""
    output = filled(found.output, tol)
    directions = spread_directions(problem.channel.dim, CERTIFYING_SEED)
    starts = climbing_starts(problem, directions, output, multiplier, found.nats, atoms)
    _, heights = climb(problem, starts, output, multiplier)
    far = reach_in_space(problem, output, multiplier, found.nats, directions)
    upper = float(np.max(heights, initial=found.nats))
    declared = problem.tails is not None
    ended = far.end in (End.PEAK, End.MULTIPLIER)
    dim = problem.channel.dim
    search = f"multi-start + grid: {len(starts)} climbs (a search, not a proof)"
    if declared and ended:
        tails = "" if far.end is End.PEAK else ", beyond it the multiplier rules all out"
        return UpperBound(upper, f"R^{dim}, {search} within radius {far.radius:.4g}{tails}")
    tails = "beyond it the multiplier rules all out" if ended else "nothing is proved beyond it"
    where = f"inputs in R^{dim} within radius {far.radius:.4g} of zero"
    return UpperBound(upper, f"{where}, {search}, {tails}", False)
