"""The published figures, checked against each other."""

from __future__ import annotations

import pytest

from apm.experiments.datasets import PAPER_DATASETS
from apm.experiments.published import COLUMNS, PUBLISHED

# Table 1 in the body of the paper repeats three rows of the appendix.
TABLE_1 = {
    "letterDP": (0.336, 0.149, 4.230, 12.755, 0.005, 0.118),
    "austra": (0.150, 0.063, 1.770, 5.089, 0.003, 0.050),
    "cross": (0.125, 0.053, 1.521, 2.722, 0.002, 0.040),
}


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
