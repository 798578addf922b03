"""The explanation of a recall: how the question was read, and what was left out and why. (The terms of a score are in
`score.contributions`.)

It never looks at other scopes, not even to count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from ..model.clock import format_time
from ..model.dataclass import NamedTuple, dataclass, field, replace
from ..model.errors import EmbedderUnavailable
from ..model.memory import STATES, Memory, caseless
from ..text.dates import mentioned, spans
from ..text.describe import MONTHS, WEEKDAYS, with_grams
from .candidates import Candidates, best_of
from .pack import Packed
from .plan import Plan

if TYPE_CHECKING:
    from ..store import Store
    from .semantic import SemanticSearch

# Memories near the question by words, and by meaning, that are looked at; left-out memories that are listed.
LOOKED_AT, TOLD = 60, 10
# The states of memories that are in nobody's answer, in words.
_STATES = {
    "archived": "archived",
    "retracted": "retracted",
    "merged": "merged into another",
    "quarantined": "below trust: in quarantine until a person has looked",
}


class LeftOut(NamedTuple):
    """A memory that is near the question and not in the answer."""

    id: str
    why: str
    content: str
    detail: str = ""  # what stands in its place, when it ended
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The times that a question names, and what was left out of its answer."""

    times: tuple[str, ...] = ()  # parts of dates and stretches of time that it names
    counts: Mapping[str, int] = field(default_factory=dict)  # how many were left out, by reason
    left_out: tuple[LeftOut, ...] = ()  # the nearest of them

    def as_dict(self) -> dict[str, object]:
        """Return {"times", "left_out": {"counts", "items"}}."""
        items = [{name: value for name, value in item._asdict().items() if value} for item in self.left_out]
        left_out = {"counts": dict(self.counts), "items": items}
        return {"times": list(self.times), "left_out": left_out}


def filtered(store: Store, semantic: SemanticSearch | None, plan: Plan) -> list[LeftOut]:
    """Return memories near the question in the same scopes that do not pass the filter, nearest first, with why."""
    where = plan.where
    wide = replace(
        where, kinds=(), topics=(), session=None, speaker=None, key=None, metadata=(), since=None, until=None,
        stored_since=None, stored_until=None, as_of=None, states=tuple(state for state in STATES if state != "purged"),
    )  # fmt: skip
    orders = []
    if "lexical" not in plan.without:
        hits = store.search.lexical(with_grams(plan.query), wide, limit=LOOKED_AT * 3, deadline=plan.deadline).hits
        orders.append(list(hits))
    if semantic is not None and not plan.lexical_only and "vector" not in plan.without and plan.query.strip():
        with suppress(EmbedderUnavailable):  # the recall's notes say so
            if scan := semantic.search(plan):
                orders.append(scan.take(LOOKED_AT * 3))
    near = best_of(orders, LOOKED_AT * 6)
    there = {row.text_id: row for row in store.search.candidates(near, wide)}
    passing = {row.text_id for row in store.search.candidates(list(there), where)}
    missed = [text_id for text_id in near if text_id in there and text_id not in passing][:LOOKED_AT]
    rows = store.memories.by_rows([there[text_id].num for text_id in missed])
    return [LeftOut(row.id, why, row.content, detail, row.key) for row in rows for why, detail in (_reason(row, plan),)]


def _reason(memory: Memory, plan: Plan) -> tuple[str, str]:
    """Return why a memory does not pass the filter, and the detail."""
    where = plan.where
    if memory.state not in where.states:
        return _STATES.get(memory.state, memory.state), memory.reason or ""
    at = where.as_of
    if at is not None and memory.valid_from_us > at:
        return "not yet true", f"from {format_time(memory.valid_from)}"
    if at is not None and memory.valid_to_us is not None and memory.valid_to_us <= at:
        if memory.superseded_by is not None:
            return "superseded", f"by {memory.superseded_by}"
        return "expired", f"on {format_time(memory.valid_to)}"
    from_, stored = memory.valid_from_us, memory.created_at_us
    for since, until, at, word in (
        (where.since, where.until, from_, "from"), (where.stored_since, where.stored_until, stored, "stored"),
    ):  # fmt: skip
        if since is not None and at < since:
            return "before the range of dates", f"{word} {format_time(at)}"
        if until is not None and at >= until:
            return "after the range of dates", f"{word} {format_time(at)}"
    if where.kinds and memory.kind not in where.kinds:
        return "another kind", memory.kind
    had = set(map(caseless, memory.topics))
    if lacking := [topic for topic in where.topics if caseless(topic) not in had]:
        return "without the topic", ", ".join(sorted(lacking))
    for name in ("session", "speaker"):
        if getattr(where, name) not in (None, has := getattr(memory, name)):
            return f"another {name}", has or ""
    if where.key is not None and caseless(memory.key or "") != caseless(where.key):
        return "another key", memory.key or ""
    return "other metadata", ""


def explanation(
    store: Store, semantic: SemanticSearch | None, plan: Plan, candidates: Candidates, packed: Packed, *, lower: int
) -> Explanation:
    """Explain how a question was read and what was left out. `lower`: how many candidates were ranked in all."""
    rows = store.memories.by_rows([candidates.table.rows[i] for i, _ in packed.dropped])
    left_out = [
        LeftOut(row.id, why, row.content, key=row.key) for row, (_, why) in zip(rows, packed.dropped, strict=True)
    ]
    if plan.remaining() > 0:
        left_out += filtered(store, semantic, plan)
    else:
        candidates.miss("explain", "the deadline came before what the filter leaves out was looked for")
    counts = dict(sorted(Counter(item.why for item in left_out).items(), key=lambda pair: (-pair[1], pair[0])))
    lower -= len(packed.places) + len(packed.dropped)
    if lower > 0:
        counts["ranked lower"] = lower
    return Explanation(times=tuple(_times(plan)), counts=counts, left_out=tuple(left_out[:TOLD]))


def _times(plan: Plan) -> Iterator[str]:
    """Yield the parts of dates that a question names, and its stretches of time as days."""
    parts = mentioned(plan.query)
    yield from map(str, sorted(parts.years))
    yield from (MONTHS[month - 1] for month in sorted(parts.months))
    yield from (f"day {day}" for day in sorted(parts.days))
    yield from (WEEKDAYS[day] for day in sorted(parts.weekdays))
    for start, end in spans(plan.query, plan.at):
        yield f"{(format_time(start) or '')[:10]} to {(format_time(end - 1) or '')[:10]}"
