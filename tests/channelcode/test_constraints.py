"""Constraints: their values, their combination, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode.constraints import (
    All,
    Cost,
    Peak,
    Power,
    Unconstrained,
    costs_of,
    limits,
    squared_norm,
)
from channelcode.errors import InvalidArgument

amounts = st.floats(0.0, 1e6)


@pytest.mark.parametrize("kind", [Power, Peak])
@pytest.mark.parametrize("value", [-1.0, float("nan"), -np.inf, "x", None, 1j, [1.0, 2.0]])
def test_bad_amounts_are_refused(kind, value):
    with pytest.raises(InvalidArgument):
        kind(value)


@pytest.mark.parametrize("value", [float("nan"), -np.inf, "x"])
def test_bad_budgets_are_refused(value):
    with pytest.raises(InvalidArgument):
        Cost(np.abs, value)


def test_a_cost_needs_a_function():
    with pytest.raises(InvalidArgument):
        Cost(3.0, 1.0)  # type: ignore[arg-type]


@given(amounts, amounts, amounts)
def test_combination_takes_the_tightest(p, a, other):
    found = limits(Power(p) & Peak(a) & Power(other) & Unconstrained())
    assert (found.budget, found.peak) == (min(p, other), a)
    assert found.is_power


def test_infinite_limits_are_none():
    assert limits(Power(np.inf) & Peak(np.inf)) == limits(Unconstrained())
    assert limits(Power(np.inf)).cost is None


def test_combination_is_flat():
    both = Power(1.0) & Peak(2.0) & Unconstrained()
    assert isinstance(both, All)
    assert len(both.parts) == 3


def test_two_kinds_of_mean_cost_are_refused():
    with pytest.raises(InvalidArgument, match="at most one mean cost"):
        limits(Power(1.0) & Cost(np.abs, 1.0))


def test_other_objects_are_refused():
    with pytest.raises(InvalidArgument):
        limits(4.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Power(1.0) & 3  # type: ignore[operator]


def test_squared_norm_on_the_line_and_in_space():
    np.testing.assert_array_equal(squared_norm(np.array([-2.0, 3.0])), [4.0, 9.0])
    np.testing.assert_array_equal(squared_norm(np.array([[3.0, 4.0]])), [25.0])


@pytest.mark.parametrize("value", [None, True, False, np.True_, "4", [4.0], 1 + 2j, np.nan, -1.0])
@pytest.mark.parametrize("kind", [Power, Peak])
def test_a_limit_is_a_number(kind, value):
    with pytest.raises(InvalidArgument):
        kind(value)


@pytest.mark.parametrize("value", [None, True, "4", [1.0, 2.0], np.nan, -np.inf])
def test_a_budget_is_a_number(value):
    with pytest.raises(InvalidArgument):
        Cost(abs, value)


@pytest.mark.parametrize(
    ("function", "rule"),
    [
        (lambda l: "text", "real numbers"),
        (lambda l: ["a"] * len(l), "real numbers"),
        (lambda l: None, "real numbers"),
        (lambda l: l + 1j, "real numbers"),
        (lambda l: np.ones((3, 3)), "one cost for each input"),
        (lambda l: 1.0, "one cost for each input"),
        (lambda l: l * np.inf, "must return numbers"),
        (lambda l: np.where(l > 1.0, -np.inf, l), "-inf at l = 2.0"),
    ],
)
def test_what_a_cost_returns_is_checked(function, rule):
    with pytest.raises(InvalidArgument, match=rule):
        costs_of(function, np.array([0.0, 2.0]))


def test_a_cost_of_single_numbers_and_of_infinities():
    points = np.array([-3.0, 2.0])
    np.testing.assert_array_equal(costs_of(math.fabs, points), [3.0, 2.0])
    forbidding = costs_of(lambda l: np.where(l > 0, np.inf, 0.0), points)
    np.testing.assert_array_equal(forbidding, [0.0, np.inf])


def test_a_cost_may_say_where_it_is_small():
    assert Cost(abs, 1.0).cheap == ()
    assert Cost(abs, 1.0, cheap=3.0).cheap == (3.0,)
    assert Cost(abs, 1.0, cheap=[[1.0, 2.0]]).cheap == ((1.0, 2.0),)
    assert limits(Cost(abs, 1.0, cheap=(3, 4)) & Peak(9.0)).cheap == (3.0, 4.0)
    with pytest.raises(InvalidArgument, match="cheap"):
        Cost(abs, 1.0, cheap=(np.inf,))


def test_a_cost_with_a_branch_is_asked_one_input_at_a_time():
    found = costs_of(lambda l: l if l > 0 else 0.0, np.array([-1.0, 2.0]))
    np.testing.assert_array_equal(found, [0.0, 2.0])


def test_what_a_cost_raises_by_itself_is_passed_on():
    def refuses(l):
        raise ValueError("not for sale")

    with pytest.raises(ValueError, match=r"^not for sale$"):
        costs_of(refuses, np.zeros(2))


@pytest.mark.parametrize("kind", [Power, Peak])
def test_an_integer_beyond_doubles_is_refused(kind):
    with pytest.raises(InvalidArgument, match="must lie in the range of doubles"):
        kind(10**400)


def test_a_cost_may_say_where_it_rises():
    assert limits(Cost(abs, 1.0)).rises == np.inf
    both = limits(Cost(abs, 1.0, rises=3) & Cost(abs, 2.0, rises=5.0) & Peak(9.0))
    assert (both.budget, both.rises) == (1.0, 3.0)
    for value in (None, True, "far", -1.0, np.nan):
        with pytest.raises(InvalidArgument, match="rises"):
            Cost(abs, 1.0, rises=value)  # type: ignore[arg-type]
