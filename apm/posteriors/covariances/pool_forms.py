"""What a label changes little of: the quadratic forms x'Bx and x'Bx* of a fixed pool.

Under a posterior with covariance A (x) B every variance and correlation of channel inputs is made
of x'Bx and x'Bx*. A label under Bohning's bound takes a matrix of rank one from B, so that both
follow in n (d + t) operations instead of n d (d + t).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from apm.posteriors import Bohning, Posterior
from apm.posteriors.covariances.feature_covariance import RankOne
from channelcode._validation import Array

MOST_CROSS = 1 << 22  # entries of x'Bx* that are kept: 32 mebibytes
# A difference keeps its digits only while it is not much smaller than what it is taken from. Below
# this part of the last full value, or after this many labels, the forms are computed anew; so they
# stay within about 64 * 1e-16 / 1e-3 of themselves.
KEPT_PART = 1e-3
KEPT_LABELS = 64


class PoolForms:
    """Forms of one matrix of features `(n, p)` under a Bohning posterior, and of targets to it.

    Nothing in it changes once it is computed: `after` gives the forms after further labels, from
    these where it can. Whoever keeps it promises that the features do not change.

    >>> from apm import Bohning
    >>> posterior = Bohning(3, 1.0).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    >>> X = np.array([[3.0, 4.0], [1.0, 0.0]])
    >>> forms = PoolForms(posterior, X)
    >>> before = forms.leverage
    >>> after = forms.after(posterior.update([1.0, 1.0], 2))
    >>> before.round(4), after.leverage.round(4)
    (array([16.6667,  0.6667]), array([10.1333,  0.5333]))
    """

    def __init__(self, posterior: Bohning, matrix: Any) -> None:
        self.posterior, self.matrix = posterior, matrix
        self._age = 0
        self._mean: Array | None = None
        self._leverage: Array | None = None
        self._full: Array | None = None
        self._targets: PoolForms | None = None
        self._cross: Array | None = None

    @property
    def mean(self) -> Array:
        """The mean inputs `(n, k)`."""
        if self._mean is None:
            mean = np.asarray(self.posterior.mean_inputs(self.matrix))
            mean.setflags(write=False)
            self._mean = mean
            return mean
        return self._mean

    @property
    def leverage(self) -> Array:
        """x'Bx of every row, `(n,)`."""
        if self._leverage is None:
            leverage: Array = np.asarray(self.posterior.leverage(self.matrix))
            self._leverage = self._full = leverage
            return leverage
        return self._leverage

    def watch(self, targets: Any) -> PoolForms | None:
        """The forms of targets `(t, p)`, kept along with these; None if that is too much to hold.

        Only the last targets are kept.
        """
        entries = targets.shape[0] * self.matrix.shape[0]
        if entries > MOST_CROSS or targets.dtype != np.float64:
            return None
        if self._targets is None or self._targets.matrix is not targets:
            self._targets, self._cross = PoolForms(self.posterior, targets), None
        return self._targets

    def cross(self, targets: Any) -> Array | None:
        """x'Bx* for every row and target, `(n, t)`; None where `watch` gives None."""
        watched = self.watch(targets)
        if watched is None:
            return None
        if self._cross is None:
            _ = self.leverage, watched.leverage  # they say when the digits of the rest are used up
            self._cross = self.posterior.cross_leverage(self.matrix, targets)
        return self._cross

    def after(self, posterior: Posterior) -> PoolForms | None:
        """The forms under a later posterior; None if it is not a Bohning posterior."""
        if not isinstance(posterior, Bohning):
            return None
        new = PoolForms(posterior, self.matrix)
        if self._targets is not None:
            new._targets = PoolForms(posterior, self._targets.matrix)
        if self._leverage is None and self._cross is None:
            return new
        lost = change_between(self.posterior, posterior)
        if lost is None or self._age == KEPT_LABELS:
            return new
        new._age = self._age + 1
        root = np.sqrt(lost.shrink)
        along = root * lost.along(self.matrix)
        if not new._reduce(self, along):
            return PoolForms(posterior, self.matrix)
        if self._targets is not None and new._targets is not None:
            toward = root * lost.along(self._targets.matrix)
            kept = new._targets._reduce(self._targets, toward)
            if kept and self._cross is not None:
                change = np.outer(along, toward)
                new._cross = np.subtract(self._cross, change, out=change)
        return new

    def _reduce(self, before: PoolForms, along: Array) -> bool:
        """Take the leverage from that before a label; False if too few digits would be left."""
        if before._leverage is not None and before._full is not None:
            leverage = before._leverage - along * along
            if (leverage < KEPT_PART * before._full).any():
                return False
            self._leverage, self._full = leverage, before._full
        return True


def change_between(before: Posterior, after: Posterior) -> RankOne | None:
    """What one label took from B, if one label is all that came between two posteriors."""
    if not (isinstance(before, Bohning) and isinstance(after, Bohning)):
        return None
    old = before.num_observations
    change = after.last_update
    if change is None or after.num_observations != old + 1:
        return None
    same = (
        before.num_features == after.num_features
        and before.intercept == after.intercept
        and np.array_equal(before.precision, after.precision)
        and np.array_equal(after.design[:old], before.design)
        and np.array_equal(after.sample_weight[:old], before.sample_weight)
    )
    return change if same else None
