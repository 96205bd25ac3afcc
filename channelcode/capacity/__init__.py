"""Capacity under a constraint, with proof, for any channel.

`problem` holds the question, the proposal and the result; `solvers` propose, `certify` judges,
`solve` is the front door and `curve` its version for many powers. `kkt` and `law_value` are the
mathematics that all of them share.

>>> from channelcode import Logistic, Power, capacity
>>> round(capacity(Logistic(), Power(1.0)).bits, 9)
0.160058462
"""

from channelcode.capacity.certify import certify
from channelcode.capacity.curve import CapacityCurve, capacity_curve
from channelcode.capacity.per_unit_cost import UnitCostResult, capacity_per_unit_cost
from channelcode.capacity.problem import CapacityResult, Problem, Proposal, Solver
from channelcode.capacity.solve import capacity
from channelcode.capacity.solvers import (
    Auto,
    BlahutArimoto,
    ClosedForm,
    Continuous,
    InteriorPoint,
)
from channelcode.constraints import Constraint, Cost, Peak, Power, Unconstrained, Variance

__all__ = [
    "capacity",
    "capacity_curve",
    "capacity_per_unit_cost",
    "UnitCostResult",
    "CapacityResult",
    "CapacityCurve",
    "Problem",
    "Proposal",
    "Solver",
    "Auto",
    "ClosedForm",
    "InteriorPoint",
    "BlahutArimoto",
    "Continuous",
    "certify",
    "Constraint",
    "Cost",
    "Peak",
    "Power",
    "Unconstrained",
    "Variance",
]
