"""What a statement becomes: one decision, made inside the write transaction from what is there.

What is trusted less than what it would end waits in quarantine until a person decides. Its `remembered` event names
what it would end (`over`, the one that is trusted more, and `corrects`), so that it waits again after a rebuild, on
another device and in another store.
"""

from __future__ import annotations

from ..model.clock import format_time
from ..model.dataclass import replace
from ..model.errors import BadInput, NotFound
from ..model.ids import format_id, is_line_id, line_end, line_id, parse_id, proposal_id
from ..model.memory import Memory, check_origin, is_below
from ..text.normalise import value_form
from ..text.secrets import redact
from .restate import restate
from .validation import ValidStatement
from .write import (
    Receipt,
    Writer,
    check_live,
    effective_trust,
    fitted,
    held,
    is_spoken,
    mark_of,
    raw_id,
    turn_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.state import MemoryState
    from ..store import Store

# What a statement becomes, by the first row that fits; None: either way.
#  known:   a memory says the same already, of the same time
#  current: that memory was corrected, and this is what holds instead
#  user:    the user says so
#  reads:   it came from outside and reads like an instruction
#  below:   it would end something that is trusted more
DECISIONS = (
    # known, current, user, reads, below
    (True, False, None, None, None, "observe"),  # observed, and what it adds: tagged, linked, pinned, keyed, bounded
    (True, True, False, None, None, "observe"),  # the same, and the receipt says what holds
    (None, None, None, True, None, "quarantine"),  # remembered, in quarantine
    (True, True, True, None, None, "propose"),  # remembered, in quarantine: a person says whether it holds again
    (None, None, None, None, True, "propose"),  # remembered, in quarantine: a person says which one holds
    (None, None, None, None, False, "create"),  # remembered; superseded, of what it ends
)
# Characters of what is believed that a receipt quotes.
QUOTED_CHARACTERS = 80
# Corrections of corrections that are followed.
MOST_CORRECTIONS = 100
# Who speaks, by origin.
SPEAKERS = {"user": "the user", "agent": "an agent", "tool": "a tool", "web": "a web page", "import": "an import"}


def state(
    writer: Writer, statement: ValidStatement, *, fresh: bool = False, mark: int | None = None,
    unused: bytes | None = None, again: ValidStatement | None = None, corrects: Memory | None = None,
    why: str | None = None,
) -> Receipt:  # fmt: skip
    """Take in a statement. `fresh`: it is new in any case. `mark`: its fingerprint, if it is known.

    `unused`: the id to give it, or its observation, which the caller knows to be no event's. `again`: what it says when
    it is known already, if that is less. `corrects`, `why`: what it is to replace. Raises NotFound for a `because` that
    is not there.
    """
    values, renamed = writer.values(statement) if statement.key else ([], None)
    if renamed is not None:
        statement, mark = replace(statement, key=renamed), None
    mark = mark_of(statement) if mark is None else mark
    if statement.id is not None and unused is None and (taken := writer.taken(statement)) is not None:
        return taken
    known = None if fresh else writer.known(statement, mark, values)
    known, current = (None, None) if known is None else _corrected(writer, known, statement)
    causes = writer.causes(statement) if statement.because else []
    trust = effective_trust(statement, causes) if causes or statement.trust else statement.origin
    start = statement.valid_from if statement.valid_from is not None else writer.now
    ended = held(values, start) if values else None
    over = next((one for one in (ended, corrects) if one is not None and is_below(trust, one.trust)), None)

    decision = _decided(known, current, statement.origin == "user" or None, statement.quarantine, over)
    if known is not None and decision == "observe":
        if statement.quarantine:  # what stands beside the words may be what reads like an instruction
            again = replace(statement, topics=(), metadata={}, source=None, session=None, pin=False)
        writer.said[statement.scope, mark] = raw_id(known)
        return _explained(restate(writer, known, again or statement, unused=unused), corrected_to(writer, current))

    over, corrects = current or over, corrects or current
    memory = unused or statement.id
    if memory is None and (over is not None or writer.quiet):
        memory, before = _named_alike(writer, statement, mark, over)
        if before is not None:
            return before
    new = memory or writer.make_id()
    data: dict[str, Any] = {"scope": statement.scope, "kind": statement.kind}
    if decision == "create":
        data |= fitted(values, start, statement.valid_to)
    else:
        writer.waiting.add(new)
        data["quarantine"] = statement.quarantine or _says_otherwise(over, again=current is not None)
        data |= {name: parse_id(one.id).hex() for name, one in (("over", over), ("corrects", corrects)) if one}
        data |= {"why": why} if why else {}
    made = writer.create(statement, new, mark, unused=unused, causes=causes, trust=trust, data=data)
    if decision == "create" and ended is not None:
        told = {"why": why} if why and corrects is not None and corrects.id == ended.id else {}
        writer.supersede(ended, new, statement.origin, start, **told)
    if decision == "quarantine":
        status, reason = "quarantined", f"it {statement.quarantine}; `limpet review` shows what waits"
    elif decision == "propose" and over is not None:
        status, reason = "proposed", kept_for_review(writer, over, current)
    else:
        status, reason = "created", _cut_off(statement, data.get("valid_to"), renamed)
    return Receipt(
        id=format_id(new), status=status, event=format_id(made.id), reason=reason or None, redacted=statement.redacted
    )


def _cut_off(statement: ValidStatement, end: int | None, renamed: str | None) -> str:
    """Say that another value of the key ends a new one, or that its key has another name."""
    if end is None or end == statement.valid_to:
        return f"its key is {renamed}" if renamed else ""
    kept = "not kept: valid_to; " if statement.valid_to is not None else ""
    return f"{kept}it holds until {format_time(end)}: another value of the key begins then"


def _decided(*facts: object) -> str:
    """Look up what a statement becomes; a fact is there or None."""
    for row in DECISIONS:
        for wanted, fact in zip(row, facts, strict=False):
            if wanted is not None and wanted != (fact is not None):
                break
        else:
            return row[-1]
    raise AssertionError(facts)


def correct(
    writer: Writer, old: Memory, statement: ValidStatement, why: str | None, *, derived: bool = False
) -> Receipt:
    """Replace `old` by a newer memory; both stay, linked. `old` ends where the new one begins to hold.

    What is trusted less than `old` waits for review instead, unless both are `derived` from others.
    Raises BadInput when `old` is not believed any more.
    """
    check_live(old)
    if was_replaced(old, writer.now):
        raise BadInput(f"memory {old.id} was superseded by {old.superseded_by} already", hint="correct that one")
    if why:
        why, found = redact(why)
        statement = replace(statement, redacted=tuple(dict.fromkeys((*statement.redacted, *found))))
    receipt = state(writer, statement, fresh=True, corrects=None if derived else old, why=why)
    new = parse_id(receipt.id)
    if new not in writer.waiting:
        start = statement.valid_from if statement.valid_from is not None else writer.now
        writer.replace(old, new, statement.origin, start, why)
    return receipt


def observe(writer: Writer, memory: bytes, statement: ValidStatement, *, unused: bytes | None = None) -> Receipt:
    """Note that a memory was stated again. `unused`: the id to give the event, which the caller knows to be free."""
    there = writer.as_it_is(memory)
    if there is None:
        raise NotFound(f"no memory with the id {format_id(memory)}")
    return restate(writer, there, statement, unused=unused)


# -- what was corrected, or waits


def was_replaced(memory: Memory, at: int) -> bool:
    """Whether another memory holds in its place by then."""
    return memory.superseded_by is not None and memory.valid_to_us is not None and memory.valid_to_us <= at


def _corrected(
    writer: Writer, known: Memory | MemoryState | None, statement: ValidStatement
) -> tuple[Memory | MemoryState | None, Memory | None]:
    """The memory that says the same as a statement, and what holds in its place if it was replaced.

    Where nothing holds in its place, or nothing of that may be told here, and for a statement of its own (one with an
    id or a time), the replaced memory does not count.
    """
    # What a key had at a time that is spoken of, it had, whatever came after.
    then = statement.key is not None and statement.valid_from is not None
    if not isinstance(known, Memory) or not was_replaced(known, writer.now) or then:
        return known, None
    if statement.id or statement.valid_from is not None or statement.valid_to is not None:
        return None, None
    current: Memory | None = known
    for _ in range(MOST_CORRECTIONS):
        if current is None or current.superseded_by is None:
            break
        current = writer.reads.memories.get(parse_id(current.superseded_by))
    if current is None or current.state != "active" or current.superseded_by is not None:
        return None, None
    ended = current.valid_to_us is not None and current.valid_to_us <= writer.now
    told = writer.scopes is None or current.scope in writer.scopes
    return (known, current) if told and not ended else (None, None)


def corrected_to(writer: Writer, current: Memory | None) -> str:
    """What holds instead, and how to say that it does no more; "" when nothing does."""
    if current is None:
        return ""
    return (
        f"corrected since: {current.id} says {_quoted(writer, current)}; if the older holds again,"
        f" `limpet correct {current.id}` says so"
    )


def _says_otherwise(over: Memory | None, *, again: bool = False) -> str:
    """Why a statement waits, for the memory itself: without words of another one, which may be purged."""
    if again or over is None:
        return "is said again after it was corrected"
    return f"says otherwise than what {SPEAKERS[over.trust]} said"


def kept_for_review(writer: Writer, over: Memory, current: Memory | None = None) -> str:
    """Why something waits, and what to do; what this caller may not read is not quoted."""
    if current is not None:
        return f"kept for review: {corrected_to(writer, current)}"
    told = f"say origin {over.trust} if it comes from there"
    return f"kept for review: {SPEAKERS[over.trust]} said {_quoted(writer, over)}; {told}"


def _quoted(writer: Writer, memory: Memory) -> str:
    """The first words of a memory; "otherwise" of one that this caller may not read."""
    text = " ".join(memory.content.split())
    text = text if len(text) <= QUOTED_CHARACTERS else text[: QUOTED_CHARACTERS - 1] + "…"
    return f'"{text}"' if writer.scopes is None or memory.scope in writer.scopes else "otherwise"


def _explained(receipt: Receipt, why: str) -> Receipt:
    return replace(receipt, reason="; ".join(filter(None, (why, receipt.reason)))) if why else receipt


# -- what may arrive again


def _named_alike(
    writer: Writer, statement: ValidStatement, mark: int, over: Memory | None
) -> tuple[bytes, Receipt | None]:
    """The id of a statement that may arrive again, and the receipt when it was decided before.

    Of what would replace `over`, and of a line of a file: one that became a memory which was purged, retracted or
    archived here, was merged into another or waits, stays that.
    """
    if over is not None:
        id = proposal_id(parse_id(over.id), mark)
        return id, _proposed_before(writer, id, over, statement)
    turn = turn_of(statement, mark) if is_spoken(statement) else None
    # Its exact value and its time too, and of a turn its session.
    session = statement.session if turn else ""
    name = f"{mark}\0{session}\0{statement.valid_from}\0{value_form(statement.content)}"
    if name not in writer.lines:
        writer.lines[name] = _seen_before(writer, name)
    gone, count = writer.lines[name]
    place = 0
    if turn:  # the n-th that is said beyond those that are there is the n-th of those that are gone
        place = writer.beyond[turn]
        writer.beyond[turn] += 1
    if place < len(gone):
        id = raw_id(gone[place])
        told = f"it was imported before, and is {gone[place].state}"
        return id, Receipt(id=format_id(id), status="unchanged", reason=told)
    writer.lines[name] = gone, count + 1
    return line_id(writer.make_id(), f"{name}\0{count}"), None


def _seen_before(writer: Writer, name: str) -> tuple[list[Memory | MemoryState], int]:
    """Of the memories that a line became: those that are no more or wait, and how many there were. What an `undo` took
    back may come again."""
    gone: list[Memory | MemoryState] = []
    count = 0
    while True:
        told = f"{name}\0{count}"
        ids = [one for one in writer.reads.memories.ending(line_end(told)) if is_line_id(one, told)]
        # Two, when two devices took in the same file.
        there = [one for one in map(writer.as_it_is, ids) if one is not None]
        if not there:
            return gone, count
        if all(one.state != "active" and one.reason != "undone" for one in there):
            gone.append(there[0])
        count += 1


def _proposed_before(writer: Writer, memory: bytes, over: Memory, statement: ValidStatement) -> Receipt | None:
    """The same statement over the same memory again: it waits already, or was decided. None: it is new."""
    there = writer.as_it_is(memory)
    if there is None:
        return None
    writer.waiting.add(memory)
    if there.state == "quarantined":
        known = restate(writer, there, statement)
        return _explained(known, f"{kept_for_review(writer, over)}; it waits already")
    if there.state == "retracted" and there.reason == "undone":
        made = writer.event("quarantined", memory, origin=statement.origin, why=_says_otherwise(over))
        return Receipt(
            id=format_id(memory), status="proposed", event=format_id(made.id), reason=kept_for_review(writer, over),
            redacted=statement.redacted,
        )  # fmt: skip
    return Receipt(id=format_id(memory), status="unchanged", reason="it was proposed before, and decided in review")


# -- what ends something, and what a person decides


def proposed(writer: Writer, memory: Memory, origin: str | None) -> Receipt | None:
    """The receipt of ending what is trusted more than `origin` (None: its owner): a person is asked, nothing ends."""
    if origin is None or not is_below(check_origin(origin), memory.trust):
        return None
    said = kept_for_review(writer, memory)
    return Receipt(id=memory.id, status="proposed", reason=f"{said}; noted as said to be wrong")


def take_place(writer: Writer, new: Memory, *, origin: str) -> None:
    """What waited holds now: it ends the value of its key, and the memory that it corrects, where it begins.

    Raises BadInput when that memory was corrected otherwise in the meantime.
    """
    raw = parse_id(new.id)
    take_key(writer, new, origin=origin)
    said = waiting_data(writer.reads, raw)
    old = writer.reads.memories.get(said["corrects"]) if "corrects" in said else None
    if old is None or old.state != "active" or not (writer.scopes is None or old.scope in writer.scopes):
        return
    if new.key and old.key == new.key:
        writer.event("linked", raw, origin=origin, edge="supersedes", target=parse_id(old.id).hex())
        return
    if old.superseded_by not in (None, new.id):
        raise BadInput(
            f"memory {old.id} was superseded by {old.superseded_by} already",
            hint="reject this, correct that one",
        )
    writer.replace(old, raw, origin, new.valid_from_us, said.get("why"))


def take_key(writer: Writer, new: Memory, *, origin: str) -> None:
    """A memory that is believed again is a value of its key, between the one before it and the one after it."""
    if new.key is None:
        return
    raw = parse_id(new.id)
    values = [one for one in writer.reads.memories.keyed(new.scope, new.key) if one.id != new.id]
    end = fitted(values, new.valid_from_us, new.valid_to_us)
    if end:
        writer.event("bounded", raw, origin=origin, **end)
    ended = held(values, new.valid_from_us)
    if ended is not None:
        writer.supersede(ended, raw, origin, new.valid_from_us)


def waiting_data(reads: Store, id: bytes) -> dict[str, Any]:
    """{"over"?, "corrects"?: ids as bytes, "why"?} of a memory that waits to replace another."""
    data = next((event.data for event in reads.ledger.events(memory=id) if event.type == "remembered"), {})
    found: dict[str, Any] = {
        name: data[name] for name in ("over", "corrects", "why") if isinstance(data.get(name), str)
    }
    for name in found.keys() & {"over", "corrects"}:
        try:
            found[name] = parse_id(found[name])
        except BadInput:  # from another program's ledger
            del found[name]
    return found


def former_values(writer: Writer, statement: ValidStatement) -> frozenset[str]:
    """The values that its key had and of which another one holds now, as `value_form` writes them."""
    values = writer.values(statement)[0]
    now = held(values, writer.now)
    if now is None:
        return frozenset()
    replaced = frozenset(value_form(one.content) for one in values if was_replaced(one, writer.now))
    return replaced - {value_form(now.content)}
