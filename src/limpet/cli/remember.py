"""The command `remember`: one statement, or lines of them as they come."""

from __future__ import annotations

import json
import os
import sys

from .. import registry
from ..model.errors import BadInput
from ..settings import DEFAULT_EMBEDDER
from . import output, verbs
from .output import receipt
from .verbs import EVERY_DAY, STATEMENT, Verb, arg, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from typing import Any

    from ..every_day import EveryDay
    from ..remember.write import Receipt

# Longer than any line that could be stored: 1 MB of text written as \uXXXX, and its metadata.
MAX_LINE_BYTES = 8_000_000
# What one read takes at most; the whole lines of it are one transaction.
READ_BYTES = 262_144


def taint(memory: EveryDay, given: dict[str, Any], text: Any) -> str:
    """Set a statement's origin in `given` to that of what its agent has read from outside. Return why, or "".

    What a person types, or pipes, at a terminal is their own word.
    """
    if not isinstance(text, str) or verbs.is_at_terminal():
        return ""
    # Most often nothing was read: then nothing is imported.
    if not memory._context.store.database.rows("SELECT 1 FROM outside_read LIMIT 1"):
        return ""
    return registry.call("taint", memory._context, verbs.agent_session() or None, given, text) or ""


def refuse_tainted(memory: EveryDay, what: str) -> None:
    """Check that who decides for a person is no agent that has read from outside. Raises BadInput."""
    if reason := taint(memory, {"origin": "user"}, what):
        raise BadInput(f"{what} is for a person at a terminal", hint=reason.partition(": ")[2])


def tainted(memory: EveryDay, receipt: Receipt, why: str) -> Receipt:
    """Return a receipt with the reason for its origin, and ask a person about what it stored."""
    if why:
        registry.call("tainted", memory._context, receipt, why)
    return receipt.with_reason(why)


def _remember(args: Namespace) -> int:
    given = verbs.statement(args)
    if args.batch:
        if args.text is not None:
            raise BadInput("--batch reads stdin: give no TEXT with it")
        return _batch(args, given)
    text, given["origin"] = verbs.given_text(args.text), verbs.origin(args)
    with verbs.open_every_day(args, create=True) as memory:
        why = taint(memory, given, text)
        done = tainted(memory, memory.remember(text, **given), why)
        output.result(done) if args.json else receipt(done, memory, args)
        if done.status == "created" and not (args.json or text.isascii()) and memory.embedder == DEFAULT_EMBEDDER:
            from ..work import languages  # few texts are

            if languages.is_first(memory._context.store, text):
                output.words(f"words alone find this: limpet's models do not know its language; {languages.OFFER}")
                output.words(f"  hint: {languages.HOW}")
        verbs.leave_worker(memory)
    return 0


def _batch(args: Namespace, defaults: dict[str, Any]) -> int:
    """Store lines as they come, all waiting ones in a transaction; then print a receipt for each, in their order."""
    if sys.stdin is None:
        raise BadInput("stdin is closed")
    worst, number = 0, 0
    with open_store(args, create=True) as memory:
        for lines in _blocks(sys.stdin.fileno()):
            items: list[tuple[int, dict[str, Any] | str]] = []
            for raw in lines:
                number += 1
                if raw is None or raw.strip():
                    items.append((number, _parsed(number, raw)))
            good = [defaults | item for _, item in items if isinstance(item, dict)]
            reasons = [taint(memory, each, each.get("content")) for each in good]
            done = memory.remember_batch(good) if good else []
            receipts = (tainted(memory, each, why) for each, why in zip(done, reasons, strict=True))
            for place, item in items:
                if isinstance(item, dict):
                    shown = next(receipts).as_dict() | {"line": place}
                else:
                    shown = {"id": None, "status": "rejected", "event": None, "reason": item, "line": place}
                worst = 2 if shown["status"] == "rejected" else worst
                output.result(shown)
            sys.stdout.flush()
        output.embedded(memory, args)
    return worst


def _blocks(source: int) -> Iterator[list[bytes | None]]:
    """Yield the complete lines of each read, so that a writer gets its receipt at once; None for too long a line."""
    held, length = b"", 0
    while piece := os.read(source, READ_BYTES):
        first, *others = piece.split(b"\n")
        if not others:
            length += len(first)
            held = held + first if length <= MAX_LINE_BYTES else b""
            continue
        *lines, rest = others
        yield [held + first if length + len(first) <= MAX_LINE_BYTES else None, *lines]
        held, length = rest, len(rest)
    if length:
        yield [held if length <= MAX_LINE_BYTES else None]


def _parsed(number: int, raw: bytes | None) -> dict[str, Any] | str:
    """Parse a statement; return a message when the line is none."""
    if raw is None:
        return f"line is too long: {MAX_LINE_BYTES:,} bytes at most"
    try:
        value = json.loads(verbs.decode(raw, f"line {number}"))
    except BadInput as error:
        return error.message
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return value if isinstance(value, dict) else "not a JSON object"


VERBS = (
    Verb(
        name="remember", group=EVERY_DAY, about="store a statement, or a batch of them", run=_remember,
        arguments=(
            arg("[TEXT]", "the text, or - to read stdin", words=True),
            arg("--batch", "read JSONL from stdin, one statement a line; answer a receipt line for each as soon as it "
                "is durable. Options are defaults for every line"),
            *STATEMENT,
        ),
        example='limpet remember "begin IMMEDIATE ends the WAL deadlock" --kind lesson --topic sqlite --meta line=7\n'
        "jq -c '{content: .text}' notes.json | limpet remember --batch",
    ),
)  # fmt: skip
