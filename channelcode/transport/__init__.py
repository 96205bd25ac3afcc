"""Wasserstein-2 transport to a discrete target: exact, batched, certified."""

from channelcode.transport.discrete import EarthMover
from channelcode.transport.facade import Auto, w2
from channelcode.transport.gaussian import Bures, bures_squared
from channelcode.transport.line import Line
from channelcode.transport.median import Median
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
    "Auto",
    "Bures",
    "EarthMover",
    "Line",
    "Median",
    "Plane",
    "Potentials",
    "Projection",
    "QuasiMonteCarlo",
    "SemiDual",
    "Simplex",
    "Solver",
    "Space",
    "TransportResult",
    "bures_squared",
    "expected_maximum",
    "w2",
    "w2_squared",
    "wasserstein_line",
]
