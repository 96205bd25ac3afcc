"""What came out of the paper's experiments, for the manual, from the tables that a run wrote."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from apm.studies.engine.tables import read_csv
from apm.studies.paper.methods import ADDITIONS, CURVE_METHODS
from apm.studies.report.markdown import markdown_table

TABLES = ("areas.csv", "claims.csv", "ranks.csv")
"""The tables that are committed with the manual."""


def areas(folder: Path) -> str:
    """Mean accuracy over the first 40 queries in per cent, by data set and method."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    trials = set()
    for row in read_csv(folder / "areas.csv"):
        found[row["dataset"]][row["method"]] = 100 * float(row["area"])
        trials.add(int(row["trials"]))
    everywhere = set.intersection(*(set(values) for values in found.values()))
    methods = [m for m in (*CURVE_METHODS, *ADDITIONS) if m in everywhere]
    rows = []
    for name, values in found.items():
        best = max(values[m] for m in methods)
        cells = [
            f"**{values[m]:.1f}**" if values[m] == best else f"{values[m]:.1f}" for m in methods
        ]
        rows.append((name, *cells))
    means = [sum(v[m] for v in found.values()) / len(found) for m in methods]
    rows.append(("mean", *(f"{mean:.1f}" for mean in means)))
    count = " or ".join(str(t) for t in sorted(trials))
    lead = f"Mean test accuracy over the first 40 queries (%), {count} trials for each data set."
    return f"{lead}\n\n{markdown_table(('data set', *methods), rows)}"


def claims(folder: Path) -> str:
    """How many claims hold, and every one that does not."""
    rows = [row for row in read_csv(folder / "claims.csv") if row["verdict"] != "not run"]
    held, open_, refuted = (
        sum(row["verdict"] == v for row in rows) for v in ("held", "not resolved", "not held")
    )
    first = f"Of {len(rows)} claims {held} hold, {open_} are not resolved and {refuted} do not hold"
    lines = [f"{first}:" if open_ + refuted else f"{first}.", ""]
    for verdict in ("not held", "not resolved"):
        for row in rows:
            if row["verdict"] == verdict:
                number, low, high = (float(row[part]) for part in ("number", "low", "high"))
                found = f"{number:.3f} [{low:.3f}, {high:.3f}], {row['measure']}"
                lines.append(f"- *{row['claim']}* ({verdict}): {found}.")
    return "\n".join(lines)


def beyond(folder: Path) -> str:
    """Average ranks of all methods, best first, and the mean lead of the additions over APM-LR."""
    ranks = {r["method"]: float(r["average_rank"]) for r in read_csv(folder / "ranks.csv")}
    order = sorted(ranks, key=lambda name: ranks[name])
    listed = ", ".join(f"{name} {ranks[name]:.1f}" for name in order)
    found: dict[str, list[float]] = defaultdict(list)
    for row in read_csv(folder / "areas.csv"):
        found[row["method"]].append(100 * float(row["area"]))
    own = sum(found["APM-LR"]) / len(found["APM-LR"])
    added = [m for m in ADDITIONS if len(found[m]) == len(found["APM-LR"])]
    leads = ", ".join(f"{m} {sum(found[m]) / len(found[m]) - own:+.1f}" for m in added)
    return f"Average ranks over the data sets: {listed}. Points of mean area over APM-LR: {leads}."
