"""Commands that change what is believed: remember, edit, tag, correct, retract, undo and their kin."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from functools import partial

from ..model.errors import BadInput, counted
from ..model.memory import KINDS
from . import output
from . import receipt as each_receipt
from .options import (
    TIME_FORMS,
    Command,
    decode,
    given_text,
    id_argument,
    no_options,
    open_store,
    pair,
    statement,
    statement_options,
    text_argument,
    vectors_option,
)
from .receipt import just_read, quoted, receipt, with_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from queue import Queue
    from typing import Any

    from ..api import Limpet
    from ..remember.write import Receipt

# Lines of a batch that are stored in one transaction.
BATCH_LINES = 1_000
# Longer than any line that could be stored: 1 MB of text written as \uXXXX, and its metadata.
MAX_LINE_BYTES = 8_000_000
READ_BYTES = 65_536


# -- remember


def _remember_options(parser: ArgumentParser) -> None:
    text_argument(parser, optional=True)
    parser.add_argument(
        "--batch", action="store_true",
        help="read JSONL from stdin, one statement a line; answer a receipt line for each as soon as it is durable. "
        "Options are defaults for every line",
    )  # fmt: skip
    statement_options(parser)
    vectors_option(parser)
    parser.add_argument("--id", metavar="UUID", help="the id it shall have (default: a new UUIDv7)")


def _remember(args: Namespace) -> int:
    if args.batch:
        if args.text is not None or args.id is not None:
            raise BadInput("--batch reads stdin: give neither TEXT nor --id with it")
        return _batch(args, statement(args))
    if args.no_vectors:
        raise BadInput("--no-vectors belongs to --batch: one statement waits for no vector anyway")
    text = given_text(args.text)
    with open_store(args, create=True) as memory:
        given = statement(args)
        told = just_read(memory, given, text)
        done = with_reason(memory.remember(text, id=args.id, **given), told)
        return receipt(done, memory, as_json=args.json, named=args.scope is not None)


def _batch(args: Namespace, defaults: dict[str, Any]) -> int:
    """Store lines as they come: whatever is waiting, up to BATCH_LINES, makes one transaction; then its receipts."""
    from queue import Queue
    from threading import Thread

    waiting: Queue[_Line | BaseException | None] = Queue(maxsize=2 * BATCH_LINES)
    code = 0
    with open_store(args, create=True) as memory:
        # A daemon: when this thread stops early, the reader may wait for stdin for ever.
        Thread(target=_read_lines, args=(waiting,), daemon=True).start()
        for lines in _taken(waiting):
            code = max(code, _store(memory, lines, defaults))
            sys.stdout.flush()
        output.embedded(memory, args)
    return code


# (line number, statement or what is wrong with the line)
_Line = tuple[int, "dict[str, Any] | str"]


def _taken(waiting: Queue[_Line | BaseException | None]) -> Iterator[list[_Line]]:
    """What is waiting now, at least one line; waits only when nothing is. Raises what the reader met."""
    while True:
        found: list[_Line] = []
        one = waiting.get()
        while isinstance(one, tuple):
            found.append(one)
            if len(found) >= BATCH_LINES or waiting.empty():
                break
            one = waiting.get()
        if found:
            yield found
        if isinstance(one, BaseException):
            raise one
        if one is None:
            return


def _store(memory: Limpet, lines: list[_Line], defaults: dict[str, Any]) -> int:
    """One transaction and its receipts, in the order of the lines. Returns 2 when one was rejected."""
    good = [defaults | line for _, line in lines if isinstance(line, dict)]
    told = [just_read(memory, one, one.get("content")) for one in good]
    receipts: Iterator[Receipt] = map(with_reason, memory.remember_batch(good) if good else (), told)
    code = 0
    for number, line in lines:
        if isinstance(line, dict):
            shown = next(receipts).as_dict() | {"line": number}
        else:
            shown = {"id": None, "status": "rejected", "event": None, "reason": line, "line": number}
        if shown["status"] == "rejected":
            code = 2
        output.object_line(shown)
    return code


def _read_lines(waiting: Queue[_Line | BaseException | None]) -> None:
    """Fill the queue from stdin; None closes it, an exception too. Blank lines are passed over."""
    try:
        for number, raw in enumerate(_raw_lines(), 1):
            line = _parsed(number, raw)
            if line is not None:
                waiting.put((number, line))
        waiting.put(None)
    except BaseException as error:
        waiting.put(error)


def _raw_lines() -> Iterator[bytes | None]:
    """Lines of stdin, as soon as they are whole; None for one that is too long. Reads the descriptor itself:
    a buffered reader would hold its lock while the interpreter ends."""
    if sys.stdin is None:
        raise BadInput("stdin is closed")
    source = sys.stdin.fileno()
    held: list[bytes] = []
    length = 0
    while piece := os.read(source, READ_BYTES):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            held.append(end)
            length += len(end)
            yield None if length > MAX_LINE_BYTES else b"".join(held)
            held, length = [], 0
        held.append(rest)
        length += len(rest)
        if length > MAX_LINE_BYTES:
            held = []  # too long in any case: only its length is still of interest
    if length:
        yield None if length > MAX_LINE_BYTES else b"".join(held)


def _parsed(number: int, raw: bytes | None) -> dict[str, Any] | str | None:
    """A statement; words when the line is none; None when it is blank."""
    if raw is None:
        return f"line is too long: {MAX_LINE_BYTES:,} bytes at most"
    if not raw.strip():
        return None
    try:
        value = json.loads(decode(raw, f"line {number}"))
    except BadInput as error:
        return error.message
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return value if isinstance(value, dict) else "not a JSON object"


# -- better words for the same belief


def _edit_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    text_argument(parser)


def _edit(args: Namespace) -> int:
    text = given_text(args.text)
    with open_store(args) as memory:
        before = memory.get(args.id).content
        return receipt(memory.edit(args.id, text), memory, as_json=args.json, gone=f"before: {before}")


def _tag_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    parser.add_argument(
        "changes", metavar="CHANGE", nargs="+",
        help="+topic adds, -topic removes, k=v sets metadata (typed as bool, int, float or text), k= removes it",
    )  # fmt: skip


def _tag(args: Namespace) -> int:
    add: list[str] = []
    remove: list[str] = []
    values: dict[str, Any] = {}
    for word in args.changes:
        if word[:1] in "+-" and len(word) > 1:
            (add if word[0] == "+" else remove).append(word[1:])
        elif "=" in word:
            name, value = pair(word)
            values[name] = None if value == "" else value
        else:
            raise BadInput(f"not a change: {word[:60]!r}", hint="+topic, -topic or k=v")
    with open_store(args) as memory:
        before, done = memory.get(args.id), memory.tag(args.id, add, remove, values)
        return receipt(done, memory, as_json=args.json, gone=each_receipt.untagged(before, memory))


def _tag_order(words: list[str]) -> list[str]:
    """Options first, then `--` and the rest, so that -topic is not read as an option. Only -h stays one."""
    options: list[str] = []
    rest: list[str] = []
    left = iter(words)
    for word in left:
        if word == "--":
            rest += left
        elif word in ("--store", "--scope"):
            options += [word, *[value for value in [next(left, None)] if value is not None]]
        elif word.startswith("--") or word == "-h":
            options.append(word)
        else:
            rest.append(word)
    return [*options, "--", *rest] if rest else options


# -- the belief changes


def _correct_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    text_argument(parser)
    parser.add_argument("--why", metavar="TEXT", help="what made the old belief wrong")
    statement_options(parser)


def _correct(args: Namespace) -> int:
    text = given_text(args.text)
    with open_store(args) as memory:
        given = statement(args)
        told = just_read(memory, given, text)
        done = memory.correct(args.id, text, why=args.why, **given)
        return receipt(with_reason(done, told), memory, as_json=args.json)


def _retract_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    parser.add_argument("--why", metavar="TEXT", help="why it is no longer believed; stays with it; needed")


def _retract(args: Namespace) -> int:
    if args.why is None:
        raise BadInput("--why is needed", hint=f"`limpet forget {args.id}` needs no reason")
    with open_store(args) as memory:
        return receipt(memory.retract(args.id, args.why), memory, as_json=args.json)


def _forget_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "ids",
        metavar="ID",
        nargs="*",
        help="which memories; with options those of them that these choose; without any, all that the options choose",
    )
    add("--topic", action="append", metavar="TOPIC", help="those with this topic; repeated: with all of them")
    add("--kind", action="append", choices=KINDS, metavar="KIND", help="those of this kind")
    add("--session", metavar="NAME", help="those of this session")
    add("--before", metavar="TIME", help=f"those stored before then: {TIME_FORMS}")
    add("--meta", action="append", metavar="K=V", help="those with this value in their metadata")
    add("--match", metavar="WORDS", help="those whose text, or key, has all of these words, whole")
    add("--why", metavar="TEXT", default="forgotten", help="why; stays with them (default: forgotten)")
    add(
        "--confirm",
        action="store_true",
        help="do it; without this what options choose is only shown, what ids name is done",
    )
    add("--dry-run", action="store_true", help="only show which, whatever chooses them")


def _forget(args: Namespace) -> int:
    given: dict[str, Any] = {
        "topics": args.topic or (), "kind": args.kind or (), "session": args.session, "before": args.before,
        "metadata": dict(pair(word) for word in args.meta or ()), "match": args.match,
    }  # fmt: skip
    chosen = any(given.values())
    only_shown = args.dry_run or (chosen and not args.confirm)
    with open_store(args) as memory:
        found = memory.forget(args.ids or None, **given, why=args.why, dry_run=only_shown)
        if args.json:
            output.object_line(found.as_dict())
            return 1 if chosen and not found.memories else 0
        if not found.memories and chosen:
            which = "none of these" if args.ids else f"no memory of {memory.scope}"
            output.words(f"nothing to forget: {which} has all that is asked for")
            return 1
        if not found.memories:
            known = zip(args.ids, map(memory.get, args.ids), strict=True)
            output.words("nothing to forget: " + ", ".join(f"{name} is {one.state} already" for name, one in known))
            return 0
        output.listed(found.memories, memory)
    count = counted(len(found.memories) - len(found.waiting), "memory")
    if only_shown:
        output.words(f"would forget {count}; --confirm does it")
        return 0
    output.line(f"forgot {count}")
    if found.waiting:
        output.words(f"{len(found.waiting):,} more were said by someone who is trusted more: `limpet review`")
    output.words("still in the store: `limpet undo` takes this back, only `limpet purge` erases")
    return 0


def _change(verb: str, args: Namespace) -> int:
    """pin, unpin, archive, restore, reach and promote: one id, one receipt."""
    with open_store(args) as memory:
        verbs: dict[str, Callable[[str], Receipt]] = {
            "pin": memory.pin, "unpin": memory.unpin, "archive": memory.archive,
            "promote": memory.promote, "reach": memory.reach,
        }  # fmt: skip
        return receipt(verbs[verb](args.id), memory, as_json=args.json)


def _undo_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "event", metavar="OP", nargs="?",
        help="an operation of `limpet log`, or the event of a receipt (default: the last that holds; sessions "
        "that began or ended are passed over)",
    )  # fmt: skip


def _undo(args: Namespace) -> int:
    with open_store(args) as memory:
        receipts = memory.undo(args.event)
        if args.json:
            output.object_line({"undone": [one.as_dict() for one in receipts]})
            return 0
        each_receipt.taken_back(receipts, memory, "undone")
    return 0


def _redo(args: Namespace) -> int:
    with open_store(args) as memory:
        receipts = memory.redo()
        if args.json:
            output.object_line({"redone": [one.as_dict() for one in receipts]})
        else:
            each_receipt.taken_back(receipts, memory, "redone")
    return 0


def _log_options(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=20, metavar="COUNT", help="operations at most (default: 20)")
    parser.add_argument("--sessions", action="store_true", help="also sessions that began and ended")


def _log(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.log(limit=args.limit, sessions=args.sessions)
    if args.json:
        output.object_line({"operations": [one.as_dict() for one in found]})
    elif found:
        each_receipt.log(found)
    else:
        output.words("nothing was done here yet")
    return 0


def _feedback_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    parser.add_argument(
        "verdict", metavar="VERDICT", choices=("useful", "not_useful", "wrong"), help="useful, not_useful or wrong"
    )


def _feedback(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.feedback(args.id, args.verdict)
        [name] = memory.abbreviate([found.id])
    if args.json:
        output.object_line(found.as_dict())
    else:
        told = quoted(output.in_a_line(found), len(name) + len(args.verdict) + 9)
        output.line(f"noted {name}: {args.verdict}  {told}")
        other = "not_useful" if args.verdict == "useful" else "useful"
        output.words(f"`limpet undo` does not take this back; `limpet feedback {name} {other}` weighs against it")
    return 0


def _of_id(verb: str, example: str) -> Command:
    return Command(id_argument, partial(_change, verb), example)


COMMANDS = {
    "remember": Command(
        _remember_options,
        _remember,
        'limpet remember "begin IMMEDIATE ends the WAL deadlock" --kind lesson --topic sqlite --meta line=7\n'
        "jq -c '{content: .text}' notes.json | limpet remember --batch",
    ),
    "edit": Command(_edit_options, _edit, 'limpet edit 7rk2qm "The staging API allows 100 requests a minute"'),
    "tag": Command(_tag_options, _tag, "limpet tag 7rk2qm +sqlite -draft priority=2 reviewed=true", _tag_order),
    "pin": _of_id("pin", "limpet pin 7rk2qm"),
    "unpin": _of_id("unpin", "limpet unpin 7rk2qm"),
    "correct": Command(
        _correct_options, _correct, 'limpet correct 7rk2qm "The limit is 1000 a minute" --why "gateway upgraded"'
    ),
    "retract": Command(_retract_options, _retract, 'limpet retract 7rk2qm --why "it was a rumour"'),
    "forget": Command(
        _forget_options,
        _forget,
        'limpet forget 7rk2qm\nlimpet forget --topic draft --before "90 days ago"\n'
        'limpet forget --match "old gateway" --confirm',
    ),
    "archive": _of_id("archive", "limpet archive 7rk2qm"),
    "reach": _of_id("reach", "limpet reach 7rk2qm"),
    "promote": _of_id("promote", "limpet promote 7rk2qm"),
    "undo": Command(_undo_options, _undo, "limpet undo\nlimpet undo 7rk2qm"),
    "redo": Command(no_options, _redo, "limpet redo"),
    "log": Command(_log_options, _log, "limpet log --limit 5"),
    "feedback": Command(_feedback_options, _feedback, "limpet feedback 7rk2qm useful"),
}
