"""Sources of rows that are read block by block and never held whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from apm.pools.streamed import StreamedRows

BLOCK_ROWS = 4096  # of a source that leaves the height of its blocks to us


class Blocks(ABC):
    """Rows in blocks of any heights, the same rows in the same order at every pass.

    A new source writes `blocks`; one that can begin anywhere also writes `read` and sets
    `seekable`. `Learner` takes a source as its pool: `apm.pools.as_rows` says what becomes one.

    >>> class Halves(Blocks):
    ...     def blocks(self):
    ...         yield np.zeros((2, 3))
    ...         yield np.ones((1, 3))
    >>> from apm.pools import StreamedRows
    >>> StreamedRows(Halves()).shape
    (3, 3)
    """

    #: Whether `read` begins at its first row, and not at the first row of all.
    seekable: bool = False
    #: Whether `read` costs no more than the rows that it returns.
    quick: bool = True
    #: The names of the columns, if there are any.
    columns: list[str] | None = None

    @abstractmethod
    def blocks(self) -> Iterator[Any]:
        """All rows in order, as arrays `(rows, d)` of one width and one type; a new pass."""

    def read(self, start: int, stop: int) -> Any:
        """The rows from `start` up to `stop`, `(stop - start, d)`."""
        parts, first = [], 0
        for block in self.blocks():
            last = first + len(block)
            if last > start:
                parts.append(np.asarray(block)[max(start - first, 0) : stop - first])
            first = last
            if first >= stop:
                break
        return np.concatenate(parts) if parts else np.empty((0, 0))

    def streamed(self) -> StreamedRows:
        """The rows as `Learner` holds them; reads all of them once."""
        from apm.pools.streamed import StreamedRows

        return StreamedRows(self)

    def state(self) -> Any:
        """Something that is another once the source has changed, cheap to get; None if unknown."""
        return None

    def growth(self) -> str | None:
        """What has come to the source behind its rows, in words; None if nothing is known of it."""
        return None

    @property
    def path(self) -> str | None:
        """Where the rows are, if they are in a file."""
        return None

    @property
    def name(self) -> str:
        """The source in messages."""
        return self.path or type(self).__name__


class Yielded(Blocks):
    """Blocks from a function that yields them anew at each call.

    >>> len(list(Yielded(lambda: iter([np.zeros((2, 3))])).blocks()))
    1
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function

    def blocks(self) -> Iterator[Any]:
        found = self._function()
        try:
            return iter(found)
        except TypeError:
            rule = "must yield blocks of rows when it is called"
            raise InvalidArgument("pool", rule, type(found).__name__) from None

    @property
    def name(self) -> str:
        return getattr(self._function, "__name__", "a function")


class Sliced(Blocks):
    """Blocks of anything that gives an array when it is sliced: other memory maps, Zarr.

    >>> Sliced(np.arange(6.0).reshape(3, 2)).read(1, 2)
    array([[2., 3.]])
    """

    seekable = True

    def __init__(self, rows: Any, *, height: int = BLOCK_ROWS, path: str | None = None) -> None:
        self._rows = rows
        self._height = max(1, int(height))
        self._path = path
        if len(rows.shape) != 2:
            rule = "must have two axes"
            raise InvalidArgument("pool", rule, f"shape {tuple(rows.shape)}")

    def blocks(self) -> Iterator[Any]:
        for start in range(0, self._rows.shape[0], self._height):
            yield np.asanyarray(self._rows[start : start + self._height])

    def read(self, start: int, stop: int) -> Any:
        return np.asanyarray(self._rows[start:stop])  # masks are refused later

    @property
    def path(self) -> str | None:
        return self._path


def regrouped(blocks: Iterator[Any], rows: int) -> Iterator[Any]:
    """The same rows in pieces of `rows` rows each, the last one perhaps shorter.

    >>> [len(piece) for piece in regrouped(iter([np.zeros((3, 1)), np.zeros((4, 1))]), 2)]
    [2, 2, 2, 1]
    """
    waiting: list[Any] = []
    count = 0
    for block in blocks:
        start = 0
        while start < len(block):
            take = min(rows - count, len(block) - start)
            waiting.append(block if take == len(block) else block[start : start + take])
            start += take
            count += take
            if count == rows:
                yield waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
                waiting, count = [], 0
    if waiting:
        yield waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
