"""Sessions: what happened, what was asked, done and failed, what was shown and whether it was used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from ...model.errors import LimpetError
from ..usefulness import exposures
from . import shown

if TYPE_CHECKING:
    from ...store.records import SessionRow
    from .site import Ask, View

LISTED, MOST_SCOPES, MOST_LINES = 60, 40, 400


def sessions(ask: Ask) -> Response:
    def listed() -> list[SessionRow]:
        scopes = [ask.scope] if ask.scope else [row.scope for row in ask.memory.scopes()]
        sessions = [row for scope in scopes[:MOST_SCOPES] for row in ask.seen_from(scope).sessions(limit=LISTED)]
        return sorted(sessions, key=lambda row: -row.last_at_us)[:LISTED]

    listing = ask.site.kept(("sessions", ask.scope), listed)
    here = ask.seen_from("")
    today = here.journal(since=shown.day(ask.now()), limit=MOST_LINES)
    return ask.page("sessions.html", sessions=listing, today=today, scope=here.scope,
                    command=ask.command("session", "list"))  # fmt: skip


def session(ask: Ask) -> Response:
    scope, name = ask.query.get("scope", ""), ask.query.get("name", "")
    store = ask.seen_from(scope)
    try:
        row = store.session(name)
        memories = store.session_memories(name)
    except LimpetError:
        row, memories = None, []
    lines = store.journal(session=name, limit=MOST_LINES)
    if row is None and not lines:
        store.session(name)  # says that there is none
    texts = {}
    seen = exposures(store, session=name, limit=60)
    for memory in seen:
        if memory.id not in texts:
            try:
                texts[memory.id] = store.get(memory.id).content
            except LimpetError:
                texts[memory.id] = ""
    return ask.page(
        "session.html", row=row, name=name, scope=store.scope, memories=memories, lines=lines,
        exposures=seen, texts=texts, command=ask.command("session", "show", name),
    )  # fmt: skip


def drop(ask: Ask) -> Response:
    """Show the marked lines of the journal; once confirmed, erase them."""
    store = ask.seen_from(ask.form.get("scope", ""))
    numbers = [int(number) for number in ask.lists.get("number", [])]
    lines = store.drop_from_journal(numbers, dry_run="confirmed" not in ask.form)
    if "confirmed" not in ask.form:
        return ask.page("drop.html", lines=lines.lines, scope=store.scope, back=ask.form.get("back", "/sessions"),
                        command=ask.command("journal", "drop", *numbers))  # fmt: skip
    return ask.back(said="purged" if lines.erased else "unchanged")


VIEWS: list[tuple[str, str, View]] = [
    ("GET", "/sessions", sessions), ("GET", "/session", session), ("POST", "/journal/drop", drop),
]  # fmt: skip
