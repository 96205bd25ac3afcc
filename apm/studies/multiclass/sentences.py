"""What came out, in sentences made from the committed numbers, whichever way it went."""

from __future__ import annotations

import numpy as np

from apm.studies.multiclass.methods import DEFAULT
from apm.studies.multiclass.protocol import CELLS, Cell
from apm.studies.multiclass.results import RIVALS, Outcomes

EARLY = 60  # labels, in the split of a loss into early and late
FIRST_TERM = "APM pair, exploit"
COPIED = "APM all classes"


def seeds(outcomes: Outcomes, *, through_learner: bool = True) -> str:
    """How many paired seeds the numbers rest on, and whether the library's own loop made them."""
    if not through_learner:
        return (
            "**The numbers below are still those of an earlier loop of this study, whose MAP "
            "stopped at a gradient of 1e-2. They are not a table of this library.**"
        )
    counts = _seeds(outcomes)
    if _finished(outcomes):
        return "The numbers below are of the whole study: 22 cells, 20 or 10 paired seeds each."
    least, most = min(counts.values()), max(counts.values())
    some = f"{least}" if least == most else f"{least} to {most}"
    return (
        f"**The run is not finished: the numbers below are of {len(counts)} of {len(CELLS)} cells "
        f"and {some} of the 20 or 10 paired seeds of each.** Intervals are as wide as that makes "
        "them."
    )


def headline(outcomes: Outcomes) -> str:
    """Ranks, mean leads, wins and losses against the best rival, and cost."""
    ranks = outcomes.ranks()
    average = dict(zip(ranks.methods, ranks.average, strict=True))
    place = sorted(average, key=lambda name: average[name]).index(DEFAULT) + 1
    variants = [average[m] for m in average if m.startswith("APM pair, ") and m != DEFAULT]
    others = ", ".join(f"{name} {average[name]:.1f}" for name in (*RIVALS, "random"))
    leads = ", ".join(
        f"{_mean_lead(outcomes, name):+.4f} to {name}" for name in (*RIVALS, "random")
    )
    estimates = [outcomes.compare(cell, DEFAULT).difference.estimate for cell in outcomes.cells]
    every, fresh = outcomes.tally(DEFAULT), outcomes.tally(DEFAULT, fresh=True)
    below = sum(
        outcomes.mean(cell, COPIED) < outcomes.mean(cell, "random") for cell in outcomes.cells
    )
    cells, ahead = len(outcomes.cells), sum(e > 0 for e in estimates)
    own = f"{average[DEFAULT]:.1f}; its own variants {min(variants):.1f} to {max(variants):.1f}"
    sentences = [
        f"By average rank the rule is number {place} of {len(average)} methods ({own}; {others}).",
        f"Its mean difference of area is {leads}.",
        "Against the best of the three rivals *cell by cell* it is ahead by estimate in "
        f"{ahead} of {cells} cells; by the 95 % intervals it {_counts(every)} (on the data sets "
        f"that it had never seen: {_counts(fresh)}).",
        f"The intervals are not corrected for {cells} comparisons.",
        f"One selection costs {_cost(outcomes)} of BALD with 100 samples.",
        f"Copying the recipe to all classes is below random in {below} of {cells} cells.",
    ]
    return " ".join(sentences)


def goal(outcomes: Outcomes) -> str:
    """The aim of the study, and which parts of it were met; few seeds prove nothing level."""
    aim = (
        "**The goal was: at least level with the best rival in every cell, ahead in most, no "
        "dearer than BALD.**"
    )
    if not _finished(outcomes):
        return f"{aim} It is not judged before all seeds have run."
    losses = outcomes.tally(DEFAULT)[2]
    estimates = [outcomes.compare(cell, DEFAULT).difference.estimate for cell in outcomes.cells]
    most = sum(e > 0 for e in estimates) > len(estimates) / 2
    cheap = max(_ratios(outcomes)) <= 1.0
    met = {True: "met", False: "not met"}
    return (
        f"{aim} No cell lost by its interval: {met[losses == 0]}. Ahead in most, by estimate: "
        f"{met[most]}. No dearer than BALD: {met[cheap]}."
    )


def seconds(outcomes: Outcomes) -> str:
    """What one selection costs on the first cell."""
    cell = outcomes.cells[0]
    by = outcomes.seconds[cell]
    listed = ", ".join(
        f"{'the rule' if name == DEFAULT else name} {1e3 * by[name]:.2f}"
        for name in (DEFAULT, *RIVALS, "BALD")
    )
    return (
        f"One selection in the study, {cell.name}, median CPU milliseconds on the machine that ran "
        f"it: {listed}."
    )


def losses(outcomes: Outcomes) -> str:
    """The cells that are lost, with their early and late parts, and those behind by estimate."""
    found = {cell: outcomes.compare(cell, DEFAULT) for cell in outcomes.cells}
    lost = [cell for cell, comparison in found.items() if comparison.verdict == "loss"]
    behind = [
        cell
        for cell, comparison in found.items()
        if comparison.verdict == "tie" and comparison.difference.estimate < -0.005
    ]
    parts = [_part(outcomes, cell, found[cell].rival) for cell in lost]
    text = "Lost by the interval: " + ("; ".join(parts) if parts else "none") + "."
    if behind:
        names = ", ".join(f"{c.name} ({found[c].difference.estimate:+.3f})" for c in behind)
        text += f" Behind by more than .005 without being resolved: {names}."
    first = outcomes.tally(FIRST_TERM)
    return (
        f"{text} The first term alone, −(κm)², has {first[0]} wins, {first[1]} ties and {first[2]} "
        "losses against the best rival: what the second term adds or costs is the difference."
    )


def _seeds(outcomes: Outcomes) -> dict[Cell, int]:
    return {cell: len(outcomes.areas[cell][DEFAULT]) for cell in outcomes.cells}


def _finished(outcomes: Outcomes) -> bool:
    return _seeds(outcomes) == {cell: cell.seeds for cell in CELLS}


def _counts(tally: tuple[int, int, int]) -> str:
    return f"wins {tally[0]}, ties {tally[1]} and loses {tally[2]}"


def _part(outcomes: Outcomes, cell: Cell, rival: str) -> str:
    asked, own = outcomes.curves[cell][DEFAULT].T[:2]
    gap = own - outcomes.curves[cell][rival].T[1]
    early, late = gap[(asked > 0) & (asked <= EARLY)].mean(), gap[asked > EARLY]
    whole = outcomes.compare(cell, DEFAULT).difference.estimate
    after = f", {late.mean():+.3f} after them" if len(late) else ""
    return f"{cell.name} ({whole:+.3f}; {early:+.3f} in the first {EARLY} labels{after})"


def _mean_lead(outcomes: Outcomes, rival: str) -> float:
    found = [outcomes.compare(c, DEFAULT, rival).difference.estimate for c in outcomes.cells]
    return float(np.mean(found))


def _ratios(outcomes: Outcomes) -> list[float]:
    return [by[DEFAULT] / by["BALD"] for by in outcomes.seconds.values()]


def _cost(outcomes: Outcomes) -> str:
    ratios = _ratios(outcomes)
    return f"1/{1 / max(ratios):.0f} to 1/{1 / min(ratios):.0f}"
