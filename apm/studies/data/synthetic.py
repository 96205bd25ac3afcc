"""The paper's three synthetic sets, 600 examples in the plane, drawn from their description."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from channelcode._validation import Array, Seed, as_generator

Labels = NDArray[np.int64]
_HALF = np.sqrt(0.5)


def clouds(rng: Seed = 0) -> tuple[Array, Labels]:
    """Two round Gaussian clouds that overlap, one class each (appendix, Table 2: *clouds*).

    300 examples of N((1, 1), I) with label 0, 300 of N((-1, -1), I) with label 1. Returns X
    (600, 2) and y (600,).

    >>> X, y = clouds()
    >>> X.shape, int(y.sum())
    ((600, 2), 300)
    """
    draw = as_generator(rng)
    X = np.concatenate(
        [draw.normal(1.0, 1.0, size=(300, 2)), draw.normal(-1.0, 1.0, size=(300, 2))]
    )
    return X, np.repeat([0, 1], 300)


def cross(rng: Seed = 0) -> tuple[Array, Labels]:
    """Two large clusters near the origin, four small ones in the corners (Fig. 2, *cross*).

    The classes are separable by the diagonal alone; whoever looks at the large clusters only is led
    to a horizontal line. Clusters: N((0, ±0.5), 0.1² I) with 226 examples each, the four corners
    N((±1, ±1), 0.05² I) with 37 each. Label 1: the upper large cluster and the two left corners.

    >>> X, y = cross()
    >>> X.shape, int(y.sum())
    ((600, 2), 300)
    """
    draw = as_generator(rng)
    clusters = [
        ((1.0, 1.0), 0.05, 37, 0),
        ((1.0, -1.0), 0.05, 37, 0),
        ((0.0, -0.5), 0.1, 226, 0),
        ((-1.0, 1.0), 0.05, 37, 1),
        ((-1.0, -1.0), 0.05, 37, 1),
        ((0.0, 0.5), 0.1, 226, 1),
    ]
    X = np.concatenate(
        [draw.normal(centre, spread, size=(count, 2)) for centre, spread, count, _ in clusters]
    )
    return X, np.repeat([label for *_, label in clusters], [count for *_, count, _ in clusters])


def horseshoe(rng: Seed = 0) -> tuple[Array, Labels]:
    """Three long bars that form a U; the bottom bar is the second class (*horseshoe*).

    Each bar is a Gaussian with variance 1 along and 0.1 across a diagonal; 400 examples have label
    0 (the two arms), 200 label 1. No line through the origin separates them.

    >>> X, y = horseshoe()
    >>> X.shape, int(y.sum())
    ((600, 2), 200)
    """
    draw = as_generator(rng)
    bars = [
        ((1 / 3, 5 / 3), (_HALF, -_HALF)),
        ((-5 / 3, -1 / 3), (_HALF, -_HALF)),
        ((1 / 3, -1 / 3), (_HALF, _HALF)),
    ]
    parts = []
    for centre, along in bars:
        length, width = draw.normal(size=(2, 200))
        across = np.array([-along[1], along[0]])
        parts.append(
            np.asarray(centre) + np.outer(length, along) + np.sqrt(0.1) * np.outer(width, across)
        )
    return np.concatenate(parts), np.repeat([0, 0, 1], 200)


SYNTHETIC: dict[str, Callable[[Seed], tuple[Array, Labels]]] = {
    "clouds": clouds,
    "cross": cross,
    "horseshoe": horseshoe,
}
