"""Looks at a table of informations against the same in NumPy."""

from __future__ import annotations

import numpy as np

from apm._kernels.gains import BEYOND, looked_up, places_of
from tests.kernel_checks import assert_matches_py_func

SHIFT = 48


def steps(values):
    return np.asarray(values, dtype=np.float64).view(np.int64) >> SHIFT


def test_places_are_the_ends_of_steps(rng: np.random.Generator) -> None:
    least, most = 2.0**-10, 2.0**10
    first, last = int(steps([least])[0]), int(steps([most])[0])
    known = rng.random(last - first + 2) < 0.5
    variance = np.concatenate((2.0 ** rng.uniform(-12, 10, size=200), [0.0, most]))
    places, missing = assert_matches_py_func(places_of, variance, known, least, most, SHIFT, first)
    ends = ((np.arange(len(known)) + first) << SHIFT).view(np.float64)
    assert (variance <= ends[places]).all()
    inner = variance >= least
    assert (ends[places - 1][inner] <= variance[inner]).all()
    assert missing == np.count_nonzero(~known[places])


def test_what_is_no_number_or_beyond_has_no_bound() -> None:
    known = np.ones(40, dtype=bool)
    first = int(steps([1.0])[0])
    wrong = np.array([np.nan, np.inf, 5.0, -1.0])
    places, missing = places_of(wrong, known, 1.0, 4.0, SHIFT, first)
    assert places.tolist() == [-1, -1, -1, 1]
    assert missing == 0
    table, start = np.full((40, 9), 0.5), int(steps([1.0])[0])
    found = looked_up(np.zeros(4), places, np.ones(40), table, 0.01, 64.0, SHIFT, start)
    assert found.tolist() == [BEYOND, BEYOND, BEYOND, 0.5]


def test_rows_are_steps_of_the_ratio(rng: np.random.Generator) -> None:
    finest, farthest = 0.01, 64.0
    start, last = (int(each) for each in steps([1.0, 1.0 + farthest / finest]))
    values = rng.random((5, last - start + 1))
    size = np.concatenate((rng.exponential(2.0, size=200), [0.0, 1e9, np.inf, np.nan]))
    places = rng.integers(5, size=len(size))
    ends = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    found = assert_matches_py_func(
        looked_up, size, places, ends, values, finest, farthest, SHIFT, start
    )
    ratio = np.square(size) / (1.0 + ends[places])
    rows = steps(1.0 + np.minimum(np.nan_to_num(ratio, nan=0.0), farthest) / finest) - start
    sure = np.abs(steps(1.0 + np.minimum(ratio * (1 + 1e-12), farthest) / finest) - start - rows)
    same = sure == 0  # a step begins within rounding of the others
    assert same.sum() > 180
    np.testing.assert_array_equal(found[same], values[places, rows][same])
    assert found[-1] == values[places[-1], 0]
