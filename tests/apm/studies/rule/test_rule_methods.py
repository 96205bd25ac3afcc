"""Candidates and rivals of the experiment on the default rule."""

import numpy as np
import pytest

from apm.answering import default_belief
from apm.selectors.default import default_selector
from apm.studies.rule.methods import CANDIDATES, PRESENT, RIVALS, methods


@pytest.mark.parametrize(("kind", "count"), [("two", 2), ("many", 4)])
def test_the_present_rule_is_what_learner_takes(kind, count):
    X = np.random.default_rng(0).normal(size=(20, 3))
    belief = default_belief(X, np.arange(count), prior_precision=1.0)
    assert repr(default_selector(belief)) == repr(CANDIDATES[kind][PRESENT])


@pytest.mark.parametrize("kind", ["two", "many"])
def test_no_method_is_named_twice_and_no_candidate_is_there_twice(kind):
    assert len(methods(kind)) == len(CANDIDATES[kind]) + len(RIVALS[kind])
    assert len({repr(each) for each in methods(kind).values()}) == len(methods(kind))
