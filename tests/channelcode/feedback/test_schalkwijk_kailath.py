from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode import BinarySymmetric, InvalidArgument
from channelcode.feedback import Confidence, SchalkwijkKailath, Uses, transmit


@pytest.fixture(scope="module")
def golden(reference):
    return reference("feedback")["sk"]


def test_error_probability_against_mpmath(golden):
    for row in golden["pam"]:
        scheme, exact = SchalkwijkKailath(row["snr"]), mpmath.mpf(row["error"])
        asked = {"messages": row["M"], "uses": row["n"]}
        # log_ndtr is right to a few units of the last place, also where the value underflows
        log = scheme.log_error_probability(**asked)
        assert log == pytest.approx(float(mpmath.log(exact)), rel=1e-13, abs=1e-13)
        if exact > 1e-300:
            # the exponent z^2 / 2 of a small value multiplies the rounding of z
            assert scheme.error_probability(**asked) == pytest.approx(float(exact), rel=3e-13)
    assert SchalkwijkKailath(10.0).error_probability(messages=4, uses=5) == 0.0


def test_closed_form_by_simulation():
    wrong = sum(
        not transmit(SchalkwijkKailath(1.0), seed % 4, messages=4, stop=Uses(4), rng=seed).correct
        for seed in range(3000)
    )
    exact = SchalkwijkKailath(1.0).error_probability(messages=4, uses=4)
    assert abs(wrong / 3000 - exact) < 4 * np.sqrt(exact / 3000)


def test_trajectories(golden):
    for snr, path in golden["trajectory"].items():
        scheme = SchalkwijkKailath(float(snr))
        state = scheme.start()
        for place, noise in enumerate(path["noise"]):
            sent = scheme.encode(state, path["theta"])
            # the difference theta - mean of nearly equal numbers is scaled up by sqrt(snr / v)
            assert sent == pytest.approx(path["inputs"][place], rel=1e-9, abs=1e-12)
            state = scheme.update(state, path["inputs"][place] + noise)
            assert state.mean == pytest.approx(path["means"][place], abs=1e-13)
            assert state.variance == pytest.approx(path["variances"][place], rel=1e-13)
            assert state.quantile(0.5) == state.mean


def test_it_is_posterior_matching():
    """The input is F*^-1(F(theta)): normal of variance snr whatever was heard."""
    from scipy.special import ndtr, ndtri

    scheme = SchalkwijkKailath(2.0)
    state = scheme.update(scheme.update(scheme.start(), 1.1), -0.4)
    for theta in (-0.3, 0.2, 0.9):
        level = ndtr((theta - state.mean) / np.sqrt(state.variance))
        assert scheme.encode(state, theta) == pytest.approx(np.sqrt(2.0) * ndtri(level), rel=1e-9)


def test_messages_among_many():
    run = transmit(SchalkwijkKailath(1.0), 77, messages=2**8, stop=Confidence(1e-6), rng=0)
    assert run.correct
    assert run.loss_bits is None
    assert run.replay() == run
    final = list(run.states())[-1]
    assert final.probability == pytest.approx(1.0)
    assert final.entropy_bits == pytest.approx(0.0, abs=1e-4)
    begin = SchalkwijkKailath(1.0).start(messages=8)
    assert (begin.entropy_bits, begin.probability, begin.error_bound) == (3.0, 0.125, 0.875)


def test_bad_arguments_say_what_to_do():
    for snr in (0.0, -1.0, float("inf"), "a"):
        with pytest.raises(InvalidArgument, match="snr"):
            SchalkwijkKailath(snr)  # type: ignore[arg-type]
    scheme = SchalkwijkKailath(1.0)
    with pytest.raises(InvalidArgument, match="send it in parts"):
        scheme.start(messages=2**60)
    with pytest.raises(InvalidArgument, match="last digit of a float"):
        transmit(scheme, 0.3, stop=Uses(500), rng=0)
    with pytest.raises(InvalidArgument, match="message must be one of"):
        scheme.encode(scheme.start(messages=4), 4)
    with pytest.raises(InvalidArgument, match="output"):
        scheme.update(scheme.start(), float("nan"))
    with pytest.raises(InvalidArgument, match="channel must be left out"):
        transmit(scheme, 0.3, stop=Uses(2), rng=0, channel=BinarySymmetric(0.1))
    with pytest.raises(InvalidArgument, match="finitely many messages"):
        _ = scheme.start().error_bound
