"""Answers and second thoughts: the posterior follows from the labels in force."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm.learner import Learner
from apm.posteriors import Bohning, VariationalLogistic
from apm.selectors import APM, MaxVariance
from apm.storage.lines import JournalError
from channelcode.errors import InvalidArgument
from tests.apm.loops import MODELS, data, labels_for

ROWS = 8
ATOL = 1e-7  # of a posterior's numbers: fixed points are solved to 1e-8 and better


def fresh() -> Learner:
    return Learner(data(ROWS)[0], VariationalLogistic(0.5, classes=["a", "b"]), APM(), seed=4)


def state(learner: Learner) -> dict[str, Any]:
    answers = learner._state.journal.answers
    return {
        "answers": answers.answers,
        "labels": answers.labels,
        "skipped": learner.skipped.tolist(),
        "abstained": learner.abstained.tolist(),
        "remaining": learner.remaining.tolist(),
    }


def assert_same(one: Learner, other: Learner) -> None:
    assert state(one) == state(other)
    mine, theirs = one.belief.posterior, other.belief.posterior
    np.testing.assert_allclose(mine.mean, theirs.mean, atol=ATOL)
    np.testing.assert_allclose(mine.summed_covariance, theirs.summed_covariance, atol=ATOL)


rows = st.integers(0, ROWS - 1)
names = st.sampled_from(["a", "b"])
calls = st.one_of(
    st.tuples(st.just("tell"), rows, names),
    st.tuples(st.just("repeat"), rows, names),
    st.tuples(st.just("correct"), rows, names),
    st.tuples(st.just("skip"), rows),
    st.tuples(st.just("unskip"), rows),
    st.tuples(st.just("abstain"), rows),
    st.tuples(st.just("undo")),
)


def act(learner: Learner, call: tuple[Any, ...]) -> bool:
    """Do it if it can be done."""
    kind, *arguments = call
    try:
        if kind == "repeat":
            learner.tell(*arguments, repeat=True, sample_weight=0.5)
        else:
            getattr(learner, kind)(*arguments)
    except InvalidArgument:
        return False
    return True


@settings(max_examples=40)
@given(st.lists(calls, max_size=9))
def test_the_posterior_is_that_of_the_labels_in_force(sequence):
    learner = fresh()
    for call in sequence:
        act(learner, call)
    again = fresh()
    for answer in learner._state.journal.answers.answers:
        again.tell(answer.row, answer.label, sample_weight=answer.weight, repeat=True)
    mine, theirs = learner.belief.posterior, again.belief.posterior
    assert mine.num_observations == theirs.num_observations
    np.testing.assert_allclose(mine.mean, theirs.mean, atol=ATOL)
    np.testing.assert_allclose(mine.summed_covariance, theirs.summed_covariance, atol=ATOL)


@settings(max_examples=40)
@given(st.lists(calls, max_size=6), calls)
def test_undo_after_a_call_is_as_if_it_had_not_been_made(sequence, call):
    learner, untouched = fresh(), fresh()
    for each in sequence:
        act(learner, each)
        act(untouched, each)
    calls_before = len(learner.history)
    if call[0] == "undo" or not act(learner, call) or len(learner.history) == calls_before:
        return
    learner.undo()
    assert state(learner) == state(untouched)
    mine, theirs = learner.belief.posterior, untouched.belief.posterior
    np.testing.assert_array_equal(mine.mean, theirs.mean)  # the same posterior, to the last bit
    if len(learner.remaining):
        assert learner.ask().tolist() == untouched.ask().tolist()


@settings(max_examples=25)
@given(sequence=st.lists(calls, max_size=8))
def test_replay_from_an_archive_and_from_a_journal_equals_the_learner(sequence, tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay")
    learner = fresh()
    learner.record_to(folder / "labels.jsonl")
    for call in sequence:
        act(learner, call)
    learner.stop_recording()
    loaded = Learner.load(learner.save(folder / "learner.npz"))
    assert_same(loaded, learner)
    assert loaded.history == learner.history
    replayed = fresh()
    replayed.record_to(folder / "labels.jsonl")
    replayed.stop_recording()
    assert_same(replayed, learner)
    if len(learner.remaining):
        assert loaded.ask().tolist() == learner.ask().tolist()
        assert replayed.ask().tolist() == learner.ask().tolist()
    for call in (("undo",), ("tell", 0, "a"), ("undo",), ("undo",)):
        done = {act(each, call) for each in (learner, loaded, replayed)}
        assert len(done) == 1
        assert_same(loaded, learner)
        assert_same(replayed, learner)


@pytest.mark.parametrize("model, classes", MODELS)
def test_correct_is_as_if_it_had_been_told_so(model, classes):
    X, _ = data()
    labels = labels_for(X, classes)
    wrong, right = (Learner(X, model, MaxVariance(), seed=1) for _ in range(2))
    told = labels[:6].copy()
    told[2] = (told[2] + 1) % classes
    wrong.tell(range(6), told)
    right.tell(range(6), labels[:6])
    wrong.correct(2, labels[2])
    assert wrong.labelled.tolist() == right.labelled.tolist()
    np.testing.assert_allclose(wrong.predict_proba(), right.predict_proba(), atol=1e-6)
    assert wrong.ask().tolist() == right.ask().tolist()


def test_repeated_answers_weigh_as_much_as_a_weight():
    X, _ = data(ROWS)
    twice, heavy = fresh(), fresh()
    twice.tell([0, 1], ["a", "b"])
    twice.tell(0, "a", repeat=True)
    heavy.tell([0, 1], ["a", "b"], sample_weight=[2.0, 1.0])
    np.testing.assert_allclose(twice.predict_proba(X), heavy.predict_proba(X), atol=ATOL)
    with pytest.raises(InvalidArgument, match="sample_weight must be given with the first label"):
        heavy.tell(0, "a", sample_weight=3.0)
    with pytest.raises(InvalidArgument, match="sample_weight must be finite"):
        heavy.tell(3, "a", sample_weight=-1.0)


def test_skipped_and_abstained_rows_are_not_asked():
    learner = fresh()
    first = int(learner.ask())
    learner.skip(first)
    second = int(learner.ask())
    learner.abstain(second)
    assert first != second
    asked = [int(row) for row in learner.ask(ROWS - 2)]
    assert sorted([*asked, first, second]) == list(range(ROWS))
    with pytest.raises(InvalidArgument, match=r"at most 6|candidates"):
        learner.ask(ROWS - 1)
    learner.unskip(first)
    assert int(learner.ask()) == first
    learner.tell(second, "a")  # changed my mind
    assert learner.abstained.tolist() == []
    for wrong in (-1, ROWS, "x", 1.5):
        with pytest.raises(InvalidArgument, match="index must"):
            learner.skip(wrong)
    with pytest.raises(InvalidArgument, match="labelled already"):
        learner.skip(second)
    with pytest.raises(InvalidArgument, match="a skipped row"):
        learner.unskip(first)
    learner.skip(learner.remaining)
    with pytest.raises(InvalidArgument, match="1 are labelled, 7 skipped"):
        learner.ask()
    learner.unskip()
    assert len(learner.remaining) == 7


def test_a_single_row_with_its_label_in_a_list():
    learner = fresh()
    learner.tell(4, ["a"])
    learner.tell([5], "b")
    assert [record.label for record in learner.history] == ["a", "b"]


@pytest.mark.parametrize("label", [None, float("nan"), {}, [["a"]], 1j, object()])
def test_what_is_no_label_is_refused(label):
    pandas = pytest.importorskip("pandas")
    learner = Learner(data(ROWS)[0], VariationalLogistic(), seed=0)
    for value in (label, pandas.NA, pandas.NaT):
        with pytest.raises(InvalidArgument, match="label"):
            learner.tell(0, value)
        with pytest.raises(InvalidArgument, match="label"):
            learner.tell([0], [value])
    assert len(learner.history) == 0


def test_extended_pools():
    X, y = data(20)
    whole = Learner(X, VariationalLogistic(0.5), APM(), seed=2)
    grown = Learner(X[:12], VariationalLogistic(0.5), APM(), seed=2)
    for learner in (whole, grown):
        learner.tell([3, 4], y[[3, 4]])
    grown.extend(X[12:15])
    grown.extend(X[15:])
    grown.extend(X[:0])
    assert grown.remaining.tolist() == whole.remaining.tolist()
    assert grown.ask(4).tolist() == whole.ask(4).tolist()
    assert [record.event for record in grown.history] == ["tell", "tell", "extend", "extend"]
    grown.tell(19, y[19])
    assert grown.undo().tolist() == [19]
    assert grown.undo().tolist() == [3, 4]  # the rows that were added stay
    assert len(grown.pool) == 20
    with pytest.raises(InvalidArgument, match="more_rows must have 3 columns"):
        grown.extend(X[:, :2])
    with pytest.raises(InvalidArgument, match="more_rows must be finite"):
        grown.extend(np.full((1, 3), np.nan))


def test_an_extended_pool_is_saved_and_recorded(tmp_path):
    X, y = data(20)
    learner = Learner(X[:12], VariationalLogistic(0.5), APM(), seed=2)
    learner.record_to(tmp_path / "labels.jsonl")
    learner.tell(3, y[3])
    learner.extend(X[12:])
    learner.tell(15, y[15])
    learner.stop_recording()
    loaded = Learner.load(learner.save(tmp_path / "learner.npz"))
    assert_same(loaded, learner)
    assert loaded.record_to(tmp_path / "labels.jsonl") == 3
    loaded.stop_recording()
    again = Learner(X[:12], VariationalLogistic(0.5), APM(), seed=2)
    with pytest.raises(InvalidArgument, match="more_rows must hold the 8 rows"):
        again.record_to(tmp_path / "labels.jsonl")
    with pytest.raises(JournalError, match="more_rows differ from those"):
        again.record_to(tmp_path / "labels.jsonl", more_rows=X[12:] + 1.0)
    again.record_to(tmp_path / "labels.jsonl", more_rows=X[12:])
    again.stop_recording()
    assert_same(again, learner)
    other = Learner(X[:12], VariationalLogistic(0.5), APM(), seed=2)
    other.tell(3, y[3])
    other.extend(X[12:] + 1.0)
    with pytest.raises(JournalError, match="differ from call 2 on"):
        other.record_to(tmp_path / "labels.jsonl")


def test_nothing_to_take_back():
    with pytest.raises(InvalidArgument, match="must have a call to take back"):
        fresh().undo()


def test_a_posterior_that_knew_something_before_keeps_it():
    X, y = data()
    model = VariationalLogistic(0.5).fit(X[:4], y[:4])
    learner = Learner(X[4:], model, APM(), seed=0)
    learner.tell([0, 1], y[4:6])
    learner.undo()
    learner.tell(0, y[4])
    learner.correct(0, 1 - y[4])
    learner.undo()
    learner.undo()
    np.testing.assert_allclose(learner.belief.posterior.mean, model.mean, atol=ATOL)
    assert learner.belief.posterior.num_observations == 4


@pytest.mark.parametrize("model", [VariationalLogistic(0.5), Bohning(3, 0.5)])
def test_copies_go_on_by_themselves(model):
    X, _ = data()
    labels = labels_for(X, 3) % model.num_labels
    learner = Learner(X, model, MaxVariance(), seed=3)
    learner.tell(range(4), labels[:4])
    for copied in (copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert copied.ask(3).tolist() == learner.ask(3).tolist()
        copied.tell(5, labels[5])
        assert 5 not in learner.labelled


def test_both_labels_of_a_row_count_among_the_classes() -> None:
    """A row with two answers and a third class: the model must take in all three."""
    learner = Learner([[1.0], [-1.0], [2.0]], seed=0)
    learner.tell(0, "c")
    learner.tell(0, "b", repeat=True)
    learner.tell(1, "a")
    assert learner.classes_.tolist() == ["a", "b", "c"]


def test_undo_of_a_third_class_gives_the_rule_of_two_back() -> None:
    """A third class changes model and rule; taking it back, both are what they were."""
    X, y = data()
    learner, untouched = Learner(X, seed=0), Learner(X, seed=0)
    for each in (learner, untouched):
        each.tell(range(6), y[:6])
    learner.tell(6, 2)
    learner.undo()
    assert repr(learner.selector) == repr(untouched.selector)
    assert learner.ask(3).tolist() == untouched.ask(3).tolist()
