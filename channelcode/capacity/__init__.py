"""Capacity under a constraint, with proof, for any channel.

`channelcode.capacity` is this package and, called, the function of the same name:

>>> from channelcode import capacity
>>> from channelcode.channels import Logistic
>>> from channelcode.capacity import Power
>>> round(capacity(Logistic(), Power(1.0)).bits, 9)
0.160058462
"""

import sys
from types import ModuleType
from typing import Any

from channelcode.capacity.auto import Auto
from channelcode.capacity.blahut_arimoto import BlahutArimoto
from channelcode.capacity.certify import certify
from channelcode.capacity.closed_form import ClosedForm
from channelcode.capacity.continuous import Continuous
from channelcode.capacity.curve import CapacityCurve, capacity_curve
from channelcode.capacity.interior_point import InteriorPoint
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.result import CapacityResult
from channelcode.capacity.solve import Solver, capacity
from channelcode.constraints import Constraint, Cost, Peak, Power, Unconstrained

__all__ = [
    "capacity",
    "capacity_curve",
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
]


class _CallableModule(ModuleType):
    """A module that may be called: whichever of the two the name is bound to, it works."""

    def __call__(self, *args: Any, **kwargs: Any) -> CapacityResult:
        return capacity(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
