"""The frame of the report: one HTML page that needs no network, light and dark, wide and narrow.

The markup is in `report.html`, a template of Jinja2 with autoescape: titles and captions are text.
Cells of tables and paragraphs are markup that the chapters have made and escaped.
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


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, kind: str = "") -> str:
    """A table; cells are HTML, and a cell that begins with '<td' is taken as it is."""
    head = [_markup(cell) for cell in header]
    return _made("rows", head, [[_markup(cell) for cell in row] for row in rows], kind)


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
