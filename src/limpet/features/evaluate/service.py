"""Memory measured on one's own history: `evaluate` makes the moments, replays recall over them and counts.

Nothing is sent, and nothing of the store changes. docs/how-to/evaluate.md says what the figures mean.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...agents.hooks.injected import ASKED, may_be_shown
from ...model.clock import Instant, SystemClock
from ...model.dataclass import dataclass, field, replace
from ...model.encode import OPTIONAL, TIME, JsonForm
from ...model.memory import STATES
from ...model.times import parse_time
from ..transfer.records import TransferReport
from ..usefulness import exposures
from .moments import EXPOSURES, Moment, Versions, from_journal, from_transcripts
from .replay import Figures, Replayed, as_shown, figures, replay

if TYPE_CHECKING:
    from ...api import Limpet, Progress
    from ...context import Time
    from .moments import Need

# Results that are asked for, to explain a miss.
LOOKED_AT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss(JsonForm):
    """A need that was not met. `rank`: the place of the memory among the results, if it was one."""

    id: str
    kind: str
    content: str
    told_again: bool
    words: tuple[str, ...]  # of the work, or of what the user said again, that show the need
    prompt: str
    session: str
    client: str
    at_us: int = field(metadata=TIME)
    rank: int | None
    why: str
    signals: dict[str, Any] = field(default_factory=dict, metadata=OPTIONAL)  # as a recall's trace gives them
    at = Instant("at_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation(JsonForm):
    """The report of `limpet eval`. `figures`: of the replay; `shown`: of what the sessions were shown, if anything."""

    sessions: int
    moments: int
    looked_up: int
    whole: int  # moments from transcripts; the others are from the journal, which keeps the beginnings of texts
    memories: int  # that were known at the last moment
    figures: Figures
    shown: Figures | None = field(default=None, metadata=OPTIONAL)
    misses: tuple[Miss, ...]
    notes: tuple[str, ...] = field(default=(), metadata=OPTIONAL)


def evaluate(
    memory: Limpet, transcripts: Iterable[str | os.PathLike[str]], *, since: Time, until: Time, worst: int,
    progress: Progress | None,
) -> Evaluation:  # fmt: skip
    report = TransferReport()
    moments = _moments(memory, transcripts, since, until, report)
    context = memory._context
    every = context.store.listings.each(replace(context.filter(), states=STATES))
    versions = Versions(version for stored in every for version in memory.history(stored.id))
    needs = versions.of_sessions(moments)

    base = replay(memory, moments, needs, versions, progress)
    then = as_shown(exposures(memory, limit=EXPOSURES), moments, needs, versions)

    known = versions.known(moments[-1]) if moments else []
    return Evaluation(
        sessions=len({moment.session for moment in moments}), moments=len(moments),
        looked_up=sum(bool(moment.query) for moment in moments), whole=sum(moment.whole for moment in moments),
        memories=len(known), figures=figures(base),
        shown=figures(then) if any(result.shown for result in then) else None,
        misses=_worst(memory, moments, base, worst), notes=tuple(_notes(report)),
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


def _notes(report: TransferReport) -> Iterator[str]:
    for place, why in report.rejected:
        yield f"{place}: {why}"
    if report.more_rejected:
        yield f"{report.more_rejected:,} more could not be read"


# -- reasons for misses: recall asked again as of then, for more results and for what it left out


def _worst(memory: Limpet, moments: Sequence[Moment], replayed: Sequence[Replayed], limit: int) -> tuple[Miss, ...]:
    """Return the worst misses, one a memory: those that a user had to repeat first, then by evidence."""
    results = zip(moments, replayed, strict=True)
    missed = [(need, moment) for moment, result in results for need, hit in result.needs if not hit]
    missed.sort(key=lambda pair: (not pair[0].told_again, -pair[0].evidence, pair[1].at))
    once: dict[str, tuple[Need, Moment]] = {}
    for need, moment in missed:
        once.setdefault(need.ids[0], (need, moment))
    misses = []
    for need, moment in list(once.values())[:limit]:
        rank, why, signals = _why(memory, need.ids[0], moment)
        misses.append(Miss(
            id=need.ids[0], kind=need.kind, content=need.content, told_again=need.told_again,
            words=tuple(sorted(need.words)), prompt=moment.prompt, session=moment.session, client=moment.client,
            at_us=moment.at, rank=rank, why=why, signals=signals,
        ))  # fmt: skip
    return tuple(misses)


def _why(memory: Limpet, id: str, moment: Moment) -> tuple[int | None, str, dict[str, Any]]:
    if not moment.query:
        return None, "the message was not looked up: too short, or a command of the client", {}
    recall = memory.recall(moment.query, k=LOOKED_AT, trace=True, explain=True, as_of=moment.at, known_at=moment.at)
    for rank, item in enumerate(recall.items, 1):
        if item.id == id:
            signals = item.why.as_dict() if item.why is not None else {}
            if rank > ASKED:
                return rank, f"found as no. {rank}; the first {ASKED} are looked at", signals
            if not may_be_shown(item):
                return rank, f"found as no. {rank}, but unconfirmed: it came from {item.trust}", signals
            raw = {name: trace.raw for name, trace in item.why.signals.items()} if item.why is not None else {}
            words, cosine = raw.get("lexical", 0.0) * 100, raw.get("vector", 0.0)
            fit = f"{words:.0f} % of a match by words, {cosine:.2f} near in meaning"
            return rank, f"found as no. {rank}, too weak to be shown: {fit}", signals
    left = {candidate.id: candidate for candidate in recall.explained.left_out} if recall.explained else {}
    if id in left:
        return None, " ".join(("left out:", left[id].why, left[id].detail)).strip(), {}
    return None, "the message has no word of it, and is not near in meaning", {}
