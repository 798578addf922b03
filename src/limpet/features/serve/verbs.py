"""The one table of what the HTTP/JSON API offers; routes and roles are made from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...agents.arguments import Schema, checked, flag, number, takes, text, texts
from ...agents.tools import ITEM, TAKES
from ...model.clock import format_time
from ...model.dataclass import dataclass
from ...model.errors import BadInput, NotFound
from ...model.ids import parse_id
from ...model.memory import KINDS
from .tokens import EVERY_SCOPE, Grant, own

if TYPE_CHECKING:
    from ...api import Limpet

Given = dict[str, Any]
# A recall may have to load the model first; a brief answers without what comes later.
DEADLINE_MS = 10_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb of the API. `run` takes the store in the request's scope, its grant and the checked arguments."""

    name: str
    role: str
    takes: Schema
    run: Callable[[Limpet, Grant, Given], dict[str, Any]]


VERBS: dict[str, Verb] = {}

_TIME = text('ISO 8601, or "3 days ago"')
_FILTERS: Given = {
    "kind": {"type": "array", "items": text(one_of=KINDS)}, "topics": texts(), "since": _TIME, "until": _TIME,
    "session": text(), "speaker": text(), "key": text("SUBJECT.ATTRIBUTE"),
}  # fmt: skip
_ORIGIN = ITEM["properties"]["origin"]


def _verb(
    name: str, role: str, *required: str, **properties: Schema
) -> Callable[[Callable[[Limpet, Grant, Given], dict[str, Any]]], None]:
    """Put a function into the table, with the schema of what it takes."""
    properties["scope"] = text("one that the token is for; without it the token's first")

    def add(run: Callable[[Limpet, Grant, Given], dict[str, Any]]) -> None:
        schema = takes(**properties) | {"required": list(required)}
        VERBS[name] = Verb(name=name, role=role, takes=schema, run=run)

    return add


@_verb("remember", "write", "items", items={"type": "array", "items": ITEM})
def _(memory: Limpet, _: Grant, given: Given) -> dict[str, Any]:
    items = [checked(item, ITEM, of=f"items[{at}]") for at, item in enumerate(given["items"])]
    if not items:
        raise BadInput("nothing to remember", hint="give at least one item")
    written = memory.remember_batch(items)
    return {"results": [receipt.as_dict() for receipt in written]}


@_verb("recall", "read", "query", query=text(), k=number(10, 100), as_of=_TIME, known_at=_TIME, explain=flag(),
       budget_tokens=number(2_000, 100_000), lexical_only=flag(), **_FILTERS)  # fmt: skip
def _(memory: Limpet, _: Grant, given: Given) -> dict[str, Any]:
    return memory.recall(given.pop("query"), deadline_ms=DEADLINE_MS, **given).as_dict()


@_verb("prepare", "read", "message", **TAKES["prepare"]["properties"], session=text())
def _(memory: Limpet, _: Grant, given: Given) -> dict[str, Any]:
    return memory.prepare(given.pop("message"), lexical_only=False, deadline_ms=DEADLINE_MS, **given).as_dict()


@_verb("get", "read", "id", id=text(), known_at=_TIME, history=flag())
def _(memory: Limpet, _: Grant, given: Given) -> dict[str, Any]:
    shown = memory.get(given["id"], known_at=given.get("known_at")).as_dict()
    if given.get("history"):
        shown["history"] = [version.as_dict() for version in memory.history(given["id"])]
    return shown


@_verb("list", "read", limit=number(50, 1_000), cursor=text(), all_states=flag(), ascending=flag(), **_FILTERS)
def _(memory: Limpet, _: Grant, given: Given) -> dict[str, Any]:
    page = memory.list(**given)
    return {"memories": [row.as_dict() for row in page.memories], "cursor": page.cursor}


@_verb("correct", "write", "id", "content", id=text(), content=text(), why=text(), valid_from=_TIME, origin=_ORIGIN)
def _(memory: Limpet, grant: Grant, given: Given) -> dict[str, Any]:
    own(memory, grant.sees, given["id"])
    return memory.correct(given.pop("id"), given.pop("content"), **given).as_dict()


@_verb("retract", "write", "id", "why", id=text(), why=text(), origin=_ORIGIN)
def _(memory: Limpet, grant: Grant, given: Given) -> dict[str, Any]:
    own(memory, grant.sees, given["id"])
    return memory.retract(given["id"], given["why"], origin=given["origin"]).as_dict()


@_verb("undo", "write", "event", event=text())
def _(memory: Limpet, _: Grant, given: Given) -> dict[str, Any]:
    """Undo a named event only: the last operation of a shared scope may be somebody else's."""
    parse_id(given["event"])  # a whole one: nobody looks for others by their beginnings
    try:
        return {"undone": [event.as_dict() for event in memory.undo(given["event"])]}
    except NotFound:
        raise NotFound("there is no such operation in this scope") from None


@_verb("stats", "read")
def _(memory: Limpet, grant: Grant, _: Given) -> dict[str, Any]:
    """Return the counts of the scope, and of the whole store for those who may see all of it."""
    shown: dict[str, Any] = {
        "scope": memory.scope,
        "memories": memory.count(),
        "by_kind": {kind: count for kind in KINDS if (count := memory.count(kind=kind))},
    }
    if grant.may("admin") and EVERY_SCOPE in grant.scopes:
        stats = memory.stats()
        whole = {name.removesuffix("_us"): value for name, value in stats._asdict().items()}
        shown["store"] = whole | {"oldest": format_time(stats.oldest), "newest": format_time(stats.newest)}
    return shown
