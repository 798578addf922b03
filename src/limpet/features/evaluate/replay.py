"""Ways to choose what a message is shown (limpet's, plain BM25, what was shown), replayed over a history.

For each: what it shows at each moment, what of that was needed, and the figures: the share of needed memories found,
the memories shown for nothing, the tokens spent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...agents.hooks.injected import ASKED, MESSAGE_TOKENS, Holdout, Offer, Section, lines_of, offered
from ...model.dataclass import dataclass, field
from ...model.encode import JsonForm
from ...settings import wants_judge
from ...text.describe import WORD
from ..usefulness import Interval, Z, as_interval, share
from .moments import can_tell

if TYPE_CHECKING:
    from ...api import Limpet, Progress
    from .moments import Moment, Need, Version, Versions


# What plain BM25 shows, whatever the message; its constants are the usual ones (Robertson and Zaragoza, 2009).
BEST, K1, B = 5, 1.2, 0.75

# A way to choose what a message is shown: it answers a moment with an offer of hooks, so that each is paid for in the
# same tokens.
Way = Callable[["Moment"], Offer]


def by_hooks(memory: Limpet, moment: Moment, *, words: bool = False) -> Offer:
    """Return what hooks would inject. `words`: those that find no running process, and search by words alone."""
    if not moment.query:
        return Offer([], MESSAGE_TOKENS)
    results = memory.recall(
        moment.query, k=ASKED, lexical_only=words, trace=True, thorough=wants_judge(),
        **moment.times,
    )  # fmt: skip
    return offered(results, moment.query, _short, MESSAGE_TOKENS, Holdout(moment.session, 0.0))


def by_bm25(versions: Versions) -> Way:
    """Return a way that takes the best few by plain BM25 over the known texts, for every message."""
    of: dict[int, Counter[str]] = {
        id(version): Counter(WORD.findall(version.memory.content.casefold())) for version in versions.all
    }

    def way(moment: Moment) -> Offer:
        known = versions.known(moment)
        best = _best(set(WORD.findall(moment.prompt.casefold())), known, [of[id(version)] for version in known])
        return Offer([Section("", list(lines_of([version.memory for version in best], _short)))], MESSAGE_TOKENS)

    return way


def _best(query: set[str], known: Sequence[Version], words: Sequence[Counter[str]]) -> list[Version]:
    lengths = [counts.total() for counts in words]
    mean = sum(lengths) / max(len(lengths), 1)
    scores: dict[int, float] = {}
    for word in query:
        having = [place for place, counts in enumerate(words) if word in counts]
        idf = math.log(1 + (len(words) - len(having) + 0.5) / (len(having) + 0.5))
        for place in having:
            often = words[place][word]
            worth = idf * often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[place] / mean))
            scores[place] = scores.get(place, 0.0) + worth
    order = sorted(scores, key=lambda place: (-scores[place], known[place].memory.id))
    return [known[place] for place in order[:BEST]]


def _short(ids: list[str]) -> list[str]:
    """Return ids of the length of short ones, to count their tokens."""
    return [id[-6:] for id in ids]


# -- what a way shows, and what of it was needed


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


@dataclass(frozen=True, slots=True, kw_only=True)
class WayFigures(JsonForm):
    """A way, and what it came to. Against limpet as it is set: needs that only one of them found, with the difference
    of the hit rates; none for limpet itself."""

    name: str
    figures: Figures
    gained: int = 0  # found by this way alone
    lost: int = 0  # found by limpet alone
    difference: Interval | None = field(default=None, metadata={"form": as_interval})


def beside(base: Sequence[Replayed], others: dict[str, list[Replayed]]) -> tuple[WayFigures, ...]:
    """Return the figures of limpet as it is set (`base`) and of each other way, by its name."""
    ways = [WayFigures(name="limpet", figures=figures(base))]
    mine = [hit for result in base for _, hit in result.needs]
    for name, replayed in others.items():
        theirs = [hit for result in replayed for _, hit in result.needs]
        hits = list(zip(mine, theirs, strict=True))
        gained, lost = hits.count((False, True)), hits.count((True, False))
        difference = paired(gained, lost, len(hits))
        ways.append(WayFigures(name=name, figures=figures(replayed), gained=gained, lost=lost, difference=difference))
    return tuple(ways)


def paired(gained: int, lost: int, cases: int) -> Interval | None:
    """Return the difference of two shares of the same cases, with 95 %; None without a case.

    Source: A. Agresti and Y. Min, "Simple improved confidence intervals for comparing matched proportions", Statistics
    in Medicine 24, 2005: Wald's with half a case more in each cell.
    """
    if not cases:
        return None
    more, fewer, all = gained + 0.5, lost + 0.5, cases + 2
    middle = (more - fewer) / all
    width = Z * math.sqrt(more + fewer - (more - fewer) ** 2 / all) / all
    return Interval((gained - lost) / cases, max(-1.0, middle - width), min(1.0, middle + width))
