"""Discrete to discrete in any dimension, by POT's network simplex."""

from __future__ import annotations

import warnings

import numpy as np

from channelcode._validation import Array, integer
from channelcode.transport.problem import Problem, Proposal, refuse


class EarthMover:
    """POT's `emd` (network simplex) on the squared distances of the centred laws."""

    def __init__(self, *, max_steps: int = 10_000_000) -> None:
        self.max_steps = integer("max_steps", max_steps, least=1)

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        import ot

        if not problem.is_discrete:
            raise refuse(self)
        points = problem.points
        cost = squared_distances(points.source, points.atoms)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it warns of, the gap will show
            plan, log = ot.emd(
                np.array(points.masses),
                np.array(points.weights),
                cost,
                numItermax=self.max_steps,
                log=True,
            )
        row, column = np.nonzero(plan)
        # |x - y|^2 - p = |x|^2 - 2 (<x, y> - v).
        v = 0.5 * ((points.atoms**2).sum(axis=1) - np.asarray(log["v"]))
        return Proposal(
            "discrete, network simplex (POT)",
            potential=v - v[np.argmax(points.weights)],
            plan=(row, column, plan[row, column]),
            exhausted=log.get("warning") is not None,
        )


def squared_distances(x: Array, y: Array) -> Array:
    """|x_i - y_j|^2 as `(n, m)`, by differences so that near points keep their digits."""
    out = np.zeros((len(x), len(y)))
    for column in range(x.shape[1]):
        out += (x[:, None, column] - y[None, :, column]) ** 2
    return out
