"""The label's law as the K-class selectors see it: at one theta, or averaged over the posterior."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.selectors.base import Selector
from apm.selectors.draws import point_inputs
from channelcode._validation import Array


@dataclass(frozen=True)
class LabelSelector(Selector):
    """A selector that reads only the probabilities of the labels, `(n, K)`.

    `bayesian=False` takes them at the most probable theta (the usual form); `bayesian=True`
    averages over the posterior.
    """

    bayesian: bool = False
    resolution = 1e-10  # predictive probabilities are integrals good to about 1e-11

    def probabilities(self, belief: Belief, X: ArrayLike) -> Array:
        """p(y | x) for every row of X, `(n, K)`."""
        if self.bayesian:
            return belief.predict_proba(X)
        return belief.channel.prob(point_inputs(belief, X))
