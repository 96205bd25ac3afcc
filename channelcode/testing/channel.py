"""The contract of a channel."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from channelcode._validation import Array, Seed, as_generator
from channelcode.channels import Channel
from channelcode.channels.base import numerical_derivatives
from channelcode.channels.tails import broken_promise
from channelcode.testing.inputs import sweep, sweep_space
from channelcode.testing.verdict import attempt, expect_refusal, fail, where

TOTAL_ATOL = 1e-9  # log-probabilities of many outputs, each to rounding, summed
DERIVATIVE_RTOL = 1e-5  # the numerical derivative is good to 1e-6 of the size of the result
DRAWS = 4000
DEVIATIONS = 6.0  # of a frequency from its probability: one false alarm in a billion
_MODERATE = np.array([-7.3, -3.1, -1.4, -0.6, 0.0, 0.2, 0.9, 2.3, 5.7])


def check_channel(channel: Channel, *, require_finite: bool = False, rng: Seed = 0) -> None:
    """Raise AssertionError, saying what to mend, unless `channel` keeps the contract of a channel.

    About ten thousand inputs of every size up to 1e30 are tried: log-probabilities that are real,
    no NaN, no more than zero and sum to one; derivatives and promises (`Channel.tails`) that agree
    with them. On a few: shapes for single inputs and batches, one answer for one input, sampling,
    entropies and divergences, refusal of bad input, inputs left as they were, pickling where it is
    possible. A fault confined to inputs narrower than about 0.002 may slip through.

    A log-probability of -inf says that an output is impossible and is allowed (a response that
    saturates has some); with `require_finite` it is not, up to |l| = 1e4.

    A channel with a `support` and a `log_density` is asked for totals, broadcasting, samples and
    refusals instead.

    >>> from channelcode import Logistic
    >>> check_channel(Logistic())
    """
    if not isinstance(channel, Channel):
        fail(channel, "must be an instance of channelcode.Channel (an instance, not the class)")
    generator = as_generator(rng)
    if channel.support is not None:
        from channelcode.testing.density import check_density

        check_density(channel, generator)
        return
    _check_attributes(channel)
    moderate, everywhere = _inputs(channel, generator)
    _check_unmodified(channel, moderate)
    _check_shapes(channel, moderate)
    _check_totals(channel, everywhere, require_finite)
    _check_answers(channel, moderate)
    _check_sampling(channel, moderate, generator)
    _check_information(channel, moderate)
    _check_derivatives(channel, moderate, everywhere)
    _check_promise(channel)
    _check_bad_input(channel, moderate)
    _check_pickling(channel, moderate)


def _check_attributes(channel: Channel) -> None:
    for name, least in (("dim", 1), ("num_outputs", 1)):
        value = getattr(channel, name, None)
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            fail(channel, f"{name} must be an integer of at least {least}, not {value!r}")


def _inputs(channel: Channel, rng: np.random.Generator) -> tuple[Array, Array]:
    """A few moderate inputs and many of all sizes, `(m,)` or `(m, dim)`; the letters if finite."""
    if channel.inputs is not None:
        return channel.inputs, channel.inputs
    if channel.dim == 1:
        return _MODERATE.copy(), sweep(rng, channel.num_outputs)
    directions = rng.standard_normal((len(_MODERATE), channel.dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    everywhere = sweep_space(rng, channel.dim, channel.num_outputs)
    return directions * _MODERATE[:, None], everywhere


def _logs(channel: Channel, inputs: Any) -> Array:
    return attempt(
        channel,
        f"log_prob of an array of shape {np.shape(inputs)}",
        lambda: channel.log_prob(inputs),
    )


def _check_unmodified(channel: Channel, inputs: Array) -> None:
    given = np.array(inputs)
    first = _logs(channel, given)
    if not np.array_equal(given, inputs):
        fail(channel, "log_prob must not write into its argument")
    kept = first.copy()
    _logs(channel, inputs[::-1])
    if not np.array_equal(first, kept, equal_nan=True):
        fail(channel, "log_prob must return a new array each time, not one that it fills again")
    if not np.array_equal(_logs(channel, inputs), kept, equal_nan=True):
        fail(channel, "log_prob must give the same answer for the same input")


def _check_shapes(channel: Channel, inputs: Array) -> None:
    outputs = channel.num_outputs
    single = _logs(channel, inputs[0])
    if single.shape != (outputs,):
        fail(channel, f"log_prob of one input must have shape {(outputs,)}, not {single.shape}")
    flat = _logs(channel, inputs)
    square = inputs[: outputs * (len(inputs) // outputs)]  # an axis as long as the outputs' own
    batches = [np.stack([inputs, inputs]), inputs[:, None], inputs[:1]]
    if len(square):
        batches.append(square.reshape(-1, outputs, *inputs.shape[1:]))
    for batch in batches:
        lead = batch.shape if channel.dim == 1 else batch.shape[:-1]
        got = _logs(channel, batch)
        if got.shape != (*lead, outputs):
            fail(channel, f"log_prob must have shape {(*lead, outputs)}, not {got.shape}")
        rows = got.reshape(-1, outputs)
        alone = np.stack([_logs(channel, l) for l in batch.reshape(-1, *inputs.shape[1:])])
        if not np.allclose(rows, alone, rtol=1e-12, atol=1e-12, equal_nan=True):
            fail(channel, "log_prob of a batch must equal log_prob of its inputs one by one")
    if not np.allclose(flat[0], single, rtol=1e-12, atol=1e-12, equal_nan=True):
        fail(channel, "log_prob of a batch must equal log_prob of its inputs one by one")


def _check_totals(channel: Channel, inputs: Array, require_finite: bool) -> None:
    logs = _logs(channel, inputs)
    for wrong, rule in (
        (np.isnan(logs), "must not be NaN"),
        (logs > TOTAL_ATOL, "must not exceed 0 (it is the logarithm of a probability)"),
    ):
        bad = wrong.any(axis=-1)
        if bad.any():
            fail(channel, f"log_prob {rule}, as {where(inputs, bad)}")
    with np.errstate(under="ignore"):
        total = np.exp(logs).sum(axis=-1)
    wrong = ~(np.abs(total - 1.0) <= TOTAL_ATOL)
    if wrong.any():
        place = where(inputs, wrong)
        spread = f"{float(total[wrong].min())!r}"
        if total[wrong].max() > total[wrong].min():
            spread += f" to {float(total[wrong].max())!r}"
        fail(channel, f"probabilities must sum to one; {place} they sum to {spread}")
    if require_finite:
        sizes = np.abs(inputs) if channel.dim == 1 else np.linalg.norm(inputs, axis=-1)
        wrong = ~np.isfinite(logs).all(axis=-1) & (sizes <= 1e4)
        if wrong.any():
            fail(channel, f"log_prob must be finite, but {where(inputs, wrong)}")


def _check_answers(channel: Channel, inputs: Array) -> None:
    expected = channel.prob(inputs)
    if channel.log_prob(inputs).dtype != np.float64:
        fail(channel, "log_prob must return float64")
    if not np.array_equal(channel.prob(inputs.tolist()), expected):
        fail(channel, "lists must be taken like arrays")
    turned = channel.prob(np.asfortranarray(inputs)[::-1])[::-1]
    if not np.allclose(turned, expected, rtol=1e-12, atol=1e-15):  # sums may be taken in any order
        fail(channel, "arrays that are reversed or not contiguous must be taken like others")
    if channel.inputs is None:
        whole = np.zeros(inputs[:1].shape, dtype=np.int64)
        if not np.array_equal(channel.prob(whole), channel.prob(whole.astype(np.float64))):
            fail(channel, "integers must be taken like floats: avoid in-place arithmetic on l")


def _check_sampling(channel: Channel, inputs: Array, rng: np.random.Generator) -> None:
    seed = int(rng.integers(2**31))
    batch = np.stack([inputs] * DRAWS)
    draws = channel.sample(batch, rng=seed)
    if draws.shape != (DRAWS, len(inputs)) or draws.dtype.kind != "i":
        fail(channel, f"sample must give integers {(DRAWS, len(inputs))}, not {draws.shape}")
    if draws.min() < 0 or draws.max() >= channel.num_outputs:
        fail(channel, f"samples must lie in 0 .. {channel.num_outputs - 1}")
    if not np.array_equal(draws, channel.sample(batch, rng=seed)):
        fail(channel, "sample with one seed must repeat itself")
    p = channel.prob(inputs)
    frequency = np.stack([(draws == y).mean(axis=0) for y in range(channel.num_outputs)], axis=-1)
    allowed = DEVIATIONS * np.sqrt(p * (1.0 - p) / DRAWS) + DEVIATIONS**2 / DRAWS
    if (np.abs(frequency - p) > allowed).any():
        fail(
            channel, "samples must follow prob: is log_prob in nats, with outputs on the last axis?"
        )


def _check_information(channel: Channel, inputs: Array) -> None:
    outputs = channel.num_outputs
    entropy = channel.conditional_entropy(inputs)
    if not ((entropy >= -TOTAL_ATOL) & (entropy <= np.log(outputs) + TOTAL_ATOL)).all():
        fail(channel, f"conditional_entropy must lie in [0, ln {outputs}], not {entropy}")
    uniform = np.full(outputs, 1.0 / outputs)
    divergence = channel.divergence(inputs, uniform)
    if not (divergence >= 0).all():
        fail(channel, f"divergence must not be negative: {divergence.min()}")
    if not np.allclose(divergence, np.log(outputs) - entropy, rtol=1e-9, atol=1e-9):
        fail(channel, "divergence from the uniform law must be ln(num_outputs) minus the entropy")
    for l in inputs[:: max(1, len(inputs) // 4)]:
        law = channel.prob(l)
        if abs(float(channel.divergence(l, law / law.sum()))) > TOTAL_ATOL:
            fail(channel, f"divergence from itself must be zero, at l = {l}")


def _check_derivatives(channel: Channel, moderate: Array, everywhere: Array) -> None:
    if channel.inputs is not None:
        letter = moderate[0]
        expect_refusal(
            channel, "derivatives of a finite channel", lambda: channel.derivatives(letter)
        )
        return
    if type(channel).derivatives is Channel.derivatives:
        return
    sizes = np.abs(everywhere) if channel.dim == 1 else np.linalg.norm(everywhere, axis=-1)
    some = everywhere[(sizes < 100.0) & (sizes > 1e-3)]
    inputs = np.concatenate([moderate, some[:: max(1, len(some) // 400)]])
    found = attempt(channel, "derivatives", lambda: tuple(channel.derivatives(inputs)))
    if len(found) != 2:
        fail(channel, f"derivatives must be a gradient and a Hessian, not {len(found)} parts")
    gradient, hessian = (np.asarray(part) for part in found)
    tail = () if channel.dim == 1 else (channel.dim,)
    shape = (len(inputs), channel.num_outputs)
    if gradient.shape != shape + tail or hessian.shape != shape + tail + tail:
        wanted = f"{shape + tail} and {shape + tail + tail}"
        fail(channel, f"derivatives must have shapes {wanted}: {gradient.shape}, {hessian.shape}")
    # away from -inf and from tails where log_prob itself is near the end of its range
    usable = channel.log_prob(inputs) > -200.0
    first = numerical_derivatives(channel, inputs)
    # the same differences about a place a hair away: where they differ they prove nothing
    second = numerical_derivatives(channel, inputs * (1.0 + 1e-9))
    for name, given, near, again in (
        ("gradient", gradient, first.gradient, second.gradient),
        ("hessian", hessian, first.hessian, second.hessian),
    ):
        wide = usable.reshape(usable.shape + (1,) * (given.ndim - 2))
        allowed = DERIVATIVE_RTOL * (1.0 + np.abs(near))
        sure = np.abs(near - again) <= 0.1 * allowed
        wrong = wide & sure & ~(np.abs(given - near) <= allowed)
        if wrong.any():
            bad = wrong.reshape(len(inputs), -1).any(axis=1)
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            shown = f"{given[place]} where differences of log_prob give {near[place]}"
            at = f"{inputs[place[0]].tolist()}"
            fail(channel, f"{name} is wrong {where(inputs, bad)}: at l = {at} it is {shown}")


def _check_promise(channel: Channel) -> None:
    broken = attempt(channel, "tails()", lambda: broken_promise(channel))
    if broken is not None:
        fail(channel, broken)


def _check_bad_input(channel: Channel, inputs: Array) -> None:
    def refuse(name: str, value: Any, what: str) -> None:
        expect_refusal(channel, f"{name} of {what}", lambda: getattr(channel, name)(value))

    for bad, what in ((np.nan, "NaN"), (np.inf, "infinity")):
        spoiled = np.array(inputs[:2], dtype=np.float64)
        spoiled.flat[0] = bad
        for name in ("log_prob", "prob", "sample", "conditional_entropy"):
            refuse(name, spoiled, what)
    refuse("log_prob", np.empty((0,) if channel.dim == 1 else (0, channel.dim)), "an empty array")
    refuse("log_prob", "text", "text")
    if channel.dim > 1:
        refuse("log_prob", np.zeros(channel.dim + 1), "an input of the wrong dimension")
        refuse("log_prob", 0.0, "a single number")
    if channel.inputs is not None:
        refuse("log_prob", np.max(channel.inputs, axis=0) + 0.5, "a letter that is not its own")


def _check_pickling(channel: Channel, inputs: Array) -> None:
    try:
        copy = pickle.loads(pickle.dumps(channel))  # noqa: S301  our own bytes
    except (pickle.PicklingError, AttributeError, TypeError):
        return  # a lambda or a class inside a function: nothing to hold against the channel
    same = attempt(channel, "a pickled copy", lambda: copy.prob(inputs))
    if not np.array_equal(same, channel.prob(inputs)):
        fail(channel, "a pickled copy must behave like the original")
