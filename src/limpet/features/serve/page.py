"""The web page for a team: a person logs in with a token, and may do what the token may. A login is kept in this
process alone; each request checks that its token still holds."""

from __future__ import annotations

import secrets
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import anyio
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from ...model.errors import StoreError
from ..web.access import Visitor
from ..web.site import Site, application
from .listener import TooLarge, read_request
from .tokens import EVERY_SCOPE, Grant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from ...api import Limpet

# A login ends after a working day, whether the browser was closed or not; the oldest goes where there are too many.
LOGIN_SECONDS, MOST_LOGINS = 12 * 3_600, 1_000
# Limits of what is sent to log in, and of the time to send it.
MOST_BYTES, SEND_SECONDS = 10_000, 5.0


class Member(Visitor):
    """A visitor who logged in with the token of a grant."""

    def __init__(self, grant: Grant) -> None:
        super().__init__()
        self.grant, self.id, self.until = grant, grant.id, time.monotonic() + LOGIN_SECONDS

    def may(self, role: str) -> bool:
        """Return whether the role may do it. `owner`: what concerns the whole store and its machine."""
        return self.grant.may("admin") and EVERY_SCOPE in self.grant.scopes if role == "owner" else self.grant.may(role)

    def sees(self, scope: str) -> bool:
        return EVERY_SCOPE in self.grant.scopes if not scope else self.grant.sees(scope)

    def usual(self) -> str:
        return "" if EVERY_SCOPE in self.grant.scopes else self.grant.scopes[0]


class Logins:
    """The browsers that logged in, as `web.access.guarded` asks for them."""

    stranger = "log in first, with the token that you were given"

    def __init__(self, urls: list[str], holds: Callable[[Grant], bool]) -> None:
        places = [urlsplit(url) for url in urls]
        self.hosts = frozenset(place.netloc for place in places)
        self.origins = frozenset(f"{place.scheme}://{place.netloc}" for place in places)
        # A browser sends a cookie with this beginning over TLS alone, and takes it from this host alone.
        self.secure = places[0].scheme == "https"
        self.cookie = "__Host-limpet" if self.secure else f"limpet-{places[0].port or 80}"
        self._holds = holds
        self._members: dict[str, Member] = {}
        self._lock = threading.Lock()

    def begin(self, grant: Grant) -> str:
        """Begin a login and return its cookie: never one that a browser had before."""
        value = secrets.token_urlsafe(32)
        with self._lock:
            if len(self._members) >= MOST_LOGINS:
                del self._members[next(iter(self._members))]
            self._members[value] = Member(grant)
        return value

    def visitor(self, cookies: Mapping[str, str]) -> Visitor | None:
        value = cookies.get(self.cookie, "")
        member = self._members.get(value)
        if member is None or (time.monotonic() < member.until and self._holds(member.grant)):
            return member
        self._members.pop(value, None)
        return None

    def end(self, cookies: Mapping[str, str]) -> None:
        self._members.pop(cookies.get(self.cookie, ""), None)


def page_of(
    memory: Limpet, urls: list[str], known: Callable[[str], Grant | None], holds: Callable[[Grant], bool],
    wrote: Callable[[], None],
) -> ASGIApp:  # fmt: skip
    """Return the page as an application. `known`: token -> grant; `wrote`: called when something may be stored."""
    logins = Logins(urls, holds)
    site = Site(memory, logins, team=True)
    site.wrote = wrote

    def form(why: str = "", status: int = 200) -> Response:
        return HTMLResponse(site.templates.get_template("login.html").render(why=why), status)

    async def shown(_: Request) -> Response:
        return form()

    async def entered(request: Request) -> Response:
        try:
            with anyio.fail_after(SEND_SECONDS):
                sent = await read_request(request, MOST_BYTES)
        except (TooLarge, TimeoutError) as error:
            return form("That is no token.", 413 if isinstance(error, TooLarge) else 408)
        token = parse_qs(sent.decode("utf-8", "replace")).get("secret", [""])[0].strip()
        try:
            grant = known(token)  # as each request of MCP does: in no thread that others wait for
        except StoreError:
            return form("The server cannot read who may log in; its log says why.", 503)
        if grant is None:
            return form("This token is wrong, revoked or expired.", 401)
        logins.end(request.cookies)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            logins.cookie, logins.begin(grant), httponly=True, samesite="strict", path="/", secure=logins.secure,
            max_age=LOGIN_SECONDS,
        )  # fmt: skip
        return answer

    async def left(request: Request) -> Response:
        logins.end(request.cookies)
        answer = RedirectResponse("/enter", 303)
        answer.delete_cookie(logins.cookie, path="/", secure=logins.secure, httponly=True, samesite="strict")
        return answer

    async def refused(scope: Scope, receive: Receive, send: Send) -> None:
        status, why = scope["why"]
        to_log_in = status == 401 and scope["method"] == "GET"
        answer = RedirectResponse("/enter", 303) if to_log_in else form(f"{why[:1].upper()}{why[1:]}.", status)
        await answer(scope, receive, send)

    ways = [
        Route("/enter", shown, methods=["GET"]), Route("/enter", entered, methods=["POST"]),
        Route("/leave", left, methods=["POST"]),
    ]  # fmt: skip
    return application(site, logins=ways, refused=refused)
