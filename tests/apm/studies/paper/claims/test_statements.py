"""The paper's claims: a world as the paper tells it, and the opposite one."""

from __future__ import annotations

import numpy as np

from apm.studies.data.catalogue import PAPER_DATASETS
from apm.studies.paper.claims import judge_claims
from apm.studies.paper.claims.statements import ACTIVE, CLAIMS
from apm.studies.paper.methods import CURVE_METHODS, PAPER_METHODS
from apm.studies.paper.results import Sheet
from tests.apm.studies.made_up import sheet

LEVELS = {
    "APM-LR": 0.900,
    "Uncertainty": 0.898,
    "BALD": 0.902,
    "InfoGain": 0.904,
    "Random": 0.800,
    "MaxVar": 0.803,
}
SELECTION = {
    "APM-LR": 1.0,
    "Uncertainty": 0.5,
    "BALD": 20.0,
    "InfoGain": 100.0,
    "Random": 0.1,
    "MaxVar": 0.4,
}
# Claims that two methods are alike stay true in the opposite world.
ALIKE = {
    "MaxVar performs comparably to Random",
    "APM-LR generally performs similarly to InfoGain",
    "APM-LR generally performs similarly to BALD",
    "Uncertainty matches the other active methods on letterDP and austra",
    "On vehicle-cars APM-LR-V performs comparably to MaxVar, APM-LR-U to Uncertainty",
}


def levels_on(name: str) -> dict[str, float]:
    if name in ("cross", "clouds"):
        return LEVELS | {"Uncertainty": 0.85}
    if name == "vehicle-cars":
        behind = dict.fromkeys(("InfoGain", "BALD", "Uncertainty", "APM-LR-U"), 0.85)
        return LEVELS | dict.fromkeys(("Random", "MaxVar", "APM-LR-V"), 0.9) | behind
    return LEVELS


def fill(made: Sheet, name: str, values: dict[str, float], noise: float = 0.0) -> None:
    """Make a measure constant for each method that is named, but for a little noise."""
    rng = np.random.default_rng(3)
    for method, value in values.items():
        place = made.methods.index(method)
        shape = made.arrays[name][place].shape
        made.arrays[name][place] = value + rng.normal(scale=noise or 1e-12, size=shape)


def world(sign: int) -> dict[str, Sheet]:
    """All data sets as the paper describes them (sign 1), or every difference turned (-1)."""
    sheets = {}
    for name in PAPER_DATASETS:
        turn = 1 if name == "letterDP" else sign  # so that the other letter sets rank otherwise
        levels = {m: 0.5 + turn * (level - 0.5) for m, level in levels_on(name).items()}
        made = sheet(name, levels, noise=0.0005)
        if name == "wdbc":
            rows = [made.methods.index(method) for method in ACTIVE]
            made.arrays["accuracy"][rows, :, 8:12] += 0.05
        fill(made, "select_seconds", {m: s**sign for m, s in SELECTION.items()})
        slow = {"MaxVar": 2.0, "Random": 2.0, "Uncertainty": 1.0}
        fill(made, "posterior_seconds", {m: s**sign for m, s in slow.items()})
        if name == "vehicle-cars":
            explorers = ("MaxVar", "APM-LR-V", "APM-LR", "Random")
            far = {m: 3.0 if m in ("MaxVar", "APM-LR-V") else 2.0 for m in PAPER_METHODS}
            far["Uncertainty"] = 1.0
            near = {m: 1.0 if m in explorers else 2.0 for m in PAPER_METHODS}
            fill(made, "distance", {m: sign * v for m, v in far.items()}, 0.01)
            fill(made, "maximin", {m: sign * v for m, v in near.items()}, 0.01)
            fill(made, "gram", {m: -sign * v for m, v in near.items()}, 0.01)
        sheets[name] = made
    return sheets


def test_the_world_of_the_paper_holds_every_claim() -> None:
    findings = judge_claims(world(1))
    assert {f.claim: f.measure for f in findings if f.verdict != "held"} == {}


def test_the_opposite_world_holds_none_but_likeness() -> None:
    sheets = world(-1)
    del sheets["wdbc"]  # judged below: a peak has no opposite
    findings = [f for f in judge_claims(sheets) if f.verdict != "not run"]
    assert len(findings) == len(CLAIMS) - 1
    assert {f.claim for f in findings if f.verdict == "held"} == ALIKE
    assert {f.verdict for f in findings if f.claim not in ALIKE} == {"not held"}


def test_claims_are_told_apart_and_say_where_they_stand() -> None:
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS)
    assert all(c.place.startswith(("section", "appendix", "Table")) for c in CLAIMS)
    assert set(ACTIVE) == set(CURVE_METHODS) - {"Random", "MaxVar"}


def test_every_claim_can_be_judged_on_a_whole_study() -> None:
    names = ("letterDP", "letterEF", "letterIJ", "letterMN", "letterUV", "letterVY", "austra")
    names = (*names, "wdbc", "clouds", "cross", "vehicle-cars")
    sheets = {name: sheet(name, dict.fromkeys(PAPER_METHODS, 0.8)) for name in names}
    findings = judge_claims(sheets)
    assert all(f.verdict != "not run" and f.number is not None for f in findings)
