"""Checks for encoders, posteriors and selectors of your own.

Each is silent if all is well, and raises an AssertionError that says what to mend otherwise. The
checks for channels and constraints are in `channelcode.testing`, which also hands these out.

>>> from apm import Affine, MaxVariance, VariationalLogistic
>>> from apm.testing import check_encoder, check_posterior, check_selector
>>> check_encoder(Affine())
>>> check_posterior(VariationalLogistic(0.1))
>>> check_selector(MaxVariance())
"""

from apm.testing.encoder import check_encoder
from apm.testing.posterior import check_posterior
from apm.testing.selector import check_selector

__all__ = ["check_encoder", "check_posterior", "check_selector"]
