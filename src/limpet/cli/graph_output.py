"""How answers about the graph look in a terminal: a tree for `why`, lists with what matters first for the others."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..model.clock import format_time
from ..model.edges import INVERSES
from ..model.memory import valued
from ..store.records import MOST_WAITING
from .options import terminal_width
from .output import BOLD, CYAN, DIM, GREEN, RED, YELLOW, day, line, paint, printable, words

if TYPE_CHECKING:
    from ..api import Limpet
    from ..history.diff import Change, Diff
    from ..history.gaps import Gaps
    from ..history.reasons import Impact, Why
    from ..history.timeline import Timeline
    from ..history.view import Link, Node
    from ..history.walk import GraphPath
    from ..history.whole import Contradictions

INDENT = "  "
GAP_TITLES = {
    "unjustified_decision": "decisions without a reason",
    "single_source_inference": "inferences that rest on one memory or none",
    "weak_foundation": "weak foundations",
    "superseded_often": "corrected three times or more",
    "stale": "long neither stated nor used",
}


class Names:
    """Short ids of the memories in one answer."""

    def __init__(self, memory: Limpet, ids: Iterable[str]) -> None:
        every = list(dict.fromkeys(ids))
        self._short = dict(zip(every, memory.abbreviate(every), strict=True))

    def __call__(self, id: str) -> str:
        return self._short.get(id, id)

    def node(self, one: Node, prefix: str = "", mark: str = "", content: str | None = None) -> str:
        """One line: prefix, id, kind, standing if it does not hold, text cut to the terminal's width."""
        short = self(one.id)
        state = "" if one.standing == "held" else f"[{one.standing}] "
        text = " ".join(printable(valued(one.key, one.content if content is None else content)).split())
        head = len(prefix) + len(mark) + len(short) + len(one.kind) + len(state) + 4
        width = terminal_width() if sys.stdout.isatty() else None
        if width and head + len(text) > width:
            text = text[: max(20, width - head - 1)] + "…"
        return f"{prefix}{paint(mark, DIM)}{paint(short, YELLOW)}  {paint(one.kind, CYAN)}  {paint(state, RED)}{text}"


def why(found: Why, memory: Limpet) -> None:
    """An indented tree: what each memory rests on stands below it. One that was shown above is only named."""
    nodes = {one.id: one for one in (found.memory, *found.reasons)}
    names = Names(memory, nodes)
    below: dict[str, list[tuple[str, str]]] = {}
    for link in found.links:
        if link.type == "supports":
            below.setdefault(link.target, []).append(("supported by", link.source))
        else:
            below.setdefault(link.source, []).append(("caused by", link.target))
    shown: set[str] = set()
    # Depth first without recursion: a chain may be longer than Python's stack.
    left = [(found.memory.id, 0, "")]
    while left:
        id, depth, relation = left.pop()
        mark = f"{relation} " if relation else ""
        if id in shown:
            line(f"{INDENT * depth}{paint(mark, DIM)}{paint(names(id), YELLOW)}  (above)")
            continue
        shown.add(id)
        line(names.node(nodes[id], INDENT * depth, mark))
        left += [(reason, depth + 1, how) for how, reason in reversed(below.get(id, []))]
    if not found.reasons:
        words("no reason is recorded" if not found.skipped else "no reason holds any more")
    left_out(found.skipped, found.truncated)


def impact(found: Impact, memory: Limpet) -> None:
    """Decisions first, then the rest; under each what would remain of its reasons."""
    shown = [*found.affected, *found.rested_before]
    every = [found.memory, *(one.node for one in shown), *(n for one in found.affected for n in one.remaining)]
    names = Names(memory, (one.id for one in every))
    line(names.node(found.memory))
    for title, several in (
        ("decisions that rest on it", [one for one in found.affected if one.node.kind == "decision"]),
        ("what else rests on it", [one for one in found.affected if one.node.kind != "decision"]),
    ):
        if several:
            line("")
            line(paint(f"{title} ({len(several)})", BOLD))
        for one in several:
            far = "" if one.depth == 1 else f", {one.depth} steps away"
            line(names.node(one.node, INDENT))
            if one.falls:
                line(INDENT * 3 + paint(f"nothing else holds it up{far}", RED))
                continue
            line(INDENT * 3 + paint(f"would still rest on{far}:", GREEN))
            for reason in one.remaining:
                line(names.node(reason, INDENT * 4))
    if found.rested_before:
        line("")
        line(paint(f"to look at: what rests on what it replaced ({len(found.rested_before)})", BOLD))
        for one in found.rested_before:
            line(names.node(one.node, INDENT))
    if not shown:
        words("nothing rests on it")
    left_out(found.skipped, found.truncated)


def path(found: GraphPath, memory: Limpet) -> None:
    """From one end to the other, a line for each memory and each link."""
    if not found.found:
        words("no path between them" + (" within the limits; try a greater --depth" if found.truncated else ""))
        return
    names = Names(memory, (one.id for one in found.nodes))
    line(names.node(found.nodes[0]))
    for link, before, node in zip(found.links, found.nodes, found.nodes[1:], strict=False):
        relation = link.type if link.source == before.id else INVERSES[link.type]
        line(names.node(node, INDENT, relation.replace("_", " ") + " "))


def timeline(found: Timeline, memory: Limpet) -> None:
    """A line an entry: date, how it belongs here, memory."""
    names = Names(memory, (one.node.id for one in found.moments))
    width = max((len(one.relation) for one in found.moments), default=0)
    for one in found.moments:
        relation = f"{one.relation:<{width}}  " if found.by == "memory" else ""
        shown = names.node(one.node, f"{(format_time(one.at) or '')[:16].replace('T', ' ')}  ", relation, one.content)
        line(shown)
    if not found.moments:
        words("nothing found")
    elif found.truncated:
        words("there is more; --limit shows it")


def contradictions(found: Contradictions, memory: Limpet) -> None:
    """Pairs with a blank line between them, the surer memory first."""
    names = Names(memory, (node.id for one in found.found for node in one.memories))
    for number, one in enumerate(found.found):
        if number:
            line("")
        why = f"both are values of {one.key}" if one.key else "linked as contradicting"
        if one.item is not None:
            why = f"waits for review: {memory.abbreviate([one.item], items=True)[0]}"
        line(paint(f"{why}{'' if one.open else ', decided'}", BOLD))
        for node in one.memories:
            line(names.node(node, INDENT, f"{node.confidence_word:<9}  "))
    if not found.found:
        words("no contradiction is open")
    elif found.count > len(found.found):
        words(f"{found.count - len(found.found)} more; --limit shows them")
    # Two values of one thing cannot both hold either; a person decides whether the newer replaces the older.
    waiting = sum(one.kind == "correction" for one in memory.review(limit=MOST_WAITING))
    if waiting:
        words(f"{waiting} {'waits' if waiting == 1 else 'wait'} in review as another value: `limpet review`")


def gaps(found: Gaps, memory: Limpet) -> None:
    """By kind of gap, the severest first."""
    names = Names(memory, (one.node.id for one in found.found))
    for number, (gap, count) in enumerate((gap, count) for gap, count in found.counts.items() if count):
        several = [one for one in found.found if one.gap == gap]
        if number:
            line("")
        line(paint(f"{GAP_TITLES.get(gap, gap)} ({count})", BOLD))
        for one in several:
            line(names.node(one.node, INDENT))
            line(INDENT * 3 + paint(one.detail, DIM))
        if count > len(several):
            line(paint(f"{INDENT}... {count - len(several)} more", DIM))
    if not found.found:
        words("no gap found")


def diff(found: Diff, memory: Limpet) -> None:
    """What came, what went, what changed, and the links."""
    changes = [*found.began, *found.ended, *found.changed]
    ends = [id for one in (*found.linked, *found.unlinked) for id in (one.source, one.target)]
    names = Names(memory, [*(one.node.id for one in changes), *ends])
    line(paint(f"{format_time(found.start)} to {format_time(found.end)}", BOLD))
    _changes("+", GREEN, "came to believe", found.began, found.counts["began"], names)
    _changes("-", RED, "stopped believing", found.ended, found.counts["ended"], names)
    _changes("~", YELLOW, "believes in other words or terms", found.changed, found.counts["changed"], names)
    _links("+", "linked", found.linked, found.counts["linked"], names)
    _links("-", "unlinked", found.unlinked, found.counts["unlinked"], names)
    if not any(found.counts.values()):
        words("nothing changed")


def _changes(sign: str, colour: str, title: str, several: Sequence[Change], count: int, names: Names) -> None:
    if not count:
        return
    line("")
    line(paint(f"{title} ({count})", BOLD))
    for one in several:
        by = f" by {names(one.by)}" if one.by else ""
        line(names.node(one.node, f"{paint(sign, colour)} {day(one.node.valid_from)}  "))
        if one.how != "new":
            line(INDENT * 3 + paint(one.how + by, DIM))
        if one.before is not None:
            line(INDENT * 3 + paint("was: " + " ".join(printable(valued(one.node.key, one.before)).split()), DIM))
    _more(several, count)


def _links(sign: str, title: str, several: Sequence[Link], count: int, names: Names) -> None:
    if not count:
        return
    line("")
    line(paint(f"{title} ({count})", BOLD))
    for one in several:
        line(f"{sign} {paint(names(one.source), YELLOW)} {one.type} {paint(names(one.target), YELLOW)}")
    _more(several, count)


def _more(several: Sequence[object], count: int) -> None:
    if count > len(several):
        line(paint(f"{INDENT}... {count - len(several)} more", DIM))


def left_out(skipped: dict[str, str], truncated: bool) -> None:
    if skipped:
        kinds = sorted(set(skipped.values()))
        words(f"{len(skipped)} left out ({', '.join(kinds)}); --all shows them")
    if truncated:
        words("there is more; --depth and --limit show it")
