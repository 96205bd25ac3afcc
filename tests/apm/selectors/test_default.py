"""The selector that a learner uses when it is given none."""

from __future__ import annotations

import numpy as np
import pytest

from apm.belief import Belief
from apm.learner import Learner
from apm.posteriors import Bohning, Laplace, VariationalLogistic
from apm.power import PoolMaxPower, SpectralPower
from apm.selectors import APM, ContestedPair, Predictions
from apm.selectors.default import default_selector
from channelcode.channels import Logistic, Probit, Softmax
from tests.apm.given import three_classes


@pytest.mark.parametrize("channel", [Logistic(), Probit()], ids=repr)
def test_on_the_line_it_is_the_papers(channel) -> None:
    found = default_selector(Belief(Laplace(channel, 1.0)))
    assert found == APM()
    assert found.power == SpectralPower()


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_for_a_softmax_it_is_the_multiclass_rule(classes: int) -> None:
    expected = APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions())
    assert default_selector(Belief(Bohning(classes, 1.0))) == expected != APM()


def test_it_scores_as_the_rule_does() -> None:
    belief, X = three_classes()
    rule = APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions())
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
    assert default_selector(Belief(VariationalLogistic())) == APM()
    assert default_selector(Belief(Bohning(2))).channel == ContestedPair()
    rng = np.random.default_rng(15)
    X, y = rng.normal(size=(30, 3)), np.arange(8) % 3
    learner = Learner(X, Bohning(3, 1.0), default_selector(Belief(Bohning(3))), seed=0)
    for row in range(len(y)):
        learner.tell(row, int(y[row]))
    assert int(learner.ask()[0]) >= len(y)
    full = Belief(Laplace(Softmax(3), 1.0).fit(X[: len(y)], y))
    assert np.isfinite(default_selector(full).scores(full, X)).all()
