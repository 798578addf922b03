"""What to do about a new memory that is near an old one: merge, propose, or nothing.

Pure: the caller brings both texts and the cosine of their embeddings (content alone, without topics and metadata), of
the same kind and scope. Exact duplicates never come here: see `text/normalise.py`. Rewordings are no business of a
person's: recall folds them (`recall/near_duplicates.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from ..model.dataclass import dataclass
from ..model.memory import Memory
from ..rank.constants import CLASH_COSINE, DUPLICATE_COSINE, NEAR_DUPLICATE_COSINE
from ..store.records import Proposal
from ..text.difference import Difference, differences
from ..text.statements import Clash, clash, contradict, in_series, is_statement

Verdict = Literal["merge", "duplicate", "correction", "contradiction", "different"]
# Kinds of proposals that a comparison makes.
COMPARED = frozenset({"duplicate", "correction", "contradiction"})
_SILENT = Difference(found=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How two memories stand to one another.

    `merge`: the same memory. `duplicate`: the same statement, in words that the embedder finds further apart.
    `correction`: the newer gives another value of the same thing. `contradiction`: the one denies the other.
    `different`: nothing to do.
    """

    verdict: Verdict
    cosine: float
    difference: Difference  # empty when the cosine alone decided
    clash: Clash | None = None  # of a correction and a contradiction


def compare(a: str, b: str, cosine: float) -> Comparison:
    """Compare two texts of cosine -1 to 1. The order of the texts does not change the verdict.

    A difference of any kind is never merged. It becomes a proposal only where the rest is word for word the same and
    both cannot hold, or where one names the change itself: two statements that also differ in wording are mostly two
    subjects, not one subject corrected.
    """
    near = cosine >= NEAR_DUPLICATE_COSINE or _framed_alike(a, b)
    if not near and cosine < CLASH_COSINE:
        return Comparison(verdict="different", cosine=cosine, difference=_SILENT)
    found = differences(a, b) if near else _SILENT
    if near and found.same_statement:
        again: Verdict = "duplicate" if cosine >= NEAR_DUPLICATE_COSINE and is_statement(a) else "different"
        verdict: Verdict = "merge" if cosine >= DUPLICATE_COSINE else again
        return Comparison(verdict=verdict, cosine=cosine, difference=found)
    against = clash(a, b)
    if against is None or not (near or against.named):
        return Comparison(verdict="different", cosine=cosine, difference=found)
    return Comparison(verdict=against.kind, cosine=cosine, difference=Difference(found=(against.found,)), clash=against)


def _framed_alike(a: str, b: str) -> bool:
    """Whether half of the words or more are the same from either end: two values may be far apart by the embedder."""
    mine, theirs = a.casefold().split(), b.casefold().split()
    shorter = min(len(mine), len(theirs))
    first = next((i for i in range(shorter) if mine[i] != theirs[i]), shorter)
    last = next((i for i in range(shorter - first) if mine[-1 - i] != theirs[-1 - i]), shorter - first)
    return 2 * (first + last) >= shorter > 1


def stands(kind: str, one: Memory, other: Memory) -> bool:
    """Whether a proposal about two memories would still be made: rules get stricter, and rows stay."""
    if kind == "contradiction":
        return contradict(one.content, other.content, keys=(one.key, other.key))
    if kind not in COMPARED:
        return True
    if subject(one) != subject(other):
        return False
    if kind == "duplicate" and is_turn(one):
        return False
    return one.key is None and other.key is None and compare(one.content, other.content, 1.0).verdict in _AS[kind]


def subject(one: Memory) -> tuple[str, str]:
    """Who says it, and the heading that a piece of a document stands under: "Status: accepted" is said of that."""
    return one.speaker or "", str(one.metadata.get("heading") or "")


def is_turn(one: Memory) -> bool:
    """Whether it was said in a conversation, where the same words again are another turn and no duplicate."""
    return bool(one.speaker and one.session)


# What a comparison may say today of a proposal: two values may be told as opposites now, or the other way round.
_AS = {"duplicate": frozenset({"merge"}), "correction": frozenset({"correction", "contradiction"})}


def standing(waiting: Sequence[tuple[Proposal, Memory, Memory]]) -> list[tuple[Proposal, Memory, Memory]]:
    """What of (proposal, memory, other) would still be proposed: by the rules of today, and not out of a series."""
    kept = [one for one in waiting if stands(one[0].kind, one[1], one[2]) or is_stated(one[0])]
    frames: dict[object, set[str]] = {}
    places: dict[bytes, object] = {}
    for proposal, memory, other in kept:
        found = clash(memory.content, other.content) if proposal.kind == "correction" else None
        if found is not None and found.kind == "correction":
            place = places[proposal.id] = (proposal.scope, subject(memory), found.frame)
            frames.setdefault(place, set()).update((memory.id, other.id))
    return [one for one in kept if one[0].id not in places or len(frames[places[one[0].id]]) < 3]


def is_stated(proposal: Proposal) -> bool:
    """Whether somebody said that the other is wrong: the organizer compares no vectors, and proposes that alone."""
    return proposal.kind == "correction" and not proposal.score


def is_series(found: Clash | None, a: str, b: str, others: Iterable[str]) -> bool:
    """Whether two values are two of many siblings (worker 1, worker 2, worker 3), where nothing is corrected."""
    return found is not None and found.kind == "correction" and any(in_series(a, b, found.frame, one) for one in others)
