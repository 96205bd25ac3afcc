"""Capacity of channels whose outputs are real numbers or counts without end.

A solver works on a view with finitely many outputs (`FiniteView`); its proposal is then judged on
the channel itself. For any input law p within the constraint, its output law q and s >= 0,

    I(p) <= C <= max_l [D(f(.|l) || q) - s (b(l) - P)],

where both sides are integrals over the outputs, with a stated error that widens the bounds.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.capacity.certify.density import DensityBound, density_bound, smooth_divergence
from channelcode.capacity.certify.far_inputs import covered
from channelcode.capacity.density_range import (
    FARTHEST,
    allowed,
    input_range,
    is_cost_seen,
    walls,
    where,
    within_walls,
)
from channelcode.capacity.kkt import priced
from channelcode.capacity.law_value import divergence, law_value
from channelcode.capacity.noise.gaussian import peak_bound, shannon, shannon_bound
from channelcode.capacity.noise.laplace import laplace_power, laplace_power_bound
from channelcode.capacity.noise.outputs import CountedOutputs, LaplaceOutputs
from channelcode.capacity.noise.poisson import poisson_low_power
from channelcode.capacity.noise.poisson_pair import poisson_pair
from channelcode.capacity.noise.waiting import waiting_low_power
from channelcode.capacity.noise.waiting_law import waiting_law
from channelcode.capacity.problem import EPSILON, CapacityResult, Problem, Proposal, answer
from channelcode.capacity.search.cheap import check_budget, valleys
from channelcode.capacity.search.reach import filled
from channelcode.capacity.solvers.auto import Auto
from channelcode.capacity.solvers.exchange_letters import ExchangeLetters
from channelcode.capacity.solvers.gaussian_peak import gaussian_peak
from channelcode.capacity.solvers.laplace_peak import laplace_peak, laplace_peak_and_power
from channelcode.certificate import Certificate, SolveStats, Status, conclude
from channelcode.channels import AdditiveGaussian, AdditiveLaplace, Channel, Gamma, Poisson
from channelcode.channels.densities.range import output_scale
from channelcode.channels.densities.view import FiniteView
from channelcode.channels.row_check import is_builtin
from channelcode.channels.support import Counts, as_support
from channelcode.constraints import Constraint, Cost, Peak, Power
from channelcode.information.densities import Integrated, atoms_information, check_total
from channelcode.measures import DiscreteMeasure

_FARTHEST_COUNTS = (FARTHEST, 9.0, 8.5)
_LOOKS = 129  # inputs, to see whether one far out breaks KKT
_FINER = 4  # times the nodes of the view on which atoms are found, to settle them
_MANY_LETTERS = 151  # beyond, the range is too wide for few atoms, and letters join one by one
_FARTHEST_PROVED = 100.0  # times the range that was searched
_LETTERS_APART = 0.02  # scales
_MANY_COUNTS = 25.0  # up to twice this letters of the same spacing serve as well
_LETTERS_APART_TO_FIND = 0.14  # scales: near enough for Newton's method to begin from


def density_capacity(
    problem: Problem, solver: Any, *, tol: float, throw: bool, started: float
) -> CapacityResult:
    """The capacity of a channel with a density; `tol` in bits."""
    check_budget(problem)
    known_laws = (shannon, laplace_power, poisson_low_power, poisson_pair, waiting_low_power)
    for theorem in known_laws if isinstance(solver, Auto) else (shannon,):
        known = theorem(problem, throw=throw, tol=tol, started=started)
        if known is not None:
            return known
    # one range of letters may end in a law that the next settles: a proof takes any of them
    counted = type(problem.channel) is Poisson and isinstance(solver, Auto)
    results: list[CapacityResult] = []
    for farthest in _FARTHEST_COUNTS if counted else (FARTHEST,):
        found = _searched(problem, solver, farthest, tol=tol, started=started)
        results.append(found)
        if found.status is Status.OPTIMAL or problem.limits.peak < np.inf:
            break
    result = min(results, key=lambda r: (r.status is not Status.OPTIMAL, r.gap))
    exhausted = result.status is Status.MAX_STEPS
    return conclude(lambda _: result, result.certificate, tol=tol, throw=throw, exhausted=exhausted)


def _searched(
    problem: Problem, solver: Any, farthest: float, *, tol: float, started: float
) -> CapacityResult:
    """The best law on inputs up to `farthest` roots of a power, judged, whatever its gap."""
    low, high, whole = input_range(problem, farthest)
    low, high = within_walls(problem, low, high)
    walled = None if whole else walls(problem, low, high)
    if walled is not None:
        (low, high), whole = walled, True
    if not is_builtin(problem.channel):
        for place in (low, 0.5 * (low + high), high):  # before a solver works on what is no law
            check_total(problem.channel, place)
    view = FiniteView(problem.channel, low, high)
    proposal = _proposed(problem, view, solver, tol)
    wider = None if whole else _as_wide_as_the_noise(problem, low, high)
    if wider is not None:
        farther = FiniteView(problem.channel, *wider)
        moved = replace(proposal, points=proposal.points + view.shift - farther.shift)
        if _rises(problem, farther, moved, (low, high), tol * LOG_TWO):
            other = _proposed(problem, farther, solver, tol)
            if _carried(farther, other) > _carried(farther, moved):
                moved = other
            view, proposal, (low, high) = farther, moved, wider
    return _judged(problem, view, proposal, (low, high), whole, tol=tol, started=started)


def _proposed(problem: Problem, view: FiniteView, solver: Any, tol: float) -> Proposal:
    """A law for the inputs of the view; `tol` in bits."""
    proposal = None
    if isinstance(solver, Auto):
        proposal = _known(problem, tol * LOG_TWO)
        solver = _exchange(problem, view)
    if proposal is not None:
        return proposal
    proposal = solver.propose(Problem(view, _moved(problem, view)), tol=0.25 * tol * LOG_TWO)
    counts = isinstance(as_support(problem.channel.support), Counts)
    if isinstance(solver, ExchangeLetters) and not counts:
        ends = view.shift - view.reach, view.shift + view.reach
        fine = FiniteView(problem.channel, *ends, finer=_FINER)
        inner = Problem(fine, _moved(problem, fine))
        proposal = solver.refined(inner, proposal, tol=0.25 * tol * LOG_TWO)
    return proposal


def _as_wide_as_the_noise(problem: Problem, low: float, high: float) -> tuple[float, float] | None:
    """Ends some scales of the noise out, if a power or a cost alone led to nearer ones.

    Under a small power a letter that is sent rarely may lie far beyond the root of the power, and
    under a small budget beyond what sixteen of them pay for.
    """
    known = problem.limits.is_power and isinstance(problem.channel, Gamma)
    if problem.limits.peak < np.inf or known or low == high:
        return None
    scale = float(output_scale(problem.channel, np.zeros(1))[0])
    first, last = problem.channel.domain
    wider = max(min(low, -FARTHEST * scale), first), min(max(high, FARTHEST * scale), last)
    if not np.isfinite(wider).all():
        return None
    wider = within_walls(problem, *wider)
    return wider if wider != (low, high) else None


def _rises(
    problem: Problem, view: FiniteView, law: Proposal, ends: tuple[float, float], tol: float
) -> bool:
    """Whether an input of the view beyond `ends` breaks KKT by more than `tol` nats."""
    inputs = np.linspace(-view.reach, view.reach, _LOOKS)
    inputs = inputs[(view.shift + inputs < ends[0]) | (view.shift + inputs > ends[1])]
    found = law_value(view.log_prob(law.points), law.weights)
    far = divergence(view.log_prob(inputs), filled(found.output, tol))
    return bool(
        (priced(problem, view.shift + inputs, far, law.multiplier) > found.nats + tol).any()
    )


def _carried(view: FiniteView, law: Proposal) -> float:
    return float(law_value(view.log_prob(law.points), law.weights).nats)


def _known(problem: Problem, tol: float) -> Proposal | None:
    """A law that theory gives: for noise under a peak, and Laplace noise with a power as well."""
    channel, limit = problem.channel, problem.limits
    if isinstance(channel, Gamma) and limit.is_power and limit.peak == np.inf:
        return waiting_law(channel, limit.budget, tol=0.05 * tol)
    if type(channel) is AdditiveGaussian and limit.peak < np.inf and limit.cost is None:
        return gaussian_peak(channel.noise, limit.peak, tol=0.25 * tol)
    if type(channel) is not AdditiveLaplace or limit.peak == np.inf:
        return None
    found = laplace_peak(channel.scale, limit.peak, tol=tol)
    if limit.cost is None:
        return found
    if found is not None and found.weights @ problem.cost(found.points) <= limit.budget:
        return found
    if limit.is_power and limit.budget > 0.0:
        return laplace_peak_and_power(channel.scale, limit.peak, limit.budget, tol=tol)
    return None


def _exchange(problem: Problem, view: FiniteView) -> ExchangeLetters:
    """Letters to begin with: many for Laplace noise, whose best law has a density."""
    channel, reach = problem.channel, view.reach
    if type(channel) is Poisson and reach > _MANY_COUNTS and view.shift == reach:
        counted = CountedOutputs(channel, view)
        return ExchangeLetters(reach, outputs=counted, first=counted.letters())
    if type(channel) is not AdditiveLaplace:
        if isinstance(as_support(channel.support), Counts) or problem.limits.cost is None:
            return ExchangeLetters(reach)
        scale = float(output_scale(channel, np.linspace(-reach, reach, 9)).min())
        count = _letters(reach, _LETTERS_APART_TO_FIND * scale, _MANY_LETTERS + 1)
        return (
            ExchangeLetters(reach, letters=count)
            if count <= _MANY_LETTERS
            else (ExchangeLetters(reach, tries=0))
        )
    count = _letters(reach, _LETTERS_APART * channel.scale, 640)
    return ExchangeLetters(reach, outputs=LaplaceOutputs(channel), letters=count)


def _letters(reach: float, apart: float, most: int) -> int:
    return int(np.clip(np.ceil(2.0 * reach / apart), 32, most)) | 1


def _moved(problem: Problem, view: FiniteView) -> Constraint:
    """The constraint in the view's own input u = l - shift."""
    limit, shift = problem.limits, view.shift
    box = Peak(view.reach)
    if limit.cost is None:
        return box
    if limit.is_power and shift == 0.0:
        return box & Power(limit.budget)
    cheap = tuple((_cheap_within(problem, shift - view.reach, shift + view.reach) - shift).tolist())
    nearest = float(np.clip(-shift, -view.reach, view.reach))
    return box & Cost(
        lambda u: problem.cost(shift + np.clip(u, -view.reach, view.reach)),
        limit.budget,
        cheap=(*cheap, nearest),
    )


def _cheap_within(problem: Problem, low: float, high: float) -> Array:
    """The bottoms of the valleys of a cost of one's own that lie between two inputs."""
    if not problem.has_own_cost:
        return np.empty(0)
    places = valleys(problem)
    return places[(places >= low) & (places <= high)]


def _judged(
    problem: Problem,
    view: FiniteView,
    proposal: Proposal,
    ends: tuple[float, float],
    whole: bool,
    *,
    tol: float,
    started: float,
) -> CapacityResult:
    atoms = np.clip(view.shift + proposal.points, *ends)
    places, index = np.unique(atoms, return_inverse=True)
    law = DiscreteMeasure(places, np.bincount(index, proposal.weights, len(places)))
    law = _affordable_part(problem, law)
    found, proved = _information(problem.channel, law)
    reason = "; inputs farther out were not looked at"
    if whole:
        reason = ""
    lower = max(found.nats - found.error, 0.0)
    bound = None
    cover = (
        None
        if whole
        else covered(problem, law, found.nats, proposal.multiplier, slack=0.3 * tol * LOG_TWO)
    )
    if cover is not None and cover.radius <= _FARTHEST_PROVED * (ends[1] - ends[0]):
        first, last = problem.channel.domain
        far = (max(-cover.radius, first), min(cover.radius, last))
        bound = density_bound(problem, cover.law, proposal.multiplier, far, tol=tol * LOG_TWO)
        top = max(bound.nats, found.nats + cover.beyond)
        bound = bound._replace(nats=top, error=bound.error + cover.slack)
        if cover.law is law or bound.nats + bound.error - lower <= tol * LOG_TWO:
            whole, ends, reason = True, far, f"; farther out the power outweighs {cover.what}"
    if bound is None or not whole:
        bound = density_bound(problem, law, proposal.multiplier, ends, tol=tol * LOG_TWO)
    gaussian = min(shannon_bound(problem), peak_bound(problem)) * (1.0 + 4e-16)
    known = min(gaussian, laplace_power_bound(problem))
    upper = min(bound.nats + bound.error, known)
    certificate = Certificate(lower / LOG_TWO, max(upper, lower) / LOG_TWO)
    # a cost of one's own is taken at the probes, here as for every other channel
    bent = bound.proved or (problem.has_own_cost and proved)
    everywhere = whole and bent and proved and is_builtin(problem.channel)
    if not (bound.proved and ends == allowed(problem)):  # else it holds whatever the cost is
        everywhere = everywhere and is_cost_seen(problem, *ends)
    place = where(problem, ends, everywhere)
    scope = _scope(place, bound, found.error, bent, proved) + reason
    stats = SolveStats(
        proposal.method,
        proposal.steps,
        perf_counter() - started,
        {**proposal.details, "nodes": view.num_outputs},
    )
    return answer(
        problem,
        law,
        certificate,
        stats,
        nats=found.nats,
        multiplier=proposal.multiplier,
        scope=scope,
        tol=tol,
        throw=False,
        exhausted=proposal.exhausted,
        complete=everywhere,
    )


def _information(channel: Channel, law: DiscreteMeasure) -> tuple[Integrated, bool]:
    """I(L; Y), and whether its error is proved: for the channels of the library it is."""
    if len(law) == 1:
        return Integrated(0.0, 0.0), True
    known = smooth_divergence(channel, law)
    if known is not None:
        each = known.divergence(law.atoms).value
        return Integrated(*(float(law.weights @ x) for x in (each, known.error(each)))), True
    counts = isinstance(as_support(channel.support), Counts)
    return atoms_information(channel, law.atoms, law.weights), counts


def _scope(place: str, bound: DensityBound, error: float, bent: bool, proved: bool) -> str:
    """What was proved over which inputs, and what is an estimate."""
    seen = "bends, with those of the cost, seen" if bent else "bends estimated, not proved,"
    bends = "bends bounded" if bound.proved else seen
    text = f"{place}: {bends} between {bound.probes} probes"
    known = "to" if proved else "to an error estimated, not proved, at"
    size = error + bound.error + bound.counted
    return f"{text}; sums and integrals over outputs {known} {size:.1e} nats"


def _affordable_part(problem: Problem, law: DiscreteMeasure) -> DiscreteMeasure:
    """The law, mixed with its cheapest atom where rounding took it over the budget."""
    if problem.limits.cost is None:
        return law
    cost = problem.cost(law.atoms)
    spent, budget = float(law.weights @ cost), problem.limits.budget
    if spent <= budget + 8 * EPSILON * float(law.weights @ np.abs(cost)):
        return law
    cheapest = int(np.argmin(cost))
    if cost[cheapest] >= budget:
        return DiscreteMeasure(law.atoms[cheapest : cheapest + 1], [1.0])
    share = (budget - cost[cheapest]) / (spent - cost[cheapest])
    weights = share * law.weights
    weights[cheapest] += 1.0 - share
    return DiscreteMeasure(law.atoms, weights)
