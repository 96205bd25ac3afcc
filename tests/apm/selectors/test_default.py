"""The selector that a learner uses when it is given none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from apm.belief import Belief
from apm.learner import Learner
from apm.posteriors import Bohning, Laplace, VariationalLogistic
from apm.power import PoolMaxPower, SharePower
from apm.selectors import APM, AllClasses, ContestedPair, Predictions
from apm.selectors.default import default_selector
from channelcode.channels import Cloglog, Logistic, Ordinal, Probit, Softmax
from tests.apm.given import three_classes


@pytest.mark.parametrize("channel", [Logistic(), Probit(2.0)], ids=repr)
def test_for_two_classes_predictions_are_the_message(channel) -> None:
    found = default_selector(Belief(Laplace(channel, 1.0)))
    assert found == APM(PoolMaxPower(), message=Predictions())
    assert found != APM()


def test_another_channel_on_the_line_keeps_the_papers_rule() -> None:
    for channel in (Cloglog(), Ordinal((-1.0, 1.0))):
        assert default_selector(Belief(Laplace(channel, 1.0))) == APM()


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_for_a_softmax_it_is_the_multiclass_rule(classes: int) -> None:
    expected = APM(SharePower(), channel=ContestedPair(), message=Predictions())
    assert default_selector(Belief(Bohning(classes, 1.0))) == expected != APM()


def test_it_scores_as_the_rule_does() -> None:
    belief, X = three_classes()
    rule = APM(SharePower(), channel=ContestedPair(), message=Predictions())
    np.testing.assert_array_equal(
        default_selector(belief).scores(belief, X), rule.scores(belief, X)
    )


def test_a_learner_without_a_selector_has_it(rng) -> None:
    X = rng.normal(size=(12, 2))
    plain, named = (
        Learner(X, Bohning(3, 1.0), *given, seed=0)
        for given in ((), (default_selector(Belief(Bohning(3, 1.0))),))
    )
    for row in range(6):
        plain.tell(row, row % 3)
        named.tell(row, row % 3)
    assert plain.ask()[0] == named.ask()[0]


def test_it_asks_for_rows_without_a_label() -> None:
    rng = np.random.default_rng(15)
    X, y = rng.normal(size=(30, 3)), np.arange(8) % 3
    learner = Learner(X, Bohning(3, 1.0), default_selector(Belief(Bohning(3))), seed=0)
    for row in range(len(y)):
        learner.tell(row, int(y[row]))
    assert int(learner.ask()[0]) >= len(y)
    full = Belief(Laplace(Softmax(3), 1.0).fit(X[: len(y)], y))
    assert np.isfinite(default_selector(full).scores(full, X)).all()


def test_the_papers_rule_on_many_classes_warns_once_and_names_the_other() -> None:
    X = np.random.default_rng(0).normal(size=(12, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner = Learner(X, Bohning(3, 1.0), APM(), seed=0)
        for row in range(4):
            learner.tell(row, row % 3)
            learner.ask(2)
    (warning,) = caught
    assert "worse than random" in str(warning.message)
    assert "channel=ContestedPair(), message=Predictions()" in str(warning.message)


def test_no_warning_where_it_is_meant_or_harmless() -> None:
    X = np.random.default_rng(0).normal(size=(12, 2))
    for model, rule in (
        (Bohning(3, 1.0), APM(channel=AllClasses())),
        (Bohning(3, 1.0), APM(channel=ContestedPair())),
        (Bohning(2, 1.0), APM()),
        (Bohning(3, 1.0), None),
        (VariationalLogistic(), APM()),
        (Laplace(Ordinal((-1.0, 1.0)), 1.0), APM()),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Learner(X, model, rule, seed=0).ask()
        assert caught == []
