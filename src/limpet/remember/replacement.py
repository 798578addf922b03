"""Replacement across trust levels: what is trusted less waits, a person decides, and then it takes its place.

The statement is in the ledger, in quarantine; its `remembered` event names what it would end (`over`, the one that is
trusted more, and `corrects`), so that it waits again after a rebuild, on another device and in another store.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model.dataclass import replace
from ..model.errors import BadInput
from ..model.ids import format_id, is_line_id, line_end, line_id, parse_id, proposal_id
from ..model.memory import Memory, check_origin, is_below
from ..text.normalise import value_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.state import MemoryState
    from ..store import Store
    from .validation import ValidStatement
    from .write import Receipt, Writer

# Characters of what is believed that a receipt quotes.
QUOTED_CHARACTERS = 80
# Who speaks, by origin.
SPEAKERS = {"user": "the user", "agent": "an agent", "tool": "a tool", "web": "a web page", "import": "an import"}


def says_otherwise(stronger: Memory, *, again: bool = False) -> str:
    """Why a statement waits, for the memory itself: without words of another one, which may be purged. `again`: it was
    corrected to that."""
    if again:
        return "is said again after it was corrected"
    return f"says otherwise than what {SPEAKERS[stronger.trust]} said"


def kept_for_review(writer: Writer, stronger: Memory) -> str:
    """Why something waits, and what to do; what this caller may not read is not quoted."""
    told = f"say origin {stronger.trust} if it comes from there"
    return f"kept for review: {SPEAKERS[stronger.trust]} said {quoted(writer, stronger)}; {told}"


def quoted(writer: Writer, memory: Memory) -> str:
    """The first words of a memory; "otherwise" of one that this caller may not read."""
    text = " ".join(memory.content.split())
    text = text if len(text) <= QUOTED_CHARACTERS else text[: QUOTED_CHARACTERS - 1] + "…"
    return f'"{text}"' if writer.scopes is None or memory.scope in writer.scopes else "otherwise"


def named_alike(
    writer: Writer, statement: ValidStatement, mark: int, stronger: Memory | None
) -> tuple[bytes, Receipt | None]:
    """The id of a statement that may arrive again, and what is said when it was decided before.

    Of what would replace `stronger`, and of a line of a file: one that became a memory which was purged, retracted or
    archived here, was merged into another or waits, stays that.
    """
    if stronger is not None:
        id = proposal_id(parse_id(stronger.id), mark)
        return id, proposed_before(writer, id, stronger, statement)
    from .turns import is_spoken, turn_of
    from .write import Receipt, raw_id

    turn = is_spoken(statement)
    name = line_name(statement, mark, turn=turn)
    if name not in writer.lines:
        writer.lines[name] = seen_before(writer, name)
    gone, count = writer.lines[name]
    place = 0
    if turn:  # the n-th that is said beyond those that are there is the n-th of those that are gone
        key = turn_of(statement, mark)
        place = writer.beyond[key]
        writer.beyond[key] += 1
    if place < len(gone):
        id = raw_id(gone[place])
        told = f"it was imported before, and is {gone[place].state}"
        return id, Receipt(id=format_id(id), status="unchanged", reason=told)
    writer.lines[name] = gone, count + 1
    return line_id(writer.make_id(), f"{name}\0{count}"), None


def line_name(statement: ValidStatement, mark: int, *, turn: bool) -> str:
    """What a line of a file is known by: its exact value and its time too, and of a turn its session."""
    session = statement.session if turn else ""
    return f"{mark}\0{session}\0{statement.valid_from}\0{value_form(statement.content)}"


def seen_before(writer: Writer, name: str) -> tuple[list[Memory | MemoryState], int]:
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


def proposed_before(writer: Writer, memory: bytes, stronger: Memory, statement: ValidStatement) -> Receipt | None:
    """The same statement over the same memory again: it waits already, or was decided. None: it is new."""
    from .write import Receipt

    there = writer.as_it_is(memory)
    if there is None:
        return None
    writer.waiting.add(memory)
    if there.state == "quarantined":
        from .restate import restate

        known = restate(writer, there, statement)
        told = f"{kept_for_review(writer, stronger)}; it waits already"
        return replace(known, reason=f"{told}; {known.reason}" if known.reason else told)
    if there.state == "retracted" and there.reason == "undone":
        made = writer.event("quarantined", memory, origin=statement.origin, why=says_otherwise(stronger))
        return Receipt(
            id=format_id(memory), status="proposed", event=format_id(made.id),
            reason=kept_for_review(writer, stronger), redacted=statement.redacted,
        )  # fmt: skip
    return Receipt(id=format_id(memory), status="unchanged", reason="it was proposed before, and decided in review")


def proposed(writer: Writer, memory: Memory, origin: str | None) -> Receipt | None:
    """The receipt of ending what is trusted more than `origin` (None: its owner): a person is asked, nothing ends."""
    if origin is None or not is_below(check_origin(origin), memory.trust):
        return None
    from .write import Receipt

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


def waiting_as_data(waits: str, stronger: Memory | None, corrects: Memory | None, why: str | None) -> dict[str, str]:
    """Why it is held back, and what it ends if a person accepts it."""
    told = {
        "quarantine": waits, "over": stronger and parse_id(stronger.id).hex(),
        "corrects": corrects and parse_id(corrects.id).hex(), "why": why,
    }  # fmt: skip
    return {name: value for name, value in told.items() if value}


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


def was_replaced(memory: Memory, at: int) -> bool:
    """Whether another memory holds in its place by then."""
    return memory.superseded_by is not None and memory.valid_to_us is not None and memory.valid_to_us <= at


def former_values(writer: Writer, statement: ValidStatement) -> frozenset[str]:
    """The values that its key had and of which another one holds now, as `value_form` writes them."""
    values = writer.values(statement)[0]
    now = held(values, writer.now)
    if now is None:
        return frozenset()
    replaced = frozenset(value_form(one.content) for one in values if was_replaced(one, writer.now))
    return replaced - {value_form(now.content)}


def held(values: Sequence[Memory], at: int) -> Memory | None:
    """The value of a key that holds at an instant."""
    return next(
        (one for one in values if one.valid_from_us <= at and (one.valid_to_us is None or at < one.valid_to_us)), None
    )


def fitted(values: Sequence[Memory], start: int, end: int | None) -> dict[str, Any]:
    """{"valid_to"} of a value that begins before one that is there: it ends where that one begins."""
    later = next((one.valid_from_us for one in values if one.valid_from_us > start), None)
    return {} if later is None or (end is not None and end <= later) else {"valid_to": later}
