"""Labelling in a notebook: buttons that call a learner's `tell`, `skip`, `abstain` and `undo`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from apm.label.escaping import as_label, one_line, spelled_out
from apm.label.page.desk import CELLS, LONGEST_CELL
from apm.pools.inputs import is_sparse
from apm.posteriors.labels import as_labels
from channelcode.errors import ChannelCodeError, InvalidArgument, MissingExtra

if TYPE_CHECKING:
    from apm.learner import Learner

ENOUGH = 10  # labels, from which on the model is asked what further ones would bring
EVERY = 5  # labels: advice costs more than a click should
ELSEWHERE = "This row was answered elsewhere. Here is the next."


def import_widgets() -> Any:
    """The package ipywidgets, or an error that says which extra brings it."""
    try:
        import ipywidgets
    except ImportError:
        raise MissingExtra("ipywidgets", "notebook") from None
    return ipywidgets


class Buttons:
    """One row of a learner at a time, with a button for each answer; `widget` is what is shown.

    The learner is the only memory. Each turn has buttons of its own: a second click that was made
    before the next row was shown reaches a button of the turn before, and counts for nothing.
    """

    def __init__(
        self, learner: Learner, render: Callable[[int], Any] | None, classes: ArrayLike
    ) -> None:
        self._widgets = import_widgets()
        if learner.with_experts:
            raise InvalidArgument("learner", "must be one without experts", learner)
        if render is not None and not callable(render):
            raise InvalidArgument("render", "must be a function of the row's number", render)
        self.learner, self.render = learner, render
        self.given = as_labels(classes, "classes").tolist()
        as_labels(self.classes(), "classes")  # numbers and text do not mix
        self.row: int | None = None
        self._turn = self._calls = 0
        self._advice = ""
        self._advised: Any = None
        make = self._widgets
        self._progress, self._message, self._reason = make.HTML(), make.HTML(), make.HTML()
        self._item = make.Output()
        self._answers = make.HBox(layout=make.Layout(flex_flow="row wrap"))
        self._others = make.HBox(layout=make.Layout(flex_flow="row wrap"))
        self._why = make.Accordion([self._reason], titles=("Why this row?",), selected_index=None)
        self._why.observe(lambda _: self._explain(), names="selected_index")
        parts = [
            self._progress, self._item, self._answers, self._others, self._message, self._why,
        ]  # fmt: skip
        self.widget = make.VBox(parts)
        self._show()

    # What is known ----------------------------------------------------------------------------

    def classes(self) -> list[Any]:
        """The labels that have a button: those given, then those that the learner knows."""
        posterior = self.learner.belief.posterior
        known: list[Any] = []
        if posterior.has_classes and (posterior.num_observations or posterior._given is not None):
            known = posterior.classes_[posterior.certain_outputs].tolist()
        return list(dict.fromkeys([*self.given, *known]))

    def _may_be_others(self) -> bool:
        posterior = self.learner.belief.posterior
        if not posterior.has_classes or self.learner._setup.chosen["model"]:
            return True
        return posterior._given is None and len(self.classes()) < posterior.num_labels

    def _typed(self, text: str) -> Any:
        """The label that a typed text means: a known one, or a number where the known ones are."""
        label, known = as_label(text), self.classes()
        if label is None:
            raise InvalidArgument("label", "must be one line of text", text)
        for each in known:
            if str(each) == label:
                return each
        numeric = not self.learner.belief.posterior.has_classes
        if not numeric and (not known or isinstance(known[0], str)):
            return label
        for kind in (int, float):
            try:
                return kind(label)
            except ValueError:
                continue
        raise InvalidArgument("label", "must be a number", text)

    # A turn -----------------------------------------------------------------------------------

    def _show(self, message: str = "", row: int | None = None) -> None:
        """Show a row, by default the one that the learner asks for, with fresh buttons."""
        learner = self.learner
        if row is None and len(learner.remaining):
            try:
                row = int(learner.ask())
            except Exception as error:  # what was told is told: an undo is still possible
                message = f"{message} No row could be chosen: {error}"
        self.row, self._calls = row, learner._state.journal.calls
        self._turn += 1
        old = [*self._answers.children, *self._others.children]
        self._answers.children = () if row is None else tuple(self._class_buttons(row))
        self._others.children = tuple(self._other_buttons(row))
        for each in old:
            for part in (each.layout, each.style, each):
                part.close()
        self._item.outputs = tuple(self._rendered(row))
        self._progress.value = self._progress_line()
        self._message.value = _as_text(message)
        self._explain()

    def _class_buttons(self, row: int) -> list[Any]:
        tell = self.learner.tell
        made = [
            self._button(one_line(str(label)), lambda label=label: tell(row, label), row, "primary")
            for label in self.classes()
        ]
        if self._may_be_others():
            field = self._widgets.Text(placeholder="another answer")
            made += [
                field,
                self._button("Answer with this", lambda: tell(row, self._typed(field.value)), row),
            ]
        return made

    def _other_buttons(self, row: int | None) -> list[Any]:
        learner, made = self.learner, []
        if row is not None:
            made = [
                self._button("Skip", lambda: learner.skip(row), row),
                self._button("Don't know", lambda: learner.abstain(row), row),
            ]
        undo = self._button("Undo", learner.undo, None)
        undo.disabled = not learner._state.journal.undoing()
        return [*made, undo]

    def _button(self, name: str, act: Callable[[], Any], row: int | None, style: str = "") -> Any:
        """A button for this turn; `row` is what it answers, None for an undo."""
        turn = self._turn
        button = self._widgets.Button(description=name, tooltip=name, button_style=style)
        button.layout.width = "auto"

        def clicked(_: Any) -> None:
            with self.learner._lock:
                self._take(act, row, turn)

        button.on_click(clicked)
        return button

    def _take(self, act: Callable[[], Any], row: int | None, turn: int) -> None:
        """Do what a button says, if what it was about is still so; errors are shown, not raised."""
        learner = self.learner
        if turn != self._turn:
            self._message.value = _as_text(
                "That click came before this row was shown: not counted."
            )
            return None
        if row is None and self._calls != learner._state.journal.calls:
            return self._show(
                "Other answers came in the meantime: undo again to take the last back."
            )
        if row is not None and row not in learner.remaining:
            return self._show(ELSEWHERE)
        try:
            undone = act()
        except Exception as error:  # the learner is as before: the row stays
            self._message.value = _as_text(f"Not taken: {error}")
            return None
        again = None
        if undone is not None:
            again = next((int(each) for each in undone if each in learner.remaining), None)
        return self._show("" if undone is None else "Taken back.", again)

    # What is seen -----------------------------------------------------------------------------

    def _progress_line(self) -> str:
        learner = self.learner
        told, rows = len(learner.labelled), len(learner.pool)
        line = f"<b>{told}</b> of {rows} rows labelled"
        for count, name in ((len(learner.skipped), "skipped"), (len(learner.abstained), "unknown")):
            line += f", {count} {name}" if count else ""
        if not len(learner.remaining):
            line += ". No row is left to ask."
        due = told % EVERY == 0 or self.row is None or self._advised is None
        if told >= ENOUGH and due and self._advised != learner._state.journal.answers:
            self._advised, self._advice = learner._state.journal.answers, _advice(learner)
        return line + (_as_text(self._advice) if told >= ENOUGH else "")

    def _explain(self) -> None:
        """Why this row, if somebody wants to know."""
        self._reason.value = ""
        if self._why.selected_index is None or self.row is None:
            return
        try:
            self._reason.value = _as_text(str(self.learner.explain(self.row)))
        except Exception as error:
            self._reason.value = _as_text(f"No explanation: {error}")

    def _rendered(self, row: int | None) -> list[dict[str, Any]]:
        """What an `Output` shows of a row; an error of `render` is shown in its place."""
        if row is None:
            return []
        if self.render is None:
            return [_display({"text/html": table(self.learner, row)})]
        from IPython.core.formatters import DisplayFormatter
        from IPython.core.getipython import get_ipython
        from IPython.utils.capture import capture_output

        shell: Any = get_ipython()
        formatter: Any = DisplayFormatter() if shell is None else shell.display_formatter
        shown: list[dict[str, Any]] = []
        with capture_output() as caught:
            try:
                made = self.render(row)
                if isinstance(made, str):
                    shown = [_display({"text/html": _as_text(made), "text/plain": made})]
                elif made is not None:
                    shown = [_display(*formatter.format(made))]
            except Exception as error:
                text = f"render({row}) failed: {type(error).__name__}: {error}"
                shown = [_display({"text/html": _as_text(text), "text/plain": text})]
        printed = spelled_out(caught.stdout + caught.stderr)
        before = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
        return [*before, *(_display(each.data, each.metadata) for each in caught.outputs), *shown]


def table(learner: Learner, row: int) -> str:
    """Names and values of the columns of a row, as HTML; of a sparse row those that are not 0."""
    values: Any = learner.pool[row : row + 1]
    if is_sparse(values):
        values = values.toarray()
        places = np.flatnonzero(values[0])
    else:
        values = np.asarray(values)
        places = np.arange(values.shape[1])
    names = getattr(learner, "feature_names_in_", np.arange(values.shape[1]))
    titles = (spelled_out(str(names[place]))[:LONGEST_CELL] for place in places[:CELLS])
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(title)}</th>"
        f"<td style='text-align:left'>{escape(f'{values[0, place]:.6g}')}</td></tr>"
        for place, title in zip(places, titles)
    )
    more = len(places) - CELLS
    return f"<p>Row {row}</p><table>{cells}</table>" + (f"<p>and {more} more</p>" * (more > 0))


def _advice(learner: Learner) -> str:
    """What further labels would bring, in a sentence; nothing where the model cannot say."""
    if len(set(learner._state.journal.answers.labels.values())) < 2:
        return ""  # it would be sure of the one class that it knows
    try:
        advice = learner.stop_advice()
    except ChannelCodeError:
        return ""
    low, high = advice.interval
    text = (
        f"After {advice.labels} labels the model expects to be right about {advice.accuracy:.0%} "
        f"of the rows ({low:.0%} to {high:.0%})"
    )
    if advice.gain is not None:
        text += f", and {advice.gain:+.1%} from the next {advice.next_labels} labels"
    return f"{text}. This is its own opinion, not a measurement."


def _as_text(text: str) -> str:
    """Text as HTML that shows it as it is."""
    if not text:
        return ""
    shown = escape(spelled_out(text)[:LONGEST_CELL])
    return f"<div style='white-space:pre-wrap;line-height:1.4'>{shown}</div>"


def _display(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    """One output of a notebook, by media type; bytes of pictures become base64."""
    plain = {
        kind: b64encode(value).decode() if isinstance(value, bytes) else value
        for kind, value in data.items()
    }
    return {"output_type": "display_data", "data": plain, "metadata": metadata or {}}
