"""The page as a program: which view answers what, what a view is given, and errors as pages."""

from __future__ import annotations

import secrets
import shlex
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ...context import may_change
from ...model.clock import Clock, SystemClock
from ...model.errors import BadInput, LimpetError, NotFound
from ...model.memory import GLOBAL_SCOPE
from ..serve.listener import TooLarge, read_request
from ..serve.tokens import Forbidden, for_team, own, own_scope, status_of
from . import shown
from .access import Access, Guard, Visitor, guarded

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ...api import Limpet
    from ...remember.operations import Operation
    from ...remember.review import ReviewItem
    from ...work.doctor import Check

T = TypeVar("T")
HERE = Path(__file__).parent
# A text of a memory, percent-encoded, and something around it.
MOST_BYTES = 4_000_000
# Answers that are kept.
MOST_KEPT = 200
# The most operations that one undo takes back: as many as fit into an address.
MOST_DONE = 100
# Of the review list.
MOST_WAITING = 1_000
SCOPE, THEME = "limpet-scope", "limpet-theme"

# Messages at the top of a page after a change.
SAID = {
    "unchanged": "Nothing changed: it was so already.",
    "waits": "It waits on the review list: something that is trusted more says otherwise.",
    "done": "Done.",
    "purged": "Erased for good.",
    "undone": "Taken back. The page Changes has a button to put it back.",
}


class Site:
    """An open store as pages show it, and the secrets of this start."""

    def __init__(
        self, memory: Limpet, access: Guard, *, read_only: bool = False, words: tuple[str, ...] = (),
        clock: Clock | None = None, team: bool = False,
    ) -> None:  # fmt: skip
        self.memory, self.access, self.words, self.team = memory, access, words, team
        self.read_only = read_only or memory.read_only
        self.clock = clock or SystemClock()
        self.wrote: Callable[[], None] = lambda: None
        self._everywhere = memory.in_all_scopes()
        # When the clients were last checked from here, and the problems.
        self.tried: tuple[int, list[Check]] | None = None
        self._kept: dict[Hashable, tuple[str, Any]] = {}  # what pages have made, and of which watermark
        self._making = threading.RLock()  # what is kept can be made of what is kept
        self.templates = Environment(
            loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self.templates.filters |= shown.FILTERS
        self.templates.globals |= shown.GLOBALS

    def seen_from(self, scope: str) -> Limpet:
        """Return the store seen from a scope, or from all of them ("")."""
        return self.memory.in_scope(scope) if scope else self._everywhere

    def waiting(self, scope: str) -> list[ReviewItem]:
        """Return the review items that wait in a scope."""
        return self.kept(("review", scope), lambda: self.seen_from(scope).review(limit=MOST_WAITING))

    def kept(self, what: Hashable, make: Callable[[], T]) -> T:
        """Return the cached value of `what`, or make it anew if the store has changed."""
        mark = self.memory._context.store.ledger.watermark()
        cached = self._kept.get(what)
        if cached is None or cached[0] != mark:
            with self._making:
                cached = self._kept.get(what)
                if cached is None or cached[0] != mark:
                    made = make()
                    if len(self._kept) >= MOST_KEPT:
                        self._kept.clear()
                    cached = self._kept[what] = mark, made
        value: T = cached[1]
        return value


class Ask:
    """One request, as a view is given it: `query` and `form` have the last value of each name, `lists` all."""

    def __init__(self, site: Site, request: Request, form: Mapping[str, list[str]]) -> None:
        self.site, self.request = site, request
        self.query = dict(request.query_params)
        self.form = {name: values[-1] for name, values in form.items()}
        self.lists = form
        self.visitor: Visitor = request.scope["visitor"]
        self._short: dict[str, str] = {}
        chosen = request.cookies.get(SCOPE, "")
        self.scope = chosen if self.visitor.sees(chosen) else self.visitor.usual()
        try:
            self.memory = site.seen_from(self.scope)
        except BadInput:
            self.scope = self.visitor.usual()
            self.memory = site.seen_from(self.scope)

    @property
    def path(self) -> str:
        return self.request.url.path

    def may(self, role: str) -> bool:
        """Return whether the visitor may do what needs `role`, here and now."""
        return self.visitor.may(role) and (role == "read" or not self.site.read_only)

    def need(self, role: str) -> None:
        """Check the visitor's role. Raises Forbidden."""
        if not self.visitor.may(role):
            reason = "belongs to who keeps the whole store" if role == "owner" else f"takes the role {role}"
            raise Forbidden(f"this {reason}, which your token has not")

    def seen_from(self, scope: str) -> Limpet:
        """Return the store seen from one scope: the one asked for, or shown, or usual. Raises Forbidden."""
        wanted = scope or self.scope or self.site.memory.scope
        if not self.visitor.sees(wanted):
            raise Forbidden("your token is not for this scope")
        return self.site.seen_from(wanted)

    def own(self, *ids: str) -> None:
        """Check that the visitor may change these. Raises NotFound, Forbidden."""
        if not self.visitor.sees(""):
            own(self.memory, self.visitor.sees, *ids)

    def purgeable(self) -> list[str] | None:
        """Return the scopes whose memories a purge may erase; None: every one, and copies outside of the store."""
        if self.visitor.may("owner"):
            return None
        return [scope for scope in (self.memory.scope, GLOBAL_SCOPE) if self.visitor.sees(scope)]

    def name(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[name])

    def number(self, name: str, otherwise: int) -> int:
        """Return a number of the query; `otherwise` where it is not given. Raises BadInput."""
        given = self.query.get(name)
        try:
            return int(given) if given else otherwise
        except ValueError:
            raise BadInput(f"{name} takes a whole number, not {given!r:.60}") from None

    def now(self) -> int:
        return self.site.clock.now()

    def short(self, id: str) -> str:
        if id not in self._short:  # a page says the id of its memory several times
            self._short[id] = self.memory.abbreviate([id])[0]
        return self._short[id]

    def link(self, **changes: object) -> str:
        """Return the link to this page with some query values changed; None removes one."""
        query = {name: value for name, value in self.query.items() if name not in ("part", "done", "said")}
        query |= {name: str(value) for name, value in changes.items() if value is not None}
        query = {name: value for name, value in query.items() if value and changes.get(name, "") is not None}
        return self.path + ("?" + urlencode(query) if query else "")

    def command(self, *words: object) -> str:
        """Return the command that does the same."""
        scope = ("--scope", self.scope) if self.scope else ()
        return shlex.join(["limpet", *self.site.words, *scope, *map(str, words)])

    def page(self, template: str, *, status: int = 200, **given: Any) -> HTMLResponse:
        """Render a template. With `part` in the query the script of the page wants its main part alone."""
        theme = self.request.cookies.get(THEME, "")
        done: list[Operation] = []  # whose result this page shows
        with suppress(LimpetError):
            done = [self.memory.log(event=event)[0] for event in self.query.get("done", "").split()[:MOST_DONE]]
        message = SAID.get(self.query.get("said", ""))
        more = {
            "ask": self, "site": self.site, "theme": theme if theme in ("light", "dark") else "",
            "done": done, "said": message, "command": "", "token": self.visitor.form_token,
        }  # fmt: skip
        return HTMLResponse(self.site.templates.get_template(template).render(more | given), status)

    def back(self, to: str | None = None, **query: str | None) -> RedirectResponse:
        """Redirect to the form's page, or elsewhere on this site, with the operations done."""
        where = to or self.form.get("back", "/")
        if not where.startswith("/") or where.startswith(("//", "/\\")) or not where.isprintable():
            where = "/"
        path, _, given = where.partition("?")
        kept = {name: values[-1] for name, values in parse_qs(given).items() if name not in ("done", "said")}
        kept |= {name: value for name, value in query.items() if value}
        return RedirectResponse(path + ("?" + urlencode(kept) if kept else ""), 303)


View = Callable[[Ask], Response]
# Roles of views that need another one than read (GET) or write (POST).
ROLES = {
    ("POST", "/view"): "read", ("POST", "/review"): "review", ("POST", "/memory/{id}/promote"): "review",
    ("GET", "/memory/{id}/purge"): "admin", ("POST", "/memory/{id}/purge"): "admin", ("POST", "/journal/drop"): "admin",
}  # fmt: skip


def role_of(method: str, path: str) -> str:
    """Return the role of a view; upkeep needs the owner, since it reads and writes files of the machine."""
    usual = "owner" if path.startswith("/care") else "read" if method == "GET" else "write"
    return ROLES.get((method, path), usual)


def application(site: Site, *, logins: Sequence[Route] = (), refused: ASGIApp | None = None) -> ASGIApp:
    """Return the application, behind the checks of `access.py`. `logins`: another login than the link; `refused`:
    answers others."""
    from . import views_home, views_memories, views_recall

    routes = [
        *(logins or [Route("/enter", partial(_enter, site), methods=["GET"])]),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    for module in (views_home, views_memories, views_recall):
        for method, path, view in module.VIEWS:
            endpoint = partial(_endpoint, site, view, method, role_of(method, path))
            routes.append(Route(path, endpoint, methods=[method]))
    routes.append(Route("/{rest:path}", partial(_endpoint, site, _nothing, "GET", "read"), methods=["GET"]))

    async def turned_away(scope: Scope, receive: Receive, send: Send) -> None:
        status, why = scope["why"]
        page = site.templates.get_template("refused.html").render(why=why, theme="")
        await HTMLResponse(page, status)(scope, receive, send)

    return guarded(Starlette(routes=routes), site.access, refused or turned_away)


def _nothing(_: Ask) -> Response:
    raise NotFound("there is no such page", hint="search finds memories, people and sessions")


async def _endpoint(site: Site, view: View, method: str, role: str, request: Request) -> Response:
    form: dict[str, list[str]] = {}
    if method == "POST":
        try:
            sent = await read_request(request, MOST_BYTES)
        except TooLarge:
            return HTMLResponse("too much", 413)
        form = parse_qs(sent.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20_000)
    return await run_in_threadpool(_answer, site, view, method, role, request, form)


def _answer(site: Site, view: View, method: str, role: str, request: Request, form: dict[str, list[str]]) -> Response:
    """Return the response of a view, or an error page."""
    ask = Ask(site, request, form)
    try:
        if method == "POST":
            given = ask.form.get("token", "")
            if not secrets.compare_digest(given.encode(), ask.visitor.form_token.encode()):
                return ask.page(
                    "error.html", status=403, title="This form is not from here", hint="Load the page anew."
                )
            if site.read_only and not getattr(view, "changes_nothing", False):
                return ask.page("error.html", status=403, title="This page was started read-only", hint="")
        ask.need(role)
        if method == "POST":
            ask.own(*request.path_params.get("id", "").split())
        with may_change(partial(own_scope, ask.visitor.sees)):
            answer = view(ask)
        if method == "POST":
            site.wrote()
        return answer
    except LimpetError as error:
        shown_error = for_team(error) if site.team else error
        status, hint = status_of(error) or 503, shown_error.hint or ""
        return ask.page("error.html", status=status, title=shown_error.message, hint=hint)
    except ValueError as error:
        return ask.page("error.html", status=400, title=f"This cannot be read: {str(error)[:200]}", hint="")


def changes_nothing(view: View) -> View:
    """Mark a view that a read-only page answers too, although a form is sent to it."""
    view.changes_nothing = True  # type: ignore[attr-defined]
    return view


async def _enter(site: Site, request: Request) -> Response:
    """Let the browser in that has the link, by a page of ours: a redirect from a link in a mail would bring no strict
    cookie."""
    access = site.access
    assert isinstance(access, Access)
    value = access.enter(request.query_params.get("link", ""))
    template = site.templates.get_template("refused.html" if value is None else "enter.html")
    why = "this link was used already, or is not of this start: start `limpet ui` again for a new one"
    answer = HTMLResponse(template.render(why=why, theme=""), 401 if value is None else 200)
    if value is not None:
        answer.set_cookie(access.cookie, value, httponly=True, samesite="strict", path="/")
    return answer
