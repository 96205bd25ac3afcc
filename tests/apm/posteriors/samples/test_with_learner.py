"""Posteriors made of samples in the loop: every rule, every kind of answer, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm import (
    APM,
    BALD,
    EPIG,
    APMExploit,
    APMExplore,
    Belief,
    Bisection,
    Entropy,
    FixedPower,
    Grid,
    InformationGain,
    Learner,
    LeastConfidence,
    Linear,
    Margin,
    MatchedPower,
    MaxVariance,
    NonLinear,
    PoolMaxPower,
    Predictions,
    Random,
    Uncertainty,
    VariancePower,
)
from apm.selectors.default import default_selector
from channelcode import Cloglog, Logistic, UnknownLapse
from channelcode.errors import InvalidArgument
from tests.apm.posteriors.samples.models import weibull_and_lapse

slope = NonLinear(lambda theta, X: np.exp(theta[:, 1]) * (X[:, :1] - theta[:, 0]), 2)
AXES = [np.linspace(-3.0, 3.0, 13), np.linspace(-1.0, 1.0, 5)]
X = np.linspace(-4.0, 4.0, 15)[:, None]
GRID = Grid(AXES, Logistic(), slope)
LAPSE = Grid(
    [np.linspace(-3, 3, 7), [20.0, 40.0], [0.0, 0.05]], UnknownLapse(Cloglog(), 0.5),
    NonLinear(weibull_and_lapse, 3), classes=["no", "yes"],
)  # fmt: skip
RULES = [
    InformationGain(),
    InformationGain(about=0),
    InformationGain(samples=20),
    BALD(),
    EPIG(num_targets=5),
    MaxVariance(),
    Margin(),
    Margin(bayesian=True),
    Margin(bayesian=True, samples=20),
    Entropy(),
    LeastConfidence(bayesian=True),
    Uncertainty(),
    Random(),
    Bisection(),
]
MATCHING = [
    APM(PoolMaxPower()),
    APM(MatchedPower()),
    APM(VariancePower()),
    APM(PoolMaxPower(), message=Predictions()),
    APMExploit(FixedPower(2.0)),
    APMExploit(FixedPower(2.0), averaged=True),
    APMExplore(FixedPower(2.0)),
]


def told(model: Any, rule: Any = None, count: int = 4) -> Learner:
    learner = Learner(X, model, rule, seed=3)
    for _ in range(count):
        row = int(learner.ask())
        learner.tell(row, "yes" if X[row, 0] > 0.4 else "no")
    return learner


@pytest.mark.parametrize("rule", [*RULES, *MATCHING], ids=repr)
def test_every_rule_asks_explains_and_takes_labels(rule):
    learner = told(GRID, rule, 3)
    picks = learner.ask(5)
    assert len(set(picks.tolist())) == 5
    assert not set(picks.tolist()) & set(learner.labelled.tolist())
    explained = learner.explain(int(picks[0]))
    assert sum(explained.terms.values()) == pytest.approx(explained.score, rel=1e-6, abs=1e-12)
    assert all(record.bits is not None and record.bits > 0 for record in learner.history)
    assert learner.ask(5).tolist() == picks.tolist()


@pytest.mark.parametrize("rule", [r for r in RULES if not isinstance(r, Bisection)], ids=repr)
def test_inputs_of_different_units(rule):
    learner = told(LAPSE, rule, 2)
    assert len(set(learner.ask(3).tolist())) == 3
    learner.explain(int(learner.ask()))
    assert np.isnan(learner.efficiency.capacity_bits).all()
    assert learner.predict_proba(X).shape == (15, 2)
    assert learner.stop_advice().labels == 2


@pytest.mark.parametrize("rule", MATCHING, ids=repr)
def test_matching_refuses_inputs_of_different_units_and_says_why(rule):
    with pytest.raises(InvalidArgument, match=r"same units.*InformationGain"):
        rule.select(Belief(LAPSE), X)


def test_information_gain_is_the_default():
    assert default_selector(Belief(GRID)) == InformationGain()
    assert "InformationGain" in repr(Learner(X, GRID, seed=0))
    with pytest.raises(InvalidArgument, match="PoolMaxPower"):
        Learner(X, GRID, APM(), seed=0).ask()


def test_second_thoughts_are_as_if_told_at_once():
    learner = told(GRID)
    before = learner.belief.posterior.weights  # type: ignore[attr-defined]
    row = int(learner.ask())
    learner.tell(row, "yes")
    learner.undo()
    np.testing.assert_array_equal(learner.belief.posterior.weights, before)  # type: ignore[attr-defined]
    first = int(learner.labelled[0])
    label = learner.history[0].label
    learner.correct(first, "yes" if label == "no" else "no")
    learner.correct(first, label)
    # the same sums in another order
    np.testing.assert_allclose(learner.belief.posterior.weights, before, rtol=1e-10)  # type: ignore[attr-defined]
    learner.skip(row)
    assert row not in learner.ask(4).tolist()
    learner.extend([[0.123]])
    assert 15 in learner.remaining


@pytest.mark.parametrize(
    ("model", "needed"),
    [(GRID, True), (Grid([AXES[0]], Logistic(), Linear()), False)],
    ids=["function", "linear"],
)
def test_files_go_on_with_the_same_picks(model, needed, tmp_path):
    learner = told(model)
    path = learner.save(tmp_path / "learner.npz")
    if needed:
        with pytest.raises(InvalidArgument, match="must be given to load"):
            Learner.load(path)
        other = Grid(AXES, Logistic(), slope, np.arange(1.0, 66.0))
        with pytest.raises(InvalidArgument, match="log_prior"):
            Learner.load(path, model=other)
    again = Learner.load(path, model=model if needed else None)
    assert again.ask(4).tolist() == learner.ask(4).tolist()
    row = int(learner.ask())
    for each in (learner, again):
        each.tell(row, "no")
    ours, theirs = (each.belief.posterior for each in (learner, again))
    np.testing.assert_array_equal(ours.weights, theirs.weights)  # type: ignore[attr-defined]


def test_a_posterior_that_does_not_follow_from_the_journal_is_refused(tmp_path):
    from apm import archive

    learner = told(Grid([AXES[0]], Logistic(), Linear()))
    path = learner.save(tmp_path / "learner.npz")
    header, arrays = archive.read(path)
    header.pop("version")
    arrays = {**arrays, "posterior/log_joint": arrays["posterior/log_joint"][::-1].copy()}
    archive.write(path, header, arrays)
    with pytest.raises(InvalidArgument, match="must follow from the journal"):
        Learner.load(path)


def test_what_information_gain_refuses():
    for about in ([], [-1], [0.5], "a", [[0]]):
        with pytest.raises(InvalidArgument, match="about"):
            InformationGain(about=about)
    with pytest.raises(InvalidArgument, match="samples"):
        InformationGain(samples=10, about=[0])
    with pytest.raises(InvalidArgument, match=r"in 0\.\.1"):
        InformationGain(about=2).scores(Belief(GRID), X)
    from apm import VariationalLogistic

    with pytest.raises(InvalidArgument, match="needs a Grid"):
        InformationGain(about=0).scores(Belief(VariationalLogistic()), X)
    assert InformationGain(about=[1, 0, 1]).about == (0, 1)
