"""Capacity under a constraint, with proof, for any channel.

`problem` holds the question, the proposal and the result; `solvers` propose, `certify` judges,
`solve` is the front door and `curve` its version for many powers. `kkt` and `law_value` are the
mathematics that all of them share.

>>> from channelcode import Logistic, Power, capacity
>>> round(capacity(Logistic(), Power(1.0)).bits, 9)
0.160058462
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from channelcode.capacity.certify import certify as certify
    from channelcode.capacity.curve import CapacityCurve as CapacityCurve
    from channelcode.capacity.curve import capacity_curve as capacity_curve
    from channelcode.capacity.per_unit.cost import UnitCostResult as UnitCostResult
    from channelcode.capacity.per_unit.cost import capacity_per_unit_cost as capacity_per_unit_cost
    from channelcode.capacity.problem import CapacityResult as CapacityResult
    from channelcode.capacity.problem import Problem as Problem
    from channelcode.capacity.problem import Proposal as Proposal
    from channelcode.capacity.problem import Solver as Solver
    from channelcode.capacity.solve import capacity as capacity
    from channelcode.capacity.solvers import Auto as Auto
    from channelcode.capacity.solvers import BlahutArimoto as BlahutArimoto
    from channelcode.capacity.solvers import ClosedForm as ClosedForm
    from channelcode.capacity.solvers import Continuous as Continuous
    from channelcode.capacity.solvers import InteriorPoint as InteriorPoint
    from channelcode.constraints import Constraint as Constraint
    from channelcode.constraints import Cost as Cost
    from channelcode.constraints import Peak as Peak
    from channelcode.constraints import Power as Power
    from channelcode.constraints import Unconstrained as Unconstrained
    from channelcode.constraints import Variance as Variance
else:
    attach(
        __name__,
        {
            "certify": "certify",
            "curve": "CapacityCurve capacity_curve",
            "per_unit.cost": "UnitCostResult capacity_per_unit_cost",
            "problem": "CapacityResult Problem Proposal Solver",
            "solve": "capacity",
            "solvers": "Auto BlahutArimoto ClosedForm Continuous InteriorPoint",
            "channelcode.constraints": "Constraint Cost Peak Power Unconstrained Variance",
        },
    )
