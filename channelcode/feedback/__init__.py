"""Posterior matching and its classical cases: codes for channels with noiseless feedback.

`PosteriorMatching` is the scheme that active learning by approximate posterior matching
approaches; the others are its classical relatives, one file each. `intervals` and `groups` hold
their states, `theory` what is proved about them.

>>> from channelcode.feedback import Confidence, PosteriorMatching, transmit
>>> from channelcode import Logistic, Power
>>> scheme = PosteriorMatching(Logistic(), Power(4.0))
>>> run = transmit(scheme, 2**63 + 1, messages=2**64, stop=Confidence(1e-3), rng=0)
>>> run.decoded == 2**63 + 1, run.error_bound <= 1e-3
(True, True)
"""

from channelcode.feedback.burnashev_zigangirov import BinState, BurnashevZigangirov
from channelcode.feedback.choices import Confidence, Cuts, Dithered, Rounded, Shifted, Stop, Uses
from channelcode.feedback.groups.state import GroupState
from channelcode.feedback.horstein import Horstein
from channelcode.feedback.intervals.state import Intervals, MatchingState
from channelcode.feedback.ordered_partition import OrderedPartition
from channelcode.feedback.posterior_matching import PosteriorMatching
from channelcode.feedback.schalkwijk_kailath import PointState, SchalkwijkKailath
from channelcode.feedback.scheme import LetterScheme, Scheme, State
from channelcode.feedback.smallest_difference import SmallestDifference
from channelcode.feedback.theory.bounds import Bounds, bounds
from channelcode.feedback.theory.enumeration import Enumeration, enumerate_outputs
from channelcode.feedback.theory.expectation import ExpectedUses, expected_uses
from channelcode.feedback.theory.fixed_points import FixedPoints, fixed_points
from channelcode.feedback.transcript import Transcript, transmit

__all__ = [
    # schemes
    "PosteriorMatching",
    "Horstein",
    "SchalkwijkKailath",
    "OrderedPartition",
    "SmallestDifference",
    "BurnashevZigangirov",
    # choices
    "Rounded",
    "Dithered",
    "Shifted",
    "Uses",
    "Confidence",
    # a transmission
    "transmit",
    "Transcript",
    # what is proved
    "enumerate_outputs",
    "Enumeration",
    "expected_uses",
    "ExpectedUses",
    "bounds",
    "Bounds",
    "fixed_points",
    "FixedPoints",
    # what the schemes are made of
    "Scheme",
    "LetterScheme",
    "State",
    "MatchingState",
    "Intervals",
    "GroupState",
    "PointState",
    "BinState",
    "Cuts",
    "Stop",
]
