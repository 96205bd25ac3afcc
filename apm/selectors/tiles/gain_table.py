"""Bounds on the information of many labels by a table: a look at it costs less than an integral.

The information of a label through the logistic channel rises with the variance v of its input and
falls with the size of its mean (`apm.selectors.tiles.pruning.Telling`). So no input gains more than
one of the next larger variance and the next smaller mean of a grid. Variances stand in steps of a
sixteenth of a doubling, means by m^2 / (1 + v) likewise, from a hundredth on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from channelcode._validation import Array

SHIFT = 48  # of the bits of a double: sixteen steps for each doubling
LEAST, MOST = 2.0**-40, 2.0**40  # variances beyond have no bound below the largest
FINEST = 0.01  # of m^2 / (1 + v)
FARTHEST = 64.0  # beyond, the mean no longer lowers the bound
SAFE = 1.0 - 1e-12  # of a mean, more than rounding can do to it


class GainTable:
    """`gain(mean, variance)` on a grid, found column by column as variances are met.

    >>> table = GainTable(lambda mean, variance: variance / (1.0 + np.square(mean)))
    >>> bound = table.above(np.array([0.0, 2.0]), np.array([1.0, 1.0]))
    >>> bool((bound >= [1.0, 0.2]).all() and (bound < [1.1, 0.25]).all())
    True
    """

    def __init__(self, gain: Callable[[Array, Array], Array]) -> None:
        self._gain = gain
        self._first, last = (int(each) for each in _bits(np.array([LEAST, MOST])))
        self._known = np.zeros(last - self._first + 2, dtype=bool)
        self._start, last = (int(each) for each in _bits(np.array([1.0, 1.0 + FARTHEST / FINEST])))
        self._rows = np.arange(self._start, last + 1)
        self._values = np.empty((len(self._known), len(self._rows)))
        self._ends = _value(np.arange(len(self._known)) + self._first)

    def above(self, near: Array, variance: Array) -> Array:
        """What no input gains whose mean is at least as large, nor its variance larger; `(n,)`."""
        from apm._kernels.gains import looked_up, places_of

        places, missing = places_of(variance, self._known, LEAST, MOST, SHIFT, self._first)
        if missing:
            inside = places[places >= 0]
            self._fill(np.unique(inside[~self._known[inside]]))
        found: Array = looked_up(
            near, places, self._ends, self._values, FINEST, FARTHEST, SHIFT, self._start
        )
        return found

    def _fill(self, places: Any) -> None:
        ratio = (_value(self._rows) - 1.0) * FINEST
        for place in places:
            variance = _value(np.array([place + self._first]))
            mean = np.sqrt(ratio * (1.0 + variance)) * SAFE
            self._values[place] = self._gain(mean, np.full(len(mean), variance[0]))
            self._known[place] = True


def _bits(values: Array) -> Any:
    """The number of the step that a positive value is in; steps are in order of their values."""
    return values.view(np.int64) >> SHIFT


def _value(steps: Any) -> Array:
    """Where a step begins."""
    return (np.asarray(steps, dtype=np.int64) << SHIFT).view(np.float64)
