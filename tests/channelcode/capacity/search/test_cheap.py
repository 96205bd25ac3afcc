"""The least cost, found by search and refinement."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Cost, Logistic, Ordinal, Peak
from channelcode.capacity import Problem
from channelcode.capacity.search.cheap import check_budget, near_valleys, priced_probes, valleys
from channelcode.errors import InvalidArgument


@pytest.mark.parametrize(
    ("function", "places"),
    [
        (lambda l: (l - 100.0) ** 2, [100.0]),
        (lambda l: (l**2 - 4.0) ** 2, [-2.0, 2.0]),
        (lambda l: (l - 0.37) ** 2, [0.37]),
        (lambda l: np.minimum(l**2, (np.abs(l) - 20.0) ** 2), [-20.0, 0.0, 20.0]),
        (lambda l: np.abs(l - 12345.678) / 1e3, [12345.678]),
        (lambda l: np.where(np.abs(l - 31.7) < 0.1, 0.0, 5.0), [31.7]),
    ],
)
def test_valleys_are_found(function, places):
    problem = Problem(Logistic(), Cost(function, 1e-4))
    found = valleys(problem)
    for place in places:
        # a parabola is flat to rounding within 1e-8 of its bottom; the step is 0.1 wide
        assert np.abs(found - place).min() <= max(1e-6 * (1.0 + abs(place)), 0.1 * (place == 31.7))
    assert priced_probes(problem)[1].min() <= 1e-8
    check_budget(problem)
    assert np.isin(found, near_valleys(problem)).all()


def test_a_declared_valley_is_looked_at():
    narrow = lambda l: np.where(np.abs(l - 1e7) < 1e-3, 0.0, 9.0)  # noqa: E731
    with pytest.raises(InvalidArgument, match="least cost found, 9"):
        check_budget(Problem(Logistic(), Cost(narrow, 1.0)))
    check_budget(Problem(Logistic(), Cost(narrow, 1.0, cheap=(1e7,))))


def test_valleys_beyond_the_peak_do_not_count():
    with pytest.raises(InvalidArgument, match="least cost"):
        check_budget(
            Problem(Ordinal((99.0, 101.0)), Cost(lambda l: (l - 100) ** 2, 1.0) & Peak(50))
        )
