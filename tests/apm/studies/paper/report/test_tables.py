"""Tables: read back they are the numbers that were written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from apm.studies.engine.statistics import Interval, average_ranks
from apm.studies.engine.tables import read_csv
from apm.studies.paper.claims.verdicts import Finding
from apm.studies.paper.report import tables
from apm.studies.paper.results import Sheet
from tests.apm.studies.made_up import sheet


@pytest.fixture
def sheets() -> dict[str, Sheet]:
    return {"cross": sheet("cross", {"APM-LR": 0.8, "BALD": 0.7}, trials=4)}


def test_curves_are_means_and_end_where_a_method_stopped(sheets: dict[str, Sheet]) -> None:
    curves = sheets["cross"].arrays["accuracy"]
    curves[1, :, 30:] = np.nan
    rows = list(tables.curve_rows(sheets))
    assert len(rows) == 41 + 30
    assert rows[41][:3] == ("cross", "BALD", 0)
    np.testing.assert_allclose(rows[5][3], curves[0, :, 5].mean())
    np.testing.assert_allclose(rows[5][4], curves[0, :, 5].std(ddof=1) / 2)
    assert rows[5][5] == 4


def test_areas_and_differences(sheets: dict[str, Sheet]) -> None:
    areas = {row[1]: row for row in tables.area_rows(sheets)}
    for method in ("APM-LR", "BALD"):
        np.testing.assert_allclose(areas[method][2], sheets["cross"].areas[method].mean())
        assert areas[method][3] <= areas[method][2] <= areas[method][4]
    ((_, first, second, difference, low, high, ahead),) = tables.difference_rows(sheets)
    assert (first, second, ahead) == ("APM-LR", "BALD", 1.0)
    np.testing.assert_allclose(difference, areas["APM-LR"][2] - areas["BALD"][2])
    assert low < difference < high


def test_costs_have_the_published_figure_where_there_is_one(sheets: dict[str, Sheet]) -> None:
    sheets["mine"] = sheet("mine", {"BALD": 0.7})
    rows = {row[:3]: row[3:] for row in tables.cost_rows(sheets)}
    seconds, published, ratio = rows["selection", "cross", "BALD"]
    np.testing.assert_allclose([seconds, published, ratio], [0.04, 1.521, 1.521 / 0.04])
    np.testing.assert_allclose(rows["total", "cross", "APM-LR"][:2], [0.12, 1.534])
    assert rows["total", "mine", "BALD"][1:] == ("", "")


def test_steps_count_from_one_and_skip_what_is_missing(sheets: dict[str, Sheet]) -> None:
    values = sheets["cross"].arrays["maximin"]
    values[:, :, 39] = np.nan
    values[0, 0, 3] = np.nan  # one trial: the others still have a mean
    rows = list(tables.step_rows(sheets, ("maximin", "unknown")))
    assert len(rows) == 2 * 39
    assert rows[3][:4] == ("cross", "APM-LR", "maximin", 4)
    np.testing.assert_allclose(rows[3][4], values[0, 1:, 3].mean())


def test_all_tables_are_written(sheets: dict[str, Sheet], tmp_path: Path) -> None:
    findings = [
        Finding("x, or y", "section 4", "held", Interval(0.1, 0.05, 0.2), "area"),
        Finding("z", "section 4", "not run", None, "needs wdbc"),
    ]
    ranks = average_ranks([[0.9, 0.8], [0.7, 0.75]], ("APM-LR", "BALD"))
    paths = tables.write_tables(sheets, ranks, findings, tmp_path)
    assert {path.name for path in paths} == {path.name for path in tmp_path.iterdir()}
    first, second = read_csv(tmp_path / "claims.csv")
    assert (first["claim"], first["number"], first["low"]) == ("x, or y", "0.1", "0.05")
    assert (second["verdict"], second["number"]) == ("not run", "")
    assert [row["average_rank"] for row in read_csv(tmp_path / "ranks.csv")] == ["1.5", "1.5"]
    information = {row["measure"] for row in read_csv(tmp_path / "information.csv")}
    assert information == {"gain"}
    assert {row["measure"] for row in read_csv(tmp_path / "failure.csv")} == {
        "distance", "maximin", "gram",
    }  # fmt: skip
    without = tables.write_tables(sheets, None, findings, tmp_path / "other")
    assert "ranks.csv" not in {path.name for path in without}
