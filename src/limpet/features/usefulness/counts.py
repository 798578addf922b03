"""Was what agents were shown of use? Counts of exposures with honest intervals, and what showing it changed."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.clock import Instant
from ...model.dataclass import dataclass, field
from ...model.encode import TIME, JsonForm, by
from ...model.ids import format_id
from .exposures import ExposureRow, UseCount
from .interval import Interval, difference, share


def as_interval(given: Interval | None) -> dict[str, float] | None:
    return None if given is None else {name: round(value, 4) for name, value in given._asdict().items()}


def _memories(given: tuple[tuple[str, Use], ...]) -> list[dict[str, object]]:
    return [{"id": id, **use.as_dict()} for id, use in given]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure(JsonForm):
    """One memory as it was put before one agent, or held out."""

    id: str
    at_us: int = field(metadata=TIME)  # microseconds UTC
    client: str
    session: str  # "" when the client did not say
    via: str  # message, start or compact: the hook; recall or prepare: the MCP tool
    tokens: int
    shown: bool  # False: held out
    used: bool | None  # whether it showed up in the work; None: not known, or it cannot be told
    at = Instant("at_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(JsonForm):
    """What was counted of one memory, or of all. Judged and used: once a session."""

    times: int  # shown so often
    tokens: int  # for so many
    judged: int
    used: int
    rate: Interval | None = field(metadata=by(as_interval))  # used of judged, with 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Usefulness(JsonForm):
    """`shown`: all that was shown. `drawn` and `withheld`: randomized, shown and held out; `lift`: what showing
    changed."""

    shown: Use
    drawn: Use
    withheld: Use
    lift: Interval | None = field(metadata=by(as_interval))
    memories: tuple[tuple[str, Use], ...] = field(metadata=by(_memories))  # by id, the most tokens first


def exposure(one: ExposureRow) -> Exposure:
    return Exposure(
        id=format_id(one.memory), at_us=one.at, client=one.client, session=one.session, via=one.via, tokens=one.tokens,
        shown=one.shown, used=one.used,
    )  # fmt: skip


def usefulness(counts: Sequence[UseCount], *, limit: int) -> Usefulness:
    """Of the counts of a scope; the `limit` memories that cost most.

    The lift compares what was randomized and shown with what was held out: nothing else tells the two apart, so that
    their difference is what showing does. What was shown without being randomized is left out of it.
    """
    drawn, withheld = _use(counts, drawn=True, shown=True), _use(counts, shown=False)
    by_memory: dict[bytes, list[UseCount]] = {}
    for one in counts:
        by_memory.setdefault(one.memory, []).append(one)
    each = [(format_id(memory), _use(several, shown=True)) for memory, several in by_memory.items()]
    best = sorted((one for one in each if one[1].times), key=lambda one: (-one[1].tokens, one[0]))
    return Usefulness(
        shown=_use(counts, shown=True), drawn=drawn, withheld=withheld, lift=difference(drawn.rate, withheld.rate),
        memories=tuple(best[:limit]),
    )  # fmt: skip


def _use(counts: Sequence[UseCount], **those: bool) -> Use:
    """What was counted of those that have some values."""
    several = [one for one in counts if all(getattr(one, name) == value for name, value in those.items())]
    judged, used = sum(one.judged for one in several), sum(one.used for one in several)
    return Use(
        times=sum(one.times for one in several), tokens=sum(one.tokens for one in several), judged=judged, used=used,
        rate=share(used, judged),
    )  # fmt: skip
