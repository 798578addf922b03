"""Packing: near-duplicates take one place of an answer, and what is left fits into its token budget.

Two texts say the same if they have the same words in the same order, but for case and words that say nothing ("the",
"already"), or if a model was sure of it when it read both (`relate/`): better show two than hide one. The newest of
them is shown, with the score of the best: so a wrong fold still shows what holds.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import dataclass
from ..model.memory import is_below
from ..rank import constants as C
from ..relate.verdicts import RESOLVES, SURE
from ..text.lexicon import content
from .newer import SAME, solutions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ..model.memory import Memory
    from ..store import Store
    from .answer import Item
    from .candidates import Candidates
    from .plan import Plan
    from .score import Ranking

    T = TypeVar("T", bound=Hashable)


def wording(text: str, about: str = "") -> Hashable:
    """Return what is equal for texts that say the same. `about`: what else must be equal, as a key or a speaker."""
    return about, content(text) or text


def newest_of(memories: Sequence[Memory]) -> int:
    """Return the place of the newest memory that is trusted at least as much as the first; the first of equals."""
    shown = [i for i, memory in enumerate(memories) if not is_below(memory.trust, memories[0].trust)]
    return max(shown, key=lambda i: (memories[i].valid_from_us, -i))


def about(memory: Memory, *, metadata: bool = True) -> str:
    """Return what tells apart memories of the same words: key, speaker, the day of an event, and `metadata`, which a
    brief does not show."""
    day = memory.valid_from_us // MICROSECONDS_PER_DAY if memory.kind == "episode" else ""
    return f"{memory.key or ''}/{memory.speaker or ''}/{day}/{(metadata and memory.metadata) or ''}"


def groups_of(wordings: Mapping[T, Hashable], read: Iterable[tuple[T, T]] = ()) -> list[list[T]]:
    """Group what says the same, each group in order. `read`: pairs that a model took for the same, of any items. Two
    groups are one if half of the larger was taken for some of the smaller: a chain of likenesses drifts away."""
    group: dict[Hashable, set[Hashable]] = {words: {words} for words in wordings.values()}
    linked: dict[Hashable, set[Hashable]] = {words: set() for words in group}
    pairs = [(wordings[one], wordings[other]) for one, other in read if wordings.keys() >= {one, other}]
    for one, other in pairs:
        linked[one].add(other)
        linked[other].add(one)
    grown = True
    while grown:
        grown = False
        for one, other in pairs:
            smaller, larger = sorted((group[one], group[other]), key=len)
            if smaller is not larger and 2 * sum(not linked[words].isdisjoint(smaller) for words in larger) >= len(
                larger
            ):
                larger |= smaller
                group.update(dict.fromkeys(smaller, larger))
                grown = True
    groups: dict[int, list[T]] = {}
    for item, words in wordings.items():
        groups.setdefault(id(group[words]), []).append(item)
    return list(groups.values())


# So many times `k` results are read to fill places that become free; more with a token budget, which may pass over long
# ones.
REACH, REACH_WITHIN = 2, 3
# So many of those that a memory replaced are told with it.
REPLACED = 3


@dataclass(frozen=True, slots=True)
class Packed:
    """Results by their places among the candidates, and what was left out for them."""

    places: list[int]
    also: dict[int, list[int]]  # result -> the near-duplicates that it stands for
    dropped: list[tuple[int, str]]  # what was left out, and why
    before: dict[int, list[int]]  # result -> the older ones that it replaced or resolved, the newest first
    solved: dict[int, Memory]  # result -> what solved the problem that it tells
    truncated: bool = False  # the token budget left something out


def pack(store: Store, candidates: Candidates, ranking: Ranking, plan: Plan) -> Packed:
    """Choose the best `plan.k` that say different things; within a token budget those that are worth most together."""
    k, budget = plan.k, plan.budget_tokens
    before = _replaced(ranking) if ranking.changed else {}
    order = ranking.order
    for older in before.values():
        order = [i for i in order if i not in older]
    first = order[: k if budget is None else k * REACH_WITHIN]
    groups, solved = _same(store, candidates, first), _solved(store, candidates, first, plan)
    if (len(groups) < len(first) or solved) and budget is None:  # only then is anything below the best read
        first = order[: k * REACH]
        groups, solved = _same(store, candidates, first), _solved(store, candidates, first, plan)
    told = {memory.id for memory in solved.values()}
    memories = dict(zip(first, candidates.memories(store, first), strict=True))
    shown: list[int] = []
    also: dict[int, list[int]] = {}
    for group in groups:
        best = group[0]
        if memories[best].id in told:
            continue
        shown.append(best)
        if len(group) > 1:
            newest = shown[-1] = group[newest_of([memories[i] for i in group])]
            also[newest] = [i for i in group if i != newest]
            if newest != best:
                ranking.add("folded", {newest: ranking.scores[best] - ranking.scores[newest]})
    chosen = list(range(min(k, len(shown))))
    if budget is not None:
        # A result's worth falls with its rank about as its chance to be the answer does.
        also_told = {i: [*dict(candidates.also_said.get(i, ())).values()] for i in shown}
        for i in also_told.keys() & solved.keys():
            also_told[i].append(solved[i].content)
        costs = [cost_of(memories[i], also_told[i]) for i in shown]
        chosen = fit([1 / (place + 1) for place in range(len(shown))], costs, budget, most=k)
    kept = [shown[place] for place in chosen]
    also = {i: also[i] for i in kept if i in also}
    before = {i: before[i] for i in kept if i in before}
    dropped = [(i, "near-duplicate of a better one") for duplicates in also.values() for i in duplicates]
    dropped += [(i, "replaced by a newer one") for older in before.values() for i in older]
    dropped += [(i, "told with what it solves") for i in first if memories[i].id in told]
    for i in kept:
        if earlier := candidates.before.get(i):
            before[i] = [*before.get(i, ()), *earlier[:REPLACED]]
    if budget is not None and len(kept) < k:
        dropped += [(i, "over the token budget") for i in shown if i not in kept]
    cut = budget is not None and (len(chosen) < min(k, len(shown)) or chosen != list(range(len(chosen))))
    return Packed(kept, also, dropped, before, {i: solved[i] for i in kept if i in solved}, truncated=cut)


def _replaced(ranking: Ranking) -> dict[int, list[int]]:
    """Return for each candidate the older ones that it surely replaced, or resolved, also by way of others."""
    sure = {
        older: newer
        for older, (newer, what) in ranking.changed.items()
        if what.endswith(SURE) or what.startswith(RESOLVES)
    }
    before: dict[int, list[int]] = {}
    for older in sure:
        newest, passed = older, {older}
        while newest in sure and sure[newest] not in passed:
            newest = sure[newest]
            passed.add(newest)
        if newest not in sure:
            before.setdefault(newest, []).append(older)
    return before


def _same(store: Store, candidates: Candidates, first: Sequence[int]) -> list[list[int]]:
    """Group the first candidates that say the same, the best of each group first."""
    ids, memories = [candidates.table.ids[i] for i in first], candidates.memories(store, first)
    wordings = {id: wording(memory.content, about(memory)) for id, memory in zip(ids, memories, strict=True)}
    read = [(older, newer) for what, older, newer in candidates.warnings(store, first) if what == SAME]
    place = dict(zip(ids, first, strict=True))
    return [[place[id] for id in group] for group in groups_of(wordings, read)]


def _solved(store: Store, candidates: Candidates, first: Sequence[int], plan: Plan) -> dict[int, Memory]:
    """Return what solved the problems that some of the first candidates tell: each once, and none that stands above."""
    solved, shown = {}, set[str]()
    found = solutions(store, plan, candidates.warnings(store, first))
    for i, memory in zip(first, candidates.memories(store, first), strict=True) if found else ():
        cure = found.get(candidates.table.ids[i])
        if memory.id not in shown and cure is not None and cure.id not in shown:
            solved[i] = cure
            shown.add(cure.id)
        shown.add(memory.id)
    return solved


def tokens_of(text: str) -> int:
    """Count a text's tokens: characters by CHARACTERS_PER_TOKEN, those beyond ASCII as one each."""
    beyond = 0 if text.isascii() else sum(character > "\x7f" for character in text)
    return math.ceil((len(text) - beyond) / C.CHARACTERS_PER_TOKEN) + beyond


def cost_of(item: Item | Memory, also: Iterable[str] = ()) -> int:
    """Count the tokens of a result, with the texts that were merged into it."""
    return C.TOKENS_PER_ITEM + sum(map(tokens_of, (item.content, *also)))


def fit(
    values: Sequence[float],
    costs: Sequence[float],
    budget: float,
    *,
    most: int | None = None,
    groups: Sequence[Sequence[str]] = (),
    group_costs: Mapping[str, float] | None = None,
) -> list[int]:
    """Return places of the most valuable set that fits into `budget`, in their order; at most `most` of them.

    The first place is taken if it fits. Then the better of two greedy ways: by value per token, or in the order of the
    values; what does not fit is passed over. `groups` names the groups of each place, whose costs (of a heading) are
    paid with their first member. O(n log n).
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
