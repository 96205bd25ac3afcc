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

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from channelcode.feedback.burnashev_zigangirov import BinState as BinState
    from channelcode.feedback.burnashev_zigangirov import BurnashevZigangirov as BurnashevZigangirov
    from channelcode.feedback.choices import Confidence as Confidence
    from channelcode.feedback.choices import Cuts as Cuts
    from channelcode.feedback.choices import Dithered as Dithered
    from channelcode.feedback.choices import Rounded as Rounded
    from channelcode.feedback.choices import Shifted as Shifted
    from channelcode.feedback.choices import Stop as Stop
    from channelcode.feedback.choices import Uses as Uses
    from channelcode.feedback.groups.state import GroupState as GroupState
    from channelcode.feedback.horstein import Horstein as Horstein
    from channelcode.feedback.intervals.state import Intervals as Intervals
    from channelcode.feedback.intervals.state import MatchingState as MatchingState
    from channelcode.feedback.ordered_partition import OrderedPartition as OrderedPartition
    from channelcode.feedback.posterior_matching import PosteriorMatching as PosteriorMatching
    from channelcode.feedback.schalkwijk_kailath import PointState as PointState
    from channelcode.feedback.schalkwijk_kailath import SchalkwijkKailath as SchalkwijkKailath
    from channelcode.feedback.scheme import LetterScheme as LetterScheme
    from channelcode.feedback.scheme import Scheme as Scheme
    from channelcode.feedback.scheme import State as State
    from channelcode.feedback.smallest_difference import SmallestDifference as SmallestDifference
    from channelcode.feedback.theory.bounds import Bounds as Bounds
    from channelcode.feedback.theory.bounds import bounds as bounds
    from channelcode.feedback.theory.enumeration import Enumeration as Enumeration
    from channelcode.feedback.theory.enumeration import enumerate_outputs as enumerate_outputs
    from channelcode.feedback.theory.expectation import ExpectedUses as ExpectedUses
    from channelcode.feedback.theory.expectation import expected_uses as expected_uses
    from channelcode.feedback.theory.fixed_points import FixedPoints as FixedPoints
    from channelcode.feedback.theory.fixed_points import fixed_points as fixed_points
    from channelcode.feedback.transcript import Transcript as Transcript
    from channelcode.feedback.transcript import transmit as transmit
else:
    attach(
        __name__,
        {
            "burnashev_zigangirov": "BinState BurnashevZigangirov",
            "choices": "Confidence Cuts Dithered Rounded Shifted Stop Uses",
            "groups.state": "GroupState",
            "horstein": "Horstein",
            "intervals.state": "Intervals MatchingState",
            "ordered_partition": "OrderedPartition",
            "posterior_matching": "PosteriorMatching",
            "schalkwijk_kailath": "PointState SchalkwijkKailath",
            "scheme": "LetterScheme Scheme State",
            "smallest_difference": "SmallestDifference",
            "theory.bounds": "Bounds bounds",
            "theory.enumeration": "Enumeration enumerate_outputs",
            "theory.expectation": "ExpectedUses expected_uses",
            "theory.fixed_points": "FixedPoints fixed_points",
            "transcript": "Transcript transmit",
        },
    )
