"""Discrete to discrete in any dimension, by POT's network simplex."""

from __future__ import annotations

import warnings
from time import perf_counter

import numpy as np

from channelcode._validation import Array, integer
from channelcode.certificate import SolveStats, Status
from channelcode.errors import InvalidArgument, NotConverged
from channelcode.measures import DiscreteMeasure, Measure
from channelcode.transport.result import Potentials, TransportResult
from channelcode.transport.solver import Solver, both_discrete

GAP_RTOL = 1e-9  # of the second moments; POT's simplex reaches rounding, so more is a failed solve


class EarthMover(Solver):
    """POT's `emd` (network simplex) with the bounds recomputed from its plan and potentials."""

    def __init__(self, *, max_steps: int = 10_000_000) -> None:
        self.max_steps = integer("max_steps", max_steps, least=1)

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        return both_discrete(mu, nu)

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        import ot
        from scipy.sparse import csr_array

        if not isinstance(mu, DiscreteMeasure) or not isinstance(nu, DiscreteMeasure):
            raise InvalidArgument("solver", "must accept the pair of laws", self)
        started = perf_counter()
        x, y, shift = centred(mu, nu)
        cost = squared_distances(x, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its warning is judged below, by the gap
            plan, log = ot.emd(mu.weights, nu.weights, cost, numItermax=self.max_steps, log=True)
        source, target = np.asarray(log["u"]), np.asarray(log["v"])
        # POT may leave the potentials of massless atoms undefined: the c-transform repairs both.
        target = np.where(nu.weights > 0, target, (cost - source[:, None]).min(axis=0))
        source = (cost - target).min(axis=1)
        primal = float((plan * cost).sum())
        dual = float(mu.weights @ source + nu.weights @ target)
        base = float(shift @ shift)
        scale = float(mu.weights @ (x**2).sum(axis=1) + nu.weights @ (y**2).sum(axis=1))
        closed = primal - dual <= GAP_RTOL * scale
        result = TransportResult(
            squared=base + primal,
            lower=base + max(min(dual, primal), 0.0),
            upper=base + primal,
            plan=csr_array(plan),
            potentials=uncentred(source, target, x, y, shift),
            method="discrete, network simplex (POT)",
            status=Status.OPTIMAL if closed else Status.MAX_STEPS,
            stats=SolveStats("EarthMover", 0, perf_counter() - started),
        )
        if not closed:
            raise NotConverged(f"emd left a gap of {primal - dual:.3g}: raise max_steps", result)
        return result


def centred(mu: DiscreteMeasure, nu: DiscreteMeasure) -> tuple[Array, Array, Array]:
    """Both laws without their means, and the difference of the means (the mean splits off)."""
    first, second = mu.weights @ mu.points, nu.weights @ nu.points
    return mu.points - first, nu.points - second, first - second


def uncentred(source: Array, target: Array, x: Array, y: Array, shift: Array) -> Potentials:
    """Potentials for the laws as given, from those for the centred laws."""
    return Potentials(source + 2 * x @ shift + shift @ shift, target - 2 * y @ shift)


def squared_distances(x: Array, y: Array) -> Array:
    """|x_i - y_j|^2 as `(n, m)`, by differences so that near points keep their digits."""
    out = np.zeros((len(x), len(y)))
    for column in range(x.shape[1]):
        out += (x[:, None, column] - y[None, :, column]) ** 2
    return out
