"""Interior point on a finite alphabet: O(n |Y|^2) a step, a dozen steps or so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from channelcode._validation import Array, integer
from channelcode.capacity.alphabet import Alphabet, alphabet_of
from channelcode.capacity.problem import Problem, Proposal


@dataclass(frozen=True)
class InteriorPoint:
    """Primal-dual Newton steps for max I(p) over weights on a finite alphabet.

    The Hessian W diag(1/q) W' has rank |Y|, so that a step costs O(n |Y|^2). A channel with a
    continuous input has to be held to points first, with `channelcode.restrict`.

    >>> from channelcode.capacity import capacity, Unconstrained
    >>> from channelcode.channels import DiscreteChannel
    >>> channel = DiscreteChannel([[0.9, 0.1], [0.1, 0.9]])
    >>> round(capacity(channel, Unconstrained(), solver=InteriorPoint()).bits, 9)
    0.531004406
    """

    max_steps: int = 100

    def __post_init__(self) -> None:
        integer("max_steps", self.max_steps, least=1)

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        """Weights on the letters; letters without mass are left out."""
        alphabet = alphabet_of(problem)
        weights, multiplier, steps, gap = maximise(alphabet, tol=tol, max_steps=self.max_steps)
        points, masses = alphabet.expand(weights, multiplier, tol=tol)
        price = multiplier * alphabet.scale
        return Proposal(
            points,
            masses,
            price,
            "InteriorPoint",
            steps,
            {"interior_gap_nats": gap},
            exhausted=steps >= self.max_steps,
        )


def maximise(
    alphabet: Alphabet, *, tol: float, max_steps: int = 100
) -> tuple[Array, float, int, float]:
    """Weights `(n,)`, multiplier, steps and gap (nats) on an alphabet.

    The steps aim at a tenth of `tol`, so that what is lost in dropping letters stays within it.
    """
    from channelcode._kernels.capacity_interior import interior_point

    if len(alphabet.matrix) == 1:
        return np.ones(1), 0.0, 0, 0.0
    weights, _, multiplier, steps, gap = interior_point(
        alphabet.matrix,
        alphabet.entropy,
        alphabet.cost,
        alphabet.budget,
        alphabet.start(),
        max(0.1 * tol, 1e-15),
        max_steps,
    )
    return weights, multiplier, int(steps), float(gap)
