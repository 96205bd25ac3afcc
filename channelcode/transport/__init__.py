"""Wasserstein-2 transport to a discrete target: exact, batched, certified."""

from channelcode.transport.bounds import dual_bound, gelbrich_bound, projection_bound
from channelcode.transport.discrete import EarthMover
from channelcode.transport.facade import Auto, w2
from channelcode.transport.gaussian import Bures, bures_squared
from channelcode.transport.line import Line, line_constant
from channelcode.transport.median import Median
from channelcode.transport.nearest import Nearest, nearest
from channelcode.transport.plane import Plane
from channelcode.transport.pool import w2_squared
from channelcode.transport.power import wasserstein_line
from channelcode.transport.projection import Projection
from channelcode.transport.quasi import QuasiMonteCarlo
from channelcode.transport.result import Potentials, TransportResult
from channelcode.transport.semidual import SemiDual
from channelcode.transport.simplex import Simplex, expected_maximum
from channelcode.transport.solver import Solver
from channelcode.transport.space import Space

__all__ = [
    "w2",
    "w2_squared",
    "nearest",
    "wasserstein_line",
    "bures_squared",
    "gelbrich_bound",
    "projection_bound",
    "dual_bound",
    "line_constant",
    "expected_maximum",
    "TransportResult",
    "Potentials",
    "Nearest",
    "Solver",
    "Auto",
    "Line",
    "Median",
    "Projection",
    "Plane",
    "Simplex",
    "Space",
    "QuasiMonteCarlo",
    "SemiDual",
    "EarthMover",
    "Bures",
]
