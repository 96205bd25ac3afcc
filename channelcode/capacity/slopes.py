"""dC/du of the binary channels whose optimum is B_sqrt(u), in nats per unit of normalised power."""

from __future__ import annotations

from math import exp, pi, sqrt
from typing import Any

import numpy as np


def logistic_slope(t: Any) -> Any:
    """f(1 - f)/2 at t, which is -d h_b(f(sqrt u))/du since dh_b/dt = -t f (1 - f).

    Of a number, or of each of an array.
    """
    decay = np.exp(-t)
    return 0.5 * decay / (1.0 + decay) ** 2


def probit_slope(t: float) -> float:
    """phi(t) (ln Phi(t) - ln Phi(-t)) / (2 t), and phi(0)^2 2 at zero."""
    from scipy.special import log_ndtr

    density = exp(-0.5 * t * t) / sqrt(2.0 * pi)
    if t < 1e-4:
        return 2.0 * density / sqrt(2.0 * pi)
    return density * float(log_ndtr(t) - log_ndtr(-t)) / (2.0 * t)
