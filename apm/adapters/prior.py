"""Which posterior an adapter starts from, when all it knows is the classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from apm.posteriors import Bohning, VariationalLogistic
from apm.posteriors.base import Posterior
from channelcode.errors import InvalidArgument


def prior_for(
    classes: np.ndarray,
    given: Posterior | Callable[[int], Posterior] | None,
    *,
    prior_precision: float,
    intercept: bool,
) -> Posterior:
    """The posterior before any label; its own classes are the places 0..K-1 of `classes`.

    `given` is a posterior, a function from the number of classes to one, or None for
    `VariationalLogistic` (two classes) and `Bohning` (more).

    >>> prior_for(np.array(["no", "yes"]), None, prior_precision=1.0, intercept=True)
    VariationalLogistic(Logistic(), prior_precision=1, intercept=True; no labels yet)
    """
    count = len(classes)
    if count < 2:
        raise ValueError(f"y must hold at least 2 classes, got the one class {classes.tolist()}")
    if given is None:
        options: dict[str, Any] = {
            "prior_precision": prior_precision,
            "intercept": intercept,
            "classes": range(count),
        }
        return VariationalLogistic(**options) if count == 2 else Bohning(count, **options)
    prior = given if isinstance(given, Posterior) else given(count)
    if not isinstance(prior, Posterior):
        rule = "must be a posterior, or a function from the number of classes to one"
        raise InvalidArgument("posterior", rule, given)
    if prior.num_labels == count:
        return prior
    if prior.num_labels == 2:
        raise ValueError(f"Only binary classification is supported: y has {count} classes")
    raise ValueError(f"posterior takes {prior.num_labels} classes: y has {count} classes")
