"""Rows that lie on a cluster: functions go to the rows, and what they find comes back.

A function is called for every tile, on the worker that holds its partition; what it gives for
neighbouring tiles is joined there, then in a tree. Tiles are those of memory and of streams, so the
same numbers come out. Where a tile lies across a border of partitions, the smaller part of it goes
to the neighbour, once: nothing else of the rows travels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from apm.cluster.versions import require_same, versions
from apm.pools.blocks import regrouped
from apm.pools.inputs import as_matrix, require_finite
from apm.pools.marks import checksum
from apm.pools.partitions import Chunk, Cut, DaskRows, Form, aligned, holders, made
from apm.pools.streamed import EncodedRows, StreamedRows
from apm.pools.tiling import tile_rows
from channelcode.errors import InvalidArgument

Function = Callable[[int, Any, Any], Any]
Join = Callable[[list[Any]], Any]
BRANCHES = 8  # parts that are joined at once


class PlacedRows(StreamedRows):
    """The rows of a Dask collection, looked at where they lie.

    The first pass checks type, width and finiteness on the workers, and keeps a checksum for each
    tile; every later pass compares with them. Without a cluster Dask's own threads do the work.
    """

    placed = True

    def __init__(self, source: DaskRows) -> None:
        self.source = source
        self.columns = source.columns
        self._state = None
        self._partitions = source.partitions()
        heights = source.known_heights()
        about = self._about(heights)
        self._heights = about[0]
        given, width = about[1:]
        if not sum(self._heights):
            raise InvalidArgument("pool", "must have at least one row", f"none in {source.name}")
        if given.kind not in "buif":
            raise InvalidArgument("pool", "must hold real numbers", given)
        if width == 0:
            raise InvalidArgument("pool", "must have at least one column", f"width {width}")
        self._form = Form(given, width)
        self.dtype = np.dtype(np.float32 if given == np.float32 else np.float64)
        self.shape = (sum(self._heights), width)
        self.tile_rows = tile_rows(width, self.dtype.itemsize)
        self._chunks: dict[int, list[Chunk]] = {}
        self._borders: dict[int, list[list[Any]]] = {}
        self._lent: dict[int, dict[int, list[tuple[Cut, int]]]] = {}
        self._sums: list[int] = []
        found = folded(self, _first_look, _in_order)
        for start, _, bad in found:
            if bad is not None:
                require_finite(bad, "pool", first_row=start)
        self._sums = [total for _, total, _ in found]
        self.first_row = self[:1]

    @property
    def seekable(self) -> bool:
        return False  # one tile alone is a journey to the cluster

    def tiles(self, which: Any = None) -> Iterator[tuple[int, Any]]:
        """First row and rows of each tile, fetched chunk by chunk; `folded` fetches nothing."""
        wanted = None if which is None else [int(number) for number in which]
        for chunk in self.chunks(self.tile_rows):
            first, last = chunk.start // self.tile_rows, -(-chunk.stop // self.tile_rows)
            inside = list(range(first, last))
            if wanted is not None:
                inside = [number for number in wanted if first <= number < last]
            if inside:
                yield from folded(self, _whole, _in_order, which=inside)

    def chunks(self, height: int) -> list[Chunk]:
        """The partitions cut to whole tiles of `height` rows, and of the rows' own."""
        whole = max(height, self.tile_rows)
        if whole not in self._chunks:
            self._chunks[whole] = aligned(self._heights, whole)
        return self._chunks[whole]

    def borders(self, height: int) -> list[list[Any]]:
        """Of each chunk the cuts of other partitions than its home, which were sent there once."""
        import dask

        whole = max(height, self.tile_rows)
        if whole not in self._borders:
            cuts = [
                [
                    dask.delayed(partial(_sliced, self._form, cut, self._heights[cut.number]))(
                        self._partitions[cut.number]
                    )
                    for place, cut in enumerate(chunk.cuts)
                    if place != chunk.home
                ]
                for chunk in self.chunks(height)
            ]
            (self._borders[whole],) = dask.persist(cuts)
        return self._borders[whole]

    def lent(self, height: int) -> dict[int, list[tuple[Cut, int]]]:
        """Of each partition the cuts that were sent to others, with the checksum of the copies.

        Copies are used from then on; by these the partition itself is compared with them.
        """
        import dask

        whole = max(height, self.tile_rows)
        if whole not in self._lent:
            flat = [copy for copies in self.borders(height) for copy in copies]
            sums = iter(dask.compute(*[dask.delayed(checksum)(copy) for copy in flat]))
            lent: dict[int, list[tuple[Cut, int]]] = {}
            for chunk in self.chunks(height):
                for place, cut in enumerate(chunk.cuts):
                    if place != chunk.home:
                        lent.setdefault(cut.number, []).append((cut, int(next(sums))))
            self._lent[whole] = lent
        return self._lent[whole]

    def _about(self, heights: list[int] | None) -> tuple[list[int], np.dtype[Any], int]:
        """Heights, type and width, as declared if they are, else from a look at all partitions."""
        if heights is not None:
            declared: Any = self.source._rows  # type: ignore[attr-defined]
            return heights, np.dtype(declared.dtype), int(declared.shape[1])
        import dask

        found = dask.compute(*[dask.delayed(_shape)(part) for part in self._partitions])
        kinds = [(dtype, width) for height, width, dtype in found if height] or [
            (found[0][2], found[0][1])
        ]
        return [height for height, _, _ in found], *kinds[0]


def folded(
    X: Any, function: Function, join: Join, *, is_open: Any = None, which: Any = None,
    rehearse: bool = False,
) -> Any:  # fmt: skip
    """`join` of what `function(start, tile, places)` gives for each tile, called where it lies.

    X is a `PlacedRows` or an `EncodedRows` of one; `places` are the candidates of the tile, those
    that `is_open (n,)` allows; a tile without any is left out, and so is one that is not among the
    numbers `which`. Joined are lists of neighbours, in order, and what was joined: `join` must not
    mind the grouping. None if there is nothing to join.

    With `rehearse=True` the function is called here first, for one row: what a belief computes when
    it is first asked is then computed once, and goes with it, as it would stay with it in memory.
    """
    import cloudpickle
    import dask

    rows: Any = X
    height = X.tile_rows
    if isinstance(X, EncodedRows):
        rows, function = X.rows, _Behind(X._encode, function)
    if rehearse:
        function(0, rows.first_row, np.zeros(1, dtype=np.intp))
    numbers = None if which is None else np.unique(np.asarray(which, dtype=np.int64))
    job = cloudpickle.dumps((function, join, rows._form, height, rows.tile_rows, versions()))
    sent = dask.delayed(job, name=f"apm-job-{_token(job)}", traverse=False)
    homes, lent = holders(rows._partitions), dict(rows.lent(height))
    parts = []
    for chunk, borders in zip(rows.chunks(height), rows.borders(height), strict=True):
        inside, shut = _within(numbers, chunk, height), _closed(is_open, chunk)
        if (inside is not None and len(inside) == 0) or shut is _ALL:
            continue
        own = chunk.cuts[chunk.home].number
        sums = rows._sums[chunk.start // rows.tile_rows : -(-chunk.stop // rows.tile_rows)]
        given = lent.pop(own, [])
        look = partial(_looked, chunk, rows._heights[own], sums, shut, inside, given)
        with _pinned(homes.get(own)):
            called = dask.delayed(look, name=f"apm-look-{chunk.start}", pure=False)
            parts.append(called(sent, rows._partitions[own], borders))
    if not parts:
        return None
    if which is None:  # partitions that are nobody's home, and those whose rows are all closed
        for number, cuts in lent.items():
            check = partial(_as_lent, rows._form, rows._heights[number], cuts)
            called = dask.delayed(check, name=f"apm-lent-{number}", pure=False)
            parts.append(called(rows._partitions[number]))
    while len(parts) > 1:
        parts = [
            dask.delayed(_joined, pure=False)(sent, parts[place : place + BRANCHES])
            for place in range(0, len(parts), BRANCHES)
        ]
    (found,) = dask.compute(parts[0])
    return found


def taken(X: Any, rows: Any) -> Any:
    """The rows with these numbers `(m,)`; they alone are fetched."""
    unique, places = np.unique(rows, return_inverse=True)
    tiles = np.unique(unique // X.tile_rows)
    return np.concatenate(folded(X, _Taken(unique), _in_order, which=tiles))[places]


def values_of(X: Any, function: Function, *, is_open: Any = None) -> list[Any]:
    """What `function(start, tile, places)` gives for each tile with candidates, in order."""
    look = partial(_listed, function)
    return folded(X, look, _in_order, is_open=is_open, rehearse=True) or []


def _pinned(workers: Any) -> Any:
    """Tasks made within go to these workers while they live."""
    import dask

    if not workers:
        return nullcontext()
    return dask.annotate(workers=list(workers), allow_other_workers=True)


_ALL = object()  # every row of a chunk is closed


def _token(job: bytes) -> str:
    import hashlib

    return hashlib.sha256(job).hexdigest()[:24]


def _within(numbers: Any, chunk: Chunk, height: int) -> Any:
    """Those of the numbers of tiles that lie in a chunk; None for all."""
    if numbers is None:
        return None
    first, last = chunk.start // height, -(-chunk.stop // height)
    return numbers[(numbers >= first) & (numbers < last)]


def _closed(is_open: Any, chunk: Chunk) -> Any:
    """The rows of a chunk that may not be asked: their places, or bits if these are fewer bytes."""
    if is_open is None:
        return None
    mask = is_open[chunk.start : chunk.stop]
    count = len(mask) - int(np.count_nonzero(mask))
    if count == len(mask):
        return _ALL
    if count * 64 < len(mask):
        return np.flatnonzero(~mask)
    return np.packbits(mask)


def _mask(shut: Any, rows: int) -> Any:
    """Which rows of a chunk are candidates, from what `_closed` made of them."""
    if shut is not None and shut.dtype == np.uint8:
        return np.unpackbits(shut, count=rows).astype(bool)
    mask = np.ones(rows, dtype=bool)
    if shut is not None:
        mask[shut] = False
    return mask


def _shape(block: Any) -> tuple[int, int, np.dtype[Any]]:
    """Height, width and type of a partition; runs on a worker."""
    found = np.asarray(made(block))
    if found.ndim != 2:
        raise InvalidArgument("pool", "must have two axes", f"shape {found.shape}")
    return len(found), found.shape[1], found.dtype


def _sliced(form: Form, cut: Cut, height: int, block: Any) -> Any:
    """The few rows that go to the neighbour; runs where the partition lies."""
    return form.rows(made(block), cut, height).copy()  # a view would keep the whole partition


def _loaded(job: bytes) -> Any:
    import cloudpickle

    found = cloudpickle.loads(job)  # anew for each task: threads of a worker share nothing
    require_same(found[-1])
    return found


def _as_lent(form: Form, height: int, cuts: list[tuple[Cut, int]], partition: Any) -> None:
    """Refuse a partition whose rows are others than those of which neighbours have copies."""
    block = made(partition)
    for cut, total in cuts:
        if checksum(form.rows(block, cut, height)) != total:
            rows = f"rows {cut.first} to {cut.last - 1} of block {cut.number}"
            rule = f"must not change while it is used, but {rows} are others than at first"
            raise InvalidArgument("pool", rule, "rows of a Dask collection")


def _looked(
    chunk: Chunk, height_of_own: int, sums: list[int], shut: Any, inside: Any,
    given: list[tuple[Cut, int]], job: bytes, partition: Any, borders: Sequence[Any],
) -> Any:  # fmt: skip
    """The joined values of the tiles of one chunk; runs where the largest part of it lies."""
    function, join, form, height, own, _ = _loaded(job)
    block, held = made(partition), list(borders)
    _as_lent(form, height_of_own, given, block)
    held.insert(chunk.home, form.rows(block, chunk.cuts[chunk.home], height_of_own))
    mask = _mask(shut, chunk.stop - chunk.start)
    wanted = None if inside is None else set(inside.tolist())
    parts, row = [], chunk.start
    for whole in regrouped(iter(held), max(height, own)):
        compared = False
        for place in range(0, len(whole), height):
            start, tile = row + place, whole[place : place + height]
            places = np.flatnonzero(mask[start - chunk.start :][: len(tile)])
            if len(places) and (wanted is None or start // height in wanted):
                if not compared:
                    _compare(whole, row, own, sums, chunk)
                    compared = True
                parts.append(function(start, tile, places))
        row += len(whole)
    return join(parts) if parts else None


def _compare(whole: Any, row: int, own: int, sums: list[int], chunk: Chunk) -> None:
    """Refuse rows that are others than at the first pass, of which `sums` are left."""
    for place in range(0, len(whole), own) if sums else ():
        tile, start = whole[place : place + own], row + place
        if checksum(tile) != sums[(start - chunk.start) // own]:
            require_finite(tile, "pool", first_row=start)
            rows = f"rows {start} to {start + len(tile) - 1}"
            rule = f"must not change while it is used, but {rows} are others than at first"
            raise InvalidArgument("pool", rule, "rows of a Dask collection")


def _joined(job: bytes, parts: Sequence[Any]) -> Any:
    kept = [part for part in parts if part is not None]
    return _loaded(job)[1](kept) if kept else None


def _in_order(parts: list[list[Any]]) -> list[Any]:
    return [value for part in parts for value in part]


def _listed(function: Function, start: int, tile: Any, places: Any) -> list[Any]:
    return [function(start, tile, places)]


def _whole(start: int, tile: Any, places: Any) -> list[Any]:
    return [(start, tile)]


def _first_look(start: int, tile: Any, places: Any) -> list[Any]:
    """First row and checksum of a tile, and its rows from the first that is not finite."""
    finite = np.isfinite(tile).all(axis=1)
    if finite.all():
        return [(start, checksum(tile), None)]
    bad = int(np.argmin(finite))
    return [(start + bad, 0, tile[bad : bad + 1])]


class _Taken:
    """The rows with these sorted numbers that lie in a tile."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __call__(self, start: int, tile: Any, places: Any) -> list[Any]:
        first, last = np.searchsorted(self.rows, (start, start + len(tile)))
        return [tile[self.rows[first:last] - start]]


class _Behind:
    """A function of encoded tiles as one of the tiles themselves."""

    def __init__(self, encode: Callable[[Any], Any], function: Function) -> None:
        self.encode, self.function = encode, function

    def __call__(self, start: int, tile: Any, places: Any) -> Any:
        found = as_matrix(self.encode(tile), "encoder(pool)", finite=False)
        require_finite(found, "encoder(pool)", first_row=start)
        return self.function(start, np.ascontiguousarray(found), places)
