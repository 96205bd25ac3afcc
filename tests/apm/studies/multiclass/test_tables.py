"""Tables of the study: every cell and method, the best in bold."""

from __future__ import annotations

import numpy as np

from apm.studies.multiclass.methods import DEFAULT
from apm.studies.multiclass.protocol import Cell
from apm.studies.multiclass.results import Outcomes
from apm.studies.multiclass.tables import area_table, rival_table, tally_table, verdict_table

FIRST, SECOND = Cell("digits", "standardised", 1.0), Cell("vowel", "unit-norm", 1.0)


def outcomes() -> Outcomes:
    noise = np.linspace(-0.001, 0.001, 10)
    methods = ("random", "margin", "Bayesian margin", "EPIG", DEFAULT)
    levels = {FIRST: (0.5, 0.8, 0.79, 0.7, 0.82), SECOND: (0.3, 0.5, 0.52, 0.6, 0.55)}
    return Outcomes(
        {cell: {m: v + noise for m, v in zip(methods, row)} for cell, row in levels.items()}, {}, {}
    )


def test_verdicts_name_the_rival_and_mark_the_sets_the_rule_was_chosen_on():
    lines = verdict_table(outcomes()).splitlines()
    assert lines[2].startswith("| digits-standardised-1 * | margin | 0.800 | 0.820 | +0.020 [")
    assert lines[2].endswith("| win |")
    assert lines[3].startswith("| vowel-unit-norm-1 | EPIG | 0.600 | 0.550 | -0.050 [")
    assert lines[3].endswith("| loss |")


def test_the_best_of_a_row_is_bold():
    lines = area_table(outcomes()).splitlines()
    assert "**0.820**" in lines[2]
    assert "**0.600**" in lines[3]
    assert all(line.count("**") == 2 for line in lines[2:])


def test_tallies_and_rivals():
    assert f"| {DEFAULT} | 1 / 0 / 1 | 0 / 0 / 1 | 1.50 |" in tally_table(outcomes())
    assert "| random | 2 / 0 / 0 | +0.2850 |" in rival_table(outcomes())
    assert "| EPIG | 1 / 0 / 1 | +0.0350 |" in rival_table(outcomes())
