"""Rows that were among the best at the last pass: the next best are likely among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._validation import Array

BEST, STRONGEST = 2048, 512  # rows that are held of either kind
OF_A_TILE = 64


class Foremost:
    """The rows of the highest scores that a pass saw, and those that set the budget.

    Nothing that is decided rests on them: they say what is likely, and bounds say what is so.
    """

    def __init__(self, columns: int, dtype: Any) -> None:
        self.best = _Highest(BEST, columns, dtype)
        self.strongest = _Highest(STRONGEST, columns, dtype)

    def known(self) -> tuple[Any, Any]:
        """Their numbers, in order and each once, and their features."""
        both = self.best, self.strongest
        rows, first = np.unique(np.concatenate([each.rows for each in both]), return_index=True)
        return rows, np.concatenate([each.features for each in both])[first]


class _Highest:
    """The rows of the highest of some values."""

    def __init__(self, most: int, columns: int, dtype: Any) -> None:
        self.most = most
        # joined when they are too many, and not at each tile
        none = np.empty(0, dtype=np.intp), np.empty(0), np.empty((0, columns), dtype)
        self._parts: list[tuple[Any, Any, Any]] = [none]
        self._count, self._enough = 0, -np.inf

    @property
    def rows(self) -> Any:
        """Their numbers, in the order in which they were kept."""
        return self._joined()[0]

    @property
    def features(self) -> Any:
        """The rows themselves."""
        return self._joined()[2]

    def add(self, start: int, tile: Any, places: Any, values: Array) -> None:
        """Keep the highest of the candidates of a tile, by values `(len(places),)`."""
        some = (values > self._enough).nonzero()[0]
        if len(some) == 0:
            return
        if len(some) > OF_A_TILE:  # the first tiles do not fill all places
            some = some[np.argpartition(-values[some], OF_A_TILE - 1)[:OF_A_TILE]]
        where = places[some]
        self._parts.append((start + where, values[some], tile[where]))
        self._count += len(some)
        if self._count > 2 * self.most:
            rows, kept, features = self._joined()
            best = np.argpartition(-kept, self.most - 1)[: self.most]
            self._parts = [(rows[best], kept[best], features[best])]
            self._count, self._enough = self.most, float(kept[best].min())

    def _joined(self) -> tuple[Any, Any, Any]:
        """Numbers, values and features of all that are held, as one part."""
        if len(self._parts) > 1:
            rows, values, features = (np.concatenate(each) for each in zip(*self._parts))
            self._parts = [(rows, values, features)]
        return self._parts[0]
