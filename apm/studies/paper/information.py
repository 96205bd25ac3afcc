"""What each query was worth: bits gained, the capacity, and the certified loss."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.channels import Logistic
from channelcode.measures import ScalarPool

# The Lipschitz constant of l -> D(W(.|l) || q*), in bits; it is also that of l -> H(Y|l).
LIPSCHITZ = 0.3230  # 0.322979 rounded up
_LOG_TWO = float(np.log(2.0))
_SQRT_TWO_PI = float(np.sqrt(2.0 * np.pi))


def per_query_information(mean: Array, variance: Array, power: Array) -> dict[str, Array]:
    """Information of picks with channel inputs N(mean, variance), in bits, all arrays (queries,).

    `power` P is the largest E L^2 over the candidates at each query: a budget valid for them all.

    - `gain` is I(L; Y) of the pick;
    - `capacity` is C(P) = 1 - h_b(f(sqrt P)) (Prop. 2.1);
    - `bound` is C - I: no candidate gains more than that beyond the pick;
    - `transport_bound` bounds the same by the distance to B_sqrt(P) alone, the least of C, Theorem
      3.1, K_P W2 with K_P = 0.25 log2(e) sqrt P + 0.3230, and KKT, 0.3230 W1 + D(q_p || q*).
    """
    from channelcode.information import binary_entropy, mutual_information

    channel = Logistic()
    found = mutual_information(channel, ScalarPool(mean, variance))
    amplitude = np.sqrt(power)
    capacity = 1.0 - channel.conditional_entropy(amplitude) / _LOG_TWO
    spread = np.sqrt(variance)
    squared = mean**2 + (spread - np.sqrt(2 / np.pi) * amplitude) ** 2
    second = np.sqrt(squared + (1 - 2 / np.pi) * power)  # Corollary 3.2.1
    theorem = (0.25 / _LOG_TWO * amplitude + LIPSCHITZ) * second
    divergence = 1.0 - np.asarray(binary_entropy(found.output[:, 1]))
    kkt = LIPSCHITZ * first_distance(mean, spread, amplitude) + divergence
    return {
        "gain": np.asarray(found.bits),
        "capacity": capacity,
        "bound": np.maximum(capacity - found.bits, 0.0),
        "transport_bound": np.minimum(np.minimum(theorem, kkt), capacity),
    }


def first_distance(mean: Array, spread: Array, amplitude: Array) -> Array:
    """W1(N(mean, spread^2), B_amplitude): the lower half goes to -amplitude, the upper to +.

    All arrays (n,).

    >>> first_distance(np.array([0.0]), np.array([0.0]), np.array([2.0]))
    array([2.])
    """
    return _half(mean, spread, -amplitude) + _half(-mean, spread, -amplitude)


def _half(mean: Array, spread: Array, atom: Array) -> Array:
    """E|L - atom| over L below its median, for L ~ N(mean, spread^2)."""
    from scipy.special import ndtr

    # E(L - atom) over the half, plus twice the part where L lies below the atom.
    signed = 0.5 * (mean - atom) - spread / _SQRT_TWO_PI
    turned = np.minimum(atom, mean)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        z = np.where(spread > 0, (turned - mean) / spread, -np.inf)
        density = np.exp(-0.5 * z * z) / _SQRT_TWO_PI
    below = spread * density + (atom - mean) * ndtr(z)
    # For an atom above the median the whole half lies below it: ndtr(0) = 1/2 gives -signed.
    return signed + 2.0 * below
