"""What may come in as a matrix, a row, a row number, a list or weights, and what is said if not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from apm.pools.inputs import (
    as_dense,
    as_list,
    as_matrix,
    as_row,
    as_row_number,
    as_weights,
    column_names,
    in_form_of,
    is_sparse,
    matching_columns,
    read_only_view,
    require_finite,
    stacked,
)
from channelcode.errors import InvalidArgument


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_float_matrices_are_not_copied(dtype):
    X = np.asfortranarray(np.arange(6.0, dtype=dtype).reshape(3, 2))
    assert as_matrix(X) is X


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16"])
def test_other_numbers_become_float64(dtype):
    matrix = as_matrix(np.ones((2, 2), dtype=dtype))
    assert matrix.dtype == np.float64
    assert matrix.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ([[1.0], [1.0, 2.0]], "regular matrix"),
        ([["a"]], "real numbers"),
        ([[1j]], "real numbers"),
        ([[None]], "real numbers"),
        ([1.0, 2.0], "two axes"),
        (np.zeros((2, 0)), "at least one column"),
        ([[1.0, np.nan]], "row 0, column 1"),
        (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), "masked"),
    ],
)
def test_what_is_no_matrix(X: Any, said: str):
    with pytest.raises(InvalidArgument, match=said):
        as_matrix(X)


def test_large_entries_are_finite_though_their_sum_is_not():
    X = np.full((5000, 1), 1.7e308)
    require_finite(X)
    X[4321, 0] = -np.inf
    with pytest.raises(InvalidArgument, match="row 4331, column 0"):
        require_finite(X, first_row=10)


def test_rows_and_dense_rows():
    assert as_row([1, 2]).tolist() == [[1.0, 2.0]]
    sparse: Any = csr_matrix([[0.0, 2.0]])
    assert as_row(sparse).tolist() == [[0.0, 2.0]]
    assert as_dense(sparse).tolist() == [[0.0, 2.0]]
    with pytest.raises(InvalidArgument, match="must be finite"):
        as_row(np.array([[np.inf]]))


@pytest.mark.parametrize("weights", [[-1.0, 1.0], [np.nan, 1.0], [1.0], ["a", "b"]])
def test_what_are_no_weights(weights: Any):
    with pytest.raises(InvalidArgument, match="sample_weight"):
        as_weights(weights, 2)


def test_weights():
    assert as_weights(None, 2).tolist() == [1.0, 1.0]
    assert as_weights(0.5, 2).tolist() == [0.5, 0.5]
    given = np.array([1.0, 2.0])
    assert as_weights(given, 2) is not given


@pytest.mark.parametrize("position", [-1, 3, True, 1.0, "1", None])
def test_what_is_no_row_number(position: Any):
    with pytest.raises(InvalidArgument, match="row number"):
        as_row_number(position, 3)


def test_row_numbers_and_lists():
    assert as_row_number(np.int8(2), 3) == 2
    assert as_list("yes", "labels") == ["yes"]
    assert as_list(("a", "b"), "labels") == ["a", "b"]
    with pytest.raises(InvalidArgument, match="one axis"):
        as_list([[1], [1, 2]], "labels")


@pytest.mark.parametrize("form", [np.array, csr_matrix])
def test_views_forms_and_stacks(form: Any):
    matrix = as_matrix(form([[1.0, 0.0], [0.0, 2.0]]))
    view = read_only_view(matrix)
    with pytest.raises(ValueError, match="read-only"):
        (view.data if is_sparse(view) else view)[0] = 5.0
    both = stacked(matrix, in_form_of(matrix, np.array([[3.0, 4.0]])))
    assert is_sparse(both) == is_sparse(matrix)
    assert as_dense(both).tolist() == [[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]]


class Frame:
    """The least of a data frame: named columns, and an array."""

    def __init__(self, columns: list[Any]):
        self.columns = columns

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.ones((2, len(self.columns)))


def test_columns_must_match():
    assert column_names(Frame(["a", 1])) is None
    assert matching_columns(Frame(["a", "b"]), ["a", "b"], 2).shape == (2, 2)
    with pytest.raises(InvalidArgument, match="in the order of the pool"):
        matching_columns(Frame(["b", "a"]), ["a", "b"], 2)
    with pytest.raises(InvalidArgument, match=r"unknown columns \['c'\], missing columns \['b'\]"):
        matching_columns(Frame(["a", "c"]), ["a", "b"], 2)
    with pytest.raises(InvalidArgument, match="must have 3 columns"):
        matching_columns(np.ones((2, 2)), None, 3)
