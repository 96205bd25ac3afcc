"""Encoders: from an example and the parameters to the channel input.

`linear`, `features`, `standardised` and `torch` are fixed maps whose features the parameters meet;
`nonlinear` is any function of both, `difference` a pair of examples, `experts` an example and who
is asked about it. `calling` checks what an encoder gives.
"""

from apm.encoders.base import Encoder
from apm.encoders.difference import Difference
from apm.encoders.experts import Chosen, Expert, WithExpert
from apm.encoders.features import FeatureMap
from apm.encoders.linear import Affine, Linear
from apm.encoders.nonlinear import NonLinear
from apm.encoders.standardised import Standardised
from apm.encoders.torch import TorchFeatures
from apm.encoders.torch_network import TorchNetwork

__all__ = [
    "Affine",
    "Chosen",
    "Difference",
    "Encoder",
    "Expert",
    "FeatureMap",
    "Linear",
    "NonLinear",
    "Standardised",
    "TorchFeatures",
    "TorchNetwork",
    "WithExpert",
]
