"""The review list: what waits for a person, and what a decision becomes: merges, corrections, quarantine, confidence.

Pairs are proposals in the store, made by background checks. The rest follows from the memories themselves: an item of
that kind has the memory's id. Deciding twice the same is unchanged; deciding otherwise says what was decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from ..model.clock import MICROSECONDS_PER_DAY, Instant, format_time
from ..model.dataclass import NamedTuple, dataclass, field, replace
from ..model.encode import OPTIONAL, TIME, JsonForm, by
from ..model.errors import BadInput, NotFound
from ..model.ids import format_id, parse_id
from ..model.memory import Memory, least_trusted
from ..model.state import cancelled_by
from ..rank import constants as C
from ..store.records import MOST_WAITING, OBJECTION, Filter, Proposal
from ..text.blocks import plain_line
from .decide import take_place, waiting_data
from .restate import take_over
from .write import Receipt, Writer

if TYPE_CHECKING:
    from ..context import Context
    from ..store import Store

PAIRS = {
    "duplicate": "the same thing said twice? accepted: the older one speaks for both",
    "correction": "does the newer replace the older? accepted: it does",
    "contradiction": "they deny each other. accepted: the newer is right",
    "conflict": "changed in a mirror's folder and in the store. accepted: the folder is right; rejected: the store is",
    "concurrent": "two devices set one key at once; the newer holds. accepted: it should. Else: `limpet fact`",
    "key": "do both keys name the same? accepted: the older one is the key of both",
}
SINGLE = {
    "quarantine": "kept out of recall until a person has looked. accepted: it may be recalled",
    "replacement": "says otherwise than what is trusted more. accepted: it replaces that; rejected: that stays",
    "wrong": "said to be wrong when it was recalled. accepted: it is no longer believed",
    "confidence": "said on many days, never confirmed. accepted: it is true",
    "resurface": "important, and not seen for long. accepted: it still matters",
}
QUESTIONS = PAIRS | SINGLE
# Characters of a reason that is kept for who decides.
REASON_CHARACTERS = 200
# What yes and no do, as a person chooses between them.
ANSWERS = {
    "duplicate": ("merge them", "keep both"),
    "correction": ("the newer replaces it", "keep both"),
    "contradiction": ("the newer is right", "keep both"),
    "conflict": ("the folder is right", "the store is right"),
    "concurrent": ("the newer holds", "leave it"),
    "key": ("one key for both", "two keys"),
    "quarantine": ("let it in", "reject it"),
    "replacement": ("replace it", "keep what is there"),
    "wrong": ("believe it no longer", "keep it"),
    "confidence": ("it is true", "it is not true"),
    "resurface": ("it still matters", "archive it"),
}


def _brief(memory: Memory) -> dict[str, object]:
    return {
        "id": memory.id,
        "kind": memory.kind,
        "content": memory.content,
        "origin": memory.origin,
        "valid_from": format_time(memory.valid_from),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem(JsonForm):
    """One thing to decide. `other`: the older memory of a pair, or what it would replace."""

    SHOWN = ("id", "kind", "question", "reason", "memory", "created_at_us", "other", "score")

    id: str
    kind: str
    reason: str
    memory: Memory = field(metadata=by(_brief))
    other: Memory | None = field(default=None, metadata=by(_brief) | OPTIONAL)
    score: float | None = field(default=None, metadata=OPTIONAL)  # cosine of a pair
    created_at_us: int = field(metadata=TIME)
    created_at = Instant("created_at_us")

    @property
    def question(self) -> str:
        return QUESTIONS[self.kind]


class Group(NamedTuple):
    """Items that one decision can settle. `hub`: the memory that all are about; None: one item by itself."""

    hub: Memory | None
    items: list[ReviewItem]


def groups(items: Sequence[ReviewItem]) -> list[Group]:
    """The list in its order, with all pairs of a memory that has several where the first of them is."""
    waits = {one.id for one in items}
    often = Counter(id for one in items for id in sides(one))
    found: dict[str, Group] = {}
    for one in items:
        hub = max(sides(one), key=lambda id: often[id], default="")
        if often[hub] < 2 or hub in waits:
            found[one.id] = Group(None, [one])
            continue
        memory = one.memory if one.memory.id == hub else one.other
        found.setdefault(hub, Group(memory, [])).items.append(one)
    return [Group(None, one.items) if len(one.items) == 1 else one for one in found.values()]


def answers(group: Group) -> tuple[str, str]:
    """What yes and no to all of a group do."""
    (kind, *other_kinds), count = {one.kind for one in group.items}, len(group.items)
    if count == 1:
        return ANSWERS[kind]
    yes, no = ("yes", "no") if other_kinds else ANSWERS[kind]
    return f"{yes}: all {count}", f"{no}: all {count}"


def sides(one: ReviewItem) -> list[str]:
    """The ids of a pair; none of what stands alone."""
    return [] if one.other is None else [one.memory.id, one.other.id]


def waiting(store: Store, scopes: Sequence[str], now: int, *, limit: int) -> list[ReviewItem]:
    """Everything that waits in some scopes, the dangerous first, then pairs, then what may be confirmed."""
    found = [_held_back(store, scopes, one) for one in _all(store, scopes, ("quarantined",), limit)]
    found += [_pair(*one) for one in _pairs(store, scopes)]
    said = {one.memory: one.reason for one in store.reviews.waiting(scopes, limit=MOST_WAITING, kind=OBJECTION)}
    for id, times in store.memories.disputed(scopes):
        memory = store.memories.get(id)
        if memory is not None and wants_judgement(store, memory, times):
            why = f': "{said[id]}"' if id in said else ""
            found.append(replace(_single("wrong", memory), reason=f"said to be wrong {_times(times)}{why}"))
    rest = [] if len(found) >= limit else _standing_out(store, scopes, now)
    found += [_single("confidence", one) for one in rest if wants_confirmation(one, now)]
    found += [_single("resurface", one) for one in rest if wants_attention(one, now)]
    return found[:limit]


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


def _held_back(store: Store, scopes: Sequence[str], one: Memory) -> ReviewItem:
    """What is in quarantine: for how it reads, or because it would replace a memory that is trusted more."""
    over = waiting_data(store, parse_id(one.id)).get("over")
    other = store.memories.get(over) if over else None
    if other is None or other.scope not in scopes:
        return _single("quarantine", one)
    return replace(_single("replacement", one), other=other)


def _pairs(store: Store, scopes: Sequence[str]) -> list[tuple[Proposal, Memory, Memory]]:
    """Proposals that wait, with their memories."""
    found = []
    for proposal in store.reviews.waiting(scopes, limit=MOST_WAITING):
        memory, other = store.memories.get(proposal.memory), store.memories.get(proposal.other)
        if memory is not None and other is not None and proposal.kind != OBJECTION:
            found.append((proposal, memory, other))
    return found


def wants_judgement(reads: Store, one: Memory, times: int) -> bool:
    """Said to be wrong more often than when a person last decided about it."""
    return one.superseded_by is None and times > _judged(reads, parse_id(one.id))


def _judged(reads: Store, id: bytes) -> int:
    """How often it had been said to be wrong when a person decided; 0: nobody has."""
    events = list(reads.ledger.events(memory=id))
    cancelled = cancelled_by(events)
    return max(
        (
            one.data["times"]
            for one in events
            if one.type == "reviewed" and "times" in one.data and one.id not in cancelled
        ),
        default=0,
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def wants_confirmation(one: Memory, now: int) -> bool:
    """Said on five distinct days, or on three over two weeks, and no person has confirmed it."""
    if one.trust == "user" or one.stated_confidence is not None or one.superseded_by is not None:
        return False
    days = (now - one.created_at_us) // MICROSECONDS_PER_DAY
    return one.observations >= C.REVIEW_DAYS or (one.observations >= C.VERIFIED_DAYS and days >= C.REVIEW_AFTER_DAYS)


def wants_attention(one: Memory, now: int) -> bool:
    """Important or pinned, and neither said nor used for long."""
    if one.superseded_by is not None or not (one.pinned or one.importance >= C.RESURFACE_IMPORTANCE):
        return False
    seen = max(one.observed_at_us, one.used_at_us or 0)
    return now - seen >= C.RESURFACE_AFTER_DAYS * MICROSECONDS_PER_DAY


def _standing_out(store: Store, scopes: Sequence[str], now: int) -> list[Memory]:
    """What may want a confirmation or attention: the rest need not be read."""
    where = Filter(scopes=tuple(scopes), as_of=now)
    fewest = min(C.REVIEW_DAYS, C.VERIFIED_DAYS)
    rows = store.listings.standing_out(where, observations=fewest, importance=C.RESURFACE_IMPORTANCE)
    return store.memories.by_rows(rows)


def _all(store: Store, scopes: Sequence[str], states: tuple[str, ...], limit: int) -> list[Memory]:
    where = Filter(scopes=tuple(scopes), states=states)
    return list(islice(store.listings.each(where), limit))


def _single(kind: str, one: Memory) -> ReviewItem:
    reasons = {
        "quarantine": one.reason or "",
        "replacement": one.reason or "",
        "wrong": "",
        "confidence": f"said on {one.observations} days",
        "resurface": f"importance {one.importance:g}" + (", pinned" if one.pinned else ""),
    }
    return ReviewItem(id=one.id, kind=kind, reason=reasons[kind], memory=one, created_at_us=one.created_at_us)


def _pair(proposal: Proposal, memory: Memory, other: Memory) -> ReviewItem:
    return ReviewItem(
        id=format_id(proposal.id),
        kind=proposal.kind,
        reason=proposal.reason,
        memory=memory,
        other=other,
        score=proposal.score or None,  # 0: no vectors were compared
        created_at_us=proposal.created_at,
    )


def decide_pair(writer: Writer, id: bytes, verdict: str) -> Receipt:
    """Accept or reject a proposal. Raises BadInput when it was decided otherwise, or can no longer be carried out."""
    proposal = writer.reads.reviews.get(id)
    if proposal is None:
        raise NotFound(f"nothing to review with the id {format_id(id)}", hint="`limpet review` lists what waits")
    shown = format_id(id)
    if proposal.verdict is not None:
        if proposal.verdict == verdict:
            return Receipt(id=shown, status="unchanged", reason=f"{verdict} already")
        raise BadInput(f"{shown} was {proposal.verdict} already", hint="`limpet undo EVENT` takes a decision back")
    added: tuple[str, ...] = ()
    if verdict == "accepted":
        added = _carry_out(writer, proposal)
    elif proposal.kind == "conflict":
        ours = writer.reads.memories.get(proposal.memory)
        if ours is not None and ours.state == "active":
            writer.event("archived", proposal.memory, origin="user")
    made = writer.event(
        "reviewed", proposal.memory, origin="user", about=proposal.kind, verdict=verdict, item=proposal.id.hex()
    )
    return Receipt(
        id=shown, status="changed", event=format_id(made.id), added=added,
        reason=f"{proposal.kind} {verdict}",
    )  # fmt: skip


def _carry_out(writer: Writer, proposal: Proposal) -> tuple[str, ...]:
    """What accepting it means. Returns what it added to the memory that stays."""
    if proposal.kind == "concurrent":
        return ()
    new, old = writer.reads.memories.get(proposal.memory), writer.reads.memories.get(proposal.other)
    if new is not None and old is not None:
        if proposal.kind == "duplicate":
            added = merge(writer, old.id, new.id, origin="user")
            if added is not None:
                return added
        elif proposal.kind == "key":
            if new.key and old.key and new.key != old.key:
                join_keys(writer, new.scope, new.key, old.key)
                return ()
        elif new.state == old.state == "active" and not old.superseded_by:
            start = max(new.valid_from_us, old.valid_from_us)
            writer.event("superseded", proposal.other, origin="user", by=proposal.memory.hex(), valid_to=start)
            writer.event("linked", proposal.memory, origin="user", edge="supersedes", target=proposal.other.hex())
            return ()
    raise BadInput("one of the two is no longer in use", hint="reject it, or `limpet show` them")


def join_keys(writer: Writer, scope: str, key: str, into: str) -> None:
    """The values of `key` become values of `into`; at each instant the one that began last holds."""
    moved = writer.reads.memories.keyed(scope, key)
    for one in moved:
        writer.event("keyed", parse_id(one.id), origin="user", key=into)
    values = sorted(
        [*moved, *writer.reads.memories.keyed(scope, into)],
        key=lambda one: (one.valid_from_us, one.created_at_us, one.id),
    )
    for one, following in pairwise(values):
        if one.valid_to_us is None or one.valid_to_us > following.valid_from_us:
            by = parse_id(following.id).hex()
            writer.event("superseded", parse_id(one.id), origin="user", by=by, valid_to=following.valid_from_us)


def decide_single(writer: Writer, memory: Memory, verdict: str, now: int) -> Receipt:
    """Accept or reject what follows from a memory itself. Raises BadInput when nothing about it waits."""
    raw, accepted = parse_id(memory.id), verdict == "accepted"
    wrong = dict(writer.reads.memories.disputed([memory.scope])).get(raw, 0)
    kind = _waiting_kind(writer.reads, memory, wrong, now)
    if kind is None:
        last = _last_verdict(writer, raw)
        if last == verdict:
            return Receipt(id=memory.id, status="unchanged", reason=f"{verdict} already")
        raise BadInput(
            f"{memory.id} was {last} already" if last else f"nothing about {memory.id} waits for review",
            hint="`limpet review` lists what waits",
        )
    extra: dict[str, Any] = {"confidence": C.VERIFIED_CAP} if kind == "confidence" and accepted else {}
    if kind == "wrong":
        extra["times"] = wrong
        if accepted:
            writer.event("retracted", raw, origin="user", why="said to be wrong, and confirmed in review")
    if kind in ("quarantine", "replacement"):
        writer.event("restored" if accepted else "retracted", raw, origin="user", **_why(accepted))
        if accepted:
            take_place(writer, memory, origin="user")
    elif kind == "confidence" and not accepted:
        writer.event("retracted", raw, origin="user", **_why(accepted))
    elif kind == "resurface":
        # Accepted: said again today. Rejected: it leaves recall and stays on disk.
        writer.event("observed" if accepted else "archived", raw, origin="user")
    made = writer.event("reviewed", raw, origin="user", about=kind, verdict=verdict, **extra)
    return Receipt(id=memory.id, status="changed", event=format_id(made.id), reason=f"{kind} {verdict}")


def _why(accepted: bool) -> dict[str, str]:
    return {} if accepted else {"why": "rejected in review"}


def _waiting_kind(reads: Store, memory: Memory, wrong: int, now: int) -> str | None:
    if memory.state == "quarantined":
        return "replacement" if "over" in waiting_data(reads, parse_id(memory.id)) else "quarantine"
    if memory.state != "active":
        return None
    if wrong and wants_judgement(reads, memory, wrong):
        return "wrong"
    if wants_confirmation(memory, now):
        return "confidence"
    return "resurface" if wants_attention(memory, now) else None


def _last_verdict(writer: Writer, id: bytes) -> str | None:
    last = None
    for event in writer.reads.ledger.events(memory=id):
        # Of a purged memory the verdict is gone too.
        if event.type == "reviewed" and "verdict" in event.data and "item" not in event.data:
            last = str(event.data["verdict"])
    return last


def merge(writer: Writer, into: str, merged: str, *, origin: str) -> tuple[str, ...] | None:
    """Events that let one memory speak for another too; both wordings stay. None when either is no longer believed.

    The one that stays is trusted as the least of both, was observed on the days of both, and has what stands beside
    the other's words: the fields that this added to it are returned.
    """
    kept, gone = writer.reads.memories.get(parse_id(into)), writer.reads.memories.get(parse_id(merged))
    if kept is None or gone is None or kept.state != "active" or gone.state != "active":
        return None
    if kept.superseded_by is not None or gone.superseded_by is not None:
        return None
    writer.event("merged", parse_id(gone.id), origin=origin, into=parse_id(kept.id).hex())
    trust = least_trusted([kept.trust, gone.trust])
    extra = {"trust": trust} if trust != kept.trust else {}
    return take_over(writer, kept, gone, origin=origin, stated_at=gone.created_at_us, **extra)
