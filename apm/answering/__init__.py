"""Taking answers: the state of a learner and how calls change it, and its journal on the disk.

`state` is all that answers change, `labelling` the calls (tell, skip, undo, correct), `recording`
the journal file, `reading` what is known, `automatic` what is used when nothing is said.
"""

from apm.answering.automatic import default_belief, default_encoder, default_posterior
from apm.answering.labelling import locked
from apm.answering.reading import Reading
from apm.answering.state import Setup, State

__all__ = [
    "Reading",
    "Setup",
    "State",
    "default_belief",
    "default_encoder",
    "default_posterior",
    "locked",
]
