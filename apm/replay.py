"""APM-LR on a pool whose labels are all known: the paper's experiment, in one compiled call."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apm._inputs import as_matrix
from apm.posteriors.labels import as_labels, encode, learn_classes
from apm.posteriors.variational import MAX_STEPS
from channelcode._validation import Array, integer, positive
from channelcode.errors import InvalidArgument, NotConverged


@dataclass(frozen=True)
class Replay:
    """What a run did: `picks` and `power` `(queries,)`, MAP weights `(queries + 1, d)`, steps."""

    picks: NDArray[np.int64]
    power: Array
    weights: Array = field(repr=False)
    steps: NDArray[np.int64] = field(repr=False)


def replay(
    X: ArrayLike,
    y: ArrayLike,
    *,
    seeds: ArrayLike,
    queries: int = 40,
    prior_precision: float = 0.01,
    tol: float = 1e-10,
) -> Replay:
    """Run Algorithm 1 of the paper for `queries` labels, starting from the labelled rows `seeds`.

    Equal to a `Learner` with `VariationalLogistic` and `APM()`, pick for pick, for those who need
    hundreds of runs and no records. X `(n, d)`, y `(n,)` with two classes.

    >>> X = [[1.0, 0.2], [-1.0, 0.1], [0.3, 2.0], [0.1, -1.5]]
    >>> replay(X, [1, 0, 1, 0], seeds=[0, 1], queries=2).picks
    array([3, 2])
    """
    from apm._kernels.run import apm_run

    pool = np.ascontiguousarray(as_matrix(X).astype(np.float64, copy=False))
    labels = as_labels(y)
    if len(labels) != len(pool):
        raise InvalidArgument("y", f"must have one label for each of {len(pool)} rows", len(labels))
    codes = encode(labels, learn_classes(labels, 2))
    start = np.asarray(seeds)
    if start.ndim != 1 or start.dtype.kind not in "iu" or len(np.unique(start)) != len(start):
        raise InvalidArgument("seeds", "must be different rows, as integers", seeds)
    if len(start) and not (start.min() >= 0 and start.max() < len(pool)):
        raise InvalidArgument("seeds", f"must lie in 0 .. {len(pool) - 1}", seeds)
    count = integer("queries", queries, least=0)
    if count > len(pool) - len(start):
        rule = f"must not exceed the {len(pool) - len(start)} rows without a label"
        raise InvalidArgument("queries", rule, queries)
    radius = float(np.sqrt(np.einsum("ij,ij->i", pool, pool).max(initial=0.0)))
    precision = np.full(pool.shape[1], positive("prior_precision", prior_precision))
    picks, power, weights, steps, worst = apm_run(
        pool, codes, start.astype(np.int64), count, precision, radius,
        positive("tol", tol), MAX_STEPS,
    )  # fmt: skip
    result = Replay(picks, power, weights, steps)
    if not worst <= tol:
        raise NotConverged(f"a posterior of the run moved by {worst:.1e} at its last step", result)
    return result
