"""Taking answers: the state of a learner and how calls change it, and its journal on the disk.

`state` is all that answers change, `labelling` the calls (tell, skip, undo, correct), `recording`
the journal file, `reading` what is known, `automatic` what is used when nothing is said.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from apm.answering.automatic import default_belief as default_belief
    from apm.answering.automatic import default_encoder as default_encoder
    from apm.answering.automatic import default_posterior as default_posterior
    from apm.answering.labelling import locked as locked
    from apm.answering.reading import Reading as Reading
    from apm.answering.state import Setup as Setup
    from apm.answering.state import State as State
else:
    attach(
        __name__,
        {
            "automatic": "default_belief default_encoder default_posterior",
            "labelling": "locked",
            "reading": "Reading",
            "state": "Setup State",
        },
    )
