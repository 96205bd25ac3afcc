"""The page in a real Chromium: keys, tabs, hostile cells, other sites, kill and restart."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm.label import LabelFile, RowNames
from apm.tables import read_table

ROOT = Path(__file__).parents[4]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.skipif(sync_playwright is None, reason="playwright is not installed"),
]
KEY = "document.dispatchEvent(new KeyboardEvent('keydown', {}))"
DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJg"
    "gg=="
)  # one pixel
# What another site tries: [origin, token, method, mode] to what came of it.
ATTEMPT = """async ([origin, token, method, mode]) => {
    const path = method === 'GET' ? '/api/state' : '/api/undo';
    const headers = mode === 'cors' ? {Authorization: 'Bearer ' + token} : {};
    const body = method === 'GET' ? undefined : '{}';
    try {
        const reply = await fetch(origin + path, {method, mode, headers, body});
        return reply.type + ' ' + reply.status;
    } catch (error) { return 'refused'; }
}"""
FRAMED = """origin => new Promise(done => {
    const frame = document.createElement('iframe');
    frame.onload = () => {
        try { done(frame.contentDocument === null); } catch (error) { done(true); }
    };
    frame.src = origin;
    document.body.append(frame);
})"""
WAIT = 60_000  # milliseconds: a machine may be busy
NASTY = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202e=cmd()'


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:  # type: ignore[misc]
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def pool(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "pool.jsonl"
    rows = [{"x": float(a), "y": float(b), "said": f"words of row {n} " + NASTY, "file": "a.png"}
            for n, (a, b) in enumerate(rng.normal(size=(40, 2)).round(4))]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@contextmanager
def served(pool, *options, port="0"):
    """The address of the page that `apm label` serves, and its process."""
    command = [sys.executable, "-m", "apm", "label", str(pool), "--labels",
               str(pool.with_name("labels.csv")), "--no-browser", "--port", port, "--features",
               "x,y", "--classes", "no,yes", *options]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().removeprefix("label at ").strip()
        assert url.startswith("http://127.0.0.1:")
        try:
            yield url, running
        finally:
            running.kill()


def test_the_browser_is_opened_without_telling_the_token(tmp_path, monkeypatch):
    """Arguments of programs can be seen by every user of a machine."""
    from apm.cli import label as module

    told = []
    monkeypatch.setattr(module.webbrowser, "open", told.append)
    with ExitStack() as stack:
        module._open("http://127.0.0.1:1/#token=secret", stack)
        assert "secret" not in told[0]
        place = Path(told[0].removeprefix("file://"))
        assert "url=http://127.0.0.1:1/#token=secret" in place.read_text()
        assert place.parent.stat().st_mode & 0o077 == 0
    assert not place.exists()


@contextmanager
def opened(browser, url, **options):
    """A page on the address, ready; whatever it complains of is an error of the test."""
    context = browser.new_context(**options)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(url)
    page.wait_for_selector("#main:not([hidden])", timeout=WAIT)
    yield page
    context.close()
    assert complaints == []


def row(page: Any) -> int:
    return int(page.get_attribute("body", "data-row"))


def press(page: Any, key: str) -> None:
    """Press a key and wait for the next item."""
    turn = page.get_attribute("body", "data-turn")
    page.keyboard.press(key)
    page.wait_for_function("turn => document.body.dataset.turn !== turn", arg=turn, timeout=WAIT)


def answers(pool):
    return LabelFile(pool.with_name("labels.csv"), RowNames(read_table(pool))).read()


def test_keys(browser, pool):
    with served(pool, "--text", "said") as (url, _), opened(browser, url) as page:
        assert "token" not in page.url
        seen = []
        for key in "12sd1":
            seen.append(row(page))
            press(page, key)
        found = answers(pool)
        assert list(found) == seen
        assert [(each.kind, each.label) for each in found.values()] == [
            ("label", "no"), ("label", "yes"), ("skip", ""), ("unsure", ""), ("label", "no"),
        ]  # fmt: skip
        press(page, "u")
        assert row(page) == seen[-1]
        assert list(answers(pool)) == seen[:-1]
        assert page.inner_text("#count") == "2 of 40 labelled, 1 skipped, 1 don’t know"
        page.keyboard.press("w")
        page.wait_for_function(
            "() => document.getElementById('reasons').textContent.includes('rank 1')"
        )
        page.keyboard.press("p")
        page.wait_for_function(
            "() => document.querySelector('#curve polyline') !== null", timeout=WAIT
        )
        assert "after 2 labels" in page.inner_text("#advice")
        page.fill("#fresh", "perhaps")
        page.keyboard.type("1s")  # letters in a field are letters
        assert list(answers(pool)) == seen[:-1]
        turn = page.get_attribute("body", "data-turn")
        page.keyboard.press("Enter")
        page.wait_for_function("turn => document.body.dataset.turn !== turn", arg=turn)
        assert answers(pool)[seen[-1]].label == "perhaps1s"
        assert page.locator("#classes button").count() == 3
        assert not page.is_visible("#first")
        press(page, "3")  # the new class has a key


def test_fast_double_keys_label_one_item(browser, pool):
    with served(pool) as (url, _), opened(browser, url) as page:
        first = row(page)
        turn = page.get_attribute("body", "data-turn")
        # before the reply: both were meant for this item
        page.evaluate("for (const key of '11') " + KEY.format("{key}"))
        page.wait_for_function("turn => document.body.dataset.turn !== turn", arg=turn)
        page.wait_for_timeout(300)
        assert list(answers(pool)) == [first]
        page.evaluate(KEY.format("{key: '1', repeat: true}"))  # a key that is held down
        page.wait_for_timeout(300)
        assert list(answers(pool)) == [first]


def test_reload_back_and_a_tab_without_token(browser, pool):
    with served(pool) as (url, _), opened(browser, url) as page:
        press(page, "1")
        shown = row(page)
        page.reload()
        page.wait_for_selector("#main:not([hidden])", timeout=WAIT)
        assert row(page) == shown
        page.goto("about:blank")
        page.go_back()
        page.wait_for_function("() => document.body.dataset.row !== undefined", timeout=WAIT)
        assert row(page) == shown
        press(page, "2")
        assert len(answers(pool)) == 2
        other = page.context.browser.new_context().new_page()
        other.goto(url.partition("#")[0])
        other.wait_for_selector("#message:not([hidden])")
        assert "token" in other.inner_text("#message")
        assert not other.is_visible("#main")
        other.goto(url.partition("#")[0] + "#token=wrong")
        other.wait_for_function(
            "() => document.getElementById('message').textContent.includes('terminal')"
        )
        assert not other.is_visible("#main")
        other.context.close()


def test_two_tabs(browser, pool):
    with served(pool) as (url, _), opened(browser, url) as page:
        other = page.context.new_page()
        other.goto(url)
        other.wait_for_selector("#main:not([hidden])", timeout=WAIT)
        assert row(page) == row(other)
        first = row(page)
        press(page, "1")
        turn = other.get_attribute("body", "data-turn")
        other.evaluate(KEY.format("{key: '2'}"))
        other.wait_for_function("turn => document.body.dataset.turn !== turn", arg=turn)
        assert "elsewhere" in other.inner_text("#message") or row(other) != first
        assert {each: answer.label for each, answer in answers(pool).items()} == {first: "no"}
        assert row(other) == row(page)


def test_hostile_cells_stay_text(browser, pool):
    with served(pool, "--text", "said") as (url, _), opened(browser, url) as page:
        assert NASTY.split("\u202e")[0] in page.inner_text("#text")
        assert page.evaluate("window.hacked") is None
        assert page.locator("#text *").count() == 0
        page.fill("#fresh", "<b onclick=alert(1)>bold</b>")
        turn = page.get_attribute("body", "data-turn")
        page.keyboard.press("Enter")
        page.wait_for_function("turn => document.body.dataset.turn !== turn", arg=turn)
        assert page.locator("#classes b").count() == 0
        assert "<b onclick" in page.inner_text("#classes")
        # the policy, not only our care: what is injected does not run
        page.evaluate("document.body.insertAdjacentHTML('beforeend', arguments[0])"
                      .replace("arguments[0]", json.dumps(NASTY)))  # fmt: skip
        page.wait_for_timeout(200)
        assert page.evaluate("window.hacked") is None


def test_images(browser, pool):
    import base64

    pool.with_name("a.png").write_bytes(base64.b64decode(DOT))
    with served(pool, "--image", "file") as (url, _), opened(browser, url) as page:
        page.wait_for_selector("#picture:not([hidden])", timeout=WAIT)
        page.wait_for_function("() => document.getElementById('picture').naturalWidth === 1")
        assert page.get_attribute("#picture", "src").startswith("blob:")
        assert "a.png" in page.get_attribute("#picture", "alt")


class Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!doctype html><title>another site</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def test_a_foreign_origin_gets_nothing(browser, pool):
    """Another port of this machine, even with the token, may neither read nor write."""
    site = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    try:
        with served(pool) as (url, _), opened(browser, url) as page:
            token, origin = url.partition("#token=")[2], url.partition("/#")[0]
            other = page.context.new_page()
            other.goto(f"http://127.0.0.1:{site.server_address[1]}/")
            assert other.evaluate("sessionStorage.getItem('token')") is None
            assert other.evaluate("document.cookie") == ""
            for method in ("GET", "POST"):
                assert other.evaluate(ATTEMPT, [origin, token, method, "cors"]) == "refused"
                found = other.evaluate(ATTEMPT, [origin, token, method, "no-cors"])
                assert found in ("refused", "opaque 0")
            assert other.evaluate(FRAMED, origin)
            press(page, "1")
            assert len(answers(pool)) == 1
    finally:
        site.shutdown()
        site.server_close()


def test_kill_and_restart(browser, pool):
    with served(pool) as (url, running), opened(browser, url) as page:
        for key in "121":
            press(page, key)
        shown, found = row(page), answers(pool)
        running.send_signal(signal.SIGKILL)
        running.wait()
        page.keyboard.press("1")
        page.wait_for_function(
            "() => document.getElementById('message').textContent.includes('does not answer')"
        )
        assert answers(pool) == found
    with pool.with_name("labels.csv").open("ab") as file:
        file.write(b"7,ye")  # as if the machine had stopped in the middle of a line
    with served(pool) as (url, _), opened(browser, url) as page:
        assert row(page) == shown
        press(page, "2")
        assert answers(pool).keys() - found.keys() == {shown}
    assert pool.with_name("labels.csv.tail-1").read_bytes() == b"7,ye"


def test_ctrl_c_ends_it_politely(pool):
    with served(pool) as (_, running):
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=60)
        assert "stopped: 0 rows have a label" in out
        assert running.returncode == 0


def test_it_fits_and_can_be_read_aloud(browser, pool):
    with served(pool, "--text", "said") as (url, _):
        for width, scheme in ((360, "dark"), (1200, "light")):
            size = {"width": width, "height": 740}
            with opened(browser, url, viewport=size, color_scheme=scheme) as page:
                check_look(page, width, scheme)


def check_look(page: Any, width: int, scheme: str) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground, ink = page.evaluate(
        "(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))"
    )
    light = [sum(map(int, colour[4:-1].split(","))) > 380 for colour in (ground, ink)]
    assert light == ([True, False] if scheme == "light" else [False, True])
    for button in page.locator("button").all():
        assert (button.inner_text() or "").strip()
        assert button.bounding_box()["height"] >= 40
    unnamed = "[...document.querySelectorAll('input')].filter(e => !e.labels.length).length"
    assert page.evaluate(unnamed) == 0
    assert page.get_attribute("#item", "aria-live") == "polite"
    assert page.get_attribute("html", "lang") == "en"
    # from the first tab on, everything can be reached without a mouse, and is seen
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
