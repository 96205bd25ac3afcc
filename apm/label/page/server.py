"""The page over HTTP, for the user of this machine and for nobody else.

The standard library's server is enough and brings no dependency: one user, eight addresses, and an
answer that waits for the disk, which is what a thread for each request does best.

Who may do what: the server listens on the loopback only. `Host` must be its own address, so that a
name that another site points here is refused; `Origin` and `Sec-Fetch-Site`, if they are there,
must be its own too. Everything but the empty page needs the token, which travels in the fragment of
the address (never sent to a server), lives in the tab's sessionStorage and comes back in the header
`Authorization`: a cookie would be shown to every port of this machine.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from apm.label.page.desk import Desk, Stale
from apm.label.page.images import read_image
from channelcode.errors import ChannelCodeError, InvalidArgument

log = logging.getLogger(__name__)
ADDRESS = "127.0.0.1"
LARGEST_BODY = 1 << 16
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
ASSETS = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}


class PageServer(ThreadingHTTPServer):
    """A server for one desk; `url` is the address with the token, for the user's eyes only."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, desk: Desk, *, port: int = 0) -> None:
        self.desk = desk
        self.token = secrets.token_urlsafe(32)
        self._interrupted = False
        super().__init__((ADDRESS, port), Handler)

    def interrupt(self, *_: object) -> None:
        """End `serve_forever` by `KeyboardInterrupt`: a handler of signals.

        An exception may be raised where Python drops it (in a finaliser). It is remembered, and
        raised again between two looks for requests.
        """
        self._interrupted = True
        raise KeyboardInterrupt

    def service_actions(self) -> None:
        if self._interrupted:
            raise KeyboardInterrupt

    @property
    def origin(self) -> str:
        """The scheme, the address and the port."""
        return f"http://{ADDRESS}:{self.server_address[1]}"

    @property
    def url(self) -> str:
        """What the user opens."""
        return f"{self.origin}/#token={self.token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke off is no event; anything else goes to the log."""
        log.info("a request from %s broke off", client_address, exc_info=True)


def serve(desk: Desk, *, port: int = 0) -> PageServer:
    """A server for the desk, bound to the loopback; `serve_forever` runs it."""
    return PageServer(desk, port=port)


class Refused(Exception):
    """A request that is not answered, with its status."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        self.status, self.reason = status, reason
        super().__init__(reason)


class Handler(BaseHTTPRequestHandler):
    """One request at a time of one connection."""

    server: PageServer  # type: ignore[assignment]
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "apm", ""
    timeout = 60

    def do_GET(self) -> None:
        self._answer({"/api/state": self._state, "/api/explain": self._explain,
                      "/api/progress": self._progress, "/api/image": self._image})  # fmt: skip

    def do_POST(self) -> None:
        self._answer({"/api/answer": self._take_answer, "/api/undo": self._undo})

    # The addresses --------------------------------------------------------------------------

    def _state(self) -> Any:
        return self.server.desk.state()

    def _explain(self) -> Any:
        row = self._query("row")
        if not row.isascii() or not row.isdigit() or len(row) > 15:
            raise InvalidArgument("row", "must be a number", row)
        return {"lines": self.server.desk.explain(int(row), self._query("turn"))}

    def _progress(self) -> Any:
        return self.server.desk.progress()

    def _image(self) -> Any:
        desk = self.server.desk
        row = self._query("row")
        if desk.image is None or not row.isascii() or not row.isdigit() or len(row) > 15:
            raise InvalidArgument("row", "must be a row with an image", row)
        if int(row) >= len(desk.table):
            raise InvalidArgument("row", "must be a row of the pool", row)
        name = desk.table.column(desk.image, "image").text(int(row))
        return read_image(desk.table.path.resolve().parent, name)

    def _take_answer(self) -> Any:
        body = self._body()
        self.server.desk.answer(
            body.get("row"), body.get("kind"), body.get("label"), body.get("turn")
        )
        return self.server.desk.state()

    def _undo(self) -> Any:
        self.server.desk.undo(self._body().get("turn"))
        return self.server.desk.state()

    # Inside ---------------------------------------------------------------------------------

    def _answer(self, addresses: dict[str, Callable[[], Any]]) -> None:
        path = urlsplit(self.path).path
        try:
            self._check_origin()
            if path in ASSETS and self.command == "GET":
                name, kind = ASSETS[path]
                self._send(HTTPStatus.OK, asset(name), kind)
                return
            if path == "/favicon.ico" and self.command == "GET":
                self._send(HTTPStatus.NO_CONTENT, b"", "image/x-icon")
                return
            if path not in addresses:
                raise Refused(HTTPStatus.NOT_FOUND, "there is nothing here")
            self._check_token()
            found = addresses[path]()
            if isinstance(found, tuple):
                self._send(HTTPStatus.OK, *found)
            else:
                self._send_json(HTTPStatus.OK, found)
        except Refused as refused:
            self.close_connection = True
            self._send_json(refused.status, {"error": refused.reason})
        except Stale as stale:
            self._send_json(
                HTTPStatus.CONFLICT, {"error": str(stale), "state": self.server.desk.state()}
            )
        except (ChannelCodeError, OSError, ArithmeticError, MemoryError) as error:
            bad = isinstance(error, InvalidArgument)
            status = HTTPStatus.BAD_REQUEST if bad else HTTPStatus.INTERNAL_SERVER_ERROR
            self._send_json(status, {"error": str(error)})

    def _check_origin(self) -> None:
        own = {f"{name}:{self.server.server_address[1]}" for name in (ADDRESS, "localhost")}
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0] not in own:
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "this is not the address of this page")
        for origin in self.headers.get_all("Origin") or []:
            if origin != f"http://{hosts[0]}":
                raise Refused(HTTPStatus.FORBIDDEN, "another site may not use this page")
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        asset = self.command == "GET" and urlsplit(self.path).path == "/"
        # the empty page itself may be opened from anywhere, as from a link in a terminal
        if site not in ("same-origin", "none") and not asset:
            raise Refused(HTTPStatus.FORBIDDEN, "another site may not use this page")

    def _check_token(self) -> None:
        given = self.headers.get("Authorization", "")
        wanted = f"Bearer {self.server.token}"
        if not hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
            raise Refused(HTTPStatus.UNAUTHORIZED, "open the address that the terminal shows")

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if self.headers.get("Transfer-Encoding") or not (length.isascii() and length.isdigit()):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the length of the request must be told")
        if len(length) > 9 or int(length) > LARGEST_BODY:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the request is too long")
        if self.headers.get_content_type() != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the request must be JSON")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise Refused(HTTPStatus.BAD_REQUEST, "the request is not JSON") from None
        if not isinstance(body, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "the request must be an object")
        return body

    def _query(self, name: str) -> str:
        found = parse_qs(urlsplit(self.path).query).get(name, [])
        if len(found) != 1:
            raise InvalidArgument(name, "must be given once", found)
        return found[0]

    def _send_json(self, status: HTTPStatus, content: Any) -> None:
        text = json.dumps(content, allow_nan=False).encode()  # escapes what is not ASCII
        self._send(status, text, "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        log.debug("%s", ascii(format % args))

    def version_string(self) -> str:
        """Nothing about the versions that run here."""
        return "apm"


@cache
def asset(name: str) -> bytes:
    """A file of the page; the page itself is a template (Jinja2, everything escaped)."""
    source = files("apm.label.page") / "assets" / name
    if name != "page.html":
        return source.read_bytes()
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(source.read_text(encoding="utf-8"))
    from channelcode import __version__

    return template.render(version=__version__).encode()
