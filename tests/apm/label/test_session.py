"""The next pick is a function of the pool and the answers, in whatever order they stand."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from apm.label import Answer, Session
from apm.label import session as session_module
from channelcode.errors import InvalidArgument

X = np.random.default_rng(0).normal(size=(40, 3))
NAMES = st.sampled_from(["a", "b", "c"])
ANSWERS = st.dictionaries(
    st.integers(0, 39),
    st.one_of(
        NAMES.map(lambda name: Answer("label", name)),
        st.sampled_from([Answer("skip"), Answer("unsure")]),
    ),
    max_size=12,
)


@given(ANSWERS, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_order_of_answers_does_not_matter(answers, random):
    shuffled = list(answers.items())
    random.shuffle(shuffled)
    used = Session(X)
    used.ask({0: Answer("label", "z")}, 3)  # what was asked before does not matter either
    for n in (1, 3):
        first = Session(X).ask(answers, n)
        assert used.ask(dict(shuffled), n) == first
        assert not set(first) & set(answers)


def test_the_picks_are_those_of_a_learner():
    answers = {row: Answer("label", "ab"[row % 2]) for row in (5, 1, 8)}
    session = Session(X, seed=3)
    learner = session.learner(answers)
    assert session.ask(answers, 4) == learner.ask(4).tolist()
    assert sorted(learner.labelled.tolist()) == [1, 5, 8]


def test_classes_grow_with_the_labels():
    session = Session(X)
    assert session.known_classes({}) == ()
    two = {0: Answer("label", "b"), 1: Answer("label", "a")}
    assert session.learner(two).classes_.tolist() == ["a", "b"]
    three = {**two, 2: Answer("label", "c")}
    assert session.learner(three).predict_proba().shape == (40, 3)
    assert session.ask(three) == Session(X).ask(three)
    named = Session(X, classes=["yes", "no"])
    assert named.known_classes({0: Answer("label", "perhaps")}) == ("yes", "no", "perhaps")
    with pytest.raises(InvalidArgument, match="classes"):
        Session(X, classes=["a\nb"])


def test_nothing_left():
    answers = {row: Answer("skip") for row in range(39)}
    session = Session(X)
    assert session.ask(answers, 5) == [39]
    assert session.ask({**answers, 39: Answer("unsure")}) == []


def test_sparse_rows_are_asked_like_dense_ones():
    answers = {row: Answer("label", "ab"[row % 2]) for row in range(6)}
    dense = np.where(np.abs(X) > 0.5, X, 0.0)
    assert Session(sparse.csr_array(dense)).ask(answers, 3) == Session(dense).ask(answers, 3)


def test_large_pools_look_among_the_best(monkeypatch):
    answers = {row: Answer("label", "ab"[row % 2]) for row in range(6)}
    whole = Session(X).ask(answers, 4)
    monkeypatch.setattr(session_module, "SHORTLIST", 30)
    assert Session(X).ask(answers, 4)[0] == whole[0]
    monkeypatch.setattr(session_module, "SHORTLIST", 2)
    few = Session(X).ask(answers, 4)
    assert len(set(few)) == 4
    assert few[0] == whole[0]


def test_a_learner_of_a_session_is_its_own():
    session = Session(X)
    answers = {0: Answer("label", "a"), 1: Answer("label", "b")}
    before = copy.deepcopy(session.ask(answers))
    session.learner(answers).tell(5, "b")
    assert session.ask(answers) == before
