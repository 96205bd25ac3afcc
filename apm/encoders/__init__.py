"""Encoders: from an example and the parameters to the channel input.

`linear`, `features`, `standardised` and `torch` are fixed maps whose features the parameters meet;
`nonlinear` is any function of both, `difference` a pair of examples, `experts` an example and who
is asked about it. `calling` checks what an encoder gives.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from apm.encoders.base import Encoder as Encoder
    from apm.encoders.difference import Difference as Difference
    from apm.encoders.experts import Chosen as Chosen
    from apm.encoders.experts import Expert as Expert
    from apm.encoders.experts import WithExpert as WithExpert
    from apm.encoders.features import FeatureMap as FeatureMap
    from apm.encoders.linear import Affine as Affine
    from apm.encoders.linear import Linear as Linear
    from apm.encoders.nonlinear import NonLinear as NonLinear
    from apm.encoders.standardised import Standardised as Standardised
    from apm.encoders.torch import TorchFeatures as TorchFeatures
    from apm.encoders.torch_network import TorchNetwork as TorchNetwork
else:
    attach(
        __name__,
        {
            "base": "Encoder",
            "difference": "Difference",
            "experts": "Chosen Expert WithExpert",
            "features": "FeatureMap",
            "linear": "Affine Linear",
            "nonlinear": "NonLinear",
            "standardised": "Standardised",
            "torch": "TorchFeatures",
            "torch_network": "TorchNetwork",
        },
    )
