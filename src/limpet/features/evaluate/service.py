"""Memory measured on one's own history: `evaluate` makes the moments, replays recall over them and counts.

Nothing is sent, and nothing of the store changes. docs/how-to/evaluate.md says what the figures mean.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...context import CLOCKS
from ...model.clock import SystemClock
from ...model.dataclass import dataclass, field, replace
from ...model.encode import OPTIONAL, JsonForm
from ...model.errors import BadInput
from ...model.memory import STATES
from ...model.times import parse_time
from ..transfer.records import TransferReport
from ..usefulness import exposures
from . import figures, misses, ways
from .figures import Figures, WayFigures
from .misses import Miss
from .moments import EXPOSURES, Moment, from_journal, from_transcripts
from .needed import Versions
from .replay import Replayed, as_shown, replay

if TYPE_CHECKING:
    from ...api import Limpet, Progress
    from ...context import Time


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation(JsonForm):
    """The report of `limpet eval`. `ways`: limpet as it is set comes first, then the settings compared with it."""

    sessions: int
    moments: int
    looked_up: int
    whole: int  # moments from transcripts; the others are from the journal, which keeps the beginnings of texts
    memories: int  # that were known at the last moment
    clock: str
    ways: tuple[WayFigures, ...]
    by_client: dict[str, Figures]
    by_kind: dict[str, Figures]
    misses: tuple[Miss, ...]
    notes: tuple[str, ...] = field(default=(), metadata=OPTIONAL)


def evaluate(
    memory: Limpet, transcripts: Iterable[str | os.PathLike[str]], *, compare: Sequence[str], clock: str, since: Time,
    until: Time, worst: int, progress: Progress | None,
) -> Evaluation:  # fmt: skip
    settings = [(text, ways.Setting().but(text)) for text in compare]
    if clock not in CLOCKS:
        raise BadInput(f"unknown clock: {clock!r}", hint=f"one of: {', '.join(CLOCKS)}")
    report = TransferReport()
    moments = _moments(memory, transcripts, since, until, report)
    if clock == "valid":
        moments = [replace(moment, since=moment.began) for moment in moments]
    context = memory._context
    every = context.store.listings.each(replace(context.filter(), states=STATES))
    versions = Versions(version for stored in every for version in memory.history(stored.id))
    needs = versions.of_sessions(moments)
    kinds = {version.memory.id: version.memory.kind for version in versions.all}

    base = replay(partial(ways.limpet, memory, ways.Setting()), moments, needs, versions, progress)
    others: dict[str, list[Replayed]] = {}
    for name, other in settings:
        with ways.opened(memory, other) as store:
            others[name] = replay(partial(ways.limpet, store, other), moments, needs, versions, progress)
    if exposures := _exposures(memory):
        others["as it was shown"] = as_shown(moments, needs, versions, exposures)
    others["plain BM25"] = replay(ways.bm25(versions), moments, needs, versions)
    others["no memory"] = as_shown(moments, needs, versions, {})

    known = versions.known(moments[-1]) if moments else []
    return Evaluation(
        sessions=len({moment.session for moment in moments}), moments=len(moments),
        looked_up=sum(bool(moment.query) for moment in moments), whole=sum(moment.whole for moment in moments),
        memories=len(known), clock=clock, ways=figures.beside(base, others),
        by_client=figures.by_client(moments, base), by_kind=figures.by_kind(base, kinds),
        misses=misses.worst(memory, moments, base, worst), notes=tuple(_notes(report)),
    )  # fmt: skip


def _moments(
    memory: Limpet, transcripts: Iterable[str | os.PathLike[str]], since: Time, until: Time, report: TransferReport
) -> list[Moment]:
    """Return the moments by session, in order. A session that a transcript holds is read there, where it is whole."""
    whole = list(from_transcripts(memory, [Path(os.fspath(path)) for path in transcripts], report))
    there = {moment.session for moment in whole}
    every = whole + [moment for moment in from_journal(memory) if moment.session not in there]
    now = SystemClock().now()
    begin, end = (None if time is None else parse_time(time, now=now) for time in (since, until))
    kept = [moment for moment in every if (begin is None or moment.at >= begin) and (end is None or moment.at < end)]
    return sorted(kept, key=lambda moment: (moment.began, moment.session, moment.at))


def _exposures(memory: Limpet) -> dict[str, list[tuple[int, str, int]]]:
    """Return the exposures of each session, in order: (when, id, tokens)."""
    by_session: dict[str, list[tuple[int, str, int]]] = {}
    for exposure in reversed(exposures(memory, limit=EXPOSURES)):
        if exposure.shown:
            by_session.setdefault(exposure.session, []).append((exposure.at_us, exposure.id, exposure.tokens))
    return by_session


def _notes(report: TransferReport) -> Iterator[str]:
    for place, why in report.rejected:
        yield f"{place}: {why}"
    if report.more_rejected:
        yield f"{report.more_rejected:,} more could not be read"
