"""How much a run exploits and explores (paper, appendix B.6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from channelcode._validation import Array

Picks = NDArray[np.int64]


def hyperplane_distance(x: Array, theta: Array) -> float:
    """The distance |x'theta| / |theta| of an example from the estimated hyperplane.

    Small values mean exploitation (appendix, Fig. 9).

    >>> hyperplane_distance(np.array([3.0, 1.0]), np.array([0.0, 2.0]))
    1.0
    """
    norm = float(np.linalg.norm(theta))
    return float(abs(x @ theta)) / norm if norm > 0 else 0.0


def maximin_distances(X: Array, seeds: Picks, picks: Picks) -> Array:
    """After each pick, the largest distance of an unlabelled example from its nearest labelled one.

    max_{x unlabelled} min_{z labelled} |x - z|; small values mean exploration (appendix, Fig. 10a).
    X (n, d), picks (q,); returns (q,), nan once nothing is left unlabelled.

    >>> maximin_distances(np.array([[0.0], [1.0], [5.0]]), np.array([0]), np.array([1]))
    array([4.])
    """
    nearest = np.full(len(X), np.inf)
    for row in seeds:
        np.minimum(nearest, np.linalg.norm(X - X[row], axis=1), out=nearest)
    unlabelled = np.ones(len(X), dtype=bool)
    unlabelled[seeds] = False
    result = np.full(len(picks), np.nan)
    for step, row in enumerate(picks):
        np.minimum(nearest, np.linalg.norm(X - X[row], axis=1), out=nearest)
        unlabelled[row] = False
        if unlabelled.any():
            result[step] = nearest[unlabelled].max()
    return result


def gram_log_determinants(X: Array, picks: Picks) -> Array:
    """The log-determinant of the Gram matrix of the latest d picks (appendix, Fig. 10b).

    ln det(X_w X_w') over the window w of the d picks that ends at each query; large values mean
    exploration. X (n, d), picks (q,); returns (q,), nan until the first window is full and where
    the window is singular to rounding.

    >>> gram_log_determinants(np.eye(2), np.array([0, 1]))
    array([nan,  0.])
    """
    dim = X.shape[1]
    result = np.full(len(picks), np.nan)
    if len(picks) < dim:
        return result
    windows = np.lib.stride_tricks.sliding_window_view(picks, dim)
    # det(X_w X_w') = det(X_w)^2 for square X_w: no squaring of the condition number.
    signs, logs = np.linalg.slogdet(X[windows])
    result[dim - 1 :] = np.where(signs != 0, 2.0 * logs, np.nan)
    return result
