"""Wasserstein-2 transport to a discrete target: exact, batched, certified.

`problem` brings two laws into the form that is solved, `solvers` propose couplings and potentials,
`certify` alone says what they prove; `solve` (one pair), `pool` and `nearest` put it together.
"""

from channelcode.transport.bounds import (
    LowerBound,
    dual_bound,
    gelbrich_bound,
    projection_bound,
)
from channelcode.transport.certify import certify
from channelcode.transport.monotone import line_constant
from channelcode.transport.nearest import Nearest, nearest
from channelcode.transport.pool import w2_squared
from channelcode.transport.power import wasserstein_line
from channelcode.transport.problem import Problem, Proposal, Solver
from channelcode.transport.result import Potentials, TransportResult
from channelcode.transport.solve import Auto, w2
from channelcode.transport.solvers import (
    Bures,
    EarthMover,
    Line,
    Median,
    Plane,
    QuasiMonteCarlo,
    SemiDual,
    Simplex,
    Space,
    bures_squared,
    expected_maximum,
)

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
    "certify",
    "TransportResult",
    "Potentials",
    "Nearest",
    "LowerBound",
    "Problem",
    "Proposal",
    "Solver",
    "Auto",
    "Line",
    "Median",
    "Plane",
    "Simplex",
    "Space",
    "QuasiMonteCarlo",
    "SemiDual",
    "EarthMover",
    "Bures",
]
