"""How the review list looks in a terminal: pairs side by side, several pairs of one memory under it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..model.ids import names_id
from ..remember.review import Group, groups, sides
from .names import note
from .options import terminal_width
from .output import BOLD, CYAN, DIM, MARGIN, YELLOW, cut, day, in_a_line, line, paint, printable, words

if TYPE_CHECKING:
    from ..api import Limpet
    from ..model.memory import Memory
    from ..remember.review import ReviewItem

# From this width on two texts stand side by side. More of a text, or of a group, than this is not read at a glance.
SIDE_BY_SIDE, MOST_LINES, MOST_CHARACTERS, MOST_OF_GROUP = 100, 6, 400, 5


def review(items: Sequence[ReviewItem], memory: Limpet, *, limit: int) -> None:
    """Groups and single items until `limit` items are counted, and how many are left. `items`: all that wait."""
    if not items:
        words("nothing waits for review")
        return
    every = list(dict.fromkeys(id for one in items for id in (one.id, *sides(one))))
    names = dict(zip(every, memory.abbreviate(every, items=True), strict=True))
    left = limit
    numbered: list[str] = []
    for number, group in enumerate(groups(items)):
        if left <= 0:
            break
        if number:
            line("")
        numbered.append(group.items[0].id if group.hub is None else group.hub.id)
        if group.hub is None:
            _item(group.items[0], names)
            left -= 1
        else:
            left -= _group(group, names, min(left, MOST_OF_GROUP if limit < len(items) else left))
    note(memory.path, "review", numbered)
    words("limpet review accept ID, or reject ID; several ids are decided one by one, @1 is the first")
    if left <= 0 and len(items) > limit:
        words(f"{limit} of {len(items)}; --all shows the rest")


def expanded(ids: Sequence[str], items: Sequence[ReviewItem]) -> list[str]:
    """Ids as given; that of a group stands for all its pairs."""
    hubs = [one for one in groups(items) if one.hub is not None]
    found: list[str] = []
    for id in ids:
        mine = [one for one in hubs if one.hub and names_id(id, one.hub.id)]
        found += [one.id for one in mine[0].items] if len(mine) == 1 else [id]
    return list(dict.fromkeys(found))


def _item(one: ReviewItem, names: dict[str, str]) -> None:
    line(f"{paint(names[one.id], YELLOW)}  {paint(one.kind, CYAN)}  {paint(one.question, DIM)}")
    width = terminal_width()
    if one.other is None:
        _text("text", one.memory)
    elif width is not None and width >= SIDE_BY_SIDE:
        heads = [[f"{label}  {day(side.valid_from)}"] for label, side in (("older", one.other), ("newer", one.memory))]
        beside(heads, [_flat(one.other), _flat(one.memory)], width)
    else:
        _text("older", one.other)
        _text("newer", one.memory)
    line(f"{MARGIN}{paint('reason', DIM)}  {reason(one)}")


def _group(group: Group, names: dict[str, str], most: int) -> int:
    """Print a group, `most` of its pairs at most. Returns how many were shown."""
    assert group.hub is not None
    hub = group.hub
    counts = Counter(one.kind for one in group.items)
    kinds = ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in counts.items())
    told = paint("of one memory; this id decides all of them", DIM)
    line(f"{paint(names[hub.id], YELLOW)}  {paint(kinds, CYAN)}  {told}")
    for text in wrapped(_flat(hub), (terminal_width() or MOST_CHARACTERS + 20) - len(MARGIN)):
        line(f"{MARGIN}{paint(text, BOLD)}")
    for one in group.items[:most]:
        assert one.other is not None
        newer = one.other.id == hub.id
        line(f"{MARGIN}{paint(names[one.id], YELLOW)}  {paint(one.kind, CYAN)}  {reason(one)}")
        _text("  newer" if newer else "  older", one.memory if newer else one.other)
    if len(group.items) > most:
        line(f"{MARGIN}and {len(group.items) - most} more")
    return min(most, len(group.items))


def _text(label: str, one: Memory) -> None:
    head = f"{label}  {day(one.valid_from)}  "
    rows = wrapped(_flat(one), (terminal_width() or MOST_CHARACTERS + 80) - len(MARGIN) - len(head))
    line(f"{MARGIN}{paint(head, DIM)}{rows[0]}")
    for row in rows[1:]:
        line(f"{MARGIN}{' ' * len(head)}{row}")


def beside(
    heads: Sequence[Sequence[str]], texts: Sequence[str], width: int, *, most: int = MOST_LINES,
    marked: Callable[[str, int], str] = lambda row, _: row,
) -> None:  # fmt: skip
    """Two texts in columns under their heads, `most` lines at most. `marked`: paints a row of a side."""
    half = (width - len(MARGIN) - 3) // 2
    for left, right in zip(*heads, strict=True):
        line(f"{MARGIN}{paint(cut(left, half).ljust(half), DIM)} | {paint(cut(right, half), DIM)}".rstrip())
    columns = [wrapped(text, half, most) for text in texts]
    for number in range(max(map(len, columns))):
        left, right = (rows[number] if number < len(rows) else "" for rows in columns)
        line(f"{MARGIN}{marked(left.ljust(half), 0)} | {marked(right, 1)}".rstrip())


def _flat(one: Memory) -> str:
    text = in_a_line(one)
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def wrapped(text: str, width: int, most: int = MOST_LINES) -> list[str]:
    rows = textwrap.wrap(text, max(width, 20), max_lines=most, placeholder=" …", break_on_hyphens=False)
    return rows or [""]


def reason(one: ReviewItem) -> str:
    return printable(one.reason) + (f", likeness {one.score:.2f}" if one.score is not None else "")
