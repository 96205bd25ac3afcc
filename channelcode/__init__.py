"""Information theory and optimal transport for active learning as feedback channel coding.

Channels p(y | l), laws of their input, capacities with proof, and the Wasserstein-2 distance from
predicted input laws to the capacity-achieving one. `apm` builds active learning on top.

>>> from channelcode import Logistic, Power, capacity
>>> round(capacity(Logistic(), Power(4.0)).bits, 9)
0.472934659
"""

from channelcode.capacity import (
    BlahutArimoto,
    CapacityCurve,
    CapacityResult,
    ClosedForm,
    Constraint,
    Continuous,
    Cost,
    InteriorPoint,
    Peak,
    Power,
    Unconstrained,
    capacity,
    capacity_curve,
    certify,
)
from channelcode.certificate import Certificate, SolveStats, Status
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
    Landmark,
    Lapse,
    Link,
    Logistic,
    Ordinal,
    Probit,
    QuantisedGaussian,
    Softmax,
    Tails,
    ZChannel,
    restrict,
)
from channelcode.errors import ChannelCodeError, InvalidArgument, MissingExtra, NotConverged
from channelcode.guarantees import GapBound, information_gap_bound
from channelcode.information import (
    Information,
    binary_entropy,
    entropy,
    kl_divergence,
    mutual_information,
)
from channelcode.measures import (
    DiscreteMeasure,
    Empirical,
    EmpiricalPool,
    FullPool,
    Gaussian,
    GaussianPool,
    Measure,
    Pool,
    ScalarPool,
    ScaledPool,
    gaussian_pool,
)
from channelcode.transport import (
    EarthMover,
    LowerBound,
    Nearest,
    QuasiMonteCarlo,
    SemiDual,
    TransportResult,
    bures_squared,
    dual_bound,
    gelbrich_bound,
    nearest,
    projection_bound,
    w2,
    w2_squared,
    wasserstein_line,
)

__version__ = "0.1.0"

__all__ = [
    # channels
    "Channel",
    "Derivatives",
    "Tails",
    "Landmark",
    "Logistic",
    "Probit",
    "Cauchit",
    "Cloglog",
    "Link",
    "Lapse",
    "Softmax",
    "Ordinal",
    "Binomial",
    "QuantisedGaussian",
    "DiscreteChannel",
    "BinarySymmetric",
    "BinaryErasure",
    "ZChannel",
    "Features",
    "restrict",
    # measures
    "Measure",
    "DiscreteMeasure",
    "Empirical",
    "Gaussian",
    "Pool",
    "GaussianPool",
    "ScalarPool",
    "ScaledPool",
    "FullPool",
    "EmpiricalPool",
    "gaussian_pool",
    # information
    "Information",
    "entropy",
    "binary_entropy",
    "kl_divergence",
    "mutual_information",
    "information_gap_bound",
    "GapBound",
    # capacity
    "capacity",
    "capacity_curve",
    "certify",
    "CapacityResult",
    "CapacityCurve",
    "Power",
    "Peak",
    "Cost",
    "Unconstrained",
    "Constraint",
    "ClosedForm",
    "BlahutArimoto",
    "InteriorPoint",
    "Continuous",
    # transport
    "w2",
    "w2_squared",
    "nearest",
    "wasserstein_line",
    "bures_squared",
    "gelbrich_bound",
    "projection_bound",
    "dual_bound",
    "TransportResult",
    "Nearest",
    "LowerBound",
    "EarthMover",
    "SemiDual",
    "QuasiMonteCarlo",
    # what solvers prove, and errors
    "Certificate",
    "Status",
    "SolveStats",
    "ChannelCodeError",
    "InvalidArgument",
    "NotConverged",
    "MissingExtra",
    "__version__",
]
