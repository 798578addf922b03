"""Retention: which old memories nobody used leave recall, and what sums them up. It says first what it would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import dataclass
from ..model.errors import BadInput
from ..model.ids import parse_id
from ..model.memory import KINDS, Memory
from ..store.records import Filter
from .session import EPISODE_SOURCE

if TYPE_CHECKING:
    from ..store import Store

# Memories that one run takes at most: the next run takes the others.
MOST = 10_000
MOST_DAYS = 1_000_000
# Fewer memories of a session than these are not worth a summary.
FOLDED_FROM = 3
ARCHIVED = "retention"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What expires: `archive`, the oldest first; `fold`: names of sessions that are summed up before."""

    archive: list[Memory]
    fold: list[str]
    applied: bool = False

    def as_dict(self) -> dict[str, object]:
        """{"archive": [{"id", "kind", "session", "content"}], "fold": [names], "applied"}."""
        return {
            "archive": [
                {"id": one.id, "kind": one.kind, "session": one.session, "content": one.content} for one in self.archive
            ],
            "fold": self.fold,
            "applied": self.applied,
        }


def expired(store: Store, scope: str, *, now: int, days: float, kinds: Sequence[str], fold: bool) -> Retention:
    """Active memories of some kinds of a scope that were neither stated nor used for so many days.

    Never what is pinned, the value of a key, the summary of a session, or the reason of something that is held.
    Raises BadInput.
    """
    unknown = sorted(set(kinds) - set(KINDS))
    if unknown:
        raise BadInput(f"unknown kind: {unknown[0]!r}", hint=f"one of: {', '.join(KINDS)}")
    if not kinds:
        raise BadInput("no kind is named", hint="the usual one is episode")
    if isinstance(days, bool) or not 1 <= days <= MOST_DAYS:
        raise BadInput(f"days must be from 1 to {MOST_DAYS:,}, not {str(days)[:40]}")
    where = Filter(scopes=(scope,), kinds=tuple(dict.fromkeys(kinds)))
    rows = store.listings.unseen(where, before=int(now - days * MICROSECONDS_PER_DAY), limit=MOST)
    old = [one for one in store.memories.by_rows(rows) if one.key is None and one.source != EPISODE_SOURCE]
    ids = [parse_id(one.id) for one in old]
    reasons = {edge.target for edge in store.edges.of(ids, incoming=True, types=("caused_by",))}
    reasons |= {edge.source for edge in store.edges.of(ids, types=("supports",))}
    old = [one for one in old if parse_id(one.id) not in reasons]
    sizes: dict[str, int] = {}
    for one in old:
        if one.session is not None:
            sizes[one.session] = sizes.get(one.session, 0) + 1
    return Retention(archive=old, fold=[name for name, size in sizes.items() if fold and size >= FOLDED_FROM])
