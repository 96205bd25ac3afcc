"""The contract of a constraint: good ones pass, each mistake is named."""

from __future__ import annotations

import math

import numpy as np
import pytest

from channelcode import Cost, Peak, Power, Unconstrained
from channelcode.testing import check_constraint
from tests.naming import plain

_NOISE = np.random.default_rng(0)


@pytest.mark.parametrize(
    "constraint",
    [
        Power(2.0),
        Power(0.0),
        Peak(3.0),
        Unconstrained(),
        Power(2.0) & Peak(1.0),
        Cost(abs, 1.0),
        Cost(lambda l: (l - 3.0) ** 2, 1.0) & Peak(5.0),
        Cost(lambda l: np.where(l < 0, np.inf, l), 1.0),  # infinity forbids an input
        Cost(abs, 1.0, rises=0.0),
        Cost(np.square, 1.0, rises=np.float64(1e-300)),
        Cost(lambda l: (l - 3.0) ** 2, 1.0, rises=3.0),
        Cost(lambda l: np.where(np.abs(l) > 4.0, np.inf, 0.0), 1.0, rises=0.0),
        Cost(lambda l: np.where(np.abs(l - 9.0) < 1.0, 0.0, np.abs(l)), 1.0, rises=10.0),
        Cost(lambda l: np.abs(l) * (l < 9.0), 1.0, rises=0.0) & Peak(8.0),  # not beyond the peak
        Cost(np.log1p, 1.0, rises=50.0) & Peak(0.5),
        Cost(lambda l: np.tanh(np.abs(l)), 1.0, rises=0.0),
    ],
    ids=plain,
)
def test_good_constraints_pass(constraint):
    check_constraint(constraint)


def test_costs_in_space():
    check_constraint(Power(1.0), dim=3)
    check_constraint(Cost(lambda l: np.abs(l).sum(axis=1), 1.0), dim=3)
    with pytest.raises(AssertionError, match=r"must return shape \(\d+,\)"):
        check_constraint(Cost(np.abs, 1.0), dim=3)


def _negates(l):
    l *= -1
    return l * l


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda l: np.sqrt(l), "must not be NaN, as at l = -"),
        (lambda l: l.sum(), "one number for each input"),
        (lambda l: l[:, None] ** 2, "one number for each input"),
        (lambda l: ["cheap"] * len(l), "real numbers"),
        (lambda l: l**2 + 0j, "real numbers"),
        (lambda l: math.exp(l), "not vectorised"),
        (lambda l: l**2 if l > 0 else -l, "not vectorised"),
        (lambda l: (l - l.mean()) ** 2, "beside it"),
        (lambda l: l**2 + _NOISE.random(), "same answer"),
        (_negates, "must not write"),
        (lambda l: np.log(np.abs(l)), "minus infinity"),
        (lambda l: np.full(len(l), np.inf), "infinite for every input"),
        (lambda l: 5.0 + l**2, "no input keeps the budget of 1.0: the least cost found is 5.0"),
        (lambda l: np.where((l > 40) & (l < 90), np.nan, l**2), "must not be NaN"),
    ],
)
def test_each_mistake_is_named(function, message):
    with pytest.raises(AssertionError, match=message):
        check_constraint(Cost(function, 1.0))


@pytest.mark.parametrize("thing", [Power, None, 3])
def test_only_constraints_are_checked(thing):
    with pytest.raises(AssertionError, match="must be an instance"):
        check_constraint(thing)


def test_two_costs_are_refused_with_their_reason():
    with pytest.raises(AssertionError, match="at most one mean cost"):
        check_constraint(Power(1.0) & Cost(abs, 1.0))


@pytest.mark.parametrize(
    ("function", "rises", "place"),
    [
        (lambda l: (l - 3.0) ** 2, 0.0, (0.0, 3.0)),
        (lambda l: np.abs(l) * (np.abs(l) < 7e4), 2.0, (7e4, 1.1e5)),
        (lambda l: np.where((l > 4.0) & (l < 4.5), np.inf, np.abs(l)), 0.0, (4.5, 4.6)),
        (lambda l: np.abs(l) * (1.001 + np.sin(20.0 * l)), 5.0, (5.0, 5.3)),
        (lambda l: np.where(l < 0.0, 1.0 / (1.0 - np.minimum(l, 0.0)), l), 1.0, (1.0, np.inf)),
        (lambda l: -np.abs(l), 0.0, (0.0, 1e-8)),
        (lambda l: np.where(np.abs(l - 30.0) < 0.05, 1.0, np.abs(l)), 20.0, (29.95, 30.05)),
    ],
)
def test_a_cost_that_falls_beyond_its_declaration_is_named(function, rises, place):
    with pytest.raises(AssertionError, match="must fall nowhere beyond rises=") as caught:
        check_constraint(Cost(function, 1e3, rises=rises))
    named = abs(float(str(caught.value).rsplit("l = ", 1)[1]))
    assert place[0] <= named <= place[1]


def test_a_cost_that_falls_in_space():
    check_constraint(Cost(lambda l: np.abs(l).sum(axis=1), 1.0, rises=0.0), dim=3)
    bent = Cost(lambda l: np.square(l - [0.0, 2.0]).sum(axis=1), 1.0, rises=1.0)
    with pytest.raises(AssertionError, match=r"must fall nowhere beyond rises=1.0.* l = \[0.0, 1"):
        check_constraint(bent, dim=2)
    check_constraint(Cost(bent.function, 1.0, rises=2.0), dim=2)
