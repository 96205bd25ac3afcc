"""The question as asked: costs, alphabets, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import BinarySymmetric, DiscreteChannel, Logistic, Ordinal, Softmax
from channelcode.capacity import Cost, Peak, Power, Problem, Proposal, Unconstrained, capacity
from channelcode.errors import InvalidArgument


def test_costs():
    line, plane = np.array([-2.0, 0.5]), np.array([[3.0, 4.0], [0.0, 1.0]])
    np.testing.assert_array_equal(Problem(Logistic(), Power(1.0)).cost(line), [4.0, 0.25])
    np.testing.assert_array_equal(Problem(Softmax(2), Power(1.0)).cost(plane), [25.0, 1.0])
    np.testing.assert_array_equal(Problem(Logistic(), Peak(1.0)).cost(line), [0.0, 0.0])
    own = Problem(Logistic(), Cost(np.abs, 1.0))
    np.testing.assert_array_equal(own.cost(line), [2.0, 0.5])
    np.testing.assert_array_equal(own.norm(line), [2.0, 0.5])
    np.testing.assert_array_equal(own.norm(plane), [5.0, 1.0])


def test_finite_or_not():
    assert Problem(BinarySymmetric(0.1), Unconstrained()).is_finite
    assert not Problem(Logistic(), Unconstrained()).is_finite


def test_alphabet_within_the_peak():
    rows = [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]
    channel = DiscreteChannel(rows, [-3.0, 1.0, 2.0])
    letters, matrix, cost = Problem(channel, Power(4.0) & Peak(2.5)).letters()
    np.testing.assert_array_equal(letters, [1.0, 2.0])
    np.testing.assert_array_equal(matrix, rows[1:])
    np.testing.assert_array_equal(cost, [1.0, 4.0])


def test_letters_of_infinite_cost_are_out():
    channel = DiscreteChannel([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    dear = Cost(lambda l: np.where(l == 2, np.inf, 0.0), 1.0)
    letters, _, _ = Problem(channel, dear).letters()
    np.testing.assert_array_equal(letters, [0.0, 1.0])
    assert 2.0 not in capacity(channel, dear).input.atoms


def test_a_cost_that_is_never_met():
    with pytest.raises(InvalidArgument, match="least cost"):
        capacity(Ordinal([-1.0, 1.0]), Cost(lambda l: l**2 + 5.0, 2.0))
    with pytest.raises(InvalidArgument, match="least cost"):
        capacity(DiscreteChannel(np.eye(2), [2.0, 3.0]), Power(1.0))
    with pytest.raises(InvalidArgument, match="at least one input letter"):
        capacity(DiscreteChannel(np.eye(2), [2.0, 3.0]), Peak(1.0))


def test_costs_that_are_no_costs():
    with pytest.raises(InvalidArgument, match="one cost for each input"):
        capacity(Logistic(), Cost(lambda l: 3.0, 4.0))
    with pytest.raises(InvalidArgument, match=r"nan at l = 2\.0"):
        Problem(Logistic(), Cost(lambda l: np.where(l > 1, np.nan, l), 1.0)).cost(
            np.array([0.0, 2.0])
        )


def test_misuse():
    with pytest.raises(InvalidArgument, match="channel"):
        Problem("logistic", Power(1.0))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="constraint"):
        Problem(Logistic(), 4.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="finite input"):
        Problem(Logistic(), Power(1.0)).letters()


def test_caches_are_not_part_of_the_question():
    first, second = Problem(Softmax(3), Power(1.0)), Problem(Softmax(3), Power(1.0))
    first.cache["probes"] = 1
    assert "probes" not in second.cache
    assert "cache" not in repr(first)


def test_proposals_do_not_share_details():
    one = Proposal(np.zeros(1), np.ones(1), 0.0, "one")
    two = Proposal(np.zeros(1), np.ones(1), 0.0, "two")
    one.details["seen"] = True
    assert two.details == {}
