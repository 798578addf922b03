"""Pages that ask the store something: why this was recalled, the brief, beliefs about a subject, links around it; and
sessions: what was asked, done and failed in them, what was shown and whether it was used."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from ...model.errors import LimpetError, NotFound
from ..usefulness import exposures
from . import shown
from .drawing import radial

if TYPE_CHECKING:
    from ...store.records import SessionRow
    from .site import Ask, View

# Seeds of a graph for a query, and memories around them.
SEEDS, AROUND, MOST_AROUND = 5, 120, 2_000
# Sessions and scopes that a list has, and lines of a journal.
LISTED, MOST_SCOPES, MOST_LINES = 60, 40, 400


def _then(ask: Ask) -> str | None:
    """Return the time asked for; a day means its end."""
    value = ask.query.get("known_at", "").strip()
    return f"{value}T23:59:59Z" if len(value) == 10 and value.count("-") == 2 else value or None


def why(ask: Ask) -> Response:
    words, kind, then = ask.query.get("q", "").strip(), ask.query.get("kind", ""), _then(ask)
    results = None
    if words:
        results = ask.memory.recall(words, known_at=then, k=10, kind=kind or (), trace=True, explain=True)
    flags = ["--explain"] + (["--known-at", then] if then else []) + (["--kind", kind] if kind else [])
    return ask.page(
        "why.html", words=words, found=results, kind=kind,
        command=ask.command("recall", words, *flags) if words else "",
    )  # fmt: skip


def brief(ask: Ask) -> Response:
    words, budget = ask.query.get("q", "").strip(), ask.number("budget", 0)
    made = ask.memory.prepare(words, budget_tokens=budget or None, full="full" in ask.query)
    hook = None
    if words:
        from ...agents.hooks.gate import query_of
        from ...agents.hooks.injected import MESSAGE_TOKENS, Holdout, brief

        asked = query_of(words)
        hook = brief(ask.memory, asked, MESSAGE_TOKENS, Holdout("", 0.0)).block(()) if asked else ()
    flags = (["--budget", budget] if budget else []) + (["--full"] if "full" in ask.query else [])
    return ask.page(
        "brief.html", words=words, brief=made, hook=hook, budget=budget,
        command=ask.command("prepare", *([words] if words else []), *flags),
    )  # fmt: skip


def beliefs(ask: Ask) -> Response:
    words, then = ask.query.get("q", "").strip(), _then(ask)
    given: dict[str, Any] = {
        "audit": None, "facts": [], "line": None, "weak": None, "against": None, "words": words,
        "command": ask.command("graph", "contradictions"),
    }  # fmt: skip
    store = ask.memory
    if words:
        given["audit"] = store.audit(words, limit=8, known_at=then)
        given["line"] = store.graph.timeline(words, limit=30, known_at=then)
        with suppress(LimpetError):  # it is no key, or one that has no value
            given["facts"] = store.fact_history(words, known_at=then)
        given["command"] = ask.command("audit", words, *(["--known-at", then] if then else []))
    else:
        given["against"] = ask.site.kept(("against", ask.scope), lambda: store.graph.contradictions(limit=10))
        given["weak"] = ask.site.kept(("weak", ask.scope), lambda: store.graph.gaps(limit=6))
    return ask.page("beliefs.html", **given)


def graph(ask: Ask) -> Response:
    words, then = ask.query.get("q", "").strip(), _then(ask)
    most = min(max(ask.number("most", AROUND), 2), MOST_AROUND)
    # Every temporal neighbour would hide the links that somebody made.
    types = [ask.query["type"]] if ask.query.get("type") else []
    store, everything = ask.memory, "everything" in ask.query

    def drawn() -> Any:
        seeds = _seeds(ask, words, then)
        if not seeds:
            return None, None
        depth = 1 if len(seeds) > SEEDS else 6
        graph = store.graph.context(seeds, types=types, depth=depth, limit=most, everything=everything, known_at=then)
        high = 320 if len(graph) <= 12 else 560 if len(graph) <= 60 else 900
        return graph, radial(graph, seeds, store.abbreviate, wide=1040, high=high)

    shown, drawing = ask.site.kept(("graph", ask.scope, words, then, most, *types, everything), drawn)
    return ask.page(
        "graph.html", words=words, found=shown, drawing=drawing, most=most,
        command=ask.command("graph", "context", _seeds(ask, words, then)[0]) if shown and words else words,
    )  # fmt: skip


def _seeds(ask: Ask, words: str, then: str | None) -> list[str]:
    """Return the ids to draw a graph around: a memory, results of a recall, or the most central memories."""
    store = ask.memory
    if not words:
        central = [row.node.id for row in store.graph.centrality(limit=12, known_at=then)]
        return central or [memory.id for memory in store.list(limit=SEEDS)]
    with suppress(LimpetError):
        return [store.get(words, known_at=then).id]
    results = store.recall(words, k=SEEDS, known_at=then)
    if not results.items:
        raise NotFound("nothing is found for this", hint="other words, or the id of a memory")
    return [item.id for item in results.items]


# -- sessions


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
    ("GET", "/why", why), ("GET", "/brief", brief), ("GET", "/beliefs", beliefs), ("GET", "/graph", graph),
    ("GET", "/sessions", sessions), ("GET", "/session", session), ("POST", "/journal/drop", drop),
]  # fmt: skip
