"""Scopes as a person arranges them: how many memories each has, moving memories, renaming and merging scopes.

Each change is an operation of `moved` events, one a memory: undone, synced and replayed like every other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..model.clock import Instant
from ..model.dataclass import dataclass, field, replace
from ..model.encode import OPTIONAL, TIME, JsonForm
from ..model.errors import BadInput, NotFound
from ..model.ids import parse_id, session_mark
from ..model.memory import STATES, Filter, Memory, check_list, check_scope
from .validation import no_secret
from .write import Receipt, Writer, changed, is_spoken, mark_of

if TYPE_CHECKING:
    from ..context import Context

# States that a move takes along: all but tombstones.
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
    """The memories of a scope after their move to another scope."""

    was: str
    scope: str
    memories: int  # that were moved, whatever their state
    merged: tuple[str, ...] = field(default=(), metadata=OPTIONAL)  # those merged into memories that said the same
    event: str


def scopes(context: Context) -> list[Scope]:
    counts = context.store.listings.count_scopes(replace(context.filter(), scopes=None, as_of=context.now()))
    return [Scope(scope=name, memories=count, last_at_us=last) for name, count, last in counts]


def move(context: Context, ids: str | Iterable[str], scope: str) -> list[Receipt]:
    named = (ids,) if isinstance(ids, str) else check_list("ids", ids)
    no_secret("scope", check_scope(scope))

    def write(writer: Writer) -> list[Receipt]:
        by_id = {memory.id: memory for memory in map(writer.memory, named)}
        gone = next((memory for memory in by_id.values() if memory.state == "purged"), None)
        if gone is not None:
            raise BadInput(f"memory {gone.id} was purged: its content is gone")
        coming = [memory for memory in by_id.values() if memory.scope != scope]
        moved = {receipt.id: receipt for receipt in _move(writer, coming, scope)}
        _order_values(writer, coming, scope)
        return [moved.get(id) or Receipt(id=id, status="unchanged") for id in by_id]

    return context.write(write)


def rename(context: Context, was: str, scope: str, *, merge: bool) -> ScopeChange:
    """Move all memories of a scope to another one. `merge`: to one that has memories already."""
    no_secret("scope", check_scope(scope))
    if check_scope(was) == scope:
        raise BadInput(f"{scope} is both of the scopes")

    each = context.store.listings.each
    has = [any(islice(each(Filter(scopes=(name,), states=MOVABLE)), 1)) for name in (was, scope)]
    if merge and was == context.scope and has == [False, True] and context.claim(scope):
        return ScopeChange(was=was, scope=scope, memories=0, event="")

    def write(writer: Writer) -> ScopeChange:
        # Oldest first: so a session of theirs begins when it began.
        each = writer.reads.listings.each
        coming = list(each(Filter(scopes=(was,), states=MOVABLE), descending=False))
        there = any(islice(each(Filter(scopes=(scope,), states=MOVABLE)), 1))
        if not coming:
            raise NotFound(f"no memory in {was}", hint="`limpet scope` lists the scopes there are")
        if there and not merge:
            raise BadInput(f"{scope} has memories already", hint=f"`limpet scope merge {was} {scope}` puts both there")
        if not there and merge:
            raise NotFound(f"no memory in {scope}", hint=f"`limpet scope rename {was} {scope}` gives it that name")
        moved = _move(writer, coming, scope, whole=True)
        # Sessions have their names in the other scope too, with their titles and ends, unless one is there.
        for session in writer.reads.sessions.latest([was], limit=MOST_SESSIONS):
            other = writer.reads.sessions.get(scope, session.name)
            if (session.title or session.ended_at) and not (other and (other.title or other.ended_at)):
                mark, named = session_mark(scope, session.name), {"scope": scope, "name": session.name}
                titled = {"title": session.title} if session.title else {}
                writer.event("session_started", mark, origin="user", **named, **titled)
                if session.ended_at is not None:
                    writer.event("session_ended", mark, origin="user", **named)
        merged = _merge_same(writer, coming, scope) if there else []
        _order_values(writer, [memory for memory in coming if memory.id not in merged], scope)
        event = moved[0].event or ""
        return ScopeChange(was=was, scope=scope, memories=len(coming), merged=tuple(merged), event=event)

    return context.write(write)


def _move(writer: Writer, coming: Sequence[Memory], scope: str, **data: Any) -> list[Receipt]:
    return [
        changed(
            writer.event("moved", parse_id(memory.id), origin="user", scope=scope, was=memory.scope, **data),
            reason=f"{memory.scope} -> {scope}",
        )
        for memory in coming
    ]


def _merge_same(writer: Writer, coming: Sequence[Memory], scope: str) -> list[str]:
    """Merge each arriving memory into one of this scope that says exactly the same."""
    from .review import merge as merge_two  # reads of scopes do without this

    merged = []
    for memory in coming:
        if memory.state == "active" and not is_spoken(memory):  # the same words are another turn
            same = writer.reads.memories.same_statement(scope, mark_of(replace(memory, scope=scope)), writer.now)
            if same is not None and merge_two(writer, same.id, memory.id, origin="user") is not None:
                merged.append(memory.id)
    return merged


def _order_values(writer: Writer, coming: Sequence[Memory], scope: str) -> None:
    """Order the arriving values of a key and the present ones, so that one holds at each instant."""
    moved: dict[str, list[Memory]] = defaultdict(list)
    for memory in coming:
        if memory.key and memory.state == "active":
            moved[memory.key].append(memory)
    for key, values in moved.items():
        if there := writer.reads.memories.keyed(scope, key):
            writer.order_values([*values, *there])
