"""The methods of transport, one file each. They propose; `channelcode.transport.certify` judges."""

from channelcode.transport.solvers.bures import Bures, bures_squared
from channelcode.transport.solvers.earth_mover import EarthMover
from channelcode.transport.solvers.exact_flow import ExactFlow
from channelcode.transport.solvers.line import Line
from channelcode.transport.solvers.median import Median
from channelcode.transport.solvers.plane import Plane
from channelcode.transport.solvers.quasi import QuasiMonteCarlo
from channelcode.transport.solvers.semidual import SemiDual
from channelcode.transport.solvers.simplex import Simplex, expected_maximum
from channelcode.transport.solvers.space import Space

# For Gaussians, the most special first; what plain points do not solve, one exact coordinate may.
CELL_SOLVERS = (Plane(), Space(), QuasiMonteCarlo(), QuasiMonteCarlo(smooth=True))

__all__ = [
    "CELL_SOLVERS",
    "Bures",
    "EarthMover",
    "ExactFlow",
    "Line",
    "Median",
    "Plane",
    "QuasiMonteCarlo",
    "SemiDual",
    "Simplex",
    "Space",
    "bures_squared",
    "expected_maximum",
]
