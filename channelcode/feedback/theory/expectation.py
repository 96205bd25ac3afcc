"""The mean number of uses until a stop: exact for few messages, simulated with its error else."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, sqrt
from typing import Any

import numpy as np

from channelcode._validation import Seed, as_generator, integer
from channelcode.errors import InvalidArgument, NotConverged
from channelcode.feedback.choices import Confidence, Shifted, Stop, Uses, as_stop
from channelcode.feedback.group_code import GroupCode
from channelcode.feedback.groups.combinadics import weight_counts
from channelcode.feedback.posterior_matching import PosteriorMatching
from channelcode.feedback.scheme import Scheme, message_count
from channelcode.feedback.theory.lattice import Exact, Shape, carried, shape_of
from channelcode.feedback.transcript import transmit

EXACT_MESSAGES = 32
EXACT_SHAPES = 20_000  # of groups; a posterior in intervals is slower to carry
EXACT_INTERVALS = 2_000
EXACT_USES = 2_000
GROUP_RUNS, PLAIN_RUNS = 100_000, 2_000
LEVELS = 16_384  # disagreements, and uses, that a compiled run may reach
MOST_COUNT_BITS = 1000  # counts are floats there


@dataclass(frozen=True)
class ExpectedUses:
    """The mean number of uses, its standard error (0 when exact) and how it was found.

    `error` is the probability of a wrong decision; `runs` is 0 when exact; `rate_bits` is log2 M
    over the mean; `uncertainty` bounds the error of an exact mean, from the mass that was dropped.
    """

    mean: float
    standard_error: float
    error: float
    runs: int
    messages: int
    uncertainty: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the mean was computed and not simulated."""
        return self.runs == 0

    @property
    def rate_bits(self) -> float:
        """log2 of the number of messages over the mean number of uses."""
        return log2(self.messages) / self.mean if self.mean else float("inf")


def expected_uses(
    scheme: Scheme, messages: int, *, stop: Stop, runs: int | None = None, rng: Seed = 0
) -> ExpectedUses:
    """The mean number of uses of `scheme` with equally likely messages until `stop`.

    Exact where the posteriors take few shapes (few messages on a lattice); simulated otherwise, or
    when `runs` is given. Codes in groups are simulated by counts alone, compiled.

    >>> from channelcode.feedback import Confidence, OrderedPartition
    >>> found = expected_uses(OrderedPartition(0.05), 8, stop=Confidence(1e-3))
    >>> round(found.mean, 6), found.standard_error
    (5.813146, 0.0)
    """
    if not isinstance(scheme, Scheme):
        raise InvalidArgument("scheme", "must be a scheme such as Horstein(0.1)", scheme)
    count, rule = message_count(messages), as_stop(stop)
    if runs is not None:
        runs = integer("runs", runs, least=2)
    if isinstance(rule, Uses):
        scheme.start(messages=count)
        return ExpectedUses(float(rule.n), 0.0, float("nan"), 0, count)
    if runs is None and count <= EXACT_MESSAGES:
        found = _exact(scheme, count, rule)
        if found is not None:
            # what was dropped would have ended within a few hundred uses
            slack = found.dropped * 1000.0
            return ExpectedUses(found.mean, 0.0, found.error, 0, count, slack)
    generator = as_generator(rng)
    if isinstance(scheme, GroupCode) and isinstance(rule, Confidence):
        bits = count.bit_length() - 1
        if bits <= MOST_COUNT_BITS:
            return _counted(scheme, count, rule, runs or GROUP_RUNS, generator)
    return _simulated(scheme, count, rule, runs or PLAIN_RUNS, generator)


def _exact(scheme: Scheme, messages: int, stop: Stop) -> Exact | None:
    if isinstance(scheme, GroupCode):
        start = shape_of(scheme, messages)
        return carried(
            start, stop, Shape.key, Shape.after, Shape.predictive,
            most_shapes=EXACT_SHAPES, most_uses=EXACT_USES,
        )  # fmt: skip
    if not isinstance(scheme, PosteriorMatching) or isinstance(scheme.cuts, Shifted):
        return None
    begin = scheme.start(messages=messages)
    if begin._core.bits:
        return None  # a dithered message has no lattice

    def key(state: Any) -> Any:
        ends, masses = state.intervals
        return ends, tuple(np.round(masses, 12).tolist())

    return carried(
        begin, stop, key, scheme.update, scheme.predictive,
        most_shapes=EXACT_INTERVALS, most_uses=EXACT_USES,
    )  # fmt: skip


def _counted(
    scheme: GroupCode, messages: int, stop: Confidence, runs: int, rng: np.random.Generator
) -> ExpectedUses:
    """Compiled runs by counts of messages per level."""
    from channelcode._kernels.feedback_groups import simulate_groups

    scheme.start(messages=messages)  # refuses what it cannot start with
    e = scheme.crossover
    if scheme.systematic:
        bits = messages.bit_length() - 1
        counts = np.array([float(c) for c in weight_counts(bits)])
        levels = np.arange(bits + 1)
        with np.errstate(under="ignore"):
            law = counts * np.exp(levels * np.log(e) + (bits - levels) * np.log1p(-e))
        first = bits
    else:
        counts, law, first = np.array([float(messages)]), np.ones(1), 0
    if scheme.systematic and _ends_early(scheme, messages, stop):
        return _simulated(scheme, messages, stop, min(runs, PLAIN_RUNS), rng)
    with np.errstate(under="ignore"):
        powers = np.exp2(scheme.log_ratio * np.arange(LEVELS))
    seeds = rng.integers(0, 2**64, size=runs, dtype=np.uint64)
    uses, wrong, _ = simulate_groups(
        counts, np.cumsum(law), powers, e, stop.error, first, scheme.partition.code, seeds, LEVELS
    )
    if (uses < 0).any():
        raise NotConverged(f"a run did not end within {LEVELS} uses: raise the error of the stop")
    return _summary(uses.astype(float), float(wrong.mean()), messages)


def _ends_early(scheme: GroupCode, messages: int, stop: Confidence) -> bool:
    """Whether the stop may come before all bits were sent: only for errors near one."""
    bits = messages.bit_length() - 1
    state = scheme.start(messages=messages)
    for _ in range(bits):
        if stop.done(state):
            return True
        state = scheme.update(state, 0)
    return False


def _simulated(
    scheme: Scheme, messages: int, stop: Stop, runs: int, rng: np.random.Generator
) -> ExpectedUses:
    uses, wrong = np.empty(runs), 0
    size = (messages.bit_length() + 63) // 64
    for run in range(runs):
        words = rng.integers(0, 2**64, size=size + 1, dtype=np.uint64)
        message = int.from_bytes(words.tobytes(), "little") % messages  # bias below 2^-64
        found = transmit(scheme, message, messages=messages, stop=stop, rng=rng)
        uses[run], wrong = found.uses, wrong + (not found.correct)
    return _summary(uses, wrong / runs, messages)


def _summary(uses: Any, wrong: float, messages: int) -> ExpectedUses:
    spread = float(uses.std(ddof=1)) / sqrt(len(uses))
    return ExpectedUses(float(uses.mean()), spread, wrong, len(uses), messages)
