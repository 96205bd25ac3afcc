"""Rules that judge claims: which methods lead, are level, cost more, explore more."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from apm.studies.engine.statistics import (
    Interval,
    bootstrap_interval,
    interval_of,
    resampled_means,
)
from apm.studies.engine.trial import area_under_curve
from apm.studies.paper.claims.verdicts import Sheets, Verdict, comparable, every, exceeds
from channelcode._validation import Array

FEWEST = 20  # trials for a claim that is found on one half of them and judged on the other
EARLY = 40  # "initially", in the failure analysis: the first 40 queries
Judge = Callable[[Sheets], tuple[Verdict, Interval, str]]


def ahead_on(dataset: str, leaders: tuple[str, ...], others: tuple[str, ...]) -> Judge:
    """Every leader's area exceeds every other's on one data set."""

    def judge(sheets: Sheets) -> tuple[Verdict, Interval, str]:
        sheet = sheets[dataset]
        pairs = [(f"{a} - {b}", sheet.difference(a, b)) for a, b in product(leaders, others)]
        verdict, label, worst = every(pairs, exceeds)
        return verdict, worst, f"area, {label}"

    return judge


def level_on(datasets: tuple[str, ...], first: str, others: tuple[str, ...]) -> Judge:
    """The area of `first` is comparable with every other's on each data set."""

    def judge(sheets: Sheets) -> tuple[Verdict, Interval, str]:
        pairs = [
            (f"{first} - {other}, {name}", sheets[name].difference(first, other))
            for name, other in product(datasets, others)
        ]
        verdict, label, worst = every(pairs, comparable)
        return verdict, worst, f"area, {label}"

    return judge


def mean_difference(sheets: Sheets, first: str, second: str) -> Interval:
    """The mean over all data sets of the paired difference of areas, trials resampled in each."""
    draws, estimates = [], []
    for place, sheet in enumerate(sheets.values()):
        values = sheet.areas[first] - sheet.areas[second]
        estimates.append(values.mean())
        draws.append(resampled_means(values, rng=place))
    count = len(next(iter(sheets.values())).areas[first])
    return interval_of(float(np.mean(estimates)), np.mean(draws, axis=0), count=count)


def over_all(pairs: tuple[tuple[str, str], ...], decide: Callable[[Interval], Verdict]) -> Judge:
    """A rule on the mean difference over all data sets, for each pair of methods."""

    def judge(sheets: Sheets) -> tuple[Verdict, Interval, str]:
        found = [(f"{a} - {b}", mean_difference(sheets, a, b)) for a, b in pairs]
        verdict, label, worst = every(found, decide)
        first, second = label.split(" - ")
        won = sum(exceeds(sheet.difference(first, second)) == "held" for sheet in sheets.values())
        lost = sum(
            exceeds(sheet.difference(first, second)) == "not held" for sheet in sheets.values()
        )
        count = f"ahead on {won}, behind on {lost} of {len(sheets)} sets"
        return verdict, worst, f"mean area, {label}; {count}"

    return judge


def smaller_early(dataset: str, name: str, low: tuple[str, ...], high: tuple[str, ...]) -> Judge:
    """The mean of a measure over the first queries is smaller for each of `low` than of `high`."""

    def judge(sheets: Sheets) -> tuple[Verdict, Interval, str]:
        sheet = sheets[dataset]
        if name not in sheet.arrays:
            raise KeyError(f"the measure {name} on {dataset}")

        def early(method: str) -> Array:
            return np.nanmean(sheet.of(method, name)[:, :EARLY], axis=1)

        pairs = [
            (f"{b} - {a}", bootstrap_interval(early(b) - early(a))) for a, b in product(low, high)
        ]
        verdict, label, worst = every(pairs, exceeds)
        return verdict, worst, f"{name} over the first {EARLY} queries, {label}"

    return judge


def peaks_early(dataset: str, methods: tuple[str, ...]) -> Judge:
    """Accuracy peaks, then falls: the peak is found on half of the trials, judged on the others."""

    def judge(sheets: Sheets) -> tuple[Verdict, Interval, str]:
        sheet = sheets[dataset]
        pairs = []
        for method in methods:
            curves = sheet.of(method, "accuracy")
            if len(curves) < FEWEST:
                raise KeyError(f"{FEWEST} trials of {dataset}")
            peak = int(np.argmax(curves[0::2].mean(axis=0)))
            drop = curves[1::2, peak] - curves[1::2, -1]
            pairs.append((f"{method}, peak at query {peak}", bootstrap_interval(drop)))
        verdict, label, worst = every(pairs, exceeds)
        last = sheets[dataset].arrays["accuracy"].shape[2] - 1
        return verdict, worst, f"accuracy at the peak - at query {last}, {label}"

    return judge


def cost_ratio(
    kind: str, dear: tuple[str, ...], cheap: tuple[str, ...], factor: float = 1.0
) -> Judge:
    """On most data sets the cost of each `dear` method is above `factor` times each `cheap` one."""

    def judge(sheets: Sheets) -> tuple[Verdict, Interval, str]:
        pairs = []
        for a, b in product(dear, cheap):
            ratios = [
                sheet.cumulative_seconds(a)[kind] / max(sheet.cumulative_seconds(b)[kind], 1e-9)
                for sheet in sheets.values()
            ]
            low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
            pairs.append((f"{a} / {b}", Interval(float(middle), float(low), float(high))))
        label, worst = min(pairs, key=lambda pair: pair[1].estimate)
        verdict: Verdict = "not resolved"
        if worst.low > factor:
            verdict = "held"
        elif worst.high < factor:
            verdict = "not held"
        needed = f", needs above {factor:g}" if factor != 1.0 else ""
        return verdict, worst, f"{kind} time, {label}: median and quartiles over the sets{needed}"

    return judge


def full_horizon_level(dataset: str, pairs: tuple[tuple[str, str], ...]) -> Judge:
    """Two methods are comparable over the whole horizon of a data set."""

    def judge(sheets: Sheets) -> tuple[Verdict, Interval, str]:
        sheet = sheets[dataset]
        found = []
        for first, second in pairs:
            if not {first, second} <= set(sheet.methods):
                raise KeyError(f"{first} and {second} on {dataset}")
            areas = [area_under_curve(sheet.of(name, "accuracy")) for name in (first, second)]
            found.append((f"{first} - {second}", bootstrap_interval(areas[0] - areas[1])))
        verdict, label, worst = every(found, comparable)
        return verdict, worst, f"area over the whole horizon, {label}"

    return judge


def same_order(reference: str, datasets: tuple[str, ...], methods: tuple[str, ...]) -> Judge:
    """Methods rank on each data set as on the reference: mean Spearman correlation."""

    def judge(sheets: Sheets) -> tuple[Verdict, Interval, str]:
        from scipy.stats import rankdata

        def correlation(weights: Array) -> float:
            def ranks(name: str) -> Array:
                areas = np.array([sheets[name].areas[method] for method in methods])
                return rankdata(areas @ weights)

            base = ranks(reference)
            return float(np.mean([np.corrcoef(base, ranks(name))[0, 1] for name in datasets]))

        count = len(sheets[reference].areas[methods[0]])
        generator = np.random.default_rng(0)
        draws = generator.multinomial(count, np.full(count, 1 / count), size=500) / count
        values = np.array([correlation(weights) for weights in draws])
        interval = interval_of(correlation(np.full(count, 1 / count)), values, count=count)
        return exceeds(interval), interval, f"Spearman correlation of areas with {reference}"

    return judge
