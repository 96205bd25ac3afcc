"""Choose the solver: a formula if there is one, else by the kind of input."""

from __future__ import annotations

from dataclasses import dataclass

from channelcode.capacity.closed_form import attempt
from channelcode.capacity.problem import Problem, Proposal


@dataclass(frozen=True)
class Auto:
    """`ClosedForm` if it applies, `InteriorPoint` on a finite alphabet, else `Continuous`.

    The result's `stats.method` says which one ran.
    """

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        """The chosen solver's proposal."""
        proposal = attempt(problem)
        if proposal is None and problem.is_finite:
            from channelcode.capacity.interior_point import InteriorPoint

            proposal = InteriorPoint().propose(problem, tol=tol)
        elif proposal is None:
            from channelcode.capacity.continuous import Continuous

            proposal = Continuous().propose(problem, tol=tol)
        proposal.details["chosen_by"] = "Auto"
        return proposal
