"""An amount of information, with its unit and its error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from channelcode._numerics.logspace import LOG_TWO


@dataclass(frozen=True, eq=False, repr=False)
class Information(NDArrayOperatorsMixin):
    """An amount of information: `.bits`, `.nats`, and `.error`, an estimate of its error in bits.

    Values are floats, or arrays of shape `(n,)` for a pool of n laws. Where a plain number is
    wanted (arithmetic, comparison, `float`, NumPy functions) it stands for its bits. `output` is
    the law of the channel output that a mutual information was computed with, `(..., |Y|)`.

    The error is an estimate for what the method has seen of the channel, not a proof. `resolution`
    says how much that is: features narrower than this, in units of the channel input, may have
    been missed. It is zero for finite laws and for channels that declare where they bend
    (`Channel.tails`), and infinite for laws in R^k that were sampled.

    >>> half = Information(0.34657359027997264)
    >>> half.bits, half.nats, half > 0.4
    (0.5, 0.34657359027997264, True)
    """

    nats: Any
    error: Any = 0.0
    output: Any = field(default=None)
    resolution: Any = 0.0

    @property
    def bits(self) -> Any:
        """The value in bits: nats / ln 2."""
        return self.nats / LOG_TWO

    def __float__(self) -> float:
        return float(self.bits)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.bits, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = (x.bits if isinstance(x, Information) else x for x in inputs)
        result = getattr(ufunc, method)(*plain, **kwargs)
        return result.item() if isinstance(result, np.generic) else result

    def __len__(self) -> int:
        return len(self.bits)

    def __getitem__(self, index: Any) -> Information:
        error = self.error if np.ndim(self.error) == 0 else self.error[index]
        output = None if self.output is None else self.output[index]
        seen = self.resolution if np.ndim(self.resolution) == 0 else self.resolution[index]
        return Information(_plain(self.nats[index]), _plain(error), output, _plain(seen))

    def __format__(self, spec: str) -> str:
        return format(self.bits, spec)

    def __repr__(self) -> str:
        if np.ndim(self.nats) == 0:
            return f"Information(bits={self.bits:.12g}, error={self.error:.1e})"
        shown = np.array2string(self.bits, precision=6, threshold=12, separator=", ")
        return f"Information(bits={shown}, error<={np.max(self.error):.1e})"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
