"""Posteriors and selectors for scikit-activeml: a classifier and a query strategy."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from apm.adapters.prior import prior_for
from apm.belief import Belief
from apm.posteriors.base import Posterior
from apm.selectors import Selector
from apm.selectors.base import Indices
from apm.selectors.default import default_selector
from channelcode._validation import Array
from channelcode.errors import MissingExtra

try:
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy, SkactivemlClassifier
    from skactiveml.utils import MISSING_LABEL, check_type, is_labeled
    from sklearn.base import clone
    from sklearn.utils import check_array
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtra("scikit-activeml", "skactiveml") from error


class APMActiveClassifier(SkactivemlClassifier):
    """A Bayesian linear classifier that knows missing labels, named classes and costs.

    `posterior`, `prior_precision` and `intercept` are those of `apm.adapters.APMClassifier`; the
    rest is scikit-activeml's. Before any label is known it predicts from the prior.

    >>> model = APMActiveClassifier(classes=["no", "yes"], missing_label="")
    >>> model.fit([[1.0], [2.0], [3.0]], ["no", "", "yes"]).predict_proba([[9.0]]).shape
    (1, 2)
    """

    def __init__(
        self,
        posterior: Posterior | Callable[[int], Posterior] | None = None,
        *,
        prior_precision: float = 1.0,
        intercept: bool = True,
        classes: ArrayLike | None = None,
        missing_label: Any = MISSING_LABEL,
        cost_matrix: ArrayLike | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classes=classes,
            missing_label=missing_label,
            cost_matrix=cost_matrix,
            random_state=random_state,
        )
        self.posterior = posterior
        self.prior_precision = prior_precision
        self.intercept = intercept

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the posterior to the labels that are there."""
        X, codes, weights = self._validate_data(X, y, sample_weight)
        prior = prior_for(
            self.classes_,
            self.posterior,
            prior_precision=self.prior_precision,
            intercept=self.intercept,
        )
        known = is_labeled(codes, missing_label=-1)
        if X.ndim == 2 and X.shape[1]:
            prior = prior.sized(X.shape[1])
        self.prior_ = prior
        self.posterior_ = prior
        if known.any():
            chosen = None if weights is None else np.asarray(weights, dtype=np.float64)[known]
            self.posterior_ = prior.update(X[known], codes[known].astype(np.int64), chosen)
        return self

    def predict_proba(self, X: ArrayLike) -> Array:
        """The probability of each class, averaged over the posterior, `(n, K)`."""
        check_is_fitted(self, "posterior_")
        X = check_array(X, dtype=np.float64)
        posterior = self.posterior_
        if posterior.num_features is None:  # fitted to nothing at all
            posterior = posterior.sized(X.shape[1])
        self._check_n_features(X, reset=False)
        return Belief(posterior).predict_proba(X)
