"""Sections of the report: the figures they show for made-up results."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from apm.studies.paper.methods import CURVE_METHODS
from apm.studies.paper.report import chapters
from apm.studies.paper.report.pictures import Pictures
from apm.studies.report.style import Figure
from tests.apm.studies.made_up import sheet
from tests.apm.studies.markup import parsed


def figure(name: str) -> Figure:
    return Figure(name, f"caption of {name}", '<svg width="1"><g id="a"/></svg>')


BARE = Pictures(
    legend=figure("legend"), curves=[], ranks=None, areas=[], failure_legend=None, failure=[],
    cross=None, information=[],
)  # fmt: skip


def test_the_best_of_each_row_is_marked() -> None:
    sheets = {
        "first": sheet("first", {"x": 0.8, "y": 0.7}, noise=0.0, trials=1),
        "second": sheet("second", {"y": 0.9}, noise=0.0, trials=1),
    }
    text = "".join(chapters.comparison(sheets, BARE))
    parsed(text)
    mean = {name: {m: 100 * a.mean() for m, a in s.areas.items()} for name, s in sheets.items()}
    first, second = mean["first"], mean["second"]
    row = f'<td>first</td><td class="best">{first["x"]:.1f}</td><td>{first["y"]:.1f}</td>'
    assert row in text
    assert f'<td>second</td><td>–</td><td class="best">{second["y"]:.1f}</td>' in text


def test_comparison_shows_its_figures() -> None:
    sheets = {"a": sheet("a", {"x": 0.8})}
    pictures = replace(BARE, ranks=figure("ranks"), areas=[figure("areas"), figure("beyond")])
    text = "".join(chapters.comparison(sheets, pictures))
    assert re.findall(r"<figcaption>caption of (\w+)", text) == ["ranks", "areas"]


def test_costs_stand_beside_the_published_ones() -> None:
    """1 ms for each of 40 queries against 1.521 s for BALD's selection on cross: 38 times."""
    sheets = {"cross": sheet("cross", dict.fromkeys(CURVE_METHODS, 0.8))}
    text = "".join(chapters.costs(sheets))
    parsed(text)
    assert text.count("<table") == 3
    assert "<td>40.00 ms<small>1.521 s, 38×</small></td>" in text
    # all three costs together, 120 ms, against the published 3.028 s
    assert "<td>120.00 ms<small>3.028 s, 25×</small></td>" in text
    unknown = "".join(chapters.costs({"a": sheet("a", {"BALD": 0.8})}))
    assert "<td>40.00 ms<small></small></td>" in unknown


def test_a_method_that_did_not_run_has_no_cost() -> None:
    sheets = {"a": sheet("a", {"BALD": 0.8}), "b": sheet("b", {"APM-LR": 0.8, "BALD": 0.8})}
    text = "".join(chapters.costs(sheets))
    assert text.count("<td>a</td><td>–</td><td>") == 3


def test_without_figures_there_is_no_section() -> None:
    assert chapters.failure(BARE) == chapters.cross(BARE) == chapters.information(BARE) == []
    pictures = replace(
        BARE, failure=[figure("failure")], cross=figure("cross"), information=[figure("bits")]
    )
    for section, key in (
        (chapters.failure, "failure"), (chapters.cross, "cross"),
        (chapters.information, "information"),
    ):  # fmt: skip
        text = "".join(section(pictures))
        assert parsed(text).ids[0] == key
        assert "<svg" in text


def test_beyond_says_where_an_addition_fails() -> None:
    levels = {"APM-LR": 0.8, "EPIG": 0.9}
    sheets = {
        "a": sheet("a", levels), "bb": sheet("bb", levels),
        "worse": sheet("worse", {"APM-LR": 0.8, "EPIG": 0.75}),
    }  # fmt: skip
    even = sheets["even"] = sheet("even", levels)
    ways = np.where(np.arange(30) % 2, 0.01, -0.01)[:, None]  # ahead in half of the trials
    even.arrays["accuracy"][1] = even.arrays["accuracy"][0] + ways
    text = "".join(chapters.beyond(sheets, replace(BARE, areas=[figure("one"), figure("two")])))
    parsed(text)
    found = re.search(
        r"<tr><td>EPIG</td><td>(\S+) .*?</td><td>2 of 4</td><td class=\"text\">worse</td></tr>",
        text,
    )
    assert found is not None
    np.testing.assert_allclose(float(found.group(1)), 0.15 / 4, atol=1e-3)
    assert "caption of two" in text
    assert "caption of one" not in text


def test_beyond_needs_an_addition_and_the_papers_method() -> None:
    assert chapters.beyond({"a": sheet("a", {"APM-LR": 0.8})}, BARE) == []
    assert chapters.beyond({"a": sheet("a", {"EPIG": 0.8})}, BARE) == []
