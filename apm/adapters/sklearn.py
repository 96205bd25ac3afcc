"""A scikit-learn classifier over any posterior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from apm.adapters.prior import prior_for
from apm.belief import Belief
from apm.posteriors.base import Posterior
from channelcode._validation import Array
from channelcode.errors import MissingExtra

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtra("scikit-learn", "sklearn") from error


class APMClassifier(ClassifierMixin, BaseEstimator):
    """A Bayesian linear classifier with the interface of scikit-learn.

    - `posterior`: a posterior without labels, such as `Laplace(Probit())`; or a function that makes
      one from the number of classes, such as `Bohning`; None: `VariationalLogistic` for two
      classes and `Bohning` for more;
    - `prior_precision`, `intercept`: of the posterior that is made when `posterior` is None.

    The fitted attributes are `classes_`, `n_features_in_`, `feature_names_in_` (for a frame), and
    `posterior_`, the law of the weights. Features are used as they come: put a `StandardScaler` in
    front, in a `Pipeline`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = APMClassifier().fit(X, y)
    >>> model.predict_proba(X).shape, bool(model.score(X, y) > 0.9)
    ((150, 3), True)
    """

    def __init__(
        self,
        posterior: Posterior | Callable[[int], Posterior] | None = None,
        *,
        prior_precision: float = 1.0,
        intercept: bool = True,
    ) -> None:
        self.posterior = posterior
        self.prior_precision = prior_precision
        self.intercept = intercept

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the posterior to labels `(n,)` of examples `(n, d)`."""
        X, y = self._checked(X, y)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        if weights is not None and len(np.unique(codes[weights > 0])) < 2:
            raise ValueError("y must hold at least 2 classes after removing those of no weight")
        prior = self._prior(classes)
        self.classes_ = classes
        self.posterior_ = prior.fit(X, codes, weights)
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add labels to those seen so far; the first call must name all `classes`.

        The posterior remembers every label: n calls give what one `fit` on all of them gives.
        """
        first = not hasattr(self, "posterior_")
        rows, labels = self._checked(X, y, reset=first)
        check_classification_targets(labels)
        if first:
            if classes is None:
                raise ValueError("classes must be given in the first call of partial_fit")
            named = np.unique(np.asarray(classes))
            prior = self._prior(named).sized(rows.shape[1])
        else:
            named, prior = self.classes_, self.posterior_
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), named):
                raise ValueError(f"classes must be {named.tolist()}, those of the first call")
        codes = np.searchsorted(named, labels).clip(max=len(named) - 1)
        if (named[codes] != labels).any():
            raise ValueError(f"y must hold values among the classes {named.tolist()}")
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, rows)
        posterior = prior.update(rows, codes, weights)
        self.classes_, self.posterior_ = named, posterior
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """The log odds of the second of two classes, `(n,)`; log-probabilities `(n, K)` for more.

        They are those of `predict_proba`, so that both put the examples in the same order.
        """
        with np.errstate(divide="ignore"):
            logs = np.log(self.predict_proba(X))
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def predict_proba(self, X: ArrayLike) -> Array:
        """The probability of each class, averaged over the posterior, `(n, K)`."""
        return Belief(self._fitted()).predict_proba(self._checked(X))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The likeliest class of each example, `(n,)`."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[likeliest]

    def _prior(self, classes: np.ndarray) -> Posterior:
        return prior_for(
            classes,
            self.posterior,
            prior_precision=self.prior_precision,
            intercept=self.intercept,
        )

    def _fitted(self) -> Posterior:
        check_is_fitted(self, "posterior_")
        return self.posterior_

    def _checked(self, X: Any, *y: Any, reset: bool | None = None) -> Any:
        """X and y as scikit-learn checks them; X alone against what was fitted."""
        check: Any = validate_data
        return check(self, X, *y, dtype=np.float64, reset=bool(y) if reset is None else reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.posterior
        if isinstance(given, Posterior):
            tags.classifier_tags.multi_class = given.num_labels > 2
        return tags
