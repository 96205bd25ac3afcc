"""Information theory and transport for active learning as feedback channel coding."""

from channelcode.channels import (
    BinaryErasure,
    BinarySymmetric,
    Binomial,
    Cauchit,
    Channel,
    Cloglog,
    Derivatives,
    DiscreteChannel,
    Features,
    Lapse,
    Link,
    Logistic,
    Ordinal,
    Probit,
    QuantisedGaussian,
    Softmax,
    ZChannel,
    restrict,
)
from channelcode.measures import *  # noqa: F403
