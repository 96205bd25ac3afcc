"""Scores by tiles: what is kept of them decides as all of them do, and streams choose as memory."""

from typing import Any

import numpy as np
import pytest

import apm
from apm import (
    APM,
    BALD,
    EPIG,
    Bisection,
    Bohning,
    ContestedPair,
    Entropy,
    InformationGain,
    Laplace,
    Learner,
    LeastConfidence,
    Margin,
    MaxVariance,
    PoolMaxPower,
    Predictions,
    Random,
    Uncertainty,
    VariationalLogistic,
)
from apm.pools.blocks import Sliced
from apm.power import FixedPower, MatchedPower, PowerPolicy, SharePower, SignalPower, VariancePower
from apm.selectors import APMExploit, APMExplore, Selector
from apm.selectors.base import Choice, Rating
from apm.selectors.tiled import StreamedChoice, tiled_rating
from apm.selectors.tiles.leaders import Leaders
from channelcode import Cloglog, Logistic
from channelcode.errors import InvalidArgument
from tests.naming import plain

ROWS = 1500
RULES = [
    APM(), APM(FixedPower(3.0)), APM(PoolMaxPower()), APM(MatchedPower()),
    APM(message=Predictions()), APM(SignalPower(), message=Predictions(pooled=False)),
    APM(SharePower(), message=Predictions(num_targets=20), charged=False), APM(VariancePower()),
    APMExploit(), APMExploit(averaged=True), APMExplore(PoolMaxPower()), InformationGain(),
    InformationGain(samples=20), BALD(), EPIG(samples=20, num_targets=10), Margin(),
    Margin(bayesian=True), Entropy(bayesian=True, samples=20), LeastConfidence(), Uncertainty(),
    Random(), MaxVariance(), Bisection(),
]  # fmt: skip


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)


def data(dtype, classes=2):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(ROWS, 5)).astype(dtype)
    X[700] = X[20]  # ties across tiles
    X[1400] = X[20]
    logits = X @ rng.normal(size=(5, classes)) + rng.gumbel(size=(ROWS, classes))
    return X, logits.argmax(axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["single", "double"])
@pytest.mark.parametrize("rule", RULES, ids=plain)
def test_streams_choose_as_memory_does(small_tiles, rule, dtype):
    X, y = data(dtype)
    pools = [X] + [lambda count=count: iter(np.array_split(X, count)) for count in (1, 7, 1000)]
    found = []
    for pool in pools:
        learner = Learner(pool, VariationalLogistic(0.1), rule, seed=3)
        picks = []
        for _ in range(2):
            row = int(learner.ask())
            learner.tell(row, int(y[row]))
            picks.append(row)
        picks += learner.ask(3).tolist()
        learner.tell(picks[-3:], y[picks[-3:]])
        summary = learner.history[-1].scores
        assert summary is not None
        found.append((picks, summary.chosen, summary.runner_up, summary.num_candidates))
    assert found[1:] == found[:1] * 3


@pytest.mark.parametrize(
    "model", [Bohning(3, 0.1), Laplace(Bohning(3).channel, 0.1)], ids=["B", "L"]
)
@pytest.mark.parametrize(
    "rule",
    [APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions()), Margin(), Entropy(),
     InformationGain(samples=10), EPIG(samples=10, num_targets=5)],
    ids=plain,
)  # fmt: skip
def test_several_classes(small_tiles, model, rule):
    X, y = data(np.float32, 3)
    found = []
    for pool in (X, lambda: iter(np.array_split(X, 7))):
        learner = Learner(pool, model, rule, seed=3)
        learner.tell([0, 1, 2, 3, 4, 5], y[:6])
        found.append(learner.ask(2).tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["single", "double"])
def test_the_order_in_memory_changes_no_score(small_tiles, dtype):
    X = np.random.default_rng(0).normal(size=(900, 40)).astype(dtype)
    columns = np.asfortranarray(X)
    found = []
    for pool in (X, columns, lambda: iter(np.array_split(X, 7)), lambda: iter([columns])):
        learner = Learner(pool, VariationalLogistic(0.1, intercept=True), seed=3)
        learner.tell(range(12), X[:12, 0] > 0)
        row = int(learner.ask())
        learner.tell(row, True)
        summary = learner.history[-1].scores
        assert summary is not None
        found.append((row, summary.chosen, summary.runner_up, summary.lowest))
    assert found[1:] == found[:1] * 3


def test_beliefs_beyond_the_range_are_refused_as_in_memory(small_tiles):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3)) * np.where(rng.random((700, 1)) < 0.3, 1e18, 1.0)
    said = []

    def batches(learner):
        for _ in range(5):
            rows = learner.ask(5)
            learner.tell(rows, X[rows, 0] > 0)

    for pool in (X, Sliced(X)):
        learner = Learner(pool, VariationalLogistic(0.1), APM(), seed=0)
        learner.tell(range(8), X[:8, 0] > 0)
        with pytest.raises(InvalidArgument, match="range") as caught:
            batches(learner)
        said.append((str(caught.value), learner.labelled.tolist()))
    assert said[0] == said[1]


def test_a_large_constant_hides_no_runner_up():
    rating = Rating(np.array([0.0, 2.0, 1.0, 3.0]), constant=-1e40)
    choice = Choice(np.array([3]), np.arange(4), rating)
    assert choice.numbers(3)[1:3] == (1, 0.0)
    held = Leaders()
    for start in (0, 2):
        part = Rating(rating.values[start : start + 2], constant=-1e40)
        held.add(start, np.arange(2), part)
    streamed = StreamedChoice(np.array([3]), held, {3: (3.0 - 1e40, None)})
    assert streamed.numbers(3) == choice.numbers(3)


def test_the_first_of_equal_rows_is_asked(small_tiles):
    X, _ = data(np.float32)
    X[20] *= 1.7
    X[700] = X[1400] = X[20]
    for rule in (MaxVariance(), APM(FixedPower(1e6))):
        learner = Learner(lambda: iter(np.array_split(X, 9)), VariationalLogistic(), rule, seed=0)
        biggest = int(np.argmax(np.linalg.norm(X, axis=1)))
        assert learner.ask().tolist() == [biggest]


def test_random_tiles_continue_one_stream():
    generator: Any = Random().tile_seed(7, 40)
    np.testing.assert_array_equal(
        generator.random(5),
        np.random.default_rng(7).random(100)[40:45],
    )


class Own(Selector):
    def scores(self, belief, X, *, rng=None):
        return np.asarray(X)[:, 0].astype(float)


class OwnByRow(Own):
    by_row = True

    def scores(self, belief, X, *, rng=None):
        return super().scores(belief, X, rng=rng)


class Scaled(Margin):
    def scores(self, belief, X, *, rng=None):
        found = super().scores(belief, X, rng=rng)
        return found / (1.0 + np.abs(found).max())


class OwnBudget(PowerPolicy):
    def amount(self, candidates):
        return float(np.median(candidates.laws.second_moment))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (Own(), "Own does not say"),
        (Scaled(), "Scaled does not say"),
        (Bisection(randomised=True), "randomised"),
        (APM(OwnBudget()), "OwnBudget"),
        (APM(message=Predictions(exact=True)), "tabled"),
        (APM(channel=Cloglog(), message=Predictions()), "Cloglog"),
    ],
    ids=plain,
)
def test_rules_that_need_all_rows_are_refused_by_name_before_any_is_read(small_tiles, rule, said):
    X, _ = data(np.float64)
    passes = []

    def blocks():
        passes.append(1)
        return iter(np.array_split(X, 3))

    learner = Learner(blocks, VariationalLogistic(), rule, seed=0)
    before = len(passes)
    with pytest.raises(InvalidArgument, match=said):
        learner.ask()
    with pytest.raises(InvalidArgument, match=said):
        learner.explain(3)
    assert len(passes) == before
    assert len(Learner(X, VariationalLogistic(), rule, seed=0).ask(2)) == 2  # in memory as ever


def test_a_rule_of_ones_own_may_say_that_it_goes_by_rows(small_tiles):
    X, _ = data(np.float64)
    learner = Learner(lambda: iter([X]), VariationalLogistic(), OwnByRow(), seed=0)
    assert int(learner.ask()) == int(np.argmax(X[:, 0]))


@pytest.mark.parametrize("rule", [APM(), Margin(), Random()], ids=plain)
def test_each_block_is_read_once_by_a_question(small_tiles, rule):
    X, _ = data(np.float32)
    read = []

    def blocks():
        for number, block in enumerate(np.array_split(X, 7)):
            read.append(number)
            yield block

    learner = Learner(blocks, VariationalLogistic(), rule, seed=0)
    read.clear()
    learner.ask()
    assert read == list(range(7))


def test_tiles_in_memory_give_the_scores_of_the_whole(small_tiles):
    X, y = data(np.float64)
    belief = apm.Belief(VariationalLogistic(0.1).fit(X[:20], y[:20]))
    rows = np.arange(5, ROWS)
    for rule in (APM(), InformationGain(), Margin(), MaxVariance()):
        tiled = tiled_rating(rule, belief, X, rows, 0)
        assert tiled is not None
        # products of matrices of other heights round differently
        np.testing.assert_allclose(
            tiled.scores, rule.scores(belief, X)[rows], rtol=1e-9, atol=1e-11
        )
    assert type(belief.channel) is Logistic
