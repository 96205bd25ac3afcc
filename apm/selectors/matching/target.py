"""The target of posterior matching: the capacity-achieving input at a power budget."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.channels import Channel, Logistic, Probit
from channelcode.measures import DiscreteMeasure, Pool, ScalarPool

# E|Z| of a standard normal: the correlation of a Gaussian with the two atoms of B_1.
TWO_ATOMS = sqrt(2.0 / pi)


def target_input(channel: Channel, power: float, *, solver: Any = None) -> Any:
    """The capacity of the channel at E|L|^2 <= power, whose `.input` is the target.

    >>> from channelcode import Logistic
    >>> target_input(Logistic(), 4.0).input.atoms
    array([-2.,  2.])
    """
    from channelcode.capacity import Power, capacity

    if solver is None:
        return capacity(channel, Power(power))
    return capacity(channel, Power(power), solver=solver)


def has_two_atoms(channel: Channel, laws: Pool) -> bool:
    """Whether the target is B_sqrt(P) by theorem and the laws are Gaussians on the line."""
    return type(channel) in (Logistic, Probit) and isinstance(laws, ScalarPool)


def two_atom_constant(power: float) -> float:
    """`(1 - 2/pi) P`: what eq. (APM-LR) leaves out of W2^2, as no candidate changes it."""
    return (1.0 - 2.0 / pi) * power


def two_atom_scores(laws: ScalarPool, power: float) -> Array:
    """`-W2^2` of Gaussians on the line to B_sqrt(P), as a sum of squares: Corollary 3.2.1."""
    scores = np.sqrt(laws.variance)
    scores -= TWO_ATOMS * sqrt(power)
    scores *= scores
    scores += laws.mean**2
    scores += two_atom_constant(power)
    return np.negative(scores, out=scores)


def paper_utility(laws: ScalarPool, power: float) -> Array:
    """The paper's APM-LR utility `-(mu^2 + (sigma - sqrt(2P/pi))^2)`, eq. (APM-LR), shape `(n,)`.

    `APM().scores` are these less the constant `two_atom_constant(power)`.

    >>> paper_utility(ScalarPool([1.0, 2.0], [2.0, 2.0]), pi).round(6)
    array([-1., -4.])
    """
    return two_atom_scores(laws, power) + two_atom_constant(power)


def exploitation(laws: Pool, target: DiscreteMeasure) -> Array:
    """`|m_x - m_T|^2`, the part of W2^2 that the means decide, `(n,)`."""
    shift = laws.mean - target.mean
    return shift**2 if shift.ndim == 1 else np.einsum("nk,nk->n", shift, shift)


def decompose(laws: Pool, target: DiscreteMeasure) -> tuple[Array, Array]:
    """Exploitation and exploration, `(n,)` each; their sum is W2^2 of each law to the target.

    `W2^2(p, T) = |m - m_T|^2 + W2^2(p - m, T - m_T)` for any two laws (theory of transport).
    """
    from channelcode.transport import w2_squared

    first = exploitation(laws, target)
    # W2^2 >= |m - m_T|^2: what falls below is the rounding of the difference
    return first, np.maximum(w2_squared(laws, target) - first, 0.0)
