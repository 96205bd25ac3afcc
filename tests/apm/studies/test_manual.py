"""The pages of the manual are made from the committed numbers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from apm.studies.manual import QUOTING, multiclass_parts, paper_parts, renew, rule_parts
from apm.studies.report.markdown import fill

DOCS = Path(__file__).parents[3] / "docs"
PAGES = [
    ("multiclass.md", "multiclass", multiclass_parts),
    ("reproduce.md", "paper", paper_parts),
    ("rule.md", "rule", rule_parts),
]


@pytest.mark.parametrize(
    ("page", "folder", "parts"),
    [page for page in PAGES if (DOCS / "results" / page[1]).is_dir()],
)
def test_marked_parts_are_the_committed_numbers(page, folder, parts) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    made = parts(DOCS / "results" / folder)
    for name in made:
        assert f"<!-- table: {name} -->" in text
    assert fill(text, made) == text
    quoting = (DOCS / QUOTING).read_text(encoding="utf-8")
    assert fill(quoting, made) == quoting
    if page != "rule.md":
        assert any(f"<!-- table: {name} -->" in quoting for name in made)


def test_a_run_replaces_numbers_and_parts(tmp_path: Path) -> None:
    results = DOCS / "results" / "multiclass"
    if not results.is_dir():
        pytest.skip("no committed results")
    run = tmp_path / "run"
    shutil.copytree(results, run / "results")
    lines = (run / "results" / "areas.csv").read_text().splitlines()
    fewer = [lines[0], *(line for line in lines[1:] if line.split(",")[1] in ("0", "1", "2"))]
    (run / "study.json").write_text(json.dumps({"plans": [{"loop": "Learner"}]}))
    (run / "results" / "areas.csv").write_text("\n".join(fewer) + "\n")
    docs = tmp_path / "docs"
    docs.mkdir()
    for page in ("multiclass.md", "reproduce.md"):
        shutil.copy(DOCS / page, docs / page)
    renew(docs, multiclass=run)
    text = (docs / "multiclass.md").read_text(encoding="utf-8")
    assert "3 of the 20 or 10 paired seeds" in text
    assert (docs / "results" / "multiclass" / "areas.csv").read_text().count("\n") == len(fewer)
