"""Memories by id, and listings. The contracts are those of the verbs in `every_day.py`."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Mapping, Sequence

from .. import registry
from ..model.dataclass import replace
from ..model.errors import BadInput, NotFound
from ..model.ids import format_id, parse_id
from ..model.memory import STATES, Filter, Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ..context import Context, Time
    from ..store import Store
    from ..store.sql.listings import Page
    from .answer import Item
    from .brief import BriefItem

    Shown = TypeVar("Shown", Item, BriefItem, Memory)

# The nearest memories with topics that say what one without might have; the cosine that the nearest of them needs, and
# the share of a topic among all. Of 791 memories of tests/quality/recall it names a topic for 126, for 92 their own.
TOLD_BY, NEAR, SHARE = 5, 0.4, 0.5
# Questions to git about the code of what a recall shows. A brief asks none: it has 5 ms for its look.
GIT_ASKED = 3
# Where a memory's metadata says which file it was read from; only an import of a project writes it.
INDEXED = "indexed"


def source_states(memories: Sequence[Memory]) -> Sequence[str | None]:
    """Say of memories that were read from files whether these are fresh, drifted or gone."""
    states: Sequence[str | None] = registry.call("source_states", memories) or [None] * len(memories)
    return states


def code_marks(
    context: Context, shown: Sequence[tuple[str, str]], *, asks: int | None
) -> Mapping[str, tuple[tuple[str, bool], ...]]:
    """Return what has changed in the code of memories (id, scope), by id, and whether it is gone or renamed. `asks`: of
    git about files, such as where they are now; None: however long it takes."""
    if not shown or context.project is None or context.project.by != "git":
        return {}
    marks: Mapping[str, tuple[tuple[str, bool], ...]] | None = registry.call("code_marks", context, shown, asks=asks)
    return marks or {}


def marked(context: Context, shown: Sequence[Shown], *, asks: int | None = GIT_ASKED) -> Sequence[Shown]:
    """Add to what is about to be shown what has changed in the code that it speaks of, in a git checkout."""
    marks = code_marks(context, [(item.id, item.scope) for item in shown], asks=asks)
    lines = {id: tuple(line for line, _ in said) for id, said in marks.items()}
    return [replace(item, marks=lines[item.id]) if item.id in lines else item for item in shown] if lines else shown


def reason_of(store: Store, id: bytes, known_at: int | None = None) -> str | None:
    """Return why a memory was replaced, from the ledger, if somebody said so."""
    why = None
    for event in store.ledger.events(memory=id):
        if event.type == "superseded" and (known_at is None or event.at <= known_at):
            why = event.data.get("why") or why
    return why


COUNTED_BY = {"kind", "state", "origin", "scope", "topic", "day"}


def get(context: Context, id: str, *, known_at: Time) -> Memory:
    raw = context.store.memories.resolve(id, context.scopes)
    memory = context.store.memories.get(raw, known_at=context.time(known_at))
    if memory is None:
        raise NotFound(f"memory {format_id(raw)} was not known then")
    state = source_states([memory])[0] if INDEXED in memory.metadata else None
    return marked(context, [replace(context.as_read(memory), source_state=state)], asks=None)[0]


def show(context: Context, id: str) -> Memory:
    memory = get(context, context.store.memories.survivor(context.memory(id)).id, known_at=None)
    if not context.store.read_only and memory.state != "purged":
        context.store.usage.record([parse_id(memory.id)], context.now())
    return memory if memory.topics else replace(memory, suggested=_suggested(context, memory))


def _suggested(context: Context, memory: Memory) -> tuple[str, ...]:
    """Return topics that a memory might have: its heading, or what most of the nearest memories with topics have."""
    if heading := str(memory.metadata.get("heading") or "").rpartition(" > ")[2]:
        return (heading[:200],)
    store, now = context.store, context.now()
    embedder, text_ids = store.vectors.embedder(), store.search.texts_of([parse_id(memory.id)])
    vectors = store.vectors.exact(embedder.num, text_ids) if embedder else []
    if (
        embedder is None
        or not vectors
        or not store.listings.count_by(Filter(scopes=(memory.scope,), as_of=now), ("topic",))
    ):
        return ()
    import numpy as np  # only now: most who look at a memory need none

    from ..relate.job import nearest

    (index := context.semantic().index(embedder)).refresh()
    text_id, vector = vectors[0][0], np.frombuffer(vectors[0][1], np.float16).astype(np.float32)
    near = nearest(store, index, text_id, memory.scope, vector, now)
    tagged = [(cosine, other) for cosine, other in near if other.topics][:TOLD_BY]
    shares = Counter[str]()
    for cosine, other in tagged:
        shares.update(dict.fromkeys(other.topics, cosine))
    least = SHARE * sum(cosine for cosine, _ in tagged)
    return tuple(topic for topic, share in shares.most_common() if share >= least and tagged[0][0] >= NEAR)


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
