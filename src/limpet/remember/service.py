"""Writing beliefs: remember, correct, retract and the rest. The contracts are those of the verbs in `api.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..model.dataclass import dataclass, field, replace
from ..model.encode import OPTIONAL, JsonForm
from ..model.errors import BadInput, ChangedSince
from ..model.ids import format_id, parse_id
from ..model.memory import (
    REACHED,
    STATES,
    Memory,
    caseless,
    check_list,
    check_origin,
    is_below,
    unlike_topics,
    valued,
)
from ..recall import lookup
from ..store.records import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context import Context, Time
    from .validation import ValidStatement
    from .write import Receipt, Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(JsonForm):
    """What was retracted together, or would be."""

    memories: tuple[Memory, ...]  # as they were
    event: str | None  # of the operation; None: a dry run, or nothing to do
    # Ids of what a more trusted origin said: a person decides.
    waiting: tuple[str, ...] = field(default=(), metadata=OPTIONAL)


# What a correction takes over from the belief that it replaces, unless it is given.
KEPT = frozenset({"kind", "topics", "key", "importance", "pin", "metadata", "speaker", "scope"})


def remember(context: Context, item: Mapping[str, Any]) -> Receipt:
    from .decide import state

    statement = context.validate(item)
    return context.write(lambda writer: state(writer, statement))


def correct(
    context: Context, id: str, content: str, *, why: str | None, valid_from: Time, version: Time = None, **given: Any
) -> Receipt:
    from .decide import correct
    from .validation import clean_text
    from .write import Receipt, check_live, need

    statement = context.validate({"content": content, "valid_from": valid_from, **given})
    # By their values: the verb gives each of these, also those that nobody said.
    said = (statement.valid_from, statement.valid_to, statement.confidence, statement.because or None)
    more = any(one is not None for one in said) or statement.anyway or not given.keys().isdisjoint(KEPT)

    def full(old: Memory) -> ValidStatement:
        kept: dict[str, Any] = {
            "scope": old.scope, "kind": old.kind, "topics": old.topics, "key": old.key, "importance": old.importance,
            "metadata": old.metadata, "speaker": old.speaker, "pin": old.pinned,
        }  # fmt: skip
        kept = {name: value for name, value in kept.items() if name not in given}
        if "key" in kept:  # what the value of this key is, is said by its name
            text, found = clean_text(old.key, statement.content)
            kept |= {"content": text, "redacted": tuple(dict.fromkeys((*statement.redacted, *found)))}
        return replace(statement, **kept)

    def decide(writer: Writer) -> Receipt:
        old = need(writer.reads, id, writer.scopes)
        _check_version(context, old, version)
        same = old.superseded_by is None and old.content == full(old).content
        # Whoever is trusted more says it anew.
        if not more and same and not is_below(old.trust, statement.origin):
            check_live(old)
            return Receipt(id=old.id, status="unchanged", reason="it says that already")
        return correct(writer, old, full(old), why)

    return context.write(decide)


def _check_version(context: Context, now: Memory, version: Time) -> None:
    """Raises ChangedSince when a memory says something else than in the version that a caller has read."""
    read = context.time(version)
    if read is None or now.recorded_at_us == read:
        return
    then = context.store.memories.get(parse_id(now.id), known_at=read)
    if then is None or then.content != now.content or (now.superseded_by and not then.superseded_by):
        raise ChangedSince(f"memory {now.id} was changed since you have read it", hint="read it again")


def edit(context: Context, id: str, content: str, *, version: Time = None, origin: str | None = None) -> Receipt:
    from .validation import clean_text
    from .write import Receipt, check_live, need

    who = _who(origin)

    def decide(writer: Writer) -> Receipt:
        old = need(writer.reads, id, writer.scopes)
        check_live(old)
        _check_version(context, old, version)
        text, redacted = clean_text(old.key, content)
        if old.content == text:
            return Receipt(id=old.id, status="unchanged")
        made = writer.event("edited", parse_id(old.id), origin=who, content=text)
        receipt = Receipt(id=old.id, status="changed", event=format_id(made.id), redacted=redacted)
        return _held_back(writer, old, receipt, text)

    return context.write(decide)


def tag(
    context: Context, id: str, add: Iterable[str], remove: Iterable[str], values: Mapping[str, Any] | None,
    *, origin: str | None = None,
) -> Receipt:  # fmt: skip
    from .validation import check_topics, clean_metadata

    more, less = check_topics(add), check_topics(remove)
    given, redacted = clean_metadata(values)
    who = _who(origin)
    return context.write(lambda writer: replace(_tagged(writer, id, more, less, given, who), redacted=redacted))


def _who(origin: str | None) -> str:
    """Of whom a change is that ends nothing. Raises BadInput."""
    return "agent" if origin is None else check_origin(origin)


def _tagged(
    writer: Writer, id: str, more: Iterable[str], less: Iterable[str], given: Mapping[str, Any], who: str
) -> Receipt:
    from .validation import check_topics
    from .write import Receipt, check_live, need

    old = need(writer.reads, id, writer.scopes)
    check_live(old)
    gone = set(map(caseless, less))
    topics = check_topics(unlike_topics(topic for topic in (*old.topics, *more) if caseless(topic) not in gone))
    metadata = {name: value for name, value in {**old.metadata, **given}.items() if value is not None}
    if topics == old.topics and metadata == old.metadata:
        return Receipt(id=old.id, status="unchanged")
    made = writer.event("tagged", parse_id(old.id), origin=who, topics=list(topics), metadata=metadata)
    receipt = Receipt(id=old.id, status="changed", event=format_id(made.id))
    return _held_back(writer, old, receipt, topics, metadata)


def _held_back(writer: Writer, old: Memory, receipt: Receipt, *now: object) -> Receipt:
    """What came from outside is judged again when it is changed: an instruction waits for a person."""
    from ..text.instructions import any_reads_like_instruction
    from .validation import OUTSIDE

    outside = old.state == "active" and (old.origin in OUTSIDE or old.trust in OUTSIDE)
    why = any_reads_like_instruction(*now) if outside else None
    if why is None:
        return receipt
    writer.event("quarantined", parse_id(old.id), origin="agent", why=why)
    return replace(receipt, status="quarantined", reason=f"it {why}; `limpet review` shows what waits")


# Verb -> the event that it makes of a memory to which it applies.
_CHANGES: dict[str, tuple[str, Callable[[Memory], bool]]] = {
    "pin": ("pinned", lambda old: not old.pinned),
    "unpin": ("unpinned", lambda old: old.pinned),
    "archive": ("archived", lambda old: old.state == "active"),
    "restore": ("restored", lambda old: old.state in ("archived", "retracted")),
    "retract": ("retracted", lambda old: old.state != "retracted"),
}


def change(context: Context, id: str, verb: str, *, origin: str | None, why: str | None = None) -> Receipt:
    """Pin, unpin, archive, restore or retract. Of what ends something `origin` may be the owner (None): what is trusted
    more than another asks a person first."""
    from ..text.secrets import redact
    from .validation import check_text

    asks = origin if verb in ("archive", "retract") else None
    who = _who(origin)
    reason, redacted = None, tuple[str, ...]()
    if verb == "retract":
        reason, redacted = redact(check_text(why, "why"))
    receipt = context.write(lambda writer: _changed(writer, id, verb, who, asks=asks, why=reason))
    return replace(context.count_as_wrong(receipt, reason), redacted=redacted)


def change_several(
    context: Context, ids: Iterable[str], change: str, topics: Iterable[str], *, origin: str | None = None
) -> list[Receipt]:
    from .validation import check_topics

    tags, who = check_topics(topics), _who(origin)
    verbs, adds = [verb for verb in _CHANGES if verb != "retract"], change == "tag"
    if change not in (*verbs, "tag", "untag") or (change in verbs) == bool(tags):
        wrong = f"{change} needs topics" if change in ("tag", "untag") else f"unknown change: {change!r}"
        raise BadInput(wrong, hint=f"{', '.join(verbs)}; with topics tag, untag")

    def one(writer: Writer, id: str) -> Receipt:
        if change in verbs:
            return _changed(writer, id, change, who)
        return _tagged(writer, id, tags if adds else (), () if adds else tags, {}, who)

    return context.write(lambda writer: [one(writer, id) for id in dict.fromkeys(ids)])


def _changed(
    writer: Writer, id: str, verb: str, who: str, *, asks: str | None = None, why: str | None = None
) -> Receipt:
    from .decide import proposed, take_key
    from .write import Receipt, check_live, need

    old = need(writer.reads, id, writer.scopes)
    type, applies = _CHANGES[verb]
    if verb != "restore" or old.state == "purged":
        check_live(old)
    if not applies(old):
        return Receipt(id=old.id, status="unchanged")
    waits = proposed(writer, old, asks)
    if waits is not None:
        return waits
    made = writer.event(type, parse_id(old.id), origin=who, **({} if why is None else {"why": why}))
    if verb == "restore":
        take_key(writer, old, origin=who)
    return Receipt(id=old.id, status="changed", event=format_id(made.id))


def reach(context: Context, id: str, *, origin: str | None) -> Receipt:
    from .decide import proposed
    from .write import Receipt, check_live, need

    def decide(writer: Writer) -> Receipt:
        old = need(writer.reads, id, writer.scopes)
        check_live(old)
        if old.kind != "goal":
            raise BadInput(f"memory {old.id} is a {old.kind}, not a goal", hint="only a goal can be reached")
        if old.reason == REACHED:
            return Receipt(id=old.id, status="unchanged", reason="reached already")
        waits = proposed(writer, old, origin)
        if waits is not None:
            return waits
        end = max(writer.now, old.valid_from_us + 1)
        made = writer.event("bounded", parse_id(old.id), origin=origin or "agent", valid_to=end, reached=True)
        return Receipt(id=old.id, status="changed", event=format_id(made.id), reason=REACHED)

    return context.count_as_wrong(context.write(decide))


def promote(context: Context, id: str, kind: str | None) -> Receipt:
    from .decide import take_key
    from .write import Receipt, check_live, need

    def decide(writer: Writer) -> Receipt:
        old = need(writer.reads, id, writer.scopes)
        check_live(old)
        raw = parse_id(old.id)
        data = [event.data for event in writer.reads.ledger.events(memory=raw)]
        stated = next((one["demoted"] for one in reversed(data) if "demoted" in one), None)
        if stated is None:
            raise BadInput(f"memory {old.id} was kept as it was stated", hint="only what a rule made an episode")
        becomes, key = kind or stated["kind"], stated.get("key")
        if old.kind != "episode":
            return Receipt(id=old.id, status="unchanged")
        made = writer.event("edited", raw, origin="user", content=old.content, kind=becomes, anyway=True)
        if key is not None:
            writer.event("keyed", raw, origin="user", key=key)
            take_key(writer, replace(old, kind=becomes, key=key), origin="user")
        return Receipt(id=old.id, status="changed", event=format_id(made.id), kind=becomes)

    return context.write(decide)


def forget(
    context: Context, ids: str | Iterable[str] | None, where: Filter, *, match: str | None, why: str,
    origin: str | None, dry_run: bool,
) -> Forgotten:  # fmt: skip
    """Retract several memories in one operation: those named, or of this scope, that pass `where` and have all words of
    `match`. Nothing is erased."""
    from ..text.secrets import redact
    from ..text.whole_words import all_stand
    from .decide import proposed
    from .review import note_objection
    from .write import Writer, need

    named = (ids,) if isinstance(ids, str) else ids if ids is None else check_list("ids", ids)
    if match is not None and (not isinstance(match, str) or not match.strip()):
        raise BadInput("no words given to match", hint="match: words that all of them hold")
    if named is None and not where.narrows and match is None:
        raise BadInput("nothing says what to forget", hint="an id, or a topic, session, age or words")
    reason, stand = redact(why)[0], all_stand(match or "")

    def decide(writer: Writer) -> Forgotten:
        reads = writer.reads
        if named is None:
            found = list(reads.listings.each(replace(where, scopes=(context.scope,), as_of=writer.now)))
        else:
            every = [need(reads, id, writer.scopes) for id in named]
            found = [one for one in {one.id: one for one in every}.values() if one.state not in ("retracted", "purged")]
            if where.narrows:  # whatever their state and when they hold
                passing = reads.graph.matching([parse_id(one.id) for one in found], replace(where, states=STATES))
                found = [one for one in found if parse_id(one.id) in passing]
        found = [one for one in found if stand(valued(one.key, one.content))]
        if dry_run:
            return Forgotten(memories=tuple(found), event=None)
        waiting: list[str] = []
        for one in found:
            if proposed(writer, one, origin) is not None:
                waiting.append(one.id)
            else:
                writer.event("retracted", parse_id(one.id), origin=origin or "agent", why=reason)
        event = format_id(writer.events[0].id) if writer.events else None
        return Forgotten(memories=tuple(found), event=event, waiting=tuple(waiting))

    if dry_run:
        return decide(Writer(context.store, context.new_id, context.now(), context.scopes))
    done = context.write(decide)
    for id in done.waiting:
        context.store.usage.record([parse_id(id)], context.now(), "wrong")
        note_objection(context, id, reason)
    return done


def feedback(context: Context, id: str, verdict: str) -> Memory:
    if verdict not in ("useful", "not_useful", "wrong"):
        raise BadInput(f"unknown verdict: {verdict!r}", hint="one of: useful, not_useful, wrong")
    memory = context.memory(id)
    context.store.usage.record([parse_id(memory.id)], context.now(), verdict)
    return lookup.get(context, memory.id, known_at=None)


def merge(context: Context, id: str, other: str) -> Receipt:
    from .review import merge
    from .write import Receipt, need

    def decide(writer: Writer) -> Receipt:
        kept, gone = (need(writer.reads, one, writer.scopes) for one in (id, other))
        alike = kept.id != gone.id and kept.scope == gone.scope
        added = merge(writer, kept.id, gone.id, origin="user") if alike else None
        if added is None:
            raise BadInput("only two memories of one scope that are both believed can be merged")
        return Receipt(id=kept.id, status="changed", event=format_id(writer.events[0].id), added=added)

    return context.write(decide)
