"""The tables of the manual, from the committed numbers alone."""

from __future__ import annotations

from apm.studies.multiclass.methods import DEFAULT
from apm.studies.multiclass.results import RIVALS, Outcomes
from apm.studies.report.markdown import markdown_table


def verdict_table(outcomes: Outcomes) -> str:
    """The rule against the best rival of each cell: paired difference with its interval."""
    rows = []
    for cell in outcomes.cells:
        found = outcomes.compare(cell, DEFAULT)
        gap = found.difference
        star = "" if cell.fresh else " *"
        rows.append(
            (
                cell.name + star,
                found.rival,
                f"{outcomes.mean(cell, found.rival):.3f}",
                f"{outcomes.mean(cell, DEFAULT):.3f}",
                f"{gap.estimate:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]",
                found.verdict,
            )
        )
    return markdown_table(
        ("cell", "best rival", "its area", "the rule", "difference", "verdict"), rows
    )


def area_table(outcomes: Outcomes) -> str:
    """The mean area of every method in every cell, the best in bold."""
    rows = []
    for cell in outcomes.cells:
        means = {name: outcomes.mean(cell, name) for name in outcomes.methods}
        best = max(means.values())
        cells = (
            f"**{value:.3f}**" if value == best else f"{value:.3f}" for value in means.values()
        )
        rows.append((cell.name, *cells))
    return markdown_table(("cell", *outcomes.methods), rows)


def tally_table(outcomes: Outcomes) -> str:
    """Wins, ties and losses against the best rival, and the average rank."""
    ranks = outcomes.ranks()
    rows = []
    for name, rank in sorted(zip(ranks.methods, ranks.average, strict=True), key=lambda x: x[1]):
        every = " / ".join(map(str, outcomes.tally(name)))
        fresh = " / ".join(map(str, outcomes.tally(name, fresh=True)))
        plain = name in RIVALS
        rows.append((name, "" if plain else every, "" if plain else fresh, f"{rank:.2f}"))
    return markdown_table(("method", "all cells", "fresh data sets", "average rank"), rows)


def rival_table(outcomes: Outcomes) -> str:
    """The rule against each rival by itself: wins, ties, losses and the mean difference."""
    rows = []
    for rival in ("random", *RIVALS):
        found = [outcomes.compare(cell, DEFAULT, rival) for cell in outcomes.cells]
        verdicts = [comparison.verdict for comparison in found]
        counts = " / ".join(str(verdicts.count(kind)) for kind in ("win", "tie", "loss"))
        mean = sum(comparison.difference.estimate for comparison in found) / len(found)
        rows.append((rival, counts, f"{mean:+.4f}"))
    return markdown_table(("against", "wins / ties / losses", "mean difference of area"), rows)
