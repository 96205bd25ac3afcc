"""Blahut-Arimoto on a finite alphabet, the cost solved for inside every update."""

from __future__ import annotations

from dataclasses import dataclass

from channelcode._validation import integer
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.solvers.letters import letters_of


@dataclass(frozen=True)
class BlahutArimoto:
    """p(l) <- p(l) exp(D(W(.|l) || q_p) - s b(l)) / Z, with s from E_p b = P (theory: section 2).

    Safeguarded Newton steps find s inside each update, so there is no outer bisection; pairs of
    updates are extrapolated (Varadhan and Roland, "Simple and globally convergent methods for
    accelerating the convergence of any EM algorithm", 2008). It stops on the certified gap.

    >>> from channelcode.capacity import capacity, Unconstrained
    >>> from channelcode.channels import ZChannel
    >>> round(capacity(ZChannel(0.5), Unconstrained(), solver=BlahutArimoto()).bits, 9)
    0.321928095
    """

    max_steps: int = 200_000

    def __post_init__(self) -> None:
        integer("max_steps", self.max_steps, least=1)

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        """Weights on the letters; letters without mass are left out."""
        from channelcode._kernels.capacity_blahut import blahut_arimoto

        alphabet = letters_of(problem)
        weights, multiplier, steps, gap = blahut_arimoto(
            alphabet.matrix,
            alphabet.entropy,
            alphabet.cost,
            alphabet.budget,
            alphabet.start(),
            0.5 * tol,
            self.max_steps,
        )
        points, masses = alphabet.expand(weights, multiplier, tol=tol)
        return Proposal(
            points,
            masses,
            float(multiplier * alphabet.scale),
            "BlahutArimoto",
            int(steps),
            {"gap_nats": float(gap)},
            exhausted=bool(steps >= self.max_steps),
        )
