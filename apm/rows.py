"""What `ask` answers with."""

from __future__ import annotations

from typing import Any

import numpy as np


class Rows(np.ndarray[Any, np.dtype[np.intp]]):
    """Row numbers of the pool, best first; an array, and a single one also serves as an integer.

    >>> rows = Rows.of([7])
    >>> int(rows), "abcdefgh"[rows], rows.tolist()
    (7, 'h', [7])
    """

    @classmethod
    def of(cls, indices: Any) -> Rows:
        """The given row numbers, `(n,)`, as `Rows`."""
        return np.asarray(indices, dtype=np.intp).view(cls)

    def __index__(self) -> int:
        if self.size != 1:
            raise TypeError(
                f"{self.size} rows are not one integer: take one of them, as in rows[0]"
            )
        return int(self.item())

    __int__ = __index__
