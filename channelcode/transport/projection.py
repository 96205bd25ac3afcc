"""Collinear atoms in any dimension: project on their line, and keep the rest of the variance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.line import Line
from channelcode.transport.reduction import reduce_target
from channelcode.transport.result import Potentials, TransportResult
from channelcode.transport.solver import Solver


class Projection(Solver):
    """A target whose atoms lie on a line (or in a point), in R^k: the line case after projection.

    With u the unit direction of the atoms, `W2^2(p, T) = W2^2(u'p, u'T) + E|L - m_T|^2 off the
    line`.
    """

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        return (
            isinstance(nu, DiscreteMeasure)
            and mu.dim > 1
            and isinstance(mu, Gaussian | DiscreteMeasure)
            and reduce_target(nu).rank <= 1
        )

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        if not isinstance(nu, DiscreteMeasure):
            raise InvalidArgument("solver", "must accept the pair of laws", self)
        reduced = reduce_target(nu)
        if reduced.rank == 0:
            direction = np.eye(mu.dim)[0]
        else:
            direction = reduced.basis[:, 0]
        across = np.eye(mu.dim) - np.outer(direction, direction)
        inner = Line().solve(mu.project(direction), nu.project(direction))
        shift = across @ (np.asarray(mu.mean) - reduced.mean)
        rest = float(shift @ shift + np.trace(across @ np.asarray(mu.covariance) @ across))
        source = inner.potentials.source
        if isinstance(mu, DiscreteMeasure):
            away = (mu.points - reduced.mean) @ across
            rest = float(mu.weights @ (away**2).sum(axis=1))
            source = None if source is None else source + (away**2).sum(axis=1)
        return replace(
            inner,
            squared=inner.squared + rest,
            lower=inner.lower + rest,
            upper=inner.upper + rest,
            potentials=Potentials(source, inner.potentials.target),
            method=f"projection on the atoms, then {inner.method}",
        )
