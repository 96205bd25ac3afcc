# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
"""Laplace posteriors of non-linear encoders, against grids, laplace-torch and the fast path."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm import (
    APM,
    BALD,
    EPIG,
    Belief,
    Bisection,
    CompetingMaxima,
    ContestedPair,
    Difference,
    InformationGain,
    Laplace,
    Learner,
    Linear,
    Margin,
    MatchedPower,
    MaxVariance,
    NonLinear,
    PoolMaxPower,
    Predictions,
    SpectralPower,
    Uncertainty,
)
from apm.encoders import Encoder
from apm.posteriors import EncodedLaplace, ScalarLaplace
from apm.testing import check_posterior, check_selector
from channelcode import Cauchit, Gaussian, Lapse, Logistic, Probit, Softmax
from channelcode.errors import InvalidArgument, NotConverged
from tests.naming import plain

DATA = Path(__file__).parents[2] / "data"
NETWORKS = json.loads((DATA / "networks.json").read_text())
PLACES = json.loads((DATA / "localisation.json").read_text())
AXIS = np.linspace(-4, 4, 17)
CANDIDATES = np.array([(a, b) for a in AXIS for b in AXIS])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = (X @ [1.0, -1.0, 0.5] + RNG.logistic(size=30) > 0).astype(int)
LINE = NonLinear(lambda theta, X: X @ theta.T, 3)
SPACE = NonLinear(lambda t, X: np.einsum("skd,nd->nsk", t.reshape(-1, 3, 3), X), 9)


def locate(case):
    a, b = case["a"], case["b"]
    distance = NonLinear(lambda t, X: b - a * np.square(X[:, None] - t).sum(axis=2), 2)
    return Laplace(Logistic(), case["prior_sd"] ** -2, encoder=distance, samples=4000)


@pytest.mark.parametrize(
    ("name", "atol"), [("one_mode", 1e-8), ("two_modes", 1e-8), ("ring", 1e-6)]
)
def test_localisation(name, atol):
    """Maximum, precision and evidence of the reference; its ring is less well converged."""
    case = PLACES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompetingMaxima)
        posterior = locate(case).fit(case["X"], case["y"])
    expected = case["laplace_gn"]
    sign = np.sign(posterior.mean[0] * expected["map"][0]) if name == "two_modes" else 1.0
    np.testing.assert_allclose(posterior.mean * [sign, 1.0], expected["map"], atol=10 * atol)
    np.testing.assert_allclose(
        np.linalg.inv(posterior.covariance), expected["precision"], atol=10 * atol
    )
    assert posterior.log_evidence == pytest.approx(expected["log_evidence"], abs=atol)
    assert posterior.gradient_norm < 1e-7
    assert posterior.distance < 1e-6


def regret(posterior, case):
    gains = np.array(case["gain_nats"])
    return gains.max() - gains[np.argmax(Belief(posterior).information_gain(CANDIDATES))]


def test_draws_serve_a_bent_encoder_better():
    """The regrets that were measured: .035 nats linearised, below .002 by draws, of .146."""
    case = PLACES["one_mode"]
    linear = locate(case).fit(case["X"], case["y"])
    drawn = Laplace(Logistic(), 0.25, encoder=linear.encoder, push="draws", samples=4000).fit(
        case["X"], case["y"]
    )
    assert regret(linear, case) == pytest.approx(0.0346, abs=1e-3)
    assert regret(drawn, case) < 0.002


def test_two_modes_are_told():
    """A single Gaussian loses half the best gain; the alarm says so, and only there."""
    case = PLACES["two_modes"]
    with pytest.warns(CompetingMaxima, match="one Gaussian is not this posterior"):
        posterior = locate(case).fit(case["X"], case["y"])
    assert regret(posterior, case) > 0.3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        locate(PLACES["one_mode"]).fit(PLACES["one_mode"]["X"], PLACES["one_mode"]["y"])


def test_a_saddle_is_left():
    """Between the two modes the gradient is zero; without restarts it must be found out, too."""
    case = PLACES["two_modes"]
    encoder = locate(case).encoder
    posterior = Laplace(Logistic(), 0.25, encoder=encoder, restarts=0).fit(case["X"], case["y"])
    assert abs(posterior.mean[0]) == pytest.approx(2.00216, abs=1e-4)


def network(case) -> tuple[NonLinear, Any]:
    d, h, k = (case["dims"][name] for name in ("d", "hidden", "outputs"))

    def split(theta):
        ends = np.cumsum([h * d, h, k * h])
        W1, b1, W2, b2 = np.split(theta, ends, axis=1)
        return W1.reshape(-1, h, d), b1, W2.reshape(-1, k, h), b2

    def forward(theta, X):
        W1, b1, W2, b2 = split(theta)
        hidden = np.tanh(np.einsum("shd,nd->nsh", W1, X) + b1)
        out = np.einsum("skh,nsh->nsk", W2, hidden) + b2
        return out if k > 1 else out[..., 0]

    def jacobian(theta, X):
        W1, b1, W2, _ = (part[0] for part in split(theta[None]))
        hidden = np.tanh(X @ W1.T + b1)
        back = W2[None] * (1 - hidden**2)[:, None, :]  # (n, k, h)
        n = len(X)
        parts = [
            (back[..., None] * X[:, None, None, :]).reshape(n, k, -1),
            back,
            np.einsum("ij,nh->nijh", np.eye(k), hidden).reshape(n, k, -1),
            np.broadcast_to(np.eye(k), (n, k, k)),
        ]
        joined = np.concatenate(parts, axis=2)
        return joined if k > 1 else joined[:, 0]

    channel = Softmax(k) if k > 1 else Logistic()
    return NonLinear(forward, len(case["theta"]), jacobian), channel


@pytest.mark.parametrize("name", ["binary_softmax2", "binary_logistic", "ten_class"])
def test_networks_equal_laplace_torch(name):
    """Mean and covariance of the linearised full GGN at the reference's weights, to 1e-9."""
    case = NETWORKS[name]
    encoder, channel = network(case)
    options: Any = {"encoder": encoder, "restarts": 0}
    prior = Laplace(channel, case["decay"], **options)
    # labels without a search: expanded at the weights that the reference was expanded at
    posterior = prior.fit(case["X"], case["y"], np.zeros(len(case["y"])))
    posterior = posterior._evolve(_weights=np.ones(len(case["y"]))).at(case["theta"])
    # the reference's X is rounded to six digits, which moves the gradient a little
    assert np.abs(posterior._solution.gradient).max() <= 2.0 * case["max_gradient"]
    laws = Belief(posterior).push(case["X_test"])
    mean, covariance = np.array(case["mean"]), np.array(case["covariance"])
    if channel.dim > 1:
        centre = np.eye(channel.dim) - 1 / channel.dim
        mean, covariance = mean @ centre, centre @ covariance @ centre
    else:
        mean, covariance = mean[:, 0], covariance[:, 0, 0]
    scale = np.abs(covariance).max()
    np.testing.assert_allclose(laws.mean, mean, atol=1e-9)
    np.testing.assert_allclose(laws.covariance, covariance, rtol=1e-9, atol=1e-9 * scale)
    if "laplace_torch" in case:
        expected = case["laplace_torch"]["log_marginal_likelihood"]
        assert posterior.log_evidence == pytest.approx(expected, abs=1e-8)
    logdet = -np.linalg.slogdet(posterior.covariance)[1]
    assert logdet == pytest.approx(case["logdet_precision"], abs=1e-6)


def test_networks_by_differences():
    """Without a jacobian of its own the encoder loses about 1e-9."""
    case = NETWORKS["binary_logistic"]
    exact, channel = network(case)
    plain_encoder = NonLinear(exact.function, len(case["theta"]))
    laws = []
    for encoder in (exact, plain_encoder):
        prior = Laplace(channel, case["decay"], encoder=encoder, restarts=0)
        held = prior.fit(case["X"], case["y"], np.zeros(60))._evolve(_weights=np.ones(60))
        laws.append(Belief(held.at(case["theta"])).push(case["X_test"]))
    np.testing.assert_allclose(laws[1].variance, laws[0].variance, rtol=1e-8)


@pytest.mark.parametrize(
    ("channel", "encoder", "labels"),
    [
        (Logistic(), LINE, Y),
        (Probit(), LINE, Y),
        (Softmax(3), SPACE, np.arange(30) % 3),
    ],
    ids=plain,
)
def test_linear_encoders_are_the_fast_path(channel, encoder, labels):
    """1e-8: the same maximum, found on another road; Probit's Fisher form is not its Hessian."""
    fast = Laplace(channel, 0.5).fit(X, labels)
    slow = Laplace(channel, 0.5, encoder=encoder).fit(X, labels)
    assert isinstance(slow, EncodedLaplace)
    np.testing.assert_allclose(slow.mean, np.ravel(fast.mean), atol=1e-8)
    if isinstance(channel, Probit):
        return
    left, right = Belief(fast), Belief(slow)
    np.testing.assert_allclose(right.push(X).mean, left.push(X).mean, atol=1e-8)
    np.testing.assert_allclose(right.push(X).covariance, left.push(X).covariance, atol=1e-8)
    np.testing.assert_allclose(right.predict_proba(X), left.predict_proba(X), atol=1e-8)
    for selector in (
        InformationGain(),
        Margin(),
        Margin(bayesian=True),
        Uncertainty(),
        MaxVariance(),
        Bisection(),
        APM(PoolMaxPower(), channel=ContestedPair()),
        APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions()),
        APM(MatchedPower(), channel=ContestedPair()),
        *([BALD()] if channel.dim == 1 else []),
    ):
        picks = [selector.select(belief, X, n=5, rng=0).tolist() for belief in (left, right)]
        assert picks[0] == picks[1], selector


def test_linear_members_of_the_family():
    assert type(Laplace(Logistic(), encoder=Linear())) is ScalarLaplace
    pairs = np.hstack([X[:15], X[15:]])
    fast = Laplace(Logistic(), 0.5).fit(X[:15] - X[15:], Y[:15])
    slow = Laplace(Logistic(), 0.5, encoder=Difference(Linear())).fit(pairs, Y[:15])
    np.testing.assert_allclose(slow.mean, fast.mean, atol=1e-8)
    np.testing.assert_allclose(slow.covariance, fast.covariance, atol=1e-8)
    with pytest.raises(InvalidArgument, match="spectral"):
        _ = slow.summed_covariance


def test_more_parameters_than_labels():
    """q > labels: the span gives what the whole matrix gives, without forming it."""
    wide = np.random.default_rng(1).normal(size=(6, 40))
    labels = np.array([0, 1, 0, 1, 1, 0])
    encoder = NonLinear(lambda theta, X: X @ theta.T, 40, lambda theta, X: np.asarray(X))
    slow = Laplace(Logistic(), 0.3, encoder=encoder, restarts=1).fit(wide, labels)
    fast = Laplace(Logistic(), 0.3).fit(wide, labels)
    np.testing.assert_allclose(slow.mean, fast.mean, atol=1e-8)
    np.testing.assert_allclose(slow.covariance, fast.covariance, atol=1e-8)
    assert slow._solution.spread.basis.shape == (40, 6)
    others = np.random.default_rng(2).normal(size=(5, 40))
    np.testing.assert_allclose(
        Belief(slow).push(others).variance, Belief(fast).push(others).variance, rtol=1e-8
    )
    draws = slow.drawn(20000, np.random.default_rng(3)).project(others)[0]
    # 20,000 draws: a standard deviation of a variance is 1 %
    np.testing.assert_allclose(draws.var(axis=1), Belief(fast).push(others).variance, rtol=0.06)


def test_the_jacobian_of_the_pool_is_never_whole():
    rows_seen = []

    def jacobian(theta, X):
        rows_seen.append(len(X))
        return np.tile(X, 2000)

    encoder = NonLinear(
        lambda theta, X: X @ theta.reshape(-1, 2000, 3).sum(axis=1).T, 6000, jacobian
    )
    posterior = Laplace(Logistic(), 1.0, encoder=encoder, restarts=0).fit(X[:4], Y[:4])
    pool = np.random.default_rng(4).normal(size=(700, 3))
    Belief(posterior).push(pool)
    assert max(rows_seen) * 6000 <= 1 << 20


@pytest.mark.parametrize("channel", [Lapse(Logistic(), 0.05), Cauchit()], ids=plain)
def test_channels_that_are_not_log_concave(channel):
    """The maximum of SciPy's minimiser, and the Fisher form by sums over labels."""
    from scipy.optimize import minimize

    encoder = NonLinear(lambda t, X: t[:, 0] + np.exp(t[:, 1]) * X[:, :1], 2)
    posterior = Laplace(channel, 1.0, encoder=encoder).fit(X, Y)

    def loss(theta):
        l = theta[0] + np.exp(theta[1]) * X[:, 0]
        return 0.5 * theta @ theta - channel.log_prob(l)[np.arange(30), Y].sum()

    found = min(
        (minimize(loss, s, tol=1e-12) for s in RNG.normal(size=(4, 2))), key=lambda r: r.fun
    )
    np.testing.assert_allclose(posterior.mean, found.x, atol=1e-5)
    l = posterior.mean[0] + np.exp(posterior.mean[1]) * X[:, 0]
    slopes = np.stack([np.ones(30), np.exp(posterior.mean[1]) * X[:, 0]], axis=1)
    p, g = channel.prob(l), channel.derivatives(l).gradient.reshape(30, 2)
    precision = np.eye(2) + (slopes.T * (p * g**2).sum(axis=1)) @ slopes
    np.testing.assert_allclose(np.linalg.inv(posterior.covariance), precision, rtol=1e-6)


def test_tiny_parameters_without_a_jacobian():
    """A step of 1e-5 is large for parameters of 1e-8: differences are in units of the prior."""
    moved = NonLinear(lambda theta, X: np.tanh(X @ theta.T * 1e8), 3)
    plain_units = NonLinear(lambda theta, X: np.tanh(X @ theta.T), 3)
    small = Laplace(Logistic(), 1e16, encoder=moved).fit(X, Y)
    large = Laplace(Logistic(), 1.0, encoder=plain_units).fit(X, Y)
    np.testing.assert_allclose(small.mean * 1e8, large.mean, atol=1e-6)
    np.testing.assert_allclose(
        Belief(small).push(X).variance, Belief(large).push(X).variance, rtol=1e-6
    )


def test_a_prior_of_its_own():
    prior = Gaussian([1.0, -1.0, 0.0], [[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
    posterior = Laplace(Logistic(), encoder=LINE, prior=prior)
    start = posterior.sized(3)
    np.testing.assert_allclose(start.mean, prior.mean)
    np.testing.assert_allclose(start.covariance, prior.covariance, atol=1e-12)
    told = posterior.fit(X, Y)
    p = Logistic().prob(X @ told.mean)[:, 1]
    score = np.linalg.solve(prior.covariance, told.mean - prior.mean) - X.T @ (Y - p)
    np.testing.assert_allclose(score, 0.0, atol=1e-7)
    precision = np.linalg.inv(prior.covariance) + (X.T * (p * (1 - p))) @ X
    np.testing.assert_allclose(np.linalg.inv(told.covariance), precision, rtol=1e-8)
    # the same posterior in other units of the parameters
    scaled = NonLinear(lambda theta, X: X @ (theta * [1e3, 1.0, 1e-4]).T, 3)
    unit = np.diag([1e-3, 1.0, 1e4])
    moved = Gaussian(unit @ prior.mean, unit @ np.asarray(prior.covariance) @ unit)
    other = Laplace(Logistic(), encoder=scaled, prior=moved).fit(X, Y)
    np.testing.assert_allclose(other.mean, unit @ told.mean, rtol=1e-6)
    assert other.log_evidence == pytest.approx(told.log_evidence, abs=1e-7)


def wave(theta, X):
    return theta[:, 0] + theta[:, 1] * X[:, :1] + 0.3 * np.sin(theta[:, 2] * X[:, 1:2])


@pytest.mark.parametrize("push", ["linear", "draws"])
def test_contract(push):
    posterior = Laplace(
        Logistic(), 1.0, encoder=NonLinear(wave, 3), push=push, restarts=1, samples=200
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompetingMaxima)
        check_posterior(posterior, exact=False)
        told = posterior.fit(X, Y)
        for again in (
            pickle.loads(pickle.dumps(told)),
            copy.deepcopy(told),
            told.restored(told.state()) if push else told,
        ):
            np.testing.assert_array_equal(again.mean, told.mean)
            left, right = Belief(again).push(X), Belief(told).push(X)
            np.testing.assert_array_equal(left.mean, right.mean)
            np.testing.assert_array_equal(again.update(X[0], 1).mean, told.update(X[0], 1).mean)
        for selector in (InformationGain(), EPIG(), BALD(), Uncertainty(), MaxVariance()):
            check_selector(selector, Belief(told), X)
            assert len(set(selector.select(Belief(told), X, n=8, rng=0).tolist())) == 8
        with pytest.raises(InvalidArgument, match="linear in its parameters"):
            APM(SpectralPower()).select(Belief(told), X)


@pytest.fixture
def bent_learner():
    bent = NonLinear(lambda t, X: t[:, 0] + t[:, 1] * np.exp(X[:, :1] / 2), 2)
    return Learner(X, Laplace(Logistic(), 1.0, encoder=bent, restarts=1), seed=0)


def test_learner(bent_learner, tmp_path):
    learner = bent_learner
    assert isinstance(learner.selector, InformationGain)
    for _ in range(3):
        row = int(learner.ask())
        learner.tell(row, int(Y[row]))
    batch = learner.ask(4).tolist()
    learner.save(tmp_path / "learner.npz")
    model = learner.belief.posterior.without_data()
    assert Learner.load(tmp_path / "learner.npz", model=model).ask(4).tolist() == batch
    held = learner.belief.posterior.mean
    learner.tell(learner.ask(), 1)
    learner.undo()
    np.testing.assert_array_equal(learner.belief.posterior.mean, held)
    assert learner.predict_proba(X[:2]).shape == (2, 2)
    learner.stop_advice()
    learner.explain(batch[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder": "net"}, "encoder must be an encoder"),
        ({"encoder": LINE, "push": "both"}, "push must be"),
        ({"encoder": LINE, "restarts": -1}, "restarts"),
        ({"encoder": LINE, "samples": 1}, "samples"),
        ({"encoder": LINE, "prior": 3}, "prior must be a Gaussian"),
        ({"encoder": LINE, "prior": Gaussian([0.0], [[1.0]])}, "prior must have dimension 3"),
        ({"encoder": LINE, "prior": Gaussian(np.zeros(3), np.zeros((3, 3)))}, "positive definite"),
        ({"encoder": LINE, "intercept": True}, "intercept"),
        ({"push": "draws"}, "push must be given with an encoder"),
    ],
    ids=plain,
)
def test_bad_options(options, message):
    with pytest.raises((InvalidArgument, TypeError), match=message):
        Laplace(Logistic(), 1.0, **options)


def test_bad_encoders_are_named_and_leave_the_state():
    posterior = Laplace(Logistic(), 1.0, encoder=LINE, restarts=0).fit(X, Y)
    before = posterior.mean.copy()
    with pytest.raises(InvalidArgument, match="3 features"):
        posterior.update(np.ones(4), 1)
    with pytest.raises(InvalidArgument, match="must have 3 entries"):
        posterior.at(np.ones(2))
    np.testing.assert_array_equal(posterior.mean, before)
    wrong = NonLinear(lambda theta, X: np.ones((len(X), len(theta), 2)), 2)
    with pytest.raises(InvalidArgument, match="encoder must give shape"):
        Laplace(Logistic(), 1.0, encoder=wrong).fit(X, Y)
    pole = NonLinear(lambda theta, X: np.where(X[:, :1] > 1, np.nan, X @ theta.T), 3)
    with pytest.raises((InvalidArgument, NotConverged)):
        Laplace(Logistic(), 1.0, encoder=pole).fit(X, Y)
    steep = NonLinear(LINE.function, 3, lambda theta, X: np.full((len(X), 3), np.inf))
    with pytest.raises(InvalidArgument, match="jacobian"):
        Laplace(Logistic(), 1.0, encoder=steep).fit(X, Y)


def test_expanded_away_from_the_maximum_says_so():
    posterior = Laplace(Logistic(), 1.0, encoder=LINE, restarts=0).fit(X, Y)
    away = posterior.at(posterior.mean + 0.5)
    assert away.gradient_norm > 0.5 > posterior.gradient_norm
    p = Logistic().prob(X @ away.mean)[:, 1]
    expected = np.linalg.norm(away.mean - X.T @ (Y - p))
    assert away.gradient_norm == pytest.approx(expected, rel=1e-8)


def test_fit_at_is_fit_and_at():
    """Without a search: the same expansion, and the next label goes on from there."""
    encoder = NonLinear(lambda theta, X: theta[:, 0] - np.exp(theta[:, 1]) * X, 2)
    X, y = np.array([[0.0], [1.0], [2.0], [0.5]]), [1, 1, 0, 1]
    prior = Laplace(Logistic(), 1.0, encoder=encoder, restarts=0)
    point = np.array([0.3, -0.4])
    one, two = prior.fit_at(point, X, y), prior.fit(X, y).at(point)
    np.testing.assert_allclose(one.mean, point, atol=1e-15)
    np.testing.assert_allclose(one.covariance, two.covariance, atol=1e-14)
    assert one.gradient_norm == pytest.approx(two.gradient_norm)
    assert one.gradient_norm > 0.1  # it is no maximum, and says so
    assert one.update([3.0], 0).gradient_norm < 1e-6
    assert prior.num_observations == 0
    weighted = prior.fit_at(point, X[:3], y[:3], [1, 2, 1])
    repeated = prior.fit_at(point, X[[0, 1, 1, 2]], [1, 1, 1, 0])
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, atol=1e-12)
    for wrong, message in (([0.1], "2 entries"), ([np.nan, 0.0], "finite"), (3.0, "theta")):
        with pytest.raises(InvalidArgument, match=message):
            prior.fit_at(wrong, X, y)


def test_a_label_after_draws_is_learnt_by_the_posterior_not_by_the_draws():
    """Draws are made for one decision; the next label starts from the expansion again."""
    bent = NonLinear(lambda theta, X: np.exp(theta[:, 1]) * (X - theta[:, 0]), 2)
    X = np.linspace(-1.0, 1.0, 5)[:, None]
    held = Laplace(Logistic(), 1.0, encoder=bent, restarts=0).fit(X[:2], [0, 1])
    drawn = held.drawn(16, np.random.default_rng(0))
    one, other = (each.update(X[2], 1) for each in (held, drawn))
    np.testing.assert_allclose(one.project(X)[0], other.project(X)[0], rtol=1e-9)
    assert not other.gives_samples


def test_an_encoder_that_is_linear_explains_what_the_linear_posterior_explains(rng):
    X, y = rng.standard_normal((12, 2)), np.arange(12) % 2
    straight = NonLinear(lambda theta, X: X @ theta.T, 2)
    bent = Laplace(Logistic(), 1.0, encoder=straight, restarts=0).fit(X[:6], y[:6])
    rule = APM(MatchedPower(), message=Predictions())
    one, other = (Belief(each) for each in (bent, Laplace(Logistic(), 1.0).fit(X[:6], y[:6])))
    found, expected = (rule.prepared(b, X).scores(b, X[6:]) for b in (one, other))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


def test_single_precision_rows_have_the_laws_of_their_values():
    """A float32 pool is read as it is; everything after that is in double precision."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 2)).astype(np.float32)

    class Bent(Encoder):
        num_parameters = 2

        def inputs(self, theta, X):
            return 3.0 * np.tanh(X) @ np.atleast_2d(theta).T

    model = Laplace(Logistic(), 0.5, encoder=Bent()).fit(X[:8].astype(np.float64), [0, 1] * 4)
    few, exact = Belief(model).push(X), Belief(model).push(X.astype(np.float64))
    np.testing.assert_array_equal(few.mean, exact.mean)
    np.testing.assert_array_equal(few.covariance, exact.covariance)
