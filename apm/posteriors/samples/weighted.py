"""What posteriors made of weighted parameter values share: moments, and the push of an encoder."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from apm._inputs import Matrix
from apm.encoders import Encoder, Linear
from apm.encoders.calling import channel_inputs
from apm.posteriors.base import Posterior
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

    __slots__ = ("_channel", "_encoder")
    _channel: Channel
    _encoder: Encoder
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
        self._set(_channel=channel, _encoder=encoder)
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
    def num_labels(self) -> int:
        return int(self._channel.num_outputs)

    @property
    def dim(self) -> int:
        return int(self._channel.dim)

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
        """l of every row at every parameter value: `(n, s)`, or `(n, s, k)`."""
        return (self.inputs(self.theta, features),)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return EmpiricalPool(*arrays, weights=self.weights)

    def mean_inputs(self, features: Any) -> Any:
        return np.moveaxis(self.project(features)[0], 1, -1) @ self.weights

    def log_likelihood(self, theta: Array, X: Any, codes: Any, sample_weight: Any) -> Array:
        """sum_i s_i ln p(y_i | x_i, theta) at every theta `(s, q)`: `(s,)`; -inf if impossible."""
        total = np.zeros(len(theta))
        rows = max(1, PIECE_ENTRIES // max(1, len(theta) * self.num_labels))
        for start in range(0, len(X), rows):
            part = slice(start, start + rows)
            logs = self._channel.log_prob(self.inputs(theta, X[part]))
            told = np.take_along_axis(logs, codes[part][:, None, None], axis=2)[..., 0]
            with np.errstate(invalid="ignore"):
                terms = sample_weight[part][:, None] * told
            total += np.where(sample_weight[part][:, None] == 0, 0.0, terms).sum(axis=0)
        return total

    def parts(self) -> dict[str, Any]:
        return super().parts() | {"encoder": self._encoder}

    def __repr__(self) -> str:
        seen = f"{self.num_observations} labels" if self.num_observations else "no labels yet"
        size = f"{len(self.theta)} values of {self.theta.shape[1]} parameters"
        return f"{type(self).__name__}({self._channel!r}, {self._encoder!r}; {size}; {seen})"


def log_normalised(logs: Array) -> tuple[Array, float]:
    """Log-masses that sum to one, and the logarithm of what they summed to."""
    total: Any = logsumexp(logs)
    return logs - total, float(total)
