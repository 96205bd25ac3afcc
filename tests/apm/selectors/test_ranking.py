"""Best first, ties to the lowest row, labelled rows left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.selectors.ranking import TIE_RTOL, best, ranking, remaining
from channelcode.errors import InvalidArgument

SCORES = st.lists(st.integers(-20, 20), min_size=1, max_size=12)  # many exact ties


@given(SCORES)
def test_ranking_is_a_stable_sort(values):
    scores = np.array(values, dtype=float)
    expected = sorted(range(len(values)), key=lambda place: (-values[place], place))
    assert ranking(scores).tolist() == expected
    assert best(scores, len(scores)).tolist() == expected
    assert best(scores).tolist() == expected[:1]


def test_scores_that_differ_by_rounding_are_one_score():
    top = 3.0
    scores = np.array([1.0, top - 0.5 * TIE_RTOL * top, top])
    assert best(scores).tolist() == [1]
    assert ranking(scores).tolist() == [1, 2, 0]
    apart = np.array([1.0, top - 4 * TIE_RTOL * top, top])
    assert best(apart).tolist() == [2]


def test_the_accuracy_of_an_integral_widens_a_tie():
    scores = np.array([0.5, 0.5 + 1e-11])
    assert best(scores).tolist() == [1]
    assert best(scores, resolution=1e-10).tolist() == [0]


@given(st.integers(1, 10), st.sets(st.integers(0, 9)))
def test_indices_and_masks_exclude_alike(rows, out):
    out = sorted(row for row in out if row < rows)
    mask = np.isin(np.arange(rows), out)
    expected = [row for row in range(rows) if row not in out]
    assert remaining(rows, out).tolist() == expected
    assert remaining(rows, mask).tolist() == expected


@pytest.mark.parametrize("exclude", [[3], [-1], [0.0], np.zeros(2, dtype=bool)])
def test_rows_that_do_not_exist_are_refused(exclude):
    with pytest.raises(InvalidArgument, match="exclude"):
        remaining(3, exclude)
