"""What posteriors made of weighted parameter values share: moments, and the push of an encoder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders import Encoder, Linear
from apm.encoders.calling import channel_inputs
from apm.pools.inputs import Matrix
from apm.posteriors.base import Posterior
from apm.posteriors.samples.reweighting import Pending
from apm.posteriors.samples.tables import MOST_ENTRIES, LabelTable, labels_to_come
from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool, Pool

PIECE_ENTRIES = 1 << 20  # log-probabilities of one piece of labels or candidates: eight mebibytes


class WeightedSamples(Posterior):
    """A law of the parameters with masses w_s on values theta_s, pushed through any encoder.

    The induced law of a candidate x has mass w_s on l_s = h(theta_s, x): an `EmpiricalPool` with
    these weights, so that every selector works. The rows of X are what the encoder takes; labels
    are kept as other posteriors keep them. A member of this family writes `theta`, `log_weights`
    and `_solve`.
    """

    __slots__ = ("_asked", "_channel", "_encoder", "_kept", "_pending")
    _channel: Channel
    _encoder: Encoder
    _asked: Array | None
    _kept: dict[str, Any]
    _pending: tuple[Pending, ...]
    linear = False
    gives_samples = True

    def __init__(
        self,
        channel: Channel,
        encoder: Encoder | None = None,
        *,
        classes: ArrayLike | None = None,
    ) -> None:
        if not isinstance(channel, Channel) or channel.inputs is not None:
            raise InvalidArgument("channel", "must be a channel with a continuous input", channel)
        if not isinstance(channel.num_outputs, int | np.integer):
            raise InvalidArgument("channel", "must have finitely many outputs", channel)
        encoder = Linear() if encoder is None else encoder
        if not isinstance(encoder, Encoder):
            rule = "must be an encoder such as NonLinear(function, num_parameters)"
            raise InvalidArgument("encoder", rule, encoder)
        self._set(_channel=channel, _encoder=encoder, _asked=None, _pending=(), _kept={})
        super().__init__(1.0, classes=classes)

    # What a member of the family writes -------------------------------------------------------

    @property
    @abstractmethod
    def theta(self) -> Array:
        """The values of the parameters, `(s, q)`."""

    @property
    @abstractmethod
    def log_weights(self) -> Array:
        """The logarithms of their masses, `(s,)`, up to a common constant."""

    # What is the same for all -----------------------------------------------------------------

    @property
    def channel(self) -> Channel:
        return self._channel

    @property
    def encoder(self) -> Encoder:
        """The map from parameters and example to the channel input."""
        return self._encoder

    @property
    def weights(self) -> Array:
        """The masses of the parameter values, `(s,)`; they sum to one."""
        if "weights" not in self._cache:
            logs = np.asarray(self.log_weights)
            with np.errstate(under="ignore"):
                masses = np.exp(logs - logs.max())
            masses /= masses.sum()
            masses.setflags(write=False)
            self._cache["weights"] = masses
        return self._cache["weights"]

    @property
    def ess(self) -> float:
        """The effective number of samples, `1 / sum_s w_s^2`."""
        return float(1.0 / np.sum(np.square(self.weights)))

    @property
    def mean(self) -> Array:
        """E theta, `(q,)`."""
        return self.weights @ self.theta

    @property
    def covariance(self) -> Array:
        """Cov theta, `(q, q)`."""
        centred = self.theta - self.mean
        return (centred.T * self.weights) @ centred

    @property
    def map(self) -> Array:
        """The value with the largest mass, `(q,)`."""
        return np.array(self.theta[int(np.argmax(self.log_weights))])

    @property
    def summed_covariance(self) -> Array:
        """Cov theta where l = <theta, x>; otherwise it bounds no variance of l, and is refused."""
        if type(self._encoder) is not Linear or self.dim != 1:
            rule = (
                "must not be a spectral one where l is not <theta, x>: APM here needs a budget of "
                "its own, such as APM(PoolMaxPower()) or APM(FixedPower(4.0)); InformationGain() "
                "needs none"
            )
            raise InvalidArgument("power", rule, self._encoder)
        return self.covariance

    def inputs(self, theta: Array, features: Any) -> Array:
        """l of every row at every theta `(s, q)`: `(n, s)` on the line, `(n, s, k)` in R^k.

        At one theta `(q,)` there is no axis for it.
        """
        if self._num_features is not None:
            self.require_features(features.shape[1])
        found = channel_inputs(self._encoder, np.atleast_2d(theta), features, self._channel)
        return found[:, 0] if np.ndim(theta) == 1 else found

    def project(self, features: Matrix) -> tuple[Array, ...]:
        """l of every row at every parameter value that may have mass: `(n, s)`, `(n, s, k)`."""
        inputs = self.inputs(self._supported_theta(), features)
        for pending in self._pending:
            inputs = pending.moved(inputs)
        return (inputs,)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return EmpiricalPool(*arrays, weights=self._supported_weights())

    def mean_inputs(self, features: Any) -> Any:
        return np.moveaxis(self.project(features)[0], 1, -1) @ self._supported_weights()

    def _supported_theta(self) -> Array:
        """The parameter values that may have mass, `(s, q)`; the same object as long as they stay.

        It is asked for while a label is being learnt, so it must not look at the weights.
        """
        return self.theta

    def _supported_weights(self) -> Array:
        """Their masses, `(s,)`."""
        return self.weights

    def gain(self, X: Any, about: Any = None) -> Array:
        """I(theta; Y) of every row of X `(n, d)` in nats, `(n,)`; exact for these samples.

        After `awaiting` it is the information beyond what the labels asked for will tell.
        """
        if about is not None:
            rule = (
                "must be None: the information about some parameters alone needs a Grid, where "
                "each of their values comes with all values of the others; no two draws share one"
            )
            raise InvalidArgument("about", rule, about)
        theta, weights = self._supported_theta(), self._supported_weights()
        if self._asked is None:
            return np.concatenate([table.gain(weights) for table in self._label_tables(X)])
        outcomes = labels_to_come(self._channel, self.inputs(theta, self._asked))
        pieces = [table.gain_after(weights, outcomes) for table in self._label_tables(X)]
        return np.concatenate(pieces)

    def awaiting(self, rows: Any) -> Self:
        """This posterior, knowing that the labels of rows `(b, d)` are asked for."""
        asked = rows if self._asked is None else np.concatenate((self._asked, rows))
        return self._evolve(_asked=asked, _pending=self._pending)

    def after_asking(self, features: Matrix, weight: Any) -> Self:
        weights = self._supported_weights()
        pending = Pending.of(self.project(features)[0][0], weights, weight)
        asked = self.awaiting(features)._asked
        return self._evolve(_asked=asked, _pending=(*self._pending, pending))

    def _label_tables(self, X: Any) -> Iterator[LabelTable]:
        """The labels' probabilities of every row of X, in pieces; those of a small pool are kept.

        A pool is known by its numbers, and by the parameter values that the table is for.
        """
        theta = self._supported_theta()
        matrix = np.asarray(X)
        held = self._table()
        if held is not None and _same(held.matrix, matrix):
            yield held
            return
        each = len(theta) * LabelTable.entries(self.num_labels)
        if len(matrix) * each <= MOST_ENTRIES:
            copy = matrix.copy()
            table = LabelTable(self._channel, self.inputs(theta, copy), copy)
            self._kept["table"] = theta, table  # at once: threads share it
            yield table
            return
        rows = max(1, PIECE_ENTRIES // each)
        for start in range(0, len(matrix), rows):
            part = matrix[start : start + rows]
            yield LabelTable(self._channel, self.inputs(theta, part), part)

    def log_likelihood(self, theta: Array, X: Any, codes: Any, sample_weight: Any) -> Array:
        """sum_i s_i ln p(y_i | x_i, theta) at every theta `(s, q)`: `(s,)`; -inf if impossible."""
        total = np.zeros(len(theta))
        rows = max(1, PIECE_ENTRIES // max(1, len(theta) * self.num_labels))
        for start in range(0, len(X), rows):
            part = slice(start, start + rows)
            logs = self._channel.log_prob(self.inputs(theta, X[part]))
            total += weighted_sum(logs, codes[part], sample_weight[part])
        return total

    def _table(self) -> LabelTable | None:
        """What is kept of the last pool, if it is for these parameter values."""
        theta, table = self._kept.get("table", (None, None))
        return table if theta is self._supported_theta() else None

    def parts(self) -> dict[str, Any]:
        return super().parts() | {"encoder": self._encoder}

    def _evolve(self, **changes: Any) -> Self:
        changes = {"_asked": None, "_pending": ()} | changes  # a label that came is not awaited
        return super()._evolve(**changes)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_kept": {}}  # a copy computes its own

    def __repr__(self) -> str:
        seen = f"{self.num_observations} labels" if self.num_observations else "no labels yet"
        size = f"{len(self.theta)} values of {self.theta.shape[1]} parameters"
        return f"{type(self).__name__}({self._channel!r}, {self._encoder!r}; {size}; {seen})"


def weighted_sum(logs: Array, codes: Any, sample_weight: Array) -> Array:
    """sum_i s_i ln p(y_i | theta), `(s,)`, from log-probabilities `(n, s, K)`."""
    if len(codes) == 1 and sample_weight[0] == 1.0:
        return logs[0, :, codes[0]]
    told = logs[np.arange(len(codes)), :, codes]
    with np.errstate(invalid="ignore"):
        terms = sample_weight[:, None] * told
    return np.where(sample_weight[:, None] == 0, 0.0, terms).sum(axis=0)  # 0 * -inf is nothing


def _same(held: Any, given: Any) -> bool:
    return held.shape == given.shape and held.dtype == given.dtype and np.array_equal(held, given)


def log_sum(logs: Array) -> float:
    """ln sum_s exp(logs_s), with one shift by the largest; -inf for no mass."""
    largest = float(logs.max())
    if largest == -np.inf:
        return largest
    with np.errstate(under="ignore"):
        return largest + float(np.log(np.exp(logs - largest).sum()))
