"""The front door: pose, solve, certify, report."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import non_negative, positive
from channelcode.capacity.certify import certify
from channelcode.capacity.certify.bounds import certify_within, overspends
from channelcode.capacity.few_atoms import few_atoms, most_atoms
from channelcode.capacity.law_value import quiet_log_prob
from channelcode.capacity.problem import CapacityResult, Problem, Proposal, Solver, answer
from channelcode.capacity.solvers.auto import Auto
from channelcode.capacity.units import in_given_unit, in_natural_unit
from channelcode.certificate import Certificate, SolveStats
from channelcode.channels import Channel
from channelcode.channels.densities.range import has_density
from channelcode.channels.row_check import check_rows, checked_log_prob, is_builtin
from channelcode.constraints import Constraint
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure

_AUTO = Auto()
FINEST = 1e-12  # nats; below this, rounding decides, and a finer search would prove less


def capacity(
    channel: Channel,
    constraint: Constraint,
    *,
    solver: Solver | None = None,
    tol: float = 1e-9,
    throw: bool = True,
) -> CapacityResult:
    """The largest mutual information that an input law within the constraint can carry.

    C = max I(L; Y) over laws of L that meet `constraint` (paper: eq. (2), Prop. 2.1; theory:
    section 1), with an upper bound that proves it to within `tol` bits. A gap above `tol` raises
    `NotConverged`, which carries the result; with `throw=False` the result is returned and its
    `status` says so.

    >>> from channelcode import Logistic, Power
    >>> result = capacity(Logistic(), Power(4.0))
    >>> round(result.bits, 9), round(result.multiplier, 9)
    (0.472934659, 0.075736862)
    """
    tolerance = positive("tol", tol)
    problem = Problem(channel, constraint)
    method = _AUTO if solver is None else solver
    if isinstance(method, type) or not callable(getattr(method, "propose", None)):
        rule = "must be a solver such as Auto()"
        if isinstance(method, type):
            rule += ", an instance and not the class"
        raise InvalidArgument("solver", rule, solver)
    started = perf_counter()
    moved, unit = in_natural_unit(problem)
    if moved is not problem:
        found = capacity(moved.channel, moved.constraint, solver=method, tol=tolerance, throw=False)
        return in_given_unit(found, problem, unit, tol=tolerance, throw=throw)
    if problem.limits.variance < np.inf:
        from channelcode.capacity.variance import variance_capacity

        _check_laws(problem)
        return variance_capacity(problem, method, tol=tolerance, throw=throw, started=started)
    if has_density(channel):
        from channelcode.capacity.density import density_capacity

        return density_capacity(problem, method, tol=tolerance, throw=throw, started=started)
    _check_laws(problem)
    proposal = method.propose(problem, tol=tolerance * LOG_TWO)
    return judged(problem, proposal, tol=tolerance, throw=throw, started=started)


def _check_laws(problem: Problem) -> None:
    """Refuse a user's channel whose rows are no laws, before a solver works on them."""
    channel, peak = problem.channel, problem.limits.peak
    if is_builtin(channel) or peak == 0:
        return
    if channel.inputs is not None:
        checked_log_prob(channel, problem.letters()[0])
        return
    sizes = min(peak, 1e4) * np.geomspace(1e-6, 1.0, 97)
    line = np.concatenate([-sizes, [0.0], sizes])
    if channel.dim > 1:
        spread = np.eye(channel.dim) + 1e-3
        spread /= np.linalg.norm(spread, axis=1, keepdims=True)
        line = (line[:, None, None] * spread).reshape(-1, channel.dim)
    with np.errstate(all="ignore"):
        log_rows = quiet_log_prob(channel, line)
    known = ~np.isnan(log_rows).any(axis=-1)  # where it returns no numbers the scope ends
    check_rows(channel, line[known], log_rows[known])


def judged(
    problem: Problem, proposal: Proposal, *, tol: float, throw: bool, started: float
) -> CapacityResult:
    """Check and certify a proposal (`tol` in bits) and conclude; the only way to a result."""
    law, multiplier = checked(problem, proposal)
    if not is_builtin(problem.channel):
        checked_log_prob(problem.channel, law.atoms)
    judge = certify_within
    if len(law) > most_atoms(problem):
        law = DiscreteMeasure(*few_atoms(problem, law.atoms, law.weights))
        judge = certify  # rounding may have moved its cost
    bounds = judge(problem, law.atoms, law.weights, multiplier, tol=max(tol * LOG_TWO, FINEST))
    certificate = Certificate(bounds.lower / LOG_TWO, bounds.upper / LOG_TWO)
    found = bounds.value
    output = np.array(found.output)
    output.setflags(write=False)
    stats = SolveStats(
        proposal.method, proposal.steps, perf_counter() - started, dict(proposal.details)
    )
    return answer(
        problem,
        law,
        certificate,
        stats,
        nats=found.nats,
        multiplier=multiplier,
        scope=bounds.scope,
        tol=tol,
        throw=throw,
        output=output,
        deficit=found.deficit,
        exhausted=proposal.exhausted,
        complete=bounds.complete,
    )


def checked(problem: Problem, proposal: Proposal) -> tuple[DiscreteMeasure, float]:
    """The law and the multiplier of a proposal that is within the constraint."""
    if not isinstance(proposal, Proposal):
        raise InvalidArgument("solver", "must propose a Proposal", proposal)
    law = DiscreteMeasure(proposal.points, proposal.weights)
    dim = problem.channel.dim
    if law.dim != dim:
        raise InvalidArgument("proposal", f"must have atoms in R^{dim}", f"R^{law.dim}")
    multiplier = non_negative("multiplier", proposal.multiplier)
    excess = overspends(problem, law.atoms, law.weights)
    if excess is not None:
        raise InvalidArgument("proposal", "must be a law within the constraint", excess)
    return law, multiplier
