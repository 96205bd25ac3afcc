"""Files that survive a crash and refuse damage.

`whole` writes a file all or not at all, `arrays` keeps arrays and JSON under one checksum, `lines`
is an append-only journal, `fingerprint` tells one pool from another.
"""

from apm.storage.arrays import read_arrays, write_arrays
from apm.storage.fingerprint import fingerprint, streamed_fingerprint
from apm.storage.lines import JournalFile, JournalRepaired
from apm.storage.whole import replacing, write_whole

__all__ = [
    "JournalFile",
    "JournalRepaired",
    "fingerprint",
    "read_arrays",
    "replacing",
    "streamed_fingerprint",
    "write_arrays",
    "write_whole",
]
