"""Wasserstein-2 transport to a discrete target: exact, batched, certified.

`problem` brings two laws into the form that is solved, `solvers` propose couplings and potentials,
`certify` alone says what they prove; `solve` (one pair), `pool` and `nearest` put it together.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from channelcode.transport.bounds import LowerBound as LowerBound
    from channelcode.transport.bounds import dual_bound as dual_bound
    from channelcode.transport.bounds import gelbrich_bound as gelbrich_bound
    from channelcode.transport.bounds import projection_bound as projection_bound
    from channelcode.transport.certify import certify as certify
    from channelcode.transport.monotone import line_constant as line_constant
    from channelcode.transport.nearest import Nearest as Nearest
    from channelcode.transport.nearest import nearest as nearest
    from channelcode.transport.pool import w2_squared as w2_squared
    from channelcode.transport.power import wasserstein_line as wasserstein_line
    from channelcode.transport.problem import Problem as Problem
    from channelcode.transport.problem import Proposal as Proposal
    from channelcode.transport.problem import Solver as Solver
    from channelcode.transport.result import Potentials as Potentials
    from channelcode.transport.result import TransportResult as TransportResult
    from channelcode.transport.solve import Auto as Auto
    from channelcode.transport.solve import w2 as w2
    from channelcode.transport.solvers import Bures as Bures
    from channelcode.transport.solvers import EarthMover as EarthMover
    from channelcode.transport.solvers import ExactFlow as ExactFlow
    from channelcode.transport.solvers import Line as Line
    from channelcode.transport.solvers import Median as Median
    from channelcode.transport.solvers import Plane as Plane
    from channelcode.transport.solvers import QuasiMonteCarlo as QuasiMonteCarlo
    from channelcode.transport.solvers import SemiDual as SemiDual
    from channelcode.transport.solvers import Simplex as Simplex
    from channelcode.transport.solvers import Space as Space
    from channelcode.transport.solvers import bures_squared as bures_squared
    from channelcode.transport.solvers import expected_maximum as expected_maximum
else:
    attach(
        __name__,
        {
            "bounds": "LowerBound dual_bound gelbrich_bound projection_bound",
            "certify": "certify",
            "monotone": "line_constant",
            "nearest": "Nearest nearest",
            "pool": "w2_squared",
            "power": "wasserstein_line",
            "problem": "Problem Proposal Solver",
            "result": "Potentials TransportResult",
            "solve": "Auto w2",
            "solvers": (
                "Bures EarthMover ExactFlow Line Median Plane QuasiMonteCarlo SemiDual Simplex "
                "Space bures_squared expected_maximum"
            ),
        },
    )
