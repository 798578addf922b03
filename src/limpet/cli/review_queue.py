"""`limpet review` on a terminal: what waits, one question after the other, each answered with a key.

The keys are those of the web page. Only a key that is pressed after a question was shown answers it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ..model.errors import LimpetError
from ..remember.review import OLDER, Group, answers, groups, sides
from ..store.records import MOST_WAITING
from .options import terminal_width
from .output import BOLD, CYAN, DIM, MARGIN, YELLOW, day, error, in_a_line, line, paint, printable, words
from .receipt import receipt, short, taken_back
from .review_output import SIDE_BY_SIDE, beside, reason, wrapped

if TYPE_CHECKING:
    from ..api import Limpet
    from ..model.memory import Memory
    from ..remember.review import ReviewItem
    from ..remember.write import Receipt

# Lines of one text, and of the group of one memory.
MOST_LINES, MOST_OF_GROUP = 16, 8
END = ("q", "\x04", "")


class Step(NamedTuple):
    """What one key did: the operations, and what was passed over by it."""

    events: tuple[str, ...] = ()
    skipped: frozenset[str] = frozenset()


def work_through(memory: Limpet) -> None:
    """Ask until nothing waits or the person quits, and say what came of it."""
    queue = _Queue(memory)
    with _keys() as (key, drop):
        while group := queue.following():
            drop()
            _show(group, memory)
            choices = queue.choices(group)
            print("   ".join(f"{paint(one, BOLD)} {what}" for one, what in choices.items()), end="  ", flush=True)
            while (pressed := key()) not in (*choices, *END):
                pass
            line(f"\n{paint('> ' + choices.get(pressed, choices['q']), CYAN)}")
            if pressed in END:
                break
            try:
                queue.do(pressed, group)
            except LimpetError as problem:
                error(problem, as_json=False)
            line("")
    queue.sum_up()


class _Queue:
    """What waits, and what was done about it so far."""

    def __init__(self, memory: Limpet) -> None:
        self._memory = memory
        self._steps: list[Step] = []
        self._one_by_one: set[str] = set()

    def following(self) -> Group | None:
        """Read anew each time: one decision can settle others, and agents go on meanwhile."""
        skipped = {id for step in self._steps for id in step.skipped}
        items = [one for one in self._memory.review(limit=MOST_WAITING) if one.id not in skipped]
        if not items:
            return None
        line(paint(f"-- {len(items):,} to decide", DIM))
        first = groups(items)[0]
        alone = first.hub is not None and first.hub.id in self._one_by_one
        return Group(None, first.items[:1]) if alone else first

    def choices(self, group: Group) -> dict[str, str]:
        """Keys and what they do."""
        yes, no = answers(group)
        kind = group.items[0].kind if group.hub is None else ""
        older = {"b": OLDER[kind]} if kind in OLDER else {}
        found = {"a": yes} | older | {"r": no} | ({} if group.hub is None else {"o": "one by one"})
        return found | {"s": "skip"} | ({"u": "undo"} if self._steps else {}) | {"q": "quit"}

    def do(self, pressed: str, group: Group) -> None:
        if pressed == "u":
            for event in reversed(self._steps[-1].events):
                taken_back(self._memory.undo(event, origin="user"), self._memory, "undone")
            self._steps.pop()
        elif pressed == "s":
            self._steps.append(Step(skipped=frozenset(one.id for one in group.items)))
        elif pressed == "o" and group.hub is not None:
            self._one_by_one.add(group.hub.id)
        else:
            ways: dict[str, Callable[[str], Receipt]] = {
                "a": self._memory.accept, "b": lambda id: self._memory.accept(id, older=True), "r": self._memory.reject,
            }  # fmt: skip
            self._decide(ways[pressed], group)

    def _decide(self, decide: Callable[[str], Receipt], group: Group) -> None:
        events: list[str] = []
        for one in group.items:
            try:
                done = decide(one.id)
            except LimpetError as problem:  # one of a group that can no longer be carried out keeps none of the others
                error(problem, as_json=False)
                continue
            receipt(done, self._memory, as_json=False)
            events += [done.event] if done.event else []
        if events:
            self._steps.append(Step(tuple(events)))

    def sum_up(self) -> None:
        decided, left = sum(len(step.events) for step in self._steps), len(self._memory.review(limit=MOST_WAITING))
        if decided or left:
            log = "; `limpet log` lists them, with how to take each back" if decided else ""
            words(f"{decided:,} decided, {left:,} left{log}")
        else:
            words("nothing waits for review")


@contextmanager
def _keys() -> Iterator[tuple[Callable[[], str], Callable[[], object]]]:
    """(the next key, "" at the end of the input; drop what was typed so far), without Enter where there is termios.
    What is pasted, and keys that send several characters, are no key."""
    try:
        import termios
        import tty
    except ImportError:  # Windows: a letter and Enter
        yield _typed, lambda: None
        return
    terminal = sys.stdin.fileno()

    def key() -> str:
        pressed = os.read(terminal, 256)
        return pressed.decode("latin-1") if len(pressed) < 2 else "?"

    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield key, lambda: termios.tcflush(terminal, termios.TCIFLUSH)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _typed() -> str:
    try:
        return input()[:1] or "?"
    except EOFError:
        return ""


# -- what is shown


def _show(group: Group, memory: Limpet) -> None:
    every = [id for one in group.items for id in (one.id, one.memory.id, *sides(one))]
    names = short(every, memory)
    if group.hub is None:
        one = group.items[0]
        line(
            f"{paint(names[one.id], YELLOW)}  {paint(one.kind, CYAN)}  {one.question.partition('accepted:')[0].strip()}"
        )
        line(MARGIN + paint(reason(one), DIM))
        _texts(one, names)
        return
    line(f"{paint(f'{len(group.items)} questions about one memory', CYAN)}")
    _text("this", group.hub, names)
    for one in group.items[:MOST_OF_GROUP]:
        assert one.other is not None
        newer = one.other.id == group.hub.id
        line(f"{MARGIN}{paint(one.kind, CYAN)}  {paint(reason(one), DIM)}")
        _text("newer" if newer else "older", one.memory if newer else one.other, names, most=4)
    if len(group.items) > MOST_OF_GROUP:
        line(f"{MARGIN}and {len(group.items) - MOST_OF_GROUP} more")


def _texts(one: ReviewItem, names: dict[str, str]) -> None:
    width = terminal_width() or 80
    if one.other is None:
        _text("text", one.memory, names)
    elif width < SIDE_BY_SIDE:
        _text("older", one.other, names, against=one.memory)
        _text("newer", one.memory, names, against=one.other)
    else:
        pair = (one.other, one.memory)
        heads = [_head(label, side, names) for label, side in zip(("older", "newer"), pair, strict=True)]
        texts = [in_a_line(side) for side in pair]
        beside(heads, texts, width, most=MOST_LINES, marked=lambda row, side: _marked(row, texts[1 - side]))


def _text(
    label: str, one: Memory, names: dict[str, str], *, against: Memory | None = None, most: int = MOST_LINES
) -> None:
    line(MARGIN + paint("  ".join(_head(label, one, names)), DIM))
    for row in wrapped(in_a_line(one), (terminal_width() or 80) - 2 * len(MARGIN), most):
        line(2 * MARGIN + (row if against is None else _marked(row, in_a_line(against))))


def _head(label: str, one: Memory, names: dict[str, str]) -> list[str]:
    """Which it is and since when it holds; who says so, and where from."""
    trusted = f", trusted as {one.trust}" if one.trust != one.origin else ""
    speaker = f" ({printable(one.speaker)})" if one.speaker else ""
    source = f", from {printable(one.source)}" if one.source else ""
    return [f"{label}  {day(one.valid_from)}  {names[one.id]}", f"said by {one.origin}{speaker}{trusted}{source}"]


def _marked(row: str, other: str) -> str:
    """A row with the words that the other text does not have in bold."""
    known = set(re.findall(r"\w+", other.lower()))
    return re.sub(r"\w+", lambda word: word[0] if word[0].lower() in known else paint(word[0], BOLD), row)
