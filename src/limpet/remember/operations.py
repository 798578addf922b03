"""Operations as people see them: what was done, newest first; taken back, and done again.

An operation is the events of one call. Taking it back appends an `undone` event for each, doing it again an `undone`
event for each of those. `model.state.cancelled_by` says which events hold; nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice, takewhile

from ..model.clock import Instant
from ..model.dataclass import NamedTuple, dataclass, field, replace
from ..model.encode import OPTIONAL, TIME, JsonForm
from ..model.errors import BadInput, NotFound
from ..model.events import Event
from ..model.ids import format_id, parse_id
from ..model.memory import check_origin
from ..model.state import SESSION_EVENTS, cancelled_by
from ..text.turns import cut
from .validation import check_limit
from .write import changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context import Context
    from ..store import Store
    from .write import Receipt, Writer

# The hint if no operation fits.
LISTED = "`limpet log` lists operations"
# Events that are read in one go, and changes of one operation that are listed.
PAGE_EVENTS, MOST_CHANGES = 200, 20
NAMED_CHARACTERS = 40  # of a text that an error names
# Receipts of an undo that say how their memory stands: each is read by itself, on a server a round trip.
MOST_STANDING = 1_000
# Verbs by the event that tells them best; the first that an operation has.
_VERBS = {
    "purged": "purge", "merged": "merge", "reviewed": "review", "remembered": "remember", "observed": "remember",
    "edited": "edit", "retracted": "retract", "archived": "archive", "restored": "restore",
    "quarantined": "quarantine", "tagged": "tag", "pinned": "pin", "unpinned": "unpin", "bounded": "end",
    "keyed": "key", "linked": "link", "unlinked": "unlink", "superseded": "correct",
    "session_started": "session start", "session_ended": "session end",
}  # fmt: skip
# The part of a memory that an event sets: of two events that set the same part, the later builds on the earlier. All
# other events set its standing.
_SETS = {
    "edited": "text", "tagged": "tags", "keyed": "key", "pinned": "pin", "unpinned": "pin", "observed": "observations",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(JsonForm):
    """The effect of an operation on one memory."""

    id: str
    what: str  # an event's type: remembered, superseded, tagged, linked, ...: docs/domain-model.md#events


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(JsonForm):
    """One call that changed something."""

    id: str  # of its first event; `undo` takes it
    short: str  # its short id, which `undo` takes as well
    at_us: int = field(metadata=TIME)
    verb: str  # remember, correct, tag, ..., undo, redo
    origin: str
    undone: bool
    text: str  # what it is about
    count: int  # changes
    changes: tuple[Effect, ...]  # the first ones
    of: str | None = field(default=None, metadata=OPTIONAL)  # the operation that an undo or a redo was of
    key: str | None = field(default=None, metadata=OPTIONAL)  # of which `text` is the value
    at = Instant("at_us")


class Done(NamedTuple):
    """The events of an operation in order, and those of them that were taken back."""

    events: list[Event]
    cancelled: set[bytes]

    @property
    def id(self) -> bytes:
        return self.events[0].operation

    @property
    def undone(self) -> bool:
        return all(event.id in self.cancelled for event in self.events)

    @property
    def background(self) -> bool:
        """True for a judgement by `work` that nobody asked for, which goes with what it judges."""
        return any(event.data.get("background") for event in self.events)


def newest(store: Store, scopes: Sequence[str]) -> Iterator[Done]:
    """Yield operations of some scopes, the newest first."""
    cancelled: set[bytes] = set()
    parted: set[bytes] = set()  # already given: an import in many transactions, between which others wrote
    for operation, group in groupby(_events(store, scopes), key=lambda event: event.operation):
        events = list(group)
        # An undo is newer than what it takes back, so it is seen first.
        for event in events:
            if event.type == "undone" and event.id not in cancelled:
                cancelled.add(bytes.fromhex(event.data["undoes"]))
        if operation in parted:
            continue
        done = Done(events[::-1], cancelled)
        # A move between scopes is one operation of both; and a group without its first event is only a part.
        if events[-1].id != operation or any(event.type in ("moved", "undone") for event in events):
            whole = store.ledger.operation(operation, scopes)
            if len(whole) > len(events):
                parted.add(operation)
                done = Done(whole, _cancelled(store, whole))
        yield done


def _events(store: Store, scopes: Sequence[str]) -> Iterator[Event]:
    before = None
    while page := store.ledger.newest(scopes, before=before, limit=PAGE_EVENTS):
        yield from page
        before = page[-1].seq


def _cancelled(store: Store, events: Sequence[Event]) -> set[bytes]:
    return cancelled_by(store.ledger.undone({event.memory for event in events}))


def find(store: Store, event: str, scopes: Sequence[str]) -> Done:
    """Return the operation that an event belongs to. Raises NotFound, AmbiguousId, BadInput."""
    try:
        events = store.ledger.operation(store.ledger.resolve(event, scopes), scopes)
    except BadInput as error:
        if error.message.startswith("not an id"):
            error.hint = LISTED
        raise
    return Done(events, _cancelled(store, events))


def taken_back(store: Store, events: Sequence[Event]) -> list[Event]:
    """Return the events that an operation takes back, if it does nothing else."""
    if any(event.type != "undone" for event in events):
        return []
    return list(store.ledger.events(ids=[bytes.fromhex(event.data["undoes"]) for event in events]))


def depth(store: Store, events: Sequence[Event]) -> tuple[int, list[Event]]:
    """Return 0 for what changes memories, 1 for an undo of that, 2 for the redo, ...; and the changes themselves."""
    steps, changes = 0, list(events)
    while (before := taken_back(store, changes)) and before != changes:
        steps, changes = steps + 1, before
    return steps, changes


def only_sessions(events: Sequence[Event]) -> bool:
    """Return whether an operation only began or ended sessions, which hooks do unasked: an undo passes it over."""
    return all(event.type in SESSION_EVENTS and not event.data.get("whole") for event in events)


ERASED = "a purge cannot be undone: the content is gone"
BEFORE_IT = "`limpet log` lists what was done before, and `limpet undo OP` takes it back"


def last_done(store: Store, scopes: Sequence[str]) -> Done:
    """Return the operation that an undo takes back: the newest that holds, is no undo, was asked for, and did more than
    begin or end sessions. Raises NotFound, and BadInput where that is a purge."""
    hint = None
    for done in newest(store, scopes):
        if done.undone or done.background or taken_back(store, done.events):
            continue
        if only_sessions(done.events):
            hint = "sessions began and ended: `limpet undo EVENT`, with the event of a receipt, takes that back"
        elif any(event.type == "purged" for event in done.events):
            raise BadInput(ERASED, hint=BEFORE_IT)
        else:
            return done
    raise NotFound("nothing to undo", hint=hint)


def last_undone(store: Store, scopes: Sequence[str]) -> Done:
    """Return the undo that a redo takes back: the newest that holds, if since then only sessions began and ended.
    Raises NotFound."""
    for done in newest(store, scopes):
        if done.undone or only_sessions(done.events):
            continue
        steps, _ = depth(store, done.events)
        if steps % 2:
            return done
        if steps == 0:
            break
    raise NotFound("nothing to redo", hint="`limpet log` lists operations; `limpet undo OP` takes any of them back")


def _with_judgements(store: Store, done: Done, scopes: Sequence[str], event: str) -> Done:
    """Return an operation with the background judgements since: an undo takes them back together.

    Raises BadInput when anything else builds on either.
    """
    first: dict[object, int] = {}  # thing that they decide -> the place where they first do

    def note(events: Sequence[Event]) -> None:
        for item in events:
            # What later events may build on: what this one sets, and the memory that it makes.
            made = {item.memory.hex()} if item.type == "remembered" else set()
            for thing in _sets(item) | made:
                first[thing] = min(item.seq, first.get(thing, item.seq))

    note(depth(store, done.events)[1])
    judged, building = list[Event](), list[Done]()
    since = takewhile(lambda op: op.events[-1].seq >= done.events[0].seq, newest(store, scopes))
    standing = [op for op in since if op.id != done.id and not op.undone and not taken_back(store, op.events)]
    for later in reversed(standing):
        held = [item for item in later.events if item.id not in later.cancelled]
        if not any(first.get(thing, item.seq) < item.seq for item in held for thing in _needs(item)):
            continue
        if later.background:
            note(held)
            judged += later.events
        else:
            building.insert(0, later)
    if building:
        names = []
        for op in shown(store, building):
            names.append(f"{op.short} ({op.verb}: {cut(' '.join(op.text.split()), NAMED_CHARACTERS)})")
        raise BadInput(
            f"what was done later builds on {event}: {'; '.join(names)}",
            hint="undo that first, the first of them first",
        )
    if not judged:
        return done
    events, gone = [*done.events, *judged], {item.id for item in judged}
    # What a judgement took back of the operation is taken back too.
    history = store.ledger.undone({item.memory for item in events})
    return Done(events, cancelled_by(item for item in history if item.id not in gone))


# -- the verbs


def undo(context: Context, event: str | None, *, origin: str) -> list[Receipt]:
    check_origin(origin)

    def write(writer: Writer) -> list[Receipt]:
        store, scopes = writer.reads, context.scopes
        done = last_done(store, scopes) if event is None else find(store, event, scopes)
        if event is not None and done.undone:
            raise BadInput(f"{event} was undone already", hint="`limpet undo --redo` does again what was undone last")
        whole = _whole(store, done)
        return take_back(writer, _with_judgements(store, whole, scopes, event or "the last operation"), origin)

    return _standing(context, context.write(write))


def redo(context: Context) -> list[Receipt]:
    def write(writer: Writer) -> list[Receipt]:
        return take_back(writer, _whole(writer.reads, last_undone(writer.reads, context.scopes)), "agent")

    return _standing(context, context.write(write))


def log(context: Context, *, limit: int, event: str | None) -> list[Operation]:
    check_limit(limit)
    store = context.store
    if event is not None:
        return shown(store, [find(store, event, context.scopes)])
    listed = (done for done in newest(store, context.scopes) if not only_sessions(done.events))
    return shown(store, list(islice(listed, limit)))


def _whole(store: Store, done: Done) -> Done:
    """Return an operation with its events in scopes that are not seen here, if it is one of all scopes."""
    if not _is_of_all_scopes(done.events[0]):
        return done
    events = store.ledger.operation(done.id)
    return Done(events, _cancelled(store, events))


def _is_of_all_scopes(event: Event) -> bool:
    return event.type in ("session_started", "undone") and bool(event.data.get("whole"))


def take_back(writer: Writer, done: Done, origin: str) -> list[Receipt]:
    """Take back what still holds of an operation; return a receipt for each memory. Raises BadInput for a purge."""
    if any(event.type == "purged" for event in done.events):
        raise BadInput(ERASED, hint=BEFORE_IT)
    receipts: dict[bytes, Receipt] = {}
    for event in done.events:
        if event.id not in done.cancelled:
            of_all: dict[str, Any] = {"whole": True} if _is_of_all_scopes(event) else {}
            made = writer.event("undone", event.memory, origin=origin, undoes=event.id.hex(), **of_all)
            receipts[event.memory] = changed(made)
    return list(receipts.values())


def _standing(context: Context, receipts: Sequence[Receipt]) -> list[Receipt]:
    """Return the receipts of an undo, with each memory's new standing as the reason: of the first MOST_STANDING."""
    words = {"active": "held", "superseded": "no longer held", "undone": "no longer held"}
    standing = list(receipts)
    for i, receipt in enumerate(receipts[:MOST_STANDING]):
        memory = context.store.memories.get(parse_id(receipt.id))
        if memory is not None:
            state = "undone" if memory.reason == "undone" else context.as_read(memory).state
            standing[i] = replace(receipt, reason=words.get(state, state))
    return standing


def shown(store: Store, operations: Sequence[Done]) -> list[Operation]:
    """Return operations in words."""
    result = []
    for done, short in zip(operations, store.ledger.abbreviate([done.id for done in operations]), strict=True):
        steps, about = depth(store, done.events)
        first = next((event for event in about if event.type == "remembered"), about[0])
        text, key = first.content, first.data.get("key")
        if text is None or first.type != "remembered":  # else what its memory says now
            memory = store.memories.get(first.memory)
            key = memory.key if memory else None
            text = text or (memory.content if memory else str(first.data.get("name", "")))
        # What was linked as newer was superseded too.
        replaced = {event.memory.hex() for event in about if event.type == "superseded"}
        changes = [event for event in about if event.type != "linked" or event.data.get("target") not in replaced]
        result.append(Operation(
            id=format_id(done.id), short=short, at_us=done.events[0].at, origin=done.events[0].origin,
            verb=("redo", "undo")[steps % 2] if steps else _verb(about), undone=done.undone, text=text, key=key,
            count=len(about), of=format_id(about[0].operation) if steps else None,
            changes=tuple(Effect(id=format_id(event.memory), what=event.type) for event in changes[:MOST_CHANGES]),
        ))  # fmt: skip
    return result


def _verb(events: Sequence[Event]) -> str:
    if _is_of_all_scopes(events[0]):
        return "start"
    types = {event.type for event in events}
    verb = next((verb for type, verb in _VERBS.items() if type in types), events[0].type)
    replaces = any(event.type == "linked" and event.data.get("edge") == "supersedes" for event in events)
    if verb == "remember" and replaces:
        return "correct"
    if verb == "remember" and len(events) < 3 and any(event.data.get("key") for event in events):
        return "fact"
    if verb == "review":
        return "accept" if any(event.data.get("verdict") == "accepted" for event in events) else "reject"
    if verb == "end" and any(event.data.get("reached") for event in events):
        return "reach"
    return verb


def _needs(event: Event) -> set[object]:
    """Return what must stay as it is for an event to mean the same."""
    if event.type == "purged":
        return set()  # whatever is taken back, there is no text
    named = (event.data.get(name) for name in ("by", "into", "target"))
    return _sets(event) | {event.memory.hex(), *(name for name in named if isinstance(name, str))}


def _sets(event: Event) -> set[object]:
    """Return what an event decides: an aspect of a memory, a link, a value of a key, a verdict."""
    data = event.data
    if event.type in ("linked", "unlinked"):
        return {(event.memory, data.get("edge"), data.get("target"))}
    if event.type == "remembered":
        return {("key", data.get("scope"), data["key"])} if data.get("key") else set()
    if event.type == "reviewed":
        return {("verdict", event.memory, data.get("item"))}
    return {(event.memory, _SETS.get(event.type, "standing"))}
