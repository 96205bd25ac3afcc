"""The manual: its frame, its reference, and how it looks in a browser."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
WIDTHS = {"desk": 1200, "phone": 400}


def hook(name: str) -> ModuleType:
    """A module of docs/hooks, by its file."""
    pytest.importorskip("mkdocs")
    spec = importlib.util.spec_from_file_location(
        f"hook_{name}", ROOT / "docs/hooks" / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_navigation_has_at_most_eight_entries_and_every_page():
    yaml = pytest.importorskip("yaml")
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert len(nav) <= 8
    named = set(re.findall(r"[\w/-]+\.md", str(nav)))
    written = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert written <= named, "these pages are in no menu"


def test_gallery_shows_every_example():
    gallery = hook("gallery")
    assert len(gallery.EXAMPLES) >= 15
    menu = (ROOT / "mkdocs.yml").read_text()
    for path in gallery.EXAMPLES:
        assert f"gallery/{path.stem}.md" in menu, f"{path.name} is in no menu"
        assert len(gallery.title(path)) <= 70, f"{path.name}: too long for a card"
        assert f"({path.stem}.png)" in gallery.index(gallery.EXAMPLES)
        assert f"({path.stem}.png)" not in gallery.index([])
        assert f"({path.stem}.md)" in gallery.index([])
    shown = gallery.page(gallery.EXAMPLES[0], Path("drawn.png"), "printed\n")
    assert "```text\nprinted\n```" in shown
    assert ".png" in shown
    assert gallery.EXAMPLES[0].read_text().rstrip() in shown


def test_an_example_that_lacks_an_extra_has_a_page_without_a_picture(tmp_path, monkeypatch):
    gallery = hook("gallery")
    monkeypatch.setattr(gallery, "KEPT", tmp_path)
    path = tmp_path / "rare.py"
    path.write_text("print('this example needs a rare package: pip install it')\n")
    monkeypatch.delenv("NO_SKIPS", raising=False)
    picture, printed = gallery.run(path, "state")
    assert picture is None
    text = gallery.page(path, picture, printed)
    assert "needs a rare package" in text
    assert ".png" not in text
    monkeypatch.setenv("NO_SKIPS", "1")
    with pytest.raises(gallery.PluginError, match="drew nothing"):
        gallery.run(path, "state")


def test_reference_has_every_public_name_once_and_nothing_private():
    pytest.importorskip("skactiveml", reason="the reference shows every adapter")
    reference = hook("reference")
    shown: list[str] = []
    for topic in reference.TOPICS:
        for package, names in reference.parts(topic):
            shown += [f"{package}.{name}" for name in names]
    assert len(shown) == len(set(shown))
    assert [name for name in shown if "._" in name] == []
    for package in ("channelcode", "apm"):
        public = {f"{package}.{name}" for name in importlib.import_module(package).__all__}
        assert public - set(shown) == {f"{package}.__version__"}


def test_reference_is_made_without_extras(monkeypatch: pytest.MonkeyPatch):
    """A name that cannot be loaded is listed with the extra that it needs."""
    import apm.adapters

    reference = hook("reference")
    adapters = next(topic for topic in reference.TOPICS if topic.file == "adapters")
    for module in [name for name in sys.modules if name.startswith("skactiveml")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "skactiveml", None)
    monkeypatch.delitem(sys.modules, "apm.adapters.skactiveml", raising=False)
    monkeypatch.delitem(vars(apm.adapters), "APMQueryStrategy", raising=False)
    text = reference.page(adapters)
    assert "| `APMQueryStrategy` | not shown" in text
    assert "channelcode[skactiveml]" in text
    assert "::: apm.adapters.committee.Committee" in text


def test_reference_says_what_each_name_is():
    """Every row of a topic has a first sentence; bars outside code are escaped."""
    pytest.importorskip("skactiveml", reason="the reference shows every adapter")
    for name, text in hook("reference").pages().items():
        for row in re.findall(r"^\| \[.*", text, re.M):
            cells = re.sub(r"`[^`]*`|\\\|", "", row).split("|")
            assert len(cells) == 4, f"{name}: {row}"
            assert cells[2].strip() or "`" in row.split("|", 2)[2], f"{name}: {row}"


def test_examples_in_docstrings_are_fenced():
    pytest.importorskip("griffe")
    fenced = hook("docstrings").fenced
    text = "One sentence.\n\n>>> 1 + 1\n2\n\nMore.\n\n    >>> x = [\n    ...     1]\n\nEnd."
    done = fenced(text)
    assert done.count("```pycon") == 2
    assert "```pycon\n>>> 1 + 1\n2\n```" in done
    assert "    ```pycon\n    >>> x = [\n    ...     1]\n    ```" in done
    assert fenced("No example.") == "No example."


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The manual, built as `make docs` builds it."""
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("manual") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> Any:
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


# Tables that reach past the window and stand in no box that scrolls.
CUT = """[...document.querySelectorAll('.md-content table')].filter(table => {
    for (let box = table; box && box !== document.body; box = box.parentElement)
        if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return false;
    return table.getBoundingClientRect().right > innerWidth + 1 }).length"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_no_table_is_cut_and_nothing_is_fetched(site, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in sorted(str(path.relative_to(site)) for path in site.rglob("*.html")):
        page.goto((site / name).as_uri())
        page.wait_for_selector(".md-content")
        assert page.evaluate(CUT) == 0, name
        assert page.evaluate(TOO_WIDE) <= 1, name
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
    page.close()


@pytest.mark.slow
def test_search_works_without_a_server(site, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("wasserstein")
    page.wait_for_selector(".md-search-result__item")
    assert "Transport" in page.locator(".md-search-result").inner_text()
    page.close()
