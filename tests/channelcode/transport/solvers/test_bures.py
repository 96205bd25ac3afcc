"""Gaussian to Gaussian: the Bures metric."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode.measures import (
    Gaussian,
)
from channelcode.transport import (
    bures_squared,
    gelbrich_bound,
    projection_bound,
    w2,
)
from tests.channelcode.transport.laws import (
    gaussians,
)


@given(dim=st.integers(1, 3), data=st.data())
def test_bures(dim, data):
    first, second = data.draw(gaussians(dim)), data.draw(gaussians(dim))
    squared = w2(first, second).squared
    assert squared == bures_squared(first, second)
    scale = 1 + first.second_moment + second.second_moment
    bound = gelbrich_bound(first, second).squared
    assert squared - 1e-12 * scale <= bound <= squared
    assert bures_squared(first, first) <= 1e-12 * scale
    assert bures_squared(second, first) == pytest.approx(squared, abs=1e-9 * scale)
    assert projection_bound(first, second).squared <= squared + 1e-9 * scale


def test_bures_of_commuting_covariances():
    first, second = Gaussian([0, 0], np.diag([1.0, 4.0])), Gaussian([1, 2], np.diag([9.0, 16.0]))
    assert bures_squared(first, second) == pytest.approx(5 + 4 + 4, rel=1e-14)
