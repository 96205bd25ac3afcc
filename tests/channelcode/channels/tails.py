"""Exact responses in many digits, for the tests of the tails."""

from __future__ import annotations

import mpmath
import numpy as np

LINE = [0.0, 1e-9, 0.3, 1.0, 2.5, 7.0, 20.0, 36.0, 40.0, 100.0, 700.0, 745.0, 1e3, 1e4]
BOTH = sorted({*LINE, *(-l for l in LINE)})
DIGITS = 60


def assert_log_probs(channel, exact, points=BOTH, rtol=1e-13, atol=0.0):
    """Compare `channel.log_prob` with `exact(l) -> probabilities` computed in many digits.

    `exact` gets an mpf and returns one probability per output, each to full relative precision.
    Values below the range of doubles are compared with the end of the range.
    """
    for l in points:
        with mpmath.workdps(DIGITS):
            wanted = logs(exact(mpmath.mpf(l)))
        got = channel.log_prob(l)
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol, err_msg=f"at l = {l}")


def logs(law):
    """The logarithms of a law; that of a near certainty comes from what it lacks."""
    found = []
    for y, p in enumerate(law):
        rest = mpmath.fsum([q for z, q in enumerate(law) if z != y])
        value = mpmath.log1p(-rest) if 2 * p > 1 else mpmath.log(p)
        found.append(max(float(value), -np.finfo(float).max))
    return found
