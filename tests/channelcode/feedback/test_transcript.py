from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from channelcode import DiscreteChannel, DiscreteMeasure, InvalidArgument, NotConverged
from channelcode.feedback import (
    Confidence,
    Horstein,
    PosteriorMatching,
    Shifted,
    Uses,
    transmit,
)

DOUBLED = DiscreteChannel([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.1, 0.9]])


def test_what_a_transcript_holds():
    run = transmit(Horstein(0.11), 2024, messages=2**16, stop=Confidence(1e-3), rng=1)
    assert run.decoded == 2024
    assert run.correct
    assert run.rate_bits == 16 / run.uses
    assert run.error_bound is not None
    assert run.error_bound <= 1e-3
    assert run.loss_bits is not None
    assert run.gain_bits is not None
    assert len(run.loss_bits) == len(run.gain_bits) == run.uses
    np.testing.assert_allclose(run.loss_bits + run.gain_bits, run.scheme.information_bits)
    assert run.information_bits == pytest.approx(run.gain_bits.sum())
    # what the posterior says of the truth at the end
    assert run.truth_bits[-1] == pytest.approx(16 + np.log2(1 - run.error_bound), abs=1e-9)
    assert len(list(run.states())) == run.uses + 1


def test_replay_finds_a_changed_record():
    run = transmit(Horstein(0.11), 5, messages=2**10, stop=Uses(30), rng=1)
    assert run.replay() == run
    other = tuple(1 - y for y in run.outputs)
    with pytest.raises(InvalidArgument, match="replay differs"):
        replace(run, outputs=other).replay()
    with pytest.raises(InvalidArgument, match="must last until the stop"):
        replace(run, outputs=run.outputs[:10]).replay()


def test_seeds_repeat():
    first = transmit(Horstein(0.2), 7, messages=64, stop=Uses(40), rng=3)
    assert transmit(Horstein(0.2), 7, messages=64, stop=Uses(40), rng=3).outputs == first.outputs
    second = transmit(Horstein(0.2), 7, messages=64, stop=Uses(40), rng=4)
    assert second.outputs != first.outputs


def test_it_does_not_run_for_ever():
    """Letters in the order 0, 1, 0, 1: both messages always send the same kind of letter."""
    law = DiscreteMeasure(range(4), [0.25] * 4)
    with pytest.raises(NotConverged, match="fixed_points") as caught:
        transmit(PosteriorMatching(DOUBLED, input=law), 1, messages=2, stop=Confidence(1e-6), rng=0)
    assert caught.value.result.error_bound == 0.5
    with pytest.raises(NotConverged):
        transmit(
            PosteriorMatching(DOUBLED, input=law, cuts=Shifted()),
            1, messages=2, stop=Confidence(1e-6), rng=0,
        )  # fmt: skip
    run = transmit(
        PosteriorMatching(DOUBLED, input=law), 1, messages=2, stop=Confidence(1e-6) | Uses(9), rng=0
    )
    assert run.uses == 9


def test_bad_arguments():
    with pytest.raises(InvalidArgument, match="scheme"):
        transmit("horstein", 1, messages=2, stop=Uses(1))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="stop"):
        transmit(Horstein(0.1), 1, messages=2, stop=1e-3)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="never known for certain"):
        transmit(Horstein(0.1), 0.25, stop=Uses(3) | Confidence(0.1))
    with pytest.raises(InvalidArgument, match="message must be one of"):
        transmit(Horstein(0.1), 4, messages=4, stop=Uses(0))
    with pytest.raises(InvalidArgument, match="rng"):
        transmit(Horstein(0.1), 1, messages=4, stop=Uses(1), rng="x")  # type: ignore[arg-type]
    run = transmit(Horstein(0.1), 0.25, stop=Uses(3), rng=0)
    assert run.error_bound is None
    with pytest.raises(InvalidArgument, match="rate_bits"):
        _ = run.rate_bits
