"""What makes the default rule win or lose: ablations on development data (seeds below 1,000).

    python benchmarks/rule_mechanisms.py docs/results/rule/mechanisms.csv [seeds]

penbased, segment and vowel (more classes): the budget, the pair, the share R in place of sigma R, a
posterior by Laplace's method, early and late labels, the distance of picks from labelled rows.
vehicle-cars (two classes, a linear model near chance): a lapse rate by evidence, tempered labels,
and exploring while the model predicts worse than the frequencies of the labels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from apm import Learner
from apm.belief import Belief
from apm.posteriors import Bohning, Laplace, Posterior, VariationalLogistic
from apm.power import PoolMaxPower, SharePower, SignalPower
from apm.selectors import (
    APM,
    EPIG,
    ContestedPair,
    Margin,
    MaxVariance,
    Predictions,
    Random,
    Selector,
    Uncertainty,
)
from apm.selectors.matching.target import TWO_ATOMS, Match, power_of_mean
from apm.selectors.matching.views import PAIR_POWER, View, pair_laws
from apm.studies.data.catalogue import load
from apm.studies.engine.tables import write_csv
from apm.studies.engine.trial import Split, make_split, run_method
from apm.studies.multiclass.protocol import LABELS, POOL_CAP
from apm.studies.paper.protocol import PRIOR_PRECISION, QUERIES
from apm.studies.streams import stream
from channelcode.channels import Lapse, Logistic, Softmax

CELLS = (
    ("penbased", False),
    ("penbased", True),
    ("segment", False),
    ("vowel", False),
)
LAPSES = (0.0, 0.1, 0.2, 0.3)
HEATS = (1.0, 0.5, 0.25)
DRAWS = 64


@dataclass(frozen=True)
class ShareOnly(APM):
    """R in place of sigma R: every candidate is credited with the largest variance."""

    def match(self, belief: Belief, X: Any, candidates: Any, laws: Any) -> Match:
        view = self.view(belief, laws)
        effective = self.message.effective(self.channel, belief, X, candidates, view)  # type: ignore[attr-defined]
        power = effective.budget(self.power, X, radius=self.radius)
        centre = effective.moments.square * power_of_mean(view.laws)
        spread = -2.0 * TWO_ATOMS * power * np.sqrt(effective.moments.share)
        return Match(view.channel, effective.laws, power, centre, spread, power)


@dataclass(frozen=True)
class RankedPair(ContestedPair):
    """The classes in two given places of the ranking; by logits, or by averaged probabilities."""

    places: tuple[int, int] = (0, 1)
    averaged: bool = False

    def view(self, belief: Belief, laws: Any) -> View:
        order = np.argsort(-self.worth(laws), axis=1, kind="stable")
        pairs = np.ascontiguousarray(order[:, list(self.places)])
        return View(Logistic(), pair_laws(laws, pairs), pairs, PAIR_POWER)

    def worth(self, laws: Any) -> np.ndarray:
        """What the classes of each candidate are ranked by, `(n, K)`."""
        if not self.averaged:
            return laws.mean
        values, vectors = np.linalg.eigh(laws.shape)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        normal = np.random.default_rng(0).standard_normal((DRAWS, len(values))) @ root.T
        total = np.zeros_like(laws.mean)
        for each in normal:
            total += Softmax(len(values)).prob(laws.mean + np.sqrt(laws.scale)[:, None] * each)
        return total


@dataclass(frozen=True)
class TopPairs(APM):
    """The score averaged over the three pairs of the three likeliest classes."""

    parts: tuple[RankedPair, ...] = field(
        default=(RankedPair((0, 1)), RankedPair((0, 2)), RankedPair((1, 2))), kw_only=True
    )

    def match(self, belief: Belief, X: Any, candidates: Any, laws: Any) -> Match:
        order = np.sort(Softmax(laws.dim).prob(laws.mean), axis=1)[:, ::-1]
        found = []
        for part in self.parts:
            found.append(
                APM(self.power, channel=part, message=self.message, radius=self.radius).match(
                    belief, X, candidates, laws
                )
            )
        weights = np.stack([order[:, p.places[0]] * order[:, p.places[1]] for p in self.parts])
        weights /= weights.sum(axis=0)
        centre = sum(w * each.centre for w, each in zip(weights, found, strict=True))
        # the budgets of the pairs differ: the constants belong to the weights, too
        spread = sum(w * (f.spread + f.constant) for w, f in zip(weights, found, strict=True))
        return replace(found[0], centre=np.asarray(centre), spread=np.asarray(spread), constant=0.0)


_PAIR: dict[str, Any] = {"channel": ContestedPair(), "message": Predictions()}
MANY: dict[str, Selector] = {
    "margin": Margin(),
    "pool maximum": APM(PoolMaxPower(), **_PAIR),
    "signal, not charged": APM(SignalPower(), charged=False, **_PAIR),
    "signal": APM(SignalPower(), **_PAIR),
    "share": APM(SharePower(), **_PAIR),
    "share: R for sigma R": ShareOnly(SharePower(), **_PAIR),
    "share: averaged pair": APM(
        SharePower(), channel=RankedPair(averaged=True), message=Predictions()
    ),
    "share: three pairs": TopPairs(SharePower(), message=Predictions()),
    "pair alone": APM(PoolMaxPower(), channel=ContestedPair()),
}
LAPLACE = "share: full Laplace"  # with margin on the same posterior beside it
LAPLACE_MARGIN = "margin: full Laplace"
_TWO: dict[str, Any] = {"message": Predictions()}


def spread_of_picks(split: Split, picks: np.ndarray) -> float:
    """The median distance of a pick to the nearest labelled row, over that of a random row."""
    rng, seen = np.random.default_rng(0), list(split.seeds)
    ratios = []
    for pick in picks:
        labelled = split.pool[seen]
        some = split.pool[rng.choice(len(split.pool), 50)]
        usual = np.median(np.linalg.norm(some[:, None] - labelled[None], axis=2).min(axis=1))
        ratios.append(np.linalg.norm(labelled - split.pool[pick], axis=1).min() / usual)
        seen.append(pick)
    return float(np.median(ratios))


def many_classes(name: str, unit_norm: bool, seed: int) -> dict[str, tuple[np.ndarray, float]]:
    """The curve of each method and how far apart its picks are."""
    data = load(name)
    split = make_split(data, 0, seed=seed, cap=POOL_CAP, unit_norm=unit_norm)
    classes = np.arange(data.num_classes)
    found = {}
    runs: list[tuple[str, Selector, Posterior]] = [
        (method, selector, Bohning(len(classes), 1.0, classes=classes))
        for method, selector in MANY.items()
    ]
    if name != "vowel":
        laplace = Laplace(Softmax(len(classes)), 1.0, classes=classes)
        runs += [(LAPLACE, MANY["share"], laplace), (LAPLACE_MARGIN, Margin(), laplace)]
    for method, selector, model in runs:
        rng = stream(seed, name, "rule", method)
        run = run_method(split, method, model=model, selector=selector, queries=LABELS, rng=rng)
        found[method] = run.arrays["accuracy"], spread_of_picks(split, run.arrays["picks"])
    return found


class Contest:
    """Learners that are told the same labels; before each question one of them is chosen."""

    def __init__(
        self,
        split: Split,
        learners: Sequence[Learner],
        choose: Callable[[Contest], int],
        weights: Sequence[float] | None = None,
    ) -> None:
        self.split, self.learners, self.choose = split, list(learners), choose
        self.weights = [1.0] * len(learners) if weights is None else list(weights)
        self.surprise = np.zeros(len(learners))  # - sum of ln p(label) before it was told
        self.told: list[int] = []
        for row in split.seeds:
            self.tell(int(row))

    def tell(self, row: int) -> None:
        label = int(self.split.labels[row])
        for place, learner in enumerate(self.learners):
            if len(self.told) >= 2:
                chance = learner.predict_proba(self.split.pool[row : row + 1])[0, label]
                self.surprise[place] -= np.log(max(float(chance), 1e-12))
            learner.tell(row, label, sample_weight=self.weights[place])
        self.told.append(row)

    def base_surprise(self) -> float:
        """The same for frequencies of labels: Laplace's rule of succession."""
        labels = self.split.labels[self.told]
        total = 0.0
        for count in range(2, len(labels)):
            same = np.sum(labels[:count] == labels[count])
            total -= np.log((same + 1.0) / (count + 2.0))
        return total

    def run(self, queries: int) -> np.ndarray:
        """The accuracy of the learner that is chosen, before the first question and after each."""
        curve = []
        for step in range(queries + 1):
            learner = self.learners[self.choose(self)]
            guess = learner.predict(self.split.test)
            curve.append(float(np.mean(guess == self.split.test_labels)))
            if step < queries:
                self.tell(int(learner.ask()))
        return np.array(curve)


def by_surprise(contest: Contest) -> int:
    """The learner that foresaw the labels best: its evidence, label by label."""
    return int(np.argmin(contest.surprise))


def by_doubt(contest: Contest) -> int:
    """The rule (0), or exploration (1) while the model is worse than frequencies."""
    return int(contest.surprise[0] > contest.base_surprise())


def two_classes(seed: int, name: str = "vehicle-cars") -> dict[str, np.ndarray]:
    """The curves on a data set where a linear model is near chance."""
    split, classes = make_split(load(name), 0, seed=seed, cap=POOL_CAP), np.arange(2)
    rule = APM(PoolMaxPower(), **_TWO)

    def made(model: Posterior, selector: Selector) -> Learner:
        return Learner(split.pool, model, selector, seed=stream(seed, name, "rule"))

    def logistic(selector: Selector) -> Learner:
        return made(VariationalLogistic(PRIOR_PRECISION, classes=classes), selector)

    found = {}
    plain = {
        "largest variance": MaxVariance(),
        "random": Random(),
        "EPIG": EPIG(),
        "uncertainty": Uncertainty(),
        "APM-LR": APM(),
        "pool maximum": rule,
        "share": APM(SharePower(), **_TWO),
    }
    for method, selector in plain.items():
        found[method] = Contest(split, [logistic(selector)], lambda _: 0).run(QUERIES)
    lapses = [
        made(Laplace(Lapse(Logistic(), rate / 2, rate / 2), PRIOR_PRECISION, classes=classes), rule)
        for rate in LAPSES
    ]
    found["pool maximum: lapse rate by evidence"] = Contest(split, lapses, by_surprise).run(QUERIES)
    heats = [logistic(rule) for _ in HEATS]
    found["pool maximum: tempered"] = Contest(split, heats, by_surprise, HEATS).run(QUERIES)
    for other, selector in (("random", Random()), ("largest variance", MaxVariance())):
        pair = [logistic(rule), logistic(selector)]
        found[f"pool maximum: {other} while in doubt"] = Contest(split, pair, by_doubt).run(QUERIES)
    return found


def rows_of(name: str, against: str, curves: dict[str, np.ndarray]) -> list[tuple[Any, ...]]:
    """Differences of area to one method, all labels and by thirds: mean and standard error."""
    rows = []
    for method, found in curves.items():
        gaps = 1000.0 * (found - curves[against])[:, 1:]
        third = gaps.shape[1] // 3
        row: list[Any] = [name, method, len(gaps), f"{100 * found[:, 1:].mean():.2f}"]
        for part in (slice(None), slice(0, third), slice(third, 2 * third), slice(2 * third, None)):
            mean = gaps[:, part].mean(axis=1)
            error = mean.std(ddof=1) / np.sqrt(len(mean))
            row += [f"{mean.mean():.1f}", f"{error:.1f}"]
        rows.append(tuple(row))
    return rows


HEADER = ("data", "method", "seeds", "accuracy", "difference", "error", "early", "error of early",
          "middle", "error of middle", "late", "error of late", "distance")  # fmt: skip


def main(path: str, seeds: int = 8) -> None:
    rows: list[tuple[Any, ...]] = []
    runs = [two_classes(seed) for seed in range(2 * seeds)]
    curves = {method: np.array([run[method] for run in runs]) for method in runs[0]}
    rows += [(*row, "") for row in rows_of("vehicle-cars", "largest variance", curves)]
    write_csv(Path(path), HEADER, rows)
    for name, unit_norm in CELLS:
        found = [many_classes(name, unit_norm, seed) for seed in range(seeds)]
        curves = {method: np.array([run[method][0] for run in found]) for method in found[0]}
        apart = {method: np.mean([run[method][1] for run in found]) for method in found[0]}
        cell = f"{name}, {'unit norm' if unit_norm else 'standardised'}"
        rows += [(*row, f"{apart[row[1]]:.2f}") for row in rows_of(cell, "margin", curves)]
        write_csv(Path(path), HEADER, rows)
        print(cell, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
