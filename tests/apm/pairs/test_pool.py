"""Pairs of items as a pool: goldens, the library's own selectors, and bad input."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm import (
    APM,
    BALD,
    Affine,
    Belief,
    Difference,
    FixedPower,
    InformationGain,
    Laplace,
    Linear,
    MatchedPower,
    MaxVariance,
    PairPool,
    PoolMaxPower,
    Predictions,
    SignalPower,
    SpectralPower,
    SpectralWithMean,
    VariancePower,
    VariationalLogistic,
)
from apm.posteriors.laplace import ScalarLaplace
from channelcode import Cloglog, InvalidArgument, Logistic, Probit
from tests.naming import plain

RULES = [
    InformationGain(),
    MaxVariance(),
    APM(),
    APM(FixedPower(4.0)),
    APM(PoolMaxPower()),
    APM(SpectralWithMean()),
    APM(SpectralPower()),
    APM(SignalPower()),
    APM(VariancePower()),
    APM(MatchedPower()),
]


def told(model, items, answers, seed=0):
    rng = np.random.default_rng(seed)
    belief = Belief(model, Difference())
    for _ in range(answers):
        i, j = rng.choice(len(items), 2, replace=False)
        row = np.concatenate([items[i], items[j]])
        belief = belief.update(row, int(rng.random() < 0.5))
    return belief


@pytest.mark.parametrize("rule", RULES, ids=plain)
@pytest.mark.parametrize(
    "model",
    [Laplace(Logistic(), 0.7, classes=[0, 1]), VariationalLogistic(0.7, classes=[0, 1])],
    ids=plain,
)
def test_the_pick_is_that_of_the_selector_on_all_pairs(rule, model):
    items = np.random.default_rng(3).normal(size=(40, 3))
    pool, belief = PairPool(items), told(model, items, 6)
    first, second = np.triu_indices(40, 1)
    rows = pool.rows(np.column_stack([first, second]))
    scores = rule.scores(belief, rows)
    order = np.argsort(-scores, kind="stable")[:4]
    choice = pool.search(belief, rule, 4)
    assert choice.pairs.tolist() == np.column_stack([first, second])[order].tolist()
    # the library's scores may leave a constant out
    np.testing.assert_allclose(
        choice.scores - choice.scores[0], scores[order] - scores[order[0]], rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("best", range(5))
def test_goldens(best):
    golden = json.loads((Path(__file__).parents[2] / "data" / "pairs.json").read_text())
    case = golden["best"][best]
    factor, phi = np.array(golden["factor"]), np.array(golden["phi"])

    class Known(ScalarLaplace):
        """A posterior with a given law."""

        __slots__ = ()
        mean = property(lambda self: np.array(golden["mean"]))
        covariance = property(lambda self: factor @ factor.T)

    belief = Belief(Known(Logistic(), classes=[0, 1]), Difference())
    rule = {"gain": InformationGain(), "max variance": MaxVariance()}.get(case["rule"])
    choice = PairPool(phi).search(belief, rule or APM(FixedPower(case["power"])), 2)
    assert choice.pairs[0].tolist() == case["pair"]
    if case["rule"] == "gain":
        nats = choice.scores * np.log(2)
        np.testing.assert_allclose(nats, [case["value_nats"], case["runner_up"]], rtol=1e-8)
    elif case["rule"] == "apm":
        np.testing.assert_allclose(choice.scores, [case["score"], case["runner_up"]], rtol=1e-9)
    else:
        assert choice.scores[0] == pytest.approx(case["variance"], rel=1e-12)


@pytest.mark.parametrize(
    "rule", [InformationGain(), MaxVariance(), APM(FixedPower(4.0))], ids=plain
)
def test_items_far_from_zero_keep_their_differences(rule):
    """Only differences count: all items moved by 2^40 give the pairs and scores of where they were.

    The items are multiples of 2^-8, so that the move itself rounds nothing.
    """
    items = np.round(np.random.default_rng(5).normal(size=(60, 3)) * 256) / 256
    belief = told(Laplace(Logistic(), 1.0), items, 4)
    near, far = (PairPool(each).search(belief, rule, 3) for each in (items, items + 2.0**40))
    np.testing.assert_array_equal(near.pairs, far.pairs)
    np.testing.assert_allclose(near.scores, far.scores, rtol=1e-9)


def test_asking_and_telling_without_repeats():
    items = np.random.default_rng(0).normal(size=(30, 2))
    pool, belief, asked = PairPool(items), Belief(Laplace(Logistic(), 1.0), Difference()), []
    truth = np.array([2.0, -1.0])
    for _ in range(25):
        (pair,) = pool.search(belief, exclude=asked or None)
        assert pair not in asked
        asked.append(pair)
        row = pool.rows([pair])[0]
        belief = belief.update(row, int((items[pair[0]] - items[pair[1]]) @ truth > 0))
    mean = belief.posterior.mean
    assert mean @ truth / np.linalg.norm(mean) / np.linalg.norm(truth) > 0.97


def test_features_of_the_items_are_those_of_the_encoder():
    items = np.random.default_rng(4).normal(size=(25, 2))
    affine = PairPool(items).search(Belief(Laplace(Logistic()), Difference(Affine())))
    plain_choice = PairPool(items).search(Belief(Laplace(Logistic()), Difference(Linear())))
    assert affine.pairs.tolist() == plain_choice.pairs.tolist()  # a constant drops out


def test_size_and_words():
    pool = PairPool(np.zeros((4, 2)))
    assert len(pool) == 6
    assert repr(pool) == "PairPool(4 items, 6 pairs)"
    choice = pool.search(Belief(Laplace(Logistic()), Difference()), n=6)
    assert sorted(choice) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


WRONG: Any = Laplace(Logistic())
ITEMS = np.random.default_rng(0).normal(size=(6, 2))
GOOD = Belief(Laplace(Logistic()), Difference())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PairPool([[1.0, 2.0]]), "two or more"),
        (lambda: PairPool([[1.0], [np.nan]]), "items"),
        (lambda: PairPool(ITEMS).search(WRONG), "Belief"),
        (lambda: PairPool(ITEMS).search(Belief(Laplace(Logistic()))), "Difference"),
        (lambda: PairPool(ITEMS).search(Belief(Laplace(Cloglog()), Difference())), "alike"),
        (
            lambda: PairPool(ITEMS).search(
                Belief(Laplace(Logistic(), intercept=True), Difference())
            ),
            "no intercept",
        ),
        (lambda: PairPool(ITEMS).search(GOOD, BALD()), "selector"),
        (lambda: PairPool(ITEMS).search(GOOD, APM(message=Predictions())), "selector"),
        (lambda: PairPool(ITEMS).search(GOOD, n=0), "n must"),
        (lambda: PairPool(ITEMS).search(GOOD, n=16), "at most 15"),
        (lambda: PairPool(ITEMS).search(GOOD, n=15, exclude=[(1, 0)]), "at most 14"),
        (lambda: PairPool(ITEMS).search(GOOD, exclude=[(0, 6)]), "0 to 5"),
        (lambda: PairPool(ITEMS).search(GOOD, exclude=[(2, 2)]), "different"),
        (lambda: PairPool(ITEMS).search(GOOD, exclude=[(0.5, 1)]), "whole numbers"),
        (lambda: PairPool(ITEMS).rows([0, 1]), "shape"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InvalidArgument, match=words):
        call()


def test_probit_too():
    items = np.random.default_rng(5).normal(size=(20, 2))
    belief = Belief(Laplace(Probit(), 0.5), Difference())
    pool = PairPool(items)
    first, second = np.triu_indices(20, 1)
    scores = InformationGain().scores(belief, pool.rows(np.column_stack([first, second])))
    choice = pool.search(belief)
    assert choice.scores[0] == pytest.approx(scores.max(), abs=1e-9)
