"""The check of the rows that a result rests on."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Channel, Features, InvalidArgument, Lapse, Link, Logistic, Ordinal
from channelcode.channels.row_check import check_rows, checked_log_prob, is_builtin


class Plain(Channel):
    dim, num_outputs = 1, 2

    def log_prob(self, l):
        return Logistic().log_prob(l)


def test_only_the_librarys_own_channels_are_trusted():
    assert is_builtin(Logistic())
    assert is_builtin(Lapse(Logistic(), low=0.1))
    assert is_builtin(Link(np.tanh))  # it checks its own range, and one minus it is the rest
    assert not is_builtin(Plain())
    assert not is_builtin(Lapse(Plain()))
    assert not is_builtin(Ordinal([0.0], Plain()))
    assert not is_builtin(Features(Plain(), [[2.0]]))


def test_laws_pass():
    for l in (np.array(0.3), np.linspace(-50, 50, 11), np.zeros((2, 3))):
        np.testing.assert_array_equal(checked_log_prob(Plain(), l), Logistic().log_prob(l))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[-1.0, -1.0]], r"sum to one, got a sum of 0\.7357"),
        ([[0.5, -30.0]], r"none of them NaN or above 0"),
        ([[np.inf, -np.inf]], r"none of them NaN or above 0, got \[inf, -inf\] at l = 4"),
        ([[np.nan, 0.0]], r"none of them NaN or above 0"),
        ([[-np.inf, -np.inf]], r"a sum of 0\.0 at l = 4"),
    ],
)
def test_faults_are_named(rows, message):
    with pytest.raises(InvalidArgument, match=message):
        check_rows(Plain(), np.array([4.0]), np.array(rows))
