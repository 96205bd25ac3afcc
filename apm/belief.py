"""What the learner believes about the channel input of every candidate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apm.encoders import Encoder, Linear
from apm.encoders.base import INSIDE
from apm.pools.inputs import (
    Matrix,
    as_dense,
    as_matrix,
    as_row,
    is_sparse,
    is_streamed,
    require_finite,
)
from apm.pools.streamed import over_tiles
from apm.posteriors import Bohning, Posterior, WeightedSamples
from apm.posteriors.covariances.pool_forms import PoolForms
from apm.posteriors.covariances.products import weighted_squares
from apm.posteriors.gaussian import ScalarGaussian
from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.channels import Channel, Logistic, Probit, Softmax
from channelcode.errors import InvalidArgument
from channelcode.measures import Pool, ScaledPool
from channelcode.measures.base import Immutable

CHUNK_BYTES = 1 << 19  # half a mebibyte: a piece and its image stay in the second cache
PROBE_ROWS = 256  # the first piece, before the number of features is known


class Belief(Immutable):
    """A posterior seen through an encoder and a channel (the paper's Figure 1).

    `push(X)` is the induced law p(l | labels so far) of each candidate: sentence 2 of the design.

    >>> from apm.posteriors import VariationalLogistic
    >>> Belief(VariationalLogistic(1.0)).push([[3.0, 4.0]]).variance
    array([25.])
    """

    __slots__ = ("_channel", "_encoder", "_forms", "_posterior")
    _posterior: Posterior
    _encoder: Encoder
    _channel: Channel
    _forms: PoolForms | None

    def __init__(
        self, posterior: Posterior, encoder: Encoder | None = None, channel: Channel | None = None
    ) -> None:
        if not isinstance(posterior, Posterior):
            raise InvalidArgument("posterior", "must be a posterior", posterior)
        encoder = Linear() if encoder is None else encoder
        if not isinstance(encoder, Encoder):
            rule = "must be an encoder such as FeatureMap(function)"
            raise InvalidArgument("encoder", rule, encoder)
        if not encoder.is_linear:
            raise InvalidArgument("encoder", f"must be linear here: {INSIDE}", encoder)
        through = posterior.channel if channel is None else channel
        if not isinstance(through, Channel):
            raise InvalidArgument("channel", "must be a channel", through)
        if _same_channel(through, posterior.channel):
            through = posterior.channel
        if (through.dim, through.num_outputs) != (posterior.dim, posterior.num_labels):
            rule = f"must have dim {posterior.dim} and {posterior.num_labels} outputs"
            raise InvalidArgument("channel", rule, through)
        self._set(_posterior=posterior, _encoder=encoder, _channel=through, _forms=None)

    @property
    def posterior(self) -> Posterior:
        """The law of the parameters."""
        return self._posterior

    @property
    def encoder(self) -> Encoder:
        """The map from an example to its features."""
        return self._encoder

    @property
    def channel(self) -> Channel:
        """The channel from the input l to the label."""
        return self._channel

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Belief:
        """The belief after these labels alone."""
        features = self._encoder.encode(self._posterior.shaped(X))
        fitted = self._posterior.fit(features, y, sample_weight)
        return Belief(fitted, self._encoder, self._channel)

    def update(self, x: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Belief:
        """The belief after one more label, x `(d,)`, or several, x `(b, d)`."""
        features = as_row(self._posterior.shaped(x))
        if type(self._encoder) is not Linear:
            features = self._encoder.encode(features)
        return self.after(self._posterior.update(features, y, sample_weight))

    def after(self, posterior: Posterior) -> Belief:
        """This belief with another posterior, in general a later one of the same model.

        What `keeping` remembers of a pool goes along.
        """
        held = self._posterior
        if type(posterior) is type(held) and posterior.channel is held.channel:
            new = object.__new__(Belief)  # as checked before
            new._set(
                _posterior=posterior, _encoder=self._encoder, _channel=self._channel, _forms=None
            )
        else:
            new = Belief(posterior, self._encoder, self._channel)
        if self._forms is not None:
            new._set(_forms=self._forms.after(posterior))
        return new

    def keeping(self, X: ArrayLike) -> Belief:
        """This belief, remembering of the fixed pool X what the next label will change little.

        For a `Bohning` posterior on float64 features as they are (`Linear`) these are the forms
        x'Bx and x'Bx* (`apm.posteriors.covariances.pool_forms`); other beliefs are returned as they
        are. X itself is the key: it must not be modified afterwards, and a copy of it is another
        pool.
        """
        matrix = self.matrix(X)
        kept = isinstance(self._posterior, Bohning) and isinstance(self._encoder, Linear)
        if not kept or is_streamed(matrix) or matrix.dtype != np.float64 or len(matrix) == 0:
            return self
        new = self.sized(matrix)
        new = Belief(new._posterior, new._encoder, new._channel)
        new._set(_forms=PoolForms(new._posterior, matrix))  # type: ignore[arg-type]
        return new

    def matrix(self, X: ArrayLike, *, finite: bool = True) -> Matrix:
        """Candidates X as a matrix `(n, d)`, as the posterior knows them (row numbers of `Inputs`).

        With `finite=False` NaN and infinity are left to whoever meets them.
        """
        return as_matrix(self._posterior.shaped(X), finite=finite)

    def forms(self, X: Any) -> PoolForms | None:
        """What is remembered of X, if X is the pool of `keeping` itself."""
        forms = self._forms
        return forms if forms is not None and forms.matrix is X else None

    def push(self, X: ArrayLike) -> Pool:
        """The induced law of the channel input for every row of X, `(n, d)`, in pieces.

        Float32 input is computed in float32. A NaN or an infinity is found through its effect, so
        that a clean pool is read once only.
        """
        matrix = self.matrix(X, finite=False)
        if len(matrix) == 0:
            raise InvalidArgument("X", "must have at least one row", f"shape {matrix.shape}")
        parts = []
        posterior = self._posterior
        with np.errstate(invalid="ignore", over="ignore"):
            for features in self._features(matrix):
                if not parts:
                    posterior = posterior.sized(features.shape[1])
                parts.append(posterior.project(features))
        if len(parts) == 1:
            arrays = parts[0]
        else:
            arrays = tuple(np.concatenate(pieces) for pieces in zip(*parts, strict=True))
        if not all(np.isfinite(array).all() for array in arrays):
            self._explain(matrix)
        return posterior.pool(arrays)

    def predict_proba(self, X: ArrayLike) -> Array:
        """The probability of each label: `(n, len(classes_))`.

        Column y is for `posterior.classes_[y]`; while some classes have no name yet, the
        probability is that among those which have. With a channel input on the line, or a
        posterior made of samples, it is the average over the posterior (`output_proba`). For a
        Gaussian in R^k it is that of the most probable weights, exact to rounding: averages over
        so many directions that no label has tested say too little (`docs/posteriors.md` has the
        log losses).

        >>> from apm.posteriors import VariationalLogistic
        >>> Belief(VariationalLogistic(1.0)).predict_proba([[3.0, 4.0]])
        array([[0.5, 0.5]])
        """
        if is_streamed(X):
            return over_tiles(X, self.predict_proba)
        self.require_classes()
        if self._posterior.dim == 1 or self._posterior.gives_samples:
            return self._posterior.named_columns(self.output_proba(X))
        return self._posterior.named_columns(self._channel.prob(self.mean_inputs(X)))

    def mean_inputs(self, X: ArrayLike) -> Array:
        """The mean channel input of every row: `(n,)` on the line, `(n, k)` in R^k."""
        if is_streamed(X):
            return over_tiles(X, self.mean_inputs)
        matrix = self.matrix(X, finite=False)
        belief = self.sized(matrix)
        with np.errstate(invalid="ignore", over="ignore"):
            pieces = [belief.posterior.mean_inputs(part) for part in self._features(matrix)]
        inputs = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        if not np.isfinite(inputs).all():
            self._explain(matrix)
        return inputs

    def likeliest(self, X: ArrayLike) -> NDArray[np.intp]:
        """The likeliest output of every row, `(n,)`, among those whose class was named or seen."""
        if is_streamed(X):
            return over_tiles(X, self.likeliest)
        self.require_classes()
        certain = self._posterior.certain_outputs
        if len(certain) == 1:
            return np.full(len(self.matrix(X)), certain[0])
        at_a_point = not self._posterior.gives_samples
        if at_a_point and type(self._channel) is Softmax:  # larger logit, larger probability
            return certain[np.argmax(self.mean_inputs(X)[:, certain], axis=1)]
        symmetric = type(self._channel) in (Logistic, Probit)
        if symmetric and isinstance(self._posterior, ScalarGaussian):
            return (self.mean_inputs(X) > 0).astype(np.intp)  # and so is the average
        return certain[np.argmax(self.output_proba(X)[:, certain], axis=1)]

    def output_proba(self, X: ArrayLike) -> Array:
        """The probability of each channel output, averaged over the posterior: `(n, num_outputs)`.

        On the line the average over the Gaussian is exact to about 1e-11, and for a softmax under
        `Bohning` to 1e-6; other laws in R^k are averaged by quasi-Monte Carlo with fixed points,
        good to three digits or more; draws of a `Sampled` posterior are averaged.
        """
        if is_streamed(X):
            return over_tiles(X, self.output_proba)
        from channelcode.information import mutual_information

        self.require_classes()
        laws = self.push(X)
        if type(self._channel) is Softmax and isinstance(laws, ScaledPool):
            from channelcode.information.softmax_output import (
                isotropic_part,
                isotropic_softmax_output,
            )

            part = isotropic_part(laws.shape)
            if part is not None:
                return isotropic_softmax_output(laws.mean, np.sqrt(part * laws.scale))
        return np.asarray(mutual_information(self._channel, laws).output)

    def information_gain(self, X: ArrayLike) -> Array:
        """I(theta; Y) in bits for every candidate, `(n,)` (paper, Section 2).

        The label depends on theta through l alone, so this is the information between l and the
        label under the induced law: exact on the line and for samples, quasi-Monte Carlo in R^k.

        >>> from apm.posteriors import VariationalLogistic
        >>> Belief(VariationalLogistic(1.0)).information_gain([[0.0], [2.0]]).round(4)
        array([0.    , 0.3335])
        """
        if is_streamed(X):
            return over_tiles(X, self.information_gain)
        from channelcode.information import mutual_information

        if self.reads_tables:
            return self.sample_gain(X) / LOG_TWO
        return np.asarray(mutual_information(self._channel, self.push(X)).bits)

    def require_classes(self) -> None:
        """Refuse a belief about numbers where classes are needed."""
        if not self._posterior.has_classes:
            rule = "must have classes; a regression has numbers as labels: see mean_inputs and push"
            raise InvalidArgument("posterior", rule, self._posterior)

    @property
    def reads_tables(self) -> bool:
        """Whether the posterior is made of parameter values and its channel is this belief's."""
        own = self._posterior
        return isinstance(own, WeightedSamples) and self._channel is own.channel

    def sample_gain(self, X: ArrayLike, about: Any = None) -> Array:
        """I(theta; Y) in nats for every row of X, `(n,)`, under `WeightedSamples`.

        `about` names the parameters that count, where the posterior can tell them apart (`Grid`).
        """
        matrix = as_matrix(X)
        if len(matrix) == 0:
            raise InvalidArgument("X", "must have at least one row", f"shape {matrix.shape}")
        features = matrix
        if type(self._encoder) is not Linear or is_sparse(matrix):
            features = as_dense(self._encoder.encode(matrix), "encoder(X)")
        posterior: Any = self._posterior.sized(features.shape[1])
        return posterior.gain(features, about)

    def sized(self, X: ArrayLike) -> Belief:
        """This belief, its posterior knowing its number of features from the first row of X."""
        if self._posterior.num_features is not None:
            return self
        features = self._encoder.encode(self.matrix(X, finite=False)[:1])
        return Belief(self._posterior.sized(features.shape[1]), self._encoder, self._channel)

    def radius(self, X: ArrayLike) -> float:
        """The largest norm of the features over the pool, B of Algorithm 1, constant included."""
        if not self._posterior.linear:
            rule = (
                "must be linear in its parameters for a norm of features to bound l: choose a "
                "budget over the laws of the candidates, as PoolMaxPower() or MatchedPower()"
            )
            raise InvalidArgument("posterior", rule, self._posterior)
        matrix = self.matrix(X)
        if is_streamed(matrix) and matrix.placed:  # type: ignore[attr-defined]
            from apm.pools.placed import values_of

            encode = self._encoder.encode
            squares = values_of(matrix, lambda _, tile, places: _largest_square(encode(tile)))
            largest = max(squares)
        elif _outlined(matrix) and type(self._encoder) is Linear:
            largest = float(matrix.outlines.largest.max())  # type: ignore[attr-defined]
        else:
            largest = max(map(_largest_square, self._features(matrix)), default=0.0)
        if not np.isfinite(largest):
            rule = "must have features whose squares are within floating-point range"
            raise InvalidArgument("X", rule, "overflow")
        return float(np.sqrt(largest + (1.0 if self._posterior.intercept else 0.0)))

    def _features(self, matrix: Matrix) -> Iterator[Matrix]:
        if is_streamed(matrix):
            for _, tile in matrix.tiles():  # type: ignore[attr-defined]
                yield self._encoder.encode(tile)
            return
        small = matrix.nbytes <= CHUNK_BYTES or is_sparse(matrix)
        if small and isinstance(self._encoder, Linear):
            yield self._encoder.encode(matrix)
            return
        start, rows = 0, PROBE_ROWS
        while start < len(matrix):
            features = self._encoder.encode(matrix[start : start + rows])
            yield features
            start += rows
            rows = max(PROBE_ROWS, CHUNK_BYTES // (features.shape[1] * features.itemsize))

    def _explain(self, matrix: Matrix) -> None:
        """Say where the pool is not finite."""
        require_finite(matrix)
        first = 0
        for features in self._features(matrix):
            require_finite(features, "encoder(X)", first_row=first)
            first += len(features)
        raise InvalidArgument(
            "X", "must give channel inputs within floating-point range", "overflow"
        )

    def __repr__(self) -> str:
        return f"Belief({self._posterior!r}, {self._encoder!r}, {self._channel!r})"


def _largest_square(features: Any) -> float:
    """The largest squared norm of a row, infinity if it overflows."""
    with np.errstate(over="ignore"):
        if is_sparse(features):
            squares = weighted_squares(features, np.ones(features.shape[1]))
        else:
            squares = np.vecdot(features, features)
    return float(squares.max(initial=0.0))


def _outlined(X: Any) -> bool:
    """Whether the lengths of streamed rows were found at the first pass."""
    return is_streamed(X) and X.outlines is not None


def _same_channel(one: Channel, other: Channel) -> bool:
    try:
        return one is other or (type(one) is type(other) and bool(one == other))
    except ValueError:  # a channel of the user's that compares arrays
        return False
