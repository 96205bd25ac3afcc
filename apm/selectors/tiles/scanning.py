"""Bounds on the scores of tiles by a cheap pass: most rows are told apart by mean and length.

A row x has the deviation |F'x| <= |F| |x|, so that its mean and its length bound its score. Only
rows that could still be among the best are multiplied by F, beside one another and not in their
tile; what that and rounding can change is allowed for. So the pass gives a bound for each tile, and
the few tiles which can hold the best are then scored as ever.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from apm.selectors.ranking import tie
from apm.selectors.tiles.records import Ranges, TileRecords
from channelcode._validation import Array

MOST = 0.5  # of the rows: if more must be multiplied, the pass is given up
PATIENCE = 8  # tiles after which that is decided
ROUNDING = 1e-12  # of a score in double precision, relative to the largest


def scanned(
    reach: Any, posterior: Any, records: TileRecords, tiles: Any, count: int
) -> tuple[Array, float, Array] | None:
    """For each of `count` tiles the highest score and power, and what no score is below; or None.

    `reach` bounds scores by ranges of |m| and s; `tiles(None)` gives first row, rows and candidates
    of each tile.
    """
    columns, height = records.centre.shape[1], records.height * records.cells
    constant = 1.0 if len(posterior.mean) > columns else 0.0
    sizes = [float(np.linalg.norm(each)) for each in (posterior.mean, posterior.factor)]
    off, blur = (2.0 * records.unit * size for size in sizes)  # what rounding can do where |x| = 1
    length = float(np.linalg.norm(posterior.factor, 2)) * (1.0 + ROUNDING) + blur
    longest = np.sqrt(np.array([float(np.square(records.norm).max()) + constant]))
    most = Ranges(
        np.zeros(1), (sizes[0] + off) * longest + records.floor,
        np.zeros(1), length * longest + records.floor,
    )  # fmt: skip
    top, deepest = float(reach.highest(most)[0]), float(reach.lowest(most)[0])
    largest = max(abs(top), abs(deepest))
    if not np.isfinite(largest):
        return None
    deepest -= ROUNDING * largest
    margin = 2.0 * tie(largest, deepest, 0.0) + ROUNDING * largest
    highest, power = np.full(count, -np.inf), np.zeros(count)
    second, seen, multiplied = np.full(2, -np.inf), 0, 0
    for start, tile, places in tiles(None):
        norm = np.vecdot(tile, tile).astype(np.float64) * (1.0 + records.unit)
        norm = np.sqrt(norm + constant) + records.floor
        mean = np.abs(np.asarray(posterior.mean_inputs(tile), dtype=np.float64))
        if len(places) < len(tile):
            norm, mean = norm[places], mean[places]
        error = off * norm + records.floor
        near, wide = np.maximum(mean - error, 0.0), length * norm + records.floor
        far = mean + error
        bound = reach.highest(Ranges(near, far, np.zeros(1), wide))
        number = start // height
        power[number] = float((np.square(far) + np.square(wide)).max())
        some = np.flatnonzero(bound >= second[0] - margin)
        seen, multiplied = seen + len(places), multiplied + len(some)
        if multiplied > MOST * seen and seen >= PATIENCE * height:
            return None
        if len(some) == 0:
            continue
        deviation = np.asarray(posterior.leverage(tile[places[some]]), dtype=np.float64)
        deviation, error = np.sqrt(deviation), blur * norm[some] + records.floor
        finer = Ranges(
            near[some], far[some],
            np.maximum(deviation - error, 0.0), np.minimum(deviation + error, wide[some]),
        )  # fmt: skip
        highest[number] = float(reach.highest(finer).max()) + ROUNDING * largest
        best = np.sort(reach.lowest(finer) - ROUNDING * largest)[-2:]
        second = np.sort(np.concatenate((second, best)))[-2:]
    return highest, deepest, power
