"""The tables of the manual are the committed numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from apm.studies.multiclass import read_results
from apm.studies.multiclass.tables import fill

RESULTS = Path(__file__).parents[4] / "docs" / "results" / "multiclass"
pytestmark = pytest.mark.skipif(not RESULTS.is_dir(), reason="no committed results")


def test_documented_tables_are_the_committed_numbers() -> None:
    text = (RESULTS.parents[1] / "multiclass.md").read_text(encoding="utf-8")
    assert fill(text, read_results(RESULTS)) == text
