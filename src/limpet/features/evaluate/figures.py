"""The figures of a replay: the share of needed memories found, the memories shown for nothing, the tokens spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.dataclass import dataclass, field
from ...model.encode import JsonForm
from ..usefulness.exposures import Interval, Z, as_interval, share

if TYPE_CHECKING:
    from .moments import Moment
    from .needed import Need
    from .replay import Replayed, Shown


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


def figures(pairs: Sequence[tuple[Need, bool]], items: Sequence[Shown]) -> Figures:
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


def of_all(replayed: Sequence[Replayed]) -> Figures:
    return figures(*_joined(replayed))


def _joined(replayed: Sequence[Replayed]) -> tuple[list[tuple[Need, bool]], list[Shown]]:
    """Return the needs of all moments, each with whether it was met, and what was shown."""
    pairs = [pair for result in replayed for pair in result.needs]
    return pairs, [item for result in replayed for item in result.shown]


def by_client(moments: Sequence[Moment], replayed: Sequence[Replayed]) -> dict[str, Figures]:
    """Return the figures of each client, by name; "" where the client is unknown."""
    groups: dict[str, list[Replayed]] = {}
    for moment, result in zip(moments, replayed, strict=True):
        groups.setdefault(moment.client, []).append(result)
    return {client: of_all(own) for client, own in sorted(groups.items())}


def by_kind(replayed: Sequence[Replayed], kinds: dict[str, str]) -> dict[str, Figures]:
    """Return the figures of each kind of memory. `kinds`: memory id -> kind."""
    pairs, items = _joined(replayed)
    there = sorted({need.kind for need, _ in pairs} | {kinds.get(item.id, "") for item in items})
    return {
        kind: figures(
            [pair for pair in pairs if pair[0].kind == kind], [item for item in items if kinds.get(item.id, "") == kind]
        )
        for kind in there
    }


def beside(base: Sequence[Replayed], others: dict[str, list[Replayed]]) -> tuple[WayFigures, ...]:
    """Return the figures of limpet as it is set (`base`) and of each other way, by its name."""
    ways = [WayFigures(name="limpet", figures=of_all(base))]
    mine = [hit for _, hit in _joined(base)[0]]
    for name, replayed in others.items():
        hits = list(zip(mine, (hit for _, hit in _joined(replayed)[0]), strict=True))
        gained, lost = hits.count((False, True)), hits.count((True, False))
        difference = paired(gained, lost, len(hits))
        given = of_all(replayed)
        ways.append(WayFigures(name=name, figures=given, gained=gained, lost=lost, difference=difference))
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
