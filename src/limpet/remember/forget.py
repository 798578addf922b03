"""Retracting several memories in one operation: by topic, session, age or words. Nothing is erased."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.dataclass import dataclass, field, replace
from ..model.encode import OPTIONAL, JsonForm
from ..model.ids import format_id, parse_id
from ..model.memory import STATES, Memory, valued
from ..store.records import Filter
from ..text.whole_words import all_stand
from .decide import proposed
from .write import Writer, need

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..context import Context

DEFAULT_REASON = "forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(JsonForm):
    """What was retracted together, or would be."""

    memories: tuple[Memory, ...]  # as they were
    event: str | None  # of the operation; None: a dry run, or nothing to do
    # Ids of what a more trusted origin said: a person decides.
    waiting: tuple[str, ...] = field(default=(), metadata=OPTIONAL)


def forget(
    context: Context, ids: Sequence[str] | None, where: Filter | None, *, match: str | None, why: str,
    origin: str | None, dry_run: bool,
) -> Forgotten:  # fmt: skip
    """`where`: of what the ids name, or where none are given of this scope alone, only what passes, if it has all words
    of `match`; None: all that the ids name."""
    from ..text.secrets import redact

    reason, _ = redact(why)
    stand = all_stand(match or "")

    def decide(writer: Writer) -> Forgotten:
        if ids is None:
            here = replace(where or context.filter(), scopes=(context.scope,), as_of=writer.now)
            found = list(_pages(writer, here))
        else:
            found = [need(writer.reads, id, writer.scopes) for id in ids]
            found = [one for one in {one.id: one for one in found}.values() if one.state not in ("retracted", "purged")]
            found = found if where is None else _narrowed(writer, found, where)
        found = [one for one in found if stand(valued(one.key, one.content))]
        if dry_run:
            return Forgotten(memories=tuple(found), event=None)
        waiting: list[str] = []
        for one in found:
            if proposed(writer, one, origin) is not None:
                waiting.append(one.id)
            else:
                writer.event("retracted", parse_id(one.id), origin=origin or "agent", why=reason)
        event = format_id(writer.events[0].id) if writer.events else None
        return Forgotten(memories=tuple(found), event=event, waiting=tuple(waiting))

    if dry_run:
        return decide(Writer(context.store, context.new_id, context.now(), context.scopes))
    done = context.write(decide)
    for id in done.waiting:
        from .review import note_objection

        context.store.usage.record([parse_id(id)], context.now(), "wrong")
        note_objection(context, id, reason)
    return done


def _narrowed(writer: Writer, found: list[Memory], where: Filter) -> list[Memory]:
    """Those that a filter lets pass, whatever their state and when they hold."""
    passing = writer.reads.graph.matching([parse_id(one.id) for one in found], replace(where, states=STATES))
    return [one for one in found if parse_id(one.id) in passing]


def _pages(writer: Writer, where: Filter) -> Iterator[Memory]:
    cursor = None
    while True:
        page = writer.reads.listings.page(where, sort="created", limit=1_000, cursor=cursor)
        yield from page.memories
        cursor = page.cursor
        if cursor is None:
            return
