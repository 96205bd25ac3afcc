"""What a channel promises about inputs that nobody has looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from channelcode._validation import (
    Array,
    Seed,
    as_generator,
    distribution,
    number,
    positive,
    read_only,
)
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from channelcode.channels.base import Channel

STEP = 0.125  # spacing of the resolving inputs, in widths at a landmark, in distances far from it
LEAVES = 0.05  # how far a probability may leave the range of its ends between resolving inputs
FARTHEST = 1e18  # stands for infinity
ROUNDING = 1e-12  # probabilities may step back by this and still count as monotone


class Landmark(NamedTuple):
    """A place where the channel bends, and how narrowly: `centre` (a tuple in R^dim), `width`."""

    centre: Any
    width: float


@dataclass(frozen=True)
class Tails:
    """A channel's promise about every input; each part is a fact of the channel, not a guess.

    - `landmarks`: every bend is near one of these. On the line: between neighbours of
      `resolving_inputs()`, which are an eighth of a width apart at a landmark and an eighth of the
      distance far from it, no p(y|l) leaves the range of its two ends by more than 0.05.
    - `turns_once`: along every straight line each p(y|l) turns at most once: it rises, then falls,
      or falls, then rises, or does only one of the two.
    - `radius`: along each ray from zero every p(y|l) is monotone beyond this distance; infinity
      promises nothing.
    - `limits`: on the line, the laws of Y as l goes to minus and to plus infinity, if known.

    `Channel.tails` returns None for a channel that promises nothing; `broken_promise` looks for
    inputs that contradict what a channel says.

    >>> from channelcode import Ordinal
    >>> promise = Ordinal([5000.0, 5060.0]).tails()
    >>> promise.landmarks[0], promise.radius, promise.turns_once
    (Landmark(centre=5000.0, width=1.0), 5060.0, True)
    """

    landmarks: tuple[Landmark, ...] = ()
    radius: float = np.inf
    limits: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    turns_once: bool = False

    def __post_init__(self) -> None:
        places = tuple(_landmark(place) for place in self.landmarks)
        object.__setattr__(self, "landmarks", places)
        radius = np.inf if self.radius == np.inf else number("radius", self.radius)
        if radius < 0:
            raise InvalidArgument("radius", "must be non-negative", self.radius)
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "turns_once", bool(self.turns_once))
        if self.limits is not None:
            if len(self.limits) != 2:
                raise InvalidArgument("limits", "must hold a left and a right law", self.limits)
            laws = [tuple(distribution("limits", law).tolist()) for law in self.limits]
            object.__setattr__(self, "limits", tuple(laws))

    def resolving_inputs(self, farthest: float = FARTHEST, *, step: float = STEP) -> Array:
        """Sorted inputs on the line, within +-`farthest`, that see every bend; see `landmarks`.

        A larger `step` than an eighth gives fewer inputs, which no promise is made about.
        """
        return _resolving(self.landmarks, farthest, step)

    def moved(self, shift: float, scale: float) -> Tails:
        """The promise of the channel whose input is `scale * l + shift`, on the line."""
        if scale == 0.0:
            return Tails((), 0.0, None, True)
        with np.errstate(over="ignore"):
            moved = [((c - shift) / scale, w / abs(scale)) for c, w in self.landmarks]
        # a bend beyond the largest double is none
        places = [Landmark(c, w) for c, w in moved if np.isfinite(c) and np.isfinite(w)]
        monotone = self.radius == 0.0  # everywhere, so also seen from another zero
        with np.errstate(over="ignore"):
            radius = 0.0 if monotone else float(np.divide(self.radius + abs(shift), abs(scale)))
        limits = self.limits if len(places) == len(moved) else None
        if limits is not None and scale < 0:
            limits = (limits[1], limits[0])
        return replace(self, landmarks=tuple(places), radius=radius, limits=limits)


@lru_cache(maxsize=64)
def _resolving(landmarks: tuple[Landmark, ...], farthest: float, step: float) -> Array:
    """See `Tails.resolving_inputs`; read-only, as callers share it."""
    if not landmarks:
        return read_only(np.array([-farthest, farthest]))
    narrowest: dict[float, float] = {}
    for centre, width in landmarks:
        narrowest[centre] = min(width, narrowest.get(centre, np.inf))
    centres = np.array(sorted(narrowest))
    middles = 0.5 * (centres[:-1] + centres[1:])
    lows, highs = np.append(-np.inf, middles), np.append(middles, np.inf)
    pieces = [np.array([-farthest, farthest]), centres]
    for centre, low, high in zip(centres, lows, highs):
        width = narrowest[float(centre)]
        end = min(max(high - centre, centre - low), 2.0 * FARTHEST)
        count = int(np.ceil(np.arcsinh(end / width) / step))
        offsets = width * np.sinh(step * np.arange(1, count + 1))
        right, left = centre + offsets, centre - offsets
        pieces += [right[right < high], left[left > low]]
    points = np.unique(np.concatenate(pieces))
    return read_only(points[np.abs(points) <= farthest])


@lru_cache(maxsize=64)
def links(centre: float, width: float) -> Tails:
    """The promise of a binary response that rises from zero to one around `centre`."""
    return Tails((Landmark(centre, width),), 0.0, ((1.0, 0.0), (0.0, 1.0)), True)


def cells(link: Tails | None, thresholds: Iterable[float], *, peaked: bool) -> Tails | None:
    """The promise of the cells between thresholds, P(Y <= k | l) = F(t_k - l), from that of F.

    `peaked` says that F's density rises, then falls, and that each cell therefore does.
    """
    return None if link is None else _cells(link, tuple(thresholds), peaked)


@lru_cache(maxsize=64)
def _cells(link: Tails, cuts: tuple[float, ...], peaked: bool) -> Tails:
    places = [Landmark(t - c, w) for t in cuts for c, w in link.landmarks]
    limits = None
    if link.limits is not None:
        inner = (0.0,) * (len(cuts) - 1)
        (left_above, left_below), (right_above, right_below) = link.limits
        limits = ((right_below, *inner, right_above), (left_below, *inner, left_above))
    # beyond all landmarks every density value has passed its peak
    radius = max((abs(c) for c, _ in places), default=0.0) if peaked else np.inf
    return Tails(tuple(places), radius, limits, peaked)


def broken_promise(channel: Channel, *, rng: Seed = 0) -> str | None:
    """What contradicts `channel.tails()`, in words, or None if nothing was found.

    >>> from channelcode import Logistic
    >>> broken_promise(Logistic()) is None
    True
    """
    tails = channel.tails()
    if tails is None or channel.inputs is not None:
        return None
    if not isinstance(tails, Tails):
        return f"tails() must return Tails or None, not {tails!r}"
    generator = as_generator(rng)
    centres = [np.ravel(c) for c, _ in tails.landmarks]
    if any(len(c) != channel.dim for c in centres):
        return f"tails() gives landmarks that do not lie in R^{channel.dim}"
    far = 1e3 * (1.0 + max([float(np.linalg.norm(c)) for c in centres], default=0.0))
    far += 100.0 * max([w for _, w in tails.landmarks], default=0.0)
    if channel.dim == 1:
        message = _unresolved(channel, tails, far, generator) or _wrong_limits(channel, tails)
        if message:
            return message
        lines = [np.sort(np.append(tails.resolving_inputs(far), generator.uniform(-9, 9, 200)))]
        rays = [np.array([-1.0]), np.array([1.0])]
    else:
        directions = generator.standard_normal((12, channel.dim))
        starts = generator.standard_normal((12, channel.dim)) * generator.uniform(0, 6, (12, 1))
        reach = np.linspace(-30.0, 30.0, 601)[:, None]
        lines = [start + reach * d for start, d in zip(starts, directions)]
        rays = list(directions)
    if tails.turns_once:
        for line in lines:
            message = _second_turn(channel, line)
            if message:
                return message
    if tails.radius < np.inf:
        first = tails.radius / min(np.linalg.norm(ray) for ray in rays)
        steps = first + np.concatenate([[0.0], np.geomspace(1e-3, far, 400)])
        for ray in rays:
            points = steps[:, None] * ray
            prob = channel.prob(points[:, 0] if channel.dim == 1 else points)
            rise = np.diff(prob, axis=0)
            if ((rise > ROUNDING).any(axis=0) & (rise < -ROUNDING).any(axis=0)).any():
                return f"tails() says monotone beyond {tails.radius}, but a probability turns there"
    return None


def _landmark(place: Any) -> Landmark:
    centre, width = place
    values = np.ravel(np.asarray(centre, dtype=np.float64))
    if not np.isfinite(values).all():
        raise InvalidArgument("landmarks", "must have finite centres", place)
    flat = float(values[0]) if np.ndim(centre) == 0 else tuple(values.tolist())
    return Landmark(flat, positive("width", width))


def _unresolved(channel: Channel, tails: Tails, far: float, rng: np.random.Generator) -> str | None:
    grid = tails.resolving_inputs(far)
    ends = channel.prob(grid)
    low, high = np.minimum(ends[:-1], ends[1:]), np.maximum(ends[:-1], ends[1:])
    for share in (0.5, *rng.uniform(0.0, 1.0, 3)):
        between = grid[:-1] + share * np.diff(grid)
        prob = channel.prob(between)
        outside = ((prob > high + LEAVES) | (prob < low - LEAVES)).any(axis=1)
        if outside.any():
            place = between[int(np.argmax(outside))]
            return f"tails() names no landmark near l = {place}, where the channel bends"
    return None


def _wrong_limits(channel: Channel, tails: Tails) -> str | None:
    if tails.limits is None:
        return None
    for side, law in zip((-1.0, 1.0), tails.limits):
        if len(law) != channel.num_outputs:
            return f"tails() gives a limit law of {len(law)} outputs, not {channel.num_outputs}"
        widest = max([abs(c) + w for c, w in tails.landmarks], default=1.0)
        found = channel.prob(side * 1e9 * max(widest, 1.0))
        if np.abs(found - law).max() > 1e-6:
            return f"tails() gives the limit law {law}, but far out it is {found.tolist()}"
    return None


def _second_turn(channel: Channel, line: Array) -> str | None:
    prob = channel.prob(line)
    for y in range(prob.shape[1]):
        change = np.diff(prob[:, y])
        moves = np.flatnonzero(np.abs(change) > ROUNDING)
        turns = np.flatnonzero(np.diff(np.sign(change[moves])))
        if len(turns) > 1:
            place = line[moves[turns[1]] + 1]
            return f"tails() says one turn at most, but a probability turns again near l = {place}"
    return None
