"""What every posterior knows: its data, its labels, its moments, and how to meet a pool."""

from __future__ import annotations

from abc import abstractmethod
from inspect import Parameter, Signature, signature
from math import sqrt
from typing import Any, ClassVar, Self, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from apm.pools.inputs import Matrix, as_dense, as_row, as_weights, require_finite
from apm.posteriors.covariances.products import times
from apm.posteriors.evidence import MaximumEvidence, WithEvidence
from apm.posteriors.labels import (
    Codes,
    Labels,
    as_labels,
    classes_after,
    encode,
    given_classes,
    known_codes,
    learn_classes,
    lookup,
)
from apm.posteriors.stored import Stored
from channelcode._validation import Array, integer, positive
from channelcode.errors import InvalidArgument
from channelcode.measures import Pool

LARGEST = 1e140  # whitened features: their squares and sums of them stay finite
_EMPTY_CODES = np.empty(0, dtype=np.int64)


class PriorOptions(TypedDict, total=False):
    """What every posterior's constructor takes beside its own arguments, by keyword."""

    intercept: bool
    intercept_precision: float | None
    classes: ArrayLike | None


class Posterior(Stored):
    """A law of the parameters theta given labelled examples; immutable.

    The channel input of features phi is l = <theta, phi>, or l_k = <theta_k, phi> in R^k.
    `fit(X, y)` and `update(x, y)` return new posteriors and start from this one's solution. The
    prior is N(0, I / prior_precision), where `MaximumEvidence()` lets the labels choose the number;
    with `intercept=True` a constant feature is added last, with its own precision. X is `(n, p)`, y
    `(n,)` with labels all numbers or all text; `classes` names them in the order of the channel's
    outputs (else sorted, as they appear).
    """

    __slots__ = ()
    __signature__: ClassVar[Signature]
    #: Whether l = <theta, phi(x)>, so that norms of features and of theta bound l.
    linear: ClassVar[bool] = True
    #: Whether the induced laws are weighted samples, which predictions then average over.
    gives_samples: ClassVar[bool] = False

    def __init__(
        self,
        prior_precision: float | MaximumEvidence = 0.01,
        *,
        intercept: bool = False,
        intercept_precision: float | None = None,
        classes: ArrayLike | None = None,
    ) -> None:
        chosen = prior_precision if isinstance(prior_precision, MaximumEvidence) else None
        if chosen is not None and not isinstance(self, WithEvidence):
            rule = f"must be a number for {type(self).__name__}: it has no evidence bound"
            raise InvalidArgument("prior_precision", rule, prior_precision)
        precision = positive("prior_precision", chosen.start if chosen else prior_precision)
        own = precision if intercept_precision is None else intercept_precision
        given = given_classes(classes, self.num_labels)
        self._set(
            _prior_precision=precision,
            _evidence=chosen,
            _intercept=bool(intercept),
            _intercept_precision=positive("intercept_precision", own),
            _given=given,
            _classes=given,
            _lookup={} if given is None else lookup(given),
            _codes=_EMPTY_CODES,
            _weights=np.empty(0),
            _precision=np.empty(0),
            _design=None,
            _num_features=None,
            _solution=None,
            _cache={},
        )

    def __init_subclass__(cls) -> None:
        """Write the options that a constructor passes on to `Posterior` into its signature."""
        super().__init_subclass__()
        own = [*signature(cls.__init__).parameters.values()][1:]
        if own and own[-1].kind is Parameter.VAR_KEYWORD:
            named = {part.name for part in own}
            base = signature(Posterior.__init__).parameters.values()
            passed = [part for part in base if part.kind is Parameter.KEYWORD_ONLY]
            own = own[:-1] + [part for part in passed if part.name not in named]
        cls.__signature__ = Signature(own)

    # What a member of the family writes -------------------------------------------------------

    @property
    @abstractmethod
    def channel(self) -> Any:
        """The channel of the likelihood."""

    @property
    def num_labels(self) -> int:
        """How many classes there are: the channel's number of outputs."""
        return self.channel.num_outputs

    @property
    def dim(self) -> int:
        """The dimension of the channel input: 1 on the line."""
        return self.channel.dim

    @property
    @abstractmethod
    def mean(self) -> Array:
        """E theta: `(q,)` on the line, `(k, q)` in R^k, intercept last."""

    @property
    @abstractmethod
    def covariance(self) -> Any:
        """Cov theta, structured; every structure becomes a matrix by `np.asarray`."""

    @property
    @abstractmethod
    def map(self) -> Array:
        """The most probable theta, shaped as `mean`."""

    @property
    @abstractmethod
    def summed_covariance(self) -> Array:
        """sum_k Sigma_kk, `(q, q)`: the form of the total variance of l (theory of the power)."""

    @abstractmethod
    def project(self, features: Matrix) -> tuple[Array, ...]:
        """The induced laws of l for features `(n, p)`, as arrays whose first axis is n."""

    @abstractmethod
    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        """The pool made of what `project` gave (several calls joined)."""

    @abstractmethod
    def _solve(self, start: Posterior | None, fresh: int) -> Any:
        """The solution for the data now held; `start` held all but the last `fresh` rows."""

    # What is the same for all -----------------------------------------------------------------

    @property
    def classes_(self) -> Labels:
        """The labels by channel output, as named by `classes` or, sorted, as seen so far.

        Fewer than `num_labels` while some are unseen; 0..K-1 before the first label.
        """
        return np.arange(self.num_labels) if self._classes is None else _view(self._classes)

    @property
    def has_classes(self) -> bool:
        """Whether labels name classes; those of a regression are numbers."""
        return True

    @property
    def labels(self) -> Labels:
        """The labels seen, `(n,)`."""
        return self.classes_[self._codes]

    @property
    def certain_outputs(self) -> Codes:
        """The channel outputs whose class was named or seen, not guessed: places in `classes_`.

        All of them before the first label.
        """
        every = self._given is not None or len(self._codes) == 0
        return np.arange(self.num_labels) if every else np.unique(self._codes)

    def named_columns(self, probability: Array) -> Array:
        """Probabilities of the outputs `(n, num_labels)` as those of `classes_`, summing to one."""
        count = self.num_labels if self._classes is None else len(self._classes)
        if count == self.num_labels:
            return probability
        named = probability[:, :count]
        return named / named.sum(axis=1, keepdims=True)

    @property
    def num_features(self) -> int | None:
        """The number of features p, without the intercept; None until it is known."""
        return self._num_features

    @property
    def num_observations(self) -> int:
        """How many labels the posterior has seen."""
        return len(self._codes)

    @property
    def sample_weight(self) -> Array:
        """The weights of the labels seen, `(n,)`."""
        return _view(self._weights)

    @property
    def codes(self) -> Codes:
        """The channel outputs seen, `(n,)`: places in `classes_`."""
        return _view(self._codes)

    @property
    def design(self) -> Array:
        """The features of the labels seen, `(n, q)`, the constant last if there is an intercept."""
        return _view(self._known_design())

    @property
    def precision(self) -> Array:
        """The prior precision of each weight, `(q,)`."""
        self._known_design()
        return self._precision

    @property
    def top_eigenvalue(self) -> float:
        """The largest eigenvalue of `summed_covariance` (Algorithm 1)."""
        if "top" not in self._cache:
            self._cache["top"] = float(np.linalg.eigvalsh(self.summed_covariance)[-1])
        return self._cache["top"]

    def __repr__(self) -> str:
        name = type(self).__name__.removeprefix("Scalar")
        seen = f"{self.num_observations} labels" if self.num_observations else "no labels yet"
        intercept = ", intercept=True" if self._intercept else ""
        rule = "" if self._evidence is None else " by evidence"
        prior = f"prior_precision={self._prior_precision:g}{rule}{intercept}"
        return f"{name}({self.channel!r}, {prior}; {seen})"

    def mean_inputs(self, features: Any) -> Any:
        """E l of every row of features `(n, p)`: `(n,)` on the line, `(n, k)` in R^k."""
        self.require_features(features.shape[1])
        return times(features, self.mean.T)

    def inputs(self, theta: Array, features: Any) -> Any:
        """l of every row of features `(n, p)` at given parameters.

        Parameters `(q,)` give `(n,)`; `(k, q)` for a channel input in R^k give `(n, k)`; leading
        axes of draws, `(s, q)` or `(s, k, q)`, give `(n, s)` or `(n, s, k)`.
        """
        exact = features.astype(np.float64, copy=False)
        return times(exact, theta.reshape(-1, theta.shape[-1]).T).reshape(
            len(features), *theta.shape[:-1]
        )

    def shaped(self, X: Any) -> Any:
        """Candidates as rows of a matrix, where this posterior knows them in another form."""
        return X

    def require_candidates(self, features: Any) -> None:
        """Refuse a pool `(n, p)` that this posterior cannot meet."""

    def after_asking(self, features: Matrix, weight: Any) -> Self | None:
        """The posterior once a row `(1, p)` was asked, before its label of expected precision W.

        None: what `apm.selectors.batch` does with a covariance, or nothing. W is a number on the
        line, `(k, k)` in R^k.
        """
        return None

    def require_features(self, count: int) -> None:
        """Refuse a number of columns other than that of the labelled examples."""
        self._known_design()
        if count != self._num_features:
            raise InvalidArgument("X", f"must have {self._num_features} features", count)

    def sized(self, num_features: int) -> Self:
        """This posterior, knowing its number of features; without data it is the prior."""
        if self._num_features == num_features:
            return self
        num_features = integer("num_features", num_features, least=1)
        if self._num_features is not None:
            rule = f"must have {self._num_features} columns"
            raise InvalidArgument("X", rule, num_features)
        new = self._evolve(
            _num_features=num_features,
            _design=np.empty((0, num_features + self._intercept)),
            _precision=self._prior_diagonal(num_features),
        )
        new._set(_solution=new._solve(None, 0))
        return new

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """The posterior of these labels alone; starts from the present solution."""
        design = self._with_constant(as_dense(X).astype(np.float64, order="C"))
        self._require_range(design)
        labels = as_labels(y)
        self._same_length(design, labels)
        if len(labels) == 0:
            raise InvalidArgument("X", "must have at least one row", f"shape {design.shape}")
        count = design.shape[1] - self._intercept
        new = self._evolve(
            _num_features=count,
            _design=design,
            _precision=self._prior_diagonal(count),
            _weights=as_weights(sample_weight, len(labels)),
            **self._coded(labels),
        )
        warm = self._solution is not None and self._num_features == new._num_features
        new._set(_solution=new._solve(self if warm else None, len(labels)))
        return new if self._evidence is None else self._evidence.applied(new)

    def update(self, x: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """The posterior after one more label, x `(p,)`, or several, x `(b, p)`; warm-started."""
        rows = self._with_constant(as_row(x, finite=False))
        self._require_range(rows, "x")
        if self._solution is None:
            return self.sized(rows.shape[1] - self._intercept).update(x, y, sample_weight)
        held = self._known_design()
        if rows.shape[1] != held.shape[1]:
            columns = rows.shape[1] - self._intercept
            raise InvalidArgument("x", f"must have {self._num_features} features", columns)
        codes, added, changes = self._coded_after(y)
        if len(added) != len(rows):
            rule = f"must have one label for each of {len(rows)} rows"
            raise InvalidArgument("y", rule, len(added))
        changes["_design"] = np.concatenate((held, rows))
        changes["_codes"] = np.concatenate((codes, added))
        changes["_weights"] = np.concatenate((self._weights, as_weights(sample_weight, len(rows))))
        new = self._evolve(**changes)
        new._set(_solution=new._solve(self if codes is self._codes else None, len(rows)))
        return new if self._evidence is None else self._evidence.applied(new)

    # Inside -----------------------------------------------------------------------------------

    def _coded(self, labels: Labels) -> dict[str, Any]:
        """The fields that hold these labels, and these alone."""
        if self._given is not None:
            classes = self._given
        else:
            classes = learn_classes(labels, self.num_labels)
        return {
            "_classes": classes,
            "_lookup": lookup(classes),
            "_codes": encode(labels, classes),
        }

    def _coded_after(self, y: Any) -> tuple[Any, Any, dict[str, Any]]:
        """The codes so far, those of more labels y, and the other fields that these change."""
        added = known_codes(y, self._lookup)
        if added is not None:
            return self._codes, added, {}
        classes, codes, added = classes_after(
            y,
            self._classes,
            self._codes,
            fixed=self._given is not None,
            num_labels=self.num_labels,
        )
        return codes, added, {"_classes": classes, "_lookup": lookup(classes)}

    def _known_design(self) -> Array:
        if self._design is None:
            rule = "must be fitted; fit returns a new posterior: p = p.fit(X, y)"
            raise InvalidArgument("posterior", rule, self)
        return self._design

    def _with_constant(self, matrix: Array) -> Array:
        if not self._intercept:
            return matrix
        return np.concatenate((matrix, np.ones((len(matrix), 1))), axis=1)

    def _require_range(self, rows: Array, argument: str = "X") -> None:
        """Refuse features that are not finite, or whose squares would overflow beside the prior."""
        own = self._evidence.lowest if self._evidence is not None else self._prior_precision
        least = min(own, self._intercept_precision)
        largest = float(np.maximum.reduce(np.abs(rows), axis=None, initial=0.0))
        if not largest <= LARGEST * sqrt(least):
            require_finite(rows, argument)
            rule = (
                f"must be at most {LARGEST:g} in units of the prior's precision: scale the features"
            )
            raise InvalidArgument(argument, rule, largest)

    @staticmethod
    def _same_length(design: Array, labels: Labels) -> None:
        if len(labels) != len(design):
            rule = f"must have one label for each of {len(design)} rows"
            raise InvalidArgument("y", rule, len(labels))


def _view(array: Any) -> Any:
    view = array.view()
    view.setflags(write=False)
    return view
