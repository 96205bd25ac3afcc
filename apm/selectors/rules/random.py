"""The control: any example."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.selectors.base import Selector
from channelcode._validation import Array, Seed, as_generator


@dataclass(frozen=True)
class Random(Selector):
    """Ask any candidate with equal probability.

    >>> from apm import Belief, VariationalLogistic
    >>> Random().scores(Belief(VariationalLogistic()), [[1.0], [2.0]], rng=0).shape
    (2,)
    """

    adapts = False
    by_row = True

    def tile_seed(self, rng: int, start: int) -> Seed:
        generator = as_generator(rng)
        generator.bit_generator.advance(start)  # type: ignore[attr-defined]  # one step each
        return generator

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        return as_generator(rng).random(len(belief.matrix(X)))
