"""The user's own samples of the channel inputs, against direct sums and figures of ensembles."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, log_softmax, softmax

from apm import (
    APM,
    BALD,
    EPIG,
    AllClasses,
    APMExploit,
    APMExplore,
    Belief,
    Bisection,
    CollapsedWeights,
    ContestedPair,
    Entropy,
    FixedPower,
    InformationGain,
    Inputs,
    Learner,
    LeastConfidence,
    Margin,
    MatchedPower,
    MaxVariance,
    PoolMaxPower,
    Predictions,
    Random,
    SpectralWithMean,
    Uncertainty,
    VariancePower,
)
from apm.testing import check_posterior, check_selector
from channelcode import DiscreteMeasure, EmpiricalPool, Lapse, Logistic, Ordinal, Probit, Softmax
from channelcode.errors import InvalidArgument
from channelcode.transport import w2_squared
from tests.naming import plain

GOLDEN = json.loads((Path(__file__).parents[3] / "data" / "networks.json").read_text())
BITS = 1 / np.log(2)
RNG = np.random.default_rng(0)
LINE = RNG.normal(size=(14, 9)) * 2
SPACE = RNG.normal(size=(14, 9, 4)) * 2
WEIGHTS = RNG.random(9)
SELECTORS = [
    InformationGain(),
    InformationGain(samples=5),
    BALD(),
    EPIG(),
    Random(),
    MaxVariance(),
    Bisection(),
    Margin(bayesian=True),
    Entropy(bayesian=True),
    LeastConfidence(bayesian=True),
    APM(PoolMaxPower(), channel=ContestedPair()),
    APM(VariancePower(), channel=ContestedPair(), message=Predictions()),
    APM(MatchedPower(), channel=ContestedPair()),
    APM(FixedPower(1.0), channel=AllClasses()),
    APMExploit(PoolMaxPower()),
    APMExplore(PoolMaxPower()),
]
NEED_PARAMETERS = [APM(), APM(SpectralWithMean()), Uncertainty(), Margin(), Entropy()]


@pytest.mark.parametrize("name", ["ensemble_binary", "ensemble_ten"])
def test_ensemble_scores_are_the_golden_ones(name):
    """1e-12: sums over ten members, in another order than the reference's."""
    data = GOLDEN[name]
    for weights, scores in (
        (None, data["scores"]),
        (data["weighted"]["weights"], data["weighted"]["scores"]),
    ):
        posterior = Inputs(data["logits"], weights=weights)
        belief, rows = Belief(posterior), posterior.rows
        np.testing.assert_allclose(
            belief.information_gain(rows) / BITS, scores["information_gain_nats"], atol=1e-12
        )
        found = {
            "entropy_nats": Entropy(bayesian=True).scores(belief, rows),
            "margin": Margin(bayesian=True).scores(belief, rows),
            "least_confidence": LeastConfidence(bayesian=True).scores(belief, rows),
            "epig_nats": EPIG(targets=rows[:20]).scores(belief, rows) / BITS,
        }
        probability = belief.predict_proba(rows)
        found["entropy_nats"] = -(probability * np.log(probability)).sum(axis=1)
        for score in set(scores) & set(found):
            np.testing.assert_allclose(found[score], scores[score], atol=1e-12, err_msg=score)


@pytest.mark.parametrize("name", ["ensemble_binary", "ensemble_ten"])
def test_ensemble_distances_are_the_golden_ones(name):
    """Logits are centred: another pick, and other distances, if they were not."""
    data = GOLDEN[name]
    for case in data["apm"]:
        target = DiscreteMeasure(case["target_atoms"], case["target_masses"])
        for weights, part in (
            (None, "w2_squared_centred"),
            (data["weighted"]["weights"], "w2_squared_centred_weighted"),
        ):
            posterior = Inputs(data["logits"], weights=weights)
            laws = Belief(posterior).push(posterior.rows)
            # rtol: the semi-dual in nine dimensions is solved to 1e-9 of the distance
            np.testing.assert_allclose(w2_squared(laws, target), case[part], rtol=1e-8)
        posterior = Inputs(data["logits"])
        picked = APM(FixedPower(case["power"])).select(Belief(posterior), posterior.rows)
        assert picked[0] == case["pick"]


@pytest.mark.parametrize("channel", [Logistic(), Probit(), Lapse(Logistic(), 0.1)], ids=plain)
def test_update_is_bayes_rule(channel):
    posterior, law = Inputs(LINE, channel, WEIGHTS), WEIGHTS / WEIGHTS.sum()
    evidence = 0.0
    for row, label in ((3, 1), (0, 0), (3, 0), (11, 1)):
        posterior = posterior.update(row, label)
        law = law * channel.prob(LINE[row])[:, label]
        evidence += np.log(law.sum())
        law = law / law.sum()
    np.testing.assert_allclose(posterior.weights, law, rtol=1e-12)
    assert posterior.ess == pytest.approx(1 / np.square(law).sum(), rel=1e-12)
    assert posterior.log_evidence == pytest.approx(evidence, rel=1e-12)
    again = Inputs(LINE, channel, WEIGHTS).fit([3, 0, 3, 11], [1, 0, 0, 1])
    np.testing.assert_allclose(again.weights, law, rtol=1e-12)
    expected = channel.prob(LINE).transpose(0, 2, 1) @ law
    np.testing.assert_allclose(Belief(posterior).predict_proba(range(14)), expected, atol=1e-12)


def test_default_channels_and_centring():
    assert Inputs(LINE).channel == Logistic()
    posterior = Inputs(SPACE + 100.0)
    assert posterior.channel == Softmax(4)
    np.testing.assert_allclose(posterior.samples.mean(axis=2), 0.0, atol=1e-13)
    probability = softmax(SPACE, axis=2).mean(axis=1)
    np.testing.assert_allclose(Belief(posterior).predict_proba(range(14)), probability, atol=1e-12)
    # the predicted class is that of the averaged probabilities, not of the averaged logits
    skewed = Inputs([[[9.0, 0.0, 0.0], [0.0, 1.0, -9.0], [0.0, 1.0, -9.0], [0.0, 1.0, -9.0]]])
    belief = Belief(skewed)
    assert belief.likeliest([0])[0] == np.argmax(belief.predict_proba([0])[0]) == 1
    assert np.argmax(skewed.mean_inputs(skewed.rows)[0]) == 0
    assert Inputs(LINE, Ordinal([-1.0, 1.0])).num_labels == 3


def test_centring_leaves_centred_logits_as_they_are():
    far = Inputs(SPACE + 1e9 * RNG.normal(size=(14, 9, 1)))
    np.testing.assert_array_equal(Inputs(far.samples).samples, far.samples)
    np.testing.assert_allclose(far.samples.mean(axis=2), 0.0, atol=1e-13)


@pytest.mark.parametrize("selector", SELECTORS, ids=plain)
@pytest.mark.parametrize("samples", [LINE, SPACE], ids=["line", "space"])
def test_selectors_that_need_only_the_law_of_l(selector, samples):
    posterior = Inputs(samples, weights=WEIGHTS)
    belief, rows = Belief(posterior), posterior.rows
    check_selector(selector, belief, rows)
    batch = selector.select(belief, np.arange(14), n=14, rng=0)
    assert sorted(batch.tolist()) == list(range(14))


@pytest.mark.parametrize("selector", SELECTORS, ids=plain)
@pytest.mark.parametrize("samples", [LINE, SPACE], ids=["line", "space"])
def test_weights_are_repetitions(selector, samples):
    counts = np.array([2, 0, 1, 3, 0, 1, 1, 2, 1])
    weighted = Inputs(samples, weights=counts)
    repeated = Inputs(np.repeat(samples, counts, axis=1))
    left, right = (selector.scores(Belief(p), p.rows, rng=3) for p in (weighted, repeated))
    # rtol: distances in R^k are solved to 1e-9
    np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("selector", NEED_PARAMETERS, ids=plain)
@pytest.mark.parametrize("samples", [LINE, SPACE], ids=["line", "space"])
def test_what_needs_parameters_raises(selector, samples):
    posterior = Inputs(samples)
    with pytest.raises(InvalidArgument, match=r"posterior must (know|be linear in) its parameters"):
        selector.select(Belief(posterior), posterior.rows)
    for part in ("mean", "map", "covariance", "summed_covariance", "top_eigenvalue"):
        with pytest.raises(InvalidArgument, match="must know its parameters"):
            getattr(posterior, part)


@pytest.mark.parametrize(
    "posterior",
    [Inputs(LINE), Inputs(LINE, Probit(), WEIGHTS), Inputs(SPACE), Inputs(SPACE, weights=WEIGHTS)],
    ids=plain,
)
def test_contract(posterior):
    labels = np.arange(8) % posterior.num_labels
    check_posterior(posterior, posterior.rows[:8], labels)
    told = posterior.update([1, 2], [0, 1])
    for again in (
        pickle.loads(pickle.dumps(told)),
        copy.deepcopy(told),
        Inputs.from_state(told.state(), told.channel),
    ):
        np.testing.assert_array_equal(again.weights, told.weights)
        np.testing.assert_array_equal(again.samples, told.samples)
        assert again.log_evidence == told.log_evidence
        np.testing.assert_array_equal(again.update(3, 1).weights, told.update(3, 1).weights)
        with pytest.raises(ValueError, match="read-only"):
            again.samples[0, 0] = 3.0


def weights_of(learner):
    posterior = learner.belief.posterior
    assert isinstance(posterior, Inputs)
    return posterior.weights


@pytest.mark.parametrize("samples", [LINE, SPACE], ids=["line", "space"])
def test_learner_asks_tells_saves_and_goes_back(samples, tmp_path):
    posterior = Inputs(
        samples, weights=WEIGHTS, classes=list("ab" if samples.ndim == 2 else "abcd")
    )
    learner = Learner(range(14), posterior, seed=0)
    assert isinstance(learner.selector, InformationGain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedWeights)
        for label in ("a", "b", "a"):
            learner.tell(learner.ask(), label)
        batch = learner.ask(5)
        assert len(set(batch.tolist())) == 5
        assert not set(batch.tolist()) & set(learner.labelled.tolist())
        learner.save(tmp_path / "learner.npz")
        for again in (
            Learner.load(tmp_path / "learner.npz"),
            Learner.load(tmp_path / "learner.npz", model=posterior),
        ):
            assert again.ask(5).tolist() == batch.tolist()
            np.testing.assert_array_equal(weights_of(again), weights_of(learner))
        held = weights_of(learner)
        learner.tell(learner.ask(), "b")
        learner.undo()
        np.testing.assert_array_equal(weights_of(learner), held)
        learner.correct(int(learner.labelled[0]), "b")
        assert not np.array_equal(weights_of(learner), held)
        assert learner.predict_proba().shape == (14, len(posterior.classes_))
        assert set(learner.predict([0, 3])) <= set("abcd")
        learner.explain(int(learner.ask()))
        learner.stop_advice()
        assert all(record.bits >= 0 for record in learner.history if record.bits is not None)
        with pytest.raises(InvalidArgument, match=r"0\.\.13"):
            learner.extend([14])
    with pytest.raises(InvalidArgument, match="must have the l of the file"):
        Learner.load(
            tmp_path / "learner.npz",
            model=Inputs(
                samples + 1e-3 * RNG.normal(size=samples.shape),
                weights=WEIGHTS,
                classes=posterior.classes_,
            ),
        )


def test_a_changed_weight_in_a_file_is_found(tmp_path):
    from apm import archive

    learner = Learner(range(14), Inputs(LINE), seed=0)
    learner.tell(3, 1)
    learner.save(tmp_path / "learner.npz")
    header, arrays = archive.read(tmp_path / "learner.npz")
    header.pop("version")
    arrays["posterior/log_weights"] = np.roll(arrays["posterior/log_weights"], 1)
    archive.write(tmp_path / "changed.npz", header, arrays)
    with pytest.raises(InvalidArgument, match="must follow from the journal"):
        Learner.load(tmp_path / "changed.npz")


def test_a_batch_avoids_what_its_picks_tell():
    """A copy of the first pick is asked last, though by itself it is as good as the first."""
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(400, 3))
    X = np.vstack([[3.0, 0, 0], [3.0, 0, 0], [0, 2.9, 0], [0, 0, 2.9]])
    for samples in (X @ theta.T, np.stack([X @ theta.T, np.zeros((4, 400))], axis=2)):
        posterior = Inputs(samples)
        batch = InformationGain().select(Belief(posterior), posterior.rows, n=4)
        assert {int(batch[0]), int(batch[-1])} == {0, 1}


def test_asking_takes_what_a_gaussian_would_lose():
    """Covariances of moved samples: Sigma - Sigma A'(W^-1 + A Sigma A')^-1 A Sigma, by SciPy."""
    rng = np.random.default_rng(2)
    samples, weights = rng.normal(size=(5, 50, 3)), rng.random(50)
    weights /= weights.sum()
    posterior = Inputs(samples, weights=weights)
    W = np.array([[1.0, 0.2, 0.0], [0.2, 0.8, 0.1], [0.0, 0.1, 2.0]])
    after = posterior.after_asking(posterior.rows[:1], W)
    flat = posterior.samples.transpose(1, 0, 2).reshape(50, -1)
    before = np.cov(flat.T, aweights=weights, ddof=0)
    moved = after.project(posterior.rows)[0].transpose(1, 0, 2).reshape(50, -1)
    A = before[:, :3]
    expected = before - A @ np.linalg.inv(np.linalg.inv(W) + before[:3, :3]) @ A.T
    np.testing.assert_allclose(np.cov(moved.T, aweights=weights, ddof=0), expected, atol=1e-12)
    np.testing.assert_allclose(weights @ moved, weights @ flat, atol=1e-12)


def test_collapse_warns_once_and_impossible_labels_are_refused():
    sharp = Inputs(np.linspace(-400, 400, 81)[None, :])
    with pytest.warns(CollapsedWeights, match=r"of 81 samples"):
        told = sharp.update([0] * 2, [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = told.update(0, 1)

    class Sure(Logistic):
        def log_prob(self, l):
            with np.errstate(divide="ignore"):
                return np.log(np.stack([l <= 0, l > 0], axis=-1).astype(float))

    posterior = Inputs([[1.0, 2.0], [-1.0, 1.0]], Sure())
    with pytest.raises(InvalidArgument, match="y must be possible under at least one sample"):
        posterior.update(0, 0)
    np.testing.assert_array_equal(posterior.weights, [0.5, 0.5])
    learner = Learner([0, 1], posterior, seed=0)
    with pytest.raises(InvalidArgument, match="possible"):
        learner.tell([1, 0], [1, 0])
    assert len(learner.labelled) == 0
    assert posterior.update(0, 0, sample_weight=0.0).ess == 2.0
    with pytest.warns(CollapsedWeights):
        assert posterior.update(1, 1).weights.tolist() == [0.0, 1.0]


@given(st.integers(0, 2**32 - 1), st.sampled_from([2.0**-400, 1e-30, 1.0, 1e30, 2.0**400]))
def test_many_labels_do_not_underflow(seed, scale):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(0, 3, 3000), rng.integers(0, 2, 3000)
    samples = rng.normal(size=(3, 6)) * min(scale, 1e6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedWeights)
        told = Inputs(samples, weights=rng.random(6) * scale).fit(rows, labels)
    assert np.isfinite(told.log_evidence)
    assert told.weights.sum() == pytest.approx(1.0)
    assert 1.0 <= told.ess * (1 + 1e-12) <= 6.0 + 1e-9


@pytest.mark.parametrize(
    ("l", "options", "message"),
    [
        (np.ones(3), {}, "l must have 2 or 3 axes"),
        (np.ones((3, 0)), {}, "l must not be empty"),
        (np.where(np.eye(3) > 0, np.nan, 1.0), {}, r"nan at index \(0, 0\)"),
        (np.ones((3, 4, 1)), {}, "with K classes"),
        (np.full((3, 4), -1e200), {}, "must be at most 1e\\+140 in size"),
        (np.ones((3, 4)), {"channel": Softmax(4)}, r"must have shape \(n, s, 4\)"),
        (np.ones((3, 4, 3)), {"channel": Softmax(4)}, r"must have shape \(n, s, 4\)"),
        (np.ones((3, 4, 3)), {"channel": Logistic()}, r"must have shape \(n, s\)"),
        (np.ones((3, 4)), {"channel": "logistic"}, "channel must be a channel"),
        (np.ones((3, 4)), {"weights": [1, 2]}, "one entry for each of 4"),
        (np.ones((3, 4)), {"weights": [1, -1, 1, 1]}, "non-negative"),
        (np.ones((3, 4)), {"weights": [0.0] * 4}, "must not all be zero"),
        (np.ones((3, 4)), {"weights": [1, np.inf, 1, 1]}, "weights must be finite"),
        (np.array([[["a", "b"]]]), {}, "real numbers"),
        (np.ones((3, 4)), {"classes": ["one"]}, "2 different values"),
    ],
    ids=plain,
)
def test_bad_arguments(l, options, message):
    with pytest.raises(InvalidArgument, match=message):
        Inputs(l, **options)


@pytest.mark.parametrize(
    "rows",
    [
        -1,
        14,
        0.5,
        np.nan,
        [0, 14],
        [[0, 1]],
        np.zeros((2, 2)),
        True,
        [True, False],
        "a",
        [[0], [1, 2]],
        np.inf,
    ],
    ids=plain,
)
def test_bad_row_numbers(rows):
    posterior = Inputs(LINE)
    labels = [0] * (1 if np.ndim(np.asarray(rows, dtype=object)) == 0 else len(rows))
    for call in (
        lambda: posterior.update(rows, labels),
        lambda: posterior.fit(rows, labels),
        lambda: Belief(posterior).push(rows),
        lambda: Belief(posterior).update(rows, labels),
        lambda: Belief(posterior).information_gain(rows),
        lambda: Learner(rows, posterior),
    ):
        with pytest.raises(InvalidArgument):
            call()


def test_rows_in_every_form():
    posterior = Inputs(LINE)
    belief = Belief(posterior)
    gains = belief.information_gain(posterior.rows)
    p = expit(LINE)
    mean = p.mean(axis=1)
    entropy = lambda q: -(q * np.log2(q) + (1 - q) * np.log2(1 - q))  # noqa: E731
    np.testing.assert_allclose(gains, entropy(mean) - entropy(p).mean(axis=1), atol=1e-12)
    for rows in (range(14), np.arange(14), list(range(14)), np.arange(14)[:, None]):
        np.testing.assert_array_equal(belief.information_gain(rows), gains)
        assert InformationGain().select(belief, rows)[0] == np.argmax(gains)
    assert belief.information_gain(5)[0] == pytest.approx(gains[5], rel=1e-12)
    assert belief.update(5, 1).posterior.num_observations == 1
    assert belief.update([5, 6], [1, 0]).posterior.num_observations == 2
    assert isinstance(belief.push(3), EmpiricalPool)


def test_a_committee_of_probabilities():
    """Logarithms of probabilities are logits: the softmax of ln p is p."""
    p = np.random.default_rng(3).dirichlet(np.ones(3), size=(5, 4))
    posterior = Inputs(np.log(p))
    np.testing.assert_allclose(
        Belief(posterior).predict_proba(range(5)), p.mean(axis=1), atol=1e-12
    )
    np.testing.assert_allclose(log_softmax(posterior.samples, axis=2), np.log(p), atol=1e-12)


def test_a_row_number_is_one_feature():
    posterior = Inputs([[2.0, -2.0, 2.0], [1.0, 1.0, 1.0]])
    assert posterior.precision.shape == (posterior.num_features,) == (1,)
