"""Bounds on the mean number of uses: what no code can beat, and what SED is proved to reach."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, log, log2

import numpy as np

from channelcode._numerics.divergence import missed, pointwise_divergence
from channelcode._numerics.logspace import LOG_TWO
from channelcode.capacity import capacity
from channelcode.channels import Channel, restrict
from channelcode.constraints import Constraint, Unconstrained
from channelcode.errors import InvalidArgument
from channelcode.feedback.burnashev_zigangirov import BurnashevZigangirov
from channelcode.feedback.choices import Confidence, Stop
from channelcode.feedback.group_code import GroupCode
from channelcode.feedback.posterior_matching import PosteriorMatching
from channelcode.feedback.scheme import LetterScheme, message_count


@dataclass(frozen=True)
class Bounds:
    """What is proved about E tau, the mean number of uses until an error of at most `error`.

    - `fano`: no code is quicker (Fano's inequality with optional stopping);
    - `two_phase`: SED is at least as quick on a binary symmetric channel; None for other channels;
    - `burnashev`: log2 M / C + log2(1/error) / C1, Burnashev's leading terms. He proves it as a
      lower bound up to o(log(1/error)), so at finite sizes it is a guide and not a bound;
    - `zigangirov`: enough questions for `BurnashevZigangirov` with M bins; None for other channels;
    - `capacity_bits` C (an upper bound that is proved), `c1_bits` C1, `c2_bits` log2((1-e)/e).
    """

    messages: int
    error: float
    capacity_bits: float
    c1_bits: float
    c2_bits: float | None
    fano: float
    burnashev: float
    two_phase: float | None
    zigangirov: int | None

    @property
    def lower(self) -> float:
        """The greatest proved lower bound on the mean number of uses."""
        return self.fano

    @property
    def upper(self) -> float | None:
        """The proved upper bound on the mean number of uses of SED, if there is one."""
        return self.two_phase

    def exponent(self, rate_bits: float) -> float:
        """Burnashev's exponent C1 (1 - R / C) at rate R in bits a use; zero from capacity on."""
        if rate_bits < 0:
            raise InvalidArgument("rate_bits", "must be non-negative", rate_bits)
        share = rate_bits / self.capacity_bits if self.capacity_bits > 0 else inf
        if share >= 1.0:
            return 0.0
        return self.c1_bits * (1.0 - share)


def bounds(
    scheme: LetterScheme | Channel,
    messages: int,
    *,
    stop: Stop = Confidence(1e-3),
    constraint: Constraint | None = None,
) -> Bounds:
    """Bounds on the mean number of uses for a channel, given as itself or by a scheme.

    >>> from channelcode import BinarySymmetric
    >>> found = bounds(BinarySymmetric(0.05), 2**10, stop=Confidence(1e-3))
    >>> round(found.fano, 4), round(found.two_phase, 4), round(found.c1_bits, 4)
    (13.9834, 23.8971, 3.8231)
    """
    if not isinstance(stop, Confidence):
        raise InvalidArgument("stop", "must be Confidence(error)", stop)
    count, error = message_count(messages), stop.error
    rows, least, crossover = _channel(scheme, constraint)
    c1 = divergence_bits(rows)
    size = log2(count)
    entropy = -(error * log2(error) + (1 - error) * log2(1 - error))
    fano = max(0.0, ((1 - error) * size - entropy) / least) if least > 0 else inf
    burnashev = size / least + (log2(1 / error) / c1 if c1 < inf else 0.0) if least > 0 else inf
    c2 = two_phase = bins = None
    if crossover is not None:
        c2 = log2((1 - crossover) / crossover)
        two_phase = _two_phase(crossover, count, error)
        plan = BurnashevZigangirov(crossover, 2)
        rate = log(plan.error_bound(1))  # two bins: the factor of one use
        bins = max(0, ceil((log(error) - log(count - 1)) / rate))
    return Bounds(count, error, least, c1, c2, fano, burnashev, two_phase, bins)


def divergence_bits(rows: np.ndarray) -> float:
    """C1, the greatest D(W_x || W_x') of two letters in bits; infinite where an output is lost."""
    worst = 0.0
    for law in rows:
        divergences = np.where(missed(rows, law), inf, pointwise_divergence(rows, law))
        worst = max(worst, float(divergences.max()) / LOG_TWO)
    return worst


def _channel(
    scheme: object, constraint: Constraint | None
) -> tuple[np.ndarray, float, float | None]:
    """Laws of the output by letter, an upper bound on the capacity, the crossover of a BSC."""
    if isinstance(scheme, GroupCode | BurnashevZigangirov):
        return scheme.matrix, scheme.information_bits, scheme.crossover
    if isinstance(scheme, PosteriorMatching):
        rows = scheme.matrix
        if scheme.capacity is not None:
            upper = scheme.capacity.certificate.upper
        else:
            # no code with these letters can do better than their capacity
            alphabet = restrict(scheme.channel, scheme.letters)
            upper = capacity(alphabet, Unconstrained()).certificate.upper
    elif isinstance(scheme, Channel):
        if scheme.inputs is None and constraint is None:
            rule = "must limit the input of a channel whose input is continuous: give Power(P)"
            raise InvalidArgument("constraint", rule, constraint)
        result = capacity(scheme, Unconstrained() if constraint is None else constraint)
        upper = result.certificate.upper
        rows = scheme.prob(result.input.atoms if scheme.inputs is None else scheme.inputs)
    else:
        raise InvalidArgument("scheme", "must be a scheme or a channel", scheme)
    return rows, upper, _crossover(rows)


def _crossover(rows: np.ndarray) -> float | None:
    """The crossover of a binary symmetric channel, or None."""
    if rows.shape != (2, 2) or abs(rows[0, 0] - rows[1, 1]) > 1e-12:
        return None
    e = float(min(rows[0, 0], rows[0, 1]))
    return e if 0.0 < e < 0.5 else None


def _two_phase(e: float, messages: int, error: float) -> float:
    """E tau of SED is at most (log(M-1) + C2)/C + N C2/C1 + F (2 C2/C - C2/C1).

    N = ceil(log((1-error)/error)/C2) steps up once the true message leads, F = r(1-r^N)/(1-r) the
    mean number of times it falls behind again; the proof is in docs/feedback.md.
    """
    c = 1 + e * log2(e) + (1 - e) * log2(1 - e)
    c2 = log2((1 - e) / e)
    c1 = (1 - 2 * e) * c2
    r = e / (1 - e)
    steps = max(0, ceil(log2((1 - error) / error) / c2))
    falls = r * (1 - r**steps) / (1 - r)
    return (log2(messages - 1) + c2) / c + steps * c2 / c1 + falls * (2 * c2 / c - c2 / c1)
