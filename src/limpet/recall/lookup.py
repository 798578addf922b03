"""Memories by id, and listings. The contracts are those of the verbs in `api.py`."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from ..model.dataclass import replace
from ..model.errors import BadInput, NotFound
from ..model.ids import format_id, parse_id
from ..model.memory import STATES, Memory, valued
from ..store.records import MOST_LISTED, Filter, Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context, Time

COUNTED_BY = {"kind", "state", "origin", "scope", "topic", "day"}


def get(context: Context, id: str, *, known_at: Time) -> Memory:
    raw = context.store.memories.resolve(id, context.scopes)
    memory = context.store.memories.get(raw, known_at=context.time(known_at))
    if memory is None:
        raise NotFound(f"memory {format_id(raw)} was not known then")
    from .sources import Sources

    return replace(context.as_read(memory), source_state=Sources().state(memory.metadata))


def show(context: Context, id: str) -> Memory:
    memory = get(context, id, known_at=None)
    if not context.store.read_only and memory.state != "purged":
        context.store.usage.record([parse_id(memory.id)], context.now())
    return memory


def history(context: Context, id: str) -> builtins.list[Memory]:
    return [
        context.as_read(one)
        for one in context.store.memories.versions(context.store.memories.resolve(id, context.scopes))
    ]


def list(
    context: Context, where: Filter, *, sort: str, limit: int, cursor: str | None, all_states: bool,
    ascending: bool = False,
) -> Page:  # fmt: skip
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_LISTED:
        raise BadInput(f"limit must be from 1 to {MOST_LISTED}, not {limit!r}")
    where = _listed(context, where, all_states)
    page = context.store.listings.page(where, sort=sort, limit=limit, cursor=cursor, descending=not ascending)
    return replace(page, memories=[context.as_read(one) for one in page.memories])


def count(context: Context, where: Filter, *, all_states: bool) -> int:
    return context.store.listings.count(_listed(context, where, all_states))


def count_by(context: Context, where: Filter, by: Sequence[str], *, all_states: bool) -> dict[tuple[str, ...], int]:
    if not all(isinstance(one, str) for one in by):
        raise BadInput(f"counted by names, not {by!r:.60}", hint='such as count_by("kind", "topic")')
    if not by or len(set(by)) < len(by) or not set(by) <= COUNTED_BY:
        raise BadInput(f"cannot count by {', '.join(by) or 'nothing'}", hint=f"by {', '.join(sorted(COUNTED_BY))}")
    return context.store.listings.count_by(_listed(context, where, all_states), by)


def matching(context: Context, words: str, *, all_states: bool, whole: bool) -> builtins.list[Memory]:
    import re

    from ..text.whole_words import stand

    wanted = words.casefold().split()
    if not wanted:
        raise BadInput("no words given")
    where = context.filter()
    where = replace(where, states=STATES) if all_states else where
    # SQL compares only ASCII whatever its case: the longest such piece narrows it down, the rest is compared here. No
    # piece holds a mark: beside a text stand the words of its key.
    pieces = re.findall("[0-9A-Za-z]+", words) or re.findall(r"[^\W_]+", words) or wanted
    literal = max(pieces, key=len)
    search = context.store.search
    found = {one.num for one in search.candidates(search.substring(literal, where, limit=1_000_000), where)}
    now = context.now()
    several = [
        context.as_read(one)
        for one in context.store.memories.by_rows(sorted(found, reverse=True))
        if all_states or one.valid_to_us is None or one.valid_to_us > max(now, one.valid_from_us)
    ]
    phrase = stand(wanted, beginning=not whole)
    as_said = [one for one in several if phrase(valued(one.key, one.content))]
    tests = [stand([word], beginning=not whole) for word in wanted]
    return as_said or [one for one in several if all(test(valued(one.key, one.content)) for test in tests)]


def abbreviate(context: Context, ids: Sequence[str], *, items: bool) -> builtins.list[str]:
    several = [parse_id(id) for id in ids]
    return context.store.reviews.abbreviate(several) if items else context.store.memories.abbreviate(several)


def _listed(context: Context, where: Filter, all_states: bool) -> Filter:
    return replace(where, states=STATES) if all_states else replace(where, as_of=context.now())
