"""The upper bound in R^k: the highest maximum of F found from many starts.

This is a search, not a proof: `scope` says from how many starts and out to which radius, beyond
which the multiplier rules every input out.
"""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.information import Information
from channelcode.capacity.problem import Problem
from channelcode.capacity.space import SpaceSearch, climb, reach_in_space

CERTIFYING_SEED = 7919  # other random directions than the solver's


def space_bound(
    problem: Problem, atoms: Array, found: Information, multiplier: float
) -> tuple[float, str]:
    """The maximum of F over climbs from a grid of radii and directions, in nats, and its scope."""
    search = SpaceSearch(problem, CERTIFYING_SEED)
    starts = search.starts(found.output, multiplier, found.nats, atoms)
    _, heights = climb(problem, starts, found.output, multiplier)
    radius, proved = reach_in_space(
        problem, found.output, multiplier, found.nats, search.directions
    )
    upper = float(np.max(heights, initial=found.nats))
    tails = "beyond it the multiplier rules all out" if proved else "nothing is proved beyond it"
    return upper, (
        f"R^{problem.channel.dim}, multi-start + grid: {len(starts)} climbs within radius "
        f"{radius:.4g}, {tails}"
    )
