"""The best of all pairs of many items against looking at every pair in blocks.

    python benchmarks/bench_pairs.py [items]

CPU seconds of one search each, in one run. The blocks are one matrix product and the rule's
formula for 1,024 x 1,024 pairs at a time. For information gain they get the same cheap test before
the integral that the search uses, with the best value known from the start, which favours them.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from apm.pairs.scores import Gain, Score, Spread, Transport
from apm.pairs.search import best_pairs, distances
from channelcode import Logistic

BLOCK = 1024


def by_blocks(points: np.ndarray, values: np.ndarray, score: Score, level: float) -> float:
    """The best score of all pairs; `level` is used by a dear score alone."""
    best, n = -np.inf, len(values)
    span = float(np.ptp(values)), float(np.linalg.norm(np.ptp(points, axis=0)))
    most, least = score.limits(level, *span)
    for start in range(0, n, BLOCK):
        rows = slice(start, start + BLOCK)
        for begin in range(start, n, BLOCK):
            columns = slice(begin, begin + BLOCK)
            d = distances(points[rows], points[columns])
            m = np.abs(values[rows, None] - values[columns])
            if start == begin:
                d[np.diag_indices(len(d))] = 0.0
            if score.dear:
                keep = (m <= most * (1 + 1e-9)) & (d >= least * (1 - 1e-9))
                table = score.values(m[keep], d[keep]) if keep.any() else np.empty(0)
            else:
                table = score.values(m, d)
                if start == begin:
                    table[np.diag_indices(len(table))] = -np.inf
            best = max(best, float(table.max(initial=-np.inf)))
    return best


def main() -> None:
    """One line for each rule and number of features."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    rng = np.random.default_rng(0)
    print(f"{count:,} items, {count * (count - 1) // 2:,} pairs")
    for features in (3, 10, 30):
        items, mean = rng.normal(size=(count, features)), rng.normal(size=features)
        factor = np.tril(rng.normal(size=(features, features))) * 0.3 + 0.3 * np.eye(features)
        values, points = items @ mean, items @ factor
        scores = (Gain(Logistic()), Transport(4.0), Transport(100.0), Spread())
        for score in scores:
            best_pairs(points[:500], values[:500], score)  # compiled before it is timed
            begin = time.process_time()
            found = best_pairs(points, values, score)
            own = time.process_time() - begin
            begin = time.process_time()
            best = by_blocks(points, values, score, float(found.scores[0]))
            theirs = time.process_time() - begin
            agree = abs(best - found.scores[0]) <= 1e-9 * (1 + abs(best))
            print(
                f"{features:3d} features  {score!s:30s} {found.method:7s} {own:7.3f} s   "
                f"blocks {theirs:7.2f} s   {theirs / own:6.1f} times   same best: {agree}",
                flush=True,
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the whole run {peak:,.0f} MB")


if __name__ == "__main__":
    main()
