"""Keyed facts, sessions, the review list, the sweep, retention. The contracts are those of the verbs in `api.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..model.dataclass import replace
from ..model.errors import AmbiguousId, BadInput, NotFound
from ..model.ids import format_id, parse_id, session_mark
from ..model.memory import GLOBAL_SCOPE, Memory, check_key
from ..rank.adjust import objections
from ..store.records import SessionRow

if TYPE_CHECKING:
    from ..context import Context, Time
    from ..recall.facts import Fact
    from .policy import Swept
    from .retention import Retention
    from .review import ReviewItem
    from .write import Receipt, Writer


def fact(context: Context, key: str, *, as_of: Time, known_at: Time) -> Fact:
    from ..recall.facts import as_fact, holding

    known = context.time(known_at)
    at = context.time(as_of)
    instant = at if at is not None else known if known is not None else context.now()
    for values in _values(context, key, known):
        found = holding(values, instant)
        if found is not None:
            return as_fact(context.as_read(found))
    raise NotFound(f"no value of {key} holds then" if at or known else f"no value of {key}")


def fact_history(context: Context, key: str, *, known_at: Time) -> list[Fact]:
    from ..recall.facts import as_fact

    for values in _values(context, key, context.time(known_at)):
        if values:
            return [as_fact(context.as_read(one)) for one in values]
    raise NotFound(f"no value of {key}")


def end_fact(context: Context, key: str, *, at: Time, why: str | None, origin: str | None) -> Receipt:
    from ..recall.facts import holding
    from ..text.secrets import redact
    from .decide import proposed
    from .write import Receipt

    when = context.time(at)
    reason, redacted = redact(why or "")

    def decide(writer: Writer) -> Receipt:
        instant = writer.now if when is None else when
        values = writer.reads.memories.keyed(context.scope, check_key(key))
        if not values and (renamed := writer.reads.memories.renamed_key(context.scope, key)):
            values = writer.reads.memories.keyed(context.scope, renamed)
        held = holding(values, instant)
        if held is None:
            raise NotFound(f"no value of {key} holds then in {context.scope}")
        if instant <= held.valid_from_us:
            raise BadInput(f"{key} began to hold only then", hint=f"limpet forget {held.id}")
        waits = proposed(writer, held, origin)
        if waits is not None:
            return waits
        data: dict[str, Any] = {"valid_to": instant} | ({"why": reason} if reason else {})
        made = writer.event("bounded", parse_id(held.id), origin=origin or "agent", **data)
        return Receipt(id=held.id, status="changed", event=format_id(made.id), redacted=redacted)

    return context.count_as_wrong(context.write(decide), reason)


def _values(context: Context, key: str, known: int | None) -> list[list[Memory]]:
    """The values of a key in this scope, then in the global one; of the key that it was joined with, if it was."""
    check_key(key)
    found = []
    for scope in dict.fromkeys((context.scope, GLOBAL_SCOPE)):
        values = context.store.memories.keyed(scope, key, known_at=known)
        if not values and (renamed := context.store.memories.renamed_key(scope, key)):
            values = context.store.memories.keyed(scope, renamed, known_at=known)
        found.append(values)
    return found


def session_start(context: Context, name: str | None, *, title: str | None) -> SessionRow:
    from ..text.secrets import redact
    from .validation import check_name

    scope, given = context.scope, redact(check_name("session", name) or "")[0] or format_id(context.new_id())
    said = redact(check_name("title", title) or "")[0] or None

    def decide(writer: Writer) -> None:
        known = writer.reads.sessions.get(scope, given)
        if known is None or known.ended_at is not None or said not in (None, known.title):
            data = {"scope": scope, "name": given} | ({"title": said} if said else {})
            writer.event("session_started", session_mark(scope, given), origin="agent", **data)

    context.write(decide)
    return session(context, given)


def session_end(context: Context, name: str, *, summary: str | None, origin: str) -> Receipt:
    from .decide import state
    from .write import Receipt

    scope, statement = context.scope, None
    if summary is not None:
        statement = context.validate({"content": summary, "kind": "episode", "session": name, "origin": origin})

    def decide(writer: Writer) -> Receipt:
        known = writer.reads.sessions.get(scope, name)
        if known is None:
            raise _no_session(scope, name)
        receipt = Receipt(id=None, status="changed" if known.ended_at is None else "unchanged")  # type: ignore[arg-type]
        if statement is not None:
            receipt = state(writer, statement)
        if known.ended_at is not None:
            return receipt
        made = writer.event("session_ended", session_mark(scope, name), origin="agent", scope=scope, name=name)
        return replace(receipt, event=format_id(made.id))

    return context.write(decide)


def _no_session(scope: str, name: str) -> NotFound:
    return NotFound(f"no session {name} in {scope}", hint="`limpet session list` shows them")


def session(context: Context, name: str) -> SessionRow:
    found = context.store.sessions.get(context.scope, name)
    if found is None:
        raise _no_session(context.scope, name)
    return found


def sessions(context: Context, *, limit: int) -> list[SessionRow]:
    _check_limit(limit)
    return context.store.sessions.latest([context.scope], limit=limit)


def _check_limit(limit: int) -> None:
    if isinstance(limit, bool) or not 1 <= limit <= 10_000:
        raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")


def session_memories(context: Context, name: str) -> list[Memory]:
    session(context, name)
    return [context.as_read(one) for one in context.store.sessions.memories(context.scope, name)]


def compress(context: Context, name: str, *, summary: str | None) -> Receipt:
    from .session import compress
    from .validation import check_text

    session(context, name)
    given = None if summary is None else check_text(summary)

    return context.write(lambda writer: compress(writer, context, name, given))


def review(context: Context, *, limit: int) -> list[ReviewItem]:
    from .review import waiting

    _check_limit(limit)
    return waiting(context.store, context.scopes, context.now(), limit=limit)


def decide(context: Context, id: str, verdict: str) -> Receipt:
    """Say yes ("accepted") or no ("rejected") to an item of the review list."""
    from ..store.records import OBJECTION
    from .review import decide_pair, decide_single

    pairs = context.store.reviews.named(id, context.scopes)
    try:
        raw = context.store.memories.resolve(id, context.scopes)
    except NotFound:
        if not pairs:
            raise
        raw = None
    except AmbiguousId as error:
        raise AmbiguousId(id, [*map(format_id, pairs), *error.candidates]) from None
    if len(pairs) > 1 or (pairs and raw is not None):
        raise AmbiguousId(id, [format_id(one) for one in (*pairs, *([raw] if raw else ()))])

    def inside(writer: Writer) -> Receipt:
        if raw is None:
            return decide_pair(writer, pairs[0], verdict)
        memory = writer.reads.memories.get(raw)
        if memory is None or memory.scope not in context.scopes:
            raise NotFound(f"nothing to review with the id {id} in {context.scope}")
        return decide_single(writer, memory, verdict, writer.now)

    receipt = context.write(inside)
    if raw is not None and receipt.reason == "wrong rejected":
        # It is right for all that: what was said against it is answered.
        context.store.usage.record([raw] * objections(context.memory(receipt.id or id)), context.now(), "useful")
        context.store.reviews.withdraw(OBJECTION, [raw])
    return receipt


def sweep(context: Context, *, apply: bool, progress: Callable[[int, int], None] | None) -> list[Swept]:
    from .policy import set_right, swept

    found = swept(context.store, context.policy.rules(), context.scope, context.now(), progress)
    if apply and found:
        context.write(lambda writer: set_right(writer, found))
    return found


def retention(context: Context, *, days: float, kinds: Sequence[str], fold: bool, apply: bool) -> Retention:
    from .retention import ARCHIVED, expired
    from .session import compress

    found = expired(context.store, context.scope, now=context.now(), days=days, kinds=kinds, fold=fold)
    if not apply or not found.archive:
        return found

    def archive(writer: Writer) -> None:
        for name in found.fold:
            compress(writer, context, name, None)
        for one in found.archive:
            writer.event("archived", parse_id(one.id), origin="agent", why=ARCHIVED)

    context.write(archive)
    return replace(found, applied=True)
