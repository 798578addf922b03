"""Near-duplicate folding: a result that says what a better one says is listed under it and takes no place of its own.

Of those that say the same the newest is shown, in the place of the best: where the fold is wrong, what holds is seen.

What counts as the same is `recall/token_budget.py`'s measure, that of budgets and briefs: two statements of which one
has a name, a number, a date, a negation or any word that says something and the other has not are two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import dataclass
from ..model.memory import is_below
from ..rank import constants as C
from ..text.excerpt import one_line
from .token_budget import fit, folded, tokens_of, wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.memory import Memory
    from ..store import Store
    from .candidates import Candidates
    from .plan import Plan

# How far below the best `k` it is looked for what takes the places that became free: as far again.
REACH = 2
# The same for a token budget, which may pass over the long ones among them.
REACH_WITHIN = 3
# Its name in `missing`.
FOLDING = "folding"
REPEATS = "near-duplicate of a better one"
# Where all have vectors and none are nearer than this, no two are taken for the same: the same words with and without
# backticks, a full stop and capitals had 0.88 by MiniLM in the pair of test_near_duplicates.py, 0.97 with one more full
# stop.
SAME_WORDS_COSINE = 0.8


@dataclass(frozen=True, slots=True)
class Chosen:
    """Results by their places among the candidates, and what stood aside for them."""

    places: list[int]
    memories: list[Memory]  # theirs
    also: dict[int, list[int]]  # of a result, the near-duplicates that it stands for
    dropped: list[tuple[int, str]]  # what was left out, and why
    truncated: bool = False  # a token budget left something out


def best(store: Store, found: Candidates, order: Sequence[int], plan: Plan) -> Chosen:
    """The best `plan.k` of `order` that say different things, as far as the deadline lets them be compared.

    Only where something among the best `k` says the same is anything below them read.
    """
    k = plan.k
    first = list(order[:k])
    several = found.memories(store, first)
    same = _same(found, first, several, plan)
    if same:
        first = list(order[: k * REACH])
        several = found.memories(store, first)
        same = _same(found, first, several, plan)
        _newest_shown(first, several, same)
    kept = [place for place in range(len(first)) if place not in same][:k]
    also = _also(first, same, kept)
    dropped = [(i, REPEATS) for folded in also.values() for i in folded]
    return Chosen([first[place] for place in kept], [several[place] for place in kept], also, dropped)


def best_within(store: Store, found: Candidates, order: Sequence[int], plan: Plan, budget_tokens: int) -> Chosen:
    """Of the best distinct ones, at most `plan.k`, those that are worth most together within a token budget."""
    k = plan.k
    first = list(order[: k * REACH_WITHIN])
    several = found.memories(store, first)
    same = _same(found, first, several, plan)
    _newest_shown(first, several, same)
    places = [place for place in range(len(first)) if place not in same]
    # What a result is worth falls with its rank about as its chance to be the answer does.
    chosen = fit(
        [1 / (place + 1) for place in places],
        [C.TOKENS_PER_ITEM + tokens_of(several[place].content) for place in places],
        budget_tokens,
        most=k,
    )
    kept = [places[i] for i in chosen]
    dropped = [(first[place], REPEATS) for place in same]
    if len(chosen) < k:
        dropped += [(first[place], "over the token budget") for i, place in enumerate(places) if i not in chosen]
    return Chosen(
        [first[place] for place in kept],
        [several[place] for place in kept],
        _also(first, same, kept),
        dropped,
        truncated=len(chosen) < min(k, len(places)) or chosen != list(range(len(chosen))),
    )


def _same(found: Candidates, first: Sequence[int], several: Sequence[Memory], plan: Plan) -> dict[int, int]:
    """Place in `first` of what is folded -> place of what stands for it. `several`: their memories."""
    if len(first) < 2 or FOLDING in found.missing:
        return {}
    cosines = found.hits.among([found.table.text_ids[i] for i in first]) if found.hits is not None else {}
    known = {place for pair in cosines for place in pair}
    if len(known) == len(first) and max(cosines.values()) < SAME_WORDS_COSINE:
        return {}

    def late() -> bool:
        if plan.remaining() > 0:
            return False
        if FOLDING not in found.missing:
            found.miss(FOLDING, "the deadline came before all results were compared: some may say the same")
        return True

    in_time = takewhile(lambda _: not late(), several)
    return folded([wording(one.content, about(one)) for one in in_time], cosines, late)


def _newest_shown(first: list[int], several: list[Memory], same: Mapping[int, int]) -> None:
    """Put the newest of those that say the same in the place of what stands for them: not what is trusted less."""
    groups: dict[int, list[int]] = {}
    for later, earlier in sorted(same.items()):
        groups.setdefault(earlier, [earlier]).append(later)
    for place, group in groups.items():
        newest = group[newest_of([several[one] for one in group])]
        first[place], first[newest] = first[newest], first[place]
        several[place], several[newest] = several[newest], several[place]


def newest_of(several: Sequence[Memory]) -> int:
    """The place of the newest that is trusted as the first is, at least; the first of equals."""
    shown = [i for i, one in enumerate(several) if not is_below(one.trust, several[0].trust)]
    return max(shown, key=lambda i: (several[i].valid_from_us, -i))


def _also(first: Sequence[int], same: Mapping[int, int], kept: Sequence[int]) -> dict[int, list[int]]:
    also: dict[int, list[int]] = {}
    for later, earlier in same.items():
        if earlier in kept:
            also.setdefault(first[earlier], []).append(first[later])
    return also


def about(one: Memory) -> str:
    """What tells apart two memories of the same words: key, speaker, metadata, the day of an event."""
    day = one.valid_from_us // MICROSECONDS_PER_DAY if one.kind == "episode" else ""
    return f"{one.key or ''}/{one.speaker or ''}/{one.metadata or ''}/{day}"


def once(nums: Sequence[int], memories: dict[int, Memory]) -> list[int]:
    """Without episodes that quote what stands there itself, or what an episode of more value quotes."""
    from ..text.quoted import quoted_in

    quotes = {num: quoted_in(one.kind, one.source, one.content) for num in nums if (one := memories[num])}
    said = {_begins(memories[num].content) for num in nums if not quotes[num]}
    left_out = set()
    for num in nums:
        begins = {_begins(one) for one in quotes[num]}
        if begins & said:
            left_out.add(num)
        said |= begins
    return [num for num in nums if num not in left_out]


def _begins(text: str) -> str:
    """A statement as far as an episode quotes it."""
    from ..text.quoted import QUOTED_CHARACTERS

    return one_line(text)[: QUOTED_CHARACTERS - 1].rstrip("… ")
