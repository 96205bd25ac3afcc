"""What is remembered of sparse pools: only of those that cannot change, and only of the last."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from apm.pools.inputs import as_matrix, read_only_view
from apm.posteriors.covariances.remembered import MOST, Remembered


def rows_of(matrix: Any) -> Any:
    rows: Any = sparse.csr_array(matrix)
    return as_matrix(rows)


def fixed(value: float = 1.0) -> Any:
    return read_only_view(rows_of(np.eye(2) * value))


def test_a_fixed_sparse_matrix_is_remembered_by_identity() -> None:
    kept, pool, twin = Remembered(), fixed(), fixed()
    assert kept.put("image", (pool,), 3) == 3
    assert kept.get("image", (pool,)) == 3
    assert kept.get("image", (twin,)) is None
    assert kept.get("squares", (pool,)) is None
    assert kept.get("image", (pool, pool)) is None


def test_what_can_be_written_to_is_not() -> None:
    kept = Remembered()
    for matrix in (rows_of(np.eye(2)), np.eye(2)):
        kept.put("image", (matrix,), 3)
        kept.put("product", (fixed(), matrix), 3)
        assert kept.get("image", (matrix,)) is None
    calls: list[int] = []
    for _ in range(2):
        kept.once("image", (np.eye(2),), lambda: calls.append(1))
    assert len(calls) == 2


def test_the_oldest_goes_and_copies_part() -> None:
    kept, pools = Remembered(), [fixed(k + 1) for k in range(MOST + 1)]
    for number, pool in enumerate(pools):
        kept.put("image", (pool,), number)
    assert kept.get("image", (pools[0],)) is None
    assert kept.get("image", (pools[-1],)) == MOST
    other = kept.copy()
    other.put("image", (pools[-1],), "other")
    assert kept.get("image", (pools[-1],)) == MOST
