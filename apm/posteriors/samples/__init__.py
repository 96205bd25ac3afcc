"""Posteriors made of weighted samples, for encoders of any kind.

`weighted` is what those with parameter values share, `tables` what a pool's labels tell about them.
`grid` is exact on a product of `axes`; `particles` are moved by `monte_carlo`; `draws` are the
user's own; `priors` are what they start from. `inputs` are a user's samples of channel inputs
alone; `reweighting` is what labels do to samples.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from apm.posteriors.samples.grid import Grid as Grid
    from apm.posteriors.samples.particles import Particles as Particles
    from apm.posteriors.samples.weighted import WeightedSamples as WeightedSamples
else:
    attach(
        __name__,
        {
            "grid": "Grid",
            "particles": "Particles",
            "weighted": "WeightedSamples",
        },
    )
