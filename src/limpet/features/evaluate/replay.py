"""A way replayed over a history: what it shows at each moment, what of that was needed, and what it missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .needed import can_tell

if TYPE_CHECKING:
    from ...api import Progress
    from .moments import Moment
    from .needed import Need, Versions
    from .ways import Way


class Shown(NamedTuple):
    id: str
    tokens: int
    useful: bool | None  # whether the session needed it then or later; None: it cannot be told


class Replayed(NamedTuple):
    """A moment as a way would have had it. What a session was shown stays before it, and is not shown again."""

    shown: tuple[Shown, ...]
    needs: tuple[tuple[Need, bool], ...]  # each need of the moment, and whether it was shown by then


def replay(
    way: Way, moments: Sequence[Moment], needs: Sequence[Sequence[Need]], versions: Versions,
    progress: Progress | None = None,
) -> list[Replayed]:  # fmt: skip
    """Replay `moments`, by session and in order. `needs`: those of each moment."""
    seen: dict[str, set[str]] = {}
    shown: list[Sequence[tuple[str, int]]] = []
    for place, moment in enumerate(moments):
        before = seen.setdefault(moment.session, set())
        block = way(moment).block(before)
        before.update(id for id, _ in block.items)
        shown.append(block.items)
        if progress is not None:
            progress(place + 1, len(moments))
    return judged(moments, needs, versions, shown)


def as_shown(
    moments: Sequence[Moment], needs: Sequence[Sequence[Need]], versions: Versions,
    exposures: Mapping[str, Sequence[tuple[int, str, int]]],
) -> list[Replayed]:  # fmt: skip
    """Assign the (when, id, tokens) that each session was shown to the latest moment before them, and judge them."""
    shown: list[list[tuple[str, int]]] = [[] for _ in moments]
    places: dict[str, list[int]] = {}
    for place, moment in enumerate(moments):
        places.setdefault(moment.session, []).append(place)
    for session, rows in exposures.items():
        for at, id, tokens in rows:
            there = places.get(session, [])
            if there:
                place = max((earlier for earlier in there if moments[earlier].at <= at), default=there[0])
                shown[place].append((id, tokens))
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
