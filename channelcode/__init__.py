"""Information theory and optimal transport for active learning as feedback channel coding.

Channels p(y | l), laws of their input, capacities with proof, and the Wasserstein-2 distance from
predicted input laws to the capacity-achieving one. `apm` builds active learning on top.

>>> from channelcode import Logistic, Power, capacity
>>> round(capacity(Logistic(), Power(4.0)).bits, 9)
0.472934659
"""

import logging
from typing import TYPE_CHECKING

from channelcode._lazy import attach

__version__ = "0.2.0"
logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent unless somebody listens

if TYPE_CHECKING:
    from channelcode.capacity import BlahutArimoto as BlahutArimoto
    from channelcode.capacity import CapacityCurve as CapacityCurve
    from channelcode.capacity import CapacityResult as CapacityResult
    from channelcode.capacity import ClosedForm as ClosedForm
    from channelcode.capacity import Constraint as Constraint
    from channelcode.capacity import Continuous as Continuous
    from channelcode.capacity import Cost as Cost
    from channelcode.capacity import InteriorPoint as InteriorPoint
    from channelcode.capacity import Peak as Peak
    from channelcode.capacity import Power as Power
    from channelcode.capacity import Unconstrained as Unconstrained
    from channelcode.capacity import UnitCostResult as UnitCostResult
    from channelcode.capacity import Variance as Variance
    from channelcode.capacity import capacity as capacity
    from channelcode.capacity import capacity_curve as capacity_curve
    from channelcode.capacity import capacity_per_unit_cost as capacity_per_unit_cost
    from channelcode.capacity import certify as certify
    from channelcode.certificate import Certificate as Certificate
    from channelcode.certificate import SolveStats as SolveStats
    from channelcode.certificate import Status as Status
    from channelcode.channels import AdditiveGaussian as AdditiveGaussian
    from channelcode.channels import AdditiveLaplace as AdditiveLaplace
    from channelcode.channels import BinaryErasure as BinaryErasure
    from channelcode.channels import BinarySymmetric as BinarySymmetric
    from channelcode.channels import Binomial as Binomial
    from channelcode.channels import Cauchit as Cauchit
    from channelcode.channels import Channel as Channel
    from channelcode.channels import Cloglog as Cloglog
    from channelcode.channels import Counts as Counts
    from channelcode.channels import Derivatives as Derivatives
    from channelcode.channels import DiscreteChannel as DiscreteChannel
    from channelcode.channels import Exponential as Exponential
    from channelcode.channels import Features as Features
    from channelcode.channels import Gamma as Gamma
    from channelcode.channels import Interval as Interval
    from channelcode.channels import Landmark as Landmark
    from channelcode.channels import Lapse as Lapse
    from channelcode.channels import Link as Link
    from channelcode.channels import Logistic as Logistic
    from channelcode.channels import Ordinal as Ordinal
    from channelcode.channels import Poisson as Poisson
    from channelcode.channels import Probit as Probit
    from channelcode.channels import QuantisedGaussian as QuantisedGaussian
    from channelcode.channels import Recentred as Recentred
    from channelcode.channels import Softmax as Softmax
    from channelcode.channels import Tails as Tails
    from channelcode.channels import UnknownGuess as UnknownGuess
    from channelcode.channels import UnknownLapse as UnknownLapse
    from channelcode.channels import ZChannel as ZChannel
    from channelcode.channels import restrict as restrict
    from channelcode.errors import ChannelCodeError as ChannelCodeError
    from channelcode.errors import InvalidArgument as InvalidArgument
    from channelcode.errors import MissingExtra as MissingExtra
    from channelcode.errors import NotConverged as NotConverged
    from channelcode.guarantees import GapBound as GapBound
    from channelcode.guarantees import information_gap_bound as information_gap_bound
    from channelcode.information import Information as Information
    from channelcode.information import binary_entropy as binary_entropy
    from channelcode.information import entropy as entropy
    from channelcode.information import kl_divergence as kl_divergence
    from channelcode.information import mutual_information as mutual_information
    from channelcode.measures import DiscreteMeasure as DiscreteMeasure
    from channelcode.measures import Empirical as Empirical
    from channelcode.measures import EmpiricalPool as EmpiricalPool
    from channelcode.measures import FullPool as FullPool
    from channelcode.measures import Gaussian as Gaussian
    from channelcode.measures import GaussianPool as GaussianPool
    from channelcode.measures import Measure as Measure
    from channelcode.measures import Pool as Pool
    from channelcode.measures import ScalarPool as ScalarPool
    from channelcode.measures import ScaledPool as ScaledPool
    from channelcode.measures import gaussian_pool as gaussian_pool
    from channelcode.transport import EarthMover as EarthMover
    from channelcode.transport import LowerBound as LowerBound
    from channelcode.transport import Nearest as Nearest
    from channelcode.transport import QuasiMonteCarlo as QuasiMonteCarlo
    from channelcode.transport import SemiDual as SemiDual
    from channelcode.transport import TransportResult as TransportResult
    from channelcode.transport import bures_squared as bures_squared
    from channelcode.transport import dual_bound as dual_bound
    from channelcode.transport import gelbrich_bound as gelbrich_bound
    from channelcode.transport import nearest as nearest
    from channelcode.transport import projection_bound as projection_bound
    from channelcode.transport import w2 as w2
    from channelcode.transport import w2_squared as w2_squared
    from channelcode.transport import wasserstein_line as wasserstein_line
else:
    attach(
        __name__,
        {
            "capacity": (
                "BlahutArimoto CapacityCurve CapacityResult ClosedForm Constraint Continuous "
                "Cost InteriorPoint Peak Power Unconstrained UnitCostResult Variance capacity "
                "capacity_curve capacity_per_unit_cost certify"
            ),
            "certificate": "Certificate SolveStats Status",
            "channels": (
                "AdditiveGaussian AdditiveLaplace BinaryErasure BinarySymmetric Binomial "
                "Cauchit Channel Cloglog Counts Derivatives DiscreteChannel Exponential "
                "Features Gamma Interval Landmark Lapse Link Logistic Ordinal Poisson Probit "
                "QuantisedGaussian Recentred Softmax Tails UnknownGuess UnknownLapse ZChannel "
                "restrict"
            ),
            "errors": "ChannelCodeError InvalidArgument MissingExtra NotConverged",
            "guarantees": "GapBound information_gap_bound",
            "information": "Information binary_entropy entropy kl_divergence mutual_information",
            "measures": (
                "DiscreteMeasure Empirical EmpiricalPool FullPool Gaussian GaussianPool Measure "
                "Pool ScalarPool ScaledPool gaussian_pool"
            ),
            "transport": (
                "EarthMover LowerBound Nearest QuasiMonteCarlo SemiDual TransportResult "
                "bures_squared dual_bound gelbrich_bound nearest projection_bound w2 w2_squared "
                "wasserstein_line"
            ),
        },
    )
