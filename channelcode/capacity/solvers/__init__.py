"""Methods that propose an input law; none of them grades itself.

`auto` chooses; `closed_form` (with `symmetric_binary`) knows formulas; `interior_point` and
`blahut_arimoto` work on a finite alphabet, made ready by `letters`; `continuous` has no grid in its
answer.
"""

from channelcode.capacity.solvers.auto import Auto
from channelcode.capacity.solvers.blahut_arimoto import BlahutArimoto
from channelcode.capacity.solvers.closed_form import ClosedForm
from channelcode.capacity.solvers.continuous import Continuous
from channelcode.capacity.solvers.interior_point import InteriorPoint

__all__ = ["Auto", "BlahutArimoto", "ClosedForm", "Continuous", "InteriorPoint"]
