"""What a covariance remembers of fixed sparse pools, so that no label multiplies them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apm.pools.inputs import is_sparse

MOST = 8  # results that are remembered: images, squares and products of a pool and its targets


class Remembered:
    """Results about sparse matrices that cannot be written to, by the matrices' identity.

    The matrices are held, so that no other can take the place of one in memory.

    >>> from apm.pools.inputs import as_matrix, read_only_view
    >>> from scipy.sparse import csr_array
    >>> kept, pool = Remembered(), read_only_view(as_matrix(csr_array([[2.0, 0.0]])))
    >>> float(kept.once("sum", (pool,), pool.sum)), float(kept.get("sum", (pool,)))
    (2.0, 2.0)
    """

    __slots__ = ("_held",)

    def __init__(self, held: dict[Any, tuple[tuple[Any, ...], Any]] | None = None) -> None:
        self._held = {} if held is None else dict(held)

    def copy(self) -> Remembered:
        """The same results; what is added to the one is not added to the other."""
        return Remembered(self._held)

    def get(self, name: str, matrices: tuple[Any, ...]) -> Any:
        """What was put under this name for these very matrices, or None."""
        known, value = self._held.get((name, *map(id, matrices)), ((), None))
        same = len(known) == len(matrices) and all(a is b for a, b in zip(known, matrices))
        return value if same else None

    def put(self, name: str, matrices: tuple[Any, ...], value: Any) -> Any:
        """Remember a value, if every matrix is sparse and cannot be written to; returns it."""
        if all(is_sparse(each) and not each.data.flags.writeable for each in matrices):
            key = (name, *map(id, matrices))
            if key not in self._held and len(self._held) >= MOST:
                self._held.pop(next(iter(self._held)))  # the oldest
            self._held[key] = matrices, value
        return value

    def once(self, name: str, matrices: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        """The value that was remembered, or the one computed now."""
        value = self.get(name, matrices)
        return self.put(name, matrices, compute()) if value is None else value
