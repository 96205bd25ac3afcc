"""Why one candidate was chosen: the terms of its score, the information, the budget, the rival."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.channels import Channel, Logistic
from channelcode.channels.densities.range import has_density
from channelcode.measures import Pool, ScalarPool

if TYPE_CHECKING:
    from apm.selectors.base import Rating


@dataclass(frozen=True)
class Seen:
    """What a rule looked at: the channel, the laws of its input, and what its scores are made of.

    - `channel`, `laws`: None where each candidate has a channel of its own;
    - `terms`: names and values `(n,)` that add up to the scores;
    - `message`, `through`, `budget`: in words; `power`: the budget P, None for rules without one;
    - `by_target`: for one candidate, its laws seen from each target and their weights, where the
      score is an average over targets.
    """

    channel: Channel | None
    laws: Pool | None
    terms: dict[str, Any]
    message: str = "the parameters"
    through: str = "the label's own"
    budget: str = "none"
    power: float | None = None
    solver: Any = None
    by_target: Any = None


@dataclass(frozen=True)
class Explanation:
    """One candidate under one belief, in the numbers of the rule that chose.

    - `score` and `rank` (0 is best) among `num_candidates`; `runner_up` is the best other candidate
      and `margin` the score's lead over it (negative if this one is not the best);
    - `terms`: what the score is the sum of, by name. For the APM family minus `exploitation`, the
      squared distance of the means to the target's, and minus `exploration`, the rest of the
      distance (eq. (APM-LR); theory of transport: "the mean splits off"); other rules have neither;
    - `message`, `channel`, `budget`: what has to be decoded, through which channel the candidate
      is seen, and which policy gave the budget; `power` is that budget P, None for other rules;
    - `information_gain_bits`: information about the message in the label, through that channel,
      with `information_error_bits`; `capacity_bits`: C(P) of the same channel; `lost_bits`: what
      the best candidate tells beyond this one (None in R^k, where that is an estimate);
    - `bound_bits`: no candidate tells more than this beyond it, as none tells more than the
      capacity at the largest power that a candidate has. None, with the reason in `bound_note`,
      where that is not proved;
    - `transport_bound_bits`: the same loss bounded by the distance to the target alone (the better
      of Theorem 3.1 and the KKT bound), the guarantee that APM minimises; None unless every
      candidate is within the budget P.
    """

    index: int
    score: float
    rank: int
    num_candidates: int
    runner_up: int | None
    margin: float | None
    terms: dict[str, float]
    message: str
    channel: str
    budget: str
    power: float | None
    capacity_bits: float | None
    information_gain_bits: float | None
    information_error_bits: float | None
    lost_bits: float | None
    bound_bits: float | None
    transport_bound_bits: float | None
    bound_note: str

    @property
    def exploitation(self) -> float | None:
        """The squared distance of the means, for the APM family."""
        return -self.terms["exploitation"] if "exploitation" in self.terms else None

    @property
    def exploration(self) -> float | None:
        """The rest of the distance to the target, for the APM family."""
        return -self.terms["exploration"] if "exploration" in self.terms else None

    @property
    def efficiency(self) -> float | None:
        """The information over the capacity of the same channel at the budget; None without one."""
        if self.information_gain_bits is None or not self.capacity_bits:
            return None
        return self.information_gain_bits / self.capacity_bits

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        place = f"rank {self.rank + 1} of {self.num_candidates}"
        lines = [f"candidate {self.index}: score {self.score:.6g}, {place}"]
        if len(self.terms) > 1:
            parts = ", ".join(f"{name} {-value:.6g}" for name, value in self.terms.items())
            lines.append(f"  less the sum of: {parts}")
        budget = "" if self.power is None else f", P = {self.power:.6g}"
        lines.append(f"  message: {self.message}; channel: {self.channel}")
        lines.append(f"  budget: {self.budget}{budget}")
        if self.information_gain_bits is not None:
            line = f"  tells {self.information_gain_bits:.6g} bits"
            if self.capacity_bits is not None:
                line += f" of a capacity of {self.capacity_bits:.6g}"
            if self.efficiency is not None:
                line += f" ({self.efficiency:.1%})"
            if self.lost_bits is not None:
                line += f"; the best candidate {self.lost_bits:.6g} more"
            lines.append(line)
        if self.bound_bits is not None:
            lines.append(f"  certified: no candidate tells over {self.bound_bits:.6g} bits more")
        if self.margin is not None:
            how = "leads" if self.margin >= 0 else "is behind"
            lines.append(f"  {how} candidate {self.runner_up} by {abs(self.margin):.6g}")
        return lines


class Place(NamedTuple):
    """Where a candidate stands among the others."""

    index: int
    score: float
    rank: int
    num_candidates: int
    runner_up: int | None
    margin: float | None


class Extremes(NamedTuple):
    """Of all candidates: the largest E|L|^2, the most bits (on the line), and if these are proved.

    `of(seen)` looks at some, `with_others` joins two looks.
    """

    power: float
    bits: float | None
    proved: bool

    @classmethod
    def of(cls, seen: Seen) -> Extremes | None:
        """The extremes of these candidates; None where each has a channel of its own."""
        from channelcode.information import mutual_information

        if seen.channel is None or seen.laws is None:
            return None
        largest = float(seen.laws.second_moment.max())
        if seen.by_target is not None or seen.laws.dim > 1:
            return cls(largest, None, False)
        laws = seen.laws
        if type(seen.channel) is Logistic and isinstance(laws, ScalarPool):
            laws = laws[_frontier(np.abs(laws.mean), laws.variance)]
        found = mutual_information(seen.channel, laws)
        return cls(largest, float(np.max(found.bits)), not np.any(found.resolution))

    def with_others(self, other: Extremes) -> Extremes:
        """The extremes of both."""
        bits = None if self.bits is None or other.bits is None else max(self.bits, other.bits)
        return Extremes(max(self.power, other.power), bits, self.proved and other.proved)


def _frontier(mean: Array, variance: Array) -> Any:
    """The rows that no other has both a mean nearer to zero and a larger variance than.

    The information through the logistic channel falls with |m| and rises with the variance
    (`apm.selectors.tiles.pruning`), so that the largest is among these.
    """
    order = np.argsort(mean, kind="stable")
    spread = variance[order]
    return order[spread >= np.maximum.accumulate(spread)]


@dataclass(frozen=True)
class _Information:
    """The information of one candidate beside what any candidate could have."""

    bits: float | None = None
    error: float | None = None
    lost: float | None = None
    capacity: float | None = None
    bound: float | None = None
    transport: float | None = None
    note: str = "each candidate is seen through a channel of its own"


def explain_choice(
    seen: Seen, candidates: Any, rating: Rating, order: Any, place: int
) -> Explanation:
    """The explanation of the candidate at `place`; `order` ranks the ratings, best first."""
    others = order[order != place]
    runner_up = margin = None
    if len(others):
        runner_up = int(candidates[others[0]])
        margin = float(rating.values[place] - rating.values[others[0]])
    return explained(
        seen,
        place,
        Place(
            int(candidates[place]),
            float(rating.scores[place]),
            int(np.flatnonzero(order == place)[0]),
            len(candidates),
            runner_up,
            margin,
        ),
    )


def explained(seen: Seen, place: int, stands: Place, pool: Extremes | None = None) -> Explanation:
    """The explanation of the candidate at `place` of what was seen.

    `pool` are the extremes of all candidates, where `seen` holds only some of them.
    """
    told = _information(seen, place, pool)
    return Explanation(
        **stands._asdict(),
        terms={name: float(values[place]) for name, values in seen.terms.items()},
        message=seen.message,
        channel=seen.through,
        budget=seen.budget,
        power=seen.power,
        capacity_bits=told.capacity,
        information_gain_bits=told.bits,
        information_error_bits=told.error,
        lost_bits=told.lost,
        bound_bits=told.bound,
        transport_bound_bits=told.transport,
        bound_note=told.note,
    )


def _information(seen: Seen, place: int, pool: Extremes | None = None) -> _Information:
    channel, laws = seen.channel, seen.laws
    if channel is None or laws is None:
        return _Information()
    bits, error, lost, proved = _gain(seen, channel, laws, place)
    if pool is not None and pool.bits is not None:
        lost, proved = pool.bits - bits, pool.proved
    if not channel.same_units:
        note = "the coordinates of the channel's input have different units: no power bounds them"
        return _Information(bits, error, lost, note=note)
    capacity = None
    if seen.power is not None:
        capacity = float(_capacity(channel, seen.power, seen.solver).bits)
    largest = float(laws.second_moment.max()) if pool is None else pool.power
    ceiling = _capacity(channel, largest, seen.solver)
    if not ceiling.status.ok:
        note = f"the capacity at power {largest:.6g}: {ceiling.status.value}"
        return _Information(bits, error, lost, capacity, note=note)
    if not proved:
        note = "the information is an estimate: in R^k, or of a channel that does not say its bends"
        return _Information(bits, error, lost, capacity, note=note)
    # C >= I: a difference below zero is the rounding of the integral
    bound = max(ceiling.certificate.upper - (bits - error), 0.0)
    transport = _by_transport(seen, channel, laws, place, largest)
    if transport is not None:
        bound = min(bound, transport)
    note = f"no candidate has a power above {largest:.6g}"
    return _Information(bits, error, lost, capacity, bound, transport, note)


def _gain(
    seen: Seen, channel: Channel, laws: Pool, place: int
) -> tuple[float, float, float | None, bool]:
    """I(L; Y) of one candidate in bits, its error, what the best has beyond it, and if proved."""
    from channelcode.information import mutual_information

    if seen.by_target is not None:
        parts, weights = seen.by_target(place)
        found = mutual_information(channel, parts)
        bits, error = float(weights @ found.bits), float(weights @ np.ravel(found.error))
        return bits, error, None, laws.dim == 1 and not np.any(found.resolution)
    line = laws.dim == 1
    found = mutual_information(channel, laws if line else laws[place : place + 1])
    gains, errors = np.ravel(found.bits), np.broadcast_to(found.error, np.shape(found.bits))
    where = place if line else 0
    lost = float(gains.max() - gains[where]) if line else None
    proved = line and not np.any(found.resolution)
    return float(gains[where]), float(np.ravel(errors)[where]), lost, proved


def _by_transport(
    seen: Seen, channel: Channel, laws: Pool, place: int, largest: float
) -> float | None:
    """C(P) - I bounded by the distance to the target, where every candidate is within P."""
    # one part in 1e9 is rounding: a budget set to the maximum itself must count as valid
    if seen.power is None or largest > seen.power * (1 + 1e-9) or seen.by_target is not None:
        return None
    if has_density(channel):  # the theorem is about finitely many outputs
        return None
    from channelcode.guarantees import information_gap_bound

    target = _capacity(channel, seen.power, seen.solver)
    if not target.status.ok:
        return None
    bound = information_gap_bound(channel, laws[place], target, power=seen.power)
    return float(bound.bits)


def _capacity(channel: Channel, power: float, solver: Any) -> Any:
    from channelcode.capacity import Power, capacity

    if solver is None:
        return capacity(channel, Power(power), throw=False)
    return capacity(channel, Power(power), solver=solver, throw=False)
