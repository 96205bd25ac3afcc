"""A learner that chooses whom to ask."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from apm import (
    APM,
    Belief,
    Draws,
    Expert,
    ExpertLearner,
    GainPerCost,
    Grid,
    InformationGain,
    Laplace,
    Learner,
    Linear,
    PoolMaxPower,
    VariationalLogistic,
)
from apm.experts.panel import input_laws
from channelcode import Lapse, Logistic, Probit, Softmax, UnknownLapse
from channelcode.errors import InvalidArgument
from channelcode.information import mutual_information

RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 2))
TRUE = np.array([2.0, -1.5])
LABELS = (RNG.random(25) < Logistic().prob(X @ TRUE)[:, 1]).astype(int)
SURE = Expert(Logistic(), 3.0, "sure")
PROBIT = Expert(Probit(), 2.0, "probit")
NOISY = Expert(Lapse(Logistic(), 0.2, 0.2), 1.0, "noisy")
AXIS = np.linspace(-11, 11, 45)


def normal(theta):
    return np.exp(-0.125 * np.square(theta).sum(axis=-1))


def members() -> list[Any]:
    return [
        Laplace(Logistic(), 0.5),
        Laplace(Logistic(), 0.5, intercept=True),
        Grid([AXIS, AXIS], Logistic(), Linear(), prior=normal),
        Draws(RNG.normal(size=(80, 2)) * 2),
    ]


@pytest.mark.parametrize("place", range(4))
def test_scores_are_gain_over_price(place):
    """Against the information of each expert's own channel under the law of l alone."""
    learner = ExpertLearner(X, members()[place], experts=[SURE, NOISY], seed=0)
    learner.tell([0, 1], LABELS[:2].tolist(), expert="sure")
    learner.tell([1, 2], LABELS[1:3].tolist(), expert="noisy")
    belief = learner.belief
    scores = GainPerCost().scores(belief, learner.pairs)
    laws = input_laws(belief, X)
    for number, expert in enumerate((SURE, NOISY)):
        expected = np.asarray(mutual_information(expert.channel, laws).bits) / expert.cost
        np.testing.assert_allclose(scores[number::2], expected, atol=1e-9)
    pick = learner.ask()
    best = int(np.argmax(np.where(np.isin(np.arange(50), [0, 2, 3, 5]), -1, scores)))
    assert (int(pick), pick.experts) == (best // 2, (("sure", "noisy")[best % 2],))


def test_posterior_is_that_of_all_answers():
    """On a grid: the product of every expert's likelihood."""
    model = Grid([AXIS, AXIS], Logistic(), Linear(), prior=normal)
    learner = ExpertLearner(X, model, experts=[SURE, NOISY], seed=0)
    learner.tell([3, 4, 5], [1, 0, 1], expert=["sure", "noisy", "noisy"])
    points = np.array([(a, b) for a in AXIS for b in AXIS])
    ends = np.where(np.abs(AXIS) == 11, 0.5, 1.0)  # trapezoid cells
    mass = normal(points) * np.outer(ends, ends).ravel()
    for row, label, expert in ((3, 1, SURE), (4, 0, NOISY), (5, 1, NOISY)):
        mass = mass * expert.channel.prob(points @ X[row])[:, label]
    mass /= mass.sum()
    np.testing.assert_allclose(learner.posterior.weights, mass, atol=1e-12)
    p = mass @ Logistic().prob(points @ X.T)[..., 1].reshape(len(points), -1)
    np.testing.assert_allclose(learner.predict_proba()[:, 1], p, atol=1e-9)


def test_one_sure_expert_is_the_learner_without_experts():
    fast = Laplace(Logistic(), 0.5).fit(X, LABELS)
    learner = ExpertLearner(X, Laplace(Logistic(), 0.5), experts=[SURE], seed=0)
    learner.tell(range(25), LABELS.tolist(), expert="sure")
    np.testing.assert_allclose(learner.posterior.mean, fast.mean, atol=1e-7)
    np.testing.assert_allclose(learner.posterior.covariance, fast.covariance, atol=1e-7)
    np.testing.assert_allclose(learner.predict_proba(), Belief(fast).predict_proba(X), atol=1e-7)


def test_expert_is_kept_by_journal_archive_undo_and_correct(tmp_path):
    learner = ExpertLearner(X, Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    pick = learner.ask(3)
    assert len(set(zip(pick.tolist(), pick.experts, strict=True))) == 3
    learner.tell(pick, [1, 0, 1], expert=pick.experts)
    learner.tell(7, 1, expert="sure")
    learner.tell(7, 0, expert="noisy")  # another expert may say otherwise
    price = sum(SURE.cost if name == "sure" else NOISY.cost for name in pick.experts) + 4.0
    assert learner.spent == pytest.approx(price)
    with pytest.raises(InvalidArgument, match="must agree with the label"):
        learner.tell(7, 0, expert="sure")
    before = learner.posterior.mean
    learner.correct(7, 0, expert="sure")
    assert not np.array_equal(learner.posterior.mean, before)
    learner.save(tmp_path / "panel.npz")
    again = ExpertLearner.load(tmp_path / "panel.npz")
    assert again.experts == (SURE, NOISY)
    assert again.history == learner.history
    assert again.ask(4).tolist() == learner.ask(4).tolist()
    assert again.ask(4).experts == learner.ask(4).experts
    assert again.spent == learner.spent
    events = [(each.index, each.expert, each.label, each.event) for each in learner.history[-3:]]
    assert events == [(7, "sure", 1, "tell"), (7, "noisy", 0, "tell"), (7, "sure", 0, "correct")]
    assert learner.undo().tolist() == [7]
    np.testing.assert_allclose(learner.posterior.mean, before, atol=1e-9)
    learner.undo()
    assert learner.spent == pytest.approx(price - 1.0)
    learner.skip(9)
    learner.skip(10, expert="noisy")
    asked = learner.ask(30)
    told = set(zip(asked.tolist(), asked.experts, strict=True))
    assert not told & {(9, "sure"), (9, "noisy"), (10, "noisy")}
    learner.unskip(9)
    learner.abstain(11, expert="sure")
    learner.extend([[3.0, 3.0]])
    assert len(learner.pool) == 26
    learner.tell(25, 1, expert="noisy")
    assert learner.history[-1].index == 25


def test_useless_and_costly_experts_are_left_alone():
    """A useless expert is never asked at any price, nor one who asks more for the same."""
    useless = Expert(Lapse(Logistic(), 0.4999999, 0.4999999), 0.001, "useless")
    dear = Expert(Logistic(), 3.1, "dear")
    learner = ExpertLearner(X, Laplace(Logistic(), 0.5), experts=[dear, useless, SURE], seed=0)
    assert learner.ask().experts == ("sure",)
    assert "useless" not in learner.ask(10).experts


@pytest.mark.parametrize("selector", [APM(), APM(PoolMaxPower())])
def test_matching_refuses_experts(selector):
    with pytest.raises(InvalidArgument, match="not comparable across experts"):
        ExpertLearner(X, Laplace(Logistic(), 0.5), selector, experts=[SURE, NOISY])
    learner = ExpertLearner(X, Laplace(Logistic(), 0.5), experts=[SURE, NOISY])
    with pytest.raises(InvalidArgument, match="not comparable across experts"):
        selector.select(learner.belief, learner.pairs)


def test_unknown_rates_are_learnt():
    """Sixty answers of each: rates within four of their own deviations, and in the right order."""
    rng = np.random.default_rng(3)
    pool = rng.normal(size=(60, 2)) * 2
    truth = (rng.random(60) < Logistic().prob(pool @ TRUE)[:, 1]).astype(int)
    unknown = UnknownLapse(Logistic(), symmetric=True)
    experts = [SURE, Expert(unknown, 1.0, "careful"), Expert(unknown, 1.0, "careless")]
    learner = ExpertLearner(pool, Laplace(Logistic(), 0.5), experts=experts, seed=0)
    prior = learner.rates()
    assert prior["careful"] == pytest.approx(prior["careless"])
    learner.tell(range(60), truth.tolist(), expert="sure")
    for name, rate in (("careful", 0.04), ("careless", 0.35)):
        wrong = rng.random(60) < rate
        learner.tell(range(60), np.where(wrong, 1 - truth, truth).tolist(), expert=name)
    found = learner.rates()
    for name, rate in (("careful", 0.04), ("careless", 0.35)):
        assert abs(found[name][0] - rate) < 4 * found[name][1]
        assert found[name][1] < prior[name][1]
    assert found["careful"][0] < found["careless"][0]


def test_other_rules_and_channels():
    learner = ExpertLearner(X, Laplace(Logistic(), 0.5), InformationGain(), experts=[SURE, NOISY])
    assert set(learner.ask(5).experts) == {"sure"}  # prices do not count
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classes = [Expert(Softmax(3), 2.0, "a"), Expert(Softmax(3), 1.0, "b")]
        three = ExpertLearner(
            X, Laplace(Softmax(3), 0.5), experts=classes, truth=Softmax(3), seed=0
        )
        three.tell([0, 1, 2], ["x", "y", "z"], expert="b")
        assert three.predict_proba().shape == (25, 3)
        assert set(three.predict(X[:3])) <= {"x", "y", "z"}
        assert three.ask().experts == ("b",)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (VariationalLogistic(), {}, "must be Laplace"),
        (Laplace(Softmax(3)), {}, "input and outputs of the experts"),
        (Laplace(Logistic()).fit(X, LABELS), {}, "without labels"),
        (Laplace(Logistic(), intercept=True, intercept_precision=3.0), {}, "one prior precision"),
        (Laplace(Logistic()), {"truth": Softmax(3)}, "truth"),
        (3, {}, "model must be a posterior"),
    ],
)
def test_bad_models(model, options, message):
    with pytest.raises(InvalidArgument, match=message):
        ExpertLearner(X, model, experts=[SURE, Expert(Probit(), 1.0, "other")], **options)


def test_bad_answers_leave_the_state():
    learner = ExpertLearner(X, Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    for index, label, expert, message in (
        (0, 1, "nobody", "expert must be one of"),
        (0, 1, 2, "expert must be a number below 2"),
        (25, 1, "sure", "row number"),
        ([0, 1], [1], "sure", "one entry for each"),
        ([0, 1, 2], [1, 0, 1], ["sure", "noisy"], "one for each of 3"),
        (0, np.nan, "sure", "label"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            learner.tell(index, label, expert=expert)
    assert learner.spent == 0
    with pytest.raises(InvalidArgument, match="must say who answered"):
        learner.tell(0, 1)


def test_picks_know_whom_to_ask():
    """A part of a pick has the experts of that part; what is computed from it has none."""
    learner = ExpertLearner(X, Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    pick = learner.ask(6)
    for part in (slice(2, 5), [4, 0], np.array([True, False] * 3), slice(None, None, -1)):
        names = np.array(pick.experts, dtype=object)[part]
        assert pick[part].experts == tuple(names)
    assert int(pick[3]) == pick.tolist()[3]
    later: Any = pick + 1
    assert later.experts == ()
    learner.tell(pick[:2], [1, 0])
    told = [(each.index, each.expert) for each in learner.history]
    assert told == list(zip(pick[:2].tolist(), pick[:2].experts, strict=True))
    with pytest.raises(TypeError, match="not one integer"):
        int(pick)
    with pytest.raises(InvalidArgument, match="must say who answered"):
        learner.tell(pick + 0, [1, 0, 1, 0, 1, 0])


def test_a_learner_with_experts_is_a_learner():
    """`Learner(..., experts=)` is the same object, and without experts there is nobody to name."""
    learner = Learner(X, Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    assert type(learner) is ExpertLearner
    assert isinstance(learner, Learner)
    same = ExpertLearner(X, Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    assert learner.ask(5).pairs() == same.ask(5).pairs()
    plain = Learner(X, Laplace(Logistic(), 0.5), seed=0)
    with pytest.raises(InvalidArgument, match="made without experts"):
        plain.tell(0, 1, expert="sure")
    assert len(plain.labelled) == 0
    with pytest.raises(InvalidArgument, match="must be given with experts"):
        Learner(X, Laplace(Logistic(), 0.5), truth=Logistic())
    with pytest.raises(InvalidArgument, match="experts must be one Expert or more"):
        Learner(X, Laplace(Logistic(), 0.5), experts=[])


def test_an_expert_is_named_by_name_number_or_himself():
    learner = Learner(X, Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    learner.tell(0, 1, expert="noisy")
    learner.tell(1, 1, expert=1)
    learner.tell(2, 1, expert=NOISY)
    learner.tell([3, 4], [1, 0], expert=[SURE, "noisy"])
    assert learner.labelled.pairs() == [
        (0, "noisy"), (1, "noisy"), (2, "noisy"), (3, "sure"), (4, "noisy")
    ]  # fmt: skip
    alone = Learner(X, Laplace(Logistic(), 0.5), experts=[SURE], seed=0)
    alone.tell(3, 1)  # there is only one
    assert alone.labelled.pairs() == [(3, "sure")]


def test_what_may_be_asked_is_told_in_pairs():
    learner = Learner(X[:3], Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    learner.tell(0, 1, expert="sure")
    learner.skip(1, expert="noisy")
    learner.abstain(2, expert="sure")
    assert learner.remaining.pairs() == [(0, "noisy"), (1, "sure"), (2, "noisy")]
    assert learner.skipped.pairs() == [(1, "noisy")]
    assert learner.abstained.pairs() == [(2, "sure")]
    learner.unskip()
    assert learner.remaining.pairs() == [(0, "noisy"), (1, "sure"), (1, "noisy"), (2, "noisy")]
    assert "spent 3" in repr(learner)
    assert "3 rows, 2 features" in learner._repr_html_()


def test_a_file_and_a_journal_hold_the_experts(tmp_path):
    def fresh():
        return Learner(X, Laplace(Probit(), 0.5), experts=[PROBIT, NOISY], seed=0)

    learner = fresh()
    learner.record_to(tmp_path / "labels.jsonl")
    learner.tell(3, 1, expert="noisy")
    learner.tell([3, 5], [0, 1], expert="probit")
    learner.correct(3, 0, expert="noisy")
    learner.skip(8)
    learner.extend([[1.0, 2.0]])
    learner.undo()
    learner.extend([[1.0, 3.0], [0.0, 1.0]])
    learner.tell(26, 1, expert="noisy")
    learner.stop_recording()
    again = fresh()
    again.record_to(tmp_path / "labels.jsonl", more_rows=[[1.0, 2.0], [1.0, 3.0], [0.0, 1.0]])
    again.stop_recording()
    learner.save(tmp_path / "whole.npz")
    loaded = Learner.load(tmp_path / "whole.npz")
    for other in (again, loaded):
        assert type(other) is ExpertLearner
        assert other.labelled.pairs() == learner.labelled.pairs()
        assert other.spent == learner.spent
        assert other.ask(5).pairs() == learner.ask(5).pairs()
        np.testing.assert_allclose(other.predict_proba(), learner.predict_proba(), atol=1e-12)
        assert [each.event for each in other.history] == [each.event for each in learner.history]
    plain = Learner(X, Laplace(Logistic(), 0.5), seed=0)
    plain.save(tmp_path / "plain.npz")
    with pytest.raises(InvalidArgument, match="must be a file of a learner with experts"):
        ExpertLearner.load(tmp_path / "plain.npz")


def test_a_simulation_runs_the_same_loop():
    answers = np.stack([LABELS, 1 - LABELS], axis=1)  # the second is always wrong
    learner = Learner(X, Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    by_hand = Learner(X, Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    seen = []
    done = learner.run(answers, 8, observe=lambda round: seen.append(round.index))
    for _ in range(8):
        (row,), (name,) = (pick := by_hand.ask()).tolist(), pick.experts
        by_hand.tell(pick, int(answers[row, ("sure", "noisy").index(name)]))
    assert done.indices.pairs() == by_hand.labelled.pairs() == learner.labelled.pairs()
    assert seen == [2 * row + (name == "noisy") for row, name in done.indices.pairs()]
    with pytest.raises(InvalidArgument, match="an answer of every expert for every row"):
        learner.run(LABELS, 2)


def test_why_a_pair_was_chosen_and_what_is_not_given():
    learner = Learner(X, Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    pick = learner.ask()
    told = learner.explain(pick)
    assert (told.rank, told.index) == (0, int(pick))
    other = "noisy" if pick.experts == ("sure",) else "sure"
    assert learner.explain(int(pick), expert=other).rank > 0
    for name in ("stop_advice", "curve"):
        with pytest.raises(InvalidArgument, match=f"must have no experts to give {name}"):
            getattr(learner, name)()
    with pytest.raises(InvalidArgument, match="must have no experts to give efficiency"):
        _ = learner.efficiency


def test_frames_are_compared_by_column():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b"])
    learner = Learner(frame, Laplace(Logistic(), 0.5), experts=[SURE, NOISY], seed=0)
    learner.tell(0, 1, expert="sure")
    np.testing.assert_array_equal(learner.predict_proba(frame), learner.predict_proba())
    with pytest.raises(InvalidArgument, match="order of the pool"):
        learner.predict(frame[["b", "a"]])
    with pytest.raises(InvalidArgument, match="must have 2 columns"):
        learner.predict(np.zeros((3, 3)))
    learner.extend(frame.iloc[:2])
    assert len(learner.pool) == 27
