"""Selectors as query functions of modAL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.posteriors.base import Posterior
from apm.selectors import Selector
from apm.selectors.default import default_selector
from channelcode._validation import Array, Seed, as_generator
from channelcode.errors import InvalidArgument


def modal_query(
    selector: Selector | None = None, *, pool: ArrayLike | None = None, rng: Seed = None
) -> Callable[..., tuple[np.ndarray, Array]]:
    """A query function for `modAL.models.ActiveLearner(query_strategy=...)`.

    The estimator must be an `APMClassifier`, alone or last in a `Pipeline`, and fitted. modAL
    passes only what is left of the pool; give the whole one as `pool`, so that what a selector
    remembers of it (the radius B, targets) stays the same, as it does in `Learner`.

    The function returns row numbers and their scores. It needs nothing of modAL itself, whose
    `ActiveLearner.teach` does not run on scikit-learn 1.6 and later (modAL issue 196): there, fit
    the estimator yourself on all labels so far.

    >>> from apm.adapters import APMClassifier
    >>> model = APMClassifier(intercept=False).fit([[-2.0], [2.0]], [0, 1])
    >>> indices, scores = modal_query()(model, [[-1.5], [0.25], [1.0]])
    >>> indices
    array([2])
    """
    generator = as_generator(rng)

    def query(classifier: Any, X_pool: ArrayLike, n_instances: int = 1) -> tuple[np.ndarray, Array]:
        posterior, features = _opened(classifier)
        rows = features(X_pool)
        belief = Belief(posterior)
        chosen = default_selector(belief) if selector is None else selector
        if not isinstance(chosen, Selector):
            raise InvalidArgument("selector", "must be a selector such as APM()", selector)
        everything = rows if pool is None else features(pool)
        choice = chosen.prepared(belief, everything).choose(
            belief,
            rows,
            np.arange(len(rows)),
            n=n_instances,
            rng=int(generator.integers(2**63)),
        )
        return choice.indices, choice.scores[choice.indices]

    return query


def _opened(classifier: Any) -> tuple[Posterior, Callable[[ArrayLike], Array]]:
    """The posterior inside a learner of modAL, or an estimator; and the way to its features."""
    estimator = getattr(classifier, "estimator", classifier)
    steps = getattr(estimator, "steps", None)
    model = estimator if steps is None else steps[-1][1]
    posterior = getattr(model, "posterior_", None)
    if not isinstance(posterior, Posterior):
        rule = "must be a fitted APMClassifier, alone or last in a Pipeline"
        raise InvalidArgument("estimator", rule, estimator)

    def features(X: ArrayLike) -> Array:
        before = X if steps is None or len(steps) == 1 else estimator[:-1].transform(X)
        return np.asarray(before, dtype=np.float64)

    return posterior, features
