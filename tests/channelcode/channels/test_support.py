"""Supports: the coordinate on the line and back, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Counts, Interval, InvalidArgument
from channelcode.channels.support import as_support

INTERVALS = [Interval(), Interval(0.0, np.inf), Interval(-np.inf, 3.0), Interval(-1.0, 2.0)]


@pytest.mark.parametrize("support", INTERVALS, ids=repr)
def test_the_coordinate_goes_there_and_back(support):
    t = np.linspace(-6.0, 6.0, 25)
    y, log_slope = support.from_line(t)
    assert support.contains(y).all()
    np.testing.assert_allclose(support.to_line(y), t, atol=1e-9)
    h = 1e-5
    difference = (support.from_line(t + h)[0] - support.from_line(t - h)[0]) / (2 * h)
    np.testing.assert_allclose(np.exp(log_slope), difference, rtol=1e-7)


def test_pairs_and_counts():
    assert as_support((0, np.inf)) == Interval(0.0, np.inf)
    assert as_support(Counts()) == Counts()
    np.testing.assert_array_equal(Counts().contains(np.array([0.0, 1.5, 2.0, -1.0])), [1, 0, 1, 0])


@pytest.mark.parametrize("bad", [(1.0, 1.0), (2.0, 1.0), 3.0, "line", (1.0, 2.0, 3.0), (0, np.nan)])
def test_bad_supports(bad):
    with pytest.raises(InvalidArgument, match="support must"):
        as_support(bad)


def test_an_interval_holds_its_ends_and_nothing_beyond():
    y = np.array([-0.1, 0.0, 0.5, 1.0, 1.1])
    assert Interval(0.0, 1.0).contains(y).tolist() == [False, True, True, True, False]
    assert Interval(0.0, np.inf).contains(y).tolist() == [False, True, True, True, True]
