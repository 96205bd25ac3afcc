"""A learner in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

SHOWN = 10  # the latest records


def as_html(learner: Any) -> str:
    """A short table: what the learner is, how far it has come, its latest records."""
    state = learner._state
    facts = {
        "pool": f"{len(learner.pool)} rows, {learner.n_features_in_} features",
        "labelled": str(len(learner.labelled)),
        "skipped": str(len(learner.skipped)),
        "abstained": str(len(learner.abstained)),
        "classes": _classes(learner),
        "posterior": repr(state.belief.posterior),
        "selector": repr(learner._setup.given),
    }
    rows = "".join(
        f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>"
        f"{escape(_short(value))}</td></tr>"
        for name, value in facts.items()
    )
    table = f"<table>{rows}</table>"
    latest = learner.history[-SHOWN:]
    if not latest:
        return f"<div>{table}</div>"
    lines = "".join(
        f"<tr><td>{escape(record.event)}</td><td>{record.index}</td>"
        f"<td>{escape(_short(record.label))}</td><td>{_number(record.bits)}</td></tr>"
        for record in reversed(latest)
    )
    head = "<tr><th>event</th><th>row</th><th>label</th><th>bits</th></tr>"
    return f"<div>{table}<table>{head}{lines}</table></div>"


def _classes(learner: Any) -> str:
    if not learner.belief.posterior.has_classes:
        return "none: the labels are numbers"
    return ", ".join(str(name) for name in learner.classes_.tolist())


def _short(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 200 else text[:197] + "..."


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
