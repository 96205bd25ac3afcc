"""Exponential and normal tail to 1e-13 without branches: loops over them use vector registers."""

from __future__ import annotations

from channelcode._kernels.jit import kernel

FARTHEST = 8.0  # deviations: the mass beyond, 6e-16, is less than the error
EXP_ERROR = 1e-13  # of `quick_exp`: 3.6e-14 was measured
TAIL_ERROR = 3e-13  # of `quick_tail`: 1.2e-13


@kernel
def quick_exp(x: float) -> float:
    """exp(x) for -64 <= x <= 0, within `EXP_ERROR`: a polynomial at x / 64, squared six times."""
    y = x * 0.015625
    y = 1.0 + y * (
        1.0
        + y
        * (
            0.5
            + y
            * (
                0.16666666666666666
                + y
                * (
                    0.041666666666666664
                    + y
                    * (
                        0.008333333333333333
                        + y * (0.001388888888888889 + y * 0.0001984126984126984)
                    )
                )
            )
        )
    )
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    return y * y


@kernel
def quick_tail(t: float, density: float) -> float:
    """Q(t) for 0 <= t <= FARTHEST, within `TAIL_ERROR`; `density` is exp(-t^2 / 2).

    `(1 + t) Q(t) exp(t^2 / 2)` is interpolated by a polynomial of degree 14 in `(t - 3) / (t + 3)`
    at Chebyshev's nodes, with 40 digits.
    """
    s = (t - 3.0) / (t + 3.0)
    high = -1.6875940875100426e-05 + s * (-9.925834686333874e-06 + s * -1.7600057931458036e-06)
    high = 1.714833973923178e-05 + s * (
        0.00010394512672119809 + s * (1.8424697837066255e-05 + s * high)
    )
    high = 0.003009275569802563 + s * (
        -0.0003546611476475882 + s * (-0.000519702082945891 + s * high)
    )
    high = 0.045163889912302274 + s * (
        -0.02272958675711111 + s * (0.0011607906140989922 + s * high)
    )
    high = 0.4860557934222446 + s * (-0.0965267579004796 + s * (-0.016432180651001906 + s * high))
    return high * density / (1.0 + t)


@kernel
def clamped(t: float) -> float:
    """The size of t, at most FARTHEST."""
    size = abs(t)
    return size if size < FARTHEST else FARTHEST  # an end at infinity, too
