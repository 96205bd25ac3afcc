"""The frame of the page: well formed, with no links outside, names and words kept apart."""

from __future__ import annotations

import re

from apm.studies.report.html import (
    Entry,
    gallery,
    heading,
    inline,
    links,
    numbers,
    page,
    paragraph,
    show,
    subheading,
    table,
    title,
)
from apm.studies.report.style import INK, Figure
from tests.apm.studies.markup import parsed

SVG = (
    f'<svg width="90pt" height="60pt" viewBox="0 0 90 60"><defs><path id="p"/>'
    f'<clipPath id="c"></clipPath></defs><g clip-path="url(#c)" style="stroke: {INK}">'
    '<use xlink:href="#p" width="7"/></g></svg>'
)


def figure(name: str = "curve-a", caption: str = 'Less < more & "so"') -> Figure:
    return Figure(name, caption, SVG)


def test_a_page_is_whole_and_needs_nothing_else() -> None:
    text = page("A < B & C", ["<h1>Title</h1>", gallery([figure(), figure("curve-b")])])
    found = parsed(text)
    assert text.startswith("<!doctype html>")
    assert "<title>A &lt; B &amp; C</title>" in text
    assert found.outside == []
    assert {link[1:] for link in found.links} <= set(found.ids)
    assert not re.search(r"url\((?!#)|@import|<script|https?:", text)
    for rule in ("prefers-color-scheme: dark", 'charset="utf-8"', 'name="viewport"'):
        assert rule in text


def test_two_figures_on_a_page_keep_their_names_apart() -> None:
    ids = parsed(gallery([figure(), figure("Curve B")])).ids
    assert ids == ["curvea-p", "curvea-c", "curveb-p", "curveb-c"]


def test_a_figure_takes_the_pages_ink_and_width() -> None:
    svg = inline(figure())
    assert INK not in svg
    assert "stroke: currentColor" in svg
    assert "url(#curvea-c)" in svg
    assert 'href="#curvea-p"' in svg
    assert svg.startswith('<svg role="img" aria-label="Less &lt; more &amp; &quot;so&quot;"')
    opening = svg[: svg.index(">") + 1]
    assert not re.search(r" (width|height)=", opening)
    assert 'viewBox="0 0 90 60"' in opening
    assert 'width="7"' in svg  # what lies inside keeps its size


def test_kinds_of_figures() -> None:
    caption = "<figcaption>Less &lt; more &amp; &#34;so&#34;</figcaption>"
    assert caption in show(figure())
    assert caption not in show(figure(), "legend")
    assert '<div class="scroll"><svg' in show(figure(), "wide")
    assert show(figure(), "medium").startswith('<figure class="medium">')


def test_cells_are_wrapped_once() -> None:
    found = table(["A", "B"], [["1", Entry("2", "best")], ["3", "4"]], kind="claims")
    parsed(found)
    assert "<tr><th>A</th><th>B</th></tr>" in found
    assert '<tr><td>1</td><td class="best">2</td></tr>\n<tr><td>3</td><td>4</td></tr>' in found
    assert '<table class="claims">' in found


def test_titles_and_captions_are_text() -> None:
    """Escaped by the template, whoever calls it."""
    text = page("<script>1</script>", [show(figure(caption="<img src=x onerror=alert(1)>"))])
    assert "<script" not in text
    assert "<img" not in text


def test_whatever_a_chapter_says_is_text() -> None:
    bad = "<img src=x onerror=alert(1)>"
    cell = Entry(bad, bad, bad, bad)
    parts = [
        title(bad), heading(bad, bad), subheading(bad), paragraph(bad, bad), numbers([(bad, bad)]),
        links([(bad, bad)]), table([bad], [[bad], [cell]]), paragraph(f"`{bad}`"),
    ]  # fmt: skip
    for part in parts:
        assert "<img" not in part
        assert "&lt;img" in part
