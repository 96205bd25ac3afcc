"""What posterior matching sees of some candidates before it knows the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.selectors.matching.target import Match, match, unit_correlation
from channelcode._validation import Array
from channelcode.measures import ScalarPool

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

    @property
    def share(self) -> Array:
        """The average shares that were found with the laws, `(n,)`; ones if all counts."""
        known = getattr(self.seen, "known", None)
        return np.ones(len(self.laws)) if known is None else known

    def lines(self, selector: APM) -> tuple[Array, Array] | None:
        """A and B `(n,)` with `values = A + sqrt(P) B` at every budget P; None if unknown."""
        from apm.selectors.matching.views import View

        seen, laws = self.seen, self.laws
        own = seen if isinstance(seen, View) else seen.view
        known = None if selector.solver is not None else unit_correlation(own.channel)
        if known is None or own.laws is not laws or not isinstance(laws, ScalarPool):
            return None
        deviation = np.sqrt(laws.variance)
        if isinstance(seen, View):
            charge, root = laws.variance, deviation
            height = -np.square(laws.mean)
        else:
            if seen.known is None or seen.exact:
                return None
            moments = seen.moments
            charge, root = moments.signal * laws.variance, moments.linear * deviation
            height = -moments.square * np.square(laws.mean)
        return height - charge if selector.charged else height, 2.0 * known * root

    def match(self, selector: APM, power: float) -> Match:
        """Every candidate beside the target at this budget."""
        from apm.selectors.matching.views import View

        seen = self.seen
        if isinstance(seen, View):
            found = match(seen.channel, seen.laws, power, solver=selector.solver)
        else:
            found = seen.match(power, solver=selector.solver)
        return found if selector.charged else found.uncharged(seen.laws.total_variance)
