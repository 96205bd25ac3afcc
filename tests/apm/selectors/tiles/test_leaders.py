"""What a pass keeps of the scores decides as all of them do."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from apm.selectors.base import Rating
from apm.selectors.ranking import best, ranking
from apm.selectors.tiles import leaders
from apm.selectors.tiles.leaders import Best, Foremost, Leaders

scores = st.lists(
    st.sampled_from([-np.inf, -1e20, -3.0, -1.0, -1.0 + 1e-13, -1.0 - 3e-13, 0.0, 2.0, 2.0 + 1e-12])
    | st.floats(-5, 5),
    min_size=1,
    max_size=40,
)


@given(values=scores, cut=st.integers(1, 7), wanted=st.integers(1, 6), spare=st.integers(0, 3))
@settings(max_examples=300)
def test_what_a_pass_keeps_decides_as_all_scores_do(values, cut, wanted, spare):
    every = np.array(values)
    held, kept = Leaders(), Best(min(wanted, len(every)), wanted + spare)
    for start in range(0, len(every), cut):
        part = every[start : start + cut]
        held.add(start, np.arange(len(part)), Rating(part))
        kept.add(start, np.arange(len(part)), part)
    place = held.best()
    assert place is not None
    assert held.rows[place] == best(every)[0]
    assert (held.top, held.lowest, held.count) == (every.max(), every.min(), len(every))
    if np.isfinite(every).all():
        found = kept.ranked(held.tolerance)
        if found is not None:  # None: a longer list is made
            np.testing.assert_array_equal(found, ranking(every)[:wanted])
        assert found is not None or len(np.unique(every)) > wanted + spare
        runner = sorted(range(len(every)), key=lambda row: (-every[row], row))
        assert [row for _, row in held.two] == runner[:2]


def test_scores_that_rise_all_along(monkeypatch):
    monkeypatch.setattr("apm.selectors.tiles.leaders.MOST_RECORDS", 10)
    held = Leaders()
    rising = np.arange(1.0, 101.0)
    for start in range(0, 100, 7):
        part = rising[start : start + 7]
        held.add(start, np.arange(len(part)), Rating(part))
    assert held.rows[held.best()] == 99  # type: ignore[index]
    assert len(held.rows) < 30
    held.add(100, np.arange(1), Rating(np.array([-1e30])))  # now all of them are one score
    assert held.best() is None


def test_the_highest_rows_are_held(monkeypatch):
    monkeypatch.setattr(leaders, "BEST", 20)
    monkeypatch.setattr(leaders, "STRONGEST", 32)
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
