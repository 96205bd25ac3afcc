"""A look at some rows gives their scores at any budget, without the rows."""

import numpy as np
import pytest

from apm import APM, Belief, ContestedPair, Predictions, VariationalLogistic
from apm.power import FixedPower, PoolMaxPower
from tests.naming import plain

RULES = [
    APM(PoolMaxPower()), APM(PoolMaxPower(), message=Predictions(num_targets=9)),
    APM(PoolMaxPower(), message=Predictions(pooled=False), charged=False),
    APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions()),
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=plain)
def test_a_look_scores_as_the_rows_do(rule):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 3))
    belief = Belief(VariationalLogistic().fit(X[:6], [0, 1, 0, 1, 1, 0]))
    rows = np.arange(8, 40)
    ready = rule.looking(belief, X)
    look = ready.look(belief, X, rows)
    power = look.budget(ready, belief, X)
    for at in (power, 0.5, 7.0):
        found = ready.rated(look, at)
        expected = ready.at(at)._rate(belief, X, rows, 0)
        np.testing.assert_array_equal(found.values, expected.values)
        assert found.constant == expected.constant
    # the rule as it is, with pairs of rows and targets where the look has one form
    expected = rule.prepared(belief, X)._rate(belief, X, rows, 0)
    np.testing.assert_allclose(ready.rated(look, power).scores, expected.scores, rtol=1e-10)
    assert ready.at(2.0).power == FixedPower(2.0)
