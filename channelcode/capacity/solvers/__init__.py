"""Methods that propose an input law; none of them grades itself.

`auto` chooses; `closed_form` (with `symmetric_binary`) knows formulas; `interior_point` and
`blahut_arimoto` work on a finite alphabet, made ready by `letters`; `continuous` has no grid in its
answer.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from channelcode.capacity.solvers.auto import Auto as Auto
    from channelcode.capacity.solvers.blahut_arimoto import BlahutArimoto as BlahutArimoto
    from channelcode.capacity.solvers.closed_form import ClosedForm as ClosedForm
    from channelcode.capacity.solvers.continuous import Continuous as Continuous
    from channelcode.capacity.solvers.interior_point import InteriorPoint as InteriorPoint
else:
    attach(
        __name__,
        {
            "auto": "Auto",
            "blahut_arimoto": "BlahutArimoto",
            "closed_form": "ClosedForm",
            "continuous": "Continuous",
            "interior_point": "InteriorPoint",
        },
    )
