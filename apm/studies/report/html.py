"""The frame of the report: one HTML page that needs no network, light and dark, wide and narrow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from apm.studies.report.style import INK, Figure


def page(title: str, body: Iterable[str]) -> str:
    """A whole document, its style sheet inside."""
    style = (files("apm.studies.report") / "report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


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
    picture = inline(figure)
    if kind == "wide":
        picture = f'<div class="scroll">{picture}</div>'
    caption = "" if kind == "legend" else f"<figcaption>{escape(figure.caption)}</figcaption>"
    return f'<figure class="{kind}">{picture}{caption}</figure>'


def gallery(figures: Iterable[Figure]) -> str:
    """Figures side by side where there is room, one below the other on a phone."""
    return '<div class="figures">' + "\n".join(show(figure) for figure in figures) + "</div>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, kind: str = "") -> str:
    """A table; cells are HTML, and a cell that begins with '<td' is taken as it is."""
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "\n".join(
        "<tr>" + "".join(c if c.startswith("<td") else f"<td>{c}</td>" for c in row) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="table"><table class="{kind}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
