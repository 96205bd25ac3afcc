"""Pairs of items as a pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apm.belief import Belief
from apm.encoders import Difference
from apm.pairs.scores import Gain, Score, Spread, Transport
from apm.pairs.search import Found, best_pairs
from apm.pools.inputs import as_dense
from apm.power import Candidates, FixedPower, SpectralPower, SpectralWithMean
from apm.selectors import APM, InformationGain, MaxVariance, Parameters, Selector
from channelcode._validation import Array, integer
from channelcode.channels import Cauchit, Logistic, Probit
from channelcode.errors import InvalidArgument
from channelcode.measures import ScalarPool

SYMMETRIC = (Logistic, Probit, Cauchit)


@dataclass(frozen=True)
class PairChoice:
    """The pairs to compare next, best first.

    - `pairs` `(k, 2)`: numbers of items, the smaller first; `scores` `(k,)`: those of the rule;
    - `share`: the part of all pairs whose score was computed;
    - `method`: `"leaves"` where bounds ruled the others out, `"blocks"` where they could not and
      every pair was looked at.
    """

    pairs: NDArray[np.intp]
    scores: Array
    share: float
    method: str

    def __iter__(self):
        return iter([(int(i), int(j)) for i, j in self.pairs])


class PairPool:
    """All n (n - 1) / 2 pairs of n items: which two should be compared next?

    The channel input of a pair is l = theta'(phi_i - phi_j) with phi = `encoder.encode(items)` of
    the `Difference` encoder in the belief: l ~ N(m_i - m_j, |z_i - z_j|^2) with m = mu'phi and
    z = F'phi for theta ~ N(mu, F F'). The best pair is found without forming the pairs: leaves of
    64 items are bounded against each other, and only pairs of leaves whose bound beats the best
    pair are looked at. The answer is that of looking at every pair.

    >>> import numpy as np
    >>> from apm import Belief, Difference, Laplace, PairPool
    >>> from channelcode import Logistic
    >>> pool = PairPool(np.random.default_rng(0).normal(size=(1000, 3)))
    >>> belief = Belief(Laplace(Logistic(), 1.0), Difference())
    >>> choice = pool.search(belief)
    >>> len(pool), choice.pairs.shape
    (499500, (1, 2))
    >>> belief = belief.update(pool.rows(choice.pairs)[0], 1)  # the first of the two is preferred
    """

    def __init__(self, items: ArrayLike) -> None:
        table = as_dense(items, "items").astype(np.float64)
        if len(table) < 2:
            raise InvalidArgument("items", "must be two or more", f"{len(table)} rows")
        table.setflags(write=False)
        self._items = table

    @property
    def items(self) -> Array:
        """The items, `(n, p)`."""
        return self._items

    def __len__(self) -> int:
        """The number of pairs."""
        count = len(self._items)
        return count * (count - 1) // 2

    def __repr__(self) -> str:
        return f"PairPool({len(self._items)} items, {len(self)} pairs)"

    def rows(self, pairs: ArrayLike) -> Array:
        """Rows for the `Difference` encoder, `(k, 2 p)`: both items of each pair side by side."""
        chosen = self._checked("pairs", pairs)
        return np.hstack([self._items[chosen[:, 0]], self._items[chosen[:, 1]]])

    def search(
        self,
        belief: Belief,
        selector: Selector | None = None,
        n: int = 1,
        *,
        exclude: ArrayLike | None = None,
    ) -> PairChoice:
        """The `n` pairs with the highest scores, best first.

        - `selector`: `InformationGain()` (the default), `APM(...)` about the parameters, or
          `MaxVariance()`;
        - `exclude` `(k, 2)`: pairs that must not be asked, for instance those already compared.

        The channel treats l and -l alike (logistic, probit, cauchit), so that (i, j) and (j, i) are
        one pair.
        """
        count = integer("n", n, least=1)
        rule = InformationGain() if selector is None else selector
        mean, factor, features = self._seen_by(belief)
        left_out = np.empty((0, 2), dtype=np.intp)
        if exclude is not None and np.size(exclude):
            left_out = np.unique(np.sort(self._checked("exclude", exclude), axis=1), axis=0)
        if count > (left := len(self) - len(left_out)):
            raise InvalidArgument("n", f"must be at most {left}, the pairs that are left", n)
        m, z = features @ mean, features @ factor
        score = self._score(rule, belief, features, m, z)
        found = best_pairs(z, m, score, count=count, excluded=left_out)
        i, j = found.pairs.T
        exact = score.values(np.abs(m[i] - m[j]), np.linalg.norm(z[i] - z[j], axis=1))
        order = np.lexsort((j, i, -exact))
        share = found.looked_at / len(self)
        return PairChoice(found.pairs[order], exact[order], share, found.method)

    # Inside -----------------------------------------------------------------------------------

    def _checked(self, argument: str, pairs: ArrayLike) -> NDArray[np.intp]:
        given = np.asarray(pairs)
        if given.dtype.kind not in "iu" or given.ndim != 2 or given.shape[1] != 2:
            rule = "must be whole numbers of shape (k, 2)"
            raise InvalidArgument(argument, rule, f"{given.dtype} of shape {given.shape}")
        chosen = given.astype(np.intp)
        wrong = (chosen < 0) | (chosen >= len(self._items))
        if wrong.any():
            rule = f"must be numbers of items, 0 to {len(self._items) - 1}"
            raise InvalidArgument(argument, rule, int(chosen[wrong][0]))
        same = chosen[:, 0] == chosen[:, 1]
        if same.any():
            first = chosen[int(np.argmax(same))].tolist()
            raise InvalidArgument(argument, "must hold two different items", first)
        return chosen

    def _seen_by(self, belief: Belief) -> tuple[Array, Array, Array]:
        """The mean of theta, a factor of its covariance, and the features of the items."""
        if not isinstance(belief, Belief):
            rule = "must be a Belief with the encoder Difference(...)"
            raise InvalidArgument("belief", rule, belief)
        encoder = belief.encoder
        if not isinstance(encoder, Difference) or not encoder.is_linear:
            rule = "must have the encoder Difference(...) of a linear encoder"
            raise InvalidArgument("belief", rule, encoder)
        features: Any = as_dense(encoder.encoder.encode(self._items), "items")
        features = features - features.mean(axis=0)  # before products: far items keep their digits
        ready = belief.sized(np.hstack([self._items[:1], self._items[:1]]))
        posterior: Any = ready.posterior
        if not posterior.linear or posterior.gives_samples or posterior.dim != 1:
            rule = "must have a Gaussian posterior on the line, such as Laplace(Logistic())"
            raise InvalidArgument("belief", rule, posterior)
        if posterior.intercept:
            rule = "must have no intercept: a difference of two items has none"
            raise InvalidArgument("belief", rule, posterior)
        if not isinstance(belief.channel, SYMMETRIC):
            rule = "must have a channel that treats l and -l alike: logistic, probit or cauchit"
            raise InvalidArgument("belief", rule, belief.channel)
        values, vectors = np.linalg.eigh(posterior.covariance)
        factor = vectors * np.sqrt(np.maximum(values, 0.0))
        return np.asarray(posterior.mean), factor, features

    def _score(self, rule: Selector, belief: Belief, features: Array, m: Array, z: Array) -> Score:
        if isinstance(rule, MaxVariance):
            return Spread()
        if isinstance(rule, InformationGain) and rule.samples is None and rule.about is None:
            return Gain(belief.channel)
        if (
            isinstance(rule, APM)
            and rule.channel is None
            and rule.message == Parameters()
            and rule.charged
            and isinstance(belief.channel, Logistic | Probit)
        ):
            return Transport(self._budget(rule, belief, features, m, z))
        text = "must be InformationGain(), MaxVariance(), or APM(...) about the parameters"
        raise InvalidArgument("selector", f"{text} of a logistic or probit channel", rule)

    def _budget(self, rule: Any, belief: Belief, features: Array, m: Array, z: Array) -> float:
        """The policy's budget over all pairs: the pairs that decide it are farthest pairs."""
        if isinstance(rule.power, FixedPower):
            return rule.power.budget
        radius = None
        if isinstance(rule.power, SpectralPower | SpectralWithMean):
            radius = float(np.sqrt(_farthest(features).scores[0]))
        ends = np.vstack([_farthest(z).pairs, _farthest(np.column_stack([z, m])).pairs])
        i, j = ends.T
        laws = ScalarPool(m[i] - m[j], np.square(z[i] - z[j]).sum(axis=1))
        return rule.power.amount(Candidates(belief, self.rows(ends), radius, laws))


def _farthest(points: Array) -> Found:
    """The pair of points that are farthest apart."""
    return best_pairs(points, np.zeros(len(points)), Spread())
