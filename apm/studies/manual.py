"""The numbers of the manual from finished runs: `python -m apm.studies.manual docs --help`.

Copies the tables of a run to `docs/results` and makes every marked table and sentence of
`docs/multiclass.md`, `docs/reproduce.md` and `docs/rule.md`, and what `docs/choosing.md` quotes of
them, anew.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from apm.studies.engine.store import write_whole
from apm.studies.engine.tables import read_csv, write_csv
from apm.studies.multiclass import read_results, sentences, tables
from apm.studies.paper.report import sentences as paper
from apm.studies.report.markdown import fill
from apm.studies.rule import report as rule

MULTICLASS = ("areas.csv", "curves.csv", "seconds.csv")
LOOP = "loop.csv"  # what ran the trials
QUOTING = "choosing.md"  # the page that quotes the studies


def multiclass_parts(results: Path) -> dict[str, Callable[[], str]]:
    """The marked parts of `docs/multiclass.md`, by name."""
    outcomes = read_results(results)
    known = (results / LOOP).is_file()
    through = known and [row["loop"] for row in read_csv(results / LOOP)] == ["Learner"]
    makers = {
        "seeds": partial(sentences.seeds, through_learner=through),
        "headline": sentences.headline,
        "goal": sentences.goal,
        "losses": sentences.losses,
        "seconds": sentences.seconds,
        "verdicts": tables.verdict_table,
        "tally": tables.tally_table,
        "rivals": tables.rival_table,
        "areas": tables.area_table,
    }
    return {name: partial(make, outcomes) for name, make in makers.items()}


def paper_parts(results: Path) -> dict[str, Callable[[], str]]:
    """The marked parts of `docs/reproduce.md`, by name."""
    makers = {
        "paper-areas": paper.areas,
        "paper-claims": paper.claims,
        "paper-beyond": paper.beyond,
    }
    return {name: partial(make, results) for name, make in makers.items()}


def rule_parts(results: Path) -> dict[str, Callable[[], str]]:
    """The marked parts of `docs/rule.md`, by name."""
    parts: dict[str, Callable[[], str]] = {}
    for kind in ("two", "many"):
        parts[f"rule-{kind}"] = partial(rule.standings_table, results, kind)
        parts[f"rule-{kind}-losses"] = partial(rule.losses_table, results, kind)
        parts[f"rule-{kind}-rivals"] = partial(rule.rivals_table, results, kind)
    if (results / "mechanisms.csv").is_file():
        for data in dict.fromkeys(row["data"] for row in read_csv(results / "mechanisms.csv")):
            name = "mechanisms-" + data.replace(", ", "-").replace(" ", "-")
            parts[name] = partial(rule.mechanisms_table, results, data)
    return parts


def renew(
    docs: Path,
    *,
    multiclass: Path | None = None,
    paper_tables: Path | None = None,
    rule_study: Path | None = None,
) -> None:
    """Copy the tables of the runs given into `docs/results` and make the pages anew.

    `multiclass` and `rule_study` are the folders of those studies, `paper_tables` the folder
    `tables` of the paper's.
    """
    if multiclass is not None:
        target = docs / "results" / "multiclass"
        _copy(multiclass / "results", target, MULTICLASS)
        plans = json.loads((multiclass / "study.json").read_text(encoding="utf-8"))["plans"]
        loops = sorted({str(plan.get("loop", "unknown")) for plan in plans})
        write_csv(target / LOOP, ("loop",), [(loop,) for loop in loops])
    if paper_tables is not None:
        _copy(paper_tables, docs / "results" / "paper", paper.TABLES)
    if rule_study is not None:
        _copy(rule_study / "results", docs / "results" / "rule", rule.TABLES)
    pages = {
        "multiclass.md": (docs / "results" / "multiclass", multiclass_parts),
        "reproduce.md": (docs / "results" / "paper", paper_parts),
        "rule.md": (docs / "results" / "rule", rule_parts),
    }
    for name, (results, parts) in pages.items():
        if results.is_dir():
            made = parts(results)
            for path in (docs / name, docs / QUOTING):
                if path.is_file():
                    text = path.read_text(encoding="utf-8")
                    write_whole(path, fill(text, made).encode())


def _copy(source: Path, target: Path, names: tuple[str, ...]) -> None:
    for name in names:
        write_whole(target / name, (source / name).read_bytes())


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m apm.studies.manual", description=__doc__)
    parser.add_argument("docs", type=Path, help="the folder of the manual")
    parser.add_argument("--multiclass", type=Path, help="the folder of that study")
    parser.add_argument("--paper", type=Path, help="the folder `tables` of `apm reproduce`")
    parser.add_argument("--rule", type=Path, help="the folder of the study of the default rule")
    given = parser.parse_args()
    renew(
        given.docs,
        multiclass=given.multiclass,
        paper_tables=given.paper,
        rule_study=given.rule,
    )


if __name__ == "__main__":
    main()
