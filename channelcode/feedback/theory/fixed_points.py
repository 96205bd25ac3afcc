"""When matching gathers n C bits and yet a bit is never learned: fixed points of the maps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import Array, distribution, non_negative
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure

MOST_LETTERS = 8  # 40,320 orders


@dataclass(frozen=True)
class FixedPoints:
    """The common fixed points of phi -> F(phi | y) for an order of the letters.

    - `points`: phi in (0, 1) with F(phi | y) = phi for every output y, in the given order. The
      posterior mass of [0, phi) then never moves, although I(Theta; Y^n) = n I. `spans` are whole
      intervals of them (a letter whose outputs say nothing);
    - `orders`: every order of the letters that has one, as tuples of places in the input;
    - `safe_order`: an order without any, the given one if it will do; None if there is none;
    - `monotone`: outputs (y, y') whose ratio W(y'|x)/W(y|x) is non-decreasing and not constant in
      the given order, which proves that there is no fixed point; None if there is no such pair.

    The result is true if the given order fails.
    """

    points: tuple[float, ...]
    spans: tuple[tuple[float, float], ...]
    orders: tuple[tuple[int, ...], ...]
    safe_order: tuple[int, ...] | None
    monotone: tuple[int, int] | None

    @property
    def fails(self) -> bool:
        """Whether some bit is never learned in the given order."""
        return bool(self.points or self.spans)

    def __bool__(self) -> bool:
        return self.fails

    def __str__(self) -> str:
        if self.monotone is not None:
            return f"cannot fail: the likelihood ratio of outputs {self.monotone} is monotone"
        if self.fails:
            other = "" if self.safe_order is None else f"; the order {self.safe_order} does not"
            return f"fails: the mass left of {self.points or self.spans} never moves{other}"
        return "does not fail in this order, but the likelihood ratio is not monotone"


def fixed_points(
    channel: Channel, input: DiscreteMeasure | ArrayLike, *, atol: float = 1e-9
) -> FixedPoints:
    """Find what posterior matching cannot learn with this channel and input law.

    `input` gives the letters in order: a `DiscreteMeasure`, or the weights of the channel's own
    letters. phi is a fixed point if |F(phi | y) - phi| <= atol for every possible output y; F is
    linear between the cuts, so the cuts and one point for each segment are all there is to try.

    >>> from channelcode import BinarySymmetric, DiscreteChannel
    >>> typewriter = DiscreteChannel(
    ...     [[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5], [0.5, 0, 0, 0.5]])
    >>> fixed_points(typewriter, DiscreteMeasure([0, 2, 1, 3], [0.25] * 4)).points
    (0.5,)
    >>> fixed_points(BinarySymmetric(0.1), [0.5, 0.5]).monotone
    (0, 1)
    """
    if not isinstance(channel, Channel):
        raise InvalidArgument("channel", "must be a channel", channel)
    tolerance = non_negative("atol", atol)
    letters, weights = _letters(channel, input)
    rows = channel.prob(letters)
    rows = rows[:, weights @ rows > 0]
    possible = np.flatnonzero(weights @ channel.prob(letters) > 0)
    points, spans = _common(rows, weights, tolerance)
    orders: list[tuple[int, ...]] = []
    safe: tuple[int, ...] | None = None
    for order in permutations(range(len(weights))):
        found = _common(rows[list(order)], weights[list(order)], tolerance)
        if found != ((), ()):
            orders.append(order)
        elif safe is None:
            safe = order
    pair = None if points or spans else _monotone(rows)
    named = None if pair is None else (int(possible[pair[0]]), int(possible[pair[1]]))
    return FixedPoints(points, spans, tuple(orders), safe, named)


def maps(rows: Array, weights: Array, phi: Array) -> Array:
    """F(phi | y) = sum_x W(y|x) |[0, phi) cut with the cell of x| / q(y), `(len(phi), |Y|)`."""
    ends = np.concatenate(([0.0], np.cumsum(weights)))
    inside = np.clip(phi[:, None] - ends[:-1], 0.0, weights)
    return inside @ rows / (weights @ rows)


def _letters(channel: Channel, input: DiscreteMeasure | ArrayLike) -> tuple[Array, Array]:
    if isinstance(input, DiscreteMeasure):
        letters, weights = input.atoms, input.weights
    elif channel.inputs is None:
        rule = "must be a DiscreteMeasure for a channel whose input is continuous"
        raise InvalidArgument("input", rule, input)
    else:
        letters = channel.inputs
        weights = distribution("input", input, ndim=1)
        if len(weights) != len(letters):
            rule = f"must have one weight for each of {len(letters)} letters"
            raise InvalidArgument("input", rule, f"{len(weights)} weights")
    used = weights > 0
    if np.count_nonzero(used) > MOST_LETTERS:
        rule = f"must have at most {MOST_LETTERS} letters: all their orders are tried"
        raise InvalidArgument("input", rule, int(np.count_nonzero(used)))
    return letters[used], weights[used]


def _common(
    rows: Array, weights: Array, atol: float
) -> tuple[tuple[float, ...], tuple[tuple[float, float], ...]]:
    """The fixed points of one order: isolated ones, and segments of them."""
    ends = np.concatenate(([0.0], np.cumsum(weights)[:-1], [1.0]))
    gaps = maps(rows, weights, ends) - ends[:, None]
    still = np.abs(gaps).max(axis=1) <= atol
    spans = [
        (float(ends[j]), float(ends[j + 1]))
        for j in range(len(weights))
        if still[j] and still[j + 1]
    ]
    if len(spans) == len(weights):
        return (), ((0.0, 1.0),)  # the outputs say nothing at all
    covered = {end for span in spans for end in span}
    points = [float(end) for end, quiet in zip(ends[1:-1], still[1:-1]) if quiet]
    points = [point for point in points if point not in covered]
    for j in range(len(weights)):
        if still[j] or still[j + 1]:
            continue  # linear: a further zero inside would make it zero throughout
        low, high = gaps[j], gaps[j + 1]
        moving = int(np.argmax(np.abs(high - low)))
        slope = high[moving] - low[moving]
        if slope == 0.0:
            continue
        share = -low[moving] / slope
        if 0.0 < share < 1.0 and np.abs(low + share * (high - low)).max() <= atol:
            points.append(float(ends[j] + share * (ends[j + 1] - ends[j])))
    return tuple(sorted(points)), tuple(spans)


def _monotone(rows: Array) -> tuple[int, int] | None:
    """Outputs (y, y') with W(y'|x2) W(y|x1) >= W(y'|x1) W(y|x2) for x1 < x2, somewhere strictly.

    Then F(phi|y') = F(phi|y) = phi at an interior phi would make the two columns proportional.
    """
    count, outputs = rows.shape
    later = np.triu(np.ones((count, count), dtype=bool), 1)
    for y in range(outputs):
        for other in range(outputs):
            cross = np.outer(rows[:, y], rows[:, other]) - np.outer(rows[:, other], rows[:, y])
            scale = np.outer(rows[:, y], rows[:, other]) + np.outer(rows[:, other], rows[:, y])
            # a product that rounding may have made negative is not counted against it
            if (cross[later] >= -1e-14 * scale[later]).all() and (
                cross[later] > 1e-12 * scale[later]
            ).any():
                return y, other
    return None
