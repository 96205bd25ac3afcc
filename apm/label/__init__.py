"""Labelling from files: the label file is the state, and any tool may stand in the middle.

`rows` says how rows are called, `book` is the label file, `session` chooses the next rows,
`formats` writes them for other tools and `taken` reads what those export, `evaluation` says how
good it is by now, `escaping` makes text harmless. `page` is the same in a browser, `notebook` the
buttons of `Learner.label`.
"""

from apm.label.book import Answer, LabelFile
from apm.label.rows import RowNames
from apm.label.session import Session

__all__ = ["Answer", "LabelFile", "RowNames", "Session"]
