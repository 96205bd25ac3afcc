"""Exact figures of posterior matching over all output sequences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from channelcode._validation import Array, integer
from channelcode.errors import InvalidArgument
from channelcode.feedback.posterior_matching import PosteriorMatching

MOST_SEQUENCES = 20_000_000
MOST_BITS = 16


@dataclass(frozen=True)
class Enumeration:
    """What holds exactly after t = 0 .. n uses, for a message uniform on [0, 1).

    - `information_bits` `(n + 1,)`: I(Theta; Y^t), which is t I(p, W);
    - `expected_variance` `(n + 1,)`: the mean posterior variance;
    - `correct` `(n + 1, bits + 1)`: the mean of the greatest mass of the 2^k dyadic cells, the
      probability that the first k bits are decoded right.
    """

    scheme: PosteriorMatching
    information_bits: Array
    expected_variance: Array
    correct: Array


def enumerate_outputs(scheme: PosteriorMatching, n: int, bits: int = 6) -> Enumeration:
    """Follow every output sequence of length n, exactly but for rounding (about 1e-12).

    >>> from channelcode.feedback import Horstein
    >>> exact = enumerate_outputs(Horstein(0.1), 3)
    >>> exact.information_bits.round(6)
    array([0.      , 0.531004, 1.062009, 1.593013])
    >>> exact.correct[1, :3].round(6)
    array([1.  , 0.9 , 0.45])
    """
    from channelcode._kernels.feedback_enumerate import enumerate_tree

    if not isinstance(scheme, PosteriorMatching):
        rule = "must be posterior matching, such as Horstein(0.1)"
        raise InvalidArgument("scheme", rule, scheme)
    steps = integer("n", n, least=0)
    digits = integer("bits", bits, least=0)
    if digits > MOST_BITS:
        raise InvalidArgument("bits", f"must be at most {MOST_BITS}", bits)
    outputs = scheme.matrix.shape[1]
    if steps * np.log(outputs) > np.log(MOST_SEQUENCES):
        most = int(np.log(MOST_SEQUENCES) / np.log(outputs))
        rule = f"must be at most {most}, as there are {outputs}^n sequences of outputs"
        raise InvalidArgument("n", rule, n)
    layout = [scheme._layout(time) for time in range(max(steps, 1))]
    quantiles = np.array([cuts for cuts, _ in layout]).reshape(len(layout), -1)
    letters = np.array([pieces for _, pieces in layout], dtype=np.int64)
    matrix = np.ascontiguousarray(scheme.matrix)
    found = enumerate_tree(matrix, letters, np.ascontiguousarray(quantiles), steps, digits)
    return Enumeration(scheme, *found)
