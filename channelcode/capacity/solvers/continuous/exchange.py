"""Capacity over a continuous input, without a grid in the answer.

A coarse inputs is solved by the interior point; then, in turn, its mass is gathered into atoms,
Newton's method on (atoms, weights, multiplier) finds their exact place, and the largest violations
of KKT over the whole space join the inputs, until none is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from channelcode._validation import Array, integer
from channelcode.capacity.few_atoms import few_atoms
from channelcode.capacity.law_value import law_value, quiet_log_prob
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.solvers.continuous.atoms import (
    assign,
    gather,
    merge_closest,
    within_budget,
)
from channelcode.capacity.solvers.continuous.newton import Polished, polish
from channelcode.capacity.solvers.interior_point import maximise
from channelcode.capacity.solvers.letters import prepare
from channelcode.errors import InvalidArgument

MANY = 8  # maxima of F on the line: atoms of a first guess are too far off for Newton
CLOSER = 4  # rounds of closing in on them
ENOUGH = 0.3  # of the tolerance: what is left to a law that late rounds have found
LOOKS = 4  # sets of directions in R^k, the solver's own included
MOST_REMEMBERED = 60  # sets of atoms or violators


class Search(Protocol):
    """How the exchange sees the input space."""

    def first_inputs(self) -> Array: ...
    def spacing(self, points: Array) -> Array: ...
    def violations(
        self, output: Array, multiplier: float, value: float, atoms: Array
    ) -> tuple[Array, float]: ...
    def next_inputs(self, inputs: Array, atoms: Array, violators: Array) -> Array: ...


class Candidate(NamedTuple):
    """Atoms, weights and multiplier, the maxima of their F, and the highest one's excess (nats)."""

    violation: float
    points: Array
    weights: Array
    multiplier: float
    violators: Array


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

    def propose(self, problem: Problem, *, tol: float, start: Proposal | None = None) -> Proposal:
        """Atoms, weights and multiplier; `start` is a nearby problem's answer to begin from."""
        if problem.is_finite:
            raise InvalidArgument("channel", "must have a continuous input", problem.channel)
        limit = problem.limits
        if limit.peak == 0 or (limit.is_power and limit.budget == 0):
            dim = problem.channel.dim
            zero = np.zeros(1 if dim == 1 else (1, dim))
            return Proposal(zero, np.ones(1), 0.0, "Continuous")
        if problem.channel.dim == 1:
            from channelcode.capacity.low_power import low_power_law

            proposal = low_power_law(problem)
            if proposal is not None:
                return proposal
            return _looked_at_closely(problem, tol, self.max_steps, start)
        return _looked_at_again(problem, self.rng, tol, self.max_steps, start)


def _looked_at_closely(
    problem: Problem, tol: float, max_steps: int, start: Proposal | None
) -> Proposal:
    """The exchange on the line; what the certificate's probes of a black box find joins it."""
    from channelcode.capacity.solvers.continuous.line_search import LineSearch

    search = LineSearch(problem, tol)
    proposal = exchange(problem, search, tol=tol, max_steps=max_steps, start=start)
    if not problem.has_black_box:
        return proposal
    closer = LineSearch(problem, tol, closely=True)
    found = _judged(problem, closer, proposal.points, proposal.weights, proposal.multiplier)
    if found.violation <= max(0.1 * tol, 2.0 * _violation(proposal)):
        return proposal
    known = np.concatenate([found.violators, proposal.points])
    closer = LineSearch(problem, tol, closely=True, known=known)
    return exchange(problem, closer, tol=tol, max_steps=max_steps)


def _looked_at_again(
    problem: Problem, seed: int, tol: float, max_steps: int, start: Proposal | None
) -> Proposal:
    """The exchange in R^k; what other directions and even probes find above it joins, and so on."""
    from channelcode.capacity.solvers.continuous.space_search import SpaceSearch

    search = SpaceSearch(problem, seed, tol)
    proposal = exchange(problem, search, tol=tol, max_steps=max_steps, start=start)
    for look in range(1, LOOKS):
        second = SpaceSearch(problem, seed + 1000 * look, tol, everywhere=True)
        found = _judged(problem, second, proposal.points, proposal.weights, proposal.multiplier)
        if found.violation <= max(0.1 * tol, 2.0 * _violation(proposal)):
            break
        fresh = SpaceSearch(problem, seed + 1000 * look, tol)
        fresh.known = np.vstack([search.known, found.violators, proposal.points])
        search = fresh
        proposal = exchange(problem, search, tol=tol, max_steps=max_steps)
    return proposal


def _violation(proposal: Proposal) -> float:
    """By how much KKT fails, as far as the search saw; nothing is known of other solvers' laws."""
    known = proposal.details.get("violation_nats", 0.0)
    return known if isinstance(known, float) else 0.0


def exchange(
    problem: Problem,
    search: Search,
    *,
    tol: float,
    max_steps: int,
    start: Proposal | None = None,
) -> Proposal:
    """Alternate finite solve, gathering, Newton, and the search for violations."""
    goal = max(0.02 * tol, 1e-14)
    best: Candidate | None = None
    inputs = None
    stalls = steps = 0
    late = False
    memory: list[Array] = []  # late on no input is forgotten, so that the finite problems grow
    for step in range(max_steps):
        steps = step + 1
        if step == 0 and start is not None:
            guesses = [(start.points, start.weights, start.multiplier)]
        else:
            inputs = search.first_inputs() if inputs is None else inputs
            late = step >= 4
            guesses = _guesses(problem, search, inputs, goal, late=late)
        chosen: Candidate | None = None
        for guess in guesses:
            plain = late and guess is guesses[-1]
            for refined in [guess] if plain else _refined(problem, *guess):  # most atoms first
                candidate = _judged(problem, search, *refined)
                if late:
                    memory += [candidate.points, candidate.violators]
                if chosen is None or candidate.violation < max(chosen.violation, goal):
                    chosen = candidate
            if chosen is not None and chosen.violation <= goal:
                break
        if chosen is None:
            break
        if step == 0 and inputs is not None and len(chosen.violators) >= MANY:
            closer = _closed_in(problem, search, inputs, goal)
            if closer is not None and closer.violation < chosen.violation:
                chosen = closer
        stalls = 0 if best is None or chosen.violation < 0.5 * best.violation else stalls + 1
        if best is None or chosen.violation < best.violation:
            best = chosen
        if best.violation <= (max(goal, ENOUGH * tol) if late else goal) or stalls > 8:
            break
        known = np.empty((0, *chosen.points.shape[1:])) if inputs is None else inputs
        inputs = search.next_inputs(known, chosen.points, chosen.violators)
        if memory:
            inputs = np.unique(np.concatenate([inputs, *memory[-MOST_REMEMBERED:]]), axis=0)
    if best is None:
        raise InvalidArgument("channel", "must return probabilities at some input", problem.channel)
    best = _trimmed(problem, search, best, goal)
    details: dict[str, object] = {"violation_nats": best.violation}
    return Proposal(
        best.points,
        best.weights,
        best.multiplier,
        "Continuous",
        steps,
        details,
        exhausted=steps >= max_steps and best.violation > goal,
    )


def _trimmed(problem: Problem, search: Search, best: Candidate, goal: float) -> Candidate:
    """At most |Y| + 1 atoms, by Caratheodory and Newton, unless that costs accuracy."""
    points, weights = few_atoms(problem, best.points, best.weights)
    if len(weights) == len(best.weights):
        return best
    for refined in _refined(problem, points, weights, best.multiplier)[::-1]:
        candidate = _judged(problem, search, *refined)
        if candidate.violation <= max(goal, 2.0 * best.violation):
            return candidate
    return best


def _judged(
    problem: Problem, search: Search, points: Array, weights: Array, multiplier: float
) -> Candidate:
    found = law_value(quiet_log_prob(problem.channel, points), weights)
    violators, violation = search.violations(found.output, multiplier, found.nats, points)
    return Candidate(violation, points, weights, multiplier, violators)


def _finite(
    problem: Problem, search: Search, inputs: Array, goal: float, roughly: float | None
) -> tuple[Array, Array, float, Array]:
    """The optimum on finitely many inputs: atoms, weights and multiplier; and the maxima of F."""
    cost = problem.cost(inputs)
    log_prob = quiet_log_prob(problem.channel, inputs)
    letters = prepare(inputs, log_prob, cost, problem.limits.budget, twins=1e-13)
    weights, multiplier, _, _ = maximise(letters, tol=max(goal, 1e-12), rescue_above=roughly)
    points, masses = letters.expand(weights, multiplier, tol=max(goal, 1e-10))
    price = multiplier * letters.scale
    found = law_value(quiet_log_prob(problem.channel, points), masses)
    peaks, _ = search.violations(found.output, price, found.nats, points)
    return points, masses, price, peaks


def _closed_in(problem: Problem, search: Search, inputs: Array, goal: float) -> Candidate | None:
    """Newton from the centres of mass around the maxima of F, and closer inputs around these.

    With many outputs F is within rounding of flat: its maxima count the atoms, and the mass of the
    finite optimum says where they are.
    """
    if inputs.ndim > 1:
        return None
    best: Candidate | None = None
    width = 0.5
    for _ in range(CLOSER):
        points, masses, price, peaks = _finite(problem, search, inputs, goal, 1e-7)
        if len(peaks) < MANY:
            break
        nearest = np.abs(points[:, None] - peaks).argmin(axis=1)
        mass = np.bincount(nearest, weights=masses, minlength=len(peaks))
        moment = np.bincount(nearest, weights=masses * points, minlength=len(peaks))
        centres, mass = moment[mass > 0] / mass[mass > 0], mass[mass > 0]
        polished = polish(problem, *within_budget(problem, centres, mass, price))
        refined = within_budget(problem, polished.points, polished.weights, polished.multiplier)
        candidate = _judged(problem, search, *refined)
        if best is None or candidate.violation < best.violation:
            best = candidate
        if best.violation <= goal or len(centres) < 2:
            break
        offsets = width * np.gradient(centres)[:, None] * np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
        peak = problem.limits.peak
        inputs = np.unique(np.clip(centres[:, None] + offsets, -peak, peak).ravel())
        width *= 0.5
    return best


def _guesses(
    problem: Problem, search: Search, inputs: Array, goal: float, *, late: bool
) -> list[tuple[Array, Array, float]]:
    """The optimum on a finite inputs, its mass at the maxima of F, or gathered by nearness."""
    roughly = None if late else 1e-9  # late on, the answer may be this one as it is
    points, masses, price, peaks = _finite(problem, search, inputs, goal, roughly)
    near = gather(points, masses, search.spacing)
    guesses = [(*near, price)]
    if len(peaks):
        reaches = np.maximum(4.0 * search.spacing(points), 0.5 * problem.norm(points))
        moved = assign(points, masses, peaks, reaches)
        guesses.insert(0, (*gather(*moved, search.spacing), price))
        everything = np.full(len(points), np.inf)
        guesses.insert(0, (*assign(points, masses, peaks, everything), price))
    if late:  # as it is: Newton needs derivatives, and some responses have kinks. Of the many
        # neighbours of a kink few are kept, or the finite problems would triple in each round
        guesses.append(within_budget(problem, *few_atoms(problem, points, masses), price))
    return guesses


def _refined(
    problem: Problem, points: Array, weights: Array, multiplier: float
) -> list[tuple[Array, Array, float]]:
    """Polished atoms; then fewer, by merging, and with light atoms left out, where KKT allows it.

    A light atom may be rounding or may matter (rare and far out), so both answers are given.
    """
    points, weights, multiplier = within_budget(problem, points, weights, multiplier)
    if len(weights) > problem.channel.num_outputs + 3:
        points, weights = few_atoms(problem, points, weights)
    first = polish(problem, points, weights, multiplier)
    kept = [first]
    fewest = _merged(problem, first)
    if fewest is not first:
        kept.append(fewest)
    heavy = weights > 1e-5
    if not heavy.all() and heavy.any():
        rest = weights[heavy] / weights[heavy].sum()
        kept.append(_merged(problem, polish(problem, points[heavy], rest, multiplier)))
    return [within_budget(problem, p.points, p.weights, p.multiplier) for p in kept]


def _merged(problem: Problem, first: Polished) -> Polished:
    """The fewest atoms, by merging the closest, that meet KKT among themselves as well."""
    current = chain = first
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
    return current
