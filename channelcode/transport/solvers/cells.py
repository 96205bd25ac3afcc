"""What the methods for a Gaussian against atoms share: potentials by Newton's method on cells."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from channelcode._validation import Array
from channelcode.transport.problem import Problem, Proposal, refuse


class CellSolver(ABC):
    """A Gaussian against atoms: `rho(S) = min_v E max_j(<Z,y_j> - v_j) + w'v`.

    A member says which atoms are for it and finds the potentials v of a stack of problems; one
    pair is a stack of one.
    """

    method: str  # what a result says about how it was found

    @abstractmethod
    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether atoms of shape `(..., m, q)` are for this method."""

    @abstractmethod
    def potentials(
        self, atoms: Array, weights: Array, *, ordered: bool = False
    ) -> tuple[Array, np.ndarray]:
        """Potentials `(n, m)` and steps for each row of `atoms (n, m, q)` of size about one.

        `ordered` says that neighbours in the stack are alike, so that a solve may start from the
        last one.
        """

    def accepts(self, problem: Problem) -> bool:
        """Whether the problem is a Gaussian against atoms that fit."""
        return problem.is_semidiscrete and self.fits(problem.sketch.atoms.shape)

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if not self.accepts(problem):
            raise refuse(self)
        sketch = problem.sketch
        potentials, steps = self.potentials(sketch.atoms[None], sketch.weights)
        return Proposal(self.method, potential=potentials[0], steps=int(steps[0]))
