"""Candidates and rivals of the experiment on the default rule."""

from pathlib import Path

import numpy as np
import pytest

from apm.answering import default_belief
from apm.selectors.default import default_selector
from apm.studies.rule.methods import CANDIDATES, PRESENT, RIVALS, methods
from apm.studies.rule.run import read_areas
from apm.studies.rule.verdict import decide

RESULTS = Path(__file__).parents[4] / "docs" / "results" / "rule"


@pytest.mark.parametrize(("kind", "count"), [("two", 2), ("many", 4)])
def test_learner_takes_what_the_committed_experiment_decided(kind, count):
    X = np.random.default_rng(0).normal(size=(20, 3))
    belief = default_belief(X, np.arange(count), prior_precision=1.0)
    decision = decide(read_areas(RESULTS), kind)
    chosen = decision.winner if decision.change else PRESENT
    assert repr(default_selector(belief)) == repr(CANDIDATES[kind][chosen])


@pytest.mark.parametrize("kind", ["two", "many"])
def test_no_method_is_named_twice_and_no_candidate_is_there_twice(kind):
    assert len(methods(kind)) == len(CANDIDATES[kind]) + len(RIVALS[kind])
    assert len({repr(each) for each in methods(kind).values()}) == len(methods(kind))
