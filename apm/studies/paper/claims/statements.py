"""The paper's claims in words, each with the rule that judges it."""

from __future__ import annotations

from dataclasses import dataclass

from apm.studies.paper.claims.judges import (
    Judge,
    ahead_on,
    cost_ratio,
    full_horizon_level,
    level_on,
    over_all,
    peaks_early,
    same_order,
    smaller_early,
)
from apm.studies.paper.claims.verdicts import comparable, exceeds
from apm.studies.paper.methods import CURVE_METHODS

ACTIVE = ("APM-LR", "Uncertainty", "InfoGain", "BALD")
_LETTERS = ("letterEF", "letterIJ", "letterMN", "letterUV", "letterVY")
_EXPLORERS = ("MaxVar", "APM-LR-V", "APM-LR", "Random")
_OTHERS = ("InfoGain", "BALD", "Uncertainty")


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, where it stands, and its judge."""

    text: str
    place: str
    judge: Judge


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "APM-LR outperforms Uncertainty on cross",
        "section 4",
        ahead_on("cross", ("APM-LR",), ("Uncertainty",)),
    ),
    Claim(
        "On clouds, Uncertainty is outperformed by the other active methods except MaxVar",
        "appendix B.4",
        ahead_on("clouds", ("APM-LR", "InfoGain", "BALD"), ("Uncertainty",)),
    ),
    Claim(
        "On cross, Uncertainty is outperformed by the other active methods except MaxVar",
        "appendix B.4",
        ahead_on("cross", ("APM-LR", "InfoGain", "BALD"), ("Uncertainty",)),
    ),
    Claim(
        "APM-LR, Random and MaxVar lead on vehicle-cars",
        "appendix B.4 and B.6",
        ahead_on("vehicle-cars", ("APM-LR", "Random", "MaxVar"), _OTHERS),
    ),
    *(
        Claim(
            f"{method} generally outperforms Random",
            "section 4",
            over_all(((method, "Random"),), exceeds),
        )
        for method in ACTIVE
    ),
    Claim(
        "MaxVar performs comparably to Random",
        "section 4",
        over_all((("MaxVar", "Random"),), comparable),
    ),
    Claim("MaxVar is worse than APM-LR", "section 4", over_all((("APM-LR", "MaxVar"),), exceeds)),
    Claim(
        "APM-LR generally performs similarly to InfoGain",
        "section 4",
        over_all((("APM-LR", "InfoGain"),), comparable),
    ),
    Claim(
        "APM-LR generally performs similarly to BALD",
        "section 4",
        over_all((("APM-LR", "BALD"),), comparable),
    ),
    Claim(
        "Uncertainty matches the other active methods on letterDP and austra",
        "section 4",
        level_on(("letterDP", "austra"), "Uncertainty", ("APM-LR", "InfoGain", "BALD")),
    ),
    Claim(
        "All letter sets show trends similar to letterDP",
        "appendix B.4",
        same_order("letterDP", _LETTERS, CURVE_METHODS),
    ),
    Claim(
        "On wdbc the active methods' accuracy peaks early and then decreases",
        "appendix B.4",
        peaks_early("wdbc", ACTIVE),
    ),
    Claim(
        "InfoGain is the most expensive selection",
        "section 4",
        cost_ratio("selection", ("InfoGain",), tuple(m for m in CURVE_METHODS if m != "InfoGain")),
    ),
    Claim(
        "APM-LR selects an order of magnitude faster than InfoGain",
        "Table 1",
        cost_ratio("selection", ("InfoGain",), ("APM-LR",), 10.0),
    ),
    Claim(
        "APM-LR selects an order of magnitude faster than BALD",
        "Table 1",
        cost_ratio("selection", ("BALD",), ("APM-LR",), 10.0),
    ),
    Claim(
        "Uncertainty, MaxVar and Random have the cheapest selection",
        "Table 1",
        cost_ratio(
            "selection", ("APM-LR", "BALD", "InfoGain"), ("Uncertainty", "MaxVar", "Random")
        ),
    ),
    Claim(
        "MaxVar and Random need more posterior time than Uncertainty",
        "appendix B.5",
        cost_ratio("posterior", ("MaxVar", "Random"), ("Uncertainty",)),
    ),
    Claim(
        "On vehicle-cars APM-LR-V performs comparably to MaxVar, APM-LR-U to Uncertainty",
        "appendix B.6",
        full_horizon_level("vehicle-cars", (("APM-LR-V", "MaxVar"), ("APM-LR-U", "Uncertainty"))),
    ),
    Claim(
        "On vehicle-cars Uncertainty begins closest to the hyperplane",
        "appendix B.6",
        smaller_early(
            "vehicle-cars",
            "distance",
            ("Uncertainty",),
            ("MaxVar", "APM-LR-V", "APM-LR", "Random", "InfoGain", "BALD", "APM-LR-U"),
        ),
    ),
    Claim(
        "On vehicle-cars MaxVar and APM-LR-V begin farthest from the hyperplane",
        "appendix B.6",
        smaller_early(
            "vehicle-cars",
            "distance",
            ("APM-LR", "Random", "InfoGain", "BALD", "Uncertainty", "APM-LR-U"),
            ("MaxVar", "APM-LR-V"),
        ),
    ),
    Claim(
        "On vehicle-cars MaxVar, APM-LR-V, APM-LR and Random have the lowest maximin distances",
        "appendix B.6",
        smaller_early("vehicle-cars", "maximin", _EXPLORERS, (*_OTHERS, "APM-LR-U")),
    ),
    Claim(
        "On vehicle-cars the same four begin with the larger Gram determinants",
        "appendix B.6",
        smaller_early("vehicle-cars", "gram", (*_OTHERS, "APM-LR-U"), _EXPLORERS),
    ),
)
