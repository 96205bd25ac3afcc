"""How far the information of an input law can fall short of capacity, from transport distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._numerics.divergence import missed, pointwise_divergence
from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import non_negative
from channelcode.certificate import Certificate, Status, conclude
from channelcode.channels import Channel, Logistic
from channelcode.channels.densities.range import has_density
from channelcode.errors import InvalidArgument, NotConverged
from channelcode.information import Information, mutual_information
from channelcode.information.steepness import steepness
from channelcode.measures import DiscreteMeasure, Gaussian
from channelcode.transport import w2, wasserstein_line


@dataclass(frozen=True)
class GapBound:
    """Upper bounds, in bits, on capacity minus the information of an input law.

    `bits` is the least of `theorem_31`, `kkt` and `capacity` (information is never negative).
    `constant` is K_P of Theorem 3.1 in bits a unit of distance, `lipschitz` that of
    l -> D(W(.|l) || q*), `divergence` is D(q_p || q*) in bits, and `w1 <= w2` are the distances to
    the target, exact on the line and upper bounds in R^k.

    `certificate.upper` is the same bound, `certificate.lower` what was computed of the gap itself.
    Both constants are the steepest slopes that a search has met; `scope` says where it looked.
    The status is `BOUND_ONLY` where the channel declares its bends, else `WITHIN_SCOPE`.
    """

    bits: float
    theorem_31: float
    kkt: float
    capacity: float
    constant: float
    lipschitz: float
    divergence: float
    w1: float
    w2: float
    certificate: Certificate
    status: Status
    scope: str

    @property
    def nats(self) -> float:
        """The bound in nats."""
        return self.bits * LOG_TWO

    def __float__(self) -> float:
        return self.bits


def information_gap_bound(
    channel: Channel,
    measure: Gaussian | DiscreteMeasure,
    target: Any,
    *,
    power: float | None = None,
    distance: float | None = None,
) -> GapBound:
    """Bound C - I(p) by the distance of p from the target p*, two ways, and take the better.

    `target` is a capacity result (anything with `.bits` and `.input`) or its input measure, in
    which case C = I(p*). Both bounds are inequalities for I(p*) - I(p), whatever p* is:

    - KKT (theory of the certificate): I(p*) - I(p) = E_p* D - E_p D + D(q_p || q*)
      <= Lip W1(p, p*) + D(q_p || q*), with D(l) = D(W(.|l) || q*);
    - Theorem 3.1: |I(p*) - I(p)| <= K_P W2(p, p*), where K_P = K_1 log(max q / min q) + K_2,
      2 K_1 is the Lipschitz constant of l -> W(.|l) in total absolute value and K_2 that of
      l -> H(Y | L = l). For the logistic channel every output law within E L^2 <= P has
      log(max q / min q) <= sqrt P, so K_P = 0.25 log2(e) sqrt(P) + 0.3230; for another channel
      the output laws of p and p* take its place.

    What the target itself lacks to a certified upper bound on C is added. `power` is P (default:
    the target's own; a law beyond it is measured by its own power). `distance` is W2(p, p*) if it
    is known already: in R^k computing it costs a transport problem.

    >>> from channelcode import DiscreteMeasure, Gaussian, Logistic
    >>> target = DiscreteMeasure.symmetric(2.0)
    >>> bound = information_gap_bound(Logistic(), Gaussian(0.0, 4.0), target)
    >>> round(bound.constant, 4), round(bound.lipschitz, 4), round(bound.bits, 4)
    (1.0443, 0.323, 0.3458)
    """
    law = _input_of(target)
    if not isinstance(measure, Gaussian | DiscreteMeasure):
        raise InvalidArgument("measure", "must be Gaussian or discrete", measure)
    if law.dim != channel.dim:
        rule = f"must have an input in the channel's space, R^{channel.dim}"
        raise InvalidArgument("target", rule, f"dimension {law.dim}")
    if has_density(channel):
        raise InvalidArgument("channel", "must have finitely many outputs", channel)
    if channel.inputs is not None:
        raise InvalidArgument("channel", "must have a continuous input", channel)
    found = mutual_information(channel, measure)
    best = mutual_information(channel, law)
    capacity = _capacity_of(target, best.bits)
    shortfall = max(capacity - best.bits, 0.0)
    q, q_star = np.asarray(found.output), np.asarray(best.output)
    divergence = np.inf if missed(q, q_star) else float(pointwise_divergence(q, q_star)) / LOG_TWO
    first, second = _distances(measure, law, distance)
    lipschitz, output_constant, entropy_constant = steepness(channel, q_star, measure, law)
    budget = law.second_moment if power is None else non_negative("power", power)
    if type(channel) is Logistic and _balanced(law):
        spread = float(np.sqrt(max(budget, measure.second_moment)))
    else:
        laws = np.concatenate([q, q_star])
        with np.errstate(divide="ignore"):
            spread = float(np.log(laws.max()) - np.log(laws.min()))
    constant = (0.5 * output_constant * spread + entropy_constant) / LOG_TWO
    lipschitz = lipschitz / LOG_TWO
    theorem = _product(constant, second) + shortfall
    # the output law of a sampled measure has an error of the order of that of its information
    kkt = _product(lipschitz, first) + divergence + shortfall + found.error
    least = min(theorem, kkt, capacity)
    parts = (least, theorem, kkt, capacity, constant, lipschitz, divergence, first, second)
    return _concluded(channel, parts, _computed_gap(best, found))


def _computed_gap(best: Information, found: Information) -> float:
    """What is sure of I(p*) - I(p), in bits: the difference less both errors, at least zero."""
    return max(best.bits - found.bits - best.error - found.error, 0.0)


def _concluded(channel: Channel, parts: tuple[float, ...], lower: float) -> GapBound:
    declared = channel.tails() is not None
    where = (
        "the channel's own landmarks" if declared else "an even grid, the channel being a black box"
    )
    scope = f"slopes searched at every scale about {where}"
    certificate = Certificate(min(lower, parts[0]), parts[0])
    return conclude(
        lambda status: GapBound(*parts, certificate=certificate, status=status, scope=scope),
        certificate,
        tol=np.inf,
        throw=False,
        best=Status.BOUND_ONLY if declared else Status.WITHIN_SCOPE,
    )


def _product(constant: float, distance: float) -> float:
    return 0.0 if distance == 0 else constant * distance


def _balanced(law: DiscreteMeasure) -> bool:
    """B_t: its output from the logistic channel is an even coin, as the proof needs."""
    pair = law.simplify()
    even = float(np.ptp(pair.weights)) < 1e-9
    return even and len(pair) <= 2 and abs(pair.mean) < 1e-9


def _input_of(target: Any) -> DiscreteMeasure:
    law = target if isinstance(target, DiscreteMeasure) else getattr(target, "input", None)
    if not isinstance(law, DiscreteMeasure):
        rule = "must be a discrete measure or a capacity result with one as its input"
        raise InvalidArgument("target", rule, target)
    return law


def _capacity_of(target: Any, achieved: float) -> float:
    """The certified upper bound on capacity in bits, or what the target measure achieves."""
    if isinstance(target, DiscreteMeasure):
        return achieved
    certificate = getattr(target, "certificate", None)
    upper = getattr(certificate, "upper", getattr(target, "bits", achieved))
    return max(float(upper), achieved)


def _distances(
    measure: Gaussian | DiscreteMeasure, law: DiscreteMeasure, known: float | None
) -> tuple[float, float]:
    if known is not None:
        given = non_negative("distance", known)
        return given, given
    if measure.dim == 1:
        return wasserstein_line(measure, law, p=1.0), wasserstein_line(measure, law, p=2.0)
    try:
        result = w2(measure, law)
    except NotConverged as unfinished:
        result = unfinished.result
    longest = float(np.sqrt(result.upper))
    return longest, longest
