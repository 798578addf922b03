"""What to do about a new memory that is near an old one: merge, flag, propose a correction, or nothing.

Pure: the caller brings both texts and the cosine of their embeddings (content alone, without topics and metadata), of
the same kind and scope. Exact duplicates never come here: see `text/normalise.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..rank.constants import DUPLICATE_COSINE, NEAR_DUPLICATE_COSINE
from ..text.difference import Difference, differences

Verdict = Literal["merge", "flag", "correction", "contradiction", "different"]
# Kinds of difference by which one text denies the other; the rest give another value.
_DENYING = frozenset({"negation", "opposite", "roles"})
_SILENT = Difference(found=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How two memories stand to one another.

    `merge`: the same memory. `flag`: perhaps the same, look later. `correction`: the newer gives another value, propose
    that it supersedes. `contradiction`: the one denies the other, propose the edge. `different`: nothing to do.
    """

    verdict: Verdict
    cosine: float
    difference: Difference  # empty when the cosine alone decided


def compare(a: str, b: str, cosine: float) -> Comparison:
    """Compare two texts of cosine -1 to 1. The order of the texts does not change the verdict.

    A difference that makes two statements is never merged. Below DUPLICATE_COSINE it becomes a proposal only when it is
    all that differs: two statements that also differ in wording are mostly two subjects, not one subject corrected.
    """
    if cosine < NEAR_DUPLICATE_COSINE:
        return Comparison(verdict="different", cosine=cosine, difference=_SILENT)
    found = differences(a, b)
    return Comparison(verdict=_verdict(found, cosine), cosine=cosine, difference=found)


def _verdict(found: Difference, cosine: float) -> Verdict:
    if found.conflict:
        if cosine < DUPLICATE_COSINE and found.kinds & {"wording", "detail"}:
            return "different"
        return "contradiction" if found.kinds & _DENYING else "correction"
    return "merge" if found.same_statement and cosine >= DUPLICATE_COSINE else "flag"
