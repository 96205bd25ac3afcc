"""Explanations by hand: every number of one candidate from its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm.belief import Belief
from apm.posteriors import Bohning, Laplace, Sampled, VariationalLogistic
from apm.power import (
    FixedPower,
    MatchedPower,
    PoolMaxPower,
    SharePower,
    SignalPower,
    SpectralPower,
    SpectralWithMean,
    VariancePower,
)
from apm.selectors import (
    APM,
    AllClasses,
    APMExploit,
    APMExplore,
    ContestedPair,
    MaxVariance,
    Parameters,
    Predictions,
)
from channelcode.channels import Cloglog, Logistic, Probit, Softmax
from channelcode.errors import InvalidArgument
from channelcode.information import mutual_information
from channelcode.measures import Gaussian
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
    assert told.capacity_bits is not None
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


RNG = np.random.default_rng(3)
POOL = RNG.normal(size=(12, 3)) * [1.0, 2.0, 0.3]
LABELS = np.argmax(POOL + RNG.normal(size=POOL.shape), axis=1)
BELIEFS = {
    "two classes": Belief(VariationalLogistic(0.5).fit(POOL[:6], LABELS[:6] > 0)),
    "probit": Belief(Laplace(Probit(), 0.5).fit(POOL[:6], LABELS[:6] > 0)),
    "cloglog": Belief(Laplace(Cloglog(), 0.5).fit(POOL[:6], LABELS[:6] > 0)),
    "draws": Belief(Sampled(prior_precision=0.5, samples=64).fit(POOL[:6], LABELS[:6] > 0)),
    "three classes": Belief(Bohning(3, 0.5).fit(POOL[:6], np.arange(6) % 3)),
    "full": Belief(Laplace(Softmax(3), 0.5).fit(POOL[:6], np.arange(6) % 3)),
}
CHOICES = {"all": AllClasses(), "pair": ContestedPair()}
MESSAGES = {
    "parameters": Parameters(),
    "predictions": Predictions(num_targets=5),
    "each": Predictions(num_targets=5, pooled=False),
    "alike": Predictions(num_targets=5, weighted=False),
    "exact": Predictions(num_targets=5, exact=True),
}
POLICIES = {
    "spectral": SpectralPower(),
    "with mean": SpectralWithMean(),
    "pool": PoolMaxPower(),
    "small": FixedPower(0.3),
    "huge": FixedPower(1e8),
}


def worth_its_time(belief: str, choice: str, message: str, policy: str) -> bool:
    """A table of slopes or a numerical capacity costs a second: those combinations once each."""
    if message == "exact" or belief == "cloglog":
        return choice == "all" and policy == "pool" and (belief, message) in EXPENSIVE
    if belief == "full" and choice == "all":
        return message == "parameters" and policy == "pool"
    if choice == "pair" and belief in ("two classes", "probit", "draws"):
        return policy == "pool"  # the same as all
    return belief in ("two classes", "three classes") or policy in ("pool", "small")


EXPENSIVE = [
    ("two classes", "exact"),
    ("cloglog", "parameters"),
    ("cloglog", "predictions"),
    ("cloglog", "each"),
]


def rules() -> list[Any]:
    return [
        pytest.param(
            belief,
            APM(policy, channel=CHOICES["pair"], message=MESSAGES[message], charged=charged),
            id=f"{belief}-{message}-{policy!r}-{charged}",
        )
        for belief in ("two classes", "three classes")
        for message in ("parameters", "predictions", "each")
        for policy in (SignalPower(), SharePower(), VariancePower(), MatchedPower())
        for charged in (True, False)
    ] + [
        pytest.param(belief, APM(policy, channel=choice, message=message), id="-".join(names))
        for belief, *names, choice, message, policy in (
            (b, b, c, m, p, CHOICES[c], MESSAGES[m], POLICIES[p])
            for b in BELIEFS
            for c in CHOICES
            for m in MESSAGES
            for p in POLICIES
            if worth_its_time(b, c, m, p)
        )
    ]


@pytest.mark.parametrize(("belief", "rule"), rules())
def test_terms_sum_to_the_score_and_the_bound_holds_whatever_the_rule(belief, rule):
    """No candidate tells more than `bound_bits` beyond another, through the rule's own channel."""
    held = BELIEFS[belief]
    rule = rule.prepared(held, POOL)
    scores = rule.scores(held, POOL)
    explanations = [rule.explain(held, POOL, index) for index in (1, 7)]
    best = max(told.information_gain_bits for told in explanations)
    for index, told in zip((1, 7), explanations):
        assert told.score == pytest.approx(scores[index], rel=1e-9)
        assert sum(told.terms.values()) == pytest.approx(told.score, rel=1e-9, abs=1e-12)
        assert told.terms == {
            "exploitation": -told.exploitation,  # type: ignore[operator]
            "exploration": -told.exploration,  # type: ignore[operator]
        }
        assert told.terms["exploitation"] <= 1e-9 * abs(told.score)
        assert repr(rule.power) in told.budget
        assert f"P = {told.power:.6g}" in str(told)
        assert rule.message.describe(len(POOL)) in str(told)
        assert "no certificate" not in str(told)
        if told.capacity_bits is not None and rule.power.valid:
            assert told.information_gain_bits <= told.capacity_bits + 1e-9
        if told.bound_bits is None:
            assert held.channel.dim > 1
            assert told.bound_note
            assert "certified" not in str(told)
            continue
        assert "certified" in str(told)
        assert best - told.information_gain_bits <= told.bound_bits + 1e-9
        if told.lost_bits is not None:
            assert told.lost_bits <= told.bound_bits + 1e-9
        if told.transport_bound_bits is not None:
            assert told.bound_bits <= told.transport_bound_bits


def test_information_about_predictions_is_that_of_the_effective_channel():
    """By quadrature: N(k m, k^2 s^2 R^2) through a logistic channel, at its own budget."""
    held = BELIEFS["two classes"]
    rule = APM(PoolMaxPower(), message=Predictions(POOL[:4], weighted=False))
    laws = held.push(POOL)
    variance, targets = laws.total_variance, held.push(POOL[:4]).total_variance
    cross = POOL @ np.asarray(held.posterior.covariance) @ POOL[:4].T
    share = (cross**2 / np.outer(variance, targets)).mean(axis=1)
    k = 1 / np.sqrt(1 + np.pi / 8 * variance * (1 - share))
    power = np.max(k**2 * (laws.mean**2 + variance * share))
    gains = [
        mutual_information(Logistic(), Gaussian(m, v)).bits
        for m, v in zip(k * laws.mean, k**2 * variance * share)
    ]
    told = rule.explain(held, POOL, 5)
    assert told.power == pytest.approx(power, rel=1e-9)
    assert told.information_gain_bits == pytest.approx(gains[5], abs=1e-9)
    assert told.lost_bits == pytest.approx(max(gains) - gains[5], abs=1e-9)
    assert told.capacity_bits == pytest.approx(binary_capacity_bits(power), abs=1e-9)
    assert told.message == "the predictions at 4 targets"


def test_a_budget_that_candidates_exceed_still_leaves_a_valid_bound():
    belief = given_belief(MEAN, COVARIANCE)
    told = APM(FixedPower(0.5)).explain(belief, X, 0)
    largest = np.max((X @ MEAN) ** 2 + np.einsum("ni,ij,nj->n", X, COVARIANCE, X))
    assert told.power == 0.5
    assert told.information_gain_bits is not None
    limit = binary_capacity_bits(largest) - told.information_gain_bits
    assert told.bound_bits == pytest.approx(limit, abs=1e-8)
    assert told.transport_bound_bits is None


def test_a_rule_without_a_budget_has_no_numbers_of_another_rule():
    belief = given_belief(MEAN, COVARIANCE)
    told = MaxVariance().explain(belief, X, 1)
    assert told.score == pytest.approx(X[1] @ COVARIANCE @ X[1])
    assert told.terms == {"score": told.score}
    assert (told.power, told.capacity_bits, told.exploitation, told.exploration) == (None,) * 4
    assert "budget: none" in str(told)
    assert told.bound_bits is not None


@pytest.mark.parametrize("kind", [APMExploit, APMExplore])
def test_each_half_is_explained_by_itself(kind):
    belief = given_belief(MEAN, COVARIANCE)
    told = kind(PoolMaxPower()).explain(belief, X, 1)
    assert sum(told.terms.values()) == pytest.approx(told.score, rel=1e-12)
    assert told.terms["exploration" if kind is APMExploit else "exploitation"] == 0


def test_text_says_who_leads():
    belief = given_belief(MEAN, COVARIANCE)
    rule = APM(PoolMaxPower())
    first, second = rule.select(belief, X, n=2).tolist()
    assert f"leads candidate {rule.explain(belief, X, first).runner_up} by" in str(
        rule.explain(belief, X, first)
    )
    assert f"is behind candidate {first} by" in str(rule.explain(belief, X, second))


def test_the_loss_in_several_dimensions_is_left_out():
    belief, rows = three_classes()
    told = APM(PoolMaxPower()).explain(belief, rows, 3)
    assert told.lost_bits is None
    assert told.bound_bits is None
    assert "estimate" in told.bound_note
    assert sum(told.terms.values()) == pytest.approx(told.score, rel=1e-6)


@pytest.mark.parametrize("index", [4, -1, 1.0, True])
def test_only_candidates_are_explained(index):
    belief = given_belief(MEAN, COVARIANCE)
    with pytest.raises(InvalidArgument, match="index"):
        APM().explain(belief, X, index)
    with pytest.raises(InvalidArgument, match="candidates"):
        APM().explain(belief, X, 2, exclude=[2])


def test_the_text_says_the_capacity_that_it_compares_with():
    told = APM(PoolMaxPower()).explain(given_belief(MEAN, COVARIANCE), X, 0)
    assert f"bits of a capacity of {told.capacity_bits:.6g} (" in str(told)


def test_a_prediction_about_the_candidate_itself_is_the_whole_label():
    """With x* = x all of the label is about x*: its information is I(L; Y) of x, means and all."""
    _, pool = three_classes()
    belief = Belief(Bohning(3, 0.5).fit(pool[:9], np.arange(9) % 3))
    for index in (0, 10):
        message = Predictions(targets=pool[index : index + 1])
        told = APM(FixedPower(3.0), channel=AllClasses(), message=message).explain(
            belief, pool, index
        )
        expected = mutual_information(Softmax(3), belief.push(pool)[index]).bits
        # in R^2 both are quasi-Monte Carlo means of about a thousand points
        assert told.information_gain_bits == pytest.approx(expected, abs=5e-3)
