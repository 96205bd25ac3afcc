from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import InvalidArgument
from channelcode.feedback import BurnashevZigangirov, Confidence, Uses, transmit


def exact_error(bins: int, crossover: Fraction, alpha: Fraction, uses: int) -> Fraction:
    """All answers and draws in rationals; the estimate is the first bin that reaches one half."""
    half = Fraction(1, 2)

    def median(law):
        total = Fraction(0)
        for place, mass in enumerate(law):
            total += mass
            if total >= half:
                return place, total
        raise ValueError(law)

    start = (Fraction(1, bins),) * bins
    alive = {start: start}
    for _ in range(uses):
        following: dict = {}
        for law, joint in alive.items():
            place, total = median(law)
            chance = (total - half) / law[place]
            for query, likely in ((place, chance), (place + 1, 1 - chance)):
                for output in (0, 1) if likely else ():
                    agrees = [(i < query) == (output == 0) for i in range(bins)]
                    after = [m * (1 - alpha if a else alpha) for m, a in zip(law, agrees)]
                    key = tuple(m / sum(after) for m in after)
                    heard = [
                        j * likely * (1 - crossover if a else crossover)
                        for j, a in zip(joint, agrees)
                    ]
                    held = following.get(key, [Fraction(0)] * bins)
                    following[key] = tuple(a + b for a, b in zip(held, heard))
        alive = following
    return sum((sum(j) - j[median(law)[0]] for law, j in alive.items()), Fraction(0))


def test_error_and_bound_against_enumeration(reference):
    for row in reference("feedback")["burnashev_zigangirov"]:
        scheme = BurnashevZigangirov(row["p"], row["bins"], alpha=row["alpha"])
        assert scheme.error_bound(row["n"]) == pytest.approx(row["bound"], rel=1e-13)
        exact = exact_error(
            row["bins"], Fraction(str(row["p"])), Fraction(str(row["alpha"])), row["n"]
        )
        assert scheme.error_probability(row["n"]) == pytest.approx(float(exact), abs=1e-13)
        # From n = 6 on the stored figures decide exact ties of the median by the rounding of each
        # path (up to 4e-4); the rationals above do not.
        tolerance = 1e-13 if row["n"] <= 4 else 5e-4
        assert scheme.error_probability(row["n"]) == pytest.approx(row["error"], abs=tolerance)


def test_best_alpha_and_mean_imbalance():
    scheme = BurnashevZigangirov(0.1, 8)
    assert scheme.alpha == pytest.approx(0.25)
    assert scheme.error_bound(1) == pytest.approx(7 * (0.5 + np.sqrt(0.09)))
    law = np.array([0.1, 0.25, 0.05, 0.3, 0.3])
    five = BurnashevZigangirov(0.1, 5)
    (left, chance), (right, other) = five.choices(law)
    assert chance * law[:left].sum() + other * law[:right].sum() == pytest.approx(0.5)


def test_noise_below_the_limit_is_borne():
    """True crossover 0.05, limit 0.2: the bound for 0.2 holds."""
    from channelcode import BinarySymmetric

    scheme = BurnashevZigangirov(0.2, 16)
    wrong = sum(
        not transmit(
            scheme, seed % 16, messages=16, stop=Uses(40), rng=seed, channel=BinarySymmetric(0.05)
        ).correct
        for seed in range(300)
    )
    assert scheme.error_bound(40) < 0.3
    assert wrong / 300 <= scheme.error_bound(40)


def test_stop_by_the_proved_bound():
    run = transmit(BurnashevZigangirov(0.1, 64), 33, messages=64, stop=Confidence(1e-3), rng=0)
    assert run.correct
    assert run.error_bound is not None
    assert run.error_bound <= 1e-3
    assert run.uses == 50  # (bins - 1) 0.8^n
    assert run.replay() == run


def test_bad_arguments():
    with pytest.raises(InvalidArgument, match="crossover"):
        BurnashevZigangirov(0.6, 8)
    with pytest.raises(InvalidArgument, match="bins"):
        BurnashevZigangirov(0.1, 1)
    with pytest.raises(InvalidArgument, match="alpha must lie between"):
        BurnashevZigangirov(0.1, 8, alpha=0.05)
    scheme = BurnashevZigangirov(0.1, 8)
    with pytest.raises(InvalidArgument, match="number of bins"):
        scheme.start(messages=9)
    with pytest.raises(InvalidArgument, match="uses must be smaller"):
        scheme.error_probability(30, most=1000)


@given(st.integers(0, 2**32), st.integers(2, 12), st.floats(0.01, 0.49), st.floats(0, 1))
@settings(max_examples=60)
def test_the_step_of_the_proof(seed, bins, crossover, place):
    """E (1 - a)/a of the true bin shrinks by the bound's factor, whatever the law and noise."""
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.full(bins, 10.0 ** rng.uniform(-1, 1)))
    law = np.maximum(law, 1e-6) / np.maximum(law, 1e-6).sum()
    scheme = BurnashevZigangirov(crossover, bins, alpha=crossover + place * (0.499 - crossover))
    factor = scheme.error_bound(1) / scheme.error_bound(0)
    noise = crossover * rng.uniform(0, 1)  # unknown, and never above the crossover
    for message in range(bins):
        odds = 0.0
        for query, chance in scheme.choices(law):
            right = 0 if message < query else 1
            for output, likely in ((right, 1 - noise), (1 - right, noise)):
                mass = scheme.reweighted(law, query, output)[message]
                odds += chance * likely * (1 - mass) / mass
        # masses down to 1e-6 leave six digits of their odds
        assert odds <= factor * (1 - law[message]) / law[message] * (1 + 1e-9)
