"""Encoders: from an example to the features that the parameters meet."""

from apm.encoders.base import Encoder
from apm.encoders.features import FeatureMap
from apm.encoders.linear import Affine, Linear
from apm.encoders.standardised import Standardised
from apm.encoders.torch import TorchFeatures

__all__ = ["Affine", "Encoder", "FeatureMap", "Linear", "Standardised", "TorchFeatures"]
