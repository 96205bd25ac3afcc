"""What an encoder is: a fixed map from an example to the features the parameters meet."""

from __future__ import annotations

from abc import ABC, abstractmethod

from numpy.typing import ArrayLike

from apm._inputs import Matrix


class Encoder(ABC):
    """A map x -> phi(x), applied to each row by itself; the channel input is l = <theta, phi(x)>.

    `encode(X)` takes `(n, d)` and returns `(n, p)`. Large pools are encoded in pieces, so a row of
    the result must not depend on the other rows.
    """

    @abstractmethod
    def encode(self, X: ArrayLike) -> Matrix:
        """The features of every row of X: `(n, d)` to `(n, p)`."""
