"""Rows of Dask collections: which partition holds which, and how they are cut to whole tiles."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.pools.blocks import Blocks
from apm.pools.inputs import as_matrix, is_sparse, require_unmasked
from channelcode.errors import InvalidArgument, MissingExtra

if TYPE_CHECKING:
    from apm.pools.streamed import StreamedRows


class DaskRows(Blocks):
    """The rows of a Dask array `(n, d)`, or of a frame of numbers, partition by partition.

    `Learner` scores them where they lie (`apm.pools.placed`). `blocks` computes one partition after
    the other, fetches it, and lets it go.

    >>> import dask.array as dask_array  # doctest: +SKIP
    >>> rows = dask_array.from_array(np.arange(6.0).reshape(3, 2), chunks=(2, 2))  # doctest: +SKIP
    >>> [len(block) for block in DaskRows(rows).blocks()]  # doctest: +SKIP
    [2, 1]
    """

    def __init__(self, rows: Any) -> None:
        if getattr(rows, "ndim", None) != 2:
            raise InvalidArgument("pool", "must have two axes", type(rows).__name__)
        self._frame = hasattr(rows, "npartitions") and hasattr(rows, "columns")
        if self._frame:
            self.columns = [str(name) for name in rows.columns]
        else:
            rows = rows.rechunk({1: -1})  # whole rows
        self._rows = rows

    def blocks(self) -> Iterator[Any]:
        parts: Any = self._rows.partitions if self._frame else self._rows.blocks
        count = self._rows.npartitions if self._frame else self._rows.numblocks[0]
        for number in range(count):
            yield np.asanyarray(parts[number].compute())

    def streamed(self) -> StreamedRows:
        from apm.pools.placed import PlacedRows

        return PlacedRows(self)

    def partitions(self) -> list[Any]:
        """The partitions, not computed yet; what this process holds is sent to a cluster once."""
        if _held_here(self._rows) and _on_cluster():
            self._rows = self._rows.persist()
        if not _on_cluster():
            return list(np.ravel(self._rows.to_delayed()))
        nodes = dict(self._rows.__dask_graph__()).values()
        computed = any(map(_is_future, nodes))
        parts = list(np.ravel(self._rows.to_delayed(optimize_graph=not computed)))
        return parts if computed else recipes(parts)

    def known_heights(self) -> list[int] | None:
        """The rows of each partition, if the collection knows them."""
        if self._frame or np.isnan(self._rows.chunks[0]).any():
            return None
        return [int(height) for height in self._rows.chunks[0]]

    @property
    def name(self) -> str:
        return "a Dask collection"


def _held_here(rows: Any) -> bool:
    """Whether the graph of a collection holds arrays: each pass would send them anew."""
    for node in dict(rows.__dask_graph__()).values():
        held = getattr(node, "value", node)
        if isinstance(held, np.ndarray) or hasattr(held, "iloc"):
            return True
    return False


def _on_cluster() -> bool:
    """Whether Dask computes on a cluster here, not with threads of this process."""
    try:
        from dask.base import get_scheduler
    except ImportError:
        raise MissingExtra("dask", "dask") from None
    return "distributed" in str(getattr(get_scheduler(), "__module__", ""))


class Recipe:
    """How a partition is made, as one task: who makes it looks at it, and no rows travel.

    Called on a worker it gives the partition.
    """

    def __init__(self, graph: dict[Any, Any], key: Any) -> None:
        import cloudpickle

        self._bytes = cloudpickle.dumps((graph, key))

    def __call__(self) -> Any:
        import cloudpickle
        import dask

        graph, key = cloudpickle.loads(self._bytes)
        return dask.get(graph, key)


def made(block: Any) -> Any:
    """The partition itself, made now if a recipe came in its place."""
    return block() if isinstance(block, Recipe) else block


def recipes(partitions: list[Any]) -> list[Any]:
    """The partitions as recipes, where each is made from nothing that another one needs."""
    from dask.optimization import cull

    whole = {key: node for part in partitions for key, node in dict(part.__dask_graph__()).items()}
    graphs = [cull(whole, [part.key])[0] for part in partitions]
    uses: dict[Any, int] = {}
    for graph in graphs:
        for key in graph:
            uses[key] = uses.get(key, 0) + 1
    return [
        Recipe(graph, part.key) if all(uses[key] == 1 for key in graph) else part
        for part, graph in zip(partitions, graphs)
    ]


def _is_future(node: Any) -> bool:
    from distributed import Future

    return isinstance(getattr(node, "value", node), Future)


def holders(partitions: list[Any]) -> dict[int, tuple[str, ...]]:
    """Which workers hold which partitions, of those that a cluster holds computed."""
    if not _on_cluster():
        return {}
    from distributed import Future, default_client

    futures = {}
    for number, part in enumerate(partitions):
        if isinstance(part, Recipe):
            continue
        node = dict(part.__dask_graph__()).get(part.key)
        if isinstance(node, Future):
            futures[number] = node
    held: Any = default_client().who_has(list(futures.values())) if futures else {}
    return {number: tuple(held.get(each.key, ())) for number, each in futures.items()}


@dataclass(frozen=True)
class Cut:
    """Rows `first` up to `last` of partition `number`."""

    number: int
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first


@dataclass(frozen=True)
class Chunk:
    """A run of whole tiles that begins at row `start`: some rows of neighbouring partitions."""

    start: int
    cuts: tuple[Cut, ...]

    @property
    def stop(self) -> int:
        """The row behind the last."""
        return self.start + sum(len(cut) for cut in self.cuts)

    @property
    def home(self) -> int:
        """The place of the cut that has the most rows: the chunk is scored where that lies."""
        sizes = [len(cut) for cut in self.cuts]
        return sizes.index(max(sizes))


def aligned(heights: list[int], height: int) -> list[Chunk]:
    """Partitions of these heights as chunks of whole tiles of `height` rows.

    The borders between partitions move to the nearest border between tiles, so that at most half
    a tile goes from one partition to its neighbour.

    >>> [[(c.number, c.first, c.last) for c in chunk.cuts] for chunk in aligned([5, 3, 4], 4)]
    [[(0, 0, 4)], [(0, 4, 5), (1, 0, 3)], [(2, 0, 4)]]
    """
    ends = np.cumsum(heights)
    total = int(ends[-1])
    inner = (ends[:-1] + height // 2) // height * height
    borders = sorted({0, total, *(int(b) for b in inner if 0 < b < total)})
    chunks, number = [], 0
    for start, stop in itertools.pairwise(borders):
        cuts, row = [], start
        while row < stop:
            while ends[number] <= row:
                number += 1
            begin = int(ends[number]) - heights[number]
            last = min(stop, int(ends[number]))
            cuts.append(Cut(number, row - begin, last - begin))
            row = last
        chunks.append(Chunk(start, tuple(cuts)))
    return chunks


@dataclass(frozen=True)
class Form:
    """What every partition must be like: its declared type and width."""

    dtype: np.dtype[Any]
    width: int

    def rows(self, block: Any, cut: Cut, height: int) -> Any:
        """The rows of a cut as floats in C order, if the partition is what it should be."""
        where = f"block {cut.number}"
        if is_sparse(block):
            raise InvalidArgument("pool", f"must be dense in {where}", "sparse")
        require_unmasked(block, "pool", f" in {where}")
        found = np.asarray(block)
        if found.ndim != 2 or found.shape[1] != self.width:
            rule = f"must have {self.width} columns in {where}, as declared"
            raise InvalidArgument("pool", rule, f"shape {found.shape}")
        if found.dtype != self.dtype:
            rule = f"must be of type {self.dtype} in {where}, as declared"
            raise InvalidArgument("pool", rule, found.dtype)
        if len(found) != height:
            rule = f"must have {height} rows in {where}, as before"
            raise InvalidArgument("pool", rule, f"shape {found.shape}")
        floats = as_matrix(found[cut.first : cut.last], "pool", finite=False)
        return np.ascontiguousarray(floats)
