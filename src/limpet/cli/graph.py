"""Commands over the typed graph: why, impact and `graph QUERY`. Each is a query of `memory.graph`."""

from __future__ import annotations

from ..model.encode import plain
from ..model.ids import shorten_ids
from ..model.memory import EDGE_TYPES, valued
from .output import BOLD, flat, in_a_line, line, paint, short, words
from .tables import entry
from .verbs import GRAPH, ID, LOOK, TIME_FORMS, TIMES, Verb, arg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from ..api import Limpet
    from ..history.walk import Why
    from .verbs import Argument

TYPES = arg("--type TYPE...", "only links of this type; repeat it (default: all)", dest="types", choices=EDGE_TYPES)


def _limit(default: int, what: str = "memories") -> Argument:
    return arg("--limit COUNT", f"how many {what} at most", default=default)


def _depth(default: int) -> Argument:
    return arg("--depth STEPS", "how far to go", default=default)


def query(name: str, about: str, example: str, *arguments: Argument, command: str = "", **more: Any) -> Verb:
    """Make the row of a command that asks `memory.graph`; arguments have the query's names, and None is left out."""
    names = [_dest(argument) for argument in arguments]

    def run(memory: Limpet, args: Namespace) -> Any:
        given = {name: value for name in names if (value := getattr(args, name)) is not None}
        return getattr(memory.graph, name)(**given)

    group, show = (LOOK, _why if name == "why" else _outline) if command else (GRAPH, _outline)
    return Verb(name=command or f"graph {name}", group=group, about=about, run=run, show=show, arguments=arguments,
                example=example, **more)  # fmt: skip


def _why(answer: Why, memory: Limpet, args: Namespace) -> None:
    """Print an indented tree: below each memory what it rests on, and below all what it replaced and why. A memory
    that is above already is only named."""
    nodes = {node.id: node for node in (answer.memory, *answer.reasons)}
    below: dict[str, list[tuple[str, str]]] = {}
    for link in answer.links:
        if link.type == "supports":
            below.setdefault(link.target, []).append(("supported by ", link.source))
        else:
            below.setdefault(link.source, []).append(("caused by ", link.target))
    shown: set[str] = set()
    # Depth first without recursion: a chain may be longer than Python's stack.
    left = [(answer.memory.id, "", "")]
    while left:
        id, indent, relation = left.pop()
        node = nodes[id]
        if id in shown:
            line(f"{indent}{relation}{short(id)}  (above)")
            continue
        shown.add(id)
        state = "" if node.standing == "held" else f"[{node.standing}] "
        entry(short(id), node.kind, state + in_a_line(node), indent + relation)
        left += [(reason, indent + "  ", how) for how, reason in reversed(below.get(id, []))]
    chain = memory.graph.chain(answer.memory.id)
    replaced = [node for node in chain.before if node.id in chain.reasons]
    for node in replaced:
        line(f"replaced {short(node.id)}  {in_a_line(node)}, because {flat(chain.reasons[node.id])}")
    if not answer.reasons and not replaced:
        words("no reason holds any more" if answer.skipped else "no reason is recorded")
    _left_out(answer.skipped, answer.truncated, args)


# Fields of every node: a line of an outline shows the first ones, and all others behind the text.
_OF_A_NODE = {
    "id", "kind", "content", "key", "standing", "scope", "confidence", "confidence_word", "origin", "valid_from",
    "valid_to", "recorded_at", "importance", "session", "position", "superseded_by", "reason", "at", "weight", "event",
}  # fmt: skip


def _outline(answer: Any, _: Limpet, args: Namespace) -> None:
    """Print an answer by its JSON form: each list under its name, a line a memory or link, its parts below it."""
    shown = plain(answer)
    is_empty = True
    for name, value in shown.items() if isinstance(shown, dict) else [("memories", shown)]:
        if isinstance(value, list) and value:
            is_empty = False
            line(paint(f"{name.replace('_', ' ')} ({len(value)})", BOLD))
            for part in value:
                _part(part, "  ")
        elif isinstance(value, str) and value:
            line(f"{name.replace('_', ' ')}: {flat(value)}")
        elif isinstance(value, dict) and "content" in value:
            _part(value, "")
    if is_empty:
        words("nothing found")
    if isinstance(shown, dict):
        _left_out(shown.get("skipped", {}), shown.get("truncated", False), args)


def _left_out(skipped: dict[str, str], truncated: bool, args: Namespace) -> None:
    """Print that a walk left something out. `skipped`: id -> standing."""
    if skipped:
        words(f"{len(skipped)} left out ({', '.join(sorted(set(skipped.values())))})")
    if truncated:
        words("there is more; try a larger " + " or ".join(f"--{name}" for name in ("depth", "limit") if name in args))


def _part(part: dict[str, Any], before: str) -> None:
    """Print a memory or a link of an outline, and its parts below it."""
    if "source" in part and "type" in part:
        line(f"{before}{short(part['source'])} {part['type']} {short(part['target'])}")
        return
    more = ", ".join(
        name if value is True else value if isinstance(value, str) else f"{name} {value}"
        for name, value in part.items()
        if name not in _OF_A_NODE and isinstance(value, str | int | float) and value is not False
    )
    more = shorten_ids(flat(more))
    if "content" in part:
        at = f"{part['at'][:16].replace('T', ' ')}  " if "at" in part else ""
        state = "" if part["standing"] == "held" else f"[{part['standing']}] "
        text = flat(valued(part["key"], part["content"])) + (f"  ({more})" if more else "")
        entry(short(part["id"]), part["kind"], at + state + text, before)
    else:
        line(before + more)
    indent = " " * (len(before) - len(before.lstrip()) + 2)
    for name, value in part.items():
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict) and inner and "depths" not in name:
                _part(inner, f"{indent}{name.replace('_', ' ')}: ")


def _dest(argument: Argument) -> str:
    usage, _, settings = argument
    name: str = settings.get("dest", usage.strip("[].").split()[0].lstrip("-").removesuffix("..."))
    return name.lower().replace("-", "_")


_REASONS = (ID, _depth(5), *TIMES)
VERBS = (
    query("why", "what a memory rests on, back to the facts",
          'limpet why 7rk2qm\nlimpet why 7rk2qm --known-at "3 days ago"', *_REASONS, command="why"),
    query("impact", "what rests on a memory, decisions first, and what would remain of their reasons",
          "limpet impact c04vxn --depth 3", *_REASONS, command="impact"),
    Verb(
        name="graph", group=GRAPH, about="a query over the links of memories",
        example='limpet graph path 7rk2qm c04vxn\nlimpet graph ground "the gateway allows 100 requests a minute"',
    ),
    query("path", "the shortest way from one memory to another along links",
          "limpet graph path 7rk2qm c04vxn --type caused_by --type supports",
          arg("A", "one memory: an id, or its beginning"), arg("B", "the other"), TYPES, _depth(8), *TIMES,
          code=lambda path: 0 if path.found else 1),
    query("context", "what surrounds some memories, and the links among all of it",
          "limpet graph context 7rk2qm c04vxn --depth 1",
          arg("ID...", "memories: ids, or their beginnings", dest="ids"), _depth(2), _limit(200), *TIMES),
    query("timeline", "memories along time: around one, of a key, about something",
          "limpet graph timeline user.city\nlimpet graph timeline 7rk2qm --limit 20",
          arg("[WHAT]", "a memory's id, a key (SUBJECT.ATTRIBUTE) or words (default: the newest of all)"),
          _limit(50), *TIMES),
    query("contradictions", "pairs of memories that cannot both hold", "limpet graph contradictions",
          _limit(200, "pairs"), *TIMES),
    query("gaps", "weak places: decisions without reasons, thin foundations, stale beliefs, changed code",
          "limpet graph gaps --gap unjustified_decision --limit 50",
          arg("--gap GAP...", "only this one; repeat it: unjustified_decision, single_source_inference, "
              "weak_foundation, superseded_often, stale, code", dest="kind"),
          _limit(20, "of each")),
    query("diff", "what the store came to believe and stopped believing between two moments",
          'limpet graph diff "2 weeks ago"\nlimpet graph diff 2026-01-01 2026-02-01',
          arg("START", f"the earlier moment: {TIME_FORMS}"), arg("[END]", "the later one (default: now)"),
          arg("--as-of TIME", "beliefs about this one instant (default: each moment about itself)"),
          _limit(200, "of each")),
    query("centrality", "the memories on which most turns", "limpet graph centrality --type caused_by",
          TYPES, _limit(20)),
    query("ground", "which beliefs support a claim, and which speak against it",
          'limpet graph ground "the gateway allows 100 requests a minute"',
          arg("CLAIM", "what may be so, in words"), _limit(20, "beliefs")),
    query("revise", "what would have to give if a claim were true; changes nothing",
          'limpet graph revise "the gateway allows 500 requests a minute"',
          arg("CLAIM", "what would be so, in words"),
          arg("--against ID...", "a belief that it contradicts; repeat it"), _limit(20, "beliefs")),
    query("consolidate", "what could be merged, summarised or compressed; changes nothing",
          "limpet graph consolidate", _limit(50, "proposals of each kind")),
)  # fmt: skip
