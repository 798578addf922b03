"""How answers about the graph look in a terminal: a tree for `why`, lists with what matters first for the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..model.clock import format_time
from ..model.edges import INVERSES
from ..model.memory import valued
from ..store.records import MOST_WAITING
from .output import BOLD, DIM, GREEN, RED, day, entry, in_a_line, line, paint, printable, words

if TYPE_CHECKING:
    from ..api import Limpet
    from ..history.claims import Grounding, Revision, Support
    from ..history.consolidate import Consolidation
    from ..history.timeline import Change, Diff, Timeline
    from ..history.view import Link, Node
    from ..history.walk import GraphPath, Impact, Subgraph, Why
    from ..history.whole import Central, Contradictions, Gaps

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

    def node(self, one: Node, before: str = "", text: str | None = None) -> None:
        """Print one line: `before`, id, kind, standing if it does not hold, text."""
        text = in_a_line(one) if text is None else " ".join(printable(valued(one.key, text)).split())
        state = "" if one.standing == "held" else f"[{one.standing}] "
        entry(self(one.id), one.kind, state + text, before)

    def link(self, one: Link, before: str = "") -> None:
        line(f"{before}{self(one.source)} {one.type} {self(one.target)}")


def why(found: Why, memory: Limpet) -> None:
    """An indented tree: what each memory rests on stands below it. One that was shown above is only named."""
    nodes = {one.id: one for one in (found.memory, *found.reasons)}
    names = Names(memory, nodes)
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
            line(f"{INDENT * depth}{relation}{names(id)}  (above)")
            continue
        shown.add(id)
        names.node(nodes[id], INDENT * depth + relation)
        left += [(reason, depth + 1, how) for how, reason in reversed(below.get(id, []))]
    if not found.reasons:
        words("no reason is recorded" if not found.skipped else "no reason holds any more")
    _left_out(found.skipped, found.truncated)


def impact(found: Impact, memory: Limpet) -> None:
    """Decisions first, then the rest; under each what would remain of its reasons."""
    shown = [*found.affected, *found.rested_before]
    every = [found.memory, *(one.node for one in shown), *(n for one in found.affected for n in one.remaining)]
    names = Names(memory, (one.id for one in every))
    names.node(found.memory)
    for title, several in (
        ("decisions that rest on it", [one for one in found.affected if one.node.kind == "decision"]),
        ("what else rests on it", [one for one in found.affected if one.node.kind != "decision"]),
    ):
        _title(title, len(several))
        for one in several:
            far = "" if one.depth == 1 else f", {one.depth} steps away"
            names.node(one.node, INDENT)
            if one.falls:
                line(INDENT * 3 + paint(f"nothing else holds it up{far}", RED))
                continue
            line(INDENT * 3 + paint(f"would still rest on{far}:", GREEN))
            for reason in one.remaining:
                names.node(reason, INDENT * 4)
    _title("to look at: what rests on what it replaced", len(found.rested_before))
    for one in found.rested_before:
        names.node(one.node, INDENT)
    if not shown:
        words("nothing rests on it")
    _left_out(found.skipped, found.truncated)


def path(found: GraphPath, memory: Limpet) -> None:
    """From one end to the other, a line for each memory and each link."""
    if not found.found:
        words("no path between them" + (" within the limits; try a greater --depth" if found.truncated else ""))
        return
    names = Names(memory, (one.id for one in found.nodes))
    names.node(found.nodes[0])
    for link, before, node in zip(found.links, found.nodes, found.nodes[1:], strict=False):
        relation = link.type if link.source == before.id else INVERSES[link.type]
        names.node(node, f"{INDENT}{relation.replace('_', ' ')} ")


def timeline(found: Timeline, memory: Limpet) -> None:
    """A line an entry: date, how it belongs here, memory."""
    names = Names(memory, (one.node.id for one in found.moments))
    width = max((len(one.relation) for one in found.moments), default=0)
    for one in found.moments:
        relation = f"{one.relation:<{width}}  " if found.by == "memory" else ""
        names.node(one.node, f"{(format_time(one.at) or '')[:16].replace('T', ' ')}  {relation}", one.content)
    if not found.moments:
        words("nothing found")
    elif found.truncated:
        words("there is more; --limit shows it")


def contradictions(found: Contradictions, memory: Limpet) -> None:
    """Pairs, the surer memory first."""
    names = Names(memory, (node.id for one in found.found for node in one.memories))
    for one in found.found:
        why = f"both are values of {one.key}" if one.key else "linked as contradicting"
        if one.item is not None:
            why = f"waits for review: {memory.abbreviate([one.item], items=True)[0]}"
        line(paint(f"{why}{'' if one.open else ', decided'}", BOLD))
        for node in one.memories:
            names.node(node, f"{INDENT}{node.confidence_word:<9}  ")
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
    for gap, count in found.counts.items():
        _title(GAP_TITLES.get(gap, gap), count)
        several = [one for one in found.found if one.gap == gap]
        for one in several:
            names.node(one.node, INDENT)
            line(INDENT * 3 + paint(one.detail, DIM))
        _more(several, count)
    if not found.found:
        words("no gap found")


def diff(found: Diff, memory: Limpet) -> None:
    """What came, what went, what changed, and the links."""
    changes = [*found.began, *found.ended, *found.changed]
    ends = [id for one in (*found.linked, *found.unlinked) for id in (one.source, one.target)]
    names = Names(memory, [*(one.node.id for one in changes), *ends])
    line(paint(f"{format_time(found.start)} to {format_time(found.end)}", BOLD))
    _changes("+", "came to believe", found.began, found.counts["began"], names)
    _changes("-", "stopped believing", found.ended, found.counts["ended"], names)
    _changes("~", "believes in other words or terms", found.changed, found.counts["changed"], names)
    for sign, name, several in (("+", "linked", found.linked), ("-", "unlinked", found.unlinked)):
        _title(name, found.counts[name])
        for one in several:
            names.link(one, f"{sign} ")
        _more(several, found.counts[name])
    if not any(found.counts.values()):
        words("nothing changed")


def _changes(sign: str, title: str, several: Sequence[Change], count: int, names: Names) -> None:
    _title(title, count)
    for one in several:
        names.node(one.node, f"{sign} {day(one.node.valid_from)}  ")
        if one.how != "new":
            line(INDENT * 3 + paint(one.how + (f" by {names(one.by)}" if one.by else ""), DIM))
        if one.before is not None:
            line(INDENT * 3 + paint("was: " + " ".join(printable(valued(one.node.key, one.before)).split()), DIM))
    _more(several, count)


def subgraph(found: Subgraph, memory: Limpet) -> None:
    """The memories, nearest first, then the links among them."""
    names = Names(memory, (one.id for one in found.nodes))
    for one in found.nodes:
        names.node(one)
    for link in found.links:
        names.link(link)
    if not found.nodes:
        words("nothing found")
    _left_out({}, found.truncated)


def centrality(found: Sequence[Central], memory: Limpet) -> None:
    """A line a memory: its rank, links in and out."""
    names = Names(memory, (one.node.id for one in found))
    for one in found:
        names.node(one.node, f"{one.rank:.3f}  {one.links_in:>3} in {one.links_out:>3} out  ")
    if not found:
        words("no links yet")


def ground(found: Grounding, memory: Limpet) -> None:
    """The verdict, then what speaks for the claim and against it."""
    line(paint(found.verdict, BOLD))
    _beliefs("for it", found.supports, memory)
    _beliefs("against it", found.against, memory)
    _beliefs("near it", found.suggestions, memory)


def revise(found: Revision, memory: Limpet) -> None:
    """What would have to give, with what rests on it, then what agrees."""
    rests = [one for give in found.gives for one in give.affected]
    names = Names(memory, [*(one.node.id for one in found.gives), *(one.node.id for one in rests)])
    _title("would have to give", len(found.gives))
    for give in found.gives:
        names.node(give.node, INDENT)
        line(INDENT * 3 + paint(printable(give.because), DIM))
        for one in give.affected:
            names.node(one.node, INDENT * 2 + ("falls: " if one.falls else "would still stand: "))
    _beliefs("agrees", found.agrees, memory)
    if not found.gives and not found.agrees:
        words("nothing that is held speaks to it")


def consolidate(found: Consolidation, memory: Limpet) -> None:
    """A proposal at a time, with the first of its members."""
    names = Names(memory, (node.id for one in found.proposals for node in one.shown))
    for one in found.proposals:
        line(paint(f"{one.action} {one.members} of {printable(one.label)}", BOLD))
        for node in one.shown:
            names.node(node, INDENT)
    if not found.proposals:
        words("nothing to consolidate")
    for what, why in found.missing.items():
        words(f"{what}: {why}")


def _beliefs(title: str, several: Sequence[Support], memory: Limpet) -> None:
    _title(title, len(several))
    names = Names(memory, (one.node.id for one in several))
    for one in several:
        names.node(one.node, f"{INDENT}{one.similarity:.2f}  ")


def _title(text: str, count: int) -> None:
    """Print the title of a part of an answer, if it has any lines."""
    if count:
        line(paint(f"{text} ({count})", BOLD))


def _more(several: Sequence[object], count: int) -> None:
    if count > len(several):
        line(paint(f"{INDENT}... {count - len(several)} more", DIM))


def _left_out(skipped: dict[str, str], truncated: bool) -> None:
    if skipped:
        kinds = sorted(set(skipped.values()))
        words(f"{len(skipped)} left out ({', '.join(kinds)}); --all shows them")
    if truncated:
        words("there is more; --depth and --limit show it")
