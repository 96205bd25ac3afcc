"""Tables from files, and the features that a learner sees.

`decoding` turns bytes into text, `delimited` reads CSV and TSV, `records` JSONL, `arrays` `.npy`
and Parquet; `table` is what all of them give, `kinds` says what a column is. `words` weighs the
words of texts, `features` makes the matrix, `remembered` keeps what was slow to read, `problems` is
the error that names file, line and column.
"""

from apm.tables.features import Features, features_of
from apm.tables.problems import FileProblem
from apm.tables.reading import read_table
from apm.tables.table import Column, Table

__all__ = ["Column", "Features", "FileProblem", "Table", "features_of", "read_table"]
