"""Posteriors and selectors for scikit-activeml: a classifier and a query strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from apm.adapters.prior import prior_for
from apm.belief import Belief
from apm.posteriors.base import Posterior
from apm.selectors import Selector
from apm.selectors.default import default_selector
from channelcode._validation import Array
from channelcode.errors import MissingExtra

try:
    from skactiveml.base import (
        SingleAnnotatorPoolQueryStrategy,
        SkactivemlClassifier,
        check_n_features,
    )
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
        checked: Any = self._validate_data(X, y, sample_weight)
        rows, codes, weights = checked
        prior = prior_for(
            np.asarray(self.classes_),
            self.posterior,
            prior_precision=self.prior_precision,
            intercept=self.intercept,
        )
        known = is_labeled(codes, missing_label=-1)
        if rows.ndim == 2 and rows.shape[1]:
            prior = prior.sized(rows.shape[1])
        self.prior_ = prior
        self.posterior_ = prior
        if known.any():
            chosen = None if weights is None else np.asarray(weights, dtype=np.float64)[known]
            self.posterior_ = prior.update(rows[known], codes[known].astype(np.int64), chosen)
        return self

    def predict_proba(self, X: ArrayLike) -> Array:
        """The probability of each class, averaged over the posterior, `(n, K)`."""
        check_is_fitted(self, "posterior_")
        rows: Any = check_array(X, dtype="float64")
        posterior = self.posterior_
        if posterior.num_features is None:  # fitted to nothing at all
            posterior = posterior.sized(rows.shape[1])
        check_n_features(self, rows, reset=False)
        return Belief(posterior).predict_proba(rows)


class APMQueryStrategy(SingleAnnotatorPoolQueryStrategy):
    """Any selector of `apm` as a query strategy of scikit-activeml.

    `selector` is None for the one that `Learner` would use. What a selector remembers of the pool
    (the radius B, budgets, targets) is taken from all of `X`, so that the utilities of some
    candidates are those they have among all; picks and batches are those of `Learner`.

    >>> import numpy as np
    >>> X, y = np.array([[-2.0], [-1.0], [0.5], [2.0]]), np.array([0, np.nan, np.nan, 1])
    >>> APMQueryStrategy().query(X, y, APMActiveClassifier(classes=[0, 1], intercept=False))
    array([2])
    """

    def __init__(
        self,
        selector: Selector | None = None,
        *,
        missing_label: Any = MISSING_LABEL,
        random_state: Any = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.selector = selector

    def query(
        self,
        X: ArrayLike,
        y: ArrayLike,
        clf: APMActiveClassifier,
        fit_clf: bool = True,
        sample_weight: ArrayLike | None = None,
        candidates: ArrayLike | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Any:
        """The rows to label next, `(batch_size,)`, and with `return_utilities` their scores.

        Indices and columns of the utilities refer to `X`, or to `candidates` if those are examples
        themselves; a column that was not a candidate, or was picked before, is NaN.
        """
        checked: Any = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        examples, labels, some, batch_size, return_utilities = checked
        X_candidates, mapping = self._transform_candidates(some, examples, labels)
        check_type(fit_clf, "fit_clf", bool)
        check_type(clf, "clf", APMActiveClassifier)
        check_type(self.selector, "selector", Selector, type(None))
        fitted: Any = clf
        if fit_clf:
            fresh: Any = clone(clf)
            fitted = fresh.fit(X, y, sample_weight)
        check_is_fitted(fitted, "posterior_")
        pool = np.asarray(examples, dtype=np.float64)
        waiting = np.flatnonzero(~is_labeled(labels, missing_label=self.missing_label))
        if mapping is None:  # examples of their own, behind those of the pool
            among = np.arange(len(pool), len(pool) + len(X_candidates))
            rows = np.concatenate((pool, np.asarray(X_candidates, dtype=np.float64)))
        else:
            among, rows = np.asarray(mapping), pool
        prior = Belief(fitted.prior_.sized(pool.shape[1]))
        selector = default_selector(prior) if self.selector is None else self.selector
        choice = selector.prepared(prior, pool).choose(
            Belief(fitted.posterior_.sized(pool.shape[1])),
            rows,
            np.union1d(waiting, among),
            n=batch_size,
            rng=int(self.random_state_.randint(2**31)),
            among=among,
        )
        first = 0 if mapping is not None else len(pool)
        indices = choice.indices - first
        if not return_utilities:
            return indices
        utilities = np.full((batch_size, len(rows)), np.nan)
        for step, scores in enumerate((choice.scores, *choice.later)):
            utilities[step, choice.candidates] = scores
        utilities = utilities[:, first:]
        for step in range(batch_size):
            if step and not choice.later:  # scores that do not change within a batch
                utilities[step] = utilities[0]
            utilities[step, indices[:step]] = np.nan
        utilities[:, ~np.isin(np.arange(utilities.shape[1]), among - first)] = np.nan
        return indices, utilities
