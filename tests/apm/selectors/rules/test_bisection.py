"""The bridge from learning to coding (theory of feedback, section 7), and the rule itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri

from apm import (
    APM,
    Belief,
    Bisection,
    FixedPower,
    InformationGain,
    Learner,
    Thresholds,
    VariationalLogistic,
)
from apm.selectors.rules.bisection import positive_chance
from channelcode import (
    DiscreteMeasure,
    EmpiricalPool,
    Gaussian,
    Logistic,
    Power,
    capacity,
    mutual_information,
)
from channelcode.feedback import Horstein, SchalkwijkKailath
from channelcode.transport import w2_squared


def skewed(seed: int, size: int = 41) -> Thresholds:
    rng = np.random.default_rng(seed)
    posterior = Thresholds.between(np.arange(size), amplitude=1.2)
    for query in rng.integers(0, size, 9):
        posterior = posterior.update([float(query)], int(rng.random() < expit(3 - 0.2 * query)))
    return posterior


@pytest.mark.parametrize("seed", range(5))
def test_p11_apm_on_step_encoders_asks_the_median(seed):
    posterior = skewed(seed)
    queries = np.arange(41.0)[:, None]
    belief = Belief(posterior)
    above = np.array([posterior.weights[posterior.values >= x].sum() for x in queries[:, 0]])
    nearest = np.abs(above - 0.5).min()
    power = posterior.amplitude**2
    for rule in (Bisection(), APM(FixedPower(power)), InformationGain()):
        chosen = int(rule.select(belief, queries)[0])
        assert abs(above[chosen] - 0.5) == pytest.approx(nearest, abs=1e-9)
    # W2^2 = 4 P |F(x) - 1/2|
    scores = APM(FixedPower(power)).scores(belief, queries)
    np.testing.assert_allclose(-scores, 4 * power * np.abs(above - 0.5), atol=1e-9)


def test_a_query_at_the_median_is_posterior_matching():
    """W2 = 0, C bits a label: Horstein's scheme at crossover sigma(-amplitude)."""
    posterior = Thresholds([0.5, 1.5, 2.5, 3.5], amplitude=2.0)
    belief = Belief(posterior)
    assert belief.information_gain([[2.0]])[0] == pytest.approx(
        Horstein.at_power(4.0).information_bits, abs=1e-10
    )


def test_threshold_on_a_grid_agrees_with_enumeration(reference):
    """All answers to the queries of `Bisection`, on 16 thresholds at crossover 0.1."""
    golden = reference("feedback")["bridge"]["grid_threshold_16_0.1"]
    size, steps = golden["N"], 7
    queries = np.arange(1.0, size)[:, None]
    start = Thresholds.noisy(np.arange(size) + 0.5, golden["p"])
    alive = [(1.0, start.sized(1))]
    gathered, total = [0.0], 0.0
    for _ in range(steps):
        following: dict = {}
        for chance, posterior in alive:
            belief = Belief(posterior)
            row = queries[int(Bisection().select(belief, queries)[0])]
            above = posterior.weights[posterior.values >= row[0]].sum()
            say = above * (1 - golden["p"]) + (1 - above) * golden["p"]
            noise = -sum(x * np.log2(x) for x in (golden["p"], 1 - golden["p"]))
            total += chance * (-say * np.log2(say) - (1 - say) * np.log2(1 - say) - noise)
            for answer, likely in ((1, say), (0, 1 - say)):
                after = posterior.update(row, answer)
                key = np.round(after.weights, 10).tobytes()
                mass = following[key][0] if key in following else 0.0
                following[key] = (mass + chance * likely, after)
        alive = list(following.values())
        gathered.append(total)
    # which of two queries at the same distance is asked changes later posteriors a little
    np.testing.assert_allclose(gathered, golden["cumulative_information"][: steps + 1], rtol=2e-3)
    np.testing.assert_allclose(gathered[:4], golden["cumulative_information"][:4], atol=1e-12)


@pytest.mark.parametrize("power", [0.5, 4.0, 50.0])
@pytest.mark.parametrize("seed", range(3))
def test_p11_apm_on_the_location_family_asks_the_mean(power, seed):
    """l = a (x - theta): W2^2 = a^2 (x - mean)^2 + const, for every power and every posterior."""
    rng = np.random.default_rng(seed)
    theta = rng.gamma(1.5, size=60) * rng.choice([1.0, 3.0], 60)
    queries = np.linspace(theta.min(), theta.max(), 400)
    target = capacity(Logistic(), Power(power)).input
    slope = 2.0
    scores = w2_squared(EmpiricalPool(slope * (queries[:, None] - theta)), target)
    exact = slope**2 * (queries - theta.mean()) ** 2
    np.testing.assert_allclose(scores - scores.min(), exact - exact.min(), atol=1e-8)
    assert abs(queries[np.argmin(scores)] - theta.mean()) <= queries[1] - queries[0]


def test_gaussian_labels_are_schalkwijk_kailath():
    """Bayesian linear regression at the query that meets the power: variance falls by 1 + P."""
    power, spread = 3.0, 0.7
    scheme = SchalkwijkKailath(power)
    state = scheme.start()
    mean, variance = 0.0, 1.0
    for answer in (0.4, -1.1, 0.2):
        x = np.sqrt(power / variance)  # the query of APM: E L^2 = P, mean removed
        state = scheme.update(state, answer)
        gain = variance * x / (x * variance * x + 1.0)
        mean, variance = mean + gain * answer, variance - gain * x * variance
        assert (mean, variance) == pytest.approx((state.mean, state.variance), rel=1e-12)
    level = 0.8
    assert state.quantile(level) == pytest.approx(mean + np.sqrt(variance) * ndtri(level))
    assert spread < 1


def test_price_of_a_gaussian_law(reference):
    """The share of C(P) that a Gaussian input of all the power, and of APM's scale, carries."""
    for row in reference("feedback")["bridge"]["gaussian_through_logistic"]:
        power = row["P"]
        best = capacity(Logistic(), Power(power))
        assert best.bits == pytest.approx(float(row["capacity"]), abs=1e-9)
        full = mutual_information(Logistic(), Gaussian(0.0, power)).bits
        scaled = mutual_information(Logistic(), Gaussian(0.0, 2 * power / np.pi)).bits
        assert full == pytest.approx(float(row["gaussian_full_power"]), abs=1e-9)
        assert scaled == pytest.approx(float(row["gaussian_at_apm_scale"]), abs=1e-9)
        assert full / best.bits == pytest.approx(row["ratio_full_power"], abs=1e-8)
        law = EmpiricalPool(np.sqrt(power) * ndtri((np.arange(4000) + 0.5) / 4000)[None, :])
        assert w2_squared(law, best.input)[0] == pytest.approx(row["w2_squared_full"], rel=1e-3)


def test_randomised_choice_has_mean_imbalance_zero():
    posterior = Thresholds.noisy(np.arange(8) + 0.5, 0.25).update([2.0], 1)
    queries = np.arange(1.0, 8.0)[:, None]
    belief = Belief(posterior)
    asked = [int(Bisection(randomised=True).select(belief, queries, rng=s)[0]) for s in range(400)]
    above = np.array([posterior.weights[posterior.values >= x].sum() for x in queries[:, 0]])
    spread = above[asked].std()
    assert len(set(asked)) == 2
    assert abs(above[asked].mean() - 0.5) < 5 * spread / np.sqrt(400)


def test_it_learns_a_threshold():
    rng = np.random.default_rng(3)
    queries = np.repeat(np.arange(1.0, 32.0), 12)[:, None]  # each query may be asked a dozen times
    learner = Learner(queries, Thresholds.noisy(np.arange(32) + 0.5, 0.1), Bisection(), seed=0)
    for _ in range(40):
        row = int(learner.ask())
        truth = queries[row, 0] < 20.5
        learner.tell(row, int(truth == (rng.random() > 0.1)))
    assert learner.belief.posterior.map[0] == 20.5
    efficiency = learner.efficiency
    assert 0.3 < efficiency.total <= 1.0 + 1e-9
    np.testing.assert_allclose(efficiency.power, np.log(9) ** 2, rtol=1e-9)


def test_nothing_known():
    flat = Belief(VariationalLogistic(1.0))
    assert Bisection().scores(flat, [[0.0], [2.0]]).tolist() == [0.0, 0.0]


def test_the_chance_of_a_positive_input_counts_the_mass_above_zero():
    pool = EmpiricalPool([[0.5, -0.5, 0.0], [0.2, 0.3, 1e-3], [-4.0, -1.0, 2.0]], [3.0, 1.0, 1.0])
    np.testing.assert_allclose(positive_chance(pool), [0.6, 1.0, 0.2])
    laws: Any = [DiscreteMeasure([-1.0, 2.0, 3.0], [0.25, 0.5, 0.25]), Gaussian(1.0, 4.0)]
    np.testing.assert_allclose(positive_chance(laws), [0.75, ndtr(0.5)])
