"""Explanations by hand: every number of one candidate from its definition."""

from __future__ import annotations

import numpy as np
import pytest

from apm.belief import Belief
from apm.posteriors import Bohning
from apm.power import FixedPower, PoolMaxPower
from apm.selectors import APM, ContestedPair, MaxVariance
from channelcode.errors import InvalidArgument
from tests.apm.given import given_belief, three_classes

X = np.array([[1.0, 0.0], [0.5, -2.0], [3.0, 1.0], [0.0, 0.2]])
MEAN, COVARIANCE = np.array([0.7, -0.4]), np.array([[2.0, 0.3], [0.3, 1.0]])


def binary_capacity_bits(power: float) -> float:
    p = 1 / (1 + np.exp(-np.sqrt(power)))
    return float(1 + p * np.log2(p) + (1 - p) * np.log2(1 - p))


@pytest.mark.parametrize("index", range(4))
def test_every_number_by_its_definition(index):
    belief = given_belief(MEAN, COVARIANCE)
    told = APM(PoolMaxPower()).explain(belief, X, index)
    mean = X @ MEAN
    variance = np.einsum("ni,ij,nj->n", X, COVARIANCE, X)
    power = float(np.max(mean**2 + variance))
    assert told.power == pytest.approx(power, rel=1e-12)
    assert told.capacity_bits == pytest.approx(binary_capacity_bits(power), abs=1e-10)
    assert told.exploitation == pytest.approx(mean[index] ** 2, rel=1e-12)
    spread = (np.sqrt(variance[index]) - np.sqrt(2 * power / np.pi)) ** 2
    assert told.exploration == pytest.approx(spread + (1 - 2 / np.pi) * power, rel=1e-9)
    gains = belief.information_gain(X)
    assert told.information_gain_bits == pytest.approx(gains[index], abs=1e-10)
    assert told.lost_bits == pytest.approx(gains.max() - gains[index], abs=1e-10)
    assert told.bound_bits is not None
    assert told.transport_bound_bits is not None
    limit = told.capacity_bits - gains[index]
    assert told.bound_bits == pytest.approx(min(limit, told.transport_bound_bits), abs=1e-8)
    scores = APM(PoolMaxPower()).scores(belief, X)
    order = np.argsort(-scores).tolist()
    assert told.score == pytest.approx(scores[index])
    assert told.rank == order.index(index)
    rival = order[1] if order[0] == index else order[0]
    assert told.runner_up == rival
    assert told.margin == pytest.approx(scores[index] - scores[rival])


def test_a_single_candidate_has_no_runner_up():
    belief = given_belief(MEAN, COVARIANCE)
    told = APM().explain(belief, X, 2, exclude=[0, 1, 3])
    assert (told.rank, told.num_candidates) == (0, 1)
    assert told.runner_up is None
    assert told.margin is None
    assert told.lost_bits == 0.0
    assert "leads" not in str(told)


def test_text_says_whether_there_is_a_certificate():
    belief = given_belief(MEAN, COVARIANCE)
    certified = APM(PoolMaxPower()).explain(belief, X, 0)
    assert "certified: no candidate gains over" in str(certified)
    none = APM(FixedPower(0.5)).explain(belief, X, 0)
    assert none.bound_bits is None
    assert none.transport_bound_bits is None
    assert "no certificate: the budget 0.5 is below" in str(none)


def test_a_selector_without_a_budget_is_explained_at_the_pools_power():
    belief = given_belief(MEAN, COVARIANCE)
    told, matched = (kind.explain(belief, X, 1) for kind in (MaxVariance(), APM(PoolMaxPower())))
    assert told.power == matched.power
    assert told.exploration == matched.exploration
    assert told.score == pytest.approx(X[1] @ COVARIANCE @ X[1])


def test_a_contested_pair_has_its_own_budget_and_no_certificate():
    rows = np.random.default_rng(1).normal(size=(8, 2))
    belief = Belief(Bohning(3, 0.5).fit(rows[:6], np.arange(6) % 3))
    told = APM(PoolMaxPower(), channel=ContestedPair()).explain(belief, rows, 0)
    assert told.bound_bits is None
    assert "looks through" in told.bound_note
    assert told.exploitation + told.exploration == pytest.approx(-told.score, rel=1e-9)
    assert told.capacity_bits == pytest.approx(binary_capacity_bits(told.power), abs=1e-9)


def test_the_loss_in_several_dimensions_is_left_out():
    belief, rows = three_classes()
    told = APM(PoolMaxPower()).explain(belief, rows, 3)
    assert told.lost_bits is None
    assert told.exploitation + told.exploration == pytest.approx(-told.score, rel=1e-6)


@pytest.mark.parametrize("index", [4, -1, 1.0, True])
def test_only_candidates_are_explained(index):
    belief = given_belief(MEAN, COVARIANCE)
    with pytest.raises(InvalidArgument, match="index"):
        APM().explain(belief, X, index)
    with pytest.raises(InvalidArgument, match="candidates"):
        APM().explain(belief, X, 2, exclude=[2])
