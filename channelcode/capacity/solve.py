"""The front door: pose, solve, certify, report."""

from __future__ import annotations

from time import perf_counter
from typing import Protocol

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import positive
from channelcode.capacity.auto import Auto
from channelcode.capacity.certify import certify
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.result import CapacityResult
from channelcode.certificate import Certificate, SolveStats, Status
from channelcode.channels import Channel
from channelcode.constraints import Constraint
from channelcode.errors import InvalidArgument, NotConverged
from channelcode.measures import DiscreteMeasure


class Solver(Protocol):
    """Anything that proposes an input law and a multiplier; `certify` judges the proposal."""

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        """An input law within the constraint whose certified gap should be within `tol` nats."""
        ...


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

    >>> from channelcode.channels import Logistic
    >>> from channelcode.constraints import Power
    >>> result = capacity(Logistic(), Power(4.0))
    >>> round(result.bits, 9), round(result.multiplier, 9)
    (0.472934659, 0.075736862)
    """
    tolerance = positive("tol", tol)
    problem = Problem(channel, constraint)
    method = _AUTO if solver is None else solver
    if not hasattr(method, "propose"):
        raise InvalidArgument("solver", "must be a solver such as Auto()", solver)
    started = perf_counter()
    proposal = method.propose(problem, tol=tolerance * LOG_TWO)
    return conclude(problem, proposal, tol=tolerance, throw=throw, started=started)


def conclude(
    problem: Problem, proposal: Proposal, *, tol: float, throw: bool, started: float
) -> CapacityResult:
    """Certify a proposal (`tol` in bits) and wrap it up."""
    points, weights = proposal.points, proposal.weights
    fineness = max(tol * LOG_TWO, FINEST)
    bounds = certify(problem, points, weights, proposal.multiplier, tol=fineness)
    certificate = Certificate(bounds.lower / LOG_TWO, bounds.upper / LOG_TWO)
    status = Status.OPTIMAL
    if certificate.gap > tol:
        status = Status.MAX_STEPS if proposal.exhausted else Status.STALLED
    found = bounds.information
    output = np.array(found.output)
    output.setflags(write=False)
    result = CapacityResult(
        problem=problem,
        input=DiscreteMeasure(points, weights),
        output=output,
        nats=found.nats,
        deficit_nats=found.deficit,
        certificate=certificate,
        multiplier=proposal.multiplier / LOG_TWO,
        scope=bounds.scope,
        status=status,
        stats=SolveStats(
            proposal.method, proposal.steps, perf_counter() - started, proposal.details
        ),
    )
    if throw and not status.ok:
        raise NotConverged(
            f"the certified gap is {certificate.gap:.3g} bits, above tol = {tol:.3g}: "
            f"{result.status.value}",
            result,
        )
    return result
