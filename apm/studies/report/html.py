"""The frame of the report: one HTML page that needs no network, light and dark, wide and narrow.

All markup is in `report.html`, a template of Jinja2 with autoescape: what the chapters say is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

from apm.studies.report.style import INK, Figure


class _Picture(NamedTuple):
    """A figure as the template shows it: its markup, and its caption as text."""

    svg: Any
    caption: str


class Entry(NamedTuple):
    """An entry of a table: its text, a note below it, how it stands and what marks it.

    `kind` is "text" (to the left), "best" or "soft", or several; `mark` a verdict's colour.
    """

    text: str
    kind: str = ""
    note: str | None = None
    mark: str = ""


def page(title: str, body: Iterable[str]) -> str:
    """A whole document, its style sheet inside."""
    style = (files("apm.studies.report") / "report.css").read_text(encoding="utf-8")
    return _made("document", title, _markup(style), _markup("\n".join(body)))


def inline(figure: Figure) -> str:
    """The figure's SVG with the page's text colour, names of its own, and a label for readers."""
    prefix = re.sub(r"[^a-z0-9]", "", figure.name.lower()) + "-"
    svg = figure.svg.replace(INK, "currentColor")
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    svg = re.sub(r'href="#', f'href="#{prefix}', svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    label = escape(figure.caption, quote=True)
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def show(figure: Figure, kind: str = "") -> str:
    """A figure with its caption; `kind`: '', 'medium', 'wide' (scrolls on a phone), 'legend'."""
    return _made("picture", _picture(figure), kind)


def gallery(figures: Iterable[Figure]) -> str:
    """Figures side by side where there is room, one below the other on a phone."""
    return _made("figures", [_picture(figure) for figure in figures])


def table(header: Sequence[str], rows: Iterable[Sequence[str | Entry]], *, kind: str = "") -> str:
    """A table; an entry is text or a `Entry`."""
    body = [[cell if isinstance(cell, Entry) else Entry(cell) for cell in row] for row in rows]
    return _made("rows", header, body, kind)


def title(text: str) -> str:
    """The title of the page."""
    return _made("title", text)


def heading(text: str, key: str = "") -> str:
    """The heading of a chapter; `key` is what links name."""
    return _made("heading", text, key)


def subheading(text: str) -> str:
    """A heading inside a chapter."""
    return _made("subheading", text)


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph; names of files stand between backticks.

    >>> paragraph("See `areas.csv`: 1 < 2.")
    '<p>See <code>areas.csv</code>: 1 &lt; 2.</p>'
    """
    return _made("paragraph", text.split("`"), kind)


def numbers(boxes: Iterable[tuple[str, str]]) -> str:
    """Large numbers, each with what it counts."""
    return _made("numbers", list(boxes))


def links(anchors: Iterable[tuple[str, str]]) -> str:
    """Where the chapters are: keys and texts."""
    return _made("links", list(anchors))


def _picture(figure: Figure) -> _Picture:
    return _Picture(_markup(inline(figure)), figure.caption)


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


def _made(macro: str, *arguments: Any) -> str:
    return str(getattr(_template().module, macro)(*arguments))


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    source = (files("apm.studies.report") / "report.html").read_text(encoding="utf-8")
    return environment.from_string(source)
