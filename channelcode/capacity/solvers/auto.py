"""Choose the solver: a formula if there is one, else by the kind of input."""

from __future__ import annotations

from dataclasses import dataclass

from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.solvers.closed_form import attempt


@dataclass(frozen=True)
class Auto:
    """`ClosedForm` if it applies, `InteriorPoint` on a finite alphabet, else `Continuous`.

    The result's `stats.method` says which one ran.
    """

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        """The chosen solver's proposal."""
        proposal = attempt(problem)
        if proposal is not None and "symmetric binary" in proposal.method:
            proposal = _checked(problem, proposal, tol)
        if proposal is None and problem.is_finite:
            from channelcode.capacity.solvers.interior_point import InteriorPoint
            from channelcode.capacity.solvers.spare_budget import spare_budget_law

            proposal = spare_budget_law(problem, tol=tol)
            if proposal is None:
                proposal = InteriorPoint().propose(problem, tol=tol)
        elif proposal is None:
            from channelcode.capacity.solvers.continuous import Continuous

            proposal = Continuous().propose(problem, tol=tol)
        proposal.details["chosen_by"] = "Auto"
        return proposal


def _checked(problem: Problem, proposal: Proposal, tol: float) -> Proposal | None:
    """The proposal if KKT holds on the line; symmetry seen at samples is no proof."""
    from channelcode.capacity.law_value import law_value, quiet_log_prob
    from channelcode.capacity.solvers.continuous.line_search import LineSearch

    found = law_value(quiet_log_prob(problem.channel, proposal.points), proposal.weights)
    _, violation = LineSearch(problem, tol).violations(
        found.output, proposal.multiplier, found.nats, proposal.points
    )
    return proposal if violation <= 0.25 * tol else None
