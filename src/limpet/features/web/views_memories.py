"""Memories: found as one types, filtered, changed together; one memory with all there is to know of it; and what waits
for a person, side by side, a key or a click each."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import date, timedelta
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from ...model.errors import BadInput, ChangedSince
from ...model.memory import KINDS
from ...remember.change import apply_change, apply_tags
from ...remember.review import QUESTIONS
from ...remember.validation import check_topics
from ..serve.tokens import Forbidden
from ..usefulness import exposures
from .drawing import radial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...api import Limpet
    from ...remember.write import Receipt, Writer
    from .site import Ask, View

PAGE, FOUND, MOST_AT_ONCE = 40, 12, 500
REVIEWED = 20  # on a page of the review list
STATES = {"all": "also what is not held now"}
# Status of a receipt -> what the page says of it.
SAID_OF = {"unchanged": "unchanged", "proposed": "waits", "quarantined": "waits"}
SORTS = {"created": "newest", "updated": "last changed", "uses": "most used", "used": "last used"}


def memories(ask: Ask) -> Response:
    query = ask.query
    words = query.get("q", "").strip()
    where = {name: query[name] for name in ("since", "until", "session", "key") if query.get(name)}
    kind, topic = query.get("kind", ""), query.get("topic", "")
    for name, known in (("kind", KINDS), ("state", STATES), ("sort", SORTS)):
        if query.get(name) and query[name] not in known:
            raise BadInput(f"unknown {name}: {query[name][:60]!r}", hint=f"one of: {', '.join(known)}")
    if "until" in where:
        with suppress(ValueError, OverflowError):  # another time, or none: the API says so
            # A day is meant to its end; `until` of the API excludes its time.
            where["until"] = (date.fromisoformat(where["until"]) + timedelta(days=1)).isoformat()
    given: dict[str, Any] = {**where, "kind": kind or (), "topics": [topic] if topic else ()}
    flags = [
        word
        for name in ("kind", "topic", *where)
        if query.get(name)
        for word in (f"--{name}", {**query, **where}[name])
    ]
    every, results, cursor = query.get("state") == "all", None, None
    if words:
        results = ask.memory.recall(words, k=FOUND, **given)
        shown_ones: Sequence[Any] = results.items
        command = ask.command("recall", words, *flags)
    else:
        sort = query.get("sort") or "created"
        page = ask.memory.list(**given, sort=sort, limit=PAGE, cursor=query.get("cursor") or None, all_states=every)
        shown_ones, cursor = page.memories, page.cursor
        flags += ["--all"] * every + ["--all-scopes"] * (not ask.scope)
        command = ask.command("list", "--sort", sort, *flags)
    left_out = 0 if shown_ones or words else ask.memory.count(all_states=every)
    part = "_memories.html" if query.get("part") else "memories.html"
    facets = {} if query.get("part") else _facets(ask)
    return ask.page(
        part, memories=shown_ones, found=results, cursor=cursor, words=words, kind=kind, topic=topic, every=every,
        sorts=SORTS, facets=facets, left_out=left_out, command=command,
        # A result of a recall has no state: it is active.
        states={item.id: item.state for item in shown_ones if getattr(item, "state", "active") != "active"},
    )  # fmt: skip


def _facets(ask: Ask) -> dict[str, list[tuple[str, int]]]:
    """Return the number of memories of each kind and topic; cached until the store changes."""

    def counted() -> dict[str, list[tuple[str, int]]]:
        kinds = [(name, count) for (name,), count in ask.memory.count_by("kind").items()]
        topics = [(name, count) for (name,), count in ask.memory.count_by("topic").items()][:30]
        return {"kinds": kinds, "topics": topics}

    return ask.site.kept(("facets", ask.scope), counted)


BULK = {
    "archive": "out of recall; they stay in the store",
    "restore": "back into recall",
    "forget": "no longer believed",
    "pin": "exempt from decay",
    "unpin": "decay again",
    "tag": "get the topics",
    "untag": "lose the topics",
    "move": "into another scope",
    "merge": "the older one speaks for both; what the other says stays readable",
}


def change_several(ask: Ask) -> Response:
    """Show the changes first; once confirmed, make them in one operation, which one undo takes back."""
    ids = list(dict.fromkeys(ask.lists.get("id", [])))[:MOST_AT_ONCE]
    action, value = ask.form.get("action", ""), ask.form.get("value", "").strip()
    if action not in BULK:
        raise BadInput("choose what to do with them")
    if not ids:
        raise BadInput("no memory is chosen", hint="mark some in the list first")
    topics = [topic.strip() for topic in value.split(",") if topic.strip()]
    if action in ("tag", "untag", "move") and not value:
        raise BadInput(f"{action} needs {'a scope' if action == 'move' else 'topics'}")
    if action == "merge":
        if len(ids) != 2:
            raise BadInput("two memories can be merged", hint="mark both in the list, and no other")
        ids.sort(key=lambda id: ask.memory.get(id).created_at_us)
    ask.own(*ids)
    if action == "move" and not ask.visitor.sees(value):
        raise Forbidden("your token is not for that scope")
    if "confirmed" not in ask.form:
        memories = [ask.memory.get(id) for id in ids]
        verb = {"unpin": ["pin", "--off"], "tag": [], "untag": [], "move": []}.get(action, [action])
        return ask.page(
            "change_several.html", several=memories, action=action, means=BULK[action], value=value,
            back=ask.form.get("back", "/memories"),
            command=ask.command(*verb, *ids) if verb and (len(ids) == 1 or action == "merge") else "",
        )  # fmt: skip
    if action == "forget":
        event = ask.memory.forget(ids, origin="user").event
    elif action == "merge":
        event = ask.memory.merge(*ids).event
    elif action == "move":
        event = _event(ask.memory.move(ids, value))
    else:
        event = _event(_change(ask.memory, action, ids, check_topics(topics)))
    return ask.back(done=event, said=None if event else "unchanged")


def _change(memory: Limpet, action: str, ids: Sequence[str], topics: Sequence[str]) -> list[Receipt]:
    """Change all of them in one transaction, or none. Raises NotFound, BadInput."""
    add, remove = (topics, ()) if action == "tag" else ((), topics)

    def write(writer: Writer) -> list[Receipt]:
        if "tag" in action:
            return [apply_tags(writer, id, add, remove, {}, "user") for id in ids]
        return [apply_change(writer, id, action, "user") for id in ids]

    context = memory._context
    return [context.count_as_wrong(receipt) for receipt in context.write(write)]


def _event(answers: Sequence[Receipt]) -> str | None:
    return next((receipt.event for receipt in answers if receipt.event), None)


def memory(ask: Ask, theirs: str | None = None, mine: str | None = None) -> Response:
    store = ask.memory
    memory = store.get(ask.name("id"))
    if memory.state == "merged":
        return ask.back(f"/memory/{memory.superseded_by}")
    versions = store.history(memory.id)
    gone = memory.state == "purged"
    graph = store.graph
    why, impact = (None, None) if gone else (graph.why(memory.id, limit=30), graph.impact(memory.id, limit=30))
    near, around = None if gone else graph.context([memory.id], depth=1, limit=13), None
    if near and len(near) > 1:
        around = radial(near, [memory.id], store.abbreviate, wide=640, high=100 + 16 * len(near))
    return ask.page(
        "memory.html", status=409 if theirs is not None else 200, one=memory, versions=versions, why=why, impact=impact,
        chain=None if gone else graph.chain(memory.id, limit=20), near=near, drawing=around,
        exposures=exposures(store, id=memory.id, limit=20), changed=list(pairwise(versions))[::-1],
        command=ask.command("show", ask.short(memory.id)), theirs=theirs, mine=mine,
    )  # fmt: skip


def _verb_view(action: str, ask: Ask, /, **given: Any) -> Response:
    """Make a change of one memory that needs no more than its id."""
    return _answered(ask, getattr(ask.memory, action)(ask.name("id"), **given))


def _answered(ask: Ask, receipt: Receipt) -> Response:
    message = SAID_OF.get(receipt.status)
    return ask.back(done=receipt.event, said=message if message or receipt.event else "done")


def _reword(verb: str, ask: Ask) -> Response:
    """Edit a memory, or correct it by a new one. Never over words that the writer has not seen."""
    id, content, read = ask.name("id"), ask.form.get("content", ""), ask.form.get("version", "")
    # A browser sends line ends as HTTP wants them.
    content = content.replace("\r\n", "\n")
    more = {"why": ask.form.get("why") or None} if verb == "correct" else {}
    try:
        receipt: Receipt = getattr(ask.memory, verb)(id, content, version=int(read), origin="user", **more)
    except ChangedSince:
        return memory(ask, theirs=ask.memory.get(id).content, mine=content)
    to = f"/memory/{receipt.id}" if verb == "correct" and receipt.status == "created" else f"/memory/{id}"
    return ask.back(to, done=receipt.event, said=SAID_OF.get(receipt.status))


def retract(ask: Ask) -> Response:
    why = ask.form.get("why", "").strip() or "said so by the owner"
    return _answered(ask, ask.memory.retract(ask.name("id"), why, origin="user"))


def tag(ask: Ask) -> Response:
    add = [topic.strip() for topic in ask.form.get("add", "").split(",") if topic.strip()]
    return _answered(ask, ask.memory.tag(ask.name("id"), add=add, remove=ask.lists.get("remove", []), origin="user"))


def feedback(ask: Ask) -> Response:
    ask.memory.feedback(ask.name("id"), ask.form.get("verdict", ""))
    return ask.back(said="done")


def purge_asked(ask: Ask, wrong: str = "", status: int = 200) -> Response:
    """Show what a purge would remove, before it can be confirmed."""
    memory = ask.memory.get(ask.name("id"))
    ask.own(memory.id)
    would = ask.memory.purge(memory.id, dry_run=True, scopes=ask.purgeable())
    ids = (*would.quoted, *would.wordings)
    return ask.page(
        "purge.html", status=status, one=memory, would=would, wrong=wrong, word=ask.short(memory.id),
        others=[ask.memory.get(id) for id in ids[:20]],
        command=ask.command("purge", ask.short(memory.id), "--confirm"),
    )  # fmt: skip


def purge(ask: Ask) -> Response:
    id, flags = ask.name("id"), ask.form
    if flags.get("typed", "").strip() != ask.short(ask.memory.get(id).id):
        return purge_asked(ask, "What you typed is not the short id of this memory. Nothing was erased.", 400)
    if not ask.visitor.may_purge():
        return purge_asked(ask, "Five purges in a minute are enough. Nothing was erased; wait a little.", 429)
    ask.memory.purge(
        id, confirm=True, all_wordings="all_wordings" in flags, quoting="quoting" in flags, copies="copies" in flags,
        scopes=ask.purgeable(),
    )  # fmt: skip
    return ask.back(f"/memory/{id}", said="purged")


def undo(ask: Ask) -> Response:
    """Undo what a form did, its last operation first. In a team every operation is named: the last may be somebody
    else's."""
    events = ask.lists.get("event", [""])
    if "" in events and not ask.visitor.sees(""):
        raise BadInput("which operation?")
    back = _replaced_page(ask, events)
    answers = [ask.memory.undo(event or None, origin="user") for event in reversed(events)]
    return ask.back(back, said="undone" if any(answers) else "unchanged")


def _replaced_page(ask: Ask, events: Sequence[str]) -> str | None:
    """Return the path of the memory that an undone correction had replaced, when its own page is shown, else None."""
    for event in events:
        for operation in ask.memory.log(event=event) if event else ():
            made = {change.id for change in operation.changes if change.what == "remembered"}
            was = next((change.id for change in operation.changes if change.what == "superseded"), None)
            if was and ask.form.get("back", "").partition("?")[0].removeprefix("/memory/") in made:
                return f"/memory/{was}"
    return None


def changes(ask: Ask) -> Response:
    """Show the operations, newest first, each with its undo."""
    limit = min(max(ask.number("limit", 30), 1), 500)
    done = ask.site.kept(("log", ask.scope, limit), lambda: ask.memory.log(limit=limit))
    return ask.page("changes.html", operations=done, limit=limit, command=ask.command("log", "--limit", limit))


# -- review


def review(ask: Ask) -> Response:
    kind = ask.query.get("kind", "")
    items = ask.site.waiting(ask.scope)
    kinds = Counter(item.kind for item in items)
    shown = [item for item in items if kind in ("", item.kind)]
    start = max(0, ask.number("from", 0))
    return ask.page(
        "review.html", items=shown[start : start + REVIEWED], start=start, left=len(shown) - start - REVIEWED,
        kinds=kinds, kind=kind, total=len(items), QUESTIONS=QUESTIONS,
        following=start + REVIEWED, command=ask.command("review"),
    )  # fmt: skip


def decide(ask: Ask) -> Response:
    """Accept or reject one item, or several."""
    verdict, ids = ask.form.get("verdict", ""), ask.lists.get("id", [])
    if verdict not in ("accept", "reject"):
        raise BadInput("yes or no?")
    events: list[str] = []
    wrong = None
    decided = ask.memory.reject if verdict == "reject" else ask.memory.accept
    for id in ids:
        try:
            event = decided(id).event
            events += [event] if event else []
        except BadInput as error:  # one of a group that can no longer be carried out keeps none of the others
            wrong = error
    if wrong is not None and not events:
        raise wrong
    return ask.back(done=" ".join(events), said=None if events else "unchanged")


VIEWS: list[tuple[str, str, View]] = [
    ("GET", "/memories", memories),
    ("POST", "/memories/change", change_several),
    ("GET", "/memory/{id}", memory),
    ("POST", "/memory/{id}/promote", partial(_verb_view, "promote")),
    *(
        ("POST", f"/memory/{{id}}/{name}", partial(_verb_view, verb, origin="user", **more))
        for name, verb, more in (
            ("restore", "restore", {}), ("pin", "pin", {}), ("unpin", "pin", {"off": True}),
            ("archive", "archive", {}), ("reach", "archive", {"reached": True}),
        )
    ),
    *(("POST", f"/memory/{{id}}/{verb}", partial(_reword, verb)) for verb in ("edit", "correct")),
    ("POST", "/memory/{id}/retract", retract),
    ("POST", "/memory/{id}/tag", tag),
    ("POST", "/memory/{id}/feedback", feedback),
    ("GET", "/memory/{id}/purge", purge_asked),
    ("POST", "/memory/{id}/purge", purge),
    ("GET", "/changes", changes),
    ("POST", "/undo", undo),
    ("GET", "/review", review), ("POST", "/review", decide),
]  # fmt: skip
