"""Numbers of the study: written, read back, compared."""

from __future__ import annotations

import numpy as np
import pytest

from apm.studies.multiclass.protocol import Cell
from apm.studies.multiclass.results import Outcomes
from channelcode.errors import InvalidArgument

FIRST, SECOND = Cell("digits", "standardised", 1.0), Cell("vowel", "unit-norm", 1.0)


def outcomes() -> Outcomes:
    noise = np.linspace(-0.001, 0.001, 10)
    areas = {
        FIRST: {"margin": 0.8 + noise, "EPIG": 0.7 + noise, "rule": 0.82 + noise[::-1]},
        SECOND: {"margin": 0.5 + noise, "EPIG": 0.6 + noise, "rule": 0.55 + noise[::-1]},
    }
    return Outcomes(areas, {}, {})


def test_the_rival_is_the_best_of_the_cell() -> None:
    found = outcomes()
    assert (found.rival(FIRST), found.rival(SECOND)) == ("margin", "EPIG")
    won, lost = found.compare(FIRST, "rule"), found.compare(SECOND, "rule")
    assert (won.verdict, lost.verdict) == ("win", "loss")
    assert won.difference.estimate == pytest.approx(0.02)
    assert found.compare(SECOND, "rule", "margin").verdict == "win"
    assert found.compare(FIRST, "margin", "margin").verdict == "tie"


def test_tallies_and_ranks() -> None:
    found = outcomes()
    assert found.tally("rule") == (1, 0, 1)
    assert found.tally("rule", fresh=True) == (0, 0, 1)
    assert found.tally("rule", fresh=False) == (1, 0, 0)
    np.testing.assert_array_equal(found.ranks().average, [2.5, 2.0, 1.5])


def test_without_rivals_nothing_is_compared() -> None:
    alone = Outcomes({FIRST: {"rule": np.ones(3)}}, {}, {})
    with pytest.raises(InvalidArgument, match="margin"):
        alone.rival(FIRST)
