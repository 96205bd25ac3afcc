"""What posterior matching sees of some candidates before it knows the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from apm.selectors.matching.target import Match, match

if TYPE_CHECKING:
    from apm.belief import Belief
    from apm.selectors.matching.apm import APM
    from apm.selectors.matching.effective_channel import EffectiveChannel
    from apm.selectors.matching.views import View
    from channelcode.measures import Pool


@dataclass(frozen=True)
class Look:
    """The laws of some candidates, and how the message makes them be seen.

    A budget over the pool is known when all candidates were looked at; then `match` needs the rows
    no more. `seen` is the effective channel, or for all parameters the view itself.
    """

    laws: Pool
    seen: View | EffectiveChannel

    def budget(self, selector: APM, belief: Belief, X: Any) -> float:
        """The budget that these candidates would have by themselves."""
        from apm.selectors.matching.views import View

        if isinstance(self.seen, View):
            return self.seen.budget(selector.power, belief, X, radius=selector.radius)
        return self.seen.budget(selector.power, X, radius=selector.radius)

    def match(self, selector: APM, power: float) -> Match:
        """Every candidate beside the target at this budget."""
        from apm.selectors.matching.views import View

        seen = self.seen
        if isinstance(seen, View):
            found = match(seen.channel, seen.laws, power, solver=selector.solver)
        else:
            found = seen.match(power, solver=selector.solver)
        return found if selector.charged else found.uncharged(seen.laws.total_variance)
