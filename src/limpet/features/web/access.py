"""Access control: our host, our origin, a browser that followed the printed link, a form that we made.

A page of another site, also one whose name points to this machine, fails the first two, its requests carry no cookie,
and its forms have no token.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection

from ..serve.listener import know

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = "127.0.0.1"
# Nothing but our own files, and no code or style in a page.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With no-referrer a browser would send `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
# The most purges in so many seconds, so that no script can empty a store quickly.
PURGES, PURGE_SECONDS = 5, 60.0


class Visitor:
    """The visitor: the owner in `limpet ui`, who may do everything and sees every scope."""

    id = ""

    def __init__(self) -> None:
        self.form_token = secrets.token_urlsafe(32)
        self._purges: deque[float] = deque(maxlen=PURGES)

    def may(self, role: str) -> bool:  # noqa: ARG002
        """Return whether they may do what needs `role`: read, write, review, admin, or owner."""
        return True

    def sees(self, scope: str) -> bool:  # noqa: ARG002
        """Return whether they may see a scope; "" stands for all of them."""
        return True

    def usual(self) -> str:
        """Return the scope shown where none was chosen; "": all."""
        return ""

    def may_purge(self) -> bool:
        """Count a purge and return True, or return False if there were too many within PURGE_SECONDS."""
        now = time.monotonic()
        if len(self._purges) == PURGES and now - self._purges[0] < PURGE_SECONDS:
            return False
        self._purges.append(now)
        return True


class Guard(Protocol):
    """Rules for whom to answer, and under which hosts. `stranger`: what to do for unknown visitors."""

    hosts: frozenset[str]
    origins: frozenset[str]
    cookie: str
    stranger: str

    def visitor(self, cookies: Mapping[str, str]) -> Visitor | None:
        """Return the visitor who has one of these cookies."""


class Access:
    """The secrets of one start. `link` lets one browser in, once; it gets a cookie that was nowhere before."""

    stranger = "open the link that `limpet ui` printed; it lets one browser in, once. Start it again for a new one"

    def __init__(self, port: int, *, link: str | None = None) -> None:
        self.hosts = frozenset(f"{name}:{port}" for name in (HOST, "localhost"))
        self.origins = frozenset(f"http://{host}" for host in self.hosts)
        # Pages of another port share the cookies of a host.
        self.cookie = f"limpet-{port}"
        self.owner = Visitor()
        # What the address of /enter must have; None once it was used.
        self.link: str | None = link or secrets.token_urlsafe(32)
        self._session: str | None = None

    def enter(self, given: str) -> str | None:
        """Return the cookie for a visitor who has the link; None for everybody else, and the second time."""
        if self.link is None or not secrets.compare_digest(given.encode(), self.link.encode()):
            return None
        self.link, self._session = None, secrets.token_urlsafe(32)
        return self._session

    def visitor(self, cookies: Mapping[str, str]) -> Visitor | None:
        value = cookies.get(self.cookie, "")
        known = self._session is not None and secrets.compare_digest(value.encode(), self._session.encode())
        return self.owner if known else None


def guarded(app: ASGIApp, access: Guard, refused: ASGIApp) -> ASGIApp:
    """Serve `app` to known visitors, with the headers on every answer. `refused`: answers others, by `scope["why"]`.
    They may only open the link and get static files."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    given.setdefault(name, value)
            await send(message)

        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        why = _why_not(scope, access)
        if why is not None:
            await refused({**scope, "why": why}, receive, with_headers)
            return
        if "visitor" in scope:
            know(scope)
        await app(scope, receive, with_headers)

    return guard


def _why_not(scope: Scope, access: Guard) -> tuple[int, str] | None:
    """Return the status and reason to refuse a request; None when it may pass, with `scope["visitor"]` set."""
    if scope["type"] != "http":
        return 400, "only HTTP is answered here"
    request = HTTPConnection(scope)
    headers = request.headers
    # Programs differ in how they read two headers of one name.
    if any(len(headers.getlist(name)) > 1 for name in ("host", "origin", "content-type")):
        return 400, "a header was sent twice"
    origin = headers.get("origin")
    if headers.get("host") not in access.hosts:
        return 421, f"this address is not limpet's: {access.stranger}"
    if origin is not None and origin not in access.origins:
        return 403, "another site asked for this"
    if scope["method"] not in ("GET", "HEAD", "POST"):
        return 405, "only GET and POST are answered here"
    if scope["method"] == "POST" and origin is None:
        return 403, "it was not said which page sent this"
    # Refuse pictures and scripts in another site's page; following a link navigates.
    if (
        headers.get("sec-fetch-site") in ("cross-site", "same-site")
        and headers.get("sec-fetch-mode", "navigate") != "navigate"
    ):
        return 403, "another site asked for this"
    if scope["path"] == "/enter" or scope["path"].startswith("/static/"):
        return None
    scope["visitor"] = access.visitor(request.cookies)
    return (401, access.stranger) if scope["visitor"] is None else None
