"""How answers about the graph look in a terminal: a tree for `why`, lists with what matters first for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.clock import format_time
from ..model.encode import plain
from ..model.memory import valued
from .output import BOLD, GREEN, RED, entry, flat, in_a_line, line, paint, short_ids, words
from .receipt import short

if TYPE_CHECKING:
    from ..history.timeline import Timeline
    from ..history.view import Node
    from ..history.walk import Impact, Why

INDENT = "  "
# What every node has: a line shows the first ones, and what else there is behind the text.
_OF_A_NODE = {
    "id", "kind", "content", "key", "standing", "scope", "confidence", "confidence_word", "origin", "valid_from",
    "valid_to", "recorded_at", "importance", "session", "position", "superseded_by", "reason",
}  # fmt: skip


def _node(one: Node, before: str = "", text: str | None = None) -> None:
    """Print one line: `before`, id, kind, standing if it does not hold, text."""
    text = in_a_line(one) if text is None else flat(valued(one.key, text))
    state = "" if one.standing == "held" else f"[{one.standing}] "
    entry(short(one.id), one.kind, state + text, before)


def why(found: Why) -> None:
    """An indented tree: what each memory rests on stands below it. One that was shown above is only named."""
    nodes = {one.id: one for one in (found.memory, *found.reasons)}
    below: dict[str, list[tuple[str, str]]] = {}
    for link in found.links:
        if link.type == "supports":
            below.setdefault(link.target, []).append(("supported by ", link.source))
        else:
            below.setdefault(link.source, []).append(("caused by ", link.target))
    shown: set[str] = set()
    # Depth first without recursion: a chain may be longer than Python's stack.
    left = [(found.memory.id, 0, "")]
    while left:
        id, depth, relation = left.pop()
        if id in shown:
            line(f"{INDENT * depth}{relation}{short(id)}  (above)")
            continue
        shown.add(id)
        _node(nodes[id], INDENT * depth + relation)
        left += [(reason, depth + 1, how) for how, reason in reversed(below.get(id, []))]
    if not found.reasons:
        words("no reason is recorded" if not found.skipped else "no reason holds any more")
    _left_out(found.skipped, found.truncated)


def impact(found: Impact) -> None:
    """Decisions first, then the rest; under each what would remain of its reasons."""
    shown = [*found.affected, *found.rested_before]
    _node(found.memory)
    for title, several in (
        ("decisions that rest on it", [one for one in found.affected if one.node.kind == "decision"]),
        ("what else rests on it", [one for one in found.affected if one.node.kind != "decision"]),
    ):
        _title(title, len(several))
        for one in several:
            far = "" if one.depth == 1 else f", {one.depth} steps away"
            _node(one.node, INDENT)
            if one.falls:
                line(INDENT * 3 + paint(f"nothing else holds it up{far}", RED))
                continue
            line(INDENT * 3 + paint(f"would still rest on{far}:", GREEN))
            for reason in one.remaining:
                _node(reason, INDENT * 4)
    _title("to look at: what rests on what it replaced", len(found.rested_before))
    for one in found.rested_before:
        _node(one.node, INDENT)
    if not shown:
        words("nothing rests on it")
    _left_out(found.skipped, found.truncated)


def timeline(found: Timeline) -> None:
    """A line an entry: date, how it belongs here, memory."""
    width = max((len(one.relation) for one in found.moments), default=0)
    for one in found.moments:
        relation = f"{one.relation:<{width}}  " if found.by == "memory" else ""
        _node(one.node, f"{(format_time(one.at) or '')[:16].replace('T', ' ')}  {relation}", one.content)
    if not found.moments:
        words("nothing found")
    elif found.truncated:
        words("there is more; --limit shows it")


def outline(found: Any) -> None:
    """Print an answer by its JSON form: each list under its name, a line a memory or link, what hangs on it below."""
    shown = plain(found)
    is_empty = True
    for name, value in shown.items() if isinstance(shown, dict) else [("memories", shown)]:
        if isinstance(value, list) and value:
            is_empty = False
            line(paint(f"{name} ({len(value)})", BOLD))
            for one in value:
                _part(one, INDENT)
        elif isinstance(value, str):
            line(f"{name}: {flat(value)}")
    if is_empty:
        words("nothing found")
    if isinstance(shown, dict) and shown.get("truncated"):
        words("there is more; --depth and --limit show it")


def _part(one: dict[str, Any], before: str) -> None:
    if "source" in one:
        line(f"{before}{short(one['source'])} {one['type']} {short(one['target'])}")
        return
    more = short_ids(
        flat(
            ", ".join(
                name if value is True else value if isinstance(value, str) else f"{name} {value}"
                for name, value in one.items()
                if name not in _OF_A_NODE and isinstance(value, str | int | float) and value is not False
            )
        )
    )
    if "content" in one:
        state = "" if one["standing"] == "held" else f"[{one['standing']}] "
        text = flat(valued(one["key"], one["content"])) + (f"  ({more})" if more else "")
        entry(short(one["id"]), one["kind"], state + text, before)
    else:
        line(before + more)
    indent = " " * (len(before) - len(before.lstrip())) + INDENT
    for name, value in one.items():
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                _part(inner, f"{indent}{name}: ")


def _title(text: str, count: int) -> None:
    """Print the title of a part of an answer, if it has any lines."""
    if count:
        line(paint(f"{text} ({count})", BOLD))


def _left_out(skipped: dict[str, str], truncated: bool) -> None:
    if skipped:
        kinds = sorted(set(skipped.values()))
        words(f"{len(skipped)} left out ({', '.join(kinds)}); --all shows them")
    if truncated:
        words("there is more; --depth and --limit show it")
