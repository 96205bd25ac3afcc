"""The page: made from the committed numbers alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from apm.studies.multiclass import CELLS, METHODS, read_results
from apm.studies.multiclass.report import write_page

RESULTS = Path(__file__).parents[4] / "docs" / "results" / "multiclass"
pytestmark = pytest.mark.skipif(not RESULTS.is_dir(), reason="no committed results")


def test_committed_results_rebuild_the_page(tmp_path) -> None:
    outcomes = read_results(RESULTS)
    assert outcomes.methods == tuple(METHODS)
    assert set(outcomes.cells) == set(CELLS)  # no cell left out
    for cell in outcomes.cells:  # paired: as many seeds for each method
        counts = {len(areas) for areas in outcomes.areas[cell].values()}
        assert len(counts) == 1
        assert counts.pop() <= cell.seeds
    page = write_page(RESULTS, tmp_path).read_text()
    for cell in CELLS:
        assert cell.name in page
