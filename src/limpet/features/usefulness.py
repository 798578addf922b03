"""Exposures: the memories shown to agents, and whether they were useful. Counts have intervals that hold for few cases.

Hooks write such rows by themselves (`agents/hooks/journal.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import index

from ..model.clock import Instant
from ..model.dataclass import NamedTuple, dataclass, field
from ..model.encode import TIME, JsonForm
from ..model.errors import BadInput
from ..model.ids import format_id, parse_id
from ..model.memory import check_list
from ..remember.validation import check_limit, check_name, check_text, without_control
from ..secrets import redact
from ..store.records import Action
from ..store.sql.journal import INSERT_EXPOSURE
from ..store.sql.store import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..api import Limpet

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

    def note(self, rows: Sequence[ExposureRow]) -> None:
        """Keep what was shown. The last 50,000 stay."""
        with self._database.writing() as con:
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


# -- verbs

# What a line of the journal says: what the user asked, what an agent did, what failed, what it answered.
ACTIONS = ("asked", "did", "failed", "said")


def note_action(memory: Limpet, session: str, kind: str, what: str) -> None:
    """Add a line to the journal of what was asked, done and answered. No belief, no history: a ring of lines.

    >>> note_action(memory, "monday", "did", "ran the tests")
    """
    if kind not in ACTIONS:
        raise BadInput(f"unknown kind: {kind[:60]!r}", hint=f"one of: {', '.join(ACTIONS)}")
    session, what = check_name("session", session) or "", without_control(what)
    if what.strip():
        check_text(what, "what")
    context = memory._context
    context.store.journal.note(Action(context.scope, redact(session)[0], context.now(), kind, redact(what)[0]))


def note_exposures(
    memory: Limpet, items: Iterable[tuple[str, int]], *, session: str = "", client: str, via: str
) -> None:
    """Keep what was put before an agent. `items`: ids and tokens.

    >>> id = memory.remember("Deploys go out on Tuesdays").id
    >>> note_exposures(memory, [(id, 9)], session="monday", client="mine", via="message")
    """
    context = memory._context
    session, now = redact(session)[0], context.now()
    rows = [
        ExposureRow(context.scope, session, client, now, via, parse_id(id), tokens)
        for id, tokens in map(_shown, check_list("items", items))
    ]
    if rows:
        Exposures(context.store).note(rows)


def _shown(item: tuple[str, int]) -> tuple[str, int]:
    """Check an id and its tokens. Raises BadInput."""
    try:
        id, tokens = item[0], index(item[1])
    except (TypeError, LookupError):
        tokens = -1
    if tokens < 0 or len(item) != 2:
        raise BadInput(f"an item must be an id and its tokens, not {item!r:.60}")
    return id, tokens


def exposures(
    memory: Limpet, *, session: str | None = None, id: str | None = None, limit: int = 20
) -> Sequence[Exposure]:
    """Return what agents were shown in this scope or session, newest first; or when one memory was shown, anywhere.

    Raises BadInput, NotFound.

    >>> id = memory.remember("Deploys go out on Tuesdays").id
    >>> note_exposures(memory, [(id, 9)], session="monday", client="mine", via="message")
    >>> [exposure.tokens for exposure in exposures(memory, session="monday")]
    [9]
    """
    context, memory_id = memory._context, None if id is None else parse_id(memory.get(id).id)
    check_limit(limit)
    return Exposures(context.store).latest(context.scope, session=session, memory=memory_id, limit=limit)


def usefulness(memory: Limpet, *, limit: int = 10) -> Usefulness:
    """Return what was shown in this scope, at what cost, how much of it was used, and the effect of showing it; shares
    with their 95 % interval. Raises BadInput.

    >>> usefulness(memory).shown.times
    0
    """
    check_limit(limit)
    return summed_up(Exposures(memory._context.store).counts(memory.scope), limit=limit)


def percent(rate: Interval) -> str:
    return f"{rate.value * 100:.0f} % (95 %: {rate.low * 100:.0f} to {rate.high * 100:.0f} %)"


def show(answer: Usefulness, memory: Limpet) -> None:
    """Print the answer of `limpet stats --usefulness`."""
    from ..cli.output import in_a_line, line, short, words
    from ..cli.tables import table

    if not answer.shown.times and not answer.withheld.judged:
        words("no memory was put before an agent yet")
        return
    uses = [("shown", answer.shown), ("of them at random", answer.drawn), ("held out", answer.withheld)]
    uses += [(f"{short(id)}  {in_a_line(memory.get(id))}", use) for id, use in answer.memories]
    rows = []
    for name, use in uses:
        share = f", {percent(use.rate)}" if use.rate else ""
        rows.append([f"{use.times:,}", f"{use.tokens:,}", f"{use.used:,} of {use.judged:,}{share}", name])
    table(["times", "tokens", "used of those judged", ""], rows)
    if answer.lift is None:
        words("nothing was held out to compare with: LIMPET_HOLDOUT=0.05 holds out 5 % at random")
    else:
        lift, low, high = (100 * part for part in answer.lift)
        line(f"lift by showing: {lift:+.0f} points (95 %: {low:+.0f} to {high:+.0f})")
