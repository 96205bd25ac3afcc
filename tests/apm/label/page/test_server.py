"""The page over HTTP: who is let in, what is sent, what is refused."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from typing import Any

import pytest

from apm.label import LabelFile, RowNames, Session
from apm.label.page import Desk, serve
from apm.label.page import server as module
from apm.tables import features_of, read_table


@pytest.fixture
def pool(tmp_path):
    path = tmp_path / "pool.jsonl"
    rows = [{"x": n * n % 7, "y": n % 3, "image": "a.png" if n else "../b.png", "said": "<b>&"}
            for n in range(20)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    return path


@pytest.fixture
def server(pool):
    table = read_table(pool)
    features = features_of(table, columns=["x", "y"]).matrix
    file = LabelFile(pool.with_name("labels.csv"), RowNames(table))
    desk = Desk(file, Session(features, classes=["no", "yes"]), text="said", image="image")
    with serve(desk) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()
    desk.close()


def call(server, path, body=None, *, method=None, token=None, **headers) -> tuple[int, Any, Any]:
    """Status, headers and content of a request; `Host` and the token are right unless given."""
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    given = {"Host": f"127.0.0.1:{port}"}
    if token is None:
        given["Authorization"] = f"Bearer {server.token}"
    elif token:
        given["Authorization"] = token
    content = None
    if body is not None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        given["Content-Type"] = "application/json"
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method or ("GET" if body is None else "POST"), path, content, given)
    reply = connection.getresponse()
    found: Any = reply.read()
    connection.close()
    if reply.getheader("Content-Type") == "application/json":
        found = json.loads(found)
    return reply.status, reply.headers, found


def labels(pool):
    path = pool.with_name("labels.csv")
    return path.read_text().splitlines()[1:] if path.exists() else []


def test_an_item_is_answered(server, pool):
    _, _, state = call(server, "/api/state")
    body = {"row": state["item"]["row"], "kind": "label", "label": "yes", "turn": state["turn"]}
    status, _, after = call(server, "/api/answer", body)
    assert status == 200
    assert after["labelled"] == 1
    assert labels(pool)[0].startswith(f"{state['item']['row']},yes,label,")
    status, _, found = call(server, "/api/answer", body)
    assert status == 409
    assert found["state"] == after
    status, _, back = call(server, "/api/undo", {"turn": after["turn"]})
    assert (status, back["labelled"]) == (200, 0)
    assert back["item"]["row"] == state["item"]["row"]
    assert call(server, f"/api/explain?row={back['item']['row']}&turn={back['turn']}")[0] == 200
    assert call(server, "/api/progress")[2]["advice"] == []


def test_the_page_holds_nothing_of_the_pool(server):
    """It is sent to whoever asks: what is in it must not be worth having."""
    size = 0
    for path in ("/", "/page.js", "/page.css"):
        status, _, content = call(server, path, token="")
        assert status == 200
        assert server.token.encode() not in content
        assert b"pool.jsonl" not in content
        assert b"http://" not in content.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"https://" not in content
        size += len(content)
    assert size < 200_000


def test_every_reply_is_guarded(server):
    for path, token in (("/", ""), ("/api/state", None), ("/api/state", "x"), ("/gone", None)):
        _, headers, _ = call(server, path, token=token)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "Set-Cookie" not in headers
        assert "Access-Control-Allow-Origin" not in headers


API = ["/api/state", "/api/progress", "/api/explain?row=1&turn=x", "/api/image?row=1"]


@pytest.mark.parametrize(
    "token", ["", "Bearer", "Bearer x", "Basic eDp4", "bearer ", "Bearer \xe9"]
)
@pytest.mark.parametrize("path", API)
def test_a_wrong_token_gets_nothing(path, token, server):
    status, _, found = call(server, path, token=token)
    assert status == 401
    assert set(found) == {"error"}


@pytest.mark.parametrize("path", ["/api/answer", "/api/undo"])
def test_a_wrong_token_changes_nothing(path, server, pool):
    state = call(server, "/api/state")[2]
    body = {"row": state["item"]["row"], "kind": "skip", "turn": state["turn"]}
    assert call(server, path, body, token="Bearer no")[0] == 401
    assert call(server, f"{path}?token={server.token}", body, token="")[0] == 401
    assert labels(pool) == []


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.1.evil.example:PORT",
        "[::1]:PORT", "",
    ],
)  # fmt: skip
def test_another_name_for_this_machine_is_refused(host, server):
    """DNS rebinding: the name of another site that points here."""
    name = host.replace("PORT", str(server.server_address[1]))
    for path in ("/", "/api/state"):
        assert call(server, path, Host=name)[0] == 421
    assert call(server, "/api/state", Host=f"localhost:{server.server_address[1]}")[0] == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:1", "https://OWN", "http://OWN.evil"],
)
def test_another_origin_is_refused(origin, server, pool):
    own = f"127.0.0.1:{server.server_address[1]}"
    state = call(server, "/api/state")[2]
    body = {"row": state["item"]["row"], "kind": "skip", "turn": state["turn"]}
    given = origin.replace("OWN", own)
    assert call(server, "/api/answer", body, Origin=given)[0] == 403
    assert call(server, "/api/state", Origin=given)[0] == 403
    assert labels(pool) == []
    assert call(server, "/api/answer", body, Origin=f"http://{own}")[0] == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_is_refused(site, server):
    assert call(server, "/api/state", Sec_Fetch_Site=site)[0] == 403
    assert call(server, "/page.js", Sec_Fetch_Site=site)[0] == 403
    assert call(server, "/", Sec_Fetch_Site=site)[0] == 200  # a link in a terminal's page


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"{", 400), (b"[]", 400), (b"[" * 50_000, 400), (b"\xff", 400),
        (b'"' + b"x" * 70_000 + b'"', 413), ({}, 409), ({"row": 1}, 400), ({"kind": "skip"}, 409),
    ],
    ids=range(9),
)  # fmt: skip
def test_requests_that_are_none(body, status, server, pool):
    found = call(server, "/api/answer", body)
    assert found[0] == (400 if body == {} else status)
    assert labels(pool) == []
    assert call(server, "/api/state")[0] == 200


def test_forms_of_another_site_are_no_json(server, pool):
    """What a form can send without asking first has another type."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert call(server, "/api/undo", b"{}", Content_Type=kind)[0] == 415
    assert call(server, "/api/undo", b"{}", Transfer_Encoding="chunked")[0] in (400, 411)


@pytest.mark.parametrize(
    "path",
    ["/gone", "/api/", "/api/state/..", "/../server.py", "/assets/page.js", "//evil", "/%2e%2e/x"],
)
def test_addresses_that_are_none(path, server):
    assert call(server, path)[0] == 404
    assert call(server, "/api/state", {})[0] == 404
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert call(server, "/api/state", method=method)[0] == 501


def test_images_come_from_the_pool_alone(server):
    status, headers, content = call(server, "/api/image?row=1")
    assert (status, headers["Content-Type"], content) == (200, "image/png", b"\x89PNG")
    for query in ("row=0", "row=99", "row=-1", "row=x", "row=1&row=2", "", "row=../a.png"):
        assert call(server, f"/api/image?{query}")[0] == 400, query


def test_it_listens_on_the_loopback_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.socket.getsockname()[0] == "127.0.0.1"


def test_noise_does_not_stop_it(server):
    for noise in (
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00" * 20,
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n",
    ):
        with socket.create_connection(server.server_address) as raw:
            raw.sendall(noise)
            raw.shutdown(socket.SHUT_WR)
            raw.recv(4096)
    assert call(server, "/api/state")[0] == 200


def test_a_failing_disk_is_told(server, pool, monkeypatch):
    state = call(server, "/api/state")[2]

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("apm.label.book.os.fsync", full)
    monkeypatch.setattr("apm.storage.whole.os.fsync", full)
    body = {"row": state["item"]["row"], "kind": "skip", "turn": state["turn"]}
    status, _, found = call(server, "/api/answer", body)
    assert status == 500
    assert "No space left" in found["error"]
    monkeypatch.undo()
    assert call(server, "/api/state")[2]["turn"] == state["turn"]
    assert call(server, "/api/answer", body)[0] == 200


def test_templates_escape():
    assert b"{{" not in module.asset("page.html")


def test_an_interrupt_that_was_dropped_still_ends_it(pool):
    """Python drops an exception that a signal's handler raises inside a finaliser."""
    table = read_table(pool)
    file = LabelFile(pool.with_name("labels.csv"), RowNames(table))
    desk = Desk(file, Session(features_of(table, columns=["x", "y"]).matrix, classes=["a", "b"]))
    with serve(desk) as running:
        with pytest.raises(KeyboardInterrupt):
            running.interrupt()
        with pytest.raises(KeyboardInterrupt):
            running.serve_forever(poll_interval=0.01)
    desk.close()
