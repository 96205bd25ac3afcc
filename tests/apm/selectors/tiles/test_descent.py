"""Tiles are read from the highest bound down, and no further than is needed."""

import numpy as np

from apm.selectors.base import Rating
from apm.selectors.tiles.descent import TileLimits, read_down


def found(values, slack, most=1.0):
    """The leaders of scores `(tiles, rows)` with bounds above them, and the tiles read."""
    count, height = values.shape
    read = []

    def tiles(numbers):
        for number in numbers:
            read.append(int(number))
            yield number * height, values[number], np.arange(height)

    def rate(start, tile, places):
        return Rating(tile[places])

    limits = TileLimits(values.max(axis=1) + slack, np.zeros(count), float(values.min()))
    return read_down(limits, values.size, most, tiles, rate), read


def test_the_best_and_the_second_best():
    values = np.random.default_rng(0).normal(size=(40, 30))
    held, read = found(values, 0.05)
    assert held is not None
    order = np.argsort(-values.ravel())
    assert [row for _, row in held.two] == order[:2].tolist()
    assert held.partial
    assert held.count == values.size
    assert len(read) < 20
    assert len(set(read)) == len(read)


def test_ties_go_to_the_first_row():
    values = np.zeros((10, 4))
    values[7, 1] = values[3, 2] = 1.0
    held, _ = found(values, 0.0)
    assert held is not None
    place = held.best()
    assert place is not None
    assert held.rows[place] == 14


def test_it_is_given_up_if_most_tiles_must_be_read():
    values = np.random.default_rng(0).normal(size=(40, 30))
    held, read = found(values, 100.0, most=0.5)
    assert held is None
    assert len(read) < 20
