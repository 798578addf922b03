"""Operations as people see them: what was done, newest first; taken back, and done again.

An operation is the events of one call. Taking it back appends an `undone` event for each, doing it again an `undone`
event for each of those. So what holds is what `model.state.cancelled_by` says, and nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ..model.clock import Instant, format_time
from ..model.dataclass import NamedTuple, dataclass, field, replace
from ..model.encode import OPTIONAL, TIME, JsonForm
from ..model.errors import BadInput, NotFound
from ..model.events import Event
from ..model.ids import format_id, parse_id
from ..model.memory import check_origin
from ..model.state import SESSION_EVENTS, cancelled_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context
    from ..store import Store
    from .write import Receipt, Writer

# What to do where no operation is meant.
LISTED = "`limpet log` lists operations"
# Events that are read in one go, and changes of one operation that are told.
PAGE_EVENTS, MOST_CHANGES = 200, 20
# Receipts of an undo that say how their memory stands: each is read by itself, on a server a round trip.
MOST_STANDING = 1_000
# Verbs by the event that tells them best; the first that an operation has.
_VERBS = {
    "purged": "purge", "merged": "merge", "reviewed": "review", "remembered": "remember", "observed": "remember",
    "edited": "edit",
    "retracted": "retract", "archived": "archive", "restored": "restore", "quarantined": "quarantine",
    "tagged": "tag", "pinned": "pin", "unpinned": "unpin", "bounded": "end", "keyed": "key", "linked": "link",
    "unlinked": "unlink", "superseded": "correct",
    "session_started": "session start", "session_ended": "session end",
}  # fmt: skip
# What of a memory an event sets: of two that set the same, the later builds on the earlier. Others set how it stands.
_SETS = {
    "edited": "text", "tagged": "tags", "keyed": "key", "pinned": "pin", "unpinned": "pin", "observed": "observations",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(JsonForm):
    """What an operation did to one memory: the event's type, and its text or what it has become."""

    id: str
    what: str  # remembered, superseded, tagged, linked, ...: docs/domain-model.md#events
    text: str
    detail: str = field(default="", metadata=OPTIONAL)  # topics, the type and other end of a link, the reason
    key: str | None = field(default=None, metadata=OPTIONAL)  # of a value


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
        return all(one.id in self.cancelled for one in self.events)

    @property
    def background(self) -> bool:
        """Whether nobody asked for it: a judgement of `work`, which goes with what it judges."""
        return any(one.data.get("background") for one in self.events)


def newest(store: Store, scopes: Sequence[str]) -> Iterator[Done]:
    """Operations of some scopes, the newest first."""
    cancelled: set[bytes] = set()
    events: list[Event] = []
    parted: set[bytes] = set()  # told before: an import in many transactions, between which others wrote
    before = None

    def whole() -> Iterator[Done]:
        if events[0].operation in parted:
            return
        one = _whole(store, Done(events[::-1], cancelled), scopes)
        if len(one.events) > len(events):
            parted.add(one.id)
        yield one

    while page := store.ledger.newest(scopes, before=before, limit=PAGE_EVENTS):
        for event in page:
            if events and event.operation != events[-1].operation:
                yield from whole()
                events = []
            events.append(event)
            # What takes back stands after what it takes back.
            if event.type == "undone" and event.id not in cancelled:
                cancelled.add(bytes.fromhex(event.data["undoes"]))
        before = page[-1].seq
    if events:
        yield from whole()


def _whole(store: Store, done: Done, scopes: Sequence[str]) -> Done:
    """With what it did in other scopes: a move between scopes is one operation of both. And with what it did before
    others wrote: what does not begin with its first event is a part."""
    if done.events[0].id == done.id and not any(one.type in ("moved", "undone") for one in done.events):
        return done
    events = store.ledger.operation(done.id, scopes)
    return done if len(events) == len(done.events) else Done(events, _cancelled(store, events))


def _cancelled(store: Store, events: Sequence[Event]) -> set[bytes]:
    return cancelled_by(store.ledger.undone({one.memory for one in events}))


def find(store: Store, event: str, scopes: Sequence[str]) -> Done:
    """The operation that an event belongs to. Raises NotFound, AmbiguousId, BadInput."""
    try:
        id = store.ledger.resolve(event)
    except BadInput as error:
        if error.message.startswith("not an id"):
            error.hint = LISTED
        raise
    events = store.ledger.operation(id, scopes)
    if not events:
        raise NotFound(f"no operation {event} in {' or '.join(scopes)}", hint=LISTED)
    return Done(events, _cancelled(store, events))


def taken_back(store: Store, events: Sequence[Event]) -> list[Event]:
    """The events that an operation takes back, if it does nothing else."""
    if any(one.type != "undone" for one in events):
        return []
    return list(store.ledger.events(ids=[bytes.fromhex(one.data["undoes"]) for one in events]))


def depth(store: Store, events: Sequence[Event]) -> tuple[int, list[Event]]:
    """0 for what changes memories, 1 for an undo of that, 2 for the redo, ...; and the changes that it all is about."""
    steps, found = 0, list(events)
    while (before := taken_back(store, found)) and before != found:
        steps, found = steps + 1, before
    return steps, found


def only_sessions(events: Sequence[Event]) -> bool:
    """Whether an operation only began or ended sessions: hooks do that unasked, and nobody means it by the last."""
    return all(one.type in SESSION_EVENTS for one in events)


ERASED = "a purge cannot be undone: the content is gone"


def last_done(store: Store, scopes: Sequence[str]) -> Done:
    """The operation that an undo takes back: the newest that holds, is none itself, was asked for, and did more than
    begin or end sessions. Raises NotFound, and BadInput where that is a purge."""
    erased, hint = False, None
    for one in newest(store, scopes):
        if one.undone or one.background or taken_back(store, one.events):
            continue
        if only_sessions(one.events):
            hint = "sessions that began and ended: `limpet log --sessions` lists them, `limpet undo OP` takes one back"
            continue
        if any(event.type == "purged" for event in one.events):
            erased = True
            continue
        if erased:
            (before,) = told(store, [one])
            if not before.text:  # of what was erased
                continue
            said = f"`limpet undo {before.short}` takes back what was done before it: {before.verb}: "
            raise BadInput(ERASED, hint=said + _first_words(before.text))
        return one
    raise BadInput(ERASED) if erased else NotFound("nothing to undo", hint=hint)


def last_undone(store: Store, scopes: Sequence[str]) -> Done:
    """The undo that a redo takes back: the newest that holds, if nothing was done since but that sessions began and
    ended. Raises NotFound."""
    for one in newest(store, scopes):
        if one.undone or only_sessions(one.events):
            continue
        steps, _ = depth(store, one.events)
        if steps % 2:
            return one
        if steps == 0:
            break
    raise NotFound("nothing to redo", hint="`limpet log` lists operations; `limpet undo OP` takes any of them back")


def named(store: Store, event: str, scopes: Sequence[str]) -> Done:
    """The operation of an event. Raises NotFound, and BadInput when it was undone already."""
    one = find(store, event, scopes)
    if one.undone:
        raise BadInput(f"{event} was undone already", hint="`limpet undo --redo` does again what was undone last")
    return one


def _with_judgements(store: Store, done: Done, scopes: Sequence[str], event: str) -> Done:
    """An operation, and what was judged of it in the background since: an undo takes them back together.

    Raises BadInput when anything else builds on either.
    """
    first: dict[object, int] = {}  # of each thing that they decide, the place where they do so first

    def note(events: Sequence[Event]) -> None:
        for one in events:
            for thing in _decides(one):
                first[thing] = min(one.seq, first.get(thing, one.seq))

    note(depth(store, done.events)[1])
    judged, building = list[Event](), list[Done]()
    for later in reversed(list(_since(store, done, scopes))):
        held = [one for one in later.events if one.id not in later.cancelled]
        if not any(first.get(thing, one.seq) < one.seq for one in held for thing in _needs(one)):
            continue
        if later.background:
            note(held)
            judged += later.events
        else:
            building.insert(0, later)
    if building:
        names = (f"{later.short} ({later.verb}: {_first_words(later.text)})" for later in told(store, building))
        raise BadInput(
            f"what was done later builds on {event}: {'; '.join(names)}",
            hint="undo that first, the first of them first",
        )
    if not judged:
        return done
    events, gone = [*done.events, *judged], {one.id for one in judged}
    # What a judgement took back of the operation is taken back with the rest, too.
    history = store.ledger.undone({one.memory for one in events})
    return Done(events, cancelled_by(one for one in history if one.id not in gone))


# -- the verbs


def undo(context: Context, event: str | None, *, origin: str) -> list[Receipt]:
    check_origin(origin)

    def decide(writer: Writer) -> list[Receipt]:
        store, scopes = writer.reads, context.scopes
        done = last_done(store, scopes) if event is None else named(store, event, scopes)
        return take_back(writer, _with_judgements(store, done, scopes, event or "the last operation"), origin)

    return _standing(context, context.write(decide))


def redo(context: Context) -> list[Receipt]:
    done = context.write(lambda writer: take_back(writer, last_undone(writer.reads, context.scopes), "agent"))
    return _standing(context, done)


def log(context: Context, *, limit: int, event: str | None, sessions: bool) -> list[Operation]:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 10_000:
        raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")
    store = context.store
    if event is not None:
        return told(store, [find(store, event, context.scopes)])
    shown = (one for one in newest(store, context.scopes) if sessions or not only_sessions(one.events))
    return told(store, list(islice(shown, limit)))


def take_back(writer: Writer, done: Done, origin: str) -> list[Receipt]:
    """Take back what of it still holds: a receipt for each memory. `origin`: who does. Raises BadInput for a purge."""
    from .write import Receipt

    if any(one.type == "purged" for one in done.events):
        raise BadInput(ERASED, hint="`limpet undo OP` takes back what was done before it")
    receipts: dict[bytes, Receipt] = {}
    for one in done.events:
        if one.id not in done.cancelled:
            made = writer.event("undone", one.memory, origin=origin, undoes=one.id.hex())
            receipts[one.memory] = Receipt(id=format_id(one.memory), status="changed", event=format_id(made.id))
    return list(receipts.values())


def _standing(context: Context, receipts: Sequence[Receipt]) -> list[Receipt]:
    """The receipts of an undo, with how each memory stands after it as the reason: of the first MOST_STANDING."""
    found = []
    for one in receipts[:MOST_STANDING]:
        memory = context.store.memories.get(parse_id(one.id))
        state = None if memory is None else "undone" if memory.reason == "undone" else context.as_read(memory).state
        words = {"active": "held", "superseded": "no longer held", "undone": "no longer held"}
        found.append(one if state is None else replace(one, reason=words.get(state, state)))
    return [*found, *receipts[MOST_STANDING:]]


def told(store: Store, several: Sequence[Done]) -> list[Operation]:
    """Operations in words."""
    found = []
    for done, short in zip(several, store.ledger.abbreviate([one.id for one in several]), strict=True):
        steps, about = depth(store, done.events)
        first = next((one for one in about if one.type == "remembered"), about[0])
        text, key = _text(store, first)
        verb = ("redo", "undo")[steps % 2] if steps else _verb(about)
        found.append(Operation(
            id=format_id(done.id), short=short, at_us=done.events[0].at, verb=verb, origin=done.events[0].origin,
            undone=done.undone, text=text, count=len(about), changes=tuple(_changes(store, about)[:MOST_CHANGES]),
            of=format_id(about[0].operation) if steps else None, key=key,
        ))  # fmt: skip
    return found


def _verb(events: Sequence[Event]) -> str:
    types = {one.type for one in events}
    verb = next((verb for type, verb in _VERBS.items() if type in types), events[0].type)
    replaces = any(one.type == "linked" and one.data.get("edge") == "supersedes" for one in events)
    if verb == "remember" and replaces:
        return "correct"
    if verb == "remember" and len(events) < 3 and any(one.data.get("key") for one in events):
        return "fact"
    if verb == "review":
        return "accept" if any(one.data.get("verdict") == "accepted" for one in events) else "reject"
    if verb == "end" and any(one.data.get("reached") for one in events):
        return "reach"
    return verb


def _changes(store: Store, events: Sequence[Event]) -> list[Effect]:
    """One for each event that says something of its own: what was linked as newer was superseded too."""
    replaced = {one.memory.hex() for one in events if one.type == "superseded"}
    found = []
    for one in events[: 2 * MOST_CHANGES]:
        if one.type != "linked" or one.data.get("target") not in replaced:
            text, key = _text(store, one)
            found.append(Effect(id=format_id(one.memory), what=one.type, text=text, detail=_detail(one), key=key))
    return found


def _text(store: Store, event: Event) -> tuple[str, str | None]:
    """What an event says, else what its memory says now, and the key of which that is a value."""
    if event.content is not None and event.type == "remembered":
        return event.content, event.data.get("key")
    memory = store.memories.get(event.memory)
    if memory is None:
        return event.content or str(event.data.get("name", "")), None
    return memory.content if event.content is None else event.content, memory.key


def _detail(event: Event) -> str:
    data = event.data
    if event.type in ("linked", "unlinked"):
        return f"{data.get('edge', '')} {format_id(bytes.fromhex(data['target']))}"
    if event.type == "merged":
        return f"into {format_id(bytes.fromhex(data['into']))}"
    if event.type == "tagged":
        values = (f"{name}={value}" for name, value in data.get("metadata", {}).items())
        return " ".join((*("#" + topic for topic in data.get("topics", ())), *values))
    if event.type == "bounded" or (event.type == "superseded" and data.get("valid_to", 0) > event.at):
        words = (("valid_from", "from"), ("valid_to", "until"))
        told = [f"{word} {(format_time(at) or '')[:19]}Z" for name, word in words if (at := data.get(name)) is not None]
        return " ".join(["holds", *told, *([f"({data['why']})"] if data.get("why") else [])])
    return str(data.get("why") or data.get("quarantine") or data.get("verdict") or data.get("key") or "")


def _since(store: Store, done: Done, scopes: Sequence[str]) -> Iterator[Done]:
    """Operations that did something after the first event of one, the newest first, that still hold."""
    for one in newest(store, scopes):
        if one.events[-1].seq < done.events[0].seq:
            return
        if one.id != done.id and not one.undone and not taken_back(store, one.events):
            yield one


def _decides(event: Event) -> set[object]:
    """What a later event may need: the memory that it makes, and what it sets."""
    return _sets(event) | ({event.memory.hex()} if event.type == "remembered" else set())


def _needs(event: Event) -> set[object]:
    """What an event means nothing, or another thing, without."""
    if event.type == "purged":
        return set()  # whatever is taken back, there is no text
    named = (event.data.get(name) for name in ("by", "into", "target"))
    return _sets(event) | {event.memory.hex(), *(one for one in named if isinstance(one, str))}


def _sets(event: Event) -> set[object]:
    """What an event decides: an aspect of a memory, a link, a value of a key, a verdict."""
    data = event.data
    if event.type in ("linked", "unlinked"):
        return {(event.memory, data.get("edge"), data.get("target"))}
    if event.type == "remembered":
        return {("key", data.get("scope"), data["key"])} if data.get("key") else set()
    if event.type == "reviewed":
        return {("verdict", event.memory, data.get("item"))}
    return {(event.memory, _SETS.get(event.type, "standing"))}


def _first_words(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 40 else flat[:39] + "…"
