"""What a learner says about itself is computed as it says."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from sklearn.metrics import log_loss

from apm.belief import Belief
from apm.insight import StopAfter, StopBelowBits, StopWhenStable
from apm.learner import Learner
from apm.posteriors import VariationalLogistic
from apm.selectors import APM, Margin
from channelcode.channels import Logistic
from channelcode.errors import InvalidArgument
from channelcode.information import mutual_information
from channelcode.measures import Gaussian
from tests.apm.loops import data, labels_for, run


def taught(labels: int = 12, rows: int = 60, classes: int = 2, **options) -> Learner:
    X, y = data(rows)
    if classes > 2:
        y = labels_for(X, classes)
    learner = Learner(X, seed=3, **options)
    learner.tell(range(labels), y[:labels])
    return learner


def test_remaining_bits_and_expected_accuracy_are_averages_over_the_pool():
    learner = taught()
    advice = learner.stop_advice()
    posterior = learner.belief.posterior
    features = np.asarray(learner.belief.encoder.encode(learner.pool))
    design = np.hstack([features, np.ones((60, 1))])
    mean = design @ posterior.mean
    variance = np.einsum("ni,ij,nj->n", design, np.asarray(posterior.covariance), design)
    bits = [mutual_information(Logistic(), Gaussian(m, v)).bits for m, v in zip(mean, variance)]
    assert advice.remaining_bits == pytest.approx(np.mean(bits), abs=1e-8)
    assert advice.accuracy == pytest.approx(learner.predict_proba().max(axis=1).mean(), abs=1e-10)
    assert advice.labels == 12
    assert advice.rows == 60
    assert "the model's own account" in str(advice)


def test_the_interval_is_that_of_draws():
    learner = taught()
    low, high = learner.stop_advice().interval
    posterior = learner.belief.posterior
    rng = np.random.default_rng(1)
    theta = rng.multivariate_normal(posterior.mean, np.asarray(posterior.covariance), size=4000)
    design = np.hstack([np.asarray(learner.belief.encoder.encode(learner.pool)), np.ones((60, 1))])
    right = 1 / (1 + np.exp(-(design @ theta.T) * np.sign(design @ posterior.mean)[:, None]))
    expected = np.quantile(right.mean(axis=0), [0.05, 0.95])
    # 200 draws against 4000: the 5 % quantile has a standard error of about .01
    np.testing.assert_allclose([low, high], expected, atol=0.04)


def test_advice_is_the_same_whenever_it_is_asked_and_changes_nothing():
    learner = taught()
    before = learner.ask(3).tolist()
    first = learner.stop_advice()
    assert learner.stop_advice() == first
    assert learner.ask(3).tolist() == before
    assert len(learner.history) == 12


def test_the_predicted_gain_shrinks_as_labels_come():
    few, many = taught(6).stop_advice(), taught(50).stop_advice()
    gains = few.gain, many.gain, few.gain_bits, many.gain_bits
    early, late, early_bits, late_bits = (-1.0 if gain is None else gain for gain in gains)
    assert early > late > -0.02
    assert early_bits > late_bits > 0
    assert few.remaining_bits > many.remaining_bits


def test_the_predicted_gain_is_borne_out_on_data_of_the_model():
    """Over 30 draws of theta the labels told raise the expected accuracy as predicted."""
    rng = np.random.default_rng(5)
    differences = []
    for seed in range(30):
        X = rng.normal(size=(80, 3))
        theta = rng.normal(size=3)
        y = rng.random(80) < 1 / (1 + np.exp(-X @ theta))
        learner = Learner(X, VariationalLogistic(1.0, classes=[False, True]), Margin(), seed=seed)
        learner.tell(range(8), y[:8])
        advice = learner.stop_advice()
        batch = learner.ask(10)
        learner.tell(batch, y[batch])
        differences.append(learner.stop_advice().accuracy - advice.accuracy - (advice.gain or 0.0))
    error = np.std(differences) / np.sqrt(30)
    # three standard errors, and a hundredth for the variational bound, which is a little too sure
    assert abs(np.mean(differences)) < 3 * error + 0.01


@pytest.mark.parametrize("classes", [3])
def test_k_classes(classes):
    learner = taught(9, rows=40, classes=classes)
    advice = learner.stop_advice()
    assert 1 / 3 < advice.accuracy < 1
    assert advice.interval[0] < advice.accuracy < advice.interval[1]
    assert advice.gain is not None
    assert learner.curve().accuracy.shape == (10,)


def test_before_any_label_and_after_the_last():
    X, y = data(20)
    learner = Learner(X, seed=0)
    advice = learner.stop_advice()
    assert advice.gain is None
    assert advice.accuracy == pytest.approx(0.5)
    learner.tell(range(20), y)
    assert learner.stop_advice().gain is None
    assert "next" not in str(learner.stop_advice())


# Rules -------------------------------------------------------------------------------------------


def test_rules_say_stop_when_they_should():
    learner = taught(4)
    assert StopAfter(4).should_stop(learner)
    assert not StopAfter(5).should_stop(learner)
    bits = learner.stop_advice().remaining_bits
    assert StopBelowBits(1.001 * bits).should_stop(learner)
    assert not StopBelowBits(0.999 * bits).should_stop(learner)
    assert not StopWhenStable(labels=2, times=2).should_stop(learner)  # too few labels to compare
    learner.undo()
    assert not StopAfter(1).should_stop(learner)


def test_stable_means_that_the_predictions_agree():
    X, y = data(60)
    learner = Learner(X, VariationalLogistic(1.0), APM(), seed=0)
    run(learner, y, 30)
    for labels, times in ((3, 1), (5, 2), (2, 4)):
        shares = []
        for step in range(times + 1):
            past = Learner(X, VariationalLogistic(1.0), APM(), seed=0)
            count = 30 - labels * (times - step)
            past.tell(learner.labelled[:count], y[learner.labelled[:count]])
            shares.append(past.predict())
        least = min(np.mean(a == b) for a, b in itertools.pairwise(shares))
        assert StopWhenStable(least, labels, times).should_stop(learner)
        if least < 1:
            assert not StopWhenStable(min(1.0, least + 1e-9), labels, times).should_stop(learner)


@pytest.mark.parametrize(
    "make",
    [
        lambda: StopAfter(0), lambda: StopAfter("2"),  # type: ignore[arg-type]
        lambda: StopBelowBits(0.0),
        lambda: StopBelowBits(float("nan")), lambda: StopWhenStable(1.2),
        lambda: StopWhenStable(labels=0), lambda: StopWhenStable(times=0),
    ],
)  # fmt: skip
def test_bad_rules(make):
    with pytest.raises(InvalidArgument):
        make()


# Curves ------------------------------------------------------------------------------------------


def test_a_curve_is_measured_by_learning_again():
    X, y = data(60)
    names = np.array(["no", "yes"])[y]
    learner = Learner(X[:40], VariationalLogistic(1.0), APM(), seed=0)
    run(learner, names[:40], 10)
    learner.correct(learner.labelled[3], names[learner.labelled[3]])  # nothing changes
    curve = learner.curve(X[40:], names[40:])
    assert curve.measured
    assert curve.labels.tolist() == list(range(1, 11))
    assert curve.accuracy[-1] == np.mean(learner.predict(X[40:]) == names[40:])
    expected = log_loss(names[40:], learner.predict_proba(X[40:]), labels=["no", "yes"])
    assert curve.log_loss[-1] == pytest.approx(expected, rel=1e-6)
    assert learner.curve(X[40:], names[40:], every=4).labels.tolist() == [4, 8, 10]
    assert curve.to_frame().shape == (10, 3)


def test_without_labels_it_is_an_expectation():
    learner = taught(10)
    curve = learner.curve()
    assert not curve.measured
    assert curve.labels[0] == 0
    assert curve.accuracy[0] == pytest.approx(0.5)
    assert curve.log_loss[0] == pytest.approx(np.log(2))
    assert curve.accuracy[-1] == pytest.approx(learner.stop_advice().accuracy, abs=1e-6)


def test_bad_arguments_of_curves():
    learner = taught(4)
    X, y = data(60)
    for arguments in ((X, None), (None, y), (X, y[:3]), (X[:, :2], y)):
        with pytest.raises(InvalidArgument):
            learner.curve(*arguments)
    with pytest.raises(InvalidArgument, match="every"):
        learner.curve(every=0)
    with pytest.raises(InvalidArgument, match="must have a label"):
        Learner(X, seed=0).curve(X, y)


# In a notebook -----------------------------------------------------------------------------------


def test_html_is_escaped_and_short():
    X, _ = data(30)
    learner = Learner(X, VariationalLogistic(), seed=0)
    assert "30 rows, 3 features" in learner._repr_html_()
    learner.tell([0, 1], ["<script>alert(1)</script>", "b" * 5000])
    learner.skip(4)
    text = learner._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "skip" in text
    assert len(text) < 6000


def test_advice_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        taught(4).stop_advice().gain = 1.0  # type: ignore[misc]
    assert isinstance(taught(4).belief, Belief)
