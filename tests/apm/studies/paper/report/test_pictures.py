"""What is ranked and drawn."""

from __future__ import annotations

import numpy as np

from apm.studies.paper.report.pictures import rank_methods
from tests.apm.studies.made_up import sheet


def test_ranks_are_of_the_methods_that_ran_everywhere() -> None:
    sheets = {
        "a": sheet("a", {"x": 0.9, "y": 0.8, "z": 0.7, "only here": 1.0}),
        "bb": sheet("bb", {"z": 0.5, "y": 0.6, "x": 0.8}),
    }
    found = rank_methods(sheets)
    assert found is not None
    assert found.methods == ("x", "y", "z")
    np.testing.assert_array_equal(found.average, [1.0, 2.0, 3.0])
    assert rank_methods({"a": sheet("a", {"x": 0.9})}) is None
