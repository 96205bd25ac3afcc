"""Inputs beyond every atom, under a power alone: an output law with tails that are heavy enough.

C <= max_l [D(f_l || q) - s (l^2 - P)] for any output law q. That of a law with finitely many atoms
has tails like the noise, and where these are light D grows faster than any power: the bound would
be infinite although the law is as good as optimal. So a little mass is added to it: light atoms
beyond the outermost ones, q_1, and e g, g Gaussian of a variance of 1/s:

    D(f_l || q') <= min(D(f_l || q_1) - ln(1 - e), D(f_l || g) - ln e).

The first counts up to a radius, the second beyond it, where it is known: for Y = l + Z

    D(f_l || g) = -h(Z) + 1/2 ln(2 pi / s) + s/2 (Var Z + (l + E Z)^2),

which the power s l^2 outgrows. It is never evaluated; its price is -ln(1 - e).

Photon counts need no g: q' is no less than the part of its last atom, and D from that grows like
l ln l (`PoissonMixture.outweighed`). Nor does Laplace noise, for which |D'| <= 1/scale.
"""

from __future__ import annotations

from math import log, log1p, pi, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, polygamma

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.light_atoms import light_atoms
from channelcode.channels import AdditiveLaplace, Gamma, Poisson
from channelcode.channels.densities.view import FiniteView
from channelcode.information.mixtures.poisson import PoissonMixture
from channelcode.measures import DiscreteMeasure

SHARE = 1e-12  # e, of the Gaussian part
SPACING = 0.1  # scales of the noise between places where an atom may be added
COUNTS_APART = 0.25  # the same for counts, in their deviations
MARGIN = 0.01  # nats: between such places F rises by less
MOST_PLACES = 3000
DEPTH = 0.02  # nats below its limit to which an atom brings F, for what lies between places
NEGLIGIBLE = 2.5e-10  # mass beyond the end of a search; less for wide laws, of more atoms


class Covered(NamedTuple):
    """A law whose output serves up to `radius`; its bound rises by `slack` nats.

    Beyond the radius F is proved to be no more than the information and `beyond` nats, and `what`
    the power outweighs there.
    """

    law: DiscreteMeasure
    radius: float
    slack: float
    what: str = "the divergence"
    beyond: float = 0.0


class Noise(NamedTuple):
    """Mean, variance and entropy in nats of what is added to the input."""

    mean: float
    variance: float
    entropy: float


def gamma_noise(shape: float) -> Noise:
    """ln Y - l for a waiting time: ln of a gamma variable of mean one.

    >>> tuple(round(x, 6) for x in gamma_noise(1.0))         # -gamma, pi^2/6, 1 + gamma
    (-0.577216, 1.644934, 1.577216)
    """
    mean = float(digamma(shape) - np.log(shape))
    spread = float(polygamma(1, shape))
    # h = ln Gamma(k) - k psi(k) + k
    return Noise(mean, spread, float(gammaln(shape) - shape * digamma(shape) + shape))


def tail_weight(shape: float, power: float, nats: float, price: float, sizes: Array) -> Array:
    """The density of the best input far out, to within a factor, if its information is `nats`.

    D = C + s (l^2 - P) there says ln q(y) = -C - h + s P - s (y^2 - 2 m y + m^2 - Var Z), and
    the input behind it is q / M(2 s y), M the generating function of the noise.
    """
    noise, tilt = gamma_noise(shape), 2.0 * price * sizes
    log_q = -nats - noise.entropy + price * power
    log_q = log_q - price * ((sizes - noise.mean) ** 2 - noise.variance)
    return np.exp(log_q - gammaln(shape + tilt) + gammaln(shape) + tilt * np.log(shape))


def search_end(shape: float, power: float) -> float:
    """Where the best input has `NEGLIGIBLE` left, from Shannon's formula for the same variance."""
    spread = gamma_noise(shape).variance
    nats, price = 0.5 * np.log1p(power / spread), 0.5 / (power + spread)
    sizes = np.sqrt(power + spread) * np.linspace(1.0, 40.0, 781)
    left = np.sqrt(power) * tail_weight(shape, power, float(nats), price, sizes)
    return float(sizes[np.argmax(left < NEGLIGIBLE / max(1.0, power * shape) ** 1.5)])


def covered(
    problem: Problem, law: DiscreteMeasure, nats: float, multiplier: float, *, slack: float
) -> Covered | None:
    """A law that covers every input under a power alone, for channels of the library; else None.

    Light atoms bring F beyond the outermost atoms down to `nats` and `slack`.
    """
    channel, limit = problem.channel, problem.limits
    if not limit.is_power or not multiplier > 0.0:
        return None
    if type(channel) is AdditiveLaplace:
        return Covered(law, 0.5 / (multiplier * channel.scale), 0.0)
    spare = nats - multiplier * limit.budget
    if type(channel) is Poisson:
        radius = PoissonMixture(channel, law).outweighed(multiplier, spare)
        roots = np.sqrt(np.array([0.0, radius]) + channel.dark)
        count = 2.0 * (roots[1] - roots[0]) / COUNTS_APART if radius < np.inf else np.inf
        if not count < MOST_PLACES:
            return None
        places = np.linspace(roots[0], roots[1], int(count) + 2) ** 2 - channel.dark
        places = places[places > law.atoms[-1]]  # where the first atom is, rounding decides
        found, price = _topped(problem, law, places, 0.0, radius, spare, multiplier, slack, MARGIN)
        return Covered(found, max(radius, float(found.atoms[-1])), 0.0, beyond=price)
    if not isinstance(channel, Gamma):
        return None
    noise, s = gamma_noise(channel.shape), multiplier
    room = -log(SHARE) - noise.entropy + 0.5 * log(2.0 * pi / s)
    room += 0.5 * s * (noise.variance + noise.mean**2) - spare
    radius = abs(noise.mean) + sqrt(noise.mean**2 + 2.0 * max(room, 0.0) / s)
    apart = SPACING * float(channel.output_scale(np.zeros(1))[0])
    first, last = float(law.atoms[0]), float(law.atoms[-1])
    if not radius < MOST_PLACES * apart or not -radius < first <= last < radius:
        return None
    places = np.arange(-radius, radius + apart, apart)
    places = places[(places < first - apart) | (places > last + apart)]
    found, _ = _topped(problem, law, places, -radius, radius + apart, spare, s, slack)
    return Covered(found, radius, 2.0 * SHARE, "a Gaussian output of 1e-12")


def _topped(
    problem: Problem,
    law: DiscreteMeasure,
    places: Array,
    low: float,
    high: float,
    spare: float,
    price: float,
    slack: float,
    margin: float = 0.0,
) -> tuple[DiscreteMeasure, float]:
    """The law with light atoms at those of the places beyond its own where F is too high.

    There, and next to there, it is brought down to `margin` below its limit. Second, in nats, what
    the atoms take from the rest of the law: a bound by that rest alone rises by it.
    """
    places = places[(places < law.atoms[0]) | (places > law.atoms[-1])]
    if len(places) == 0:
        return law, 0.0
    view = FiniteView(problem.channel, low, high)
    own = view.log_prob(law.atoms - view.shift) + np.log(law.weights)[:, None]
    log_output = np.asarray(logsumexp(own, axis=0))
    logs = view.log_prob(places - view.shift)
    limits = spare + price * places**2
    if margin > 0.0:
        rows = np.exp(logs)
        ratio = np.where(rows > 0.0, logs - log_output, 0.0)
        high = (rows * ratio).sum(axis=1) > limits + slack
        near = np.flatnonzero(high)[:, None] + np.arange(-2, 3)
        limits[np.unique(np.clip(near, 0, len(places) - 1))] -= margin
    added = light_atoms(logs, log_output, limits, slack=slack, depth=DEPTH)
    used = added > 0.0
    points = np.concatenate([law.atoms, places[used]])
    weights = np.concatenate([law.weights, added[used]])
    return DiscreteMeasure(points, weights / weights.sum()), log1p(float(added[used].sum()))
