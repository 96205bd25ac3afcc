"""The paper's published figures: median cumulative seconds over the first 40 queries.

Measured by its authors on Intel Xeon Gold 6226 processors at 2.7 GHz (appendix, section B.5). The
figures are in `published_costs.csv`: `selection` is Table 3 of the appendix (selection alone),
`posterior` Table 4 (the variational posterior alone), `total` Table 5 (both and retraining).
"""

from __future__ import annotations

import csv
from importlib.resources import files

QUERIES = 40


def _read() -> dict[str, dict[str, dict[str, float]]]:
    text = (files("apm.studies.paper.report") / "published_costs.csv").read_text(encoding="utf-8")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in csv.DictReader(text.splitlines()):
        table, name = row.pop("table"), row.pop("dataset")
        found.setdefault(table, {})[name] = {method: float(value) for method, value in row.items()}
    return found


PUBLISHED = _read()
"""Seconds by table (`selection`, `posterior`, `total`), data set and method."""
COLUMNS = tuple(next(iter(PUBLISHED["selection"].values())))
