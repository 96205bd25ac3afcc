"""Posteriors made of weighted parameter values, for encoders of any kind.

`weighted` is what they share.
"""

from apm.posteriors.samples.weighted import WeightedSamples

__all__ = ["WeightedSamples"]
