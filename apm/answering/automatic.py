"""What a learner uses when it is told nothing but the pool."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.encoders import Encoder, Linear, Standardised
from apm.pools.inputs import is_sparse
from apm.posteriors import Bohning, MaximumEvidence, VariationalLogistic
from apm.posteriors.base import Posterior
from apm.posteriors.labels import as_labels
from channelcode._validation import integer
from channelcode.errors import InvalidArgument

PRIOR_PRECISION = 1.0  # of standardised features; level with scikit-learn in log loss or better


def default_posterior(
    num_classes: int,
    classes: ArrayLike | None = None,
    *,
    prior_precision: float | MaximumEvidence | None = None,
) -> Posterior:
    """The posterior for that many classes, with an intercept.

    >>> default_posterior(2)
    VariationalLogistic(Logistic(), prior_precision=1, intercept=True; no labels yet)
    """
    count = integer("num_classes", num_classes, least=2)
    options: dict[str, Any] = {"intercept": True, "classes": classes}
    precision = PRIOR_PRECISION if prior_precision is None else prior_precision
    if count == 2:
        return VariationalLogistic(precision, **options)
    return Bohning(count, precision, **options)


def default_again(posterior: Posterior, num_classes: int) -> Posterior:
    """The same choice as `posterior`, for another number of classes."""
    given = posterior.prior_precision if posterior.evidence is None else posterior.evidence
    return default_posterior(num_classes, prior_precision=given)


def default_belief(
    pool: ArrayLike,
    classes: ArrayLike | None = None,
    *,
    encoder: Encoder | None = None,
    prior_precision: float | MaximumEvidence | None = None,
) -> Belief:
    """The belief about standardised features, for the classes named, or two until more appear."""
    count = 2
    if classes is not None:
        count = len(as_labels(classes, "classes"))
        if count < 2:
            raise InvalidArgument("classes", "must be two or more", classes)
    encoder = default_encoder(pool) if encoder is None else encoder
    return Belief(default_posterior(count, classes, prior_precision=prior_precision), encoder)


def default_encoder(pool: Any) -> Encoder:
    """Standardised features; sparse rows as they are, since zeros would not stay zero."""
    return Linear() if is_sparse(pool) else Standardised.of(pool)
