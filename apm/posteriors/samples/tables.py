"""The labels of a pool at fixed parameter values: what information gain needs, computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr

from channelcode._validation import Array
from channelcode.channels import Channel

MOST_ENTRIES = 1 << 24  # probabilities and entropies that are kept of one pool: 128 mebibytes
MOST_OUTCOMES = 256  # of labels that are not known yet; the likeliest stand for all


class LabelTable:
    """p(y | x, theta) and H(Y | x, theta) for every row of a pool and every parameter value.

    With masses w on the parameter values, the information of each label follows from two products:

        I(theta; Y_x) = H(sum_s w_s p_xs) - sum_s w_s H(p_xs)

    `prob` is `(K, n, s)`, of two labels only the second; `entropy` is `(n, s)`, in nats; `logs` are
    the log-probabilities, `(n, s, K)`.
    """

    __slots__ = ("_held", "binary", "logs", "matrix")

    def __init__(self, channel: Channel, inputs: Array, matrix: Any) -> None:
        logs = channel.log_prob(inputs)
        self.logs = logs
        self.binary = logs.shape[2] == 2
        with np.errstate(under="ignore", invalid="ignore"):
            prob = np.exp(logs)
            terms = np.where(prob > 0, prob * logs, 0.0)
        first = 1 if self.binary else 0
        held = np.empty((logs.shape[2] - first + 1, *logs.shape[:2]))
        held[:-1] = np.moveaxis(prob[..., first:], 2, 0)
        np.negative(terms.sum(axis=2), out=held[-1])
        self._held: Array = held  # one array: its product with the weights is one call
        self.matrix = matrix

    @property
    def prob(self) -> Array:
        """p(y | x, theta), `(K, n, s)`, of two labels only the second."""
        return self._held[:-1]

    @property
    def entropy(self) -> Array:
        """H(Y | x, theta) in nats, `(n, s)`."""
        return self._held[-1]

    @staticmethod
    def entries(num_labels: int) -> int:
        """How many numbers it holds for each row and parameter value."""
        return num_labels + 1 + (1 if num_labels == 2 else num_labels)

    def rows_of(self, X: Array) -> Any:
        """The places of the rows of X `(b, d)` in the pool; None if one of them is not there."""
        places = []
        for row in X:
            equal = self.matrix == row
            found = equal[:, 0] if equal.shape[1] == 1 else equal.all(axis=1)
            place = int(found.argmax())
            if not found[place]:
                return None
            places.append(place)
        return places

    def gain(self, weights: Array) -> Array:
        """I(theta; Y) in nats under masses `(s,)`, for every row: `(n,)`."""
        flat = self._held.reshape(-1, len(weights)) @ weights
        means = flat.reshape(self._held.shape[:2])
        # I >= 0 by Jensen; both terms round at 1e-16
        return np.maximum(_entropy(means[:-1], self.binary) - means[-1], 0.0)

    def gain_about(
        self, weights: Array, inside: Any, shape: tuple[int, ...], about: tuple[int, ...]
    ) -> Array:
        """I(theta_about; Y) in nats on a product grid of that shape, the rest being nuisance.

        H(Y) - sum_t w_t H(E[p | t]), t running over the values of the parameters in `about`.
        `weights` are those of the whole grid, the table's columns its points `inside`.
        """
        others = tuple(1 + axis for axis in range(len(shape)) if axis not in about)
        masses = weights.reshape(1, *shape).sum(axis=others).reshape(-1)
        seen = np.flatnonzero(masses > 0)
        joint, means = np.zeros((self.prob.shape[1], len(weights))), []
        for prob in self.prob:
            joint[:, inside] = prob * weights[inside]
            summed = joint.reshape(len(joint), *shape).sum(axis=others)
            means.append(summed.reshape(len(joint), -1)[:, seen] / masses[seen])
        within = _entropy(np.stack(means), self.binary) @ masses[seen]
        across = _entropy(self.prob @ weights[inside], self.binary)
        return np.maximum(across - within, 0.0)

    def gain_after(self, weights: Array, outcomes: Array) -> Array:
        """I(theta; Y | Z) in nats, `(n,)`, Z being labels that are asked but not known yet.

        `outcomes` `(m, s)` are the probabilities p(z | theta) of what they may be.
        """
        joint = outcomes * weights
        chances = joint.sum(axis=1)
        likely = chances > 0
        given = joint[likely] / chances[likely, None]
        chances = chances[likely] / chances[likely].sum()
        across = _entropy(self.prob @ given.T, self.binary) @ chances
        return np.maximum(across - self.entropy @ (given.T @ chances), 0.0)


def labels_to_come(channel: Channel, inputs: Array) -> Array:
    """p(z | theta) of every combination z of the labels of `inputs` `(b, s)`: `(m, s)`.

    Of more than `MOST_OUTCOMES` combinations the likeliest are kept.
    """
    outcomes = np.ones((1, inputs.shape[1]))
    for own in np.exp(channel.log_prob(inputs)):
        outcomes = (outcomes[:, None, :] * own.T[None]).reshape(-1, inputs.shape[1])
        if len(outcomes) > MOST_OUTCOMES:
            likeliest = np.argsort(outcomes.sum(axis=1), kind="stable")[-MOST_OUTCOMES:]
            outcomes = outcomes[np.sort(likeliest)]
    return outcomes


def _entropy(prob: Array, binary: bool) -> Array:
    """The entropy in nats of label laws `(K, ...)`, of two labels only the second is given."""
    prob = np.minimum(prob, 1.0)  # sums of products round above one
    if binary:
        return entr(prob[0]) + entr(1.0 - prob[0])
    return entr(prob).sum(axis=0)
