"""The upper bound in R^k: a proof where the channel has one, and otherwise a search.

- Softmax under a power and a peak: the capacity is known (`channelcode.capacity.simplex`).
- A channel on the line behind one row a, W(.|l) = V(.|a'l): t = a'l/|a| has |t| <= |l|, so that the
  bound on the line, for V(.||a| t) and the same q and s, holds for every l.
- Any other: the highest F at even probes of the ball within reach and at climbs. It is no proof
  for what lies between them, so that it is never complete: `scope` names the inputs that were
  looked at, how far apart they are, and the radius beyond which the multiplier rules every input
  out.
"""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.certify.line import UpperBound, line_bound
from channelcode.capacity.law_value import LawValue, law_value, quiet_log_prob
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.lattice import described, layers
from channelcode.capacity.search.reach import End, filled
from channelcode.capacity.search.space import (
    climb,
    climbing_starts,
    reach_in_space,
    spread_directions,
)
from channelcode.capacity.simplex import simplex_code
from channelcode.channels import Features, Softmax

CERTIFYING_SEED = 7919  # other random directions than the solver's


def space_bound(
    problem: Problem, atoms: Array, found: LawValue, multiplier: float, tol: float
) -> UpperBound:
    """An upper bound in nats, and what it was proved over or which inputs were looked at."""
    known = _known(problem, found) or _on_a_line(problem, atoms, found, multiplier, tol)
    if known is not None:
        return known
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
    if far.end is End.NONE:
        tails = "; further out nothing is known"
    where = f"only the inputs looked at in R^{dim}, and nothing between them"
    scope = f"{where}, multi-start + grid: {search}{tails} (a search, not a proof)"
    return UpperBound(upper, scope, False)


def _known(problem: Problem, found: LawValue) -> UpperBound | None:
    """The capacity of softmax, whatever was proposed."""
    limit, channel = problem.limits, problem.channel
    bounded = min(limit.budget, limit.peak) < np.inf
    if type(channel) is not Softmax or problem.has_own_cost or not bounded:
        return None
    code = simplex_code(channel.num_outputs, limit.budget, limit.peak)
    best = law_value(quiet_log_prob(channel, code.points), code.weights).nats
    scope = f"the whole of R^{channel.dim} (maxima lie on the vertex rays)"
    return UpperBound(max(best, found.nats), scope)


def _on_a_line(
    problem: Problem, atoms: Array, found: LawValue, multiplier: float, tol: float
) -> UpperBound | None:
    """The bound along the one direction that the channel sees; None if it sees more than one."""
    channel = problem.channel
    if problem.has_own_cost or type(channel) is not Features or channel.channel.dim != 1:
        return None  # a subclass may look at inputs in another way
    if callable(channel.map):
        return None
    row = np.atleast_2d(np.asarray(channel.map, dtype=np.float64))[0]
    size = float(np.linalg.norm(row))
    if not 0.0 < size < np.inf:
        return None
    seen = Problem(Features(channel.channel, [[size]]), problem.constraint)
    bound = line_bound(seen, atoms @ (row / size), found, multiplier, tol)
    where = f"R^{channel.dim} by the one direction that the channel sees, {bound.scope}"
    return bound._replace(scope=where)
