"""Proposals for a channel with many outputs: solve on letters, exchange letters for maxima.

Weights are solved for on a finite set of letters, to which the maxima of the KKT function F are
added until none is above the capacity found. From each such law Newton's method on atoms and
weights is tried, with the mass of every letter at the nearest maximum of F: for a law with atoms
that is where it ends, after a turn or two. Where the best law has a density Newton leads nowhere,
and more letters do it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from channelcode._validation import Array
from channelcode.capacity.kkt import priced
from channelcode.capacity.law_value import law_value
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.search.light_atoms import light_atoms
from channelcode.capacity.solvers.continuous.atoms import assign, within_budget
from channelcode.capacity.solvers.continuous.newton import Polished, polish
from channelcode.capacity.solvers.interior_point import InteriorPoint
from channelcode.channels import Channel, DiscreteChannel
from channelcode.errors import InvalidArgument

_PROBES = 1001
_HIGHEST = 1e6  # stands for infinity: an output that the law so far misses
_LIGHT = 1e-11
_POLISHING = 12
_CROWDED = 100  # letters
_MOST_LETTERS = 1000
_MOST_WORK = 1.5e9  # letters squared times outputs, over all turns: half a minute
_MANY_WORK = 3e8
_MOST_POLISHED = 150  # letters
_NEAR = 0.02  # of the reach: how far a letter may move in one step
_LIGHT_ATOM = 1e-7  # such an atom is left out if the certificate allows it
_MOST_SHARPENED = 40  # atoms: where more are needed they are too many to tell apart
_NEARLY = 1e-6  # nats: a law of Newton's that is farther from KKT at its own atoms has failed
_AROUND = np.geomspace(1e-6, 1e-2, 17)  # of the reach: probes about a bottom of the cost
_JOINING = 16
_FAR_ABOVE = 5.0  # nats: F rises far out, and hides what it does elsewhere
_HEAVY = 1e-7
_MOST_LIGHT = 400
_DEPTH = 1e-3  # nats below its limit to which a light atom brings F, for what lies between probes
_MOST_JOINED = 0.2  # mass of the atoms that join at once
_FINEST = 1e-10  # nats: what an interior point reaches on letters that nearly coincide

Law = tuple[Array, Array, float]  # letters, weights, multiplier


class Outputs(Protocol):
    """What the exchange asks of the outputs, where the channel's own list of them will not do."""

    def rows(self, letters: Array) -> Array:
        """The laws of Y at sorted letters as a matrix `(n, Y)`, on outputs of its choice."""
        ...

    def divergence(self, inputs: Array, points: Array, weights: Array) -> Array:
        """D(W(.|u) || q) in nats at inputs u `(n,)`, q the output law of points and weights."""
        ...


@dataclass(frozen=True)
class ListedOutputs:
    """The outputs of a channel that has a list of them."""

    channel: Channel

    def rows(self, letters: Array) -> Array:
        """The channel's own matrix."""
        return self.channel.prob(letters)

    def divergence(self, inputs: Array, points: Array, weights: Array) -> Array:
        """From the channel's own log-probabilities: far out the output law is below any double."""
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            log_output = _log_output(self.channel.log_prob(points), weights)
            logs = self.channel.log_prob(inputs)
            rows = np.exp(logs)
            return np.where(rows > 1e-250, rows * (logs - log_output), 0.0).sum(axis=-1)


@dataclass(frozen=True)
class ExchangeLetters:
    """Letters on [-reach, reach], joined by the maxima of D(W(.|u) || q) - s b(u), in turns."""

    reach: float
    max_steps: int = 20
    outputs: Outputs | None = None
    letters: int = 33
    first: Array | None = field(default=None, repr=False, compare=False)  # letters to begin with
    tries: int = 8  # turns in which Newton's method is tried

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        """A law on few letters whose violation of KKT should be within `tol` nats."""
        goal = max(tol, _FINEST)
        if self.reach == 0.0:
            return Proposal(np.zeros(1), np.ones(1), 0.0, "ExchangeLetters")
        letters = np.linspace(-self.reach, self.reach, self.letters)
        if self.first is not None:
            letters = _distinct(np.clip(self.first, -self.reach, self.reach), 1e-9 * self.reach)
        letters = np.union1d(letters, self._bottoms(problem, letters))
        best, least, steps = self._solved(problem, letters, 0.3 * goal), np.inf, 0
        law, work = best, 0
        while steps < self.max_steps:
            steps += 1
            law = self._topped(problem, law, goal, most=0.3 * goal) or law
            violation, peaks = self._violations(problem, *law)
            if violation > _FAR_ABOVE:
                law = self._topped(problem, law, goal, most=0.3 * goal, part=True) or law
                violation, peaks = self._violations(problem, *law)
            if violation < least:
                best, least = law, violation
            if violation <= goal:
                break
            sharp = (
                self._sharpened(problem, law, peaks, 0.1 * goal) if steps <= self.tries else None
            )
            if sharp is not None and sharp[0] < least:
                # Newton may overspend a little, which is much where the budget itself is small
                fitted = within_budget(problem, *sharp[1])
                violation = self._violations(problem, *fitted)[0]
                least, best = min((least, best), (violation, fitted), key=lambda law: law[0])
            if least <= goal:
                points, weights, multiplier = within_budget(problem, *best)
                return Proposal(points, weights, multiplier, "ExchangeLetters (Newton)", steps)
            letters = _distinct(np.concatenate([law[0], peaks]), 1e-9 * self.reach)
            work += len(letters) ** 2 * self._num_outputs(problem)
            if len(letters) > _MOST_LETTERS or work > _MOST_WORK:
                break
            many = 2 * len(letters) > self._num_outputs(problem)
            if self.first is not None and many and work > _MANY_WORK:
                break  # near outputs in number, letters that nearly coincide take minutes
            law = self._solved(problem, letters, 0.3 * goal)
        points, weights, multiplier = within_budget(problem, *best)
        if len(points) > _MOST_POLISHED:  # a law with a density has no few letters
            return Proposal(points, weights, multiplier, "ExchangeLetters", steps)
        few = self._polished(problem, self._merged(problem, points, weights, goal), goal)
        if few is not None and few[0] <= max(2.0 * least, goal):
            points, weights, multiplier = few[1]
        return Proposal(points, weights, multiplier, "ExchangeLetters", steps)

    def refined(self, problem: Problem, proposal: Proposal, *, tol: float) -> Proposal:
        """The same law in a problem with more outputs, by Newton's method if that does it good."""
        law = (proposal.points, proposal.weights, proposal.multiplier)
        if self.outputs is not None or len(law[0]) > _MOST_SHARPENED:
            return proposal
        goal = 0.1 * max(tol, _FINEST)
        violation, _ = self._violations(problem, *law)
        if violation <= goal:
            return proposal
        heavy = law[1] > _LIGHT
        start = (law[0][heavy], law[1][heavy] / law[1][heavy].sum())
        sharp = self._joined(problem, polish(problem, *start, law[2], max_steps=60), goal)
        if sharp is None or sharp[0] > violation:
            return proposal
        points, weights, multiplier = within_budget(problem, *sharp[1])
        return replace(proposal, points=points, weights=weights, multiplier=multiplier)

    def _sharpened(
        self, problem: Problem, law: Law, peaks: Array, goal: float
    ) -> tuple[float, Law] | None:
        """Newton from the law's clusters, or from its mass at the maxima of F."""
        if self.outputs is not None or not 0 < len(peaks) <= _MOST_SHARPENED:
            return None
        found = None
        for points, weights in (_clusters(law[0], law[1]), _at_peaks(law[0], law[1], peaks)):
            heavy = weights > _HEAVY  # lighter ones join one by one: far out they lead astray
            if heavy.any() and heavy.sum() <= _MOST_SHARPENED:
                weights = weights[heavy] / weights[heavy].sum()
                found = polish(problem, points[heavy], weights, law[2], max_steps=60)
                if found.residual <= _NEARLY:
                    break
        return None if found is None else self._joined(problem, found, goal)

    def _joined(self, problem: Problem, found: Polished, goal: float) -> tuple[float, Law] | None:
        """Newton again and again, with an atom more where F is highest above its level."""
        best: tuple[float, Law] | None = None
        for _ in range(_JOINING):
            if not found.residual <= _NEARLY:
                break
            used = found.weights > 0.0
            points, weights, multiplier = found.points[used], found.weights[used], found.multiplier
            violation, peaks = self._violations(problem, points, weights, multiplier)
            if best is None or violation < best[0]:
                best = (violation, (points, weights, multiplier))
            if violation <= goal or len(peaks) == 0:
                break
            topped = self._topped(problem, (points, weights, multiplier), goal, most=3.0 * goal)
            if topped is not None:
                violation, _ = self._violations(problem, *topped)
                best = min(best, (violation, topped), key=lambda law: law[0])
                if violation <= goal:
                    break
            added = self._light(problem, (points, weights, multiplier), peaks, goal, 1)
            if not 0.0 < added.sum() <= _MOST_JOINED:
                break
            points, weights = _with(points, weights, peaks, added)
            found = polish(problem, points, weights, multiplier, max_steps=60)
        return best

    def _topped(
        self, problem: Problem, law: Law, goal: float, *, most: float, part: bool = False
    ) -> Law | None:
        """With light atoms where the law has next to nothing, for `most` nats; None without.

        With `part` as many as there are for that, where more would be needed.
        """
        if self.outputs is not None:
            return None
        places = np.linspace(-self.reach, self.reach, _PROBES)
        order = np.argsort(law[0])
        points, mass = law[0][order], law[1][order]
        inner = points[(mass.cumsum() > goal) & (mass[::-1].cumsum()[::-1] > goal)]
        places = places[(places < inner[0]) | (places > inner[-1])]
        if len(places) == 0:
            return None
        added = self._light(problem, law, places, goal, _MOST_LIGHT)
        # what it costs in nats: its mass is missing elsewhere, and it is paid for
        price = np.abs(priced(problem, places, np.zeros(len(places)), law[2]))
        spent = np.multiply(added, 1.0 + price, out=np.zeros(len(places)), where=added > 0.0)
        if part:
            rank = np.argsort(spent)
            added[rank[spent[rank].cumsum() > most]] = 0.0
        if not added.any() or spent[added > 0.0].sum() > most:
            return None
        return (*_with(law[0], law[1], places, added), law[2])

    def _light(self, problem: Problem, law: Law, places: Array, goal: float, count: int) -> Array:
        """The mass of atoms that bring F down to the information of the law, at these places."""
        points, weights, multiplier = law
        own = problem.channel.log_prob(points)
        log_output = _log_output(own, weights)
        nats = law_value(own, weights).nats
        limits = nats - priced(problem, places, np.zeros(len(places)), multiplier)
        logs = problem.channel.log_prob(places)
        return light_atoms(logs, log_output, limits, slack=0.5 * goal, depth=_DEPTH, most=count)

    def _polished(self, problem: Problem, law: Law | None, goal: float) -> tuple[float, Law] | None:
        """A law on few letters, each moved to the nearest maximum of F, again and again."""
        best: tuple[float, Law] | None = None
        for _ in range(_POLISHING):
            if law is None:
                break
            violation, peaks = self._violations(problem, *law)
            if best is None or violation < best[0]:
                best = (violation, law)
            if violation <= 0.1 * goal or len(peaks) == 0:
                break
            nearest = peaks[np.abs(law[0][:, None] - peaks).argmin(axis=1)]
            close = np.abs(nearest - law[0]) <= _NEAR * self.reach
            moved = _distinct(np.where(close, nearest, law[0]), 1e-9 * self.reach)
            try:
                law = self._solved(problem, moved, 0.1 * goal)
            except InvalidArgument:  # every letter left is beyond the budget
                break
        return best

    def _violations(
        self, problem: Problem, points: Array, weights: Array, multiplier: float
    ) -> tuple[float, Array]:
        """How far F rises above the information of the law, in nats, and where it has maxima."""
        outputs = self._outputs(problem)
        nats = float(weights @ outputs.divergence(points, points, weights))

        def height(u: Array) -> Array:
            divergence = outputs.divergence(u, points, weights)
            values = priced(problem, u, divergence, multiplier)
            return np.minimum(np.nan_to_num(values, nan=-_HIGHEST, neginf=-_HIGHEST), _HIGHEST)

        grid = np.linspace(-self.reach, self.reach, _PROBES)
        bottoms = self._bottoms(problem, grid)
        if len(bottoms):
            around = self.reach * np.concatenate([-_AROUND, [0.0], _AROUND])
            grid = np.union1d(grid, (bottoms[:, None] + around).ravel())
            grid = _distinct(grid[np.abs(grid) <= self.reach], 1e-9 * self.reach)
        if len(points) > _CROWDED:  # near letters have their maxima in between
            middles = 0.5 * (points[1:] + points[:-1])
            grid = _distinct(np.concatenate([grid, middles]), 1e-9 * self.reach)
        values = height(grid)
        padded = np.concatenate([[-np.inf], values, [-np.inf]])
        tops = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
        # a maximum so far below the information will not become an atom
        tops = tops[values[tops] > nats - 0.1]
        places, step = grid[tops], np.gradient(grid)[tops][:, None]
        for _ in range(12):  # parabolas through three points, each time half as wide
            around = np.clip(
                places[:, None] + step * np.array([-1.0, 0.0, 1.0]), -self.reach, self.reach
            )
            left, middle, right = height(around.ravel()).reshape(-1, 3).T
            bend = left - 2.0 * middle + right
            longest = step[:, 0]
            with np.errstate(divide="ignore", invalid="ignore"):
                move = np.where(bend < 0, 0.5 * longest * (left - right) / bend, 0.0)
            trial = np.clip(places + np.clip(move, -longest, longest), -self.reach, self.reach)
            places = np.where(height(trial) >= middle, trial, places)
            step = 0.5 * step
        top = height(places) if len(places) else np.array([-np.inf])
        return float(max(top.max(), values.max()) - nats), places

    def _bottoms(self, problem: Problem, grid: Array) -> Array:
        """Where a cost of one's own is said to be small, within reach and between grid points."""
        cheap = np.array([float(np.ravel(place)[0]) for place in problem.limits.cheap])
        cheap = cheap[np.abs(cheap) <= self.reach]
        apart = np.abs(cheap[:, None] - grid).min(axis=1, initial=np.inf)
        return cheap[apart > 1e-6 * self.reach]

    def _solved(self, problem: Problem, letters: Array, tol: float) -> Law:
        """The best law on the letters within the constraint; letters of no weight are dropped."""
        cost = problem.cost(letters)
        letters = letters[np.isfinite(cost)]
        finite = DiscreteChannel(self._outputs(problem).rows(letters), letters)
        found = InteriorPoint().propose(Problem(finite, problem.constraint), tol=tol)
        heavy = found.weights > _LIGHT
        weights = found.weights[heavy] / found.weights[heavy].sum()
        return found.points[heavy], weights, found.multiplier

    def _outputs(self, problem: Problem) -> Outputs:
        return ListedOutputs(problem.channel) if self.outputs is None else self.outputs

    def _num_outputs(self, problem: Problem) -> int:
        listed = self.outputs is None or self.first is not None
        return problem.channel.num_outputs if listed else 0

    def _merged(self, problem: Problem, points: Array, weights: Array, goal: float) -> Law | None:
        """Light letters dropped, near ones as one letter, and the weights solved again."""
        least = np.nan if problem.limits.cost is None else float(problem.cost(points).min())
        heavy = (weights > _LIGHT_ATOM) | (problem.cost(points) == least)
        dropped = not heavy.all()
        points, weights = points[heavy], weights[heavy]
        order = np.argsort(points)
        groups = np.cumsum(np.concatenate([[0], np.diff(points[order]) > 2e-3 * self.reach]))
        if groups[-1] + 1 == len(points) and not dropped:
            return None
        mass = np.bincount(groups, weights[order])
        centres = np.bincount(groups, (weights * points)[order]) / mass
        for k in range(len(centres)):  # an end of the range, or the cheapest letter, stays in place
            members = points[order][groups == k]
            special = (np.abs(members) == self.reach) | (problem.cost(members) == least)
            centres[k] = members[special][0] if special.any() else centres[k]
        try:
            return self._solved(problem, centres, 0.3 * goal)
        except InvalidArgument:  # every centre is beyond the budget: the letters stay as they are
            return None


def _with(points: Array, weights: Array, places: Array, added: Array) -> tuple[Array, Array]:
    """A law and more atoms, sorted."""
    points = np.concatenate([points, places[added > 0.0]])
    weights = np.concatenate([weights, added[added > 0.0]])
    order = np.argsort(points)
    return points[order], weights[order] / weights.sum()


def _log_output(logs: Array, weights: Array) -> Array:
    """ln q from log-probabilities `(m, Y)` and weights."""
    return np.asarray(logsumexp(logs + np.log(weights)[:, None], axis=0))


def _clusters(points: Array, weights: Array) -> tuple[Array, Array]:
    """Letters in groups, each at its centre of mass, split where gaps become larger at once."""
    gaps = np.diff(points)
    ordered = np.sort(gaps[gaps > 0.0])
    if len(ordered) < 2:
        return points, weights
    jump = int(np.argmax(ordered[1:] / ordered[:-1]))
    group = np.concatenate([[0], np.cumsum(gaps > ordered[jump])])
    mass = np.bincount(group, weights)
    return np.asarray(np.bincount(group, weights * points) / mass), np.asarray(mass, np.float64)


def _at_peaks(points: Array, weights: Array, peaks: Array) -> tuple[Array, Array]:
    """All the mass at the nearest maxima of F."""
    return assign(points, weights, peaks, np.full(len(points), np.inf))


def _distinct(points: Array, atol: float) -> Array:
    ordered = np.unique(points)
    return ordered[np.concatenate([[True], np.diff(ordered) > atol])]
