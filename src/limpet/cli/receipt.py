"""What a write did, in words: to which text, what else changed, and how to take it back."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence

from ..folders import beside
from ..model.dataclass import replace
from ..model.errors import NotFound, counted
from ..model.ids import parse_id, short_id
from ..model.memory import GLOBAL_SCOPE, valued
from ..settings import DEFAULT_EMBEDDER
from .options import terminal_width
from .output import (
    CYAN,
    GREEN,
    MARGIN,
    YELLOW,
    cut,
    entry,
    line,
    moment,
    object_line,
    paint,
    printable,
    short_ids,
    words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..api import Limpet
    from ..model.memory import Memory
    from ..remember.operations import Effect, Operation
    from ..remember.write import Receipt

# Characters of a text that a receipt quotes where no terminal says how wide it is; other changes that it tells.
QUOTED, CHANGES = 80, 5
# What the first line says already, or the reason under it.
_IN_THE_HEAD = ("remembered", "observed", "edited", "reviewed")
# Texts before a new one that are looked at.
BEFORE = 20
# A time that a receipt tells, as programs read it. (A text that it quotes stays as it is.)
_TIME = re.compile(r"(?:(?<=until |since )|(?<=from ))(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z")
# What an effect is called where its own name would not say it.
_CALLED = {"remembered": "stored", "bounded": "its time was set", "keyed": "its key was set"}


def receipt(done: Receipt, memory: Limpet, *, as_json: bool, gone: str = "", named: bool = False) -> int:
    """What a write did; `gone`: what is no more, where the event has only what is there now; `named`: the scope was
    typed. Returns the exit code: 2 when it was rejected."""
    if as_json:
        object_line(done.as_dict())
    elif done.status == "rejected":
        words(f"limpet: rejected: {short_ids(done.reason or '')}")
    else:
        new = memory.get(done.id) if done.status == "created" and done.id else None
        _done(done, memory, new, gone)
        if new is not None:
            if named:
                _first(new, memory)
            _language(new, memory)
    if done.redacted and not as_json:
        words(f"redacted before storing: {', '.join(done.redacted)}")
    return 2 if done.status == "rejected" else 0


def _language(new: Memory, memory: Limpet) -> None:
    """A word on the first text in another language than the embedder reads: once, until most are in English again."""
    from ..text.language import is_english

    if memory.embedder != DEFAULT_EMBEDDER or is_english(new.content) is not False:
        return
    if not any(is_english(one.content) is False for one in memory.list(limit=BEFORE) if one.id != new.id):
        other_language("this is", memory.embedder)


def imported_language(count: int, memory: Limpet) -> None:
    """The same of an import that brought so many, where most of them are in another language and what was there is
    not. To read all of it takes a second for 100,000."""
    from ..text.language import is_english

    if memory.embedder != DEFAULT_EMBEDDER:
        return
    newest = [is_english(one.content) for one in memory.list(limit=BEFORE)]
    came, before = newest[:count], newest[count:]
    if 2 * came.count(False) > len(came) and False not in before:
        other_language("most of what came is", memory.embedder)


def asked_language(query: str, embedder: str) -> None:
    """The same of a question that nothing answers."""
    from ..text.language import is_english

    if embedder == DEFAULT_EMBEDDER and is_english(query) is False:
        other_language("the question is", embedder)


def other_language(what: str, embedder: str) -> None:
    from ..work.doctor import MULTILINGUAL

    words(f"{what} not English, which the embedder {embedder} is made for: words find it; by meaning:")
    words(f"  {MULTILINGUAL}")


def untagged(before: Memory, memory: Limpet) -> str:
    """The topics and names in its metadata that a memory has no more."""
    now = memory.get(before.id)
    topics = ("#" + one for one in before.topics if one not in now.topics)
    values = (f"{name}={value}" for name, value in before.metadata.items() if name not in now.metadata)
    return " ".join(gone) if (gone := ["removed:", *topics, *values])[1:] else ""


def _first(new: Memory, memory: Limpet) -> None:
    """A word on the first memory of a scope, beside others: its name may be mistyped."""
    counts = memory.in_all_scopes().count_by("scope", all_states=True)
    if new.scope != GLOBAL_SCOPE and len(counts) > 1 and counts.get((new.scope,)) == 1:
        words(f"the first memory of {new.scope}")


def just_read(memory: Limpet, given: dict[str, Any], text: Any) -> str:
    """Give a statement that an agent has just read from outside that origin, unless the user states it. Returns why."""
    if given.get("origin") == "user" or not isinstance(text, str):
        return ""
    # Most often nothing was: then nothing is imported either.
    if not os.path.isfile(f"{beside(memory.path)}.foreign"):  # noqa: PTH113
        return ""
    from ..foreign_reads import taint

    return taint(memory.path, given, text)


def with_reason(done: Receipt, why: str) -> Receipt:
    return replace(done, reason="; ".join(filter(None, (why, done.reason)))) if why else done


def _done(done: Receipt, memory: Limpet, new: Memory | None, gone: str) -> None:
    operation = memory.log(event=done.event)[0] if done.event else None
    changes = operation.changes if operation else ()
    # The id of an item of the review list is no memory's: it is about that of the first change.
    id = done.id if not changes or any(one.id == done.id for one in changes) else changes[0].id
    text = _subject(operation) if operation else _content(memory, id) if id else ""
    called = short([*([id] if id else []), *(one.id for one in changes)], memory)
    name = called[id] if id else ""
    line(f"{paint(done.status, GREEN)} {paint(name, YELLOW)}  {quoted(text, len(done.status) + len(name) + 3)}")
    if gone and done.status == "changed":
        line(MARGIN + quoted(gone, len(MARGIN)))
    if done.added:
        line(f"{MARGIN}added: {', '.join(done.added)}")
    if done.reason:
        line(MARGIN + _TIME.sub(r"\1 \2", printable(short_ids(done.reason))))
    if new is not None and (new.valid_from_us != new.created_at_us or new.valid_to_us is not None):
        until = f" until {moment(new.valid_to)}" if new.valid_to_us is not None else ""
        line(f"{MARGIN}valid from {moment(new.valid_from)}{until}")
    for one in changes:
        if one.id == id and one.what not in _IN_THE_HEAD and (one.detail or one.what != "tagged"):
            line(MARGIN + paint(_what(one), CYAN) + (_by(one, memory) if one.what == "superseded" else ""))
    effects([one for one in changes if one.id != id and one.what != "reviewed"], called)
    if operation:
        words(f"`limpet undo` takes it back; later, `limpet undo {operation.short}`")


def effects(several: Sequence[Effect], called: dict[str, str]) -> None:
    """A line for each."""
    _rows([(called.get(one.id, one.id), _what(one), valued(one.key, one.text)) for one in several[:CHANGES]])
    if len(several) > CHANGES:
        line(f"{MARGIN}and {counted(len(several) - CHANGES, 'more change')}")


def _rows(rows: Sequence[tuple[str, str, str]]) -> None:
    """Short id, what became of it, and text: a line for each, in columns."""
    width = max((len(what) for _, what, _ in rows), default=0)
    for name, what, text in rows:
        entry(name, f"{what:<{width}}", " ".join(printable(text).split()), MARGIN, most=QUOTED)


def _what(one: Effect) -> str:
    told = short_ids(printable(" ".join(one.detail.split())))
    if told.startswith("holds ") and one.what in ("bounded", "superseded"):
        return _TIME.sub(r"\1 \2", told)
    detail = f" ({told})" if told else ""
    return _CALLED.get(one.what, one.what) + detail


def _by(one: Effect, memory: Limpet) -> str:
    """What replaced the memory that a receipt is about."""
    other = memory.get(one.id).superseded_by
    if other is None:
        return ""
    [name] = memory.abbreviate([other])
    return f" by {paint(name, YELLOW)}  {quoted(_content(memory, other), len(name) + 20)}"


def quoted(text: str, taken: int) -> str:
    """The first words of a text, as much as fits beside `taken` characters."""
    flat = " ".join(printable(text).split())
    return cut(flat, max(20, (terminal_width() or QUOTED + taken) - taken))


def undone_by(operation: str | None, scopes: Collection[str] = ()) -> None:
    """How to take back what one run stored. `scopes`: those that only an undo in them reaches."""
    if operation is None:
        return
    event = short_id(parse_id(operation), ())
    for one in sorted(scopes):
        words(f"`limpet undo {event} --scope {one}` takes back what went there")
    if not scopes:
        words(f"`limpet undo` takes it all back; later, `limpet undo {event}`")


def taken_back(receipts: Sequence[Receipt], memory: Limpet, verb: str) -> None:
    """What an undo or a redo did: to which operation, and how each memory stands now."""
    whole = memory.in_all_scopes()  # of a move, what was moved is in another scope now
    operation = whole.log(event=receipts[0].event)[0]
    before = operation
    if operation.of:
        try:
            before = memory.log(event=operation.of)[0]  # of what reaches other scopes, what it did in this one
        except NotFound:
            before = whole.log(event=operation.of)[0]
    memory = whole
    head = f"{verb} {before.short}  {before.verb}  "
    which, did = paint(before.short, YELLOW), paint(before.verb, CYAN)
    line(f"{paint(verb, GREEN)} {which}  {did}  {quoted(_subject(before), len(head))}")
    shown = [one for one in receipts if one.id][:CHANGES]
    called = short([one.id for one in shown], memory)
    _rows([(called[one.id], one.reason, _content(memory, one.id)) for one in shown if one.reason])
    if len(receipts) > len(shown):
        line(f"{MARGIN}and {counted(len(receipts) - len(shown), 'more memory')}")
    words("`limpet redo` does it again" if verb == "undone" else "`limpet undo` takes it back")


def _content(memory: Limpet, id: str) -> str:
    try:
        one = memory.get(id)
        return valued(one.key, one.content)
    except NotFound:  # a session's mark, an item of the review list
        return ""


def _subject(one: Operation) -> str:
    """What an operation is about."""
    return valued(one.key, one.text)


def log(found: Sequence[Operation]) -> None:
    """A line an operation, the newest first."""
    size, verb, by = (max(len(getattr(one, name)) for one in found) for name in ("short", "verb", "origin"))
    for one in found:
        mark = "" if not one.undone else "redone  " if one.verb == "undo" else "undone  "
        of = f"of {short_id(parse_id(one.of), ())}: " if one.of else ""
        more = f" and {one.count - 1} more" if one.verb in ("remember", "archive") and one.count > 1 else ""
        what = f"{moment(one.at)}  {one.verb:<{verb}}  {one.origin:<{by}}"
        entry(f"{one.short:<{size}}", what, mark + " ".join((of + _subject(one)).split()) + more, most=QUOTED)


def short(ids: Iterable[str], memory: Limpet) -> dict[str, str]:
    """Short ids of memories and of items of the review list."""
    every = list(dict.fromkeys(ids))
    return dict(zip(every, memory.abbreviate(every, items=True), strict=True))
