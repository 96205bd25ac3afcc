"""What it costs to give the cells of a potential exactly the weights of the atoms."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel


@kernel
def repair_loss(
    atoms: np.ndarray, weights: np.ndarray, v: np.ndarray, mass: np.ndarray, moment: np.ndarray
) -> float:
    """Dual value minus the value of a coupling near the cells: the gap of `v` in rho.

    A cell with too much mass gives a random part of it to the atoms that lack mass, first to the
    one where that costs least: `<E[X|cell j], a_j - a_k> - (v_j - v_k)` for each unit, never
    negative but for rounding, which is counted as loss. `moment (m, r)` is E[X; cell].
    """
    m, r = atoms.shape
    short = np.empty(m)
    for j in range(m):
        short[j] = weights[j] - mass[j]
    gap = 0.0
    for j in range(m):
        while short[j] < 0.0:
            chosen = -1
            least = math.inf
            for k in range(m):
                if short[k] > 0.0:
                    loss = 0.0
                    for d in range(r):
                        loss += moment[j, d] * (atoms[j, d] - atoms[k, d])
                    loss = abs(loss / mass[j] - (v[j] - v[k]))
                    if loss < least:
                        least = loss
                        chosen = k
            if chosen < 0:
                break  # what is left is the rounding of the sums
            part = min(-short[j], short[chosen])
            gap += part * least
            short[j] += part
            short[chosen] -= part
    return gap
