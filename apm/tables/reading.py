"""One function that reads a table, whatever the file."""

from __future__ import annotations

import logging
import os
from collections import Counter
from pathlib import Path

from apm.storage.whole import file_path, named
from apm.tables.arrays import read_npy, read_parquet
from apm.tables.delimited import read_delimited
from apm.tables.records import read_records
from apm.tables.table import Table
from channelcode.errors import InvalidArgument

log = logging.getLogger(__name__)
ENDINGS = ".csv, .tsv, .txt, .jsonl, .ndjson, .npy, .parquet"


def read_table(path: str | os.PathLike[str], *, encoding: str | None = None) -> Table:
    """The table in a file, by the ending of its name: CSV, TSV, JSONL, `.npy` or Parquet.

    Text is UTF-8 unless it says otherwise (a byte order mark, or `encoding`). Rows are numbered
    from 0, the header and blank lines aside.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder, "pool.csv")
    ...     _ = place.write_text("price,colour\\n1.5,red\\n,blue\\n2,red\\n3,blue\\n")
    ...     table = read_table(place)
    >>> len(table), [(column.name, column.kind) for column in table.columns], table.row(1)
    (4, [('price', 'number'), ('colour', 'category')], {'price': None, 'colour': 'blue'})
    """
    place = file_path(path)
    with named(place):
        if not os.path.isfile(place):
            os.stat(place)  # what is not there has an error of its own
            raise InvalidArgument("pool", "must be a file", str(place))
    table = _read(place, encoding)
    kinds = Counter(column.kind for column in table.columns if table.matrix is None)
    told = dict(kinds) or {"number": len(table.columns)}
    log.info("%s: %d rows; columns by kind: %s", place, len(table), told)
    return table


def _read(place: Path, encoding: str | None) -> Table:
    ending = place.suffix.lower()
    if ending in (".csv", ".txt"):
        return read_delimited(place, encoding=encoding)
    if ending in (".tsv", ".tab"):
        return read_delimited(place, encoding=encoding, delimiter="\t")
    if ending in (".jsonl", ".ndjson"):
        return read_records(place, encoding=encoding)
    if ending == ".npy":
        return read_npy(place)
    if ending in (".parquet", ".pq"):
        return read_parquet(place)
    raise InvalidArgument("pool", f"must end in one of {ENDINGS}", str(place))
