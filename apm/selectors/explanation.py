"""Why one candidate was chosen: the two terms, the information, the budget and the runner-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.belief import Belief
from apm.power import PoolMaxPower
from apm.selectors.matching.target import decompose, target_input
from apm.selectors.matching.views import AllClasses, View
from channelcode._validation import Array
from channelcode.measures import Pool

if TYPE_CHECKING:
    from apm.selectors.base import Selector


@dataclass(frozen=True)
class Explanation:
    """One candidate under one belief.

    - `score` and `rank` (0 is best) among `num_candidates`; `runner_up` is the best other candidate
      and `margin` the score's lead over it (negative if this one is not the best);
    - `exploitation` `|m - m_T|^2` and `exploration` `W2^2(p - m, T - m_T)` add up to `W2^2(p, T)`
      (eq. (APM-LR); theory of transport: "the mean splits off");
    - `power` P and `capacity_bits` C(P) of the target T, in the channel that the selector looks
      through; selectors without a budget are explained at the pool's largest power;
    - `information_gain_bits` I(theta; Y) of this candidate, and `lost_bits`, what the best one
      gains beyond it, computed for every candidate (None in R^k, where that is an estimate);
    - `bound_bits`: no candidate gains more than this beyond it, as none gains more than C(P): the
      least of `C(P) - I` and `transport_bound_bits`. None, with the reason in `bound_note`, unless
      every candidate is within the budget P and the channel is the label's own;
    - `transport_bound_bits`: the same loss bounded by the distance to the target alone (the better
      of Theorem 3.1 and the KKT bound), the guarantee that APM minimises.
    """

    index: int
    score: float
    rank: int
    num_candidates: int
    runner_up: int | None
    margin: float | None
    exploitation: float
    exploration: float
    power: float
    capacity_bits: float
    information_gain_bits: float
    lost_bits: float | None
    bound_bits: float | None
    transport_bound_bits: float | None
    bound_note: str

    def __str__(self) -> str:
        lines = [
            f"candidate {self.index}: score {self.score:.6g}, rank {self.rank + 1} of "
            f"{self.num_candidates}",
            f"  exploitation {self.exploitation:.6g}, exploration {self.exploration:.6g}",
            f"  information gain {self.information_gain_bits:.6g} bits of a capacity of "
            f"{self.capacity_bits:.6g} at power {self.power:.6g}",
        ]
        if self.lost_bits is not None:
            lines.append(f"  the best candidate gains {self.lost_bits:.6g} bits more")
        if self.bound_bits is None:
            lines.append(f"  no certificate: {self.bound_note}")
        else:
            lines.append(f"  certified: no candidate gains over {self.bound_bits:.6g} bits more")
        if self.runner_up is not None:
            lines.append(f"  leads candidate {self.runner_up} by {self.margin:.6g}")
        return "\n".join(lines)


def explain_choice(
    selector: Selector,
    belief: Belief,
    X: Any,
    candidates: Any,
    scores: Array,
    order: Any,
    place: int,
    laws: Pool,
) -> Explanation:
    """The explanation of the candidate at `place`; `order` ranks the scores, best first."""
    from channelcode.information import mutual_information

    policy = getattr(selector, "power", PoolMaxPower())
    look = getattr(selector, "view", AllClasses().view)
    view: View = look(belief, laws)
    power = view.budget(policy, belief, X, radius=getattr(selector, "radius", None))
    target = target_input(view.channel, power, solver=getattr(selector, "solver", None))
    one = slice(place, place + 1)
    exploitation, exploration = (float(term[0]) for term in decompose(view.laws[one], target.input))
    gains = np.ravel(mutual_information(belief.channel, laws if laws.dim == 1 else laws[one]).bits)
    gain = float(gains[place if laws.dim == 1 else 0])
    lost = float(gains.max()) - gain if laws.dim == 1 else None
    if view.channel is belief.channel:
        bound, transport, note = _certificate(belief, power, target, laws, place, gain)
    else:
        bound = transport = None
        note = "the budget is that of the channel which the selector looks through, not the label's"
    others = order[order != place]
    runner_up = int(candidates[others[0]]) if len(others) else None
    margin = float(scores[place] - scores[others[0]]) if len(others) else None
    return Explanation(
        index=int(candidates[place]),
        score=float(scores[place]),
        rank=int(np.flatnonzero(order == place)[0]),
        num_candidates=len(candidates),
        runner_up=runner_up,
        margin=margin,
        exploitation=exploitation,
        exploration=exploration,
        power=power,
        capacity_bits=target.bits,
        information_gain_bits=gain,
        lost_bits=lost,
        bound_bits=bound,
        transport_bound_bits=transport,
        bound_note=note,
    )


def _certificate(
    belief: Belief, power: float, target: Any, laws: Pool, place: int, gain: float
) -> tuple[float | None, float | None, str]:
    """The bound, the bound by transport alone, and a note that says what they rest on."""
    from channelcode.guarantees import information_gap_bound

    moments = laws.second_moment
    largest = float(moments.max())
    # one part in 1e9 is rounding: a budget set to the maximum itself must count as valid
    if largest > power * (1 + 1e-9):
        note = (
            f"the budget {power:.6g} is below the largest E|L|^2 = {largest:.6g} of a candidate; "
            "use PoolMaxPower() or SpectralWithMean()"
        )
        return None, None, note
    upper = target.certificate.upper
    transport = information_gap_bound(belief.channel, laws[place], target, power=power).bits
    # C >= I: a difference below zero is the rounding of the integral
    bound = min(max(upper - gain, 0.0), transport)
    return bound, transport, f"every candidate is within the budget {power:.6g}"
