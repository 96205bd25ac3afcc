"""The upper bound in R^k: the highest maximum of F found from many starts.

This is a search, not a proof: `scope` says from how many starts and out to which radius, beyond
which the multiplier rules every input out.
"""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.law_value import LawValue
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.space import (
    climb,
    climbing_starts,
    reach_in_space,
    spread_directions,
)

CERTIFYING_SEED = 7919  # other random directions than the solver's


def space_bound(
    problem: Problem, atoms: Array, found: LawValue, multiplier: float
) -> tuple[float, str]:
    """The maximum of F over climbs from a grid of radii and directions, in nats, and its scope."""
    directions = spread_directions(problem.channel.dim, CERTIFYING_SEED)
    starts = climbing_starts(problem, directions, found.output, multiplier, found.nats, atoms)
    _, heights = climb(problem, starts, found.output, multiplier)
    radius, proved = reach_in_space(problem, found.output, multiplier, found.nats, directions)
    upper = float(np.max(heights, initial=found.nats))
    tails = "beyond it the multiplier rules all out" if proved else "nothing is proved beyond it"
    return upper, (
        f"R^{problem.channel.dim}, multi-start + grid: {len(starts)} climbs within radius "
        f"{radius:.4g}, {tails}"
    )
