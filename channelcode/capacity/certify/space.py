"""The upper bound in R^k: the highest F at even probes of the ball within reach and at climbs.

This is a search, not a proof: `scope` names the inputs that were looked at, how far apart they are,
and the radius beyond which the multiplier rules every input out.
"""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.certify.line import UpperBound
from channelcode.capacity.law_value import LawValue
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.lattice import described, layers
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
    """The maximum of F over probes and climbs, in nats, and the inputs that were looked at."""
    output = filled(found.output, tol)
    directions = spread_directions(problem.channel.dim, CERTIFYING_SEED)
    starts = climbing_starts(
        problem, directions, output, multiplier, found.nats, atoms, everywhere=True
    )
    _, heights = climb(problem, starts, output, multiplier)
    far = reach_in_space(problem, output, multiplier, found.nats)
    probed = layers(problem, far.radius)
    tops = [float(layer.heights(problem, output, multiplier).max()) for layer in probed]
    upper = max(float(np.max(heights, initial=found.nats)), *tops, found.nats)
    search = f"{len(starts)} climbs" + (f" and {described(probed)}" if probed else "")
    search += f", within {far.radius:.4g} of zero"
    tails = "" if far.end is End.PEAK else "; further out the multiplier rules all out"
    dim = problem.channel.dim
    if problem.tails is not None and far.end in (End.PEAK, End.MULTIPLIER):
        return UpperBound(
            upper, f"R^{dim}, multi-start + grid: {search}{tails} (a search, not a proof)"
        )
    if far.end is End.NONE:
        tails = "; further out nothing is known"
    where = f"only the inputs looked at in R^{dim}, and nothing between them"
    scope = f"{where}, multi-start + grid: {search}{tails} (a search, not a proof)"
    return UpperBound(upper, scope, False)
