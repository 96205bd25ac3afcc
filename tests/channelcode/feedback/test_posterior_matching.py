"""Posterior matching: the exact figures, and the properties P1 to P8 and P12 of the theory."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import (
    BinaryErasure,
    BinarySymmetric,
    Cloglog,
    DiscreteChannel,
    DiscreteMeasure,
    InvalidArgument,
    Logistic,
    Ordinal,
    Power,
    Softmax,
    Unconstrained,
    ZChannel,
    capacity,
)
from channelcode.feedback import (
    Confidence,
    Dithered,
    Horstein,
    PosteriorMatching,
    Rounded,
    Shifted,
    Uses,
    transmit,
)
from tests.channelcode.feedback.oracles import (
    PlainArray,
    channels,
    golden_channel,
    golden_input,
    likely_output,
    mutual_information,
    random_channel,
    rational,
    spread,
)

NAMES = ("bsc_1/10", "bec_1/4", "z_1/2", "ternary_sym_8/10", "ternary_asym")


@pytest.fixture(scope="module")
def figures(reference):
    return reference("feedback")


# --- against exact rationals ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_posterior_agrees_with_exact_rationals(figures, name):
    golden = figures["posterior"][name]
    scheme = PosteriorMatching(golden_channel(figures, name), input=golden_input(golden["input"]))
    state = scheme.start()
    for step in golden["steps"]:
        exact = [float(rational(cut)) for cut in step["cuts"]]
        # 1e-14: cuts are kept to 62 digits, masses carry the rounding of up to 12 products
        np.testing.assert_allclose([float(cut) for cut in state.cuts], exact, atol=1e-14)
        for theta, letter in step["letters"].items():
            assert scheme.encode(state, rational(theta)) == letter
            assert scheme.encode(state, float(rational(theta))) == letter
        state = scheme.update(state, step["y"])
        assert state.quantile(0.5) == pytest.approx(float(rational(step["median"])), abs=1e-14)
    breaks = np.array([float(rational(x)) for x in golden["final_breaks"]])
    density = np.array([float(rational(x)) for x in golden["final_density"]])
    ends, masses = state.intervals
    np.testing.assert_allclose(np.array(ends, dtype=float), breaks, atol=1e-14)
    np.testing.assert_allclose(masses, density * np.diff(breaks), rtol=1e-11, atol=1e-15)
    positive = density > 0
    np.testing.assert_allclose(
        state.log_densities[positive], np.log2(density[positive]), atol=1e-11
    )


@pytest.mark.parametrize("power", ["1", "4", "16"])
def test_logistic_posterior_agrees_with_fifty_digits(figures, power):
    golden = figures["logistic"][power]
    scheme = PosteriorMatching(Logistic(), Power(float(power)))
    assert scheme.information_bits == pytest.approx(float(golden["capacity"]), abs=1e-13)
    np.testing.assert_allclose(scheme.letters, [float(a) for a in golden["atoms"]], rtol=1e-12)
    state = scheme.start()
    for output, median in zip(golden["outputs"], golden["medians"], strict=True):
        assert state.quantile(0.5) == pytest.approx(float(median), abs=1e-14)
        state = scheme.update(state, output)
    ends, masses = state.intervals
    breaks = np.array([float(x) for x in golden["final_breaks"]])
    np.testing.assert_allclose(np.array(ends, dtype=float), breaks, atol=1e-14)
    density = np.array([float(x) for x in golden["final_density"]])
    np.testing.assert_allclose(masses / np.diff(breaks), density, rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_letters_are_the_capacity_achieving_input(figures, name):
    golden = figures["channels"][name]
    scheme = PosteriorMatching(golden_channel(figures, name))
    assert scheme.capacity is not None
    assert scheme.information_bits == pytest.approx(float(golden["information"]), abs=1e-9)
    assert scheme.capacity.certificate.gap < 1e-9


# --- the properties -------------------------------------------------------------------------------


def walk_of(seed):
    """A scheme with a random channel and input, outputs of positive probability, and the state."""
    channel, law = random_channel(seed)
    rng = np.random.default_rng(seed + 1)
    scheme = PosteriorMatching(channel, input=law)
    state = scheme.start()
    outputs = []
    for _ in range(rng.integers(0, 13)):
        outputs.append(likely_output(rng, scheme.predictive(state)))
        state = scheme.update(state, outputs[-1])
    return scheme, outputs, state


def walks():
    return st.integers(0, 2**32).map(walk_of)


FEW = settings(max_examples=30)


@given(walks())
@FEW
def test_p1_letters_have_the_input_law_and_outputs_the_output_law(walk):
    scheme, _, state = walk
    np.testing.assert_allclose(scheme.induced(state), scheme.weights, atol=1e-12)
    np.testing.assert_allclose(scheme.predictive(state), scheme.output, atol=1e-12)


@given(walks())
@FEW
def test_p2_intervals_and_densities(walk):
    scheme, outputs, state = walk
    ends, masses = state.intervals
    assert ends[0] == 0
    assert ends[-1] == 1
    assert all(low < high for low, high in pairwise(ends))
    assert len(masses) <= 1 + (len(scheme.weights) - 1) * len(outputs)
    assert masses.sum() == pytest.approx(1.0, abs=1e-12)
    for low, high, mass in zip(ends, ends[1:], masses, strict=False):
        middle, density, past = (low + high) / 2, 1.0, scheme.start()
        for output in outputs:  # the product formula, at one point of each interval
            letter = scheme.letter(past, middle)
            density *= scheme.matrix[letter, output] / scheme.output[output]
            past = scheme.update(past, output)
        # 1e-10: a cut is placed to 1e-14 of the mass, which a short interval feels
        assert mass == pytest.approx(density * float(high - low), rel=1e-10, abs=1e-13)


@given(walks(), st.fractions(0, 1))
@FEW
def test_p3_the_mass_of_a_fixed_set_is_a_martingale(walk, end):
    scheme, _, state = walk

    def below(current):
        ends, masses = current.intervals
        known = np.concatenate(([0.0], np.cumsum(masses)))
        return float(np.interp(float(end), np.array(ends, dtype=float), known))

    after = 0.0
    for output, chance in enumerate(scheme.predictive(state)):
        if chance > 0:
            after += chance * below(scheme.update(state, output))
    assert after == pytest.approx(below(state), abs=1e-12)


@given(channels(), st.integers(2, 50), st.integers(0, 2**32))
@FEW
def test_p7_rounded_cuts_agree_with_the_plain_array(pair, messages, seed):
    channel, law = pair
    rng = np.random.default_rng(seed)
    scheme = PosteriorMatching(channel, input=law)
    state = scheme.start(messages=messages)
    array = PlainArray(scheme.matrix, messages)
    quantiles = np.cumsum(scheme.weights)[:-1]
    for _ in range(rng.integers(1, 16)):
        letters = array.letters(state.cuts)
        assert [scheme.letter(state, i) for i in range(messages)] == letters.tolist()
        known = np.concatenate(([0.0], np.cumsum(array.law)))
        for cut, quantile in zip(state.cuts, quantiles, strict=True):
            distance = np.abs(known - quantile)
            left = known[int(np.argmin(distance))]
            if 1 / 31 < left < 30 / 31:  # where no cut was moved to keep a letter in use
                assert distance[cut] <= distance.min() + 1e-12
        # P1: within one message's mass
        induced = np.bincount(letters, array.law, len(law))
        np.testing.assert_allclose(scheme.induced(state), induced, atol=1e-12)
        assert np.abs(induced - scheme.weights).max() <= array.law.max() + 1e-12
        chances = array.predictive(letters)
        output = likely_output(rng, chances)
        array.update(letters, output)
        state = scheme.update(state, output)
        np.testing.assert_allclose(spread(state.intervals), array.law, rtol=1e-9, atol=1e-14)
        assert array.law[state.best] == pytest.approx(array.law.max(), abs=1e-12)
        assert state.probability == pytest.approx(array.law.max(), abs=1e-12)
        assert state.error_bound == pytest.approx(1 - array.law.max(), abs=1e-12)
        positive = array.law[array.law > 0]
        entropy = -(positive * np.log2(positive)).sum()
        assert state.entropy_bits == pytest.approx(entropy, abs=1e-10)
        place = state.quantile(0.37)
        known = np.concatenate(([0.0], np.cumsum(array.law)))
        assert known[place] <= 0.37 + 1e-12
        assert known[place + 1] >= 0.37 - 1e-12


@given(channels(), st.integers(2, 20), st.integers(0, 2**32))
@FEW
def test_p7_dithered_cells_agree_with_a_fine_array(pair, messages, seed):
    channel, law = pair
    rng = np.random.default_rng(seed)
    scheme = PosteriorMatching(channel, input=law, cuts=Dithered(3))
    state, continuous = scheme.start(messages=messages), scheme.start()
    for _ in range(rng.integers(0, 11)):
        output = likely_output(rng, scheme.predictive(state))
        state, continuous = scheme.update(state, output), scheme.update(continuous, output)
    np.testing.assert_allclose(scheme.induced(state), scheme.weights, atol=1e-12)
    ends, masses = continuous.intervals
    known = np.concatenate(([0.0], np.cumsum(masses)))
    cells = np.diff(
        np.interp(np.arange(messages + 1) / messages, np.array(ends, dtype=float), known)
    )
    assert cells[state.best] == pytest.approx(cells.max(), abs=1e-11)
    assert state.probability == pytest.approx(cells.max(), abs=1e-11)
    assert state.error_bound == pytest.approx(1 - cells.max(), abs=1e-11)
    positive = cells[cells > 1e-13]
    assert state.entropy_bits == pytest.approx(-(positive * np.log2(positive)).sum(), abs=1e-8)


@given(channels(), st.integers(2, 30), st.integers(0, 2**32))
@FEW
def test_shifts_keep_the_input_law_and_agree_with_the_plain_array(pair, messages, seed):
    channel, law = pair
    rng = np.random.default_rng(seed)
    scheme = PosteriorMatching(channel, input=law, cuts=Shifted(5))
    state, exact = scheme.start(messages=messages), scheme.start()
    array = PlainArray(scheme.matrix, messages)
    for _ in range(rng.integers(1, 9)):
        letters = np.array([scheme.letter(state, i) for i in range(messages)])
        np.testing.assert_allclose(
            scheme.induced(state), np.bincount(letters, array.law, len(law)), atol=1e-12
        )
        np.testing.assert_allclose(scheme.induced(exact), scheme.weights, atol=1e-12)
        chances = array.predictive(letters) * scheme.predictive(exact)
        if not (chances > 1e-6).any():
            break
        output = likely_output(rng, chances)
        array.update(letters, output)
        state, exact = scheme.update(state, output), scheme.update(exact, output)
        np.testing.assert_allclose(spread(state.intervals), array.law, rtol=1e-9, atol=1e-13)


@given(walks(), st.integers(0, 2**32))
@FEW
def test_p5_names_of_outputs_and_letters_do_not_matter(walk, seed):
    scheme, outputs, state = walk
    rng = np.random.default_rng(seed)
    order = rng.permutation(scheme.matrix.shape[1]).tolist()
    names = rng.permutation(len(scheme.weights)).tolist()
    matrix = np.empty_like(scheme.matrix)
    matrix[names] = scheme.matrix[:, order]
    other = PosteriorMatching(DiscreteChannel(matrix), input=DiscreteMeasure(names, scheme.weights))
    again = other.start()
    for output in outputs:
        again = other.update(again, order.index(output))
    ends, masses = (np.array(part, dtype=float) for part in state.intervals)
    # sums in another order: the last digits of a cut differ, and short intervals feel it
    np.testing.assert_allclose(np.array(again.intervals.ends, dtype=float), ends, atol=1e-13)
    np.testing.assert_allclose(again.intervals.masses, masses, atol=1e-12)


@given(walks(), st.integers(0, 2**32))
@FEW
def test_p12_a_state_may_have_several_futures(walk, seed):
    scheme, _, state = walk
    before, rng = state.intervals, np.random.default_rng(seed)
    first = likely_output(rng, scheme.predictive(state))
    second = likely_output(rng, scheme.predictive(state))
    one, other = scheme.update(state, first), scheme.update(state, second)
    assert scheme.update(state, first).intervals.ends == one.intervals.ends
    assert state.intervals.ends == before.ends
    np.testing.assert_array_equal(state.intervals.masses, before.masses)
    assert (one.time, other.time, state.time + 1) == (one.time, one.time, one.time)
    with pytest.raises(AttributeError):
        state.time = 3


@given(channels(), st.integers(1, 80), st.integers(0, 2**32))
@FEW
def test_p6_both_ends_agree_and_p8_the_loss_is_recomputed(pair, bits, seed):
    channel, law = pair
    scheme = PosteriorMatching(channel, input=law)
    message = np.random.default_rng(seed).integers(2**63).item() % 2**bits
    run = transmit(scheme, message, messages=2**bits, stop=Uses(20), rng=seed)
    assert run.replay() == run
    assert run.loss_bits is not None
    full = mutual_information(scheme.weights, scheme.matrix)
    for induced, loss in zip(run.induced, run.loss_bits, strict=True):
        known = mutual_information(np.array(induced), scheme.matrix)
        assert loss == pytest.approx(full - known, abs=1e-12)


def test_p8_at_capacity_the_loss_is_the_divergence_of_the_outputs():
    scheme = PosteriorMatching(DiscreteChannel([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0, 0.2, 0.8]]))
    run = transmit(scheme, 77, messages=2**8, stop=Confidence(1e-6), rng=0)
    outputs = np.array(run.induced) @ scheme.matrix
    terms = np.where(outputs > 0, outputs * np.log2(outputs / scheme.output), 0.0)
    np.testing.assert_allclose(run.loss_bits, terms.sum(axis=1), atol=2e-9)  # the solver's gap
    assert scheme.capacity is not None
    rates = scheme.capacity.bits - np.array(run.gain_bits)
    np.testing.assert_allclose(run.loss_bits, rates, atol=1e-12)


# --- special cases --------------------------------------------------------------------------------


def test_p5_bsc_is_horstein_and_the_logistic_channel_is_a_bsc():
    logistic = PosteriorMatching(Logistic(), Power(4.0))
    special = Horstein.at_power(4.0)
    plain = PosteriorMatching(BinarySymmetric(special.crossover))
    outputs = np.random.default_rng(0).integers(0, 2, 60).tolist()
    states = [scheme.start() for scheme in (logistic, special, plain)]
    for output in outputs:
        assert states[1].cuts[0] == pytest.approx(states[0].cuts[0], abs=1e-12)
        medians = [state.quantile(0.5) for state in states]
        assert medians == pytest.approx([float(states[1].cuts[0])] * 3, abs=1e-9)
        states = [
            scheme.update(state, output)
            for scheme, state in zip((logistic, special, plain), states, strict=True)
        ]


def test_binary_erasure_is_bisection():
    scheme = PosteriorMatching(BinaryErasure(0.25))
    state = scheme.start()
    for output, cut in zip((0, 1, 2, 2), (Fraction(1, 2), *[Fraction(1, 4)] * 2, Fraction(3, 8))):
        assert state.cuts == (cut,)
        state = scheme.update(state, output)
    assert state.entropy_bits == -3.0


@pytest.mark.parametrize(
    ("channel", "power"), [(Ordinal((-1.0, 1.0)), 4.0), (Softmax(3), 4.0), (Cloglog(), 4.0)]
)
def test_channels_of_the_library_decode(channel, power):
    scheme = PosteriorMatching(channel, Power(power))
    wrong = 0
    for seed in range(20):
        run = transmit(scheme, 10**6 + seed, messages=2**30, stop=Confidence(1e-3), rng=seed)
        wrong += not run.correct
    assert wrong <= 1  # twenty runs at 1e-3 each: two are wrong with probability 2e-4


def test_message_sets_beyond_every_float():
    scheme = Horstein(0.11)
    message = 3 ** (4096 * 30 // 48)
    run = transmit(scheme, message, messages=2**4096, stop=Confidence(1e-9), rng=1)
    assert run.correct
    assert run.information_bits == pytest.approx(4096, rel=0.05)
    final = list(run.states())[-1]
    assert final.error_bound == run.error_bound
    assert len(final.intervals.masses) <= 1 + run.uses


def test_masses_far_below_a_float_come_back():
    scheme = Horstein(0.1)
    state = scheme.start(messages=2)
    for output in [0] * 3000 + [1] * 3001:
        state = scheme.update(state, output)
    assert state.best == 1
    assert state.probability == pytest.approx(0.9, abs=1e-9)


def test_rounded_cuts_never_ask_the_same_useless_question_for_ever():
    """Nearest to 0.42 lies the boundary left of a message with nearly all the mass, always."""
    scheme = PosteriorMatching(Cloglog(), Power(4.0))
    for seed in range(5):
        run = transmit(scheme, 10**6, messages=2**30, stop=Confidence(1e-6), rng=seed)
        assert run.uses < 400
    last = PosteriorMatching(ZChannel(0.5))
    assert transmit(last, 1, messages=2, stop=Confidence(1e-6), rng=0).correct


@pytest.mark.slow
def test_natural_order_agrees_with_the_simulated_means(figures):
    made = {
        "bsc_0.05": Horstein(0.05),
        "z_1/2": PosteriorMatching(ZChannel(0.5)),
        "ternary_asym": PosteriorMatching(golden_channel(figures, "ternary_asym")),
        "logistic_P4": PosteriorMatching(Logistic(), Power(4.0)),
    }
    for golden in figures["stopping_simulated_natural_order"]:
        scheme, bits = made[golden["channel"]], golden["k"]
        rng = np.random.default_rng(11)
        uses = [
            transmit(
                scheme, int(rng.integers(2**bits)), messages=2**bits, stop=Confidence(1e-3), rng=rng
            ).uses
            for _ in range(2000)
        ]
        error = np.hypot(np.std(uses) / np.sqrt(2000), golden["standard_error"])
        assert abs(np.mean(uses) - golden["mean"]) < 4 * error


# --- the boundary ---------------------------------------------------------------------------------


def test_a_float_message_says_when_it_is_used_up():
    scheme = Horstein(0.1)
    with pytest.raises(InvalidArgument, match=r"a float carries 53 bits.*Fraction"):
        transmit(scheme, 0.3, stop=Uses(500), rng=0)
    run = transmit(scheme, Fraction(3, 10), stop=Uses(500), rng=0)
    assert abs(run.decoded - Fraction(3, 10)) < Fraction(1, 2**200)


@pytest.mark.parametrize("message", [-1, 16, 2.0, "3", True, None])
def test_messages_out_of_range(message):
    scheme = Horstein(0.1)
    with pytest.raises(InvalidArgument, match="message"):
        scheme.encode(scheme.start(messages=16), message)


@pytest.mark.parametrize("message", [-0.1, 1.0, float("nan"), "a", True, 1, None, Fraction(3, 2)])
def test_continuous_messages_out_of_range(message):
    scheme = Horstein(0.1)
    with pytest.raises(InvalidArgument, match="message"):
        scheme.encode(scheme.start(), message)


def test_bad_arguments_say_what_to_do():
    with pytest.raises(InvalidArgument, match=r"constraint must limit .* give Power"):
        PosteriorMatching(Logistic())
    with pytest.raises(InvalidArgument, match="channel must be a channel"):
        PosteriorMatching("bsc")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="cuts"):
        PosteriorMatching(ZChannel(0.5), cuts="rounded")  # type: ignore[arg-type]
    law = DiscreteMeasure([0.0, 1.0], [0.5, 0.5])
    with pytest.raises(InvalidArgument, match="constraint must be left out"):
        PosteriorMatching(ZChannel(0.5), Unconstrained(), input=law)
    with pytest.raises(InvalidArgument, match="input must be a DiscreteMeasure"):
        PosteriorMatching(ZChannel(0.5), input=[0.5, 0.5])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="input must live in R"):
        PosteriorMatching(Softmax(3), input=law)
    scheme = PosteriorMatching(ZChannel(0.5), input=law)
    for messages in (0, 1, 2.5, -4, True):
        with pytest.raises(InvalidArgument, match="messages"):
            scheme.start(messages=messages)  # type: ignore[arg-type]
    for output in (2, -1, 0.5, "0"):
        with pytest.raises(InvalidArgument, match="output"):
            scheme.update(scheme.start(), output)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="u must lie"):
        scheme.start().quantile(1.5)
    with pytest.raises(InvalidArgument, match="error_bound needs finitely many"):
        _ = scheme.start().error_bound


def test_an_output_of_probability_zero():
    scheme = PosteriorMatching(ZChannel(0.5))
    state = scheme.start(messages=2)
    after = scheme.update(state, 1)  # only the letter 1 can cause it
    assert after.error_bound == 0.0
    cut_off = PosteriorMatching(
        DiscreteChannel([[1.0, 0.0], [1.0, 0.0]]), input=DiscreteMeasure([0, 1], [0.5, 0.5])
    )
    with pytest.raises(InvalidArgument, match="probability zero"):
        cut_off.update(cut_off.start(messages=4), 1)
    three = DiscreteChannel([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    flat = PosteriorMatching(three, input=DiscreteMeasure([0, 1, 2], [0.2, 0.3, 0.5]))
    with pytest.raises(InvalidArgument, match="probability zero"):
        flat.update(flat.start(), 1)


def test_scheme_from_a_known_capacity():
    known = capacity(Logistic(), Power(4.0))
    scheme = PosteriorMatching.from_capacity(known)
    assert scheme.capacity is known
    assert scheme.encode(scheme.start(), 0.75) == 2.0
    assert isinstance(scheme.cuts, Rounded)


def test_states_go_to_a_pickle_however_deep_they_are():
    for scheme in (Horstein(0.11), PosteriorMatching(Softmax(3), Power(4.0))):
        state, rng = scheme.start(messages=2**1500), np.random.default_rng(0)
        for _ in range(1500):
            state = scheme.update(state, int(rng.integers(scheme.matrix.shape[1])))
        again = pickle.loads(pickle.dumps(state))
        assert (again.cuts, again.time, again.messages) == (state.cuts, 1500, 2**1500)
        assert again.intervals.ends == state.intervals.ends
        assert scheme.update(again, 1).cuts == scheme.update(state, 1).cuts
