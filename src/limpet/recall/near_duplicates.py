"""Near-duplicates: whether one text says what another says already.

Two statements of which one has a name, a number, a date, a negation or any word that says something and the other has
not are two. Pure: texts and cosines in, places out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import dataclass
from ..model.memory import is_below
from ..rank import constants as C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.memory import Memory

_WORD = re.compile(r"\w+")
# Characters up to which two texts are compared word by word; longer ones must be equal to be the same.
COMPARED = 2_000


@dataclass(frozen=True, slots=True)
class Wording:
    """What decides whether one result says what another says already."""

    text: str
    about: str  # what else must be equal: its key, its speaker, the day of an episode
    words: frozenset[str]
    first: frozenset[str]  # two texts that share SHARED_WORDS of their words share one of these


def wording(text: str, about: str = "") -> Wording:
    return Wording(text, about, *_words(text[:COMPARED]))


@lru_cache(maxsize=256)  # what stands and what is recent comes again with every brief
def _words(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a text, and the first so many of them in an order that all texts share: the long ones are rare.

    Source: prefix filtering, Chaudhuri et al., 2006.
    """
    words = frozenset(_WORD.findall(text.casefold()))
    if not words:
        return words, frozenset((text,))
    ordered = sorted(words)
    ordered.sort(key=len, reverse=True)
    return words, frozenset(ordered[: len(words) - math.ceil(len(words) * C.SHARED_WORDS) + 1])


def repeats(one: Wording, other: Wording, cosine: float | None) -> bool:
    """Whether two texts are one statement in two wordings.

    They must be near: by the cosine of their vectors, or without one by the words they share. The same words are near,
    whatever a model makes of backticks and full stops. And nothing may make them two statements: "every 30 days" is not
    "every 90 days", "the brass key" is not "the steel key", and what has a word more that says something ("a coroutine
    function") is not the same: four of five near docstrings with such a word said two things. Better show two than hide
    one.
    """
    if one.about != other.about:
        return False
    if one.text == other.text:
        return True
    if max(len(one.text), len(other.text)) > COMPARED:
        return False
    if cosine is not None:
        if cosine < C.DUPLICATE_COSINE and one.words != other.words:
            return False
    else:
        fewer, more = sorted((len(one.words), len(other.words)))
        if fewer < more * C.SHARED_WORDS:
            return False
        shared = len(one.words & other.words)
        if shared < (fewer + more - shared) * C.SHARED_WORDS:
            return False
    from ..text.difference import content, differences, other_values

    if content(one.text) != content(other.text) or other_values(one.text, other.text):
        return False
    found = differences(one.text, other.text)
    if found.conflict or any(each.a and each.b for each in found.found):
        return False
    from ..text.statements import clash

    return not found.found or clash(one.text, other.text) is None


def folded(
    several: Sequence[Wording],
    cosines: Mapping[tuple[int, int], float] | None = None,
    late: Callable[[], bool] = lambda: False,
) -> dict[int, int]:
    """Place of each wording that repeats an earlier one -> place of the first that it repeats.

    `cosines` of pairs (earlier, later) that have vectors. Only pairs that can be near are compared: those of near
    vectors, and those that share one of their first words. Once `late` says so, the rest stand for themselves.
    """
    known = cosines or {}
    near: dict[int, set[int]] = {}
    for (earlier, later), cosine in known.items():
        if cosine >= C.DUPLICATE_COSINE:
            near.setdefault(later, set()).add(earlier)
    seen: set[str] = set()
    shared: set[str] = set()
    for one in several:
        shared |= seen & one.first
        seen |= one.first
    holders: dict[str, list[int]] = {}
    same: dict[int, int] = {}
    for i, one in enumerate(several):
        if late():
            break
        found = near[i].difference(same) if i in near else set()
        common = one.first & shared
        for word in common:
            found.update(holders.get(word, ()))
        first = next((j for j in sorted(found) if repeats(several[j], one, known.get((j, i)))), None)
        if first is not None:
            same[i] = first
            continue
        for word in common:
            holders.setdefault(word, []).append(i)
    return same


def newest_of(several: Sequence[Memory]) -> int:
    """The place of the newest that is trusted as the first is, at least; the first of equals."""
    shown = [i for i, one in enumerate(several) if not is_below(one.trust, several[0].trust)]
    return max(shown, key=lambda i: (several[i].valid_from_us, -i))


def about(one: Memory) -> str:
    """What tells apart two memories of the same words: key, speaker, metadata, the day of an event."""
    day = one.valid_from_us // MICROSECONDS_PER_DAY if one.kind == "episode" else ""
    return f"{one.key or ''}/{one.speaker or ''}/{one.metadata or ''}/{day}"
