"""Channels and costs that try to deceive a certificate, and an adversary who knows their secrets.

`hostile_problem(rng)` draws a problem and the inputs that matter in it; `best_known` solves it over
a dense grid with those inputs, checks that the law is feasible and returns its information,
computed from the definition. A certificate is false if that exceeds its upper bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from channelcode import (
    Binomial,
    Cauchit,
    Channel,
    Cloglog,
    Constraint,
    Cost,
    InteriorPoint,
    Lapse,
    Logistic,
    Ordinal,
    Peak,
    Power,
    Probit,
    QuantisedGaussian,
    Unconstrained,
    capacity,
    restrict,
)
from tests.channelcode.capacity.oracles import mutual_information


class Hostile(NamedTuple):
    name: str
    channel: Channel
    constraint: Constraint
    secrets: np.ndarray
    radius: float


class Black(Channel):
    """A black box from a function of inputs `(...)` to probabilities `(..., Y)`."""

    dim = 1

    def __init__(self, rows: Callable[[Any], Any], num_outputs: int) -> None:
        self.rows, self.num_outputs = rows, num_outputs

    def log_prob(self, l: Any) -> Any:
        return np.log(self.rows(l))


def bump(centre: float, width: float, height: float, base: Channel) -> Black:
    """`base` with one more output, which has a bump."""

    def rows(l: Any) -> Any:
        b = height * np.exp(-0.5 * ((l - centre) / width) ** 2)
        return np.concatenate([base.prob(l) * (1 - b)[..., None], b[..., None]], axis=-1)

    return Black(rows, base.num_outputs + 1)


def steps(edges: np.ndarray, laws: np.ndarray) -> Black:
    return Black(lambda l: laws[np.searchsorted(edges, l, side="right")], laws.shape[1])


def waves(rate: float, phase: float, depth: float) -> Black:
    def rows(l: Any) -> Any:
        up = 0.5 + 0.5 * depth * np.sin(rate * l + phase)
        return np.stack([1 - up, up], axis=-1)

    return Black(rows, 2)


def net(rng: np.random.Generator, outputs: int) -> Black:
    inner, shift = rng.normal(0, 1.5, 6), rng.normal(0, 2.0, 6)
    outer = rng.normal(0, 2.0, (6, outputs))

    def rows(l: Any) -> Any:
        logits = np.tanh(l[..., None] * inner + shift) @ outer
        logits = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return logits / logits.sum(axis=-1, keepdims=True)

    return Black(rows, outputs)


def _limit(rng: np.random.Generator) -> tuple[Constraint, float, float]:
    power = float(10.0 ** rng.uniform(-2, 2.5))
    root = float(np.sqrt(power))
    kind = rng.integers(3)
    if kind == 0:
        return Power(power), 10.0 * root, root
    peak = float(root * rng.uniform(1.5, 8.0))
    if kind == 1:
        return Power(power) & Peak(peak), peak, root
    return Peak(peak), peak, peak / 4.0


def hostile_problem(rng: np.random.Generator) -> Hostile:
    """One problem drawn from all families."""
    family = int(rng.integers(6))
    constraint, radius, root = _limit(rng)
    base: Channel = [Logistic(), Probit(0.7), Lapse(Logistic(), low=0.1, high=0.2), Cauchit()][
        int(rng.integers(4))
    ]
    if family == 0:
        centre = float(rng.choice([-1, 1]) * rng.uniform(0.0, min(8.0 * root, radius)))
        width, height = float(10 ** rng.uniform(np.log10(0.05), 0)), float(rng.uniform(0.2, 0.999))
        secrets = centre + width * np.linspace(-4, 4, 161)
        return Hostile("bump", bump(centre, width, height, base), constraint, secrets, radius)
    if family == 1:
        count, outputs = int(rng.integers(2, 7)), int(rng.integers(2, 5))
        edges = np.sort(rng.uniform(-0.8, 0.8, count - 1)) * min(radius, 6.0 * root)
        laws = rng.dirichlet(np.full(outputs, 0.5), size=count)
        secrets = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
        return Hostile("steps", steps(edges, laws), constraint, secrets, radius)
    if family == 2:
        rate, phase = float(10 ** rng.uniform(-1, 0.9)), float(rng.uniform(0, 6.3))
        tops = (np.pi * (np.arange(-60, 61) + 0.5) - phase) / rate
        channel = waves(rate, phase, float(rng.uniform(0.3, 1.0)))
        return Hostile("waves", channel, constraint, tops, radius)
    if family == 3:
        return Hostile("net", net(rng, int(rng.integers(2, 5))), constraint, np.zeros(1), radius)
    if family == 4:
        cuts = np.sort(rng.uniform(-radius, radius, int(rng.integers(1, 5))))
        cuts = cuts[np.append(True, np.diff(cuts) > 1e-9)]
        scale = float(10 ** rng.uniform(-2, 0.5))
        channel = [
            QuantisedGaussian(cuts, noise=scale),
            Ordinal(cuts, link=Probit(scale)),
            Ordinal(cuts),
            Ordinal(cuts, link=Lapse(Cloglog(), low=0.05, high=0.1)),
            Binomial(int(rng.integers(1, 40)), Probit(scale)),
        ][int(rng.integers(5))]
        middles = 0.5 * (cuts[1:] + cuts[:-1])
        secrets = np.concatenate(
            [cuts, middles, (cuts + scale * np.linspace(-5, 5, 41)[:, None]).ravel()]
        )
        if rng.random() < 0.3:
            constraint, radius = Unconstrained(), 3.0 * radius + 60.0
        return Hostile("thresholds", channel, constraint, secrets, radius)
    place = float(rng.uniform(-30, 30))
    function, secrets = [
        (lambda l: np.minimum(l**2, (np.abs(l) - abs(place)) ** 2), [place, -place]),
        (lambda l: (l - place) ** 2, [place]),
        (lambda l: (l**2 - 4) ** 2, [-2.0, 2.0]),
        (lambda l: np.abs(l - place) + 0.5 * np.cos(l), [place]),
        (lambda l: np.where(np.abs(l - place) < 0.5, 0.0, np.abs(l)), [place, place + 0.499]),
    ][int(rng.integers(5))]
    own = Cost(function, float(10 ** rng.uniform(-2, 1)))
    around = (np.array(secrets)[:, None] + np.linspace(-1, 1, 401)).ravel()
    return Hostile("cost", base, own, around, 60.0)


def best_known(problem: Hostile, atoms: np.ndarray, size: int = 1501) -> float:
    """Bits of the best law found on a dense grid with all that the adversary knows."""
    channel, constraint = problem.channel, problem.constraint
    grid = np.concatenate(
        [np.linspace(-problem.radius, problem.radius, size), problem.secrets, atoms, [0.0]]
    )
    grid = np.unique(grid[np.abs(grid) <= problem.radius])
    found = capacity(restrict(channel, grid), constraint, solver=InteriorPoint(), throw=False)
    law, weights = np.asarray(found.input.atoms), np.asarray(found.input.weights)
    for part in getattr(constraint, "parts", (constraint,)):
        if isinstance(part, Power):
            assert weights @ law**2 <= part.power * (1 + 1e-12)
        elif isinstance(part, Peak):
            assert np.abs(law).max() <= part.amplitude
        elif isinstance(part, Cost):
            assert weights @ part.function(law) <= part.budget + 1e-12
    return mutual_information(channel.prob(law), weights) / float(np.log(2))
