"""Memories by id, and listings. The contracts are those of the verbs in `every_day.py`."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from ..model.dataclass import replace
from ..model.errors import BadInput, NotFound
from ..model.ids import format_id, parse_id
from ..model.memory import STATES, Filter, Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context, Time
    from ..store.sql.listings import Page

# Where a memory's metadata says which file it was read from; only an import of a project writes it.
INDEXED = "indexed"


def source_states(memories: Sequence[Memory]) -> Sequence[str | None]:
    """Say of memories that were read from files whether these are fresh, drifted or gone."""
    from .. import registry

    states: Sequence[str | None] = registry.call("source_states", memories) or [None] * len(memories)
    return states


COUNTED_BY = {"kind", "state", "origin", "scope", "topic", "day"}


def get(context: Context, id: str, *, known_at: Time) -> Memory:
    raw = context.store.memories.resolve(id, context.scopes)
    memory = context.store.memories.get(raw, known_at=context.time(known_at))
    if memory is None:
        raise NotFound(f"memory {format_id(raw)} was not known then")
    state = source_states([memory])[0] if INDEXED in memory.metadata else None
    return replace(context.as_read(memory), source_state=state)


def show(context: Context, id: str) -> Memory:
    memory = get(context, context.store.memories.survivor(context.memory(id)).id, known_at=None)
    if not context.store.read_only and memory.state != "purged":
        context.store.usage.record([parse_id(memory.id)], context.now())
    return memory


def history(context: Context, id: str) -> builtins.list[Memory]:
    memories = context.store.memories
    return [context.as_read(version) for version in memories.versions(memories.resolve(id, context.scopes))]


def list(
    context: Context, where: Filter, *, sort: str, limit: int, cursor: str | None, all_states: bool,
    ascending: bool = False,
) -> Page:  # fmt: skip
    where = _listed(context, where, all_states)
    page = context.store.listings.page(where, sort=sort, limit=limit, cursor=cursor, descending=not ascending)
    return replace(page, memories=[context.as_read(memory) for memory in page.memories])


def count(context: Context, where: Filter, *, all_states: bool) -> int:
    return context.store.listings.count(_listed(context, where, all_states))


def count_by(context: Context, where: Filter, by: Sequence[str], *, all_states: bool) -> dict[tuple[str, ...], int]:
    if not all(isinstance(name, str) for name in by):
        raise BadInput(f"counted by names, not {by!r:.60}", hint='such as count_by("kind", "topic")')
    if not by or len(set(by)) < len(by) or not set(by) <= COUNTED_BY:
        raise BadInput(f"cannot count by {', '.join(by) or 'nothing'}", hint=f"by {', '.join(sorted(COUNTED_BY))}")
    return context.store.listings.count_by(_listed(context, where, all_states), by)


def abbreviate(context: Context, ids: Sequence[str], *, items: bool) -> builtins.list[str]:
    raw = [parse_id(id) for id in ids]
    return context.store.reviews.abbreviate(raw) if items else context.store.memories.abbreviate(raw)


def _listed(context: Context, where: Filter, all_states: bool) -> Filter:
    return replace(where, states=STATES) if all_states else replace(where, as_of=context.now())
