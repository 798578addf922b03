"""What commands share to print answers: JSON lines, receipts, memories, tables, progress. stdout is data, stderr words.

Text of memories comes from anywhere; `printable` takes out what a terminal would obey.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from ..model.clock import format_time
from ..model.errors import AmbiguousId, LimpetError, counted
from ..model.memory import REACHED, valued
from ..rank.adjust import DOUBTFUL
from .options import terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from datetime import datetime
    from typing import Any, TextIO

    from ..api import Limpet
    from ..features.transfer.records import TransferReport
    from ..history.view import Node
    from ..model.encode import JsonForm
    from ..model.memory import Memory
    from ..rank.interval import Interval
    from ..rank.trace import Trace
    from ..recall.answer import Item, Recall
    from ..recall.explain import Explanation, LeftOut
    from ..recall.sessions import SessionRecall

Progress = Callable[[int, int], None]
encode = json.JSONEncoder(ensure_ascii=False).encode

# Escape sequences whole (CSI; OSC, DCS and the like up to their end), then every control but tab and newline, then
# what reorders a line (bidirectional overrides) or breaks it (U+2028, U+2029). Compiled only when it is needed.
_UNPRINTABLE = (
    "\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]"
)
# Rejected lines of an import that people get to see one by one; --json has all.
SHOWN_REJECTIONS = 20
# Of one memory a terminal gets so many lines from `recall`, a pipe so many characters; `show` and --json give all.
LINES_PER_ITEM = 12
CHARACTERS_PER_ITEM = 2_000
# Characters of one memory in a list that goes into a pipe; on a terminal it is a line.
CHARACTERS_PER_LINE = 1_000
# Characters of the line on something that was left out.
LEFT_OUT_WIDTH = 150
MARGIN = "   "
# Memories that one text names, as an error lists them.
CANDIDATES = 12

DIM, BOLD, RED, GREEN, YELLOW, CYAN = "2", "1", "31", "32", "33", "36"


def printable(text: str) -> str:
    """Text for people: no escape sequences, no control characters but tab and newline."""
    return text if text.isprintable() else re.sub(_UNPRINTABLE, "", text)


def paint(text: str, code: str) -> str:
    """In colour when stdout is a terminal that wants it (NO_COLOR, TERM=dumb)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{code}m{text}\x1b[0m"


def line(text: str) -> None:
    """One line of data."""
    print(text)


def object_line(value: object) -> None:
    """One JSON object on one line."""
    print(encode(value))


def words(text: str) -> None:
    """A line for people on stderr."""
    sys.stdout.flush()
    _say(printable(text))


def _say(text: str) -> None:
    """A line on stderr, if anybody takes it: what was done is done."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        leave(sys.stderr)


def leave(stream: TextIO) -> None:
    """Nobody reads it any more: what is still buffered, and what follows, goes nowhere, quietly."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def notes(report: TransferReport) -> None:
    """What was kept in another way, and what was not understood, on stderr."""
    for what, count in sorted(report.notes.items()):
        words(f"{count:,} x {what}")
    rejected(report.rejected, report.more_rejected)


def rejected(lines: Sequence[tuple[str, str]], more: int) -> None:
    """What an import could not read, the first few one by one, on stderr."""
    for place, reason in lines[:SHOWN_REJECTIONS]:
        words(f"{place}: {reason}")
    rest = len(lines) - SHOWN_REJECTIONS + more
    if rest > 0:
        words(f"... and {rest:,} more; --json lists all")


def short_ids(text: str, typed: Sequence[str] = ()) -> str:
    """A text with the ids in it shortened, except those that a person typed."""
    if "-7" not in text and "-8" not in text and "-4" not in text:
        return text
    from ..model.ids import shorten_ids

    return shorten_ids(text, typed)


def error(problem: LimpetError, *, as_json: bool, typed: Sequence[str] = ()) -> None:
    """Message and hint on stderr. `typed`: the words of the command line."""
    if as_json:
        _say(encode(problem.as_dict()))
        return
    if isinstance(problem, AmbiguousId):
        _say(printable(f"limpet: {problem.said!r} names several memories"))
        width = max(len(id) for id, _ in problem.texts)
        for id, text in problem.texts[:CANDIDATES]:
            _say(printable(cut(f"{MARGIN}{id:<{width}}  {text}", terminal_width() or LEFT_OUT_WIDTH)))
        if len(problem.texts) > CANDIDATES:
            _say(f"{MARGIN}and {len(problem.texts) - CANDIDATES} more")
    else:
        _say(printable(short_ids(f"limpet: {problem.message}", typed)))
    if problem.hint:
        _say(printable(f"  hint: {problem.hint}"))


# -- memories


def recalled(
    found: Recall, short: Sequence[str], *, as_json: bool, budget_tokens: int | None = None, scopes: bool = False,
    left_out: int = 0,
) -> None:  # fmt: skip
    """The answer of `recall` and `related`. `short`: the items' ids as they are shown. `scopes`: show these too.
    `left_out`: more that are as little an answer."""
    if as_json:
        object_line(found.as_dict())
        return
    _nearest(found, left_out)
    for rank, (item, name) in enumerate(zip(found.items, short, strict=True), 1):
        if rank > 1:
            line("")
        _item(rank, item, name, scope=item.scope if scopes else None)
        if also := found.also.get(item.id):
            line(MARGIN + paint(f"also {len(also)} like it: {short_ids(', '.join(also))}", DIM))
    if found.explained is not None:
        _explained(found.explained)
    elif "time" in found.notes:
        words(f"as asked: {found.notes['time']}")
    _caveats(found, len(found.items), budget_tokens)


def recalled_sessions(
    found: SessionRecall, short: Sequence[str], *, as_json: bool, budget_tokens: int | None = None
) -> None:
    """The answer of `recall --sessions`. `short`: the evidence's ids as they are shown."""
    if as_json:
        object_line(found.as_dict())
        return
    _nearest(found)
    names = iter(short)
    for rank, one in enumerate(found.sessions, 1):
        if rank > 1:
            line("")
        title = f"  {' '.join(printable(one.title).split())}" if one.title else ""
        count = counted(one.memories, "memory")
        line(f"{rank:>2} {paint(printable(one.name), YELLOW)}{title}  {day(one.items[0].valid_from)}  {count}")
        for item in one.items:
            speaker = f"{printable(item.speaker)}: " if item.speaker else ""
            shown = " ".join(f"{speaker}{printable(valued(item.key, item.content))}".split())
            head = f"{next(names)}  {day(item.valid_from)}  "
            line(MARGIN + paint(head, DIM) + cut(shown, LEFT_OUT_WIDTH - len(head)))
        if one.why is not None:
            line(MARGIN + paint("score =", BOLD) + "".join(f" {name} {value:+.3f}" for name, value in one.why.items()))
    if "time" in found.notes:
        words(f"as asked: {found.notes['time']}")
    if found.without_session:
        alone = found.without_session
        words(f"{counted(alone, 'memory')} found that belong{'s' * (alone == 1)} to no session")
    _caveats(found, len(found.sessions), budget_tokens)


def _caveats(found: Recall | SessionRecall, shown: int, budget_tokens: int | None) -> None:
    """What a reader of the results should know of them."""
    for signal in found.missing:
        words(f"without {signal}: {found.notes.get(signal, 'no reason given')}")
    if found.truncated:
        told = "more was found than fits" if shown else "what was found does not fit"
        words(f"{told} into {budget_tokens} tokens")


def _nearest(found: Recall | SessionRecall, left_out: int = 0) -> None:
    """Before results that are no answer, that they are none."""
    if found.items and not found.relevant:
        words("nothing relevant found: these are only the nearest" + (f"; -k shows {left_out} more" * bool(left_out)))


def imported(memory: Limpet, args: Namespace, report: JsonForm, show: Callable[[], object], *, bad: bool) -> int:
    """Say what was imported, make its vectors; the exit code. `show`: says it in words. `bad`: not all was taken."""
    if not args.json:
        show()
    more = embedded(memory, args)
    if args.json:
        object_line(report.as_dict() | more)
    return 2 if bad else 0


def embedded(memory: Limpet, args: Namespace) -> dict[str, int]:
    """Make the vectors that wait, with a bar; {"embedded", "waiting"}, texts. What is stored stands whatever happens
    here: interrupted or without an embedder, how many still wait is said and no error.
    """
    given = vars(args)
    if given.get("dry_run") or memory.read_only:
        return {"embedded": 0, "waiting": 0}
    before, why = memory.stats().waiting_jobs, ""
    if before and not args.no_vectors:
        try:
            with progress("embedding") as tell:
                memory.work(only_vectors=True, progress=tell)
        except KeyboardInterrupt:
            why = " (interrupted)"
        except LimpetError as problem:
            why = f" ({problem.message})"
    waiting = memory.stats().waiting_jobs if before else 0
    if waiting:
        told = "1 text waits for its vector" if waiting == 1 else f"{waiting:,} texts wait for their vectors"
        words(f"{told}{why}: `limpet work` makes them; words find them already")
    return {"embedded": max(0, before - waiting), "waiting": waiting}


def in_a_line(one: Memory | Node | Item | LeftOut) -> str:
    """Its text in one line; a value behind its key."""
    return " ".join(printable(valued(one.key, one.content)).split())


def percent(rate: Interval) -> str:
    return f"{rate.value * 100:.0f} % (95 %: {rate.low * 100:.0f} to {rate.high * 100:.0f} %)"


def points(lift: Interval) -> str:
    return f"{lift.value * 100:+.0f} points (95 %: {lift.low * 100:+.0f} to {lift.high * 100:+.0f})"


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _explained(told: Explanation) -> None:
    """How the question was read, and what was left out and why."""
    line("")
    times = f", names {', '.join(told.times)}" if told.times else ""
    line(f"{paint('read as:', BOLD)} {told.intent}{times}")
    if told.event is not None:
        line(f"{paint('as asked:', BOLD)} {printable(told.event)}")
    if not told.counts:
        line(f"{paint('left out:', BOLD)} nothing near the question")
        return
    line(f"{paint('left out:', BOLD)} " + ", ".join(f"{count} {why}" for why, count in told.counts.items()))
    for one in told.left_out:
        detail = f" ({short_ids(one.detail)})" if one.detail else ""
        shown = f"{short_ids(one.id)}  {paint(one.why, CYAN)}{detail}: " + in_a_line(one)
        line(MARGIN + cut(shown, LEFT_OUT_WIDTH))


def _item(rank: int, item: Item, short: str, *, scope: str | None) -> None:
    # A score compares within one recall, and before the judge and what is newer moved the first: --explain shows it.
    told = [f"score {item.score:.3f}"] if item.why is not None else []
    head = f"{rank:>2} {paint(short, YELLOW)}  {paint(item.kind, CYAN)}  {day(item.valid_from)}"
    line("  ".join([head, *(paint(one, DIM) for one in [*told, *([scope] if scope else [])])]))
    for one in _shortened(valued(item.key, item.content), short):
        line(one)
    if marks := _marks(item):
        line(MARGIN + paint(marks, DIM))
    if item.disputed_by:
        line(MARGIN + paint(f"disputed: see {short_ids(', '.join(item.disputed_by))}", YELLOW))
    if item.why is not None:
        _why(item.why)


def _shortened(content: str, short: str) -> list[str]:
    """A memory's text as lines, and where the rest is of a long one: a few lines for a person, more for a program."""
    most = (terminal_width() or 80) * LINES_PER_ITEM if sys.stdout.isatty() else CHARACTERS_PER_ITEM
    text = content if len(content) <= most else content[:most].rsplit(None, 1)[0]
    shown = wrapped(text)
    if sys.stdout.isatty():
        kept = shown[: LINES_PER_ITEM - 1] if len(shown) > LINES_PER_ITEM else shown
        text, shown = (text if kept == shown else "\n".join(kept)), kept
    if len(text) < len(content):
        shown.append(MARGIN + paint(f"... {len(content):,} characters in all: limpet show {short}", DIM))
    return shown


def _marks(item: Item) -> str:
    marks = ["#" + topic for topic in item.topics]
    if item.session:
        marks.append(f"session {item.session}")
    if item.speaker:
        marks.append(f"said by {item.speaker}")
    if item.source_state:
        marks.append(f"source {item.source_state}")
    if item.confidence_word == DOUBTFUL:
        marks.append(DOUBTFUL)
    return printable("  ".join(marks)).replace("\n", " ")


def _why(why: Trace) -> None:
    """A table of the signals that spoke, the names of those that did not, and the sum."""
    spoke = {name: one for name, one in why.signals.items() if one.contribution or name in ("judge", "rerank")}
    width = max((len(name) for name in spoke), default=0)
    line(MARGIN + paint(f"{'signal':<{width}}   rank       raw  contribution", BOLD))
    for name, (rank, raw, contribution) in spoke.items():
        line(f"{MARGIN}{name:<{width}}  {rank if rank is not None else '-':>5} {raw:>9.3f} {contribution:>+13.3f}")
    idle = [name for name, one in why.signals.items() if name not in spoke and one.rank is not None]
    silent = [name for name in why.signals if name not in spoke and name not in idle]
    for said, names in (("of no weight here", idle), ("silent", silent)):
        for one in wrapped(f"{said}: " + ", ".join(names)) if names else ():
            line(paint(one, DIM))
    total = sum(contribution for _, _, contribution in why.signals.values())
    factors = "".join(f" x {name} {value:.3f}" for name, value in why.adjustments.items())
    if why.alike:
        line(f"{MARGIN}it is among the results as it is like the best of them, or of another session")
    if why.newer:
        line(f"{MARGIN}it stands before an older one that it replaces, whatever its score")
    if why.later:
        line(f"{MARGIN}{why.later} is newer and may say what became of it")
    line(f"{MARGIN}{paint('score =', BOLD)} sum {total:+.3f}{factors}")


def listed(found: Sequence[Memory], memory: Limpet, *, scopes: bool = False) -> None:
    """Print one memory a line: id, kind, day, state if it is not active, its scope with `scopes`, text, topics."""
    names = memory.abbreviate([one.id for one in found])
    size = max(map(len, names), default=0)
    is_cut = False
    for one, name in zip(found, names, strict=True):
        text = in_a_line(one)
        text += "".join("  #" + printable(topic) for topic in one.topics)
        if state := state_of(one):
            text = f"[{state}] {text}"
        if scopes:
            text = f"{one.scope}: {text}"
        is_cut |= entry(f"{name:<{size}}", f"{one.kind:<10}  {day(one.valid_from)}", text)
    if is_cut:
        words("some are cut: `limpet show ID` has all of one")


def entry(short: str, what: str, text: str, before: str = "", *, most: int = CHARACTERS_PER_LINE) -> bool:
    """Print a line of a list: `before`, short id, what it is, text. The text is cut to the width of a terminal, to
    `most` characters in a pipe. Return whether it was cut."""
    width = terminal_width() if sys.stdout.isatty() else None
    if width:
        most = max(11, width - len(before) - len(short) - len(what) - 4)
    line(f"{before}{paint(short, YELLOW)}  {paint(what, CYAN)}  {cut(text, most)}")
    return len(text) > most


def detail(name: str, value: str) -> None:
    """Print a line under an entry: a name and what it is; nothing for ""."""
    if value:
        line(f"{MARGIN}{paint(f'{name:<12}', DIM)} " + printable(value).replace("\n", f"\n{MARGIN}{'':<13}"))


def state_of(one: Memory) -> str:
    """How it stands, if it is not held now."""
    if one.state != "active":
        return one.state
    if one.reason == REACHED:
        return REACHED
    now = time.time() * 1e6
    return "future" if one.valid_from_us > now else "ended" if (one.valid_to_us or now + 1) <= now else ""


def day(at: int | datetime | None) -> str:
    """The date of a time, UTC."""
    return (format_time(at) or "")[:10]


def moment(at: int | datetime | None) -> str:
    """A time to the second, UTC, for a person to read; JSON has it in full."""
    return (format_time(at) or "")[:19].replace("T", " ")


def wrapped(text: str) -> list[str]:
    """Lines with a margin, wrapped to the terminal's (or COLUMNS') width; not wrapped for a pipe. None for ""."""
    width = terminal_width()
    found: list[str] = []
    for one in printable(text).expandtabs(4).split("\n") if text else ():
        if width is None or len(one) + len(MARGIN) <= width:
            found.append((MARGIN + one).rstrip())
            continue
        import textwrap

        found += textwrap.wrap(
            one, width, initial_indent=MARGIN, subsequent_indent=MARGIN, break_on_hyphens=False
        ) or [""]  # fmt: skip
    return found


# -- tables and progress: rich, and only on a terminal


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows of text under headings: a rich table on a terminal, aligned columns in a pipe."""
    rows = [[printable(cell).replace("\n", " ") for cell in row] for row in rows]
    if sys.stdout.isatty():
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        made = Table(box=box.SIMPLE_HEAD)
        longest = max(range(len(columns)), key=lambda place: max([0, *(len(row[place]) for row in rows)]))
        for place, name in enumerate(columns):
            made.add_column(name, no_wrap=place != longest)  # only the longest is wrapped, by words
        for row in rows:
            made.add_row(*(Text(cell, _STATUS_STYLE.get(cell, "")) for cell in row))
        Console(highlight=False).print(made)
        return
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    for row in rows:
        line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def answer_table(
    args: Namespace, name: str, found: Sequence[Any], columns: Sequence[str], row: Callable[[Any], list[str]], none: str
) -> None:
    """Answer with a list: {name: [...]} in JSON, else a row each; `none` in words where it is empty."""
    if args.json:
        object_line({name: [one.as_dict() for one in found]})
    elif found:
        table(columns, [row(one) for one in found])
    else:
        words(none)


_STATUS_STYLE = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@contextmanager
def progress(label: str) -> Iterator[Progress | None]:
    """A progress bar on stderr while the block runs; yields its callback (done, total), None when nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns: list[Any] = [TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
