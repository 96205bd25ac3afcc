"""Sentences follow the numbers, whichever way they go."""

from __future__ import annotations

import numpy as np
import pytest

from apm.studies.multiclass import METHODS, sentences
from apm.studies.multiclass.methods import DEFAULT
from apm.studies.multiclass.protocol import CELLS
from apm.studies.multiclass.results import Outcomes


def outcomes(lead: float, *, count: int | None = None, cost: float = 0.1) -> Outcomes:
    """All cells, all seeds unless `count` says fewer; every method at .6, the rule `lead` above."""
    level = {name: 0.6 + (lead if name == DEFAULT else 0.0) for name in METHODS}
    areas = {
        cell: {m: v + 1e-4 * np.linspace(-1, 1, count or cell.seeds) for m, v in level.items()}
        for cell in CELLS
    }
    asked = np.arange(0.0, 151.0, 5.0)
    curves = {
        cell: {m: np.stack([asked, np.full(31, v), np.zeros(31)], axis=1) for m, v in level.items()}
        for cell in CELLS
    }
    seconds = {cell: {m: cost if m == DEFAULT else 1.0 for m in METHODS} for cell in CELLS}
    return Outcomes(areas, curves, seconds)


@pytest.mark.parametrize(("lead", "met"), [(0.01, "met"), (-0.01, "not met")])
def test_the_goal_is_judged(lead, met):
    text = sentences.goal(outcomes(lead))
    assert f"No cell lost by its interval: {met}." in text
    assert f"by estimate: {met}." in text
    assert "No dearer than BALD: met." in text
    assert "No dearer than BALD: not met." in sentences.goal(outcomes(lead, cost=2.0))


def test_the_headline_has_the_counts():
    text = sentences.headline(outcomes(0.01))
    assert "number 1 of 14 methods (1.0;" in text
    assert "+0.0100 to margin" in text
    assert "ahead by estimate in 22 of 22 cells" in text
    assert (
        "it wins 22, ties 0 and loses 0 (on the data sets that it had never seen: wins 12," in text
    )
    assert "costs 1/10 to 1/10 of BALD" in text


def test_losses_are_listed_with_their_parts():
    text = sentences.losses(outcomes(-0.02))
    assert text.count("(-0.020; -0.020 in the first 60 labels, -0.020 after them)") == 22
    assert "Lost by the interval: none." in sentences.losses(outcomes(0.02))


def test_an_unfinished_study_says_so():
    assert "22 of 22 cells and 3 of the 20 or 10" in sentences.seeds(outcomes(0.0, count=3))
    assert "not finished" in sentences.seeds(outcomes(0.0, count=10))  # some cells have 20
    assert "whole study" in sentences.seeds(outcomes(0.0))
    assert "not judged" in sentences.goal(outcomes(0.01, count=3))


def test_seconds_are_of_the_first_cell():
    text = sentences.seconds(outcomes(0.0, cost=0.25))
    assert "digits-standardised-1" in text
    assert "the rule 250.00, margin 1000.00" in text


def test_numbers_of_another_loop_say_so():
    assert "earlier loop" in sentences.seeds(outcomes(0.0), through_learner=False)
