"""The published figures, checked against the printed tables and each other."""

from __future__ import annotations

import numpy as np
import pytest

from apm.studies.data.catalogue import PAPER_DATASETS
from apm.studies.paper.report.published_costs import COLUMNS, PUBLISHED

# Table 1 in the body of the paper repeats three rows of the appendix.
TABLE_1 = {
    "letterDP": (0.336, 0.149, 4.230, 12.755, 0.005, 0.118),
    "austra": (0.150, 0.063, 1.770, 5.089, 0.003, 0.050),
    "cross": (0.125, 0.053, 1.521, 2.722, 0.002, 0.040),
}
# Sums of the printed Tables 3, 4 and 5 of the appendix in milliseconds: by data set, by method.
ROW_SUMS = {
    "selection": (
        9692, 4700, 4497, 17593, 16811, 16387, 17301, 17153, 16926, 7125, 8117, 4472, 4463, 4459,
    ),
    "posterior": (
        60008, 28750, 66069, 50237, 47104, 46588, 52779, 52128, 45484, 64739, 107444, 13390,
        14405, 5708,
    ),
    "total": (
        69874, 33635, 70711, 67973, 64110, 63152, 70318, 69474, 62577, 72062, 115761, 18036,
        19017, 10341,
    ),
}  # fmt: skip
COLUMN_SUMS = {
    "selection": (2931, 1293, 36713, 107692, 47, 1020),
    "posterior": (104732, 73028, 96739, 94582, 119487, 166265),
    "total": (108072, 74655, 133855, 202966, 119873, 167620),
}


@pytest.mark.parametrize("kind", PUBLISHED)
def test_no_figure_was_mistyped(kind: str) -> None:
    """A wrong digit changes one sum of a row and one of a column."""
    table = np.array([list(row.values()) for row in PUBLISHED[kind].values()])
    thousandths = np.rint(1000 * table).astype(int)
    assert tuple(thousandths.sum(axis=1)) == ROW_SUMS[kind]
    assert tuple(thousandths.sum(axis=0)) == COLUMN_SUMS[kind]


@pytest.mark.parametrize("kind", PUBLISHED)
def test_every_set_and_method_has_a_figure(kind: str) -> None:
    assert tuple(PUBLISHED[kind]) == PAPER_DATASETS
    assert all(tuple(row) == COLUMNS for row in PUBLISHED[kind].values())


@pytest.mark.parametrize("name", TABLE_1)
def test_the_body_repeats_the_appendix(name: str) -> None:
    assert tuple(PUBLISHED["selection"][name].values()) == TABLE_1[name]


def test_totals_are_sums_and_a_little_retraining() -> None:
    """Retraining takes 0.01 to 0.03 s (appendix B.5); a median of sums is no sum of medians."""
    for name in PAPER_DATASETS:
        for method in COLUMNS:
            parts = PUBLISHED["selection"][name][method] + PUBLISHED["posterior"][name][method]
            total = PUBLISHED["total"][name][method]
            assert 0.98 * parts < total < 1.05 * parts + 0.04, (name, method)
