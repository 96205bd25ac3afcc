"""The contract that every selector passes; a new one joins by being exported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import apm.selectors
from apm.belief import Belief
from apm.posteriors import Bohning, Laplace, VariationalLogistic
from apm.power import (
    FixedPower,
    PoolMaxPower,
    SignalPower,
    SpectralWithMean,
    VariancePower,
)
from apm.selectors import (
    APM,
    BALD,
    EPIG,
    APMExploit,
    APMExplore,
    Bisection,
    Entropy,
    GainPerCost,
    InformationGain,
    LeastConfidence,
    Margin,
    MaxVariance,
    PoolSelector,
    Random,
    Selector,
    Uncertainty,
)
from channelcode.channels import Probit, Softmax
from channelcode.errors import InvalidArgument

MEMBERS: list[Selector] = [
    APM(),
    APM(PoolMaxPower()),
    APM(SpectralWithMean()),
    APM(FixedPower(9.0)),
    APM(VariancePower()),
    APM(SignalPower(), charged=False),
    APMExploit(),
    APMExploit(averaged=True),
    APMExplore(),
    Uncertainty(),
    MaxVariance(),
    Random(),
    InformationGain(),
    InformationGain(samples=100),
    BALD(),
    Bisection(),
    Bisection(randomised=True),
    Margin(),
    Margin(bayesian=True),
    Margin(bayesian=True, samples=30),
    GainPerCost(),
    LeastConfidence(),
    Entropy(),
    EPIG(samples=50, num_targets=20),
]
# Draws of theta with one seed are the same whatever the pool; draws of rows are not.
DETERMINISTIC = [member for member in MEMBERS if not isinstance(member, Random | EPIG)]
IDS = [repr(member) for member in MEMBERS]


def two_classes(rows: int = 40, features: int = 3) -> tuple[Belief, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(rows, features))
    labels = (X[:6, 0] + 0.3 * rng.normal(size=6) > 0).astype(int)
    return Belief(VariationalLogistic(0.1).fit(X[:6], labels)), X


def three_classes() -> tuple[Belief, np.ndarray]:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(24, 2))
    return Belief(Laplace(Softmax(3), 0.5).fit(X[:9], np.arange(9) % 3)), X


def beliefs() -> list[tuple[Belief, np.ndarray]]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(24, 2))
    return [
        two_classes(24, 2),
        three_classes(),
        (Belief(Laplace(Probit(), 0.5).fit(X[:4], ["a", "b", "a", "b"])), X),
        (Belief(Bohning(3, 0.5).fit(X[:6], np.arange(6) % 3)), X),
        (Belief(VariationalLogistic()), X),  # no labels yet
        (Belief(VariationalLogistic(intercept=True).fit(X[:4], [0, 1, 0, 1])), X),
    ]


def test_every_exported_selector_is_a_member():
    exported = {
        value
        for name in vars(apm.selectors)["__all__"]
        if isinstance(value := getattr(apm.selectors, name), type) and issubclass(value, Selector)
    }
    assert exported - {Selector, PoolSelector} == {type(member) for member in MEMBERS}


@pytest.mark.parametrize("selector", MEMBERS, ids=IDS)
@pytest.mark.parametrize("place", range(6))
def test_scores_are_finite_and_one_for_each_row(selector, place):
    belief, X = beliefs()[place]
    scores = selector.scores(belief, X, rng=3)
    assert scores.shape == (len(X),)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(scores, selector.scores(belief, X, rng=3))


@pytest.mark.parametrize("selector", MEMBERS, ids=IDS)
def test_the_highest_score_is_selected_among_the_candidates(selector):
    belief, X = two_classes()
    fixed = selector.prepared(belief, X)
    scores = fixed.scores(belief, X, rng=3)
    (first,) = fixed.select(belief, X, rng=3)
    assert scores[first] >= scores.max() - 1e-9 * np.abs(scores).max()
    rest = fixed.select(belief, X, exclude=[first], rng=3)
    assert rest[0] != first
    mask = np.zeros(len(X), dtype=bool)
    mask[first] = True
    np.testing.assert_array_equal(rest, fixed.select(belief, X, exclude=mask, rng=3))


@pytest.mark.parametrize("selector", MEMBERS, ids=IDS)
def test_a_batch_has_different_rows_and_starts_with_the_single_choice(selector):
    belief, X = two_classes()
    batch = selector.select(belief, X, n=7, exclude=[1, 2], rng=3)
    assert batch.shape == (7,)
    assert len(set(batch.tolist())) == 7
    assert not {1, 2} & set(batch.tolist())
    assert batch[0] == selector.select(belief, X, exclude=[1, 2], rng=3)[0]
    everything = selector.select(belief, X[:5], n=5, rng=3)
    assert sorted(everything.tolist()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("selector", DETERMINISTIC, ids=repr)
@pytest.mark.parametrize("place", range(6))
def test_permuting_the_pool_permutes_the_scores(selector, place, rng):
    belief, X = beliefs()[place]
    order = rng.permutation(len(X))
    scores = selector.scores(belief, X, rng=3)
    again = selector.scores(belief, X[order], rng=3)
    # rounding of a matrix product depends on the position of a row
    np.testing.assert_allclose(again, scores[order], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("selector", DETERMINISTIC, ids=repr)
def test_duplicate_rows_tie_and_the_lowest_index_wins(selector):
    belief, X = two_classes(37)
    copies = np.concatenate((X, X, X, X[::-1]))
    chosen = int(selector.select(belief, copies, rng=3)[0])
    assert chosen < len(X)
    np.testing.assert_array_equal(copies[chosen], X[int(selector.select(belief, X, rng=3)[0])])


@pytest.mark.parametrize("selector", MEMBERS, ids=IDS)
def test_inputs_and_the_global_random_state_are_left_alone(selector):
    belief, X = two_classes()
    before = X.copy()
    state = np.random.get_state()  # noqa: NPY002 (the point is that nobody else uses it)
    selector.select(belief, X, n=3)
    selector.explain(belief, X, 0)
    np.testing.assert_array_equal(X, before)
    after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(a, b) for a, b in zip(state, after))


@pytest.mark.parametrize("selector", MEMBERS, ids=IDS)
def test_other_memory_layouts_give_the_same_choice(selector, tmp_path):
    belief, X = two_classes()
    expected = selector.select(belief, X, n=3, rng=1)
    frozen = X.copy()
    frozen.setflags(write=False)
    on_disk = np.memmap(tmp_path / "pool", dtype=np.float64, mode="w+", shape=X.shape)
    on_disk[:] = X
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    for other in (np.asfortranarray(X), frozen, on_disk, wide[:, ::2], X.tolist()):
        np.testing.assert_array_equal(selector.select(belief, other, n=3, rng=1), expected)


@pytest.mark.parametrize("selector", MEMBERS, ids=IDS)
def test_bad_pools_are_refused_with_their_place(selector):
    belief, X = two_classes()
    bad = X.copy()
    bad[4, 1] = np.nan
    with pytest.raises(InvalidArgument, match="row 4, column 1"):
        selector.select(belief, bad)
    with pytest.raises(InvalidArgument, match="row 4, column 1"):
        selector.scores(belief, bad)
    with pytest.raises(InvalidArgument, match="reshape"):
        selector.select(belief, X[0])
    for wrong in (X.astype(complex), X.astype(object)):
        with pytest.raises(InvalidArgument, match="real numbers"):
            selector.select(belief, wrong)
    with pytest.raises(InvalidArgument, match="at least one row"):
        selector.select(belief, X[:0])
    with pytest.raises(InvalidArgument, match=r"Belief\(posterior\)"):
        selector.select(belief.posterior, X)


@pytest.mark.parametrize("selector", MEMBERS, ids=IDS)
def test_asking_for_too_many_or_too_few_is_refused(selector):
    belief, X = two_classes()
    for n in (0, -1, len(X) + 1, 1.5, True):
        with pytest.raises(InvalidArgument, match="n must"):
            selector.select(belief, X, n=n)
    with pytest.raises(InvalidArgument, match="at most 0"):
        selector.select(belief, X, exclude=np.arange(len(X)))
    with pytest.raises(InvalidArgument, match="exclude"):
        selector.select(belief, X, exclude=[len(X)])


@pytest.mark.parametrize("selector", MEMBERS, ids=IDS)
@pytest.mark.parametrize("place", range(4))
def test_explanation_of_the_choice(selector, place):
    belief, X = beliefs()[place]
    index = int(selector.select(belief, X, rng=2)[0])
    told = selector.explain(belief, X, index, rng=2)
    assert told.index == index
    assert told.rank == 0
    assert told.num_candidates == len(X)
    assert told.runner_up != index
    assert told.margin is not None
    assert told.margin >= 0
    assert sum(told.terms.values()) == pytest.approx(told.score, rel=1e-6)
    assert told.information_gain_bits is not None
    assert 0 <= told.information_gain_bits <= np.log2(belief.channel.num_outputs)
    assert f"candidate {index}" in str(told)
    if told.bound_bits is not None:
        assert told.bound_bits >= 0
        assert told.lost_bits is None or told.lost_bits <= told.bound_bits


def test_a_selector_of_ones_own_needs_only_scores():
    class First(Selector):
        def scores(self, belief: Belief, X: Any, *, rng: Any = None) -> np.ndarray:
            return -np.arange(len(X), dtype=float)

    belief, X = two_classes()
    np.testing.assert_array_equal(First().select(belief, X, n=3, exclude=[0]), [1, 2, 3])


@pytest.mark.parametrize("returned", [np.zeros(3), np.full(40, np.nan), np.zeros((40, 1))])
def test_scores_of_the_wrong_shape_or_nan_are_refused(returned):
    class Broken(Selector):
        def scores(self, belief: Belief, X: Any, *, rng: Any = None) -> np.ndarray:
            return returned

    belief, X = two_classes()
    with pytest.raises(InvalidArgument, match=r"Broken\.scores"):
        Broken().select(belief, X)


def test_infinite_scores_order_as_they_should():
    class Edge(Selector):
        def scores(self, belief: Belief, X: Any, *, rng: Any = None) -> np.ndarray:
            scores = np.full(len(X), -np.inf)
            scores[[5, 7]] = [1.0, np.inf]
            return scores

    belief, X = two_classes()
    np.testing.assert_array_equal(Edge().select(belief, X, n=3), [7, 5, 0])


@pytest.mark.parametrize("kind", [InformationGain, BALD, EPIG])
def test_a_wrong_number_of_samples_is_refused(kind):
    with pytest.raises(InvalidArgument, match="samples"):
        kind(samples=1)
