"""Labelling in a notebook, without one: buttons are clicked by the test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from apm import Expert, Learner, VariationalLogistic
from apm.label import notebook
from apm.posteriors import LinearGaussian
from channelcode import Logistic
from channelcode.errors import InvalidArgument

widgets = pytest.importorskip("ipywidgets")

X = np.random.default_rng(0).normal(size=(30, 3))
TRUTH = np.where(X[:, 0] > 0, "yes", "no")
HOSTILE = "<img src=x onerror=alert(1)>&\x1b[31m\u202e"
ELEMENT = re.compile(r"<\s*(?:img|script|svg|iframe)", re.IGNORECASE)


class Hand:
    """What somebody at the notebook sees and does."""

    def __init__(self, learner: Learner, *args: Any, **options: Any) -> None:
        self.widget = learner.label(*args, **options)
        self.progress, self.item, self.answers, self.others, self.message, self.why = (
            self.widget.children
        )

    def names(self) -> list[str]:
        shown = (*self.answers.children, *self.others.children)
        return [each.description for each in shown if isinstance(each, widgets.Button)]

    def button(self, name: str) -> Any:
        shown = (*self.answers.children, *self.others.children)
        return next(each for each in shown if getattr(each, "description", None) == name)

    def click(self, name: str) -> None:
        self.button(name).click()

    def write(self, text: str) -> None:
        field = next(each for each in self.answers.children if isinstance(each, widgets.Text))
        field.value = text
        self.click("Answer with this")

    def seen(self) -> str:
        """All HTML that is in the page."""
        shown = [
            each.get("text") or each["data"].get("text/html", "") for each in self.item.outputs
        ]
        return "".join(
            [*shown, self.progress.value, self.message.value, self.why.children[0].value]
        )


def events(learner: Learner) -> list[tuple[str, int, Any]]:
    return [(record.event, record.index, record.label) for record in learner.history]


def test_the_buttons_are_the_loop_of_ask_and_tell() -> None:
    by_hand, by_code = Learner(X, seed=0), Learner(X, seed=0)
    hand = Hand(by_hand, classes=["no", "yes"])
    for _ in range(12):
        row = int(by_code.ask())
        assert f"<p>Row {row}</p>" in hand.seen()
        by_code.tell(row, TRUTH[row])
        hand.click(TRUTH[row])
    assert events(by_hand) == events(by_code)
    assert "<b>12</b> of 30 rows labelled" in hand.progress.value


def test_skip_abstain_and_undo() -> None:
    learner = Learner(X, classes=["no", "yes"], seed=0)
    hand = Hand(learner)
    assert hand.button("Undo").disabled
    rows = []
    for name in ("yes", "Skip", "Don't know"):
        rows.append(int(learner.ask()))
        hand.click(name)
    assert events(learner) == [
        ("tell", rows[0], "yes"), ("skip", rows[1], None), ("abstain", rows[2], None),
    ]  # fmt: skip
    assert "1 skipped, 1 unknown" in hand.progress.value
    for row in reversed(rows):
        hand.click("Undo")
        assert f"<p>Row {row}</p>" in hand.seen()  # it is shown again
    assert len(learner.remaining) == len(X)
    assert hand.button("Undo").disabled
    hand.click("no")
    assert learner.history[-1].label == "no"
    assert learner.labelled.tolist() == rows[:1]


def test_a_second_click_does_not_answer_a_row_that_nobody_saw() -> None:
    learner = Learner(X, classes=["no", "yes"], seed=0)
    hand = Hand(learner)
    old = [hand.button(name) for name in ("yes", "no", "Skip", "Don't know", "Undo")]
    old[0].click()
    for each in old:
        each.click()
    assert [record.event for record in learner.history] == ["tell"]
    assert "not counted" in hand.message.value
    hand.click("no")  # the buttons that are shown work
    assert len(learner.labelled) == 2


def test_two_widgets_on_one_learner() -> None:
    learner = Learner(X, classes=["no", "yes"], seed=0)
    one, two = Hand(learner), Hand(learner)
    first = int(learner.ask())
    one.click("yes")
    two.click("no")  # about the same row: refused, and the next is shown
    assert events(learner) == [("tell", first, "yes")]
    assert "answered elsewhere" in two.message.value
    assert f"<p>Row {int(learner.ask())}</p>" in two.seen()
    two.click("no")
    one.click("Undo")  # what is last now was not seen there
    assert len(learner.labelled) == 2
    one.click("Undo")
    assert len(learner.labelled) == 1


def test_calls_from_other_cells_do_no_harm() -> None:
    learner = Learner(X, classes=["no", "yes"], seed=0)
    hand = Hand(learner)
    row = int(learner.ask())
    learner.tell([each for each in range(len(X)) if each != row][:5], TRUTH[:5])
    hand.click("yes")  # the row that is shown is open: it is what the answer is about
    assert learner.labelled[-1] == row


def test_classes_appear_as_they_are_named() -> None:
    learner = Learner(X, seed=0)
    hand = Hand(learner)
    assert hand.names() == ["Answer with this", "Skip", "Don't know", "Undo"]
    for bad in ("", "  ", "a\nb", "\x1b"):
        hand.write(bad)
        assert "must be one line of text" in hand.message.value
    hand.write("  spam ")
    hand.write("fine")
    hand.write("spam")
    hand.write("third")
    assert hand.names()[:4] == ["fine", "spam", "third", "Answer with this"]
    assert [record.label for record in learner.history] == ["spam", "fine", "spam", "third"]
    fixed = Hand(Learner(X, classes=["a", "b", "c"], seed=0))
    assert fixed.names() == ["a", "b", "c", "Skip", "Don't know", "Undo"]


def test_numbers_stay_numbers() -> None:
    learner = Learner(X, VariationalLogistic(), seed=0)
    hand = Hand(learner, classes=[0])
    hand.write("seven")
    assert "must be a number" in hand.message.value
    hand.write("1")
    hand.click("0")
    assert [record.label for record in learner.history] == [1, 0]
    assert hand.names() == ["0", "1", "Skip", "Don't know", "Undo"]  # both are known
    with pytest.raises(InvalidArgument, match="classes"):
        learner.label(classes=["a"])


def test_a_regression_takes_a_number() -> None:
    learner = Learner(X, LinearGaussian(0.5, 1.0), seed=0)
    hand = Hand(learner)
    hand.write("much")
    hand.write("nan")
    assert len(learner.history) == 0
    hand.write("2.5")
    assert learner.history[-1].label == 2.5
    assert hand.names() == ["Answer with this", "Skip", "Don't know", "Undo"]


def test_hostile_text_is_shown_and_not_run() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", HOSTILE, "<script>alert(1)</script>"])
    learner = Learner(frame, classes=[HOSTILE, "b"], seed=0)
    hand = Hand(learner)
    hand.why.selected_index = 0
    assert "&lt;img" in hand.seen()
    name = hand.names()[0]  # a button's description is text for the browser, never HTML
    assert "\x1b" not in name
    assert "\u202e" not in name
    hand.click(name)
    assert learner.history[-1].label == HOSTILE

    def broken(row: int) -> Any:
        raise ValueError(HOSTILE)

    for render in (lambda row: HOSTILE, broken):
        shown = Hand(learner, render)
        assert "&lt;img" in shown.seen()
        assert "\x1b" not in shown.seen()
    growing = Hand(Learner(X, seed=0), classes=["b"])
    growing.write(HOSTILE)
    growing.write("<script>")
    for each in (hand, shown, growing):
        assert not ELEMENT.search(each.seen())


def test_render_is_given_the_number_of_the_row() -> None:
    learner = Learner(X, classes=["no", "yes"], seed=0)
    asked = []
    hand = Hand(learner, asked.append)
    hand.click("yes")
    hand.click("no")
    assert asked[:2] == learner.labelled.tolist()
    assert asked[2] == int(learner.ask())
    assert all(type(row) is int for row in asked)
    with pytest.raises(InvalidArgument, match="render"):
        learner.label("a name")  # type: ignore[arg-type]


def test_what_render_returns_is_displayed() -> None:
    class Picture:
        def _repr_png_(self) -> bytes:
            return b"\x89PNG"

    learner = Learner(X, seed=0)

    def render(row: int) -> Picture:
        print("before", row)
        return Picture()

    stream, picture = Hand(learner, render).item.outputs
    assert stream["text"] == f"before {int(learner.ask())}\n"
    assert picture["data"]["image/png"].strip() == "iVBORw=="  # base64
    from IPython.display import HTML

    (shown,) = Hand(learner, lambda row: HTML("<b>bold</b>")).item.outputs
    assert shown["data"]["text/html"] == "<b>bold</b>"
    assert Hand(learner, lambda row: None).item.outputs == ()


def test_an_error_in_render_loses_nothing() -> None:
    learner = Learner(X, classes=["no", "yes"], seed=0)
    fragile = int(learner.ask())

    def render(row: int) -> str:
        if row == fragile:
            raise KeyError("picture")
        return f"row {row}"

    hand = Hand(learner, render)
    assert f"render({fragile}) failed: KeyError" in hand.seen()
    hand.click("yes")
    assert learner.labelled.tolist() == [fragile]
    assert f"row {int(learner.ask())}" in hand.seen()


def test_an_error_of_the_learner_is_shown_and_the_row_stays() -> None:
    learner = Learner(X, VariationalLogistic(classes=["no", "yes"]), seed=0)
    hand = Hand(learner, classes=["maybe"])
    row = int(learner.ask())
    hand.click("maybe")
    assert "Not taken" in hand.message.value
    assert len(learner.history) == 0
    hand.click("yes")
    assert events(learner) == [("tell", row, "yes")]


def test_a_learner_that_cannot_ask_keeps_what_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Learner(X, classes=["no", "yes"], seed=0)
    hand = Hand(learner)

    def fail(self: Learner) -> Any:
        raise RuntimeError("no <b>choice</b>")

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "ask", fail)
        hand.click("yes")
    assert "No row could be chosen: no &lt;b&gt;choice" in hand.message.value
    assert "No row is left" not in hand.progress.value
    assert len(learner.labelled) == 1
    hand.click("Undo")
    hand.click("no")
    assert learner.history[-1].label == "no"


def test_a_finished_pool() -> None:
    learner = Learner(X[:3], classes=["no", "yes"], seed=0)
    hand = Hand(learner)
    for name in ("yes", "no", "Skip"):
        hand.click(name)
    assert hand.names() == ["Undo"]
    assert "No row is left" in hand.progress.value
    assert hand.item.outputs == ()
    assert Hand(learner).names() == ["Undo"]
    hand.why.selected_index = 0
    assert hand.why.children[0].value == ""
    hand.click("Undo")
    assert hand.names() == ["no", "yes", "Skip", "Don't know", "Undo"]
    hand.click("yes")
    assert len(learner.labelled) == 3


def test_labels_are_in_the_journal_file(tmp_path: Path) -> None:
    learner = Learner(X, classes=["no", "yes"], seed=0)
    learner.record_to(tmp_path / "labels.jsonl")
    hand = Hand(learner)
    for name in ("yes", "Undo", "no", "Skip", "Don't know"):
        hand.click(name)
    learner.stop_recording()
    again = Learner(X, classes=["no", "yes"], seed=0)
    assert again.record_to(tmp_path / "labels.jsonl") == 5
    again.stop_recording()
    assert events(again) == events(learner)


def test_reasons_are_worked_out_when_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Learner(X, classes=["no", "yes"], seed=0)
    hand = Hand(learner)
    assert hand.why.children[0].value == ""
    hand.why.selected_index = 0
    assert f"candidate {int(learner.ask())}: score" in hand.why.children[0].value
    hand.click("yes")  # and stay open
    assert f"candidate {int(learner.ask())}: score" in hand.why.children[0].value
    hand.why.selected_index = None
    monkeypatch.setattr(Learner, "explain", None)  # not called while closed
    hand.click("no")
    assert hand.why.children[0].value == ""


def test_advice_comes_with_enough_labels() -> None:
    learner = Learner(X, classes=["no", "yes"], seed=0)
    hand = Hand(learner)
    for number in range(1, 12):
        hand.click(str(TRUTH[int(learner.ask())]))
        assert ("the model expects" in hand.progress.value) == (number >= notebook.ENOUGH)
    assert f"After {notebook.ENOUGH} labels" in hand.progress.value  # every few labels
    assert "After 11 labels" in Hand(learner).progress.value


def test_no_advice_while_one_class_is_known() -> None:
    """A model that knows one class expects to be right about everything."""
    hand = Hand(Learner(X, seed=0), classes=["no", "yes"])
    for _ in range(14):
        hand.click("yes")
        assert "the model expects" not in hand.progress.value
    hand.click("no")
    assert "After 15 labels" in hand.progress.value


def test_old_buttons_are_closed() -> None:
    from ipywidgets.widgets import widget

    learner = Learner(X, seed=0)
    hand = Hand(learner, classes=["no", "yes"])
    hand.click("yes")
    hand.click("no")
    before = len(widget._instances)
    for _ in range(5):
        hand.click("no")
    assert len(widget._instances) == before


def test_sparse_and_wide_rows_are_cut() -> None:
    wide = np.zeros((4, 100))
    wide[:, 3], wide[:, 70] = [1, 2, 3, 4], 1 / 3
    shown = Hand(Learner(sparse.csr_array(wide), seed=0)).seen()
    assert shown.count("<tr>") == 2
    assert "<th style='text-align:left'>70</th><td style='text-align:left'>0.333333</td>" in shown
    shown = Hand(Learner(wide, seed=0)).seen()
    assert shown.count("<tr>") == 40
    assert "and 60 more" in shown


def test_learners_with_experts_are_refused() -> None:
    learner = Learner(X, experts=[Expert(Logistic(), 1.0, "one")], seed=0)
    with pytest.raises(InvalidArgument, match="without experts"):
        learner.label()


def test_the_block_of_the_manual_runs() -> None:
    text = (Path(__file__).parents[3] / "docs" / "labelling.md").read_text()
    part = text.split("## With buttons, in a notebook")[1]
    block = part.split("```python no-run\n")[1].split("```")[0]
    *before, last = block.strip().splitlines()
    namespace: dict[str, Any] = {}
    exec("\n".join(before), namespace)
    widget = eval(last, namespace)
    asked = int(namespace["learner"].ask())
    assert namespace["texts"][asked] in widget.children[1].outputs[0]["data"]["text/plain"]
    widget.children[2].children[0].click()
    assert events(namespace["learner"]) == [("tell", asked, "good")]
