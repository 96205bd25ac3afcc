"""The report: complete, self-contained, and right on a desk and on a phone."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from apm.studies import StoreError, reproduce
from apm.studies.paper.methods import METHODS
from apm.studies.paper.reproduce import Reproduction
from apm.studies.report.style import LOOKS
from tests.apm.studies.markup import parsed

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    folder = tmp_path_factory.mktemp("results")
    sets = ("cross", "clouds")
    return reproduce(folder, trials=2, datasets=sets, workers=1, progress=False)


def test_the_page_is_well_formed_and_needs_nothing_else(made: Reproduction) -> None:
    text = made.report.read_text()
    page = parsed(text)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert all(link.startswith("data:image/png;base64,") for link in page.outside)
    assert "<script" not in text
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_everything_is_written(made: Reproduction) -> None:
    folder = made.report.parent
    figures = {path.name for path in (folder / "figures").iterdir()}
    for name in ("curve-cross", "curve-clouds", "cross-illustration", "ranks", "areas", "legend"):
        assert {f"{name}.png", f"{name}.svg"} <= figures
    tables = {path.name for path in (folder / "tables").iterdir()}
    assert tables >= {"curves.csv", "areas.csv", "differences.csv", "costs.csv", "claims.csv"}
    assert tables >= {"ranks.csv", "information.csv", "failure.csv"}
    for path in (folder / "figures").glob("*.png"):
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_tables_agree_with_the_stored_trials(made: Reproduction) -> None:
    folder = made.report.parent
    with (folder / "tables" / "curves.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == "cross"]
    mine = [float(row["accuracy"]) for row in rows if row["method"] == "BALD"]
    stored = [
        np.load(folder / "trials" / "cross" / f"{trial:05d}.npz")["array/BALD/accuracy"]
        for trial in range(2)
    ]
    np.testing.assert_allclose(mine, np.mean(stored, axis=0), rtol=1e-15)
    with (folder / "tables" / "costs.csv").open() as file:
        costs = {(r["table"], r["dataset"], r["method"]): r for r in csv.DictReader(file)}
    assert float(costs["selection", "cross", "BALD"]["published_seconds"]) == 1.521
    assert float(costs["selection", "cross", "BALD"]["times_faster"]) > 1


def test_a_second_call_runs_nothing_and_gives_the_same_page(made: Reproduction) -> None:
    text = made.report.read_text()
    sets = ("cross", "clouds")
    again = reproduce(made.report.parent, trials=2, datasets=sets, workers=1, progress=False)
    assert (again.outcome.found, again.outcome.ran) == (4, 0)
    claims = re.compile(r"<h2 id='claims'>.*?<h2 id='curves'>", re.DOTALL)
    one, two = claims.search(text), claims.search(again.report.read_text())
    assert one is not None
    assert two is not None
    assert one.group() == two.group()


def test_other_settings_are_refused_with_advice(made: Reproduction) -> None:
    with pytest.raises(StoreError, match="Name another output directory"):
        reproduce(made.report.parent, trials=2, datasets=("cross",), seed=5, progress=False)


def test_every_method_has_a_look_of_its_own() -> None:
    assert set(METHODS) <= set(LOOKS)
    looks = [LOOKS[name] for name in METHODS]
    assert len({look.marker for look in looks}) == len(looks)
    curve = [(look.colour, str(look.dashes)) for look in looks]
    assert len(set(curve)) == len(curve)


PROBE = """<!doctype html><html><body>
<iframe id="frame" style="border:0;width:{width}px;height:2000px"></iframe>
<pre id="out">waiting</pre><script>
const frame = document.getElementById("frame");
frame.onload = () => {{
  const page = frame.contentDocument, view = page.documentElement;
  const wide = [...page.querySelectorAll("p, h1, h2, figure, nav, .numbers div")]
    .filter(e => e.getBoundingClientRect().right > {width} + 1 && !e.closest(".scroll, .table"));
  const small = [...page.querySelectorAll("svg")]
    .filter(e => e.getBoundingClientRect().width < 200);
  const ink = getComputedStyle(page.body).color, back = getComputedStyle(page.body).backgroundColor;
  document.getElementById("out").textContent =
    JSON.stringify([view.scrollWidth, wide.length, small.length, ink, back]);
}};
frame.srcdoc = {page};
</script></body></html>"""


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: the page is not looked at")
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_the_screen(
    made: Reproduction, tmp_path: Path, width: int, dark: bool
) -> None:
    import json

    page = json.dumps(made.report.read_text()).replace("</", "<\\/")
    probe = tmp_path / "probe.html"
    probe.write_text(PROBE.format(width=width, page=page))
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
        f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=20000",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}", probe.as_uri(),
    ]  # fmt: skip
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
    found = re.search(r'<pre id="out">(\[.*?\])</pre>', dom)
    assert found is not None, dom[-500:]
    scroll, wide, small, ink, back = json.loads(found.group(1))
    assert scroll <= width  # nothing makes the whole page scroll sideways
    assert wide == 0
    assert small == 0
    light = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, back)]
    assert (light[0] > light[1]) == dark
    assert abs(light[0] - light[1]) > 400  # of 765: text stands out from the page
