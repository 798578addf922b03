"""The outcome of a statement: one decision, made inside the write transaction from what is there.

A statement that is trusted less than what it would end waits in quarantine until a person decides. Its `remembered`
event names what it would end (`over`, the one that is trusted more, and `corrects`), so that it waits again after a
rebuild, on another device and in another store.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model.clock import format_time
from ..model.dataclass import replace
from ..model.errors import BadInput
from ..model.ids import format_id, parse_id, proposal_id
from ..model.memory import Memory, check_origin, is_below
from ..text.normalise import same_value
from .write import (
    Receipt,
    Writer,
    changed,
    check_live,
    effective_trust,
    fitted,
    held,
    is_spoken,
    mark_of,
    raw_id,
    values_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.state import MemoryState
    from .validation import ValidStatement

# Characters of what is believed that a receipt quotes.
QUOTED_CHARACTERS = 80
# What a receipt says of a statement that is kept as an episode.
DEMOTED = "{rule}: kept as an episode; `limpet edit ID --kind {kind}` makes it a belief"
# Corrections of corrections that are followed.
MOST_CORRECTIONS = 100
# Who speaks, by origin.
SPEAKERS = {
    "user": "the user", "agent": "an agent", "team": "the team", "tool": "a tool", "web": "a web page",
    "import": "an import",
}  # fmt: skip


def decision(*, known: bool, corrected: bool, user: bool, reads: bool, below: bool) -> str:
    """Return the outcome of a statement.

    `known`: a memory says the same already, of the same time; `corrected`: and something else holds in its place now.
    `user`: the user says so. `reads`: it came from outside and reads like an instruction. `below`: it would end
    something that is trusted more.
    """
    match known, corrected, user, reads, below:
        case True, False, _, _, _:
            return "observe"  # observed, and what it adds: tagged, linked, pinned, keyed, bounded
        case True, True, False, _, _:
            return "observe"  # the same, and the receipt says what holds
        case _, _, _, True, _:
            return "quarantine"  # remembered, in quarantine
        case True, True, True, _, _:
            return "propose"  # remembered, in quarantine: a person says whether it holds again
        case _, _, _, _, True:
            return "propose"  # remembered, in quarantine: a person says which one holds
    return "create"  # remembered; superseded, of what it ends


def state(
    writer: Writer, statement: ValidStatement, *, fresh: bool = False, mark: int | None = None,
    unused: bytes | None = None, again: ValidStatement | None = None, corrects: Memory | None = None,
    why: str | None = None,
) -> Receipt:  # fmt: skip
    """Take in a statement. `fresh`: it is new in any case. `mark`: its fingerprint, if it is known.

    `unused`: an id that no event has, for the statement or its observation. `again`: the part of it that counts if it
    is known already. `corrects`, `why`: what it is to replace. Raises NotFound for a `because` that is not there.
    """
    values, in_use = values_of(writer.reads, statement.scope, statement.key) if statement.key else ([], None)
    if in_use is not None:
        statement, mark = replace(statement, key=in_use), None
    mark = mark_of(statement) if mark is None else mark
    if statement.id is not None and unused is None and (taken := writer.taken(statement)) is not None:
        return taken
    known, current = (None, None) if fresh else _known(writer, statement, mark, values)
    causes = writer.causes(statement) if statement.because else []
    trust = effective_trust(statement, causes) if causes or statement.trust else statement.origin
    start = statement.valid_from if statement.valid_from is not None else writer.now
    ends = _ended(values, start, stated=statement.valid_from is not None)
    over = next((old for old in (*ends, corrects) if old is not None and is_below(trust, old.trust)), None)
    decided = decision(
        known=known is not None, corrected=current is not None, user=statement.origin == "user",
        reads=statement.quarantine is not None, below=over is not None,
    )  # fmt: skip
    if known is not None and decided == "observe":
        from .restate import restate

        if statement.quarantine:  # the instruction may be in what stands beside the words
            again = replace(statement, topics=(), metadata={}, source=None, session=None, pin=False)
        writer.stated[statement.scope, mark] = raw_id(known)
        return restate(writer, known, again or statement, unused=unused).with_reason(_corrected_to(writer, current))

    if statement.demoted and statement.kind != "episode":
        return _as_episode(writer, statement, unused=unused)
    over, corrects, memory = current or over, corrects or current, unused or statement.id
    if memory is None and (over is not None or writer.quiet):
        memory, before = _seen_before(writer, statement, mark, over)
        if before is not None:
            return before
    new = memory or writer.make_id()
    data: dict[str, Any] = {"scope": statement.scope, "kind": statement.kind}
    status, reason = "created", None
    if decided != "create":
        writer.waiting.add(new)
        data["quarantine"] = statement.quarantine or _says_otherwise(None if current else over)
        data |= {name: parse_id(other.id).hex() for name, other in (("over", over), ("corrects", corrects)) if other}
        data |= {"why": why} if why else {}
        status, reason = "quarantined", f"it {statement.quarantine}; `limpet review` shows what waits"
        if decided == "propose" and over is not None:
            status, reason = "proposed", kept_for_review(writer, over, current)
    elif statement.key:
        data |= fitted([value for value in values if value not in ends], start, statement.valid_to)
        reason = _cut_off(statement, data.get("valid_to"), in_use) or _clock_behind(ends, start)
    made = writer.create(statement, new, mark, unused=unused, causes=causes, trust=trust, data=data)
    for old in ends if decided == "create" else ():
        noted = {"why": why} if why and corrects is not None and corrects.id == old.id else {}
        writer.supersede(old, new, statement.origin, start, **noted)
    return changed(made, status=status, reason=reason, redacted=statement.redacted)


def _as_episode(writer: Writer, statement: ValidStatement, *, unused: bytes | None) -> Receipt:
    """Take in as an episode what a rule speaks against as a belief."""
    assert statement.demoted is not None
    receipt = state(writer, replace(statement, kind="episode"), unused=unused)
    return replace(receipt.with_reason(DEMOTED.format(**statement.demoted)), kind="episode")


def _ended(values: Sequence[Memory], start: int, *, stated: bool) -> list[Memory]:
    """Return the values that a new one ends: what holds then and, unless its time is stated, those that began when they
    were recorded, if that is later: the clock is behind, or was ahead."""
    ended = held(values, start)
    later = () if stated else (value for value in values if start < value.valid_from_us <= value.created_at_us)
    return [*([] if ended is None else [ended]), *later]


def _clock_behind(ends: Sequence[Memory], start: int) -> str | None:
    if all(old.valid_from_us <= start for old in ends):
        return None
    return f"the clock says {format_time(start)}, which is before the value that it replaces: is it right?"


def _cut_off(statement: ValidStatement, end: int | None, in_use: str | None) -> str | None:
    """Return the note that another value of the key ends a new one, or that its key is in use in another case."""
    if end is None or end == statement.valid_to:
        return f"its key is {in_use}" if in_use else None
    kept = "not kept: valid_to; " if statement.valid_to is not None else ""
    return f"{kept}it holds until {format_time(end)}: another value of the key begins then"


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
        from ..secrets import redact

        why, secrets = redact(why)
        statement = replace(statement, redacted=tuple(dict.fromkeys((*statement.redacted, *secrets))))
    receipt = state(writer, statement, fresh=True, corrects=None if derived else old, why=why)
    new = parse_id(receipt.id)
    if new not in writer.waiting:
        start = statement.valid_from if statement.valid_from is not None else writer.now
        for memory in writer.with_wordings(old, statement.origin):
            writer.replace(memory, new, statement.origin, start, why)
    return receipt


# -- what is known already, was corrected, or waits


def _known(
    writer: Writer, statement: ValidStatement, mark: int, values: Sequence[Memory]
) -> tuple[Memory | MemoryState | None, Memory | None]:
    """Return the memory that says this already, of the same time, and what holds in its place if it was replaced.

    A replaced memory does not count if nothing that may be told here holds in its place, or if the statement has an id
    or a time.
    """
    known: Memory | MemoryState | None
    stated = writer.stated.get((statement.scope, mark))
    spoken = is_spoken(statement)
    if spoken:
        if writer.batch is None:
            from .batch import Batch

            writer.batch = Batch(writer)
        known = writer.batch.same_turn(statement, mark)
    elif stated is not None:
        known = writer.as_it_is(stated)
    elif statement.key:
        known = held(values, writer.now if statement.valid_from is None else statement.valid_from)
        if known is None and not values:
            known = _without_key(writer, statement)
        elif known is not None and not (mark_of(known) == mark and same_value(known.content, statement.content)):
            known = None
    else:
        new = mark in writer.new
        known = None if new else writer.reads.memories.same_statement(statement.scope, mark, writer.now, replaced=True)
    if known is None or (not (spoken and statement.valid_from) and _apart(known, statement, writer.now)):
        return None, None
    # A value that is stated for a time stays true for it, whatever came after.
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
    readable = writer.scopes is None or current.scope in writer.scopes
    return (known, current) if readable and not ended else (None, None)


def _without_key(writer: Writer, statement: ValidStatement) -> Memory | None:
    """Return a memory that says the same and has no key yet, if this statement may give it one: its first value."""
    mark = mark_of(replace(statement, key=None))
    if mark in writer.new or statement.valid_from is not None or statement.valid_to is not None:
        return None
    same = writer.reads.memories.same_statement(statement.scope, mark, writer.now)
    if same is None or mark_of(same) != mark:  # it was merged: the memory that speaks for it says it in other words
        return None
    return None if is_below(effective_trust(statement, writer.causes(statement)), same.trust) else same


def _apart(there: Memory | MemoryState, statement: ValidStatement, now: int) -> bool:
    """Return whether the statement is another one: about a time when the memory does not hold, or one that is over."""
    start, end = statement.valid_from, statement.valid_to
    if start is not None and there.valid_to_us is not None and start >= there.valid_to_us:
        return True
    return end is not None and (end <= there.valid_from_us or (end <= now and not statement.key))


def was_replaced(memory: Memory, at: int) -> bool:
    """Return whether another memory had taken its place by then."""
    return memory.superseded_by is not None and memory.valid_to_us is not None and memory.valid_to_us <= at


def _corrected_to(writer: Writer, current: Memory | None) -> str:
    """Return what holds instead, and the command to change that; "" when nothing does."""
    if current is None:
        return ""
    return (
        f"corrected since: {current.id} says {_quoted(writer, current)}; if the older holds again,"
        f" `limpet correct {current.id}` says so"
    )


def _says_otherwise(over: Memory | None) -> str:
    """Return why a statement waits, without words of another memory, which may be purged."""
    return "is said again after it was corrected" if over is None else (
        f"says otherwise than what {SPEAKERS[over.trust]} said"
    )  # fmt: skip


def kept_for_review(writer: Writer, over: Memory, current: Memory | None = None) -> str:
    """Return why it waits for review, and what to do; a memory that this caller may not read is not quoted."""
    if current is not None:
        return f"kept for review: {_corrected_to(writer, current)}"
    say = f"say origin {over.trust} if it comes from there"
    return f"kept for review: {SPEAKERS[over.trust]} said {_quoted(writer, over)}; {say}"


def _quoted(writer: Writer, memory: Memory) -> str:
    """Return the first words of a memory; "otherwise" of one that this caller may not read."""
    text = " ".join(memory.content.split())
    text = text if len(text) <= QUOTED_CHARACTERS else text[: QUOTED_CHARACTERS - 1] + "…"
    return f'"{text}"' if writer.scopes is None or memory.scope in writer.scopes else "otherwise"


def _seen_before(
    writer: Writer, statement: ValidStatement, mark: int, over: Memory | None
) -> tuple[bytes, Receipt | None]:
    """Return the id of what may arrive again, and the receipt when it waits already or was decided: a replacement of
    `over`, or a line of a file."""
    if over is None:
        from .batch import Batch

        writer.batch = writer.batch or Batch(writer)
        return writer.batch.line(statement, mark)
    memory = proposal_id(parse_id(over.id), mark)
    there = writer.as_it_is(memory)
    if there is None:
        return memory, None
    writer.waiting.add(memory)
    id, why = format_id(memory), kept_for_review(writer, over)
    if there.state == "quarantined":
        from .restate import restate

        return memory, restate(writer, there, statement).with_reason(f"{why}; it waits already")
    if there.state == "retracted" and there.reason == "undone":
        made = writer.event("quarantined", memory, origin=statement.origin, why=_says_otherwise(over))
        return memory, Receipt(
            id=id, status="proposed", event=format_id(made.id), reason=why, redacted=statement.redacted
        )
    return memory, Receipt(id=id, status="unchanged", reason="it was proposed before, and decided in review")


# -- what ends something, and what a person decides


def proposed(writer: Writer, memory: Memory, origin: str | None) -> Receipt | None:
    """Return the receipt for ending what is trusted more than `origin` (None: its owner): a person is asked first."""
    if origin is None or not is_below(check_origin(origin), memory.trust):
        return None
    why = f"{kept_for_review(writer, memory)}; noted as said to be wrong"
    return Receipt(id=memory.id, status="proposed", reason=why)


def take_key(writer: Writer, new: Memory, *, origin: str) -> None:
    """Make a memory that is believed again a value of its key, between the one before it and the one after it."""
    if new.key is None:
        return
    raw = parse_id(new.id)
    values = [value for value in writer.reads.memories.keyed(new.scope, new.key) if value.id != new.id]
    end = fitted(values, new.valid_from_us, new.valid_to_us)
    if end:
        writer.event("bounded", raw, origin=origin, **end)
    ended = held(values, new.valid_from_us)
    if ended is not None:
        writer.supersede(ended, raw, origin, new.valid_from_us)
