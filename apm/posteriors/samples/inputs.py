"""The user's own samples of the channel inputs: a deep ensemble, a committee."""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from apm.pools.inputs import Matrix, as_dense, as_row
from apm.posteriors.base import LARGEST, Posterior
from apm.posteriors.input_projection import seen_part
from apm.posteriors.samples.reweighting import (
    Pending,
    Reweighted,
    ReweightsSamples,
    effective_size,
    label_log_likelihoods,
    log_masses,
    reweighted,
)
from channelcode._validation import Array, finite_array, read_only
from channelcode.channels import Channel, Logistic, Softmax
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool, Pool


class Inputs(ReweightsSamples, Posterior):
    """Samples of the channel inputs of n candidates, made elsewhere: `l[x, s]`, weights `w[s]`.

    - `l` `(n, s)` or `(n, s, k)`: the input of every candidate under each sample. Sample s of one
      candidate and of another come from the same parameters (one member of an ensemble, one draw);
    - `channel`: logistic for `(n, s)` and softmax for `(n, s, K)` unless it is given; what
      it does not see of its input, as the common shift of logits, is taken out of l;
    - `weights` `(s,)`: not negative; None counts all samples alike.

    Candidates are row numbers of l: one integer, several `(m,)`, or a column `(m, 1)` such as
    `rows`. A label reweights the samples, `w_s <- w_s p(y | l_xs)`; `ess = 1 / sum w^2` says how
    many of them still count, and a warning (`CollapsedWeights`) when they have become too few.
    Rules that need only the laws of l work; the parameters behind them are not known, and what
    needs them raises.

    >>> from apm import Belief
    >>> ensemble = Inputs([[2.0, -2.0, 2.0], [1.0, 1.0, 1.0]])
    >>> Belief(ensemble).information_gain([0, 1]).round(4)
    array([0.4259, 0.    ])
    >>> told = ensemble.update(0, 1)
    >>> told.weights.round(3), round(told.ess, 2)
    (array([0.468, 0.063, 0.468]), 2.26)
    """

    __slots__ = ("_channel", "_l", "_log_prior", "_pending", "_prior_weights")
    _channel: Channel
    _l: Array
    _log_prior: Array
    _prior_weights: Array
    _pending: tuple[Pending, ...]

    linear = False
    gives_samples = True

    def __init__(
        self,
        l: ArrayLike,
        channel: Channel | None = None,
        weights: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
    ) -> None:
        inputs = finite_array("l", l, ndim=(2, 3))
        size = inputs.shape[2] if inputs.ndim == 3 else 1
        largest = float(np.abs(inputs).max())
        if largest > LARGEST:
            raise InvalidArgument("l", f"must be at most {LARGEST:g} in size", largest)
        if channel is None:
            if inputs.ndim == 3 and size < 2:
                rule = "must have shape (n, s), or (n, s, K) with K classes"
                raise InvalidArgument("l", rule, f"shape {inputs.shape}")
            channel = Logistic() if inputs.ndim == 2 else Softmax(size)
        if not isinstance(channel, Channel) or channel.inputs is not None:
            raise InvalidArgument("channel", "must be a channel with a continuous input", channel)
        if channel.dim != size:
            shape = "(n, s)" if channel.dim == 1 else f"(n, s, {channel.dim})"
            rule = f"must have shape {shape} for this channel"
            raise InvalidArgument("l", rule, f"shape {inputs.shape}")
        count = inputs.shape[1]
        self._set(
            _channel=channel,
            _l=read_only(seen_part(channel, inputs)),
            _prior_weights=read_only(np.ones(count) if weights is None else np.asarray(weights)),
            _log_prior=log_masses(weights, count),
            _pending=(),
        )
        super().__init__(1.0, classes=classes)
        self._set(_num_features=1, _design=np.empty((0, 1)), _precision=self._prior_diagonal(1))
        self._set(_solution=self._solve(None, 0))

    @property
    def channel(self) -> Channel:
        return self._channel

    @property
    def samples(self) -> Array:
        """The samples, `(n, s)` or `(n, s, k)`, less what the channel does not see."""
        return self._l

    @property
    def rows(self) -> Array:
        """All row numbers as a column, `(n, 1)`: the pool of a `Learner`."""
        return np.arange(len(self._l), dtype=np.float64)[:, None]

    @property
    def weights(self) -> Array:
        """The masses of the samples after the labels so far, `(s,)`; they sum to one."""
        with np.errstate(under="ignore"):
            return np.exp(self._solution.log_weights)

    @property
    def log_weights(self) -> Array:
        """ln w, `(s,)`; `-inf` for a sample that a label has ruled out."""
        return self._solution.log_weights

    @property
    def ess(self) -> float:
        """The effective number of samples, 1 / sum w^2."""
        return effective_size(self._solution.log_weights)

    @property
    def log_evidence(self) -> float:
        """ln p(labels) = ln sum_s w_s p(labels | sample s), with the weights given, in nats."""
        return self._solution.log_evidence

    # What only parameters could say ---------------------------------------------------------------

    @property
    def mean(self) -> NoReturn:
        """Not known: an error."""
        self._without_parameters("mean")

    @property
    def covariance(self) -> NoReturn:
        """Not known: an error."""
        self._without_parameters("covariance")

    @property
    def map(self) -> NoReturn:
        """Not known: an error."""
        self._without_parameters("map")

    @property
    def summed_covariance(self) -> NoReturn:
        """Not known: an error."""
        self._without_parameters("summed_covariance")

    def _without_parameters(self, wanted: str) -> NoReturn:
        rule = (
            f"must know its parameters for {wanted}: Inputs holds only their channel inputs. "
            "Choose a rule that needs no more, as InformationGain(), EPIG(), "
            "Margin(bayesian=True) or APM(PoolMaxPower())"
        )
        raise InvalidArgument("posterior", rule, self)

    # Candidates -----------------------------------------------------------------------------------

    def shaped(self, X: Any) -> Any:
        try:
            array = np.asarray(X)
        except ValueError:  # rows of different lengths: whoever reads them next says so
            return X
        if array.dtype.kind == "b":
            rule = "must hold row numbers, not a mask: np.flatnonzero(mask)"
            raise InvalidArgument("X", rule, f"dtype {array.dtype}")
        return array.reshape(-1, 1) if array.ndim < 2 else X

    def require_candidates(self, features: Any) -> None:
        self._places(features)

    def _places(self, features: Any) -> Any:
        """Row numbers `(m,)` from a column of them."""
        column = np.asarray(features)
        if column.ndim != 2 or column.shape[1] != 1:
            rule = "must have one column of row numbers: Inputs knows its candidates by them"
            raise InvalidArgument("X", rule, f"shape {column.shape}")
        numbers = column[:, 0]
        count = len(self._l)
        wrong = ~((numbers >= 0) & (numbers < count) & (numbers == np.floor(numbers)))
        if wrong.any():
            rule = f"must hold row numbers in 0..{count - 1}"
            place = int(np.argmax(wrong))
            raise InvalidArgument("X", rule, f"{numbers[place]} in row {place}")
        return numbers.astype(np.intp)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        rows = as_dense(self.shaped(X))
        self._places(rows)
        return super().fit(rows, y, sample_weight)

    def update(self, x: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        rows = as_row(self.shaped(x))
        self._places(rows)
        return super().update(rows, y, sample_weight)

    def mean_inputs(self, features: Any) -> Any:
        """E l of every candidate: `(m,)` on the line, `(m, k)` in R^k."""
        return self.pool(self.project(features)).mean

    def project(self, features: Matrix) -> tuple[Array, ...]:
        inputs = self._l[self._places(features)]
        for pending in self._pending:
            inputs = pending.moved(inputs)
        return (inputs,)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return EmpiricalPool(*arrays, weights=self.weights)

    def after_asking(self, features: Matrix, weight: Any) -> Self:
        pending = Pending.of(self.project(features)[0][0], self.weights, weight)
        return self._evolve(_pending=(*self._pending, pending))

    def require_features(self, count: int) -> None:
        if count != 1:
            raise InvalidArgument("X", "must have one column of row numbers", count)

    # Inside ---------------------------------------------------------------------------------------

    def _solve(self, start: Posterior | None, fresh: int) -> Reweighted:
        def told(first: int) -> Array:
            inputs = self._l[self._places(self.design[first:])]
            codes, weights = self._codes[first:], self._weights[first:]
            return label_log_likelihoods(self._channel, inputs, codes, weights)

        self._set(_pending=())  # a label that came is no longer awaited
        held = start._solution if isinstance(start, Inputs) else None
        return reweighted(self, self._log_prior, held, fresh, told)

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | {"l": self._l, "prior_weights": self._prior_weights}

    @classmethod
    def _options(cls, state: dict[str, np.ndarray], channel: Any = None) -> dict[str, Any]:
        return {
            "l": state["l"],
            "channel": channel,
            "weights": state["prior_weights"],
            "classes": state.get("given"),
        }

    def __repr__(self) -> str:
        seen = f"{self.num_observations} labels" if self.num_observations else "no labels yet"
        size = " x ".join(str(part) for part in self._l.shape)
        return f"Inputs({size}, {self._channel!r}; {seen}, ESS {self.ess:.4g})"
