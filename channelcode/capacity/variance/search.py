"""The search over means.

A law with Var L <= P meets E (L - c)^2 <= P at c = E L, and a law that meets it at any c has a
variance of at most P. So the capacity is the largest of those under the costs (l - c)^2, over all
centres c: each centre is a problem of its own, solved and certified as any other, and
`certify.means` bounds the means between the centres and beyond them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.certify import certify
from channelcode.capacity.certify.bounds import Bounds
from channelcode.capacity.certify.means import bound_between, bound_beyond
from channelcode.capacity.few_atoms import few_atoms
from channelcode.capacity.problem import Problem, Solver
from channelcode.capacity.solve import checked
from channelcode.channels.mapped.recentred import Recentred
from channelcode.constraints import Cost, Peak, Power, Variance

MOST_CENTRES = 1000
MOST_POLISHING = 16
STEP = 0.5  # between first centres, in widths at a landmark, in distances far from it
EVEN = 33  # first centres where inputs end, and for black boxes
BLACK_BOX = (16.0, 4.0)  # means looked at: this far out, and this many deviations further
NEGLIGIBLE = 1e-12  # a variance in squared widths below which a larger one is solved instead
FAR_MEANS = np.geomspace(1e-2, 1e15, 341)


class Centre(NamedTuple):
    """A solved problem E (L - place)^2 <= P: atoms around the place, weights, price in nats."""

    place: float
    offsets: Array
    weights: Array
    price: float
    bounds: Bounds

    @property
    def pull(self) -> float:
        """How far the mean of its law lies from the centre."""
        return float(self.weights @ self.offsets)


def _possible_means(problem: Problem) -> Array:
    """Intervals `(n, 2)` of means that some law on the letters has within the variance.

    At a mean m between neighbouring letters a < b the least variance is (m - a)(b - m).
    """
    letters = np.unique(problem.letters()[0])
    width = np.diff(letters)
    variance = problem.limits.variance
    wide = width**2 > 4.0 * variance
    with np.errstate(invalid="ignore"):
        root = np.sqrt(width**2 - 4.0 * variance)
    step = np.where(wide, 2.0 * variance / (width + root), 0.5 * width)
    left = np.append(letters[0], letters[1:] - step)
    right = np.append(letters[:-1] + step, letters[-1])
    joined = np.append(False, ~wide)
    return np.column_stack([left[~joined], right[np.append(~joined[1:], True)]])


class MeanSearch:
    """Centres, their bounds, and where the next one is needed; `tol` in nats."""

    def __init__(self, problem: Problem, solver: Solver, tol: float) -> None:
        self.problem, self.solver, self.tol = problem, solver, tol
        self.centres: dict[float, Centre] = {}
        self.possible = _possible_means(problem) if problem.is_finite else np.empty((0, 2))

    @property
    def best(self) -> Centre:
        """The centre whose law carries most, surely."""
        return max(self.centres.values(), key=lambda centre: centre.bounds.lower)

    def run(self) -> tuple[float, bool, str]:
        """An upper bound in nats, whether every mean is covered, and the scope in words."""
        for place in self._landmarks():
            self.solve(place)
        if self.problem.limits.variance == 0.0:
            return 0.0, True, "every mean: a law without variance is one input"
        ceiling, larger = self._ceiling()
        if ceiling <= self.best.bounds.lower + 0.9 * self.tol:
            return ceiling, True, f"every mean: no more than under Variance({larger:.3g})"
        low, high, beyond, complete = self._range()
        if self._settled_by_one(low, high):
            upper = self._from_one(low, high)
        else:
            for place in self._first(low, high):
                self.solve(place)
            self._polish()
            upper = self._refine()
        upper = max(upper, beyond)
        complete = complete and all(c.bounds.complete for c in self.centres.values())
        return upper, complete, self._scope(low, high, complete)

    def solve(self, place: float) -> Centre:
        """The problem at one centre, solved once."""
        place = float(place)
        if place not in self.centres:
            problem, shift = self._at(place)
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                proposal = self.solver.propose(problem, tol=0.1 * self.tol)
                law, price = checked(problem, proposal)
                points, weights = few_atoms(problem, law.atoms, law.weights)
                bounds = certify(problem, points, weights, price, tol=0.1 * self.tol)
            self.centres[place] = Centre(place, points - shift, weights, price, bounds)
        return self.centres[place]

    def _ceiling(self) -> tuple[float, float]:
        """For a very small variance: what a larger one allows at most, and that variance."""
        tails, limit = self.problem.tails, self.problem.limits
        if tails is None or self.problem.is_finite:
            return np.inf, np.inf
        larger = NEGLIGIBLE * min((w for _, w in tails.landmarks), default=1.0) ** 2
        if limit.variance >= larger:
            return np.inf, np.inf
        within = Variance(larger) if limit.peak == np.inf else Variance(larger) & Peak(limit.peak)
        search = MeanSearch(Problem(self.problem.channel, within), self.solver, self.tol)
        upper, complete, _ = search.run()
        return (upper if complete else np.inf), larger

    def _at(self, place: float) -> tuple[Problem, float]:
        """The problem seen from a centre, and where the centre is in its inputs."""
        channel, limit = self.problem.channel, self.problem.limits
        if channel.inputs is None and limit.peak == np.inf:
            origin = channel if place == 0.0 else Recentred(channel, place)
            return Problem(origin, Power(limit.variance)), 0.0
        cost = Cost(lambda l: (l - place) ** 2, limit.variance, cheap=(place,))
        within = cost if limit.peak == np.inf else cost & Peak(limit.peak)
        return Problem(channel, within), place

    def _landmarks(self) -> list[float]:
        """Where the channel bends, a few of these, and zero."""
        tails, limit = self.problem.tails, self.problem.limits
        if self.problem.is_finite:
            return np.unique(self.possible).tolist()
        places = sorted({0.0, *(float(c) for c, _ in (tails.landmarks if tails else ()))})
        places = [place for place in places if abs(place) <= limit.peak]
        return places[:: max(1, len(places) // 8)]

    def _range(self) -> tuple[float, float, float, bool]:
        """Means to look at, a bound for those beyond, and whether that covers every mean."""
        limit, tails = self.problem.limits, self.problem.tails
        if self.problem.is_finite:
            return float(self.possible.min()), float(self.possible.max()), -np.inf, True
        if limit.peak < np.inf:
            return -limit.peak, limit.peak, -np.inf, True
        enough = self.best.bounds.lower
        unit = min((w for _, w in tails.landmarks), default=1.0) if tails else 1.0
        radius = tails.radius if tails and tails.radius < np.inf else 0.0
        means = radius + (unit + np.sqrt(limit.variance)) * FAR_MEANS
        ends, beyond = [], -np.inf
        for side in (-1, 1):
            bound = bound_beyond(self.problem, side, means)
            inside = np.flatnonzero(bound <= enough)
            if len(inside) == 0:
                reach = BLACK_BOX[0] + BLACK_BOX[1] * float(np.sqrt(limit.variance))
                return -reach, reach, -np.inf, False
            ends.append(side * float(means[inside[0]]))
            beyond = max(beyond, float(bound[inside[0]]))
        return ends[0], ends[1], beyond, True

    def _settled_by_one(self, low: float, high: float) -> bool:
        return self._from_one(low, high) <= self.best.bounds.lower + 0.9 * self.tol

    def _from_one(self, low: float, high: float) -> float:
        """The bound for every mean that a single centre gives."""
        return min(
            c.bounds.upper + c.price * max(c.place - low, high - c.place) ** 2
            for c in self.centres.values()
        )

    def _first(self, low: float, high: float) -> Array:
        tails = self.problem.tails
        if self.problem.is_finite:
            return self.possible.mean(axis=1)
        if tails is None:
            count = int(2 * (high - low) / max(1.0, 0.5 * np.sqrt(self.problem.limits.variance)))
            return np.linspace(low, high, min(count, 4 * EVEN) | 1)
        points = tails.resolving_inputs(step=STEP)
        pieces = [points[(points > low) & (points < high)], [low, high]]
        if self.problem.limits.peak < np.inf:
            pieces.append(np.linspace(low, high, EVEN))
        return np.unique(np.concatenate(pieces))

    def _sorted(self) -> tuple[Array, Array, Array, Array]:
        """Centres in order: places, lower and upper bounds, prices."""
        rows = sorted(self.centres.values(), key=lambda centre: centre.place)
        table = [(c.place, c.bounds.lower, c.bounds.upper, c.price) for c in rows]
        places, lower, upper, price = np.array(table).T
        return places, lower, upper, price

    def _open(self) -> tuple[Array, Array]:
        """Neighbouring places, `(n, 2)`, between which a mean may still carry more."""
        places, lower, upper, price = self._sorted()
        bound = bound_between(places, upper, price, smooth=not self.problem.is_finite)
        if self.problem.is_finite:  # no law has its mean where the letters are too far apart
            bound[np.isin(places[:-1], self.possible[:, 1])] = -np.inf
        goal = max(float(lower.max()), float(upper.max())) + 0.5 * self.tol
        open_ = bound > goal
        return np.column_stack([places[:-1], places[1:]])[open_], bound

    def _polish(self) -> None:
        """A centre at each maximum that may be the highest: its law's mean is the centre."""
        places, lower, _, _ = self._sorted()
        pairs, _ = self._open()
        candidates = np.unique(pairs)
        padded = np.concatenate([[-np.inf], lower, [-np.inf]])
        tops = (lower >= padded[:-2]) & (lower >= padded[2:])
        for index in np.flatnonzero(tops & np.isin(places, candidates)):
            left = places[max(index - 1, 0)]
            right = places[min(index + 1, len(places) - 1)]
            self._to_its_mean(self.centres[float(places[index])], left, right)

    def _to_its_mean(self, start: Centre, left: float, right: float) -> None:
        """dU/dc = 2 s (E L - c): secant steps to where the mean is the centre."""
        last, here = None, start
        for _ in range(MOST_POLISHING):
            if here.price * here.pull**2 <= 1e-3 * self.tol:
                return
            step = here.pull
            if last is not None and here.place != last.place:
                slope = (here.pull - last.pull) / (here.place - last.place)
                step = -here.pull / slope if slope < 0 else 4.0 * here.pull
            following = float(np.clip(here.place + step, left, right))
            if following in self.centres:
                return
            last, here = here, self.solve(following)

    def _refine(self) -> float:
        """Split intervals until their bounds are low enough, or centres run out."""
        while True:
            pairs, bound = self._open()
            upper = max(c.bounds.upper for c in self.centres.values())
            middle = pairs.mean(axis=1)
            fresh = middle[(middle > pairs[:, 0]) & (middle < pairs[:, 1])]
            if len(fresh) == 0 or len(self.centres) + len(fresh) > MOST_CENTRES:
                return max(upper, float(bound.max(initial=-np.inf)))
            for place in fresh:
                self.solve(place)

    def _scope(self, low: float, high: float, complete: bool) -> str:
        where = "every mean" if complete else f"means within [{low:.4g}, {high:.4g}]"
        inner = self.best.bounds.scope
        text = f"{where}: {len(self.centres)} centres within [{low:.4g}, {high:.4g}]"
        return f"{text}, bounds between them by parabolas and bends; at the best centre: {inner}"
