"""The best pairs: by bounds on pairs of leaves, from a list sorted by the mean, or by blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apm.pairs.leaves import Leaves
from apm.pairs.scores import Score
from channelcode._validation import Array

LEAF = 64
BLOCK = 1024
GROUP = 8  # leaves in a group
FIRST = 4  # pairs of groups looked at before it is decided whether bounds help
HELPFUL = 0.25  # of all pairs still open: more, and blocks are quicker
NEIGHBOURS = 8  # in the order of means, looked at first
CLOSE = 0.02  # of all pairs with means close enough: fewer, and a sorted list is quickest
CHUNK = 1_000_000  # pairs from that list at a time
CANCELS = 1e-5  # of the lengths: a smaller square has lost too many digits in the product
FEW = 0.02  # of the pairs of two groups: fewer are scored one by one
Pairs = NDArray[np.intp]


class Found(NamedTuple):
    """The best pairs `(k, 2)` with their scores, best first; how many were scored; and how."""

    pairs: Pairs
    scores: Array
    looked_at: int
    method: str


class Best:
    """The k best pairs so far; among equal scores the first pair in order of items."""

    def __init__(self, count: int, num_items: int, excluded: Pairs) -> None:
        self.count, self.num_items = count, num_items
        self.excluded = np.unique(excluded[:, 0] * num_items + excluded[:, 1])
        self.keys = np.empty(0, dtype=np.intp)
        self.scores = np.empty(0)

    @property
    def level(self) -> float:
        """A score below this is of no use."""
        return -np.inf if len(self.scores) < self.count else float(self.scores[-1])

    def offer(self, left: Pairs, right: Pairs, scores: Array) -> None:
        """Take in pairs that may be among the best; left and right in any order."""
        use = (scores >= self.level) & (left != right)
        if not use.any():
            return
        left, right, scores = left[use], right[use], scores[use]
        keys = np.minimum(left, right) * self.num_items + np.maximum(left, right)
        fresh = ~np.isin(keys, self.excluded)
        keys, first = np.unique(np.append(self.keys, keys[fresh]), return_index=True)
        scores = np.append(self.scores, scores[fresh])[first]
        order = np.lexsort((keys, -scores))[: self.count]
        self.keys, self.scores = keys[order], scores[order]

    def found(self, looked_at: int, method: str) -> Found:
        """What came out."""
        pairs = np.column_stack(np.divmod(self.keys, self.num_items))
        return Found(pairs, self.scores, looked_at, method)


def best_pairs(
    points: Array,
    values: Array,
    score: Score,
    *,
    count: int = 1,
    excluded: Pairs | None = None,
    leaf: int = LEAF,
) -> Found:
    """The `count` best pairs i < j of items with z_i = `points` `(n, r)` and m_i = `values` `(n,)`.

    Where a rule wants equal means, and few pairs have means as close as the best score so far asks
    for, these are taken from a list sorted by the mean. Otherwise pairs of groups of leaves are
    bounded, and then the pairs of leaves inside those that may hold the best: these are looked at
    in falling order of their bounds until the next bound is below the best found. If the bounds of
    the groups leave too many pairs open, all are looked at block by block.
    """
    n = len(values)
    left_out = np.empty((0, 2), dtype=np.intp) if excluded is None else excluded
    look = Look(points - points.mean(axis=0), values, score, Best(count, n, left_out))
    if score.wants_equal_means and _by_mean(look):
        return look.found("means")
    leaves = Leaves.of(look.points, values, leaf)
    groups = leaves.grouped(GROUP)
    one, other, bound = _bounds(groups, score, *np.triu_indices(len(groups)))
    for pair in np.argsort(-bound, kind="stable")[:FIRST]:
        look.at(groups.members[one[pair]], groups.members[other[pair]])
    kept = bound >= look.best.level
    size = np.array([len(rows) for rows in groups.members])
    if (size[one[kept]] * size[other[kept]]).sum() > HELPFUL * n * n:
        _by_blocks(look)
        return look.found("blocks")
    one, other, bound = _bounds(leaves, score, *groups.inside(one[kept], other[kept]))
    for pair in np.argsort(-bound, kind="stable"):
        if bound[pair] < look.best.level:
            break
        look.at(leaves.members[one[pair]], leaves.members[other[pair]])
    return look.found("leaves")


class Look:
    """Scores the pairs of two groups of items and keeps the best, and counts."""

    def __init__(self, points: Array, values: Array, score: Score, best: Best) -> None:
        self.points, self.values, self.score, self.best = points, values, score, best
        self.span = float(np.ptp(values)), float(np.linalg.norm(np.ptp(points, axis=0)))
        self.level, self.limits, self.scored = -np.inf, (self.span[0], 0.0), 0

    def tighten(self) -> tuple[float, float]:
        """The largest |m| and the least deviation that the best score so far leaves open."""
        level = self.best.level
        if level > self.level + 1e-3 * abs(self.level) or self.level == -np.inf < level:
            self.limits = self.score.limits(level, *self.span)
            self.level = level
        return self.limits

    def at(self, left: Pairs, right: Pairs, *, by_means: bool = True) -> None:
        """Every pair of an item in `left` with one in `right`.

        Means are compared first, and few of them may be close enough, unless told otherwise.
        """
        most, _ = self.tighten()
        apart = np.abs(self.values[left][:, None] - self.values[right])
        if by_means and most < self.span[0]:
            close = apart <= most * (1.0 + 1e-9)
            if np.count_nonzero(close) < FEW * close.size:
                rows, columns = np.nonzero(close)
                self.these(left[rows], right[columns])
                return
        centre = self.points[left[0]]
        d = distances(self.points[left] - centre, self.points[right] - centre)
        self._score(left, right, apart, d)

    def these(self, left: Pairs, right: Pairs) -> None:
        """The pairs (left[k], right[k])."""
        _, least = self.limits
        d = np.linalg.norm(self.points[left] - self.points[right], axis=1)
        wide = d >= least * (1.0 - 1e-9)
        left, right, d = left[wide], right[wide], d[wide]
        if len(left):
            apart = np.abs(self.values[left] - self.values[right])
            self.scored += len(left)
            self.best.offer(left, right, self.score.values(apart, d))

    def _score(self, left: Pairs, right: Pairs, apart: Array, d: Array) -> None:
        if self.score.dear:
            most, least = self.limits
            hopeful = (apart <= most * (1.0 + 1e-9)) & (d >= least * (1.0 - 1e-9))
            rows, columns = np.nonzero(hopeful)
            if len(rows) == 0:
                return
            scores = self.score.values(apart[rows, columns], d[rows, columns])
        else:
            table = self.score.values(apart, d)
            rows, columns = np.nonzero(table >= self.best.level)
            scores = table[rows, columns]
        self.scored += len(rows)
        self.best.offer(left[rows], right[columns], scores)

    def found(self, method: str) -> Found:
        """What came out."""
        return self.best.found(self.scored, method)


def distances(z: Array, w: Array) -> Array:
    """|z_i - w_j|, `(a, b)`, by one matrix product; near points, where it cancels, one by one."""
    squares = z @ w.T
    squares *= -2.0
    lengths = np.einsum("ar,ar->a", z, z)[:, None], np.einsum("br,br->b", w, w)
    squares += lengths[0]
    squares += lengths[1]
    near = squares < CANCELS * (float(lengths[0].max()) + float(lengths[1].max()))
    if near.any():
        rows, columns = np.nonzero(near)
        near_by = squares[rows, columns] < CANCELS * (lengths[0][rows, 0] + lengths[1][columns])
        rows, columns = rows[near_by], columns[near_by]
        squares[rows, columns] = np.square(z[rows] - w[columns]).sum(axis=1)
    return np.sqrt(squares, out=squares)


def _bounds(leaves: Leaves, score: Score, one: Pairs, other: Pairs) -> tuple[Pairs, Pairs, Array]:
    """The bounds of the pairs (one[k], other[k]) of leaves, in pieces; and those numbers."""
    pieces = range(0, len(one), CHUNK // 16)
    parts = [slice(start, start + CHUNK // 16) for start in pieces]
    bound = [score.bound(*leaves.apart(one[part], other[part])) for part in parts]
    return one, other, np.concatenate(bound) if bound else np.empty(0)


def _by_mean(look: Look) -> bool:
    """All pairs whose means are close enough, if these are few; whether they were.

    Neighbours in the order of means come first; the best of them says what is close enough.
    """
    n, order = len(look.values), np.argsort(look.values, kind="stable")
    ranked = look.values[order]
    for step in range(1, min(NEIGHBOURS, n - 1) + 1):
        look.these(order[:-step], order[step:])
    most, _ = look.tighten()
    last = np.searchsorted(ranked, ranked + most * (1.0 + 1e-9) + 1e-300, side="right")
    number = last - np.arange(1, n + 1)
    if number.sum() > CLOSE * n * (n - 1) / 2:
        return False
    place = 0
    while place < n:
        ends = np.cumsum(number[place:])
        stop = place + max(1, int(np.searchsorted(ends, CHUNK, side="right")))
        rows = np.repeat(np.arange(place, stop), number[place:stop])
        begin = np.repeat(ends[: stop - place] - number[place:stop], number[place:stop])
        look.these(order[rows], order[rows + 1 + np.arange(len(rows)) - begin])
        place = stop
    return True


def _by_blocks(look: Look) -> None:
    n = len(look.values)
    numbers = np.arange(n)
    for start in range(0, n, BLOCK):
        for begin in range(start, n, BLOCK):
            right = numbers[begin : begin + BLOCK]
            look.at(numbers[start : start + BLOCK], right, by_means=False)
