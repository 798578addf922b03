"""Many statements at once, of a batch or of an import: a thousand in a transaction, each with a receipt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..model.dataclass import replace
from ..model.errors import BadInput, LimpetError, NotFound
from ..model.ids import format_id
from ..model.memory import caseless
from ..text.instructions import any_reads_like_instruction
from ..text.normalise import fingerprint
from .decide import state
from .write import Receipt, rejected

if TYPE_CHECKING:
    from ..context import Context
    from .validation import ValidStatement
    from .write import Turn, Writer

# Items that one transaction of a batch holds: few enough that other writers wait for milliseconds.
BATCH_ITEMS = 1_000


def remember_batch(
    context: Context,
    items: Iterable[Mapping[str, Any] | str],
    *,
    quiet: bool = False,
    spoken: Counter[Turn] | None = None,
) -> list[Receipt]:
    """A receipt for each item, in their order. `quiet`: they are lines of a file, of which what is known already and
    adds nothing is no observation, and what reads like an instruction waits for a person.
    `spoken`: how often what this is a part of had each turn before; it is counted on.
    """
    alone, spoken = spoken is None, Counter() if spoken is None else spoken
    receipts: list[Receipt] = []
    part: list[tuple[int, ValidStatement]] = []
    keys: set[tuple[str, str]] = set()
    named = False  # an item has an id of its own, on which a later one can build

    def flush(*, last: bool = False) -> None:
        statements = [one for _, one in part]
        if quiet:
            known = _are_known(context, statements)
            statements = [_of_file(one, old) for one, old in zip(statements, known, strict=True)]
        for (place, _), receipt in zip(
            part, _write_batch(context, statements, quiet, spoken, alone and last and not spoken), strict=True
        ):
            receipts[place] = receipt
        part.clear()
        keys.clear()

    for given in items:
        place = len(receipts)
        item = {"content": given} if isinstance(given, str) else given
        try:
            if not isinstance(item, Mapping):
                raise BadInput(f"an item must be a text or an object, not {type(item).__name__}")
            statement = context.validate(item)
        except LimpetError as error:
            receipts.append(rejected(error, item.get("id") if isinstance(item, Mapping) else None))
            continue
        # What builds on an earlier item of the batch must see it in the store.
        slot = (statement.scope, caseless(statement.key or ""))
        if len(part) >= BATCH_ITEMS or (statement.because and named) or (statement.key and slot in keys):
            flush()
        named = named or bool(statement.id)
        keys.add(slot)
        receipts.append(Receipt(id=None, status="rejected"))  # type: ignore[arg-type]
        part.append((place, statement))
    flush(last=True)
    return receipts


def _write_batch(
    context: Context, statements: list[ValidStatement], quiet: bool, spoken: Counter[Turn], alone: bool
) -> list[Receipt]:
    marks: list[int] = []

    def each(writer: Writer) -> list[Receipt]:
        writer.quiet, writer.spoken, writer.alone = quiet, spoken, alone
        receipts = []
        marks[:] = writer.expect(statements)
        for statement, mark in zip(statements, marks, strict=True):
            try:
                receipts.append(state(writer, statement, mark=mark))
            except (BadInput, NotFound) as error:
                receipts.append(rejected(error, format_id(statement.id) if statement.id else None))
        return receipts

    if not statements:
        return []
    receipts = context.write(each)
    if any(one.speaker and one.session for one in statements):
        from .write import turns_of

        spoken.update(turns_of(statements, marks))
    return receipts


def _of_file(one: ValidStatement, known: bool) -> ValidStatement:
    """A statement whose origin is only what a file says; of one that is `known` what stands beside its words is new."""
    beside = one.topics, one.speaker, one.source, one.session, one.metadata
    reads = any_reads_like_instruction(*(() if known else (one.content, one.key)), *beside)
    return replace(one, quarantine=reads) if reads else one


def _are_known(context: Context, statements: Sequence[ValidStatement]) -> list[bool]:
    """Of each statement whether an active memory says the same."""
    marks = [fingerprint(one.scope, one.kind, one.speaker, one.key, one.content) for one in statements]
    known = context.store.memories.with_fingerprints(marks)
    return [mark in known for mark in marks]
