"""The loop: asking, telling, predicting, saving, and everything that can go wrong."""

# Odd types are what these tests are about.
# pyright: reportOperatorIssue=false, reportOptionalOperand=false

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from apm.belief import Belief
from apm.encoders import FeatureMap
from apm.learner import Learner
from apm.posteriors import (
    Sampled,
    VariationalLogistic,
)
from apm.power import PoolMaxPower
from apm.selectors import (
    APM,
    EPIG,
    InformationGain,
    MaxVariance,
    Random,
)
from channelcode.errors import InvalidArgument
from tests.apm.loops import MODELS, data, labels_for, run

# Asking and telling ------------------------------------------------------------------------------


def test_the_loop_is_algorithm_1_written_out():
    X, y = data()
    learner = Learner(X, VariationalLogistic(0.01), APM(), seed=0)
    learner.tell([4, 9], y[[4, 9]])
    radius = np.linalg.norm(X, axis=1).max()
    labelled = [4, 9]
    for _ in range(8):
        posterior = VariationalLogistic(0.01).fit(X[labelled], y[labelled])
        sigma = np.asarray(posterior.covariance)
        power = radius**2 * np.linalg.eigvalsh(sigma)[-1]
        spread = np.sqrt(np.einsum("ni,ij,nj->n", X, sigma, X))
        cost = (X @ posterior.mean) ** 2 + (spread - np.sqrt(2 * power / np.pi)) ** 2
        cost[labelled] = np.inf
        (asked,) = learner.ask()
        assert asked == np.argmin(cost)
        learner.tell(asked, y[asked])
        labelled.append(int(asked))
    assert learner.labelled.tolist() == labelled
    np.testing.assert_allclose(
        learner.belief.posterior.mean,
        VariationalLogistic(0.01).fit(X[labelled], y[labelled]).mean,
        rtol=1e-7,
    )


def test_asking_again_before_telling_gives_the_same_answer():
    X, y = data()
    for selector in (Random(), EPIG(samples=20), APM()):
        learner = Learner(X, VariationalLogistic(), selector, seed=5)
        first = learner.ask(3)
        np.testing.assert_array_equal(learner.ask(3), first)
        learner.tell(first, y[first])
        assert not set(first.tolist()) & set(learner.ask(3).tolist())


def test_seeds():
    X, y = data()

    def picks(seed: Any) -> list[int]:
        return run(Learner(X, VariationalLogistic(), Random(), seed=seed), y, 8)

    assert picks(3) == picks(3)
    assert picks(3) != picks(4)
    assert picks(np.random.default_rng(1)) == picks(np.random.default_rng(1))
    assert picks(None) != picks(None)
    with pytest.raises(InvalidArgument, match="seed"):
        picks(-1)


def test_rows_and_labels_come_in_many_forms():
    X, y = data()
    one, many = (Learner(X, VariationalLogistic(), seed=0) for _ in range(2))
    for index in (3, 7, 11):
        one.tell(index, int(y[index]))
    many.tell(np.array([3, 7, 11]), y[[3, 7, 11]])
    assert one.labelled.tolist() == many.labelled.tolist() == [3, 7, 11]
    np.testing.assert_allclose(one.belief.posterior.mean, many.belief.posterior.mean, rtol=1e-7)
    for index, label in [
        (np.int64(3), np.int64(y[3])),
        ([3], [y[3]]),
        (np.array([3]), np.array([y[3]])),
        ((3,), y[3:4]),
        (np.array(3), np.array(y[3])),
    ]:
        learner = Learner(X, VariationalLogistic(), seed=0)
        learner.tell(index, label)
        assert learner.history[0].label == y[3]
        assert type(learner.history[0].label) is int


def test_batches_are_asked_and_told_together():
    X, y = data()
    learner = Learner(X, VariationalLogistic(), MaxVariance(), seed=0)
    batch = learner.ask(5)
    learner.tell(batch, y[batch])
    assert learner.labelled.tolist() == batch.tolist()
    assert all(record.scores is not None for record in learner.history)
    assert all(record.bound is not None for record in learner.history)


def test_a_batch_told_one_by_one_keeps_its_scores():
    X, y = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    batch = learner.ask(3)
    for index in batch:
        learner.tell(int(index), int(y[index]))
    records = learner.history
    assert all(record.scores is not None for record in records)
    assert records[0].bound is not None
    assert records[1].bound is None  # the belief has moved on since the row was asked


# Edges: no labels, one class, the last example, duplicates, told twice, unasked ------------------


def test_no_labels_yet():
    X, _ = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    assert learner.ask().shape == (1,)
    assert learner.ask(4).shape == (4,)
    np.testing.assert_allclose(learner.predict_proba(), 0.5)
    assert learner.predict(X[:3]).tolist() == [0, 0, 0]
    assert learner.history == ()
    assert len(learner.remaining) == len(X)
    told = learner.explain(int(learner.ask()[0]))
    assert told.rank == 0


@pytest.mark.parametrize("label", [0, 1, -1, 7, "cat", True, 2.5])
def test_one_class_only(label):
    X, _ = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    learner.tell([0, 1, 2], [label] * 3)
    assert label in learner.classes_.tolist()
    assert learner.ask().shape == (1,)
    assert learner.predict_proba(X).shape == (len(X), len(learner.classes_))
    np.testing.assert_allclose(learner.predict_proba(X).sum(axis=1), 1.0)
    assert set(learner.predict(X).tolist()) == {label}  # never a class that nobody has named


def test_labels_one_and_two():
    """While 2 is unseen, the class 0 that the number 1 suggests is not predicted."""
    X, _ = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    learner.tell(0, 1)
    assert set(learner.predict().tolist()) == {1}
    learner.tell(1, 2)
    assert learner.classes_.tolist() == [1, 2]
    assert set(learner.predict().tolist()) <= {1, 2}


@pytest.mark.parametrize(
    "label",
    [[["no"]], ["no", "no"], None, float("nan"), b"no", np.datetime64("2020-01-01"), "a\0", {}],
)
def test_what_is_no_label(label):
    X, _ = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    with pytest.raises(InvalidArgument, match=r"or all text|one entry|one axis"):
        learner.tell(4, label)
    assert len(learner.history) == 0


@pytest.mark.parametrize("names", [(0, 1), (1, 0), (-1, 1), (1, 2), ("no", "yes"), (False, True)])
def test_labels_of_any_two_values_give_the_same_picks(names):
    X, y = data()
    reference = run(Learner(X, VariationalLogistic(), seed=0), y, 8)
    learner = Learner(X, VariationalLogistic(), seed=0)
    named = [names[label] for label in y]
    assert run(learner, named, 8) == reference
    assert set(learner.predict(X).tolist()) <= set(names)
    accuracy = np.mean(np.array(learner.predict(X)) == np.array(named))
    assert accuracy > 0.8


def test_an_unseen_class_is_refused_and_nothing_changes():
    X, y = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    learner.tell([0, 1], ["a", "b"])
    before = learner.belief.posterior.mean
    with pytest.raises(InvalidArgument, match="class"):
        learner.tell([2, 3], ["a", "c"])
    assert learner.labelled.tolist() == [0, 1]
    assert 2 in learner.remaining
    np.testing.assert_array_equal(learner.belief.posterior.mean, before)
    given = Learner(X, VariationalLogistic(classes=["x", "y"]), seed=0)
    with pytest.raises(InvalidArgument, match="class"):
        given.tell(0, "z")
    assert y.shape == (30,)


def test_the_last_example_and_after_it():
    X, y = data(5)
    learner = Learner(X, VariationalLogistic(), seed=0)
    assert sorted(run(learner, y, 5)) == [0, 1, 2, 3, 4]
    last = learner.history[-1].scores
    assert last is not None
    assert last.runner_up is None
    assert last.margin is None
    assert len(learner.remaining) == 0
    with pytest.raises(InvalidArgument, match="every row"):
        learner.ask()
    with pytest.raises(InvalidArgument, match="candidates"):
        learner.explain(0)
    assert learner.predict(X).shape == (5,)


@pytest.mark.parametrize("n", [0, -1, 31, 1.0, "2", True])
def test_wrong_numbers_of_rows_to_ask(n):
    learner = Learner(data()[0], VariationalLogistic(), seed=0)
    with pytest.raises(InvalidArgument, match="n must"):
        learner.ask(n)


def test_duplicates_are_asked_from_the_lowest_index_up():
    X, y = data(8)
    twice = np.concatenate((X, X, X))
    learner = Learner(twice, VariationalLogistic(), seed=0)
    picks = run(learner, np.tile(y, 3), 24)
    assert sorted(picks) == list(range(24))
    assert picks[0] < 8
    assert learner.labelled.tolist() == picks


def test_a_label_told_twice():
    X, y = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    learner.tell([0, 1], y[:2])
    before = learner.belief.posterior.mean
    learner.tell(1, y[1])  # the same again: ignored
    learner.tell([0, 1, 1], y[[0, 1, 1]])
    assert learner.labelled.tolist() == [0, 1]
    np.testing.assert_array_equal(learner.belief.posterior.mean, before)
    with pytest.raises(InvalidArgument, match="agree with the label of row 1"):
        learner.tell(1, 1 - y[1])
    with pytest.raises(InvalidArgument, match="agree"):
        learner.tell([5, 5], [0, 1])
    assert learner.labelled.tolist() == [0, 1]


def test_labels_of_unasked_rows():
    X, y = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    asked = int(learner.ask()[0])
    other = next(row for row in range(len(X)) if row != asked)
    learner.tell(other, y[other])
    record = learner.history[0]
    assert record.scores is None
    assert record.bound is None
    assert record.bits > 0
    assert other not in learner.remaining


@pytest.mark.parametrize("index", [-1, 30, 2.0, "3", None, True, [[1]], [0.5], [0, [1]]])
def test_wrong_rows_are_refused(index):
    learner = Learner(data()[0], VariationalLogistic(), seed=0)
    with pytest.raises(InvalidArgument, match="index must"):
        learner.tell(index, 1)
    assert len(learner.history) == 0


@pytest.mark.parametrize(
    "index, label",
    [
        ([0, 1], [1]),
        ([0], [1, 0]),
        ([0, 1], 1),
        (0, [1, 0]),
        (0, np.nan),
        (0, None),
        (0, 1j),
        (0, np.array([1, 0])),
        ([0, 1], [1, [0]]),
        ([0, 1], ["a", 1]),
        ([0], [[1, 0]]),
        (0, {}),
    ],
)
def test_wrong_labels_are_refused(index, label):
    learner = Learner(data()[0], VariationalLogistic(), seed=0)
    with pytest.raises(InvalidArgument, match=r"label|y must"):
        learner.tell(index, label)
    assert len(learner.history) == 0


# The pool ---------------------------------------------------------------------------------------


def test_bad_pools():
    X, _ = data()
    bad = X.copy()
    bad[7, 2] = np.inf
    with pytest.raises(InvalidArgument, match="row 7, column 2"):
        Learner(bad, VariationalLogistic())
    with pytest.raises(InvalidArgument, match="reshape"):
        Learner(X[:, 0], VariationalLogistic())
    for empty in (np.empty((0, 3)), np.empty((3, 0)), []):
        with pytest.raises(InvalidArgument, match=r"row|column|axes"):
            Learner(empty, VariationalLogistic())
    for wrong in (X.astype(complex), X.astype(object), [["a"]]):
        with pytest.raises(InvalidArgument, match="real numbers"):
            Learner(wrong, VariationalLogistic())
    with pytest.raises(InvalidArgument, match="model"):
        Learner(X, "logistic")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="selector"):
        Learner(X, VariationalLogistic(), "apm")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="prior_precision"):
        Learner(X, VariationalLogistic(0.0))


def test_every_kind_of_matrix_gives_the_same_picks(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = data()
    X = np.round(X * 16) / 16  # exact in float32
    reference = run(Learner(X, VariationalLogistic(0.1), seed=0), y, 6)
    on_disk = np.memmap(tmp_path / "pool", dtype=np.float64, mode="w+", shape=X.shape)
    on_disk[:] = X
    frozen = X.copy()
    frozen.setflags(write=False)
    frame = pandas.DataFrame(X, index=[f"row {i}" for i in range(len(X))])
    integers = (X * 16).astype(int)
    for other in (np.asfortranarray(X), on_disk, frozen, frame, X.tolist(), X[::1], X.astype("f4")):
        assert run(Learner(other, VariationalLogistic(0.1), seed=0), y, 6) == reference
    whole = Learner(integers, VariationalLogistic(0.1 / 256), seed=0)
    assert run(whole, y, 6) == run(Learner(16 * X, VariationalLogistic(0.1 / 256), seed=0), y, 6)


def test_inputs_and_global_random_state_are_left_alone():
    X, y = data()
    before, labels = X.copy(), y.copy()
    state = np.random.get_state()  # noqa: NPY002 (the point is that nobody else uses it)
    for selector in (APM(), Random(), EPIG(samples=20), InformationGain(samples=20)):
        learner = Learner(X, VariationalLogistic(), selector)
        run(learner, y, 3)
        learner.predict(X)
    after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(a, b) for a, b in zip(state, after))
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(y, labels)
    with pytest.raises(ValueError, match="read-only"):
        learner.pool[0, 0] = 1.0


def test_encoders_run_once_over_the_pool():
    X, y = data()
    calls = []

    def features(Z: np.ndarray) -> np.ndarray:
        calls.append(len(Z))
        return np.hstack([Z, Z**2])

    model = Belief(VariationalLogistic(0.1), FeatureMap(features))
    learner = Learner(X, model, seed=0)
    run(learner, y, 5)
    assert calls == [len(X)]
    learner.predict(X[:2])
    assert calls == [len(X), 2]
    plain = Learner(np.hstack([X, X**2]), VariationalLogistic(0.1), seed=0)
    assert run(plain, y, 5) == learner.labelled.tolist()
    np.testing.assert_allclose(learner.predict_proba(X), plain.predict_proba(), rtol=1e-12)


def test_an_encoder_that_gives_nan_is_named():
    X, _ = data()
    model = Belief(VariationalLogistic(), FeatureMap(lambda Z: Z / 0.0 if len(Z) > 5 else Z))
    with np.errstate(divide="ignore"), pytest.raises(InvalidArgument, match="finite"):
        Learner(X, model)


# Models -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model, classes", MODELS)
def test_every_model_learns(model, classes):
    X, _ = data(60)
    y = labels_for(X, classes)
    learner = Learner(X, model, seed=0)
    run(learner, y, 20)
    proba = learner.predict_proba(X)
    assert proba.shape == (60, classes)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)
    assert np.mean(learner.predict(X) == y) > 0.75
    assert len(learner.history) == 20
    assert all(0 <= record.bits <= np.log2(classes) for record in learner.history)
    assert all(record.bound is not None and record.bound >= 0 for record in learner.history)
    assert all(record.seconds > 0 for record in learner.history)


def test_the_reference_posterior_learns():
    pytest.importorskip("polyagamma")
    X, y = data()
    learner = Learner(X, Sampled(samples=100, burn_in=30), seed=0)
    run(learner, y, 10)
    assert np.mean(learner.predict(X) == y) > 0.7  # .83 here, .5 by guessing
    assert learner.history[-1].bits > 0


def test_records_are_frozen_and_complete():
    X, y = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    run(learner, y, 3)
    record = learner.history[1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.label = 0  # type: ignore[misc]
    summary = record.scores
    assert summary is not None
    assert summary.num_candidates == len(X) - 1
    assert summary.lowest <= summary.mean <= summary.chosen
    assert summary.margin is not None
    assert summary.margin >= 0
    scores = learner.selector.scores(Belief(VariationalLogistic()), X)
    assert learner.history[0].scores is not None
    assert learner.history[0].scores.chosen == pytest.approx(scores.max())
    assert learner.history[0].scores.mean == pytest.approx(scores.mean())


def test_explain_agrees_with_the_selector():
    X, y = data()
    learner = Learner(X, VariationalLogistic(), APM(PoolMaxPower()), seed=0)
    run(learner, y, 4)
    (index,) = learner.ask()
    told = learner.explain(int(index))
    assert told.rank == 0
    assert -told.score == pytest.approx(told.exploitation + told.exploration, rel=1e-9)
    assert told.num_candidates == len(learner.remaining)
    other = learner.explain(told.runner_up)  # type: ignore[arg-type]
    assert other.rank == 1
    assert other.runner_up == index
    assert other.margin == pytest.approx(-told.margin)  # type: ignore[operator]
    with pytest.raises(InvalidArgument, match="candidates"):
        learner.explain(int(learner.labelled[0]))


def test_representations_name_what_matters():
    X, y = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    run(learner, y, 2)
    assert repr(learner) == "Learner(30 rows, 2 labelled, APM)"


def test_each_round_has_a_seed_of_its_own():
    """With one seed for all rounds the second of two random rows would always come next."""
    X, y = data()
    same = 0
    for seed in range(12):
        learner = Learner(X, VariationalLogistic(), Random(), seed=seed)
        first, second = learner.ask(2).tolist()
        learner.tell(first, y[first])
        same += int(learner.ask()) == second
    assert same < 6  # by chance one in 29 each


def test_no_two_learners_share_the_stream_of_a_round():
    """Seed s after n labels draws from a stream of its own: not that of seed s + 1 before one."""
    streams = set()
    for seed in range(4):
        learner = Learner(np.eye(4), VariationalLogistic(1.0), seed=seed)
        for row in range(4):
            streams.add(learner._round_seed())
            learner.tell(row, row % 2)
    assert len(streams) == 16
