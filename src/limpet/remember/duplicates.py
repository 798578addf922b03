"""What to do about a new memory that is near an old one: merge, propose, or nothing.

Pure: the caller brings both texts and the cosine of their embeddings (content alone, without topics and metadata), of
the same kind and scope. Exact duplicates never come here: see `text/normalise.py`. Rewordings are no business of a
person's: recall folds them (`recall/fold.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..model.memory import Memory
from ..rank.constants import DUPLICATE_COSINE, NEAR_DUPLICATE_COSINE
from ..text.difference import Difference, differences
from ..text.statements import Clash, ceased, clash, in_series

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
    both cannot hold: two statements that also differ in wording are mostly two subjects, not one subject corrected.
    """
    if cosine < NEAR_DUPLICATE_COSINE:
        return Comparison(verdict="different", cosine=cosine, difference=_SILENT)
    found = differences(a, b)
    if found.same_statement:
        verdict: Verdict = "merge" if cosine >= DUPLICATE_COSINE else "duplicate"
        return Comparison(verdict=verdict, cosine=cosine, difference=found)
    against = clash(a, b)
    if against is None:
        return Comparison(verdict="different", cosine=cosine, difference=found)
    return Comparison(
        verdict=against.kind, cosine=cosine, difference=Difference(found=(against.found,)), clash=against
    )


def denies_value(statement: Memory, fact: Memory) -> bool:
    """Whether a statement says that the value of a key holds no more."""
    return fact.key is not None and statement.key is None and ceased(statement.content, fact.content)


def stands(kind: str, one: Memory, other: Memory) -> bool:
    """Whether a proposal about two memories would still be made: rules get stricter, and rows stay."""
    if kind not in COMPARED:
        return True
    if kind == "contradiction" and (one.key is not None or other.key is not None):
        return denies_value(one, other) or denies_value(other, one)
    return one.key is None and other.key is None and compare(one.content, other.content, 1.0).verdict in _AS[kind]


# What a comparison may say today of a proposal: two values may be told as opposites now, or the other way round.
_AS = {
    "duplicate": frozenset({"merge"}),
    "correction": frozenset({"correction", "contradiction"}),
    "contradiction": frozenset({"contradiction"}),
}


def is_series(found: Clash | None, a: str, b: str, others: Iterable[str]) -> bool:
    """Whether two values are two of many siblings (worker 1, worker 2, worker 3), where nothing is corrected."""
    return found is not None and found.kind == "correction" and any(in_series(a, b, found.frame, one) for one in others)
