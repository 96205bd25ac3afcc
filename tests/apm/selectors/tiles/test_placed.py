"""What workers keep of their tiles, joined in any tree, is what one pass keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm import APM, Laplace, Learner, PoolMaxPower, Predictions, Random, Uncertainty
from apm.pools import as_rows
from apm.power import MatchedPower
from apm.selectors import BALD, EPIG, InformationGain, Margin, MaxVariance
from apm.selectors.base import Rating
from apm.selectors.tiled import Best, Leaders
from apm.selectors.tiles import leaders as leaders_module
from apm.selectors.tiles.placed import Part, _ranked, joined
from channelcode import Probit
from tests.naming import plain

HEIGHT = 4
values = st.lists(
    st.sampled_from([-np.inf, -1e20, -1.0, -1.0 + 1e-13, 0.0, 2.0, 2.0 + 1e-12]) | st.floats(-5, 5),
    min_size=1,
    max_size=40,
)


def tiles_of(scores):
    for start in range(0, len(scores), HEIGHT):
        tile = np.array(scores[start : start + HEIGHT])
        yield start, np.arange(len(tile)), Rating(tile, resolution=1e-14 * start)


def tree(parts, join, data):
    while len(parts) > 1:
        size = data.draw(st.integers(2, len(parts)))
        first = data.draw(st.integers(0, len(parts) - size))
        parts[first : first + size] = [join(parts[first : first + size])]
    return parts[0]


@given(values, st.data())
def test_leaders(scores, data):
    whole = Leaders()
    for tile in tiles_of(scores):
        whole.add(*tile)
    part = tree([Part.of(*tile, None) for tile in tiles_of(scores)], joined, data).summed()
    best, expected = part.best(), whole.best()
    assert best is not None
    assert expected is not None
    assert part.rows[best] == whole.rows[expected]
    for name in ("count", "total", "lowest", "top", "resolution", "two", "largest_power"):
        assert repr(getattr(part, name)) == repr(getattr(whole, name))
    assert part.rows == whole.rows
    assert part.values == whole.values


def test_records_that_were_forgotten_are_not_the_best_in_silence(monkeypatch):
    home = leaders_module if hasattr(leaders_module, "MOST_RECORDS") else None
    assert home is not None
    monkeypatch.setattr(home, "MOST_RECORDS", 2)
    rising = [1.0 + 1e-14 * k for k in range(12)]
    part = joined([Part.of(*tile, None) for tile in tiles_of(rising)])
    assert part.best() is None  # a second look finds the first row within the tolerance


@given(values, st.integers(1, 6), st.data())
def test_best_rows(scores, wanted, data):
    whole, parts = Best(wanted, wanted + 3), []
    for start, places, rating in tiles_of(scores):
        whole.add(start, places, rating.values)
        own = Best(wanted, wanted + 3)
        own.add(start, places, rating.values)
        parts.append((Part.of(start, places, rating, None), own))
    _, best = tree(parts, _ranked, data)
    np.testing.assert_array_equal(best.rows, whole.rows)
    np.testing.assert_array_equal(best.values, whole.values)
    assert best.cut == whole.cut


def test_tiles_with_constants_of_their_own():
    ratings = [Rating(np.array([1.0, 2.0]), constant=c) for c in (0.5, 0.25, 8.0)]
    places, whole = np.arange(2), Leaders()
    for number, rating in enumerate(ratings):
        whole.add(2 * number, places, rating)
    mixed = joined([Part.of(2 * n, places, r, None) for n, r in enumerate(ratings)])
    assert mixed.mixed
    fixed = joined([Part.of(2 * n, places, r, mixed.constant) for n, r in enumerate(ratings)])
    assert not fixed.mixed
    assert (fixed.rows, fixed.values, fixed.two) == (whole.rows, whole.values, whole.two)
    assert fixed.summed().total == whole.total


RULES = [
    APM(), APM(PoolMaxPower()), APM(MatchedPower()), APM(message=Predictions(num_targets=20)),
    BALD(), EPIG(samples=20, num_targets=10), InformationGain(), Margin(), MaxVariance(),
    Uncertainty(), Random(),
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=plain)
def test_the_rows_of_memory(rule, monkeypatch):
    array = pytest.importorskip("dask.array")
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)
    X = np.random.default_rng(0).normal(size=(1300, 3)).astype(np.float32)
    X[700:760] = X[:60]
    model = Laplace(Probit(), prior_precision=0.5) if isinstance(rule, Margin) else None
    one, other = (
        Learner(pool, model, rule, classes=None if model else [0, 1], seed=0)
        for pool in (X, array.from_array(X, chunks=(500, 3)))
    )
    for label in (0, 1):
        asked = one.ask(3).tolist()
        assert other.ask(3).tolist() == asked
        for learner in (one, other):
            learner.tell(asked[0], label)
    found, expected = other.explain(asked[1]), one.explain(asked[1])
    assert (found.rank, found.runner_up) == (expected.rank, expected.runner_up)
    assert found.score == pytest.approx(expected.score, rel=1e-12)
    np.testing.assert_array_equal(other.predict(), one.predict())
    np.testing.assert_array_equal(
        other.belief.information_gain(other.pool),
        one.belief.information_gain(
            as_rows(lambda: iter([X]))
        ),  # a matrix in one piece rounds anew
    )
