"""One posterior of all answers, with rates that nobody knows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from apm import Draws, Expert, Grid, Laplace, Learner, Linear, NonLinear, Particles
from apm.experts.panel import RATE_AXIS
from channelcode import Logistic, Probit, Softmax, UnknownLapse
from channelcode.errors import InvalidArgument
from channelcode.measures import Gaussian

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 1)) * 2
LABELS = (X[:, 0] > 0.3).astype(int)
AXIS = np.linspace(-6, 6, 41)
SURE = Expert(Logistic(), 3.0, "sure")
SOMEONE = Expert(UnknownLapse(Logistic(), symmetric=True), 1.0, "someone")


def density(theta):
    return np.exp(-0.125 * np.square(theta).sum(axis=-1))


def by_hand(masses):
    """The posterior of (theta, rate) on the grid, by the product of the likelihoods."""
    rate = 0.5 / (1.0 + np.exp(-(RATE_AXIS + np.log(0.25))))  # a fifth of a half at v = 0
    slope, wrong = np.meshgrid(AXIS, rate, indexing="ij")
    cells = np.where(np.abs(AXIS) == 6, 0.5, 1.0)
    prior = np.ones(41) if masses else density(AXIS[:, None]) * cells
    ends = np.ones(13) if masses else np.where(np.abs(RATE_AXIS) == 3, 0.5, 1.0)
    weight = prior[:, None] * (norm.pdf(RATE_AXIS) * ends)[None, :]
    for x, label in zip(X[:, 0], LABELS):
        for share in (0.0, wrong):  # the sure one, then the other
            yes = 1.0 / (1.0 + np.exp(-slope * x))
            yes = share + (1.0 - 2.0 * share) * yes
            weight = weight * (yes if label else 1.0 - yes)
    weight /= weight.sum()
    mean = float((weight * wrong).sum())
    return weight, mean, float(np.sqrt((weight * (wrong - mean) ** 2).sum()))


@pytest.mark.filterwarnings("ignore:the grid is")
@pytest.mark.parametrize("masses", [True, False])
def test_a_rate_on_a_grid_is_exact(masses):
    model = Grid([AXIS], Logistic(), Linear(), None if masses else density)
    learner = Learner(X, model, experts=[SURE, SOMEONE], seed=0)
    for name in ("sure", "someone"):
        learner.tell(range(12), LABELS.tolist(), expert=name)
    weight, mean, deviation = by_hand(masses)
    np.testing.assert_allclose(learner.posterior.weights, weight.ravel(), atol=1e-13)
    assert learner.rates()["someone"] == pytest.approx((mean, deviation), abs=1e-12)


@pytest.mark.parametrize("kind", ["particles", "laplace"])
def test_other_posteriors_agree_with_the_grid(kind):
    """Particles to their own noise (1000 draws), the Gaussian roughly: a rate is skewed."""
    prior = Gaussian([0.0], [[4.0]])
    line = NonLinear(lambda theta, X: X[:, :1] * theta[:, 0], 1)
    model = (
        Particles(Logistic(), line, prior, samples=1000, rng=0)
        if kind == "particles"
        else Laplace(Logistic(), encoder=line, prior=prior)
    )
    learner = Learner(X, model, experts=[SURE, SOMEONE], seed=0)
    for name in ("sure", "someone"):
        learner.tell(range(12), LABELS.tolist(), expert=name)
    _, mean, deviation = by_hand(masses=False)
    found = learner.rates()["someone"]
    # particles: about .03 deviations of error for the mean, 7 % for the deviation; five of these
    rough = (0.15, 0.35) if kind == "particles" else (0.5, 0.5)
    assert abs(found[0] - mean) < rough[0] * deviation
    assert abs(found[1] / deviation - 1.0) < rough[1]


def test_what_cannot_hold_a_rate_says_so():
    with pytest.raises(InvalidArgument, match="must not be Draws where a rate is unknown"):
        Learner(X, Draws(RNG.normal(size=(20, 1))), experts=[SOMEONE])

    class Flat:
        def logpdf(self, theta):
            return np.zeros(len(theta))

        def sample(self, count, rng):
            return rng.normal(size=(count, 1))

    line = NonLinear(lambda theta, X: X[:, :1] * theta[:, 0], 1)
    model = Particles(Logistic(), line, Flat(), samples=50, rng=0)
    with pytest.raises(InvalidArgument, match="must have a Gaussian prior"):
        Learner(X, model, experts=[SOMEONE])


def test_predictions_go_through_the_models_own_channel():
    """Unless `truth` says otherwise; experts of several classes need no model at all."""
    probit = [Expert(Probit(), 1.0, "a")]
    by_model = Learner(X, Laplace(Probit()), experts=probit, seed=0)
    by_model.tell(0, 1, expert="a")
    assert by_model.belief.channel.truth == Probit()
    named = Learner(X, Laplace(Probit()), experts=probit, truth=Logistic(), seed=0)
    named.tell(0, 1, expert="a")
    assert abs(by_model.predict_proba() - named.predict_proba()).max() > 1e-3
    three = Learner(X, experts=[Expert(Softmax(3), 1.0, "a")], classes=["x", "y", "z"], seed=0)
    three.tell([0, 1, 2], ["x", "y", "z"], expert="a")
    assert three.predict_proba().shape == (12, 3)
    assert list(three.classes_) == ["x", "y", "z"]
