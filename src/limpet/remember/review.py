"""The review list: what waits for a person, and what a decision becomes: merges, corrections, quarantine.

Pairs are proposals in the store, made by background checks. The rest follows from the memories themselves: an item of
that kind has the memory's id. Deciding twice the same is unchanged; deciding otherwise says what was decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..model.clock import Instant, format_time
from ..model.dataclass import dataclass, field
from ..model.encode import OPTIONAL, TIME, JsonForm
from ..model.errors import AmbiguousId, BadInput, NotFound
from ..model.ids import format_id, parse_id
from ..model.memory import STATES, Filter, Memory, least_trusted
from ..model.state import cancelled_by
from ..store.records import MOST_WAITING, OBJECTION, Proposal
from ..text.blocks import plain_line
from .decide import take_key
from .restate import take_over
from .validation import check_limit
from .write import Receipt, Writer

if TYPE_CHECKING:
    from ..context import Context
    from ..store import Store

# Kind -> the question, and what yes and no do.
QUESTIONS = {
    # of two memories
    "duplicate": ("the same thing said twice?", "merge them", "keep both"),
    "correction": ("does the newer replace the older?", "the newer replaces it", "keep both"),
    "contradiction": ("they deny each other", "the newer is right", "keep both"),
    "conflict": ("changed in a mirror's folder and in the store", "the folder is right", "the store is right"),
    "concurrent": ("two devices set one key at once; the newer holds", "the newer holds", "leave it"),
    # of one
    "quarantine": ("kept out of recall until a person has looked", "let it in", "reject it"),
    "replacement": ("says otherwise than what is trusted more", "replace it", "keep what is there"),
    "outside": ("written after reading from outside: may agents be shown it?", "they may", "it stays unconfirmed"),
    "wrong": ("said to be wrong when it was recalled", "believe it no longer", "keep it"),
}
# Characters of an objection's reason that are kept.
REASON_CHARACTERS = 200


def _brief(memory: Memory) -> dict[str, object]:
    shown: dict[str, object] = {name: getattr(memory, name) for name in ("id", "kind", "content", "origin")}
    return shown | {"valid_from": format_time(memory.valid_from)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem(JsonForm):
    """One thing to decide. `other`: the older memory of a pair, or what it would replace."""

    SHOWN = ("id", "kind", "question", "reason", "memory", "created_at_us", "other", "score")

    id: str
    kind: str
    reason: str
    memory: Memory = field(metadata={"form": _brief})
    other: Memory | None = field(default=None, metadata={"form": _brief} | OPTIONAL)
    score: float | None = field(default=None, metadata=OPTIONAL)  # cosine of a pair
    created_at_us: int = field(metadata=TIME)
    created_at = Instant("created_at_us")

    @property
    def question(self) -> str:
        asked, yes, no = QUESTIONS[self.kind]
        return f"{asked} accepted: {yes}; rejected: {no}"


# -- what waits


def review(context: Context, *, limit: int) -> list[ReviewItem]:
    """Return everything that waits in these scopes, the dangerous first, then pairs, then what was marked wrong."""
    check_limit(limit)
    store, scopes = context.store, context.scopes
    items = []
    for held in islice(store.listings.each(Filter(scopes=scopes, states=("quarantined",))), limit):
        # It waits because of how it reads, or because it would replace a memory that is trusted more.
        over = waiting_data(store, parse_id(held.id)).get("over")
        other = store.memories.get(over) if over else None
        other = other if other is not None and other.scope in scopes else None
        items.append(_single("replacement" if other else "quarantine", held, held.reason or "", other))
    reasons = {}
    for proposal in store.reviews.waiting(scopes, limit=MOST_WAITING):
        if proposal.kind == OBJECTION:
            reasons[proposal.memory] = f': "{proposal.reason}"'
            continue
        memory, other = store.memories.get(proposal.memory), store.memories.get(proposal.other)
        if memory is not None and other is not None:
            items.append(ReviewItem(
                id=format_id(proposal.id), kind=proposal.kind, reason=proposal.reason, memory=memory,
                other=None if other.id == memory.id else other,
                score=proposal.score or None, created_at_us=proposal.created_at,  # 0: no vectors were compared
            ))  # fmt: skip
    for id, times in store.memories.disputed(scopes):
        memory = store.memories.get(id)
        if memory is not None and _wants_judgement(store, memory, times):
            often = "once" if times == 1 else f"{times} times"
            items.append(_single("wrong", memory, f"said to be wrong {often}{reasons.get(id, '')}"))
    return items[:limit]


def _single(kind: str, item: Memory, reason: str, other: Memory | None = None) -> ReviewItem:
    return ReviewItem(id=item.id, kind=kind, reason=reason, memory=item, other=other, created_at_us=item.created_at_us)


def note_objection(context: Context, id: str, why: str) -> None:
    """Keep, for who decides, why a memory is said to be wrong: the last reason, unless it reads like an instruction."""
    from ..text.instructions import reads_like_instruction

    if reads_like_instruction(why):
        return
    memory, reviews = context.memory(id), context.store.reviews
    raw, reason = parse_id(memory.id), plain_line(why, REASON_CHARACTERS)
    reviews.replace(Proposal(
        id=context.new_id(), kind=OBJECTION, scope=memory.scope, memory=raw, other=raw, reason=reason, score=0.0,
        created_at=context.now(),
    ))  # fmt: skip


def waiting_data(reads: Store, id: bytes) -> dict[str, Any]:
    """Return {"over"?, "corrects"?: ids as bytes, "why"?} of a memory that waits to replace another."""
    data = next((event.data for event in reads.ledger.events(memory=id) if event.type == "remembered"), {})
    result: dict[str, Any] = {"why": data["why"]} if isinstance(data.get("why"), str) else {}
    for name in ("over", "corrects"):
        with suppress(BadInput):  # from another program's ledger
            if isinstance(data.get(name), str):
                result[name] = parse_id(data[name])
    return result


def _wants_judgement(reads: Store, memory: Memory, times: int) -> bool:
    """Return whether it was marked wrong more often than when a person last decided about it."""
    events = list(reads.ledger.events(memory=parse_id(memory.id)))
    cancelled = cancelled_by(events)
    judged = [event.data.get("times", 0) for event in events if event.type == "reviewed" and event.id not in cancelled]
    return memory.superseded_by is None and times > max(judged, default=0)


# -- decisions


def decide(context: Context, id: str, verdict: str) -> Receipt:
    """Decide an item of the review list. `verdict`: "accepted" or "rejected"."""
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
        raise AmbiguousId(id, [format_id(candidate) for candidate in (*pairs, *([raw] if raw else ()))])

    def write(writer: Writer) -> Receipt:
        if raw is None:
            return _decide_pair(writer, pairs[0], verdict)
        memory = writer.reads.memories.get(raw)
        if memory is None or memory.scope not in context.scopes:
            raise NotFound(f"nothing to review with the id {id} in {context.scope}")
        return _decide_single(writer, memory, verdict)

    receipt = context.write(write)
    if raw is not None and receipt.reason == "wrong rejected":
        # The memory is right: the objections are answered.
        memory = context.memory(receipt.id or id)
        context.store.usage.record([raw] * (memory.wrong - memory.useful), context.now(), "useful")
        context.store.reviews.withdraw(OBJECTION, [raw])
    return receipt


def _decide_pair(writer: Writer, id: bytes, verdict: str) -> Receipt:
    """Accept or reject a proposal. Raises BadInput when it was decided otherwise, or can no longer be carried out."""
    proposal, shown = writer.reads.reviews.get(id), format_id(id)
    if proposal is None:
        raise NotFound(f"nothing to review with the id {shown}", hint="`limpet review` lists what waits")
    if proposal.verdict == verdict:
        return Receipt(id=shown, status="unchanged", reason=f"{verdict} already")
    if proposal.verdict is not None:
        raise BadInput(f"{shown} was {proposal.verdict} already", hint="`limpet undo EVENT` takes a decision back")
    kind, added = proposal.kind, tuple[str, ...]()
    if verdict == "accepted" and kind != "concurrent":
        added = _carry_out(writer, proposal)
    elif verdict != "accepted" and kind == "conflict":
        ours = writer.reads.memories.get(proposal.memory)
        if ours is not None and ours.state == "active":
            writer.event("archived", proposal.memory, origin="user")
    made = writer.event("reviewed", proposal.memory, origin="user", about=kind, verdict=verdict, item=id.hex())
    return Receipt(id=shown, status="changed", event=format_id(made.id), added=added, reason=f"{kind} {verdict}")


def _carry_out(writer: Writer, proposal: Proposal) -> tuple[str, ...]:
    """Carry out an accepted proposal. Return the fields added to the memory that stays."""
    new, old = writer.reads.memories.get(proposal.memory), writer.reads.memories.get(proposal.other)
    if new is not None and old is not None:
        if proposal.kind == "duplicate":
            added = merge(writer, old.id, new.id, origin="user")
            if added is not None:
                return added
        elif proposal.kind == "outside":
            writer.event("observed", proposal.memory, origin="user", trust="user")
            return ()
        elif new.state == old.state == "active" and not old.superseded_by:
            start = max(new.valid_from_us, old.valid_from_us)
            writer.event("superseded", proposal.other, origin="user", by=proposal.memory.hex(), valid_to=start)
            writer.event("linked", proposal.memory, origin="user", edge="supersedes", target=proposal.other.hex())
            return ()
    raise BadInput("one of the two is no longer in use", hint="reject it, or `limpet show` them")


def _decide_single(writer: Writer, memory: Memory, verdict: str) -> Receipt:
    """Accept or reject what follows from a memory itself. Raises BadInput when nothing about it waits."""
    raw, accepted = parse_id(memory.id), verdict == "accepted"
    wrong = dict(writer.reads.memories.disputed([memory.scope])).get(raw, 0)
    kind = None
    if memory.state == "quarantined":
        kind = "replacement" if "over" in waiting_data(writer.reads, raw) else "quarantine"
    elif memory.state == "active" and wrong and _wants_judgement(writer.reads, memory, wrong):
        kind = "wrong"
    if kind is None and (others := writer.wordings(memory)):
        return _decide_wordings(writer, memory, others, verdict)
    if kind is None:
        # Of a purged memory the verdict is gone too.
        verdicts = [
            event.data["verdict"] for event in writer.reads.ledger.events(memory=raw)
            if event.type == "reviewed" and "verdict" in event.data and "item" not in event.data
        ]  # fmt: skip
        if verdicts[-1:] == [verdict]:
            return Receipt(id=memory.id, status="unchanged", reason=f"{verdict} already")
        raise BadInput(
            f"{memory.id} was {verdicts[-1]} already" if verdicts else f"nothing about {memory.id} waits for review",
            hint="`limpet review` lists what waits",
        )
    extra: dict[str, Any] = {}
    if kind == "wrong":
        extra["times"] = wrong
        if accepted:
            writer.event("retracted", raw, origin="user", why="said to be wrong, and confirmed in review")
    elif not accepted:
        writer.event("retracted", raw, origin="user", why="rejected in review")
    else:
        writer.event("restored", raw, origin="user")
        _take_place(writer, memory)
    made = writer.event("reviewed", raw, origin="user", about=kind, verdict=verdict, **extra)
    return Receipt(id=memory.id, status="changed", event=format_id(made.id), reason=f"{kind} {verdict}")


def _decide_wordings(writer: Writer, memory: Memory, others: Sequence[Memory], verdict: str) -> Receipt:
    """Merge memories that a model took for the same into the oldest of them, or say that one is none of the others."""
    kept, *merged = sorted((memory, *others), key=lambda each: (each.created_at_us, each.id))
    added: dict[str, None] = {}
    for other in merged if verdict == "accepted" else ():
        added |= dict.fromkeys(merge(writer, kept.id, other.id, origin="user") or ())
    for other in others if verdict == "rejected" else ():
        item, pair = writer.make_id(), (parse_id(memory.id), parse_id(other.id))
        reason = "read as the same"
        writer.reads.reviews.replace(Proposal(item, "duplicate", memory.scope, *pair, reason, 0.0, writer.now))
        writer.event("reviewed", pair[0], origin="user", about="duplicate", verdict=verdict, item=item.hex())
    event, id = format_id(writer.events[0].id), memory.id if verdict == "rejected" else kept.id
    return Receipt(id=id, status="changed", event=event, added=tuple(added), reason=f"duplicate {verdict}")


def _take_place(writer: Writer, new: Memory) -> None:
    """Accept a waiting memory: it ends the value of its key, and the memory that it corrects, where it begins.

    Raises BadInput when that memory was corrected otherwise in the meantime.
    """
    raw = parse_id(new.id)
    take_key(writer, new, origin="user")
    waits_for = waiting_data(writer.reads, raw)
    old = writer.reads.memories.get(waits_for["corrects"]) if "corrects" in waits_for else None
    if old is None or old.state != "active" or not (writer.scopes is None or old.scope in writer.scopes):
        return
    if new.key and old.key == new.key:
        writer.event("linked", raw, origin="user", edge="supersedes", target=parse_id(old.id).hex())
        return
    if old.superseded_by not in (None, new.id):
        raise BadInput(
            f"memory {old.id} was superseded by {old.superseded_by} already", hint="reject this, correct that one"
        )
    writer.replace(old, raw, "user", new.valid_from_us, waits_for.get("why"))


def merge(writer: Writer, into: str, merged: str, *, origin: str) -> tuple[str, ...] | None:
    """Merge a memory into another, which then speaks for both; both texts stay. None if one is no longer believed.

    The one that stays is trusted as the least of both, was observed on the days of both, and has what stands beside
    the other's words: the fields that this added to it are returned.
    """
    kept, gone = writer.reads.memories.get(parse_id(into)), writer.reads.memories.get(parse_id(merged))
    for memory in (kept, gone):
        if memory is None or memory.state != "active" or memory.superseded_by is not None:
            return None
    assert kept is not None and gone is not None
    before = writer.reads.graph.merged_into([parse_id(gone.id)], Filter(states=STATES))
    for memory in (gone, *before):  # what was merged into it too: one step leads to the memory that stays
        writer.event("merged", parse_id(memory.id), origin=origin, into=parse_id(kept.id).hex())
    trust = least_trusted([kept.trust, gone.trust])
    extra = {"trust": trust} if trust != kept.trust else {}
    return take_over(writer, kept, gone, origin=origin, stated_at=gone.created_at_us, **extra)
