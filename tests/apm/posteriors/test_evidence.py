"""A prior precision chosen by the evidence: the bound is one, and its maximum is found."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from apm import Bohning, Laplace, Learner, MaximumEvidence, VariationalLogistic
from apm.answering import default_posterior
from apm.posteriors import gaussian as gaussian_module
from apm.posteriors import variational as variational_module
from apm.posteriors.covariances import feature_covariance
from channelcode.channels import Logistic
from channelcode.errors import InvalidArgument

MODELS: dict[str, Any] = {
    "variational": lambda p, **k: VariationalLogistic(p, classes=[0, 1], **k),
    "bohning": lambda p, **k: Bohning(3, p, classes=[0, 1, 2], **k),
}


def problem(seed: int, n: int = 25, d: int = 4, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    logits = X @ rng.normal(size=(d, classes)) * 2 + rng.gumbel(size=(n, classes))
    return X, np.argmax(logits, axis=1)


def classes_of(name: str) -> int:
    return 3 if name == "bohning" else 2


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_another_precision_is_a_fit_with_it(
    name: str, intercept: bool, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wide:
        monkeypatch.setattr(feature_covariance, "WIDE", 1)
        for module in (gaussian_module, variational_module):
            monkeypatch.setattr(module, "MANY_FEATURES", 1)
    X, y = problem(1, n=9, d=12, classes=classes_of(name))
    options: dict[str, Any] = {"intercept": True, "intercept_precision": 0.5} if intercept else {}
    posterior = MODELS[name](1.0, **options).fit(X, y)
    for precision in (0.02, 1.0, 50.0):
        found = posterior.with_precision(precision)
        cold = MODELS[name](precision, **options).fit(X, y)
        assert found.log_evidence == pytest.approx(cold.log_evidence, abs=1e-8)
        np.testing.assert_allclose(found.mean, cold.mean, atol=1e-7)
        for left, right in zip(found.project(X), cold.project(X), strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-8)
        if intercept:
            assert found.precision[-1] == 0.5


@pytest.mark.parametrize("precision", [0.05, 1.0, 20.0])
def test_the_evidence_of_classes_is_laplaces(precision: float) -> None:
    """Against quadrature: K = 2 and one feature, where theta is (t, -t) / sqrt 2."""
    X, y = problem(3, n=40, d=1)
    weights = np.linspace(0.5, 2.0, 40)
    posterior = Bohning(2, precision, classes=[0, 1]).fit(X, y, weights)
    signs = 1.0 - 2.0 * y

    def joint(t: float) -> float:
        logs = weights @ special.log_expit(signs * np.sqrt(2.0) * t * X[:, 0])
        return float(np.exp(logs - precision * t * t / 2) * np.sqrt(precision / (2 * np.pi)))

    evidence = integrate.quad(joint, -20, 20, points=[0.0], epsabs=0, limit=200)[0]
    # to second order: the next is of the size of one over the number of labels
    assert posterior.log_evidence == pytest.approx(np.log(evidence), abs=0.05)


def test_no_labels_have_the_evidence_one() -> None:
    for name, model in MODELS.items():
        sized = model(2.0).sized(3)
        assert sized.log_evidence == pytest.approx(0.0, abs=1e-14), name


@pytest.mark.parametrize("name", MODELS)
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 20))
def test_no_precision_in_the_range_is_better(name: str, seed: int, n: int) -> None:
    X, y = problem(seed, n, 3, classes_of(name))
    rule = MaximumEvidence(lowest=0.01, highest=100.0)
    found = MODELS[name](rule, intercept=True).fit(X, y)
    assert 0.01 <= found.prior_precision <= 100.0
    coarse = rule.precisions[::8]
    for other in (*coarse, rule.precisions[-1]):
        assert found.with_precision(other).log_evidence <= found.log_evidence + 1e-7
    for near in (found.prior_precision / 2**0.25, found.prior_precision * 2**0.25):
        if 0.01 <= near <= 100.0:
            assert found.with_precision(near).log_evidence <= found.log_evidence + 1e-7


@pytest.mark.parametrize("name", MODELS)
@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_the_labels_alone_choose(name: str, seed: int) -> None:
    """One at a time, in another order, or all at once: the same evidence and the same laws."""
    X, y = problem(seed, 10, 3, classes_of(name))
    once = MODELS[name](MaximumEvidence()).fit(X, y)
    grown = MODELS[name](MaximumEvidence()).sized(3)
    order = np.random.default_rng(seed).permutation(10)
    for i in order:
        grown = grown.update(X[i], int(y[i]))
    assert grown.log_evidence == pytest.approx(once.log_evidence, abs=1e-7)
    beside = grown.with_precision(once.prior_precision)
    for left, right in zip(beside.project(X), once.project(X), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-7)
    if hasattr(grown, "last_update"):
        assert grown.last_update is None  # another prior: no change of rank one


def test_labels_that_say_nothing_leave_the_start() -> None:
    rule = MaximumEvidence(start=3.0)
    silent = VariationalLogistic(rule, classes=[0, 1]).fit(np.zeros((2, 2)), [0, 1])
    assert silent.prior_precision == pytest.approx(3.0)
    idle = VariationalLogistic(rule, classes=[0, 1]).fit([[1.0], [2.0]], [0, 1], [0.0, 0.0])
    assert idle.prior_precision == pytest.approx(3.0)


@pytest.mark.parametrize("name", MODELS)
def test_it_is_saved_and_copied(name: str) -> None:
    X, y = problem(5, classes=classes_of(name))
    rule = MaximumEvidence(2.0, 0.1, 50.0)
    posterior = MODELS[name](rule, intercept=True).fit(X, y)
    back = type(posterior).from_state(posterior.state(), posterior.channel)
    for other in (back, copy.deepcopy(posterior), pickle.loads(pickle.dumps(posterior))):
        assert other.evidence == rule
        assert other.prior_precision == posterior.prior_precision
        assert other.intercept_precision == 2.0
        np.testing.assert_array_equal(other.mean, posterior.mean)
        further = other.update(X[0], int(y[0]))
        again = posterior.update(X[0], int(y[0]))
        assert further.prior_precision == pytest.approx(again.prior_precision, rel=1e-6)
    assert posterior.without_data().prior_precision == 2.0
    assert "by evidence" in repr(posterior)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_learner_with_it_is_saved_loaded_and_recorded(classes: int, tmp_path: Any) -> None:
    X, y = problem(7, n=30, classes=classes)
    learner = Learner(X, prior_precision=MaximumEvidence(), seed=0)
    learner.record_to(tmp_path / "labels.jsonl")
    learner.tell(range(12), y[:12])
    learner.tell(12, y[12])
    learner.undo()
    learner.correct(3, y[4])
    learner.stop_recording()
    assert learner.belief.posterior.evidence == MaximumEvidence()
    assert learner.belief.posterior.num_labels == classes
    learner.save(tmp_path / "learner.npz")
    loaded = Learner.load(tmp_path / "learner.npz")
    told = Learner(X, prior_precision=MaximumEvidence(), seed=0)
    told.record_to(tmp_path / "labels.jsonl")
    told.stop_recording()
    for other in (loaded, told):
        assert other.ask(3).tolist() == learner.ask(3).tolist()
        np.testing.assert_allclose(other.predict_proba(), learner.predict_proba(), atol=1e-7)
        assert other.belief.posterior.evidence == MaximumEvidence()
    for precision, part in ((2.0, "prior_precision"), (1.0, "evidence")):
        model = default_posterior(classes, prior_precision=precision)
        with pytest.raises(InvalidArgument, match=f"must have the {part} of the file"):
            Learner.load(tmp_path / "learner.npz", model=model)
    assert learner.curve(X, y).labels[-1] == len(learner.labelled)


def test_a_prior_precision_for_the_model_that_is_chosen() -> None:
    learner = Learner([[1.0], [-1.0], [0.5]], prior_precision=4.0, seed=0)
    learner.tell([0, 1], ["a", "b"])
    assert learner.belief.posterior.prior_precision == 4.0
    learner.tell(2, "c")  # a third class: the posterior is another, its prior the same
    assert learner.belief.posterior.prior_precision == 4.0
    with pytest.raises(InvalidArgument, match="prior_precision must be given to the model"):
        Learner([[1.0]], VariationalLogistic(), prior_precision=1.0)


def test_the_compiled_loop_leaves_it_alone() -> None:
    from apm import APM

    X, y = problem(2, n=20)
    learners = [
        Learner(X, VariationalLogistic(MaximumEvidence(), classes=[0, 1]), APM(), seed=0)
        for _ in range(2)
    ]
    learners[0].run(y, 4)
    learners[1].run(y, 4, observe=lambda _: None)
    assert learners[0].labelled.tolist() == learners[1].labelled.tolist()
    assert learners[0].belief.posterior.evidence is not None


@pytest.mark.parametrize(
    "arguments", [{"start": 0.0}, {"lowest": -1.0}, {"start": 5.0, "highest": 2.0}, {"start": "a"}]
)
def test_what_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        MaximumEvidence(**arguments)
    with pytest.raises(InvalidArgument, match="it has no evidence bound"):
        Laplace(Logistic(), MaximumEvidence())  # type: ignore[arg-type]
