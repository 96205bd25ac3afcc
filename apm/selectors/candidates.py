"""The induced laws of the candidates of one selection."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.encoders import Linear
from apm.pools.inputs import is_sparse
from apm.posteriors.gaussian import ScalarGaussian
from apm.selectors.ranking import Indices
from channelcode._validation import Array
from channelcode.measures import Pool, ScalarPool

SMALL = 1 << 16  # entries of a pool that is projected in one piece: half a mebibyte of float64


def candidate_laws(belief: Belief, X: Any, candidates: Indices) -> Pool:
    """The induced laws of some rows of a clean matrix: `push`, without its checks if possible."""
    arrays = None
    forms = belief.forms(X)
    if forms is not None:
        arrays = forms.mean, forms.leverage
        if _finite(arrays):
            if len(candidates) != len(X):
                arrays = tuple(array[candidates] for array in arrays)
            return belief.posterior.pool(arrays)
    if isinstance(belief.encoder, Linear):
        posterior = belief.posterior.sized(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            if X.size <= SMALL or is_sparse(X):
                arrays = posterior.project(X)
            elif isinstance(posterior, ScalarGaussian):
                arrays = _projected(posterior, X)
            if arrays is not None and _finite(arrays):
                if len(candidates) == len(X):
                    return held(*arrays) if X.size > SMALL else posterior.pool(arrays)
                own = tuple([array[candidates] for array in arrays])
                double = all(array.dtype == np.float64 for array in own)
                plain = double and isinstance(posterior, ScalarGaussian)
                plain = plain and np.minimum.reduce(own[1]) >= 0
                return held(*own) if plain else posterior.pool(own)
    laws = belief.push(X)  # which says what is wrong with inputs out of range
    return laws if len(candidates) == len(laws) else laws[candidates]


def _finite(arrays: tuple[Array, ...]) -> bool:
    """Whether all entries are finite; where a sum overflows, False as well."""
    return all(isfinite(np.add.reduce(array, axis=None)) for array in arrays)


def _projected(posterior: ScalarGaussian, X: Any) -> tuple[Array, Array]:
    """Means and variances of a large pool, in pieces that stay in the cache."""
    mean, variance = np.empty(len(X)), np.empty(len(X))
    rows = piece_rows(X)
    for start in range(0, len(X), rows):
        part = slice(start, start + rows)
        mean[part], variance[part] = posterior.project(X[part])
    return mean, variance


def piece_rows(X: Any) -> int:
    """How many rows of X are projected together: a power of two, for products without a rest."""
    return 1 << max(0, (SMALL * 8 // (X.shape[1] * X.itemsize)).bit_length() - 1)


def held(mean: Array, variance: Array) -> ScalarPool:
    """The pool of finite arrays that nobody else holds, without copies."""
    laws = object.__new__(ScalarPool)
    mean.setflags(write=False)
    variance.setflags(write=False)
    laws._set(_mean=mean, _variance=variance)
    return laws
