"""Posteriors made of weighted samples, for encoders of any kind.

`weighted` is what those with parameter values share; `inputs` are a user's samples of channel
inputs alone; `reweighting` is what labels do to samples.
"""

from apm.posteriors.samples.weighted import WeightedSamples

__all__ = ["WeightedSamples"]
