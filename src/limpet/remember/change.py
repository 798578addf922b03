"""Verbs that change what is believed: correct, edit, tag, retract, link and the rest.

Their contracts stand in `api.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..model.dataclass import dataclass, field, replace
from ..model.edges import ACYCLIC_TYPES, SYMMETRIC_TYPES, Edge, check_edge_type
from ..model.encode import OPTIONAL, JsonForm
from ..model.errors import BadInput, ChangedSince
from ..model.ids import format_id, parse_id
from ..model.memory import (
    REACHED,
    STATES,
    Filter,
    Memory,
    caseless,
    check_list,
    check_origin,
    is_below,
    unlike_topics,
    valued,
)
from ..recall import lookup
from ..secrets import redact
from ..store.records import Proposal
from ..text.describe import all_stand
from ..text.instructions import any_reads_like_instruction
from . import decide, review
from .decide import kept_for_review, proposed, take_key
from .validation import OUTSIDE, check_text, check_topics, clean_metadata, clean_text
from .write import Receipt, Writer, changed, check_live

if TYPE_CHECKING:
    from ..context import Context, Time

# What a correction takes over from the belief that it replaces, unless it is given; and its session.
KEPT = frozenset({"kind", "topics", "key", "importance", "pin", "metadata", "speaker", "scope"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(JsonForm):
    """The memories retracted together, or those a dry run would retract."""

    memories: tuple[Memory, ...]  # as they were
    event: str | None  # of the operation; None: a dry run, or nothing to do
    # Ids of what a more trusted origin said: a person decides.
    waiting: tuple[str, ...] = field(default=(), metadata=OPTIONAL)


def correct(
    context: Context, id: str, content: str, *, why: str | None, valid_from: Time, version: Time = None, **given: Any
) -> Receipt:
    statement = context.validate({"content": content, "valid_from": valid_from, **given})
    # Compared by value: the verb passes each of these, also those that were not given.
    added = (statement.valid_from, statement.valid_to, statement.confidence, statement.because or None)
    more = any(value is not None for value in added) or statement.anyway or not given.keys().isdisjoint(KEPT)

    def write(writer: Writer) -> Receipt:
        old = writer.memory(id)
        _check_version(context, old, version)
        kept: dict[str, Any] = {
            name: getattr(old, "pinned" if name == "pin" else name) for name in KEPT if name not in given
        }
        if "key" in kept:  # a key may mean that its value is a secret
            text, removed = clean_text(old.key, statement.content)
            kept |= {"content": text, "redacted": tuple(dict.fromkeys((*statement.redacted, *removed)))}
        new = replace(statement, session=statement.session or old.session, demoted=None, **kept)
        # The same words are a change if a more trusted origin says them.
        same = old.superseded_by is None and old.content == new.content and not is_below(old.trust, new.origin)
        if same and not more:
            check_live(old)
            return Receipt(id=old.id, status="unchanged", reason="it says that already")
        return decide.correct(writer, old, new, why)

    return context.write(write)


def _check_version(context: Context, now: Memory, version: Time) -> None:
    """Check that a memory says the same as the version that a caller has read. Raises ChangedSince."""
    read = context.time(version)
    if read is None or now.recorded_at_us == read:
        return
    then = context.store.memories.get(parse_id(now.id), known_at=read)
    if then is None or then.content != now.content or (now.superseded_by and not then.superseded_by):
        raise ChangedSince(f"memory {now.id} was changed since you have read it", hint="read it again")


def edit(context: Context, id: str, content: str, *, version: Time = None, origin: str | None = None) -> Receipt:
    who = _who(origin)

    def write(writer: Writer) -> Receipt:
        old = writer.live(id)
        _check_version(context, old, version)
        text, redacted = clean_text(old.key, content)
        if old.content == text:
            return Receipt(id=old.id, status="unchanged")
        made = writer.event("edited", parse_id(old.id), origin=who, content=text)
        return _held_back(writer, old, changed(made, redacted=redacted), text)

    return context.write(write)


def tag(
    context: Context, id: str, add: Iterable[str], remove: Iterable[str], values: Mapping[str, Any] | None,
    *, origin: str | None = None,
) -> Receipt:  # fmt: skip
    more, less = check_topics(add), check_topics(remove)
    given, redacted = clean_metadata(values)
    who = _who(origin)
    return context.write(lambda writer: replace(apply_tags(writer, id, more, less, given, who), redacted=redacted))


def _who(origin: str | None) -> str:
    """Return the origin of a change that ends nothing. Raises BadInput."""
    return "agent" if origin is None else check_origin(origin)


def apply_tags(
    writer: Writer, id: str, more: Iterable[str], less: Iterable[str], given: Mapping[str, Any], who: str
) -> Receipt:
    """Add and remove topics that were checked, and set metadata, inside a write."""
    old = writer.live(id)
    gone = set(map(caseless, less))
    topics = check_topics(unlike_topics(topic for topic in (*old.topics, *more) if caseless(topic) not in gone))
    metadata = {name: value for name, value in {**old.metadata, **given}.items() if value is not None}
    if topics == old.topics and metadata == old.metadata:
        return Receipt(id=old.id, status="unchanged")
    made = writer.event("tagged", parse_id(old.id), origin=who, topics=list(topics), metadata=metadata)
    return _held_back(writer, old, changed(made), topics, metadata)


def _held_back(writer: Writer, old: Memory, receipt: Receipt, *now: object) -> Receipt:
    """Judge a changed memory from outside again: one that reads like an instruction waits for a person."""
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
    """Pin, unpin, archive, restore or retract. `origin` may be the owner (None) if this ends something: what is trusted
    more than another origin asks a person first."""
    reason, redacted = redact(check_text(why, "why")) if verb == "retract" else (None, ())
    receipt = context.write(lambda writer: apply_change(writer, id, verb, origin, why=reason))
    return replace(context.count_as_wrong(receipt, reason), redacted=redacted)


def apply_change(writer: Writer, id: str, verb: str, origin: str | None, *, why: str | None = None) -> Receipt:
    """Carry out `change` inside a write."""
    who, old = _who(origin), writer.memory(id)
    type, applies = _CHANGES[verb]
    if verb != "restore" or old.state == "purged":
        check_live(old)
    if not applies(old):
        return Receipt(id=old.id, status="unchanged")
    if waits := proposed(writer, old, origin if verb in ("archive", "retract") else None):
        return waits
    changing = writer.with_wordings(old, origin) if verb in ("archive", "retract") else [old]
    data = {} if why is None else {"why": why}
    made, *_ = [writer.event(type, parse_id(memory.id), origin=who, **data) for memory in changing]
    if verb == "restore":
        take_key(writer, old, origin=who)
    return changed(made)


def reach(context: Context, id: str, *, origin: str | None) -> Receipt:
    def write(writer: Writer) -> Receipt:
        old = writer.live(id)
        if old.kind != "goal":
            raise BadInput(f"memory {old.id} is a {old.kind}, not a goal", hint="only a goal can be reached")
        if old.reason == REACHED:
            return Receipt(id=old.id, status="unchanged", reason="reached already")
        if waits := proposed(writer, old, origin):
            return waits
        data: dict[str, Any] = {"reached": True, "valid_to": max(writer.now, old.valid_from_us + 1)}
        goals = map(parse_id, [goal.id for goal in writer.with_wordings(old, origin)])
        made, *_ = [writer.event("bounded", goal, origin=origin or "agent", **data) for goal in goals]
        return changed(made, reason=REACHED)

    return context.count_as_wrong(context.write(write))


def promote(context: Context, id: str, kind: str | None) -> Receipt:
    def write(writer: Writer) -> Receipt:
        old = writer.live(id)
        raw = parse_id(old.id)
        data = [event.data for event in writer.reads.ledger.events(memory=raw)]
        stated = next((item["demoted"] for item in reversed(data) if "demoted" in item), None)
        if stated is None:
            raise BadInput(f"memory {old.id} was kept as it was stated", hint="only what a rule made an episode")
        becomes, key = kind or stated["kind"], stated.get("key")
        if old.kind != "episode":
            return Receipt(id=old.id, status="unchanged")
        made = writer.event("edited", raw, origin="user", content=old.content, kind=becomes, anyway=True)
        if key is not None:
            writer.event("keyed", raw, origin="user", key=key)
            take_key(writer, replace(old, kind=becomes, key=key), origin="user")
        return changed(made, kind=becomes)

    return context.write(write)


def forget(
    context: Context, ids: str | Iterable[str] | None, where: Filter, *, match: str | None, why: str,
    origin: str | None, dry_run: bool,
) -> Forgotten:  # fmt: skip
    """Retract several memories in one operation: those named, or of this scope, that pass `where` and have all words of
    `match`. Nothing is erased."""
    named = (ids,) if isinstance(ids, str) else ids if ids is None else check_list("ids", ids)
    if match is not None and (not isinstance(match, str) or not match.strip()):
        raise BadInput("no words given to match", hint="match: words that all of them hold")
    if named is None and not where.narrows and match is None:
        raise BadInput("nothing says what to forget", hint="an id, or a topic, session, age or words")
    reason, stand = redact(why)[0], all_stand(match or "")

    def write(writer: Writer) -> Forgotten:
        reads = writer.reads
        if named is None:
            memories = list(reads.listings.each(replace(where, scopes=(context.scope,), as_of=writer.now)))
        else:
            chosen = [writer.with_wordings(memory, origin) for memory in map(writer.memory, named)]
            every = {memory.id: memory for same in chosen for memory in same}
            memories = [memory for memory in every.values() if memory.state not in ("retracted", "purged")]
            if where.narrows:  # whatever their state and when they hold
                fits = reads.graph.validity([parse_id(memory.id) for memory in memories], replace(where, states=STATES))
                memories = [memory for memory in memories if parse_id(memory.id) in fits]
        memories = [memory for memory in memories if stand(valued(memory.key, memory.content))]
        if dry_run:
            return Forgotten(memories=tuple(memories), event=None)
        waiting = dict.fromkeys(memory.id for memory in memories if proposed(writer, memory, origin))
        for memory in memories:
            if memory.id not in waiting:
                writer.event("retracted", parse_id(memory.id), origin=origin or "agent", why=reason)
        event = format_id(writer.events[0].id) if writer.events else None
        return Forgotten(memories=tuple(memories), event=event, waiting=tuple(waiting))

    if dry_run:
        return write(Writer(context.store, context.new_id, context.now(), context.scopes))
    done = context.write(write)
    for id in done.waiting:
        context.count_as_wrong(Receipt(id=id, status="proposed"), reason)
    return done


def feedback(context: Context, id: str, verdict: str) -> Memory:
    if verdict not in ("useful", "not_useful", "wrong"):
        raise BadInput(f"unknown verdict: {verdict!r}", hint="one of: useful, not_useful, wrong")
    memory = context.store.memories.survivor(context.memory(id))
    context.store.usage.record([parse_id(memory.id)], context.now(), verdict)
    return lookup.get(context, memory.id, known_at=None)


def merge(context: Context, id: str, other: str) -> Receipt:
    def write(writer: Writer) -> Receipt:
        kept, gone = map(writer.memory, (id, other))
        if kept.id == gone.id and writer.notes:
            return Receipt(id=kept.id, status="unchanged")
        alike = kept.id != gone.id and kept.scope == gone.scope
        added = review.merge(writer, kept.id, gone.id, origin="user") if alike else None
        if added is None:
            raise BadInput("only two memories of one scope that are both believed can be merged")
        return Receipt(id=kept.id, status="changed", event=format_id(writer.events[0].id), added=added)

    return context.write(write)


# -- links between two memories


def link(context: Context, a: str, type: str, b: str) -> Receipt:
    """Link `a TYPE b`. The same link again changes nothing.

    A `supersedes` link also ends `b`, from when `a` begins to hold; if `b` is trusted more, nothing is linked and the
    pair is on the review list. Raises NotFound, BadInput: an unknown type, a link to itself, a memory of another scope
    or a purged one, a cycle of `caused_by`, `supersedes` or `part_of`.
    """
    check_edge_type(type, derived=False)
    proposals: list[Proposal] = []

    def write(writer: Writer) -> Receipt:
        source, target, known = _ends(writer, a, type, b)
        start, goal = parse_id(source.id), parse_id(target.id)
        purged = next((memory for memory in (source, target) if memory.state == "purged"), None)
        if purged is not None:
            raise BadInput(f"memory {purged.id} was purged: its content is gone")
        if known is not None:
            return Receipt(id=source.id, status="unchanged", reason="linked already")
        if type in ACYCLIC_TYPES and writer.reads.edges.reaches(type, goal, start):
            raise BadInput(
                f"{source.id} {type} {target.id} would close a cycle: {target.id} leads back to {source.id} by {type}",
                hint=f"`limpet link A TYPE B --end` one of the {type} links in between first",
            )
        if type == "supersedes":
            check_live(target)
            if target.superseded_by is not None:
                raise BadInput(f"memory {b} was superseded by {target.superseded_by} already", hint="link that one")
            if is_below(source.trust, target.trust):
                proposals[:] = [Proposal(
                    id=context.new_id(), kind="correction", scope=source.scope, memory=start, other=goal,
                    reason="said to replace what is trusted more", score=0.0, created_at=writer.now,
                )]  # fmt: skip
                return Receipt(id=source.id, status="proposed", reason=kept_for_review(writer, target))
        made = writer.event("linked", start, origin="agent", edge=type, target=goal.hex())
        if type == "supersedes":  # the older holds until the newer does, as with a correction
            until = max(source.valid_from_us, target.valid_from_us)
            writer.event("superseded", goal, origin="agent", by=start.hex(), valid_to=until)
        return changed(made)

    receipt = context.write(write)
    if proposals:
        context.store.reviews.propose(proposals)
    return receipt


def unlink(context: Context, a: str, type: str, b: str) -> Receipt:
    """End `a TYPE b`; that it held stays in the ledger. Without a `supersedes` link its target is believed again.

    A link that is not there changes nothing. Raises NotFound, BadInput: two values of one key would hold at once.
    """
    check_edge_type(type, derived=False)

    def write(writer: Writer) -> Receipt:
        source, target, known = _ends(writer, a, type, b)
        if known is None:
            return Receipt(id=source.id, status="unchanged", reason="not linked")
        revived = type == "supersedes" and target.superseded_by == source.id and target.state != "purged"
        if revived and source.key is not None and source.key == target.key and source.state == "active":
            raise BadInput(
                f"both values of {source.key} would hold at once",
                hint=f"`limpet forget {source.id}` ends the newer one; `limpet undo` takes a correction back",
            )
        made = writer.event("unlinked", known.source, origin="agent", edge=type, target=known.target.hex())
        if revived:
            writer.revive(parse_id(target.id), parse_id(source.id))
        return changed(made)

    return context.write(write)


def _ends(writer: Writer, a: str, type: str, b: str) -> tuple[Memory, Memory, Edge | None]:
    """Return both memories, and the link as it stands; a symmetric one counts from either end."""
    source, target = writer.memory(a), writer.memory(b)
    if source.id == target.id:
        raise BadInput(f"a memory cannot be linked to itself: {source.id}")
    start, goal, edges = parse_id(source.id), parse_id(target.id), writer.reads.edges
    known = edges.between(start, type, goal)
    if known is None and type in SYMMETRIC_TYPES:
        known = edges.between(goal, type, start)
    return source, target, known
