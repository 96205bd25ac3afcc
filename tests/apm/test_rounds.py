"""One row serves as an integer; several do not."""

import numpy as np
import pytest

from apm.rounds import Rows


def test_one_row_is_an_integer_and_an_array():
    rows = Rows.of(np.array([2]))
    assert int(rows) == 2
    assert ["a", "b", "c"][rows] == "c"
    assert np.arange(5)[rows].tolist() == [2]  # an array selects as an array does
    assert [int(row) for row in rows] == [2]
    assert rows.dtype == np.intp
    assert rows[0].ndim == 0


def test_several_rows_are_not_an_integer():
    rows = Rows.of([3, 1])
    assert rows.tolist() == [3, 1]
    with pytest.raises(TypeError, match="2 rows are not one integer"):
        int(rows)
    with pytest.raises(TypeError, match="2 rows"):
        ["a", "b", "c", "d"][rows]
