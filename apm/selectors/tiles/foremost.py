"""Rows that were among the best at the last pass: the next best are likely among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._validation import Array

BEST, STRONGEST = 512, 32  # rows that are held of either kind
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
        self.rows = np.empty(0, dtype=np.intp)
        self.values = np.empty(0)
        self.features = np.empty((0, columns), dtype)
        self._enough = -np.inf

    def add(self, start: int, tile: Any, places: Any, values: Array) -> None:
        """Keep the highest of the candidates of a tile, by values `(len(places),)`."""
        some = np.flatnonzero(values > self._enough)
        if len(some) == 0:
            return
        if len(some) > OF_A_TILE:  # the first tiles do not fill all places
            some = some[np.argpartition(-values[some], OF_A_TILE - 1)[:OF_A_TILE]]
        self.rows = np.concatenate((self.rows, start + places[some]))
        self.values = np.concatenate((self.values, values[some]))
        self.features = np.concatenate((self.features, tile[places[some]]))
        if len(self.rows) > 2 * self.most:
            best = np.argpartition(-self.values, self.most - 1)[: self.most]
            self.rows, self.values = self.rows[best], self.values[best]
            self.features = self.features[best]
            self._enough = float(self.values.min())
