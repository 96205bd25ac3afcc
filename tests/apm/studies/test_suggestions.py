"""Suggestions for names that are not known."""

from __future__ import annotations

import pytest

from apm.studies.suggestions import nearest_name

KNOWN = ("APM-LR", "Uncertainty", "BALD", "letterDP", "letterEF")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("bald", "BALD"),
        ("apm_lr", "APM-LR"),
        ("uncertanty", "Uncertainty"),
        ("LETTERFE", "letterEF"),
        ("letterPD", "letterDP"),
    ],
)
def test_the_nearest_is_suggested_whatever_its_case(wrong: str, right: str) -> None:
    assert nearest_name(wrong, KNOWN) == f" (did you mean {right}?)"


def test_with_nothing_near_all_are_listed_in_order() -> None:
    expected = " (one of APM-LR, Uncertainty, BALD, letterDP, letterEF)"
    assert nearest_name("zzz", KNOWN) == expected
    assert nearest_name("", iter(KNOWN)) == expected
