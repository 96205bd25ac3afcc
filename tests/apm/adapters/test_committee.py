"""Classifiers of scikit-learn inside `Learner`: their probabilities are what the rules see."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from apm import (
    APM,
    EPIG,
    AllClasses,
    Belief,
    InformationGain,
    Learner,
    Margin,
    PoolMaxPower,
    Uncertainty,
)
from apm.adapters import Committee
from apm.testing import check_posterior
from channelcode.errors import InvalidArgument

NAMES = {2: ["no", "yes"], 3: ["low", "medium", "high"]}


def data(classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, np.array(NAMES[classes])[np.argmax(X[:, :classes], axis=1)]


def mixed() -> list[Any]:
    return [
        make_pipeline(StandardScaler(), LogisticRegression()),
        GaussianNB(),
        DecisionTreeClassifier(),
    ]


@pytest.mark.parametrize("classes", [2, 3])
def test_the_outputs_of_the_members_are_their_own_probabilities(classes: int) -> None:
    X, y = data(classes)
    committee = Committee(mixed()[:2], NAMES[classes]).fit(X[:20], y[:20])
    codes = [NAMES[classes].index(label) for label in y[:20]]
    again: Any = clone
    expected = [again(m).fit(X[:20], codes).predict_proba(X) for m in mixed()[:2]]
    inputs = committee.project(X)[0]
    assert inputs.shape == ((40, 2) if classes == 2 else (40, 2, 3))
    for place, chances in enumerate(expected):
        # probabilities below the least one count as it
        np.testing.assert_allclose(committee.channel.prob(inputs[:, place]), chances, atol=4e-6)
    mean = Belief(committee).predict_proba(X)
    np.testing.assert_allclose(mean, np.mean(expected, axis=0), atol=4e-6)
    assert committee.classes_.tolist() == NAMES[classes]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "rule",
    [None, EPIG(), Margin(bayesian=True), APM(PoolMaxPower(), channel=AllClasses())],
    ids=lambda rule: type(rule).__name__,
)
def test_a_committee_lives_in_a_learner(classes: int, rule: Any, tmp_path: Any) -> None:
    X, y = data(classes)

    def model() -> Committee:
        return Committee(mixed(), NAMES[classes])

    learner = Learner(X, model(), rule, seed=0)
    learner.ask()
    learner.tell(range(8), y[:8])
    row = int(learner.ask())
    learner.tell(row, y[row])
    learner.undo()
    learner.correct(0, y[1])
    assert len(set(learner.ask(3).tolist())) == 3
    learner.save(tmp_path / "learner.npz")
    loaded = Learner.load(tmp_path / "learner.npz", model=model(), selector=rule)
    fresh = Learner(X, model(), rule, seed=0)
    fresh.tell(range(8), [y[1], *y[1:8]])
    for other in (loaded, pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner), fresh):
        assert other.ask(3).tolist() == learner.ask(3).tolist()
        np.testing.assert_allclose(other.predict_proba(), learner.predict_proba(), atol=1e-12)
    assert learner.stop_advice().labels == 8
    assert 0 <= learner.curve(X, y).accuracy[-1] <= 1


def test_what_a_file_cannot_hold_is_asked_for(tmp_path: Any) -> None:
    X, y = data(2)
    learner = Learner(X, Committee(GaussianNB(), NAMES[2]), seed=0)
    learner.tell(range(8), y[:8])
    learner.save(tmp_path / "learner.npz")
    with pytest.raises(InvalidArgument, match="model must be given to load"):
        Learner.load(tmp_path / "learner.npz")
    with pytest.raises(InvalidArgument, match="must have the members of the file"):
        Learner.load(tmp_path / "learner.npz", model=Committee(LogisticRegression(), NAMES[2]))
    with pytest.raises(InvalidArgument, match="must have the plan of the file"):
        Learner.load(tmp_path / "learner.npz", model=Committee(GaussianNB(), NAMES[2], copies=3))


def test_rules_that_need_weights_say_so() -> None:
    X, y = data(2)
    learner = Learner(X, Committee(GaussianNB(), NAMES[2]), Uncertainty(), seed=0)
    learner.tell(range(8), y[:8])
    with pytest.raises(InvalidArgument, match=r"must have weights for map.*InformationGain\(\)"):
        learner.ask()
    spectral = Learner(X, Committee(GaussianNB(), NAMES[2]), APM(), seed=0)
    with pytest.raises(InvalidArgument, match=r"PoolMaxPower\(\)"):
        spectral.ask()
    posterior = learner.belief.posterior
    for name in ("mean", "covariance", "map", "summed_covariance"):
        with pytest.raises(InvalidArgument, match=f"must have weights for {name}"):
            getattr(posterior, name)
    assert isinstance(Learner(X, Committee(GaussianNB(), NAMES[2])).selector, InformationGain)


def test_copies_learn_from_draws_of_the_labels_and_repeat() -> None:
    X, y = data(3)
    one, again, other = (
        Committee(DecisionTreeClassifier(), NAMES[3], copies=6, rng=seed).fit(X[:15], y[:15])
        for seed in (0, 0, 1)
    )
    first = one.project(X)[0]
    np.testing.assert_array_equal(first, again.project(X)[0])
    assert (first != other.project(X)[0]).any()
    assert (first[:, 0] != first[:, 1]).any()
    assert all(len(member.classes_) == 3 for member in one.members)  # no class is lost in a draw
    assert len(one.members) == one.num_members == 6


@pytest.mark.parametrize(
    "members",
    [mixed(), LogisticRegression(), DecisionTreeClassifier()],
    ids=["several", "logistic", "tree"],
)
def test_it_is_a_posterior_like_any_other(members: Any) -> None:
    """The contract of `apm.testing`: among others, the order of the labels does not matter."""
    check_posterior(Committee(members, [0, 1], copies=4))


def test_before_two_classes_every_member_is_undecided() -> None:
    X, _ = data(2)
    learner = Learner(X, Committee(KNeighborsClassifier(1), NAMES[2]), seed=0)
    np.testing.assert_array_equal(learner.predict_proba(), np.full((40, 2), 0.5))
    learner.tell([0, 1], ["no", "no"])
    np.testing.assert_array_equal(learner.predict_proba(), np.full((40, 2), 0.5))
    learner.tell(2, "yes")
    assert learner.predict_proba()[2, 1] > 0.5
    assert np.isfinite(learner.belief.posterior.project(X)[0]).all()  # a neighbour is sure of it


def test_a_class_without_a_label_keeps_the_least_probability() -> None:
    X, y = data(3)
    rows = np.flatnonzero(y != "high")[:10]
    committee = Committee([GaussianNB()], NAMES[3], least_probability=0.01).fit(X[rows], y[rows])
    found = Belief(committee).predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found > 0).all()
    assert (found[:, 2] <= 0.0101).all()


def test_weights_and_sparse_rows() -> None:
    X, y = data(2)
    weights = np.linspace(0.5, 2.0, 12)
    found = Committee([LogisticRegression()], NAMES[2]).fit(X[:12], y[:12], weights)
    codes = (y[:12] == "yes").astype(int)
    expected = LogisticRegression().fit(X[:12], codes, weights).predict_proba(X)
    np.testing.assert_allclose(Belief(found).predict_proba(X), expected, atol=2e-6)
    rows: Any = sparse.csr_array(X)
    learner = Learner(rows, Committee([LogisticRegression()], NAMES[2]), seed=0)
    learner.tell(range(12), y[:12])
    dense = Learner(X, Committee([LogisticRegression()], NAMES[2]), seed=0)
    dense.tell(range(12), y[:12])
    np.testing.assert_allclose(learner.predict_proba(), dense.predict_proba(), atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([], ["a", "b"]), "one classifier or more"),
        ((["tree"], ["a", "b"]), "fit and predict_proba"),
        ((GaussianNB(), ["a"]), "classes must be two or more"),
    ],
    ids=["none", "text", "one class"],
)
def test_what_is_refused(arguments: Any, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        Committee(*arguments)
    wrong: dict[str, Any]
    for wrong in ({"copies": 0}, {"least_probability": 0.0}, {"least_probability": 0.6}):
        with pytest.raises(InvalidArgument):
            Committee(GaussianNB(), ["a", "b"], **wrong)


def test_a_bare_classifier_is_told_where_to_go() -> None:
    with pytest.raises(InvalidArgument, match=r"apm\.adapters\.Committee"):
        Learner([[1.0]], GaussianNB())  # type: ignore[arg-type]
