"""A path of powers suggests the next answer, and the judge decides."""

# Odd types are what these tests are about.
# pyright: reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Continuous, Ordinal, Power, capacity
from channelcode.capacity.curves.path import Path, fill_between

CHANNEL = Ordinal([-1.0, 1.0])


def solved(power):
    return capacity(CHANNEL, Power(power), solver=Continuous())


def test_a_path_follows_and_is_certified():
    path = Path(CHANNEL, 1e-9)
    for power in (1.0, 1.2, 1.4):
        path.visit(power, solved(power))
    result = path.follow(Power(1.6), 1.6)
    assert result is not None
    assert result.gap <= 1e-9
    assert result.bits == pytest.approx(solved(1.6).bits, abs=1e-9)


def test_a_path_ends_where_an_atom_appears():
    path = Path(CHANNEL, 1e-9)
    path.visit(1.0, solved(1.0))
    assert path.follow(Power(16.0), 16.0) is None  # two atoms cannot be certified there
    path.visit(16.0, solved(16.0))  # three atoms: a new path
    assert [power for power, _ in path.last] == [16.0]
    path.visit(0.0, solved(0.0))
    assert path.last == []
    assert path.follow(Power(1.0), 1.0) is None


def test_between_two_answers_the_rest_is_filled_in():
    values = np.array([1.0, 1.1, 1.2, 1.3, 1.4])
    results = [None] * 5
    for place in (0, 2, 4):
        results[place] = solved(values[place])
    fill_between(CHANNEL, values, np.arange(5), results, 1e-9, {})
    for power, result in zip(values, results):
        assert result is not None
        assert result.gap <= 1e-9
        assert result.bits == pytest.approx(solved(power).bits, abs=1e-9)
