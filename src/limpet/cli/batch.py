"""`remember --batch`: statements as JSON lines on stdin, a receipt line for each as soon as it is durable."""

from __future__ import annotations

import json
import os
import sys

from ..model.errors import BadInput
from . import output
from .receipt import just_read
from .verbs import decode, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from typing import Any

    from ..api import Limpet

# Longer than any line that could be stored: 1 MB of text written as \uXXXX, and its metadata.
MAX_LINE_BYTES = 8_000_000
# What one read takes at most; the whole lines of it are one transaction.
READ_BYTES = 262_144


def store_lines(args: Namespace, defaults: dict[str, Any]) -> int:
    """Store lines as they come: whatever is waiting makes one transaction; then its receipts."""
    if sys.stdin is None:
        raise BadInput("stdin is closed")
    code, number = 0, 0
    with open_store(args, create=True) as memory:
        for lines in _blocks(sys.stdin.fileno()):
            items: list[tuple[int, dict[str, Any] | str]] = []
            for raw in lines:
                number += 1
                if raw is None or raw.strip():
                    items.append((number, _parsed(number, raw)))
            code = max(code, _store(memory, items, defaults))
            sys.stdout.flush()
        output.embedded(memory, args)
    return code


def _blocks(source: int) -> Iterator[list[bytes | None]]:
    """The whole lines of each read; None for one that is too long. A writer that waits for its receipt gets it."""
    held, length = b"", 0
    while piece := os.read(source, READ_BYTES):
        first, *others = piece.split(b"\n")
        if not others:
            length += len(first)
            held = held + first if length <= MAX_LINE_BYTES else b""
            continue
        *whole, rest = others
        yield [held + first if length + len(first) <= MAX_LINE_BYTES else None, *whole]
        held, length = rest, len(rest)
    if length:
        yield [held if length <= MAX_LINE_BYTES else None]


def _store(memory: Limpet, lines: list[tuple[int, dict[str, Any] | str]], defaults: dict[str, Any]) -> int:
    """One transaction and its receipts, in the order of the lines. Returns 2 when one was rejected."""
    good = [defaults | line for _, line in lines if isinstance(line, dict)]
    reasons = [just_read(memory, one, one.get("content")) for one in good]
    done = memory.remember_batch(good) if good else []
    receipts = (one.with_reason(why) for one, why in zip(done, reasons, strict=True))
    code = 0
    for number, line in lines:
        if isinstance(line, dict):
            shown = next(receipts).as_dict() | {"line": number}
        else:
            shown = {"id": None, "status": "rejected", "event": None, "reason": line, "line": number}
        if shown["status"] == "rejected":
            code = 2
        output.result(shown)
    return code


def _parsed(number: int, raw: bytes | None) -> dict[str, Any] | str:
    """A statement; words when the line is none."""
    if raw is None:
        return f"line is too long: {MAX_LINE_BYTES:,} bytes at most"
    try:
        value = json.loads(decode(raw, f"line {number}"))
    except BadInput as error:
        return error.message
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return value if isinstance(value, dict) else "not a JSON object"
