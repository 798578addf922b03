"""Token budgets: which results go into one, and one wording of each statement.

Pure: values, costs and texts in, places out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from ..model.dataclass import dataclass
from ..rank import constants as C

_WORD = re.compile(r"\w+")
# Characters up to which two texts are compared word by word; longer ones must be equal to be the same.
COMPARED = 2_000


def tokens_of(text: str) -> int:
    """Tokens that a text is counted as: characters by CHARACTERS_PER_TOKEN, those beyond ASCII as one each."""
    beyond = 0 if text.isascii() else sum(character > "\x7f" for character in text)
    return math.ceil((len(text) - beyond) / C.CHARACTERS_PER_TOKEN) + beyond


def fit(
    values: Sequence[float],
    costs: Sequence[float],
    budget: float,
    *,
    most: int | None = None,
    groups: Sequence[Sequence[str]] = (),
    group_costs: Mapping[str, float] | None = None,
) -> list[int]:
    """Places of the set worth most that fits into `budget`, in their order; at most `most` of them.

    The first place is taken if it fits. Then the better of two greedy ways: by value per token, or in the order of the
    values; what is too long for the room that is left is passed over. `groups` names the groups of each place, whose
    costs (of a heading) are paid with their first member. O(n log n).
    """
    heading = group_costs or {}
    of = groups or [()] * len(values)
    count = len(values) if most is None else most
    density = sorted(range(1, len(values)), key=lambda i: (-values[i] / max(costs[i], 1e-9), i))
    ordered = sorted(range(1, len(values)), key=lambda i: (-values[i], i))
    best: list[int] = []
    worth = -1.0
    for way in (ordered, density):
        chosen: list[int] = []
        open_: set[str] = set()
        left = budget
        for i in (0, *way) if values else ():
            if len(chosen) == count:
                break
            cost = costs[i] + sum(heading[group] for group in of[i] if group not in open_)
            if cost <= left:
                chosen.append(i)
                open_.update(of[i])
                left -= cost
        total = sum(values[i] for i in chosen)
        if total > worth + 1e-9:
            best, worth = chosen, total
    return sorted(best)


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


def distinct(several: Sequence[Wording], cosines: Mapping[tuple[int, int], float] | None = None) -> list[int]:
    """Places of the first wording of each statement. `cosines` as of `folded`."""
    same = folded(several, cosines)
    return [i for i in range(len(several)) if i not in same]
