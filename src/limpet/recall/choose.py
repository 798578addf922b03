"""Selection for a brief: the set of candidates worth most within its token budget, each with what speaks against it.

What the candidates are, and what each is worth, is in `prepare.py`.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import NamedTuple, replace
from ..model.ids import parse_id
from ..model.memory import GLOBAL_SCOPE, Memory, is_unconfirmed
from ..model.unfrozen import unfrozen
from ..rank import adjust
from ..rank import constants as C
from ..text.excerpt import excerpt, one_line, words_of
from ..text.turns import essential
from .brief import (
    BEWARE,
    INTRO,
    SECTIONS,
    SHORT_INTRO,
    STALE_LINE,
    TERSE_TOKENS,
    Brief,
    BriefItem,
    Caution,
    Section,
    mark,
    more_rules,
    stats_line,
)
from .candidates import Candidates
from .disputes import Warned, warnings
from .entries import Entries, Entry
from .near_duplicates import folded, newest_of, wording
from .pack import fit, tokens_of
from .plan import Plan

if TYPE_CHECKING:
    from ..store import Store

# How many a section holds at most.
MOST = {
    "context": 200, "facts": 8, "matches": 10, "goals": 5, "activity": 5, "threads": 4,
    "recent": 6, "used": 6, "stale": 4,
}  # fmt: skip
# How long a correction is news, in days.
CORRECTED_DAYS = 30
# How many of the statements that one replaced are named.
REPLACED_SHOWN = 3
# Rules are compared until they would take so many budgets: what is worth less does not fit.
RULES_COMPARED = 1.5
# Tokens: of an item's mark with the longest short id, kind and origin; of such an id; of the words of a caution.
MARK_TOKENS, ID_TOKENS, CAUTION_TOKENS = 21, 11, 20
_Unfrozen = unfrozen(BriefItem)


class Caveat(NamedTuple):
    """What has to be said with an item when it is shown. `others`: ids; `at`: microseconds UTC."""

    what: str
    others: tuple[str, ...]
    at: int | None


def choose(
    store: Store, plan: Plan, entries: Entries, found: Candidates, stats: dict[str, int], started: float,
    *, answers: bool = True,
) -> Brief:  # fmt: skip
    """The entries worth most within the budget, as sections in the order of the page.

    `answers`: whether anything answers the message. Else there are TERSE_TOKENS, for the rules first.
    """
    budget = plan.budget_tokens or C.BRIEF_TOKENS
    nums = sorted(entries.by_num, key=lambda num: (-entries.by_num[num].value, num))
    memories = dict(zip(nums, store.memories.by_rows(nums), strict=True))
    least = budget if answers else min(budget, TERSE_TOKENS)
    # What is no answer is quoted from its beginning: a rule must not be read without it.
    quotes = _Quotes(words_of(plan.query) if answers else frozenset(), least)
    nums, beyond = _standing_apart(store, plan, nums, entries, memories, found, quotes)

    warned, others = warnings(store, plan, [memories[num] for num in nums])
    rules = {num for num in nums if entries.by_num[num].section == "context"}
    caveats = {num: _caveats(memories[num], warned, plan.now, terse=least <= TERSE_TOKENS) for num in nums}
    if not answers:
        quotes.measure(store, [memories[num] for num in nums])
    costs = {
        num: quotes.cost(memories[num], entries.by_num[num].label)
        + sum(_caveat_cost(one, others, quotes) for one in caveats[num])
        for num in nums
    }
    frame = _frame(answers, stats)
    chosen, unsaid = _chosen(
        [Choice(num, (entry := entries.by_num[num]).value, costs[num], _groups(entry, caveats[num])) for num in nums],
        rules, least - frame, answers=answers, beyond=beyond,
        line=tokens_of(f"- {more_rules(len(rules) + beyond, entries.many_rules, apart=least < budget)}\n"),
    )  # fmt: skip
    named = [id for num in chosen for one in caveats[num] for id in one.others]
    short = _short_ids(store, [*(memories[num].id for num in chosen), *named])
    items = {num: _item(memories[num], entries.by_num[num], short, quotes, plan.now) for num in chosen}
    aside = {
        id: _item(others[id], Entry("", 0.0), short, quotes, plan.now) for id in dict.fromkeys(named) if id in others
    }
    # What is left out on purpose is not what the caller's budget cut off.
    wanted = set(nums) if answers or least == budget else rules
    brief = Brief(
        message=plan.query, budget_tokens=budget, tokens=0, sections=_sections(chosen, entries, items),
        warnings=_said([(items[num], caveats[num]) for num in chosen], aside, short),
        stats=stats if budget >= frame else {}, truncated=beyond > 0 or not wanted <= set(chosen), relevant=answers,
        missing=found.missing, notes=found.notes, more_rules=unsaid, many_rules=unsaid > 0 and entries.many_rules,
    )  # fmt: skip
    return replace(brief, tokens=_tokens(brief), elapsed_ms=(time.perf_counter() - started) * 1000)


def _standing_apart(
    store: Store, plan: Plan, nums: Sequence[int], entries: Entries, memories: dict[int, Memory], found: Candidates,
    quotes: _Quotes,
) -> tuple[list[int], int]:  # fmt: skip
    """Without what may not stand where it was found, or says again what another one does; each in its section. And how
    many rules were not even compared."""
    hidden = _overridden(store, plan, memories.values())
    # What is unconfirmed may match a message, and stands nowhere else.
    hidden |= {one.id for num, one in memories.items()
               if entries.by_num[num].section != "matches" and is_unconfirmed(one.origin, one.trust)}  # fmt: skip
    nums = [num for num in nums if memories[num].id not in hidden]
    nums, beyond = _compared(nums, entries, memories, quotes)
    nums = _once(_distinct(nums, memories, found, entries), memories)
    for num in nums:
        _place(entries.by_num[num], memories[num])
        if adjust.is_doubtful(memories[num], adjust.confidence_of(memories[num], plan.now)):
            entry = entries.by_num[num]
            entry.label = ", ".join(filter(None, (adjust.DOUBTFUL, entry.label)))
    return _at_most(nums, entries), beyond


def _compared(
    nums: Sequence[int], entries: Entries, memories: dict[int, Memory], quotes: _Quotes
) -> tuple[list[int], int]:
    """Without the rules that are worth least, where those before them take RULES_COMPARED budgets; and their number."""
    kept, left = [], quotes.budget * RULES_COMPARED
    for num in nums:
        one = memories[num]
        if entries.by_num[num].section == "context" and one.key is None and one.kind != "goal":
            if left <= 0:
                continue
            left -= quotes.cost(one, "")
        kept.append(num)
    return kept, len(nums) - len(kept)


class Choice(NamedTuple):
    """What may be taken: a row, its worth, its tokens, and the headings and shared lines that it needs."""

    num: int
    value: float
    cost: float
    groups: list[str]


def _chosen(
    several: Sequence[Choice], rules: Collection[int], space: float, *, answers: bool, beyond: int, line: float
) -> tuple[list[int], int]:
    """Rows of what is worth most within `space`, rules first where nothing answers; and how many rules are left out, as
    far as there is room to say so. `beyond`: rules that are no choice; `line`: tokens of saying it.
    """

    def fitted(some: Sequence[Choice], space: float) -> list[Choice]:
        values, costs = [one.value for one in some], [one.cost for one in some]
        kept = fit(values, costs, space, groups=[one.groups for one in some], group_costs=_HEADINGS)
        return [some[i] for i in kept]

    def within(space: float) -> list[Choice]:
        if answers:
            return fitted(several, space)
        kept = fitted([one for one in several if one.num in rules], space)
        return kept + fitted([one for one in several if one.num not in rules], space - _taken(kept))

    def missing(kept: Sequence[Choice]) -> int:
        return len(rules) + beyond - sum(one.num in rules for one in kept)

    kept = within(space)
    if not missing(kept):
        return [one.num for one in kept], 0
    kept = within(space - line)
    heading = 0 if any(one.num in rules for one in kept) else _HEADINGS["context"]
    said = _taken(kept) + line + heading <= space
    return [one.num for one in kept], missing(kept) if said else 0


def _taken(kept: Sequence[Choice]) -> float:
    groups = {name for one in kept for name in one.groups}
    return sum(one.cost for one in kept) + sum(_HEADINGS[name] for name in groups)


def _sections(chosen: Sequence[int], entries: Entries, items: dict[int, BriefItem]) -> list[Section]:
    sections = []
    for name in SECTIONS:
        inside = [num for num in chosen if entries.by_num[num].section == name]
        # Lessons stand first among the matches.
        inside.sort(key=lambda num: name == "matches" and items[num].kind != "lesson")
        if inside:
            sections.append(Section(name=name, items=[items[num] for num in inside]))
    return sections


def _groups(entry: Entry, caveats: Sequence[Caveat]) -> list[str]:
    """The headings and shared lines that must be there for an entry to be."""
    found = [entry.section]
    if caveats:
        found.append(BEWARE)
    if any(one.what == "stale" for one in caveats):
        found.append("stale line")
    return found


def _place(entry: Entry, memory: Memory) -> None:
    """What a memory is decides its section: keyed facts, goals, what stands; else it stays where it was found."""
    if entry.section not in ("context", "matches") or is_unconfirmed(memory.origin, memory.trust):
        return
    if memory.key is not None:
        entry.section = "facts"
    elif memory.kind == "goal":
        entry.section = "goals"
    elif memory.pinned or memory.kind == "preference":
        entry.section = "context"


def _at_most(nums: Sequence[int], entries: Entries) -> list[int]:
    """The most valuable of each section, as many as it holds."""
    counts: dict[str, int] = {}
    kept = []
    for num in nums:
        section = entries.by_num[num].section
        counts[section] = counts.get(section, 0) + 1
        if counts[section] <= MOST[section]:
            kept.append(num)
    return kept


def _overridden(store: Store, plan: Plan, memories: Iterable[Memory]) -> set[str]:
    """Ids of global values of keys that the scope itself has a value of."""
    own = (plan.where.scopes or (GLOBAL_SCOPE,))[0]
    if own == GLOBAL_SCOPE:
        return set()
    several = [one for one in memories if one.key is not None]
    here = {one.key for one in several if one.scope == own}
    hidden = set()
    for one in several:
        if one.scope == own or one.key is None:
            continue
        if one.key not in here and any(
            value.valid_from_us <= plan.now and (value.valid_to_us is None or plan.now < value.valid_to_us)
            for value in store.memories.keyed(own, one.key)
        ):
            here.add(one.key)
        if one.key in here:
            hidden.add(one.id)
    return hidden


def _distinct(nums: Sequence[int], memories: dict[int, Memory], found: Candidates, entries: Entries) -> list[int]:
    """Without what says again what a more valuable one says."""
    several = []
    for num in nums:
        one = memories[num]
        day = one.valid_from_us // MICROSECONDS_PER_DAY if one.kind == "episode" else ""
        several.append(wording(one.content, f"{one.key or ''}/{one.speaker or ''}/{day}"))
    cosines: dict[tuple[int, int], float] = {}
    if found.hits is not None:
        text_of = dict(zip(found.table.rows, found.table.text_ids, strict=True))
        places = [i for i, num in enumerate(nums) if num in text_of]
        near = found.hits.among([text_of[nums[i]] for i in places])
        cosines = {(places[i], places[j]): cosine for (i, j), cosine in near.items()}
    same = folded(several, cosines)
    groups = {i: [num] for i, num in enumerate(nums) if i not in same}
    for later, earlier in same.items():
        groups[earlier].append(nums[later])
    return [_newest(group, memories, entries) for group in groups.values()]


def _newest(group: Sequence[int], memories: dict[int, Memory], entries: Entries) -> int:
    """Of those that say the same the newest, where the best of them would stand."""
    newest = group[newest_of([memories[num] for num in group])]
    if newest != group[0]:
        entries.by_num[newest] = replace(entries.by_num[group[0]])
    return newest


def _once(nums: Sequence[int], memories: dict[int, Memory]) -> list[int]:
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


# -- warnings


def _caveats(memory: Memory, warned: Warned, now: int, *, terse: bool) -> list[Caveat]:
    """What to know about a memory before relying on it."""
    by_what: dict[str, list[str]] = {}
    for what, other in warned.get(memory.id, ()):
        by_what.setdefault(what, []).append(other)
    found: list[Caveat] = []
    against: set[str] = set()
    for what in ("contradicts", "contradiction"):
        for other in by_what.get(what, ()):
            if other not in against:
                against.add(other)
                found.append(Caveat("contradicts", (other,), None))
    if terse:
        return found
    replaced = by_what.get("replaced")
    if replaced and now - memory.valid_from_us <= CORRECTED_DAYS * MICROSECONDS_PER_DAY:
        found.append(Caveat("corrected", tuple(replaced[:REPLACED_SHOWN]), memory.valid_from_us))
    seen = max(memory.observed_at_us, memory.used_at_us or 0)
    stale = now - seen > C.STALE_DAYS * MICROSECONDS_PER_DAY
    if stale and memory.kind in C.STALE_KINDS and not memory.pinned:
        found.append(Caveat("stale", (), seen))
    return found


def _caveat_cost(one: Caveat, others: dict[str, Memory], quotes: _Quotes) -> int:
    """The most that its line can take: less when the other memory is shown anyway."""
    if one.what == "stale":
        return ID_TOKENS
    quoted = sum(quotes.cost(others[id], "") for id in one.others if id in others)
    return CAUTION_TOKENS + ID_TOKENS * (1 + len(one.others)) + quoted


def _said(
    shown: Sequence[tuple[BriefItem, Sequence[Caveat]]], aside: dict[str, BriefItem], short: dict[str, str]
) -> list[Caution]:
    """The cautions about what is shown: a pair once, a text once."""
    there = {item.id for item, _ in shown}
    pairs: set[frozenset[str]] = set()
    said: list[Caution] = []
    for item, caveats in shown:
        for one in caveats:
            if one.what in ("corrected", "stale"):
                before = tuple(short[id] for id in one.others)
                said.append(
                    Caution(about=item.short, what=one.what, at_us=one.at, replaced=one.others, replaced_short=before)
                )
                continue
            other = aside[one.others[0]]
            pair = frozenset((item.id, other.id))
            if pair not in pairs:
                pairs.add(pair)
                said.append(Caution(about=item.short, what=one.what, other=other, shown=other.id in there))
                there.add(other.id)
    return sorted(said, key=lambda one: ("contradicts", "corrected", "stale").index(one.what))


# -- items


class _Quotes:
    """How memories are quoted: on one line, of long ones the part that speaks of the message."""

    def __init__(self, words: frozenset[str], budget: int) -> None:
        self.budget = budget
        self._words = words
        self._marks: dict[str, int] = {}
        self._limit = max(60, min(C.BRIEF_EXCERPT, int(budget * C.CHARACTERS_PER_TOKEN / 3)))

    def measure(self, store: Store, several: Sequence[Memory]) -> None:
        """From now on the marks of these are priced as a brief writes them where nothing answers."""
        short = _short_ids(store, [one.id for one in several])
        for one in several:
            self._marks[one.id] = tokens_of(f"- {mark(short[one.id], one.trust)} \n")

    def quote(self, memory: Memory) -> tuple[str, bool]:
        return excerpt(essential(memory.content, memory.topics), self._words, self._limit)

    def cost(self, memory: Memory, label: str) -> int:
        """The most tokens that a memory's line can take."""
        text = essential(memory.content, memory.topics)
        if len(text) > self._limit:
            text, _ = self.quote(memory)
        # A label, key and speaker stand before the text, each with up to three characters of its own.
        named = f"{label}{memory.key or ''}{memory.speaker or ''}"
        marked = self._marks.get(memory.id, MARK_TOKENS)
        return marked + tokens_of(text) + (tokens_of(named) + 2 if named else 0)


def _short_ids(store: Store, ids: Sequence[str]) -> dict[str, str]:
    several = list(dict.fromkeys(ids))
    return dict(zip(several, store.memories.abbreviate([parse_id(id) for id in several]), strict=True))


def _item(memory: Memory, entry: Entry, short: dict[str, str], quotes: _Quotes, now: int) -> BriefItem:
    content, cut = quotes.quote(memory)
    one = _Unfrozen()
    one.id = memory.id
    one.short = short[memory.id]
    one.kind = memory.kind
    one.content = content
    one.cut = cut
    one.key = one_line(memory.key) if memory.key else None
    one.speaker = one_line(memory.speaker) if memory.speaker else None
    one.scope = memory.scope
    one.origin = memory.origin
    one.trust = memory.trust
    one.confidence = adjust.confidence_of(memory, now)
    one.confidence_word = adjust.confidence_word(memory, one.confidence)
    one.valid_from_us = memory.valid_from_us
    one.recorded_at_us = memory.created_at_us
    one.topics = memory.topics
    one.session = memory.session
    one.label = entry.label
    one.score = entry.score
    one.__class__ = BriefItem
    made: BriefItem = one
    return made


def _heading(title: str) -> int:
    """Tokens of a heading with the empty line before it."""
    return tokens_of(f"\n## {title}\n") + 1


_HEADINGS = {name: _heading(title) for name, title in SECTIONS.items()} | {
    BEWARE: _heading(BEWARE),
    "stale line": tokens_of(STALE_LINE) + 1,
}


def _tokens(brief: Brief) -> int:
    """Tokens of the whole text, piece by piece; 0 for an empty one."""
    if not brief.sections and not brief.stats and not brief.more_rules:
        return 0
    total = _frame(brief.relevant, brief.stats) + sum(map(_heading, (one.title for one in brief.sections)))
    total += sum(tokens_of(f"- {brief.mark_of(item)} \n") + tokens_of(item.text) for item in brief.items)
    if brief.more_rules:
        total += tokens_of(f"- {brief.of_more_rules}\n") + (0 if brief.section("context") else _HEADINGS["context"])
    if brief.warnings:
        total += _heading(BEWARE) + sum(tokens_of(f"- {line}\n") for line in brief.beware())
    return total


def _frame(answers: bool, stats: dict[str, int]) -> int:
    """Tokens of the first line and the counts."""
    first = tokens_of(INTRO if answers else SHORT_INTRO) + 1
    return first + (_heading("In this store") + tokens_of(stats_line(stats)) if stats else 0)
