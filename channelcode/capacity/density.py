"""Capacity of channels whose outputs are real numbers or counts without end.

A solver works on a view with finitely many outputs (`FiniteView`); its proposal is then judged on
the channel itself. For any input law p within the constraint, its output law q and s >= 0,

    I(p) <= C <= max_l [D(f(.|l) || q) - s (b(l) - P)],

where both sides are integrals over the outputs, with a stated error that widens the bounds.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.capacity.certify.line import bend_bound
from channelcode.capacity.problem import CapacityResult, Problem, Proposal
from channelcode.capacity.solvers.auto import Auto
from channelcode.capacity.solvers.exchange_letters import ExchangeLetters
from channelcode.certificate import Certificate, SolveStats, Status, conclude
from channelcode.channels import AdditiveGaussian
from channelcode.channels.densities.view import FiniteView
from channelcode.channels.row_check import is_builtin
from channelcode.constraints import Constraint, Cost, Peak, Power
from channelcode.errors import InvalidArgument
from channelcode.information.densities import atoms_information
from channelcode.information.output_divergence import output_divergence
from channelcode.measures import DiscreteMeasure, Gaussian

_FIRST_PROBES = 801
_MOST_PROBES = 6000
_FARTHEST = 8.0  # times the root of the budget: where a search under a power alone ends
_DEAREST = 16.0  # times the budget: where a search under a cost alone ends


def density_capacity(
    problem: Problem, solver: Any, *, tol: float, throw: bool, started: float
) -> CapacityResult:
    """The capacity of a channel with a density; `tol` in bits."""
    known = _gaussian(problem, throw=throw, tol=tol, started=started)
    if known is not None:
        return known
    low, high, whole = _input_range(problem)
    view = FiniteView(problem.channel, low, high)
    inner = Problem(view, _moved(problem, view))
    chosen = ExchangeLetters(view.reach) if isinstance(solver, Auto) else solver
    proposal = chosen.propose(inner, tol=0.25 * tol * LOG_TWO)
    return _judged(
        problem, view, proposal, (low, high), whole, tol=tol, throw=throw, started=started
    )


def _gaussian(
    problem: Problem, *, throw: bool, tol: float, started: float
) -> CapacityResult | None:
    """Shannon: C = 1/2 ln(1 + P / noise^2) with L ~ N(0, P), where power alone is limited."""
    channel, limit = problem.channel, problem.limits
    if type(channel) is not AdditiveGaussian or not limit.is_power or limit.peak < np.inf:
        return None
    noise = channel.noise
    nats = 0.5 * float(np.log1p(limit.budget / noise / noise))
    if not np.isfinite(nats):
        return None
    slope = 0.5 / (noise**2 + limit.budget)
    bits = nats / LOG_TWO
    certificate = Certificate(bits * (1 - 4e-16), bits * (1 + 4e-16))
    stats = SolveStats("ClosedForm (Shannon)", 0, perf_counter() - started)
    return conclude(
        lambda status: CapacityResult(
            problem=problem,
            input=Gaussian(0.0, limit.budget),
            output=np.empty(0),
            nats=nats,
            deficit_nats=np.inf,
            certificate=certificate,
            multiplier=slope / LOG_TWO,
            scope="the real line: Shannon's theorem",
            status=status,
            stats=stats,
        ),
        certificate,
        tol=tol,
        throw=throw,
    )


def _input_range(problem: Problem) -> tuple[float, float, bool]:
    """The inputs that are searched, and whether those are all that the constraint allows."""
    first, last = problem.channel.domain
    peak = problem.limits.peak
    low, high = max(first, -peak), min(last, peak)
    if low > high:
        rule = f"must allow an input of the channel's domain, [{first:g}, {last:g}]"
        raise InvalidArgument("constraint", rule, problem.constraint)
    if np.isfinite(low) and np.isfinite(high):
        return low, high, True
    if problem.limits.cost is None:
        rule = "must limit the input: without a peak or a cost this capacity is infinite"
        raise InvalidArgument("constraint", rule, problem.constraint)
    farthest = _affordable(problem)
    return max(low, -farthest), min(high, farthest), False


def _affordable(problem: Problem) -> float:
    """How far to look without a peak: as far as an input costs no more than some budgets."""
    budget = problem.limits.budget
    if problem.limits.is_power:
        return _FARTHEST * float(np.sqrt(budget))
    sizes = np.geomspace(1e-3, 1e6, 181)
    first, last = problem.channel.domain
    cost = np.full(len(sizes), np.inf)
    for sign in (-1.0, 1.0):
        inside = (sign * sizes >= first) & (sign * sizes <= last)
        if inside.any():
            cost[inside] = np.minimum(cost[inside], problem.cost(sign * sizes[inside]))
    within = np.flatnonzero(cost <= _DEAREST * max(budget, 0.0))
    return float(sizes[within[-1]]) if len(within) else 1.0


def _moved(problem: Problem, view: FiniteView) -> Constraint:
    """The constraint in the view's own input u = l - shift."""
    limit, shift = problem.limits, view.shift
    box = Peak(view.reach)
    if limit.cost is None:
        return box
    if limit.is_power and shift == 0.0:
        return box & Power(limit.budget)
    cheap = tuple(float(np.ravel(c)[0]) - shift for c in limit.cheap)
    nearest = float(np.clip(-shift, -view.reach, view.reach))
    return box & Cost(
        lambda u: problem.cost(shift + np.clip(u, -view.reach, view.reach)),
        limit.budget,
        cheap=(*cheap, nearest),
    )


def _judged(
    problem: Problem,
    view: FiniteView,
    proposal: Proposal,
    ends: tuple[float, float],
    whole: bool,
    *,
    tol: float,
    throw: bool,
    started: float,
) -> CapacityResult:
    atoms = np.clip(view.shift + proposal.points, *ends)
    law = DiscreteMeasure(atoms, proposal.weights).simplify()
    law = _affordable_part(problem, law)
    found = atoms_information(problem.channel, law.atoms, law.weights)
    upper, error, count = _upper(problem, law, proposal.multiplier, ends, tol=tol * LOG_TWO)
    lower = max(found.nats - found.error, 0.0)
    certificate = Certificate(lower / LOG_TWO, max(upper + error, lower) / LOG_TWO)
    everywhere = whole and is_builtin(problem.channel)
    scope = (
        f"[{ends[0]:.6g}, {ends[1]:.6g}]: bounds between {count} probes, "
        f"outputs by quadrature with an error of {error + found.error:.1e} nats"
    )
    if not whole:
        scope += "; inputs farther out were not looked at"
    stats = SolveStats(
        proposal.method,
        proposal.steps,
        perf_counter() - started,
        {**proposal.details, "nodes": view.num_outputs},
    )
    return conclude(
        lambda status: CapacityResult(
            problem=problem,
            input=law,
            output=np.empty(0),
            nats=found.nats,
            deficit_nats=np.inf,
            certificate=certificate,
            multiplier=proposal.multiplier / LOG_TWO,
            scope=scope,
            status=status,
            stats=stats,
        ),
        certificate,
        tol=tol,
        throw=throw,
        exhausted=proposal.exhausted,
        best=Status.OPTIMAL if everywhere else Status.WITHIN_SCOPE,
    )


def _affordable_part(problem: Problem, law: DiscreteMeasure) -> DiscreteMeasure:
    """The law, mixed with its cheapest atom where rounding took it over the budget."""
    if problem.limits.cost is None:
        return law
    cost = problem.cost(law.atoms)
    spent, budget = float(law.weights @ cost), problem.limits.budget
    if spent <= budget:
        return law
    cheapest = int(np.argmin(cost))
    if cost[cheapest] >= budget:
        return DiscreteMeasure(law.atoms[cheapest : cheapest + 1], [1.0])
    share = (budget - cost[cheapest]) / (spent - cost[cheapest])
    weights = share * law.weights
    weights[cheapest] += 1.0 - share
    return DiscreteMeasure(law.atoms, weights)


def _upper(
    problem: Problem,
    law: DiscreteMeasure,
    multiplier: float,
    ends: tuple[float, float],
    *,
    tol: float,
) -> tuple[float, float, int]:
    """max_l [D(f(.|l) || q) - s (b(l) - P)] over the range in nats, its error, and the probes."""
    worst = 0.0

    def height(l: Array) -> Array:
        nonlocal worst
        found = output_divergence(problem.channel, l, law)
        worst = max(worst, found.error)
        if multiplier == 0 or problem.limits.cost is None:
            return found.nats
        return found.nats - multiplier * (problem.cost(l) - problem.limits.budget)

    low, high = ends
    if low == high:
        return float(height(np.array([low]))[0]), worst, 1
    steps = (high - low) * np.array([1e-4, 2e-4, 4e-4, 8e-4])
    near = (law.atoms[:, None] + np.concatenate([-steps, [0.0], steps])).ravel()
    # D may be steep at an end, as l ln l is at zero: probes at every distance from both
    close = (high - low) * np.geomspace(1e-13, 1e-2, 90)
    grid = np.concatenate([np.linspace(low, high, _FIRST_PROBES), near, low + close, high - close])
    grid = np.unique(grid[(grid >= low) & (grid <= high)])
    grid = grid[np.concatenate([[True], np.diff(grid) > 1e-15 * (high - low)])]
    heights = height(grid)
    while True:
        bound = bend_bound(grid, heights)
        top = float(heights.max())
        open_ = bound > top + 0.2 * tol
        if not open_.any() or len(grid) > _MOST_PROBES:
            return max(top, float(bound.max())), worst, len(grid)
        left, width = grid[:-1][open_], np.diff(grid)[open_]
        if (width < 1e-7 * (high - low)).all():
            return max(top, float(bound.max())), worst, len(grid)
        fresh = (left[:, None] + width[:, None] * np.array([0.25, 0.5, 0.75])).ravel()
        order = np.argsort(np.concatenate([grid, fresh]), kind="stable")
        grid = np.concatenate([grid, fresh])[order]
        heights = np.concatenate([heights, height(fresh)])[order]
