"""Whole learners on disk: everything they need to go on, checked in every part when it is read.

`learner_file` writes and reads it, `replay` asks whether the posterior follows from the journal,
`description` turns objects of this library into plain data and back.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from apm.archive.description import describe as describe
    from apm.archive.description import restore as restore
    from apm.archive.learner_file import PARTS as PARTS
    from apm.archive.learner_file import VERSION as VERSION
    from apm.archive.learner_file import Saved as Saved
    from apm.archive.learner_file import explained as explained
    from apm.archive.learner_file import load as load
    from apm.archive.learner_file import read as read
    from apm.archive.learner_file import save as save
    from apm.archive.learner_file import write as write
else:
    attach(
        __name__,
        {
            "description": "describe restore",
            "learner_file": "PARTS VERSION Saved explained load read save write",
        },
    )
