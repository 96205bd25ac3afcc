"""Whole learners on disk: everything they need to go on, checked in every part when it is read.

`learner_file` writes and reads it, `replay` asks whether the posterior follows from the journal,
`description` turns objects of this library into plain data and back.
"""

from apm.archive.description import describe, restore
from apm.archive.learner_file import PARTS, VERSION, Saved, explained, load, read, save, write

__all__ = [
    "PARTS",
    "VERSION",
    "Saved",
    "describe",
    "explained",
    "load",
    "read",
    "restore",
    "save",
    "write",
]
