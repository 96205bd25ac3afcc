"""The frame of the report: one HTML page that needs no network, light and dark, wide and narrow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from apm.experiments.figures.style import INK, Figure

STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #5b6067; --page: #ffffff;
  --card: #f5f6f8; --line: #d7dade; --held: #0b6b4f; --not: #a63a00; --open: #6b5a00; --link: #0059a8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a8adb4; --page: #15171a;
  --card: #1e2125; --line: #3a3f45; --held: #5fd3ab; --not: #ff9d6b; --open: #e3c94b; --link: #7cc0ff; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 1.2rem 1rem 4rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: .6rem 0 .4rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, li { max-width: 46rem; } a { color: var(--link); }
.soft { color: var(--soft); }
nav { font-size: .92rem; margin: .8rem 0; } nav a { margin-right: .9rem; white-space: nowrap; }
.numbers { display: grid; gap: .7rem; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); margin: 1rem 0; }
.numbers div { background: var(--card); border-radius: .5rem; padding: .7rem .8rem; }
.numbers b { display: block; font-size: 1.35rem; line-height: 1.2; }
.numbers span { color: var(--soft); font-size: .86rem; }
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); }
figure { margin: 0; background: var(--card); border-radius: .5rem; padding: .6rem; }
figure.wide { margin-bottom: 1rem; } .scroll { overflow-x: auto; -webkit-overflow-scrolling: touch; }
figure.wide svg { min-width: 40rem; } figure svg { display: block; width: 100%; height: auto; color: var(--ink); }
figure.legend { max-width: 30rem; margin-bottom: 1rem; } figure.medium { max-width: 44rem; margin-bottom: 1rem; }
figcaption { font-size: .86rem; color: var(--soft); padding: .3rem .2rem 0; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .32rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th { font-weight: 600; } th:first-child, td:first-child { text-align: left; }
td.text, th.text { text-align: left; } td.best { font-weight: 700; }
td small { color: var(--soft); display: block; }
.held, .not-held, .not-resolved, .not-run { font-weight: 700; white-space: nowrap; }
.held { color: var(--held); } .not-held { color: var(--not); } .not-resolved { color: var(--open); } .not-run { color: var(--soft); }
.table { overflow-x: auto; margin: .6rem 0 1rem; }
@media (max-width: 40rem) { body { font-size: 15px; } h1 { font-size: 1.45rem; }
  .claims thead { display: none; } .claims tr { display: block; border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .claims td { display: block; border: 0; padding: .1rem .2rem; text-align: left; } }
@media print { figure { break-inside: avoid; } }
"""


def page(title: str, body: Iterable[str]) -> str:
    """A whole document."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
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
    """A figure with its caption; `kind` is '', 'medium', 'wide' (scrolls on a phone) or 'legend'."""
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
