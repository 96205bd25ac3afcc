"""Simulated runs: the compiled loop and the observed one do what asking and telling does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from apm.belief import Belief
from apm.learner import Learner
from apm.learner_compiled import is_algorithm_1, known_codes
from apm.posteriors import Laplace, VariationalLogistic
from apm.power import FixedPower, PoolMaxPower
from apm.rounds import Round
from apm.selectors import (
    APM,
    BALD,
    APMExplore,
    Margin,
    MaxVariance,
    Predictions,
    Random,
    Selector,
)
from channelcode.capacity.solvers.continuous import Continuous
from channelcode.channels import Logistic, Probit
from channelcode.errors import InvalidArgument
from tests.apm.loops import MODELS, data, labels_for, run


def assert_same_run(first: Learner, second: Learner) -> None:
    assert first.labelled.tolist() == second.labelled.tolist()
    np.testing.assert_array_equal(first.remaining, second.remaining)
    for a, b in zip(first.history, second.history, strict=True):
        assert (a.index, a.label) == (b.index, b.label)
        # the compiled loop adds in another order; posteriors are fixed points to 1e-10
        assert a.bits == pytest.approx(b.bits, abs=1e-8)
        assert (a.bound is None) == (b.bound is None)
        if a.scores is not None and b.scores is not None:
            assert a.scores.runner_up == b.scores.runner_up
            assert a.scores.num_candidates == b.scores.num_candidates
            for name in ("chosen", "mean", "lowest"):
                assert getattr(a.scores, name) == pytest.approx(getattr(b.scores, name), rel=1e-7)
    one, two = first.belief.posterior, second.belief.posterior
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(one.map, two.map, rtol=1e-6, atol=1e-8)
    assert one.classes_.tolist() == two.classes_.tolist()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("names", [(0, 1), ("no", "yes"), (1, 2)])
@pytest.mark.parametrize("features", [1, 3, 12])
def test_a_simulated_run_is_the_loop(features, names, intercept):
    X, y = data(40, features)
    labels = [names[label] for label in y]
    model = VariationalLogistic(0.05, intercept=intercept)
    loop, compiled = (Learner(X, model, seed=0) for _ in range(2))
    run(loop, labels, 25)
    result = compiled.run(labels, 25)
    assert result.indices.tolist() == loop.labelled.tolist()
    assert result.weights is None
    assert_same_run(compiled, loop)
    # and both go on from there
    run(loop, labels, 5)
    compiled.run(labels, 5)
    assert_same_run(compiled, loop)


def test_a_run_to_the_last_example():
    X, y = data(12)
    loop, compiled = (Learner(np.repeat(X, 2, axis=0), VariationalLogistic(), seed=0) for _ in "ab")
    run(loop, np.repeat(y, 2), 24)
    compiled.run(np.repeat(y, 2), 24)
    assert_same_run(compiled, loop)
    last = compiled.history[-1].scores
    assert last is not None
    assert last.runner_up is None
    assert last.margin is None


@pytest.mark.parametrize("selector", [APM(), APM(PoolMaxPower()), BALD()])
def test_a_run_keeps_the_most_probable_weights(selector):
    X, y = data()
    learner = Learner(X, VariationalLogistic(0.05), selector, seed=0)
    learner.tell([0, 1], y[:2])
    result = learner.run(y, 6, retrain=True)
    assert result.weights is not None
    assert result.weights.shape == (6, X.shape[1])
    for count in range(6):
        rows = learner.labelled[: count + 3]
        exact = VariationalLogistic(0.05).fit(X[rows], y[rows]).map
        np.testing.assert_allclose(result.weights[count], exact, rtol=1e-6, atol=1e-8)


def test_what_is_not_algorithm_1_runs_step_by_step():
    X, y = data()
    for selector in (Random(), APM(FixedPower(4.0)), APM(channel=Probit()), Margin()):
        loop, simulated = (
            Learner(X, VariationalLogistic(0.05), selector, seed=4) for _ in range(2)
        )
        run(loop, y, 6)
        simulated.run(y, 6)
        assert_same_run(simulated, loop)


def test_wrong_runs_are_refused():
    X, y = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    with pytest.raises(InvalidArgument, match="one label for each of 30 rows"):
        learner.run(y[:5], 3)
    for n in (0, 31, 1.5):
        with pytest.raises(InvalidArgument, match="n must"):
            learner.run(y, n)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="classes"):
        learner.run(np.arange(30), 10)


def prepared(selector: Selector, model: Any = None, dtype: Any = np.float64) -> tuple[Any, ...]:
    """The arguments of `is_algorithm_1` for a small pool."""
    X = data()[0].astype(dtype)
    belief = Belief(VariationalLogistic() if model is None else model)
    return belief, selector.prepared(belief, X), X


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_many_features_and_sparse_rows_take_the_plain_loop(form):
    """They live in the span of the labelled rows, of which the compiled loop knows nothing."""
    rng = np.random.default_rng(0)
    for width in (3, 250):
        X = rng.normal(size=(40, width))
        y = (X[:, 0] > 0).astype(int)
        ran, told = (
            Learner(form(X), VariationalLogistic(1.0, classes=[0, 1]), APM(), seed=0)
            for _ in range(2)
        )
        ran.run(y, 3)
        for _ in range(3):
            row = int(told.ask())
            told.tell(row, y[row])
        assert ran.labelled.tolist() == told.labelled.tolist()
        ran.tell(int(ran.remaining[0]), 1)
        told.tell(int(told.remaining[0]), 1)
        np.testing.assert_allclose(ran.predict_proba(), told.predict_proba(), atol=1e-9)


def test_algorithm_1_is_recognised_and_nothing_else():
    assert is_algorithm_1(*prepared(APM()))
    assert is_algorithm_1(*prepared(APM(), VariationalLogistic(intercept=True)))
    others: list[Selector] = [
        APM(PoolMaxPower()), APM(FixedPower(2.0)), APM(solver=Continuous()), APM(channel=Probit()),
        APM(message=Predictions()), APMExplore(), MaxVariance(),
    ]  # fmt: skip
    for other in others:
        assert not is_algorithm_1(*prepared(other)), other
    assert not is_algorithm_1(*prepared(APM(), Laplace(Logistic())))
    assert not is_algorithm_1(*prepared(APM(), Laplace(Probit())))
    assert not is_algorithm_1(*prepared(APM(), dtype=np.float32))
    seen_through = Belief(VariationalLogistic(), channel=Probit())
    assert not is_algorithm_1(seen_through, *prepared(APM())[1:])


def test_codes_are_known_once_every_class_is():
    posterior = VariationalLogistic().update([1.0], "b")
    assert known_codes(VariationalLogistic(), [0, 1]) is None  # nothing told: 0 and 1 are a guess
    assert known_codes(posterior, ["a", "b"]) is None  # "a" not seen
    posterior = posterior.update([-1.0], "a")
    codes = known_codes(posterior, ["b", "a", "b"])
    assert codes is not None
    assert codes.tolist() == [1, 0, 1]
    assert known_codes(posterior, ["b", "c"]) is None
    assert known_codes(posterior, ["b", []]) is None


def test_a_run_starts_from_weights_and_labels_told_before():
    X, y = data(40)
    loop, compiled = (Learner(X, VariationalLogistic(0.05), seed=0) for _ in range(2))
    for learner in (loop, compiled):
        learner.tell([5, 11, 2], y[[5, 11, 2]])
    run(loop, y, 10)
    compiled.run(y, 10)
    assert_same_run(compiled, loop)
    np.testing.assert_allclose(compiled.predict_proba(), loop.predict_proba(), atol=1e-8)


def test_a_late_class_leaves_no_gap_between_the_slow_and_the_compiled_rounds():
    """All labels but one are equal: slow until the other class is met, then compiled."""
    X, _ = data(25)
    labels = ["only"] * 25
    first = Learner(X, VariationalLogistic(0.05), seed=0)
    order = run(first, labels, 8)
    labels[order[-1]] = "other"
    loop, simulated = (Learner(X, VariationalLogistic(0.05), seed=0) for _ in range(2))
    run(loop, labels, 20)
    simulated.run(labels, 20)
    assert_same_run(simulated, loop)


def test_labels_of_numpy_and_of_pandas_are_recorded_as_python_values():
    pandas = pytest.importorskip("pandas")
    X, y = data()
    for labels in (y, pandas.Series(y, index=range(100, 130)), y.tolist()):
        learner = Learner(X, VariationalLogistic(), seed=0)
        learner.run(labels, 5)
        assert [record.label for record in learner.history] == y[learner.labelled].tolist()
        assert {type(record.label) for record in learner.history} == {int}


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_an_observer_sees_every_round_and_changes_nothing(model):
    X = data()[0]
    y = labels_for(X, model[1])
    watched, loop = (Learner(X, model[0], seed=5) for _ in range(2))
    rounds: list[Round] = []
    watched.run(y, 6, observe=rounds.append)
    run(loop, y, 6)
    assert watched.labelled.tolist() == loop.labelled.tolist()
    assert [seen.number for seen in rounds] == list(range(6))
    assert [seen.index for seen in rounds] == watched.labelled.tolist()
    assert [seen.label for seen in rounds] == y[watched.labelled].tolist()
    for place, seen in enumerate(rounds):
        assert seen.before.num_observations == place
        assert seen.after.num_observations == place + 1
        open_rows = np.setdiff1d(np.arange(len(X)), watched.labelled[:place])
        np.testing.assert_array_equal(seen.choice.candidates, open_rows)
        assert seen.choice.indices.tolist() == [seen.index]
    assert rounds[-1].after is watched.belief.posterior


def test_an_observed_run_is_the_compiled_one():
    X, y = data(40)
    watched, compiled = (Learner(X, VariationalLogistic(0.05), seed=0) for _ in range(2))
    weights = []
    watched.run(y, 20, observe=lambda seen: weights.append(seen.after.map))
    result = compiled.run(y, 20, retrain=True)
    assert_same_run(watched, compiled)
    # both are Newton's to 1e-8 of the largest weight
    assert result.weights is not None
    np.testing.assert_allclose(np.array(weights), result.weights, rtol=1e-6, atol=1e-8)


def test_the_clock_of_a_run_times_asking_and_telling_and_not_the_observer():
    X, y = data()
    ticks = iter(range(100))
    rounds: list[Round] = []

    def observe(seen: Round) -> None:
        rounds.append(seen)
        next(ticks)  # time that passes while the observer measures

    Learner(X, VariationalLogistic(), Random(), seed=0).run(
        y, 4, observe=observe, clock=lambda: float(next(ticks))
    )
    assert [(seen.select_seconds, seen.update_seconds) for seen in rounds] == [(1.0, 1.0)] * 4
    assert next(ticks) == 16  # three readings and one observation for each round


def test_an_error_of_the_observer_leaves_a_whole_learner():
    X, y = data()
    learner, loop = (Learner(X, VariationalLogistic(), Margin(), seed=0) for _ in range(2))

    def stop(seen: Round) -> None:
        if seen.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learner.run(y, 9, observe=stop)
    assert len(learner.history) == 3
    learner.run(y, 6)
    run(loop, y, 9)
    assert_same_run(learner, loop)


def test_a_recorded_run_is_in_the_file_label_by_label(tmp_path):
    X, y = data()
    learner = Learner(X, VariationalLogistic(0.5), APM(), seed=3)
    learner.record_to(tmp_path / "labels.jsonl")
    learner.run(y, 8)
    learner.stop_recording()
    again = Learner(X, VariationalLogistic(0.5), APM(), seed=3)
    assert again.record_to(tmp_path / "labels.jsonl") == 8  # one call for each label
    again.stop_recording()
    assert again.labelled.tolist() == learner.labelled.tolist()
    learner.undo()
    again.undo()
    assert len(again.labelled) == len(learner.labelled) == 7
