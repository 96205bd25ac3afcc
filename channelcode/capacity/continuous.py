"""Capacity over a continuous input, without a grid in the answer.

A coarse alphabet is solved by the interior point; then, in turn, its mass is gathered into atoms,
Newton's method on (atoms, weights, multiplier) finds their exact place, and the largest violations
of KKT over the whole space join the alphabet, until none is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from channelcode._validation import Array, integer
from channelcode.capacity.alphabet import build
from channelcode.capacity.information import information, safe_log_prob
from channelcode.capacity.interior_point import maximise
from channelcode.capacity.newton import polish
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.support import few_atoms, gather, merge_closest, within_budget
from channelcode.errors import InvalidArgument


@dataclass(frozen=True)
class Continuous:
    """Inputs anywhere in R or R^k: exchange of atoms, then Newton; at most |Y| + 1 atoms.

    `max_steps` bounds the rounds of exchange; `rng` seeds the search in R^k.

    >>> from channelcode.capacity import capacity, Power
    >>> from channelcode.channels import Ordinal
    >>> result = capacity(Ordinal([-1.0, 1.0]), Power(16.0), solver=Continuous())
    >>> result.input.atoms.round(6)
    array([-4.277257,  0.      ,  4.277257])
    """

    max_steps: int = 40
    rng: int = 0

    def __post_init__(self) -> None:
        integer("max_steps", self.max_steps, least=1)
        integer("rng", self.rng, least=0)

    def propose(
        self, problem: Problem, *, tol: float, start: Proposal | None = None
    ) -> Proposal:
        """Atoms, weights and multiplier; `start` is a nearby problem's answer to begin from."""
        if problem.is_finite:
            raise InvalidArgument("channel", "must have a continuous input", problem.channel)
        limit = problem.limits
        if limit.peak == 0 or (limit.is_power and limit.budget == 0):
            dim = problem.channel.dim
            zero = np.zeros(1 if dim == 1 else (1, dim))
            return Proposal(zero, np.ones(1), 0.0, "Continuous")
        if problem.channel.dim == 1:
            from channelcode.capacity.line_search import LineSearch

            search = LineSearch(problem)
        else:
            from channelcode.capacity.space import SpaceSearch

            search = SpaceSearch(problem, self.rng)
        return exchange(problem, search, tol=tol, max_steps=self.max_steps, start=start)


def exchange(problem, search, *, tol, max_steps, start=None) -> Proposal:  # type: ignore[no-untyped-def]
    """Alternate finite solve, gathering, Newton, and the search for violations."""
    goal = max(0.05 * tol, 1e-14)
    best: tuple[float, Array, Array, float] | None = None
    polished_rounds = 0
    alphabet = search.alphabet() if start is None else start.points
    steps = 0
    for step in range(max_steps):
        steps = step + 1
        if step == 0 and start is not None:
            points, weights, multiplier = start.points, start.weights, start.multiplier
        else:
            points, weights, multiplier = _finite(problem, alphabet, goal)
        candidates = [_refined(problem, points, weights, multiplier, search)]
        polished = candidates[0]
        value, output = _value(problem, polished[0], polished[1])
        violators, violation = search.violations(output, polished[2], value, polished[0])
        if best is None or violation < best[0]:
            best = (violation, *polished)
            polished_rounds = 0
        else:
            polished_rounds += 1
        if best[0] <= goal or polished_rounds > 6:
            break
        alphabet = search.merged(alphabet, polished[0], violators)
    violation, points, weights, multiplier = best  # type: ignore[misc]
    points, weights = few_atoms(problem, points, weights)
    return Proposal(
        points, weights, float(multiplier), "Continuous", steps, {"violation_nats": violation}
    )


def _value(problem: Problem, points: Array, weights: Array) -> tuple[float, Array]:
    found = information(safe_log_prob(problem.channel, points), weights)
    return found.nats, found.output


def _finite(problem: Problem, alphabet: Array, goal: float) -> tuple[Array, Array, float]:
    """The optimum on a finite alphabet, idle letters left out."""
    cost = problem.cost(alphabet)
    letters = build(
        alphabet, safe_log_prob(problem.channel, alphabet), cost, problem.limits.budget
    )
    weights, multiplier, _, _ = maximise(letters, tol=max(goal, 1e-12))
    points, masses = letters.expand(weights, multiplier, tol=max(goal, 1e-9))
    return points, masses, multiplier * letters.scale


def _refined(problem, points, weights, multiplier, search):  # type: ignore[no-untyped-def]
    """Gather neighbours into atoms and polish them, then with ever fewer atoms while that holds."""
    points, weights = gather(points, weights, search.spacing)
    points, weights, multiplier = within_budget(problem, points, weights, multiplier)
    current = chain = polish(problem, points, weights, multiplier)
    failures = 0
    while failures < 3:
        fewer = merge_closest(chain.points, chain.weights)
        if fewer is None:
            break
        chain = polish(problem, *fewer, chain.multiplier)
        if chain.concave and chain.residual <= max(1e-12, 1.5 * current.residual):
            current, failures = chain, 0
        else:
            failures += 1
    return within_budget(problem, current.points, current.weights, current.multiplier)
