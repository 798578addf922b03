"""Replay what hooks would show over a history, and judge it, and what was shown then, by what was needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...agents.hooks.injected import ASKED, MESSAGE_TOKENS, Holdout, Offer, offered
from ...model.dataclass import dataclass, field
from ...model.encode import JsonForm
from ...settings import wants_judge
from ..usefulness import Interval, as_interval, share
from .moments import can_tell

if TYPE_CHECKING:
    from ...api import Limpet, Progress
    from ..usefulness import Exposure
    from .moments import Moment, Need, Versions


def by_hooks(memory: Limpet, moment: Moment) -> Offer:
    """Return what hooks would inject."""
    if not moment.query:
        return Offer([], MESSAGE_TOKENS)
    results = memory.recall(
        moment.query, k=ASKED, trace=True, thorough=wants_judge(), as_of=moment.at, known_at=moment.at
    )
    return offered(results, moment.query, _short, MESSAGE_TOKENS, Holdout(moment.session, 0.0))


def _short(ids: list[str]) -> list[str]:
    """Return ids of the length of short ones, to count their tokens."""
    return [id[-6:] for id in ids]


# -- what is shown, and what of it was needed


class Shown(NamedTuple):
    id: str
    tokens: int
    useful: bool | None  # whether the session needed it then or later; None: it cannot be told


class Replayed(NamedTuple):
    """A moment with what it is shown. What a session was shown stays before it, and is not shown again."""

    shown: tuple[Shown, ...]
    needs: tuple[tuple[Need, bool], ...]  # each need of the moment, and whether it was shown by then


def replay(
    memory: Limpet, moments: Sequence[Moment], needs: Sequence[Sequence[Need]], versions: Versions,
    progress: Progress | None = None,
) -> list[Replayed]:  # fmt: skip
    """Replay hooks over `moments`, by session and in order. `needs`: those of each moment."""
    seen: dict[str, set[str]] = {}
    shown: list[Sequence[tuple[str, int]]] = []
    for place, moment in enumerate(moments):
        before = seen.setdefault(moment.session, set())
        block = by_hooks(memory, moment).block(before)
        before.update(id for id, _ in block.items)
        shown.append(block.items)
        if progress is not None:
            progress(place + 1, len(moments))
    return judged(moments, needs, versions, shown)


def as_shown(
    exposures: Iterable[Exposure], moments: Sequence[Moment], needs: Sequence[Sequence[Need]], versions: Versions
) -> list[Replayed]:
    """Judge what each session was shown, at the latest moment before."""
    places: dict[str, list[int]] = {}
    for place, moment in enumerate(moments):
        places.setdefault(moment.session, []).append(place)
    shown: list[list[tuple[str, int]]] = [[] for _ in moments]
    for row in sorted(exposures, key=lambda exposure: exposure.at_us):
        if row.shown and row.session in places:
            first, *later = places[row.session]
            place = max((place for place in later if moments[place].at <= row.at_us), default=first)
            shown[place].append((row.id, row.tokens))
    return judged(moments, needs, versions, shown)


def judged(
    moments: Sequence[Moment], needs: Sequence[Sequence[Need]], versions: Versions,
    shown: Sequence[Sequence[tuple[str, int]]],
) -> list[Replayed]:  # fmt: skip
    """Compare what was shown at each moment with what the sessions needed."""
    by_id = {version.memory.id: version for version in versions.all}
    later: dict[str, set[str]] = {}  # what a session needs from a moment on
    useful: list[tuple[Shown, ...]] = []
    for moment, wanted, items in reversed(list(zip(moments, needs, shown, strict=True))):
        needed = later.setdefault(moment.session, set())
        needed.update(id for need in wanted for id in need.ids)
        marked: list[Shown] = []
        for id, tokens in items:
            version = by_id.get(id)
            shows = version is not None and can_tell(version, moment.before)
            marked.append(Shown(id, tokens, True if id in needed else False if shows else None))
        useful.append(tuple(marked))
    seen: dict[str, set[str]] = {}
    made = []
    for moment, wanted, judged_items in zip(moments, needs, reversed(useful), strict=True):
        before = seen.setdefault(moment.session, set())
        before.update(item.id for item in judged_items)
        made.append(Replayed(judged_items, tuple((need, not before.isdisjoint(need.ids)) for need in wanted)))
    return made


# -- figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures(JsonForm):
    """Counts over moments. `useful` and `for_nothing` are of what was shown and could be judged."""

    needs: int
    found: int
    hit_rate: Interval | None = field(metadata={"form": as_interval})  # found of needs, with 95 %
    told_again: int  # of the needs, those that the user had to say again
    spared: int  # of these, those that were found
    shown: int
    useful: int
    for_nothing: int
    tokens: int
    tokens_for_nothing: int


def figures(replayed: Sequence[Replayed]) -> Figures:
    pairs = [pair for result in replayed for pair in result.needs]
    items = [item for result in replayed for item in result.shown]
    hits = sum(hit for _, hit in pairs)
    idle = [item for item in items if item.useful is False]
    return Figures(
        needs=len(pairs), found=hits, hit_rate=share(hits, len(pairs)),
        told_again=sum(need.told_again for need, _ in pairs), spared=sum(hit for need, hit in pairs if need.told_again),
        shown=len(items), useful=sum(item.useful is True for item in items), for_nothing=len(idle),
        tokens=sum(item.tokens for item in items), tokens_for_nothing=sum(item.tokens for item in idle),
    )  # fmt: skip
