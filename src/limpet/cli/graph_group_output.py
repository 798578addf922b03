"""How the answers of `limpet graph QUERY` look in a terminal, but for those with a command of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .graph_output import INDENT, Names, left_out
from .output import BOLD, DIM, YELLOW, line, paint, printable, words

if TYPE_CHECKING:
    from ..api import Limpet
    from ..history.claims import Grounding, Revision, Support
    from ..history.consolidate import Consolidation
    from ..history.timeline import Chain
    from ..history.walk import Subgraph
    from ..history.whole import Central


def chain(found: Chain, memory: Limpet) -> None:
    """Oldest first; the memory that was asked for is marked."""
    every = [*found.before, found.memory, *found.after]
    names = Names(memory, (one.id for one in every))
    for one in every:
        line(names.node(one, "> " if one is found.memory else "  "))
        if why := found.reasons.get(one.id):
            line(INDENT * 3 + paint(f"replaced: {printable(why)}", DIM))
    if len(every) == 1:
        words("it was never corrected")
    left_out({}, found.truncated)


def subgraph(found: Subgraph, memory: Limpet) -> None:
    """The memories, nearest first, then the links among them."""
    names = Names(memory, (one.id for one in found.nodes))
    for one in found.nodes:
        line(names.node(one))
    for link in found.links:
        line(f"{paint(names(link.source), YELLOW)} {link.type} {paint(names(link.target), YELLOW)}")
    if not found.nodes:
        words("nothing found")
    left_out({}, found.truncated)


def centrality(found: Sequence[Central], memory: Limpet) -> None:
    """A line a memory: its rank, links in and out."""
    names = Names(memory, (one.node.id for one in found))
    for one in found:
        line(names.node(one.node, f"{one.rank:.3f}  {one.links_in:>3} in {one.links_out:>3} out  "))
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
    if found.gives:
        line(paint(f"would have to give ({len(found.gives)})", BOLD))
    for give in found.gives:
        line(names.node(give.node, INDENT))
        line(INDENT * 3 + paint(printable(give.because), DIM))
        for one in give.affected:
            line(names.node(one.node, INDENT * 2, "falls: " if one.falls else "would still stand: "))
    _beliefs("agrees", found.agrees, memory)
    if not found.gives and not found.agrees:
        words("nothing that is held speaks to it")


def _beliefs(title: str, several: Sequence[Support], memory: Limpet) -> None:
    if not several:
        return
    names = Names(memory, (one.node.id for one in several))
    line(paint(f"{title} ({len(several)})", BOLD))
    for one in several:
        line(names.node(one.node, INDENT, f"{one.similarity:.2f}  "))


def consolidate(found: Consolidation, memory: Limpet) -> None:
    """A proposal at a time, with the first of its members."""
    names = Names(memory, (node.id for one in found.proposals for node in one.shown))
    for one in found.proposals:
        line(paint(f"{one.action} {one.members} of {printable(one.label)}", BOLD))
        for node in one.shown:
            line(names.node(node, INDENT))
    if not found.proposals:
        words("nothing to consolidate")
    for what, why in found.missing.items():
        words(f"{what}: {why}")
