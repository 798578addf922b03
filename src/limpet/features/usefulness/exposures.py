"""Exposures, stored and counted, with intervals that hold for few cases too.

Hooks write such rows by themselves (`agents/hooks/journal.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby

from ...model.clock import Instant
from ...model.dataclass import NamedTuple, dataclass, field
from ...model.encode import TIME, JsonForm
from ...model.ids import format_id
from ...store.records import Action
from ...store.sql.journal import INSERT, INSERT_EXPOSURE
from ...store.sql.store import Repository

# Two-sided 95 %: the 0.975 quantile of the normal distribution.
Z = 1.959964


class ExposureRow(NamedTuple):
    """A memory that was put before an agent, or held out of what it was shown. `at` in microseconds UTC."""

    scope: str
    session: str
    client: str
    at: int
    via: str  # message, start or compact: the hook; recall or prepare: the MCP tool
    memory: bytes
    tokens: int
    shown: bool = True
    drawn: bool = False  # whether showing it was randomized
    used: bool | None = None  # whether it showed up in the work; None: not known, or it cannot be told


class UseCount(NamedTuple):
    """Counts of a memory shown (or, `shown` False, held out) and used. Judged and used: once a session."""

    memory: bytes
    shown: bool
    drawn: bool
    times: int
    tokens: int
    judged: int
    used: int


class Exposures(Repository):
    """Rows of `surfaced`."""

    def note(self, rows: Sequence[ExposureRow], action: Action | None = None) -> None:
        """Keep what was shown, and the journal's line that it answers, in one transaction. The last 50,000 stay."""
        with self._database.writing() as con:
            if action is not None:
                con.execute(INSERT, action)
            con.executemany(INSERT_EXPOSURE, [(*row[:9], None if row.used is None else int(row.used)) for row in rows])

    def latest(
        self, scope: str, *, session: str | None = None, memory: bytes | None = None, limit: int
    ) -> list[Exposure]:
        """Return the last exposures of a scope or session, newest first; or of a memory, in any scope."""
        rows = self._database.rows(
            "SELECT memory, at, client, session, via, tokens, shown, used FROM surfaced WHERE CASE WHEN ?4 IS NULL"
            " THEN scope = ?1 AND (?2 IS NULL OR session = ?2) ELSE memory = ?4 END ORDER BY num DESC LIMIT ?3",
            (scope, session, limit, memory),
        )
        return [
            Exposure(
                id=format_id(memory), at_us=at, client=client, session=session, via=via, tokens=tokens,
                shown=bool(shown), used=bool(used) if used in (0, 1) else None,
            )
            for memory, at, client, session, via, tokens, shown, used in rows
        ]  # fmt: skip

    def counts(self, scope: str) -> list[UseCount]:
        """Count all exposures of a scope by memory and by whether it was shown and drawn; ordered by them. A memory
        that came several times in a session is one observation: what it is used for is one work. Of a drawn one the
        first time counts: a shown one is shown once, and one held out must not be looked for more often."""
        rows = self._database.rows(
            "SELECT memory, shown, drawn, sum(times), sum(tokens),"
            " sum(CASE WHEN used >= 0 THEN 1 ELSE 0 END), sum(CASE WHEN used = 1 THEN 1 ELSE 0 END) FROM ("
            "  SELECT memory, shown, drawn, session, count(*) AS times, sum(tokens) AS tokens,"
            "         max(CASE WHEN num = first OR NOT drawn THEN used END) AS used"
            "    FROM (SELECT *, min(num) OVER (PARTITION BY memory, shown, drawn, session) AS first"
            "            FROM surfaced WHERE scope = ?) AS numbered GROUP BY memory, shown, drawn, session"
            ") AS runs GROUP BY memory, shown, drawn ORDER BY memory, shown, drawn",
            (scope,),
        )
        return [UseCount(row[0], bool(row[1]), bool(row[2]), *map(int, row[3:])) for row in rows]


# -- counts


class Interval(NamedTuple):
    """A value, and where it lies with 95 %."""

    value: float
    low: float
    high: float


def share(hits: int, cases: int) -> Interval | None:
    """Return hits / cases with Wilson's score interval; None without a case.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.
    """
    if cases <= 0:
        return None
    rate, z2 = hits / cases, Z * Z
    middle = (rate + z2 / (2 * cases)) / (1 + z2 / cases)
    width = Z / (1 + z2 / cases) * math.sqrt(rate * (1 - rate) / cases + z2 / (4 * cases * cases))
    return Interval(rate, max(0.0, middle - width), min(1.0, middle + width))


def difference(first: Interval | None, other: Interval | None) -> Interval | None:
    """Return one - other, of two shares of separate cases, with Newcombe's interval; None where a share is missing.

    Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in
    Medicine 17, 1998, method 10.
    """
    if first is None or other is None:
        return None
    value = first.value - other.value
    low = value - math.hypot(first.value - first.low, other.high - other.value)
    high = value + math.hypot(first.high - first.value, other.value - other.low)
    return Interval(value, max(-1.0, low), min(1.0, high))


def as_interval(given: Interval | None) -> dict[str, float] | None:
    return None if given is None else {name: round(value, 4) for name, value in given._asdict().items()}


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
    """Use counts of one memory, or of all. Judged and used: once a session."""

    times: int  # shown so often
    tokens: int  # for so many
    judged: int
    used: int
    rate: Interval | None = field(metadata={"form": as_interval})  # used of judged, with 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Usefulness(JsonForm):
    """Use counts of a scope. `shown`: all memories shown. `drawn` and `withheld`: randomized, shown and held out;
    `lift`: the difference between those two."""

    shown: Use
    drawn: Use
    withheld: Use
    lift: Interval | None = field(metadata={"form": as_interval})
    memories: tuple[tuple[str, Use], ...] = field(  # by id, the most tokens first
        metadata={"form": lambda memories: [{"id": id, **use.as_dict()} for id, use in memories]}
    )


def summed_up(counts: Sequence[UseCount], *, limit: int) -> Usefulness:
    """Sum up the counts of a scope; name the `limit` memories that cost most.

    The lift compares what was randomized and shown with what was held out: nothing else tells the two apart, so that
    their difference is what showing does. What was shown without being randomized is left out of it.
    """
    shown = [count for count in counts if count.shown]
    drawn, withheld = _use(count for count in shown if count.drawn), _use(count for count in counts if not count.shown)
    each = [(format_id(memory), _use(own)) for memory, own in groupby(shown, lambda count: count.memory)]
    return Usefulness(
        shown=_use(shown), drawn=drawn, withheld=withheld, lift=difference(drawn.rate, withheld.rate),
        memories=tuple(sorted(each, key=lambda row: (-row[1].tokens, row[0]))[:limit]),
    )  # fmt: skip


def _use(counts: Iterable[UseCount]) -> Use:
    times, tokens, judged, used = map(sum, zip((0, 0, 0, 0), *(count[3:] for count in counts), strict=True))
    return Use(times=times, tokens=tokens, judged=judged, used=used, rate=share(used, judged))
