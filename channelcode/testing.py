"""Tests for channels of your own: the contract every channel must pass, and Hypothesis strategies.

>>> from channelcode import Logistic
>>> from channelcode.testing import check_channel
>>> check_channel(Logistic())
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy.special import logsumexp

from channelcode._validation import Array, Seed, as_generator
from channelcode.channels import (
    BinaryErasure,
    BinarySymmetric,
    Binomial,
    Cauchit,
    Channel,
    Cloglog,
    DiscreteChannel,
    Features,
    Lapse,
    Logistic,
    Ordinal,
    Probit,
    QuantisedGaussian,
    Softmax,
    ZChannel,
)
from channelcode.channels.base import numerical_derivatives
from channelcode.errors import MissingExtra
from channelcode.measures import DiscreteMeasure, Empirical, Gaussian, Measure

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["channels", "check_channel", "gaussians", "measures", "stochastic_matrices"]

TOTAL_ATOL = 1e-9  # log-probabilities of many outputs, each to rounding, summed
DERIVATIVE_RTOL = 1e-5  # the numerical derivative is good to 1e-6 of the size of the result
DRAWS = 4000
DEVIATIONS = 6.0  # of a frequency from its probability: one false alarm in a billion
_MODERATE = np.array([-7.3, -3.1, -1.4, -0.6, 0.0, 0.2, 0.9, 2.3, 5.7])
_TAIL = np.array([-1e4, -1e3, -1e2, -30.0, 30.0, 1e2, 1e3, 1e4])


def check_channel(channel: Channel, *, require_finite: bool = False, rng: Seed = 0) -> None:
    """Raise AssertionError, saying what to mend, unless `channel` keeps the contract of a channel.

    Shapes for single inputs and batches; log-probabilities that are no NaN, no more than zero and
    sum to one, up to |l| = 1e4; sampling, entropies and divergences that agree with them;
    derivatives; refusal of bad input; inputs left as they were; pickling, where it is possible.

    A log-probability of -inf says that an output is impossible and is allowed (a response that
    saturates has some); with `require_finite` it is not.
    """
    if not isinstance(channel, Channel):
        _fail(channel, "must be an instance of channelcode.Channel (an instance, not the class)")
    _check_attributes(channel)
    generator = as_generator(rng)
    moderate, tail = _inputs(channel, generator)
    _check_unmodified(channel, moderate)
    _check_shapes(channel, moderate)
    _check_totals(channel, moderate, require_finite)
    _check_totals(channel, tail, require_finite)
    _check_input_handling(channel, moderate)
    _check_sampling(channel, moderate, generator)
    _check_information(channel, moderate)
    _check_information(channel, tail)
    _check_derivatives(channel, moderate)
    _check_bad_input(channel, moderate)
    _check_pickling(channel, moderate)


def _fail(channel: object, problem: str) -> NoReturn:
    raise AssertionError(f"{channel!r}: {problem}")


def _check_attributes(channel: Channel) -> None:
    for name, least in (("dim", 1), ("num_outputs", 1)):
        value = getattr(channel, name, None)
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            _fail(channel, f"{name} must be an integer of at least {least}, not {value!r}")


def _inputs(channel: Channel, rng: np.random.Generator) -> tuple[Array, Array]:
    """Moderate inputs and inputs in the tails, `(m,)` or `(m, dim)`; the letters if finite."""
    if channel.inputs is not None:
        return channel.inputs, channel.inputs
    if channel.dim == 1:
        return _MODERATE.copy(), _TAIL.copy()
    directions = rng.standard_normal((len(_MODERATE), channel.dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    axes = np.concatenate([np.eye(channel.dim), -np.eye(channel.dim)])
    tails = np.concatenate([size * axes for size in (1e2, 1e4)] + [1e3 * directions])
    return directions * _MODERATE[:, None], tails


def _check_shapes(channel: Channel, inputs: Array) -> None:
    outputs = channel.num_outputs
    single = _evaluate(channel, inputs[0])
    if single.shape != (outputs,):
        _fail(channel, f"log_prob of one input must have shape {(outputs,)}, not {single.shape}")
    flat = channel.log_prob(inputs)
    for batch in (np.stack([inputs, inputs]), inputs[:, None], inputs[:1]):
        lead = batch.shape if channel.dim == 1 else batch.shape[:-1]
        got = channel.log_prob(batch)
        if got.shape != (*lead, outputs):
            _fail(channel, f"log_prob must have shape {(*lead, outputs)}, not {got.shape}")
    with np.errstate(invalid="ignore"):
        both = channel.log_prob(np.stack([inputs, inputs]))
        same = np.allclose(both[1], flat, rtol=1e-12, atol=1e-12, equal_nan=True)
        same &= np.allclose(flat[0], single, rtol=1e-12, atol=1e-12, equal_nan=True)
    if not same:
        _fail(channel, "log_prob of a batch must equal log_prob of its inputs one by one")


def _check_totals(channel: Channel, inputs: Array, require_finite: bool) -> None:
    logs = _evaluate(channel, inputs)
    if np.isnan(logs).any():
        _fail(channel, f"log_prob must not be NaN, as at l = {_where(inputs, np.isnan(logs))}")
    if (logs > TOTAL_ATOL).any():
        _fail(channel, f"log_prob must not exceed 0, as at l = {_where(inputs, logs > TOTAL_ATOL)}")
    if require_finite and not np.isfinite(logs).all():
        _fail(channel, f"log_prob must be finite, but at l = {_where(inputs, ~np.isfinite(logs))}")
    total = np.asarray(logsumexp(logs, axis=-1))
    wrong = ~(np.abs(total) <= TOTAL_ATOL)
    if wrong.any():
        where = _where(inputs, wrong[..., None])
        shown = float(np.exp(total[wrong][0]))
        _fail(channel, f"probabilities must sum to one; at l = {where} they sum to {shown!r}")


def _where(inputs: Array, wrong: Any) -> Any:
    return inputs[int(np.argmax(np.any(wrong, axis=-1)))].tolist()


def _evaluate(channel: Channel, inputs: Array) -> Array:
    try:
        return channel.log_prob(inputs)
    except ValueError as error:
        _fail(channel, f"log_prob must accept every finite input: {error}")


def _check_unmodified(channel: Channel, inputs: Array) -> None:
    given = np.array(inputs)
    _evaluate(channel, given)
    if not np.array_equal(given, inputs):
        _fail(channel, "log_prob must not write into its argument: work on a copy")


def _check_input_handling(channel: Channel, inputs: Array) -> None:
    expected = channel.prob(inputs)
    given = np.array(inputs)
    given.setflags(write=False)
    if not np.array_equal(channel.prob(given), expected):
        _fail(channel, "log_prob must give the same answer for the same input")
    if channel.log_prob(inputs).dtype != np.float64:
        _fail(channel, "log_prob must return float64")
    if not np.array_equal(channel.prob(inputs.tolist()), expected):
        _fail(channel, "lists must be taken like arrays")
    if channel.inputs is None:
        whole = np.zeros(inputs[:1].shape, dtype=np.int64)
        if not np.array_equal(channel.prob(whole), channel.prob(whole.astype(np.float64))):
            _fail(channel, "integers must be taken like floats: avoid in-place arithmetic on l")


def _check_sampling(channel: Channel, inputs: Array, rng: np.random.Generator) -> None:
    seed = int(rng.integers(2**31))
    draws = channel.sample(np.stack([inputs] * DRAWS), rng=seed)
    if draws.shape != (DRAWS, len(inputs)) or draws.dtype.kind != "i":
        _fail(channel, f"sample must give integers {(DRAWS, len(inputs))}, not {draws.shape}")
    if draws.min() < 0 or draws.max() >= channel.num_outputs:
        _fail(channel, f"samples must lie in 0 .. {channel.num_outputs - 1}")
    if not np.array_equal(draws, channel.sample(np.stack([inputs] * DRAWS), rng=seed)):
        _fail(channel, "sample with one seed must repeat itself")
    p = channel.prob(inputs)
    frequency = np.stack([(draws == y).mean(axis=0) for y in range(channel.num_outputs)], axis=-1)
    allowed = DEVIATIONS * np.sqrt(p * (1.0 - p) / DRAWS) + DEVIATIONS**2 / DRAWS
    if (np.abs(frequency - p) > allowed).any():
        _fail(
            channel, "samples must follow prob: is log_prob in nats, with outputs on the last axis?"
        )


def _check_information(channel: Channel, inputs: Array) -> None:
    outputs = channel.num_outputs
    entropy = channel.conditional_entropy(inputs)
    if not ((entropy >= -TOTAL_ATOL) & (entropy <= np.log(outputs) + TOTAL_ATOL)).all():
        _fail(channel, f"conditional_entropy must lie in [0, ln {outputs}], not {entropy}")
    uniform = np.full(outputs, 1.0 / outputs)
    divergence = channel.divergence(inputs, uniform)
    if not (divergence >= 0).all():
        _fail(channel, f"divergence must not be negative: {divergence.min()}")
    if not np.allclose(divergence, np.log(outputs) - entropy, rtol=1e-9, atol=1e-9):
        _fail(channel, "divergence from the uniform law must be ln(num_outputs) minus the entropy")
    for l in inputs[:: max(1, len(inputs) // 4)]:
        law = channel.prob(l)
        if abs(float(channel.divergence(l, law / law.sum()))) > TOTAL_ATOL:
            _fail(channel, f"divergence from itself must be zero, at l = {l}")


def _check_derivatives(channel: Channel, inputs: Array) -> None:
    if channel.inputs is not None:
        _expect_refusal(channel, "derivatives", inputs[0], "of a finite channel")
        return
    gradient, hessian = channel.derivatives(inputs)
    tail = () if channel.dim == 1 else (channel.dim,)
    shape = (len(inputs), channel.num_outputs)
    if gradient.shape != shape + tail or hessian.shape != shape + tail + tail:
        wanted = f"{shape + tail} and {shape + tail + tail}"
        _fail(channel, f"derivatives must have shapes {wanted}: {gradient.shape}, {hessian.shape}")
    if type(channel).derivatives is Channel.derivatives:
        return
    # away from -inf and from tails where log_prob itself is near the end of its range
    usable = channel.log_prob(inputs) > -200.0
    numerical = numerical_derivatives(channel, inputs)
    for name, given, by_differences in (
        ("gradient", gradient, numerical.gradient),
        ("hessian", hessian, numerical.hessian),
    ):
        wide = usable.reshape(usable.shape + (1,) * (given.ndim - 2))
        size = 1.0 + np.abs(by_differences)
        wrong = wide & ~(np.abs(given - by_differences) <= DERIVATIVE_RTOL * size)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            shown = f"{given[place]} where differences of log_prob give {by_differences[place]}"
            _fail(channel, f"{name} is wrong: entry {place} is {shown}")


def _check_bad_input(channel: Channel, inputs: Array) -> None:
    for bad, what in ((np.nan, "NaN"), (np.inf, "infinity")):
        spoiled = np.array(inputs[:2], dtype=np.float64)
        spoiled.flat[0] = bad
        for name in ("log_prob", "prob", "sample", "conditional_entropy"):
            _expect_refusal(channel, name, spoiled, what)
    empty = np.empty((0,) if channel.dim == 1 else (0, channel.dim))
    _expect_refusal(channel, "log_prob", empty, "an empty array")
    _expect_refusal(channel, "log_prob", "text", "text")
    if channel.dim > 1:
        _expect_refusal(channel, "log_prob", np.zeros(channel.dim + 1), "the wrong dimension")
        _expect_refusal(channel, "log_prob", 0.0, "a single number")
    if channel.inputs is not None:
        stranger = np.max(channel.inputs, axis=0) + 0.5
        _expect_refusal(channel, "log_prob", stranger, "a letter that is not its own")


def _expect_refusal(channel: Channel, name: str, value: Any, what: str) -> None:
    try:
        getattr(channel, name)(value)
    except ValueError:
        return
    except Exception as error:
        _fail(channel, f"{name} must refuse {what} with a ValueError, not {error!r}")
    _fail(channel, f"{name} must refuse {what} with a ValueError")


def _check_pickling(channel: Channel, inputs: Array) -> None:
    try:
        copy = pickle.loads(pickle.dumps(channel))  # noqa: S301  our own bytes
    except (pickle.PicklingError, AttributeError, TypeError):
        return  # a lambda or a class inside a function: nothing to hold against the channel
    if not np.array_equal(copy.prob(inputs), channel.prob(inputs)):
        _fail(channel, "a pickled copy must behave like the original")


# --- strategies -----------------------------------------------------------------------------------


def _hypothesis() -> Any:
    try:
        import hypothesis.strategies as strategies
    except ImportError:
        raise MissingExtra("hypothesis", "dev") from None
    return strategies


def channels(*, dim: int | None = None, finite: bool | None = None) -> SearchStrategy[Channel]:
    """Channels of every family but `Link` and callable `Features`, with moderate parameters.

    `dim` keeps to channels of that input dimension, `finite` to those with (True) or without
    (False) a finite input alphabet.
    """
    st = _hypothesis()
    rate = st.floats(0.0, 0.4)
    scale = st.floats(0.1, 10.0)
    cuts = st.lists(st.integers(-12, 12), min_size=1, max_size=5, unique=True).map(
        lambda ticks: [0.5 * tick for tick in sorted(ticks)]
    )
    links = st.one_of(
        st.just(Logistic()), st.builds(Probit, scale), st.just(Cauchit()), st.just(Cloglog())
    )
    line = st.one_of(
        links,
        st.builds(lambda c, a, b: Lapse(c, low=a, high=b), links, rate, rate),
        st.builds(Ordinal, cuts, links),
        st.builds(Binomial, st.integers(1, 6), links),
        st.builds(QuantisedGaussian, cuts, scale),
        st.builds(lambda c, a: Features(c, [[a]]), links, st.floats(-3.0, 3.0)),
    )
    finite_ones = st.one_of(
        st.builds(BinarySymmetric, st.floats(0.0, 1.0)),
        st.builds(BinaryErasure, st.floats(0.0, 1.0)),
        st.builds(ZChannel, st.floats(0.0, 1.0)),
        stochastic_matrices().map(DiscreteChannel),
    )
    if dim not in (None, 1):
        return st.just(Softmax(dim))
    choices = [] if finite else [line]
    if dim is None and not finite:
        choices.append(st.builds(Softmax, st.integers(2, 5)))
    if finite is not False:
        choices.append(finite_ones)
    return st.one_of(choices)


def gaussians(
    *, dim: int = 1, largest_mean: float = 20.0, sigma: tuple[float, float] = (1e-3, 30.0)
) -> SearchStrategy[Gaussian]:
    """Gaussian laws on R^dim with standard deviations (along axes, before turning) in `sigma`."""
    st = _hypothesis()
    exponents = st.floats(float(np.log(sigma[0])), float(np.log(sigma[1])))
    means = st.lists(st.floats(-largest_mean, largest_mean), min_size=dim, max_size=dim)
    spreads = st.lists(exponents, min_size=dim, max_size=dim)

    def build(mean: list[float], spread: list[float], seed: int) -> Gaussian:
        if dim == 1:
            return Gaussian(mean[0], float(np.exp(2.0 * spread[0])))
        turn, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))
        covariance = (turn * np.exp(2.0 * np.array(spread))) @ turn.T
        return Gaussian(mean, 0.5 * (covariance + covariance.T))

    return st.builds(build, means, spreads, st.integers(0, 2**31 - 1))


def measures(*, dim: int = 1, largest: float = 20.0) -> SearchStrategy[Measure]:
    """Discrete, empirical and Gaussian laws on R^dim with points of size up to `largest`."""
    st = _hypothesis()
    point = st.lists(st.floats(-largest, largest), min_size=dim, max_size=dim)
    points = st.lists(point, min_size=1, max_size=6).map(np.array)

    def weighted(atoms: Array, seed: int) -> DiscreteMeasure:
        weights = np.random.default_rng(seed).dirichlet(np.ones(len(atoms)))
        return DiscreteMeasure(atoms, weights)

    return st.one_of(
        st.builds(weighted, points, st.integers(0, 2**31 - 1)),
        points.map(Empirical),
        gaussians(dim=dim, largest_mean=largest),
    )


def stochastic_matrices(*, most_inputs: int = 5, most_outputs: int = 5) -> SearchStrategy[Array]:
    """Matrices whose rows are laws, `(n, |Y|)`, some with entries of zero and of one."""
    st = _hypothesis()

    def build(n: int, outputs: int, seed: int, sparse: bool) -> Array:
        rng = np.random.default_rng(seed)
        rows = rng.dirichlet(np.ones(outputs), size=n)
        if sparse:
            rows = rows * (rng.random((n, outputs)) < 0.5)
            rows[np.arange(n), rng.integers(outputs, size=n)] += 0.5
        return rows / rows.sum(axis=1, keepdims=True)

    return st.builds(
        build,
        st.integers(1, most_inputs),
        st.integers(2, most_outputs),
        st.integers(0, 2**31 - 1),
        st.booleans(),
    )
