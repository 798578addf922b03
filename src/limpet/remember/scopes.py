"""Scopes as a person arranges them: how many memories each has, moving memories, renaming and merging scopes.

Each change is an operation of `moved` events, one a memory: undone, synced and replayed like every other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, pairwise

from ..model.clock import Instant
from ..model.dataclass import dataclass, field, replace
from ..model.encode import OPTIONAL, TIME, JsonForm
from ..model.errors import BadInput, NotFound
from ..model.ids import format_id, parse_id, session_mark
from ..model.memory import STATES, Memory, check_list, check_scope
from ..store.records import Filter
from ..text.normalise import fingerprint
from .validation import no_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context import Context
    from .write import Receipt, Writer

# What a move takes along: all but tombstones.
MOVABLE = tuple(state for state in STATES if state != "purged")
# Sessions of a scope whose titles and ends a renaming takes along.
MOST_SESSIONS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope(JsonForm):
    """A scope that has memories."""

    scope: str
    memories: int  # that are held to be true now
    last_at_us: int = field(metadata=TIME)  # when the last of them was stored
    last_at = Instant("last_at_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeChange(JsonForm):
    """A scope whose memories are in another scope now."""

    was: str
    scope: str
    memories: int  # that were moved, whatever their state
    merged: tuple[str, ...] = field(default=(), metadata=OPTIONAL)  # those of them that said what was there already
    event: str


def scopes(context: Context) -> list[Scope]:
    found = context.store.listings.count_scopes(replace(context.filter(), scopes=None, as_of=context.now()))
    return [Scope(scope=name, memories=count, last_at_us=last) for name, count, last in found]


def move(context: Context, ids: str | Iterable[str], scope: str) -> list[Receipt]:
    from .write import Receipt, need

    named = (ids,) if isinstance(ids, str) else check_list("ids", ids)
    no_secret("scope", check_scope(scope))

    def decide(writer: Writer) -> list[Receipt]:
        found = {one.id: one for one in (need(writer.reads, id, writer.scopes) for id in named)}
        gone = next((one for one in found.values() if one.state == "purged"), None)
        if gone is not None:
            raise BadInput(f"memory {gone.id} was purged: its content is gone")
        coming = [one for one in found.values() if one.scope != scope]
        events = dict(zip((one.id for one in coming), _move(writer, coming, scope), strict=True))
        _order_values(writer, coming, scope)
        return [
            Receipt(id=id, status="changed", event=events[id], reason=f"{one.scope} -> {scope}")
            if id in events
            else Receipt(id=id, status="unchanged")
            for id, one in found.items()
        ]

    return context.write(decide)


def rename(context: Context, was: str, scope: str, *, into_another: bool) -> ScopeChange:
    """Give all memories of a scope another one. `into_another`: one that has some already."""
    no_secret("scope", check_scope(scope))
    if check_scope(was) == scope:
        raise BadInput(f"{scope} is both of the scopes")

    def decide(writer: Writer) -> ScopeChange:
        coming, there = _all(writer, was), bool(_all(writer, scope, most=1))
        if not coming:
            raise NotFound(f"no memory in {was}", hint="`limpet scope` lists the scopes there are")
        if there and not into_another:
            raise BadInput(f"{scope} has memories already", hint=f"`limpet scope merge {was} {scope}` puts both there")
        if not there and into_another:
            raise NotFound(f"no memory in {scope}", hint=f"`limpet scope rename {was} {scope}` gives it that name")
        events = _move(writer, coming, scope, whole=True)
        _take_sessions(writer, was, scope)
        merged = _merge_same(writer, coming, scope) if there else []
        _order_values(writer, [one for one in coming if one.id not in merged], scope)
        return ScopeChange(was=was, scope=scope, memories=len(coming), merged=tuple(merged), event=events[0])

    return context.write(decide)


def _all(writer: Writer, scope: str, *, most: int | None = None) -> list[Memory]:
    """The memories of a scope, oldest first: so a session of theirs begins when it began."""
    where = Filter(scopes=(scope,), states=MOVABLE)
    return list(islice(writer.reads.listings.each(where, descending=False), most))


def _move(writer: Writer, coming: Sequence[Memory], scope: str, **data: Any) -> list[str]:
    made = [
        writer.event("moved", parse_id(one.id), origin="user", scope=scope, was=one.scope, **data) for one in coming
    ]
    return [format_id(one.id) for one in made]


def _merge_same(writer: Writer, coming: Sequence[Memory], scope: str) -> list[str]:
    """What says exactly what is there already is spoken for by that."""
    from .review import merge  # reads of scopes do without these
    from .write import ALL, is_spoken

    merged: list[str] = []
    turns: dict[str, dict[tuple[int | None, int | None], list[bytes]]] = {}  # by session, those that are active

    def same_turn(mark: int, one: Memory) -> Memory | None:
        session = one.session or ""
        if session not in turns:
            there = turns[session] = {}
            for row in writer.reads.sessions.turns(scope, session, limit=ALL):
                if row.state == "active":
                    there.setdefault((row.mark, row.valid_from), []).append(row.id)
        ids = turns[session].get((mark, one.valid_from_us))
        return writer.reads.memories.get(ids.pop(0)) if ids else None

    for one in coming:
        mark = fingerprint(scope, one.kind, one.speaker, one.key, one.content)
        same = writer.reads.memories.same_statement(scope, mark, writer.now)
        if same is not None and is_spoken(one):
            same = same_turn(mark, one)
        if same is not None and one.state == "active" and merge(writer, same.id, one.id, origin="user") is not None:
            merged.append(one.id)
    return merged


def _order_values(writer: Writer, coming: Sequence[Memory], scope: str) -> None:
    """At each instant one value of a key holds: of what came and what was there, the one that began last."""
    moved: dict[str, list[Memory]] = {}
    for one in coming:
        if one.key and one.state == "active":
            moved.setdefault(one.key, []).append(one)
    for key, several in moved.items():
        there = writer.reads.memories.keyed(scope, key)
        values = sorted([*several, *there], key=lambda one: (one.valid_from_us, one.created_at_us, one.id))
        for one, following in pairwise(values if there else ()):
            if one.valid_to_us is None or one.valid_to_us > following.valid_from_us:
                by = parse_id(following.id).hex()
                writer.event("superseded", parse_id(one.id), origin="user", by=by, valid_to=following.valid_from_us)


def _take_sessions(writer: Writer, was: str, scope: str) -> None:
    """Sessions have their names in the other scope too, with their titles and ends, unless one is there."""
    for one in writer.reads.sessions.latest([was], limit=MOST_SESSIONS):
        there = writer.reads.sessions.get(scope, one.name)
        if (one.title or one.ended_at) and not (there and (there.title or there.ended_at)):
            mark, said = session_mark(scope, one.name), {"scope": scope, "name": one.name}
            titled = {"title": one.title} if one.title else {}
            writer.event("session_started", mark, origin="user", **said, **titled)
            if one.ended_at is not None:
                writer.event("session_ended", mark, origin="user", **said)
