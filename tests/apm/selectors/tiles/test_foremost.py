"""The highest rows of many tiles, each once."""

import numpy as np

from apm.selectors.tiles import foremost
from apm.selectors.tiles.foremost import Foremost


def test_the_highest_rows_are_held(monkeypatch):
    monkeypatch.setattr(foremost, "BEST", 20)
    monkeypatch.setattr(foremost, "STRONGEST", 32)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3)).astype(np.float32)
    values = rng.normal(size=900)
    held = Foremost(3, np.float32)
    for start in range(0, 900, 100):
        places = np.arange(0, 100, 2)
        held.best.add(start, X[start : start + 100], places, values[start + places])
        held.strongest.add(start, X[start : start + 100], places, -values[start + places])
    rows, features = held.known()
    even = np.arange(0, 900, 2)
    order = even[np.argsort(-values[even])]
    assert set(order[:20]) <= set(rows)
    assert set(order[-5:]) <= set(rows)
    assert len(set(rows)) == len(rows) < 200
    assert np.array_equal(features, X[rows])
