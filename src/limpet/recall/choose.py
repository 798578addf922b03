"""Selection for a brief: the set of candidates worth most within its token budget, each with what speaks against it.

`prepare.py` finds the candidates and their worth.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import dataclass, field, replace
from ..model.ids import parse_id
from ..model.memory import GLOBAL_SCOPE, Memory, is_unconfirmed
from ..rank import adjust
from ..rank import constants as C
from ..relate.verdicts import SURE
from ..text.blocks import neutral
from ..text.excerpt import excerpt, one_line, words_of
from ..text.turns import QUOTED_CHARACTERS, quoted_in
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
    more_rules,
)
from .candidates import Candidates
from .newer import CHANGES, DISPUTES, SAME, Warned, of_another_time, solution, solutions, warnings
from .pack import about, fit, groups_of, newest_of, tokens_of, wording

if TYPE_CHECKING:
    from ..store import Store
    from .plan import Plan

# How many a section holds at most.
MOST = {
    "context": 200, "facts": 8, "matches": 10, "goals": 5, "activity": 5, "threads": 4,
    "recent": 6, "used": 6, "stale": 4,
}  # fmt: skip
# Days for which a correction is mentioned, and how many of the statements that it replaced are named.
CORRECTED_DAYS, REPLACED_SHOWN = 30, 3
STALE = "stale line"


@dataclass(slots=True)
class Entry:
    """A memory that may go into the brief: where, what it is worth there, and why."""

    section: str
    value: float
    label: str = ""
    score: float | None = None


@dataclass(slots=True)
class Entries:
    """Candidates by row. Each is in the first section that claims it, with its highest worth in any."""

    by_num: dict[int, Entry] = field(default_factory=dict)
    many_rules: bool = False  # whether there are more rules than were listed

    def claim(self, num: int, section: str, value: float, label: str = "", score: float | None = None) -> None:
        known = self.by_num.setdefault(num, Entry(section, value, label, score))
        known.value = max(known.value, value)
        known.score = score if known.score is None else known.score


def choose(
    store: Store, plan: Plan, entries: Entries, candidates: Candidates, stats: dict[str, int], started: float,
    marked: Callable[[Sequence[BriefItem]], Sequence[BriefItem]] = list, *, answers: bool = True,
) -> Brief:  # fmt: skip
    """Return the entries worth most within the budget, as sections in the order of the page.

    `answers`: whether anything answers the message. If not, the budget is TERSE_TOKENS, for the rules first. `marked`
    adds to items what has changed in their code.
    """
    budget = plan.budget_tokens or C.BRIEF_TOKENS
    space = budget if answers else min(budget, TERSE_TOKENS)
    nums = sorted(entries.by_num, key=lambda num: (-entries.by_num[num].value, num))
    memories = dict(zip(nums, store.memories.by_rows(nums), strict=True))
    warned, others = warnings(store, plan, list(memories.values()))
    nums = _in_sections(store, plan, _that_hold(plan, nums, memories, warned), entries, memories, warned)
    rows = [(what, parse_id(id), parse_id(other)) for id, others in warned.items() for what, other in others]
    found, solved, told = solutions(store, plan, rows), dict[str, Memory](), set[str]()
    for num in nums if found else ():
        cure = found.get(parse_id(memories[num].id))
        if cure is not None and cure.id not in told:
            solved[memories[num].id] = cure
            told.add(cure.id)
    nums = [num for num in nums if memories[num].id not in told]
    # If nothing answers, texts are quoted from their beginning: a rule must not be read without it.
    words = words_of(plan.query) if answers else frozenset[str]()
    limit = max(60, min(C.BRIEF_EXCERPT, int(space * C.CHARACTERS_PER_TOKEN / 3)))
    by_id = {memories[num].id: (memories[num], entries.by_num[num]) for num in nums}
    by_id = {id: (other, Entry("", 0.0)) for id, other in others.items()} | by_id
    replaced = {other for rows in warned.values() for what, other in rows if what == "replaced"}
    ids = list(dict.fromkeys((*by_id, *replaced)))
    short = dict(zip(ids, store.memories.abbreviate([parse_id(id) for id in ids]), strict=True))
    place = {id: i for i, id in enumerate(candidates.table.ids)} if answers else {}
    items = {}
    for id, (memory, entry) in by_id.items():
        i = place.get(parse_id(id))
        part = "" if i is None else candidates.part_of(i, memory.content, plan.query)
        items[id] = _item(memory, entry, short[id], words, limit, plan.now, part, solved.get(id))
    items = {item.id: item for item in marked([*items.values()])}
    terse = space <= TERSE_TOKENS
    cautions = {
        num: _cautions(memory, warned.get(memory.id, ()), items, short, plan.now, terse=terse)
        for num in nums
        if (memory := memories[num])
    }
    choices = {num: _choice(items[memories[num].id], entries.by_num[num], cautions[num]) for num in nums}
    brief = Brief(message=plan.query, budget_tokens=budget, tokens=0, stats=stats, relevant=answers)
    rules = {num for num in nums if entries.by_num[num].section == "context"}
    frame = max(_tokens(brief), tokens_of(f"{INTRO if answers else SHORT_INTRO}\n"))
    chosen, unsaid = _chosen(choices, rules, space - frame, answers=answers, many=entries.many_rules)
    # A brief is truncated by the caller's budget, not by what is left out on purpose.
    wanted = set(nums) if answers or space == budget else rules
    shown = {num: items[memories[num].id] for num in chosen}
    brief = replace(
        brief, sections=_sections(shown, entries),
        warnings=_warnings([(shown[num], cautions[num]) for num in chosen]),
        stats=stats if budget >= frame else {}, truncated=not wanted <= set(chosen), missing=candidates.missing,
        notes=candidates.notes, more_rules=unsaid, many_rules=unsaid > 0 and entries.many_rules,
    )  # fmt: skip
    return replace(brief, tokens=_tokens(brief), elapsed_ms=(time.perf_counter() - started) * 1000)


# -- what stands where


def _that_hold(plan: Plan, nums: Sequence[int], memories: Mapping[int, Memory], warned: Warned) -> list[int]:
    """Leave out what a newer memory surely replaced, unless the message is about another time."""
    if of_another_time(plan):
        return list(nums)
    over = {id for id, rows in warned.items() for what, _ in rows if what in CHANGES and what.endswith(SURE)}
    return [num for num in nums if memories[num].id not in over]


def _in_sections(
    store: Store, plan: Plan, nums: Sequence[int], entries: Entries, memories: dict[int, Memory], warned: Warned
) -> list[int]:
    """Put each memory into its section; leave out what may not stand there, or repeats another one."""
    hidden = _overridden(store, plan, memories.values())
    # An unconfirmed memory may match a message, and is in no other section.
    nums = [
        num
        for num in nums
        if memories[num].id not in hidden
        and (entries.by_num[num].section == "matches" or not is_unconfirmed(memories[num].origin, memories[num].trust))
    ]
    nums = _once(_distinct(nums, memories, entries, warned), memories)
    counts: Counter[str] = Counter()
    kept = []
    for num in nums:
        entry, memory = entries.by_num[num], memories[num]
        # Keyed facts, goals, pinned memories and preferences have their sections; others stay where they were found.
        if entry.section in ("context", "matches") and not is_unconfirmed(memory.origin, memory.trust):
            stands = memory.pinned or memory.kind == "preference"
            entry.section = (
                "facts" if memory.key is not None else "goals" if memory.kind == "goal" else "context" if stands
                else entry.section
            )  # fmt: skip
        if adjust.confidence_word(memory, adjust.confidence_of(memory, plan.now)) == adjust.DOUBTFUL:
            entry.label = ", ".join(filter(None, (adjust.DOUBTFUL, entry.label)))
        counts[entry.section] += 1
        if counts[entry.section] <= MOST[entry.section]:
            kept.append(num)
    return kept


def _overridden(store: Store, plan: Plan, memories: Iterable[Memory]) -> set[str]:
    """Return ids of global values of keys for which the scope has a value of its own."""
    own = (plan.where.scopes or (GLOBAL_SCOPE,))[0]
    if own == GLOBAL_SCOPE:
        return set()
    keyed = [memory for memory in memories if memory.key is not None]
    here = {memory.key for memory in keyed if memory.scope == own}
    hidden = set()
    for memory in keyed:
        if memory.scope == own or memory.key is None:
            continue
        if memory.key not in here and any(
            value.valid_from_us <= plan.now and (value.valid_to_us is None or plan.now < value.valid_to_us)
            for value in store.memories.keyed(own, memory.key)
        ):
            here.add(memory.key)
        if memory.key in here:
            hidden.add(memory.id)
    return hidden


def _distinct(nums: Sequence[int], memories: dict[int, Memory], entries: Entries, warned: Warned) -> list[int]:
    """Keep the newest of those that say the same, at the place of the best of them."""
    place = {memories[num].id: num for num in nums}
    wordings = {id: wording(memories[num].content, about(memories[num], metadata=False)) for id, num in place.items()}
    read = [(id, other) for id in place for what, other in warned.get(id, ()) if what == SAME]
    kept = []
    for group in groups_of(wordings, read):
        newest = place[group[newest_of([memories[place[id]] for id in group])]]
        entries.by_num[newest] = replace(entries.by_num[place[group[0]]])
        kept.append(newest)
    return kept


def _once(nums: Sequence[int], memories: dict[int, Memory]) -> list[int]:
    """Leave out episodes that quote what is shown itself, or what an episode of more value quotes."""
    quotes = {num: quoted_in(memory.kind, memory.source, memory.content) for num in nums if (memory := memories[num])}

    def begins(text: str) -> str:
        """Return a statement as far as an episode quotes it."""
        return one_line(text)[: QUOTED_CHARACTERS - 1].rstrip("… ")

    shown = {begins(memories[num].content) for num in nums if not quotes[num]}
    kept = []
    for num in nums:
        quoted = set(map(begins, quotes[num]))
        if not quoted & shown:
            kept.append(num)
        shown |= quoted
    return kept


# -- items and what is to be said with them


def _item(
    memory: Memory, entry: Entry, short: str, words: frozenset[str], limit: int, now: int, part: str,
    solved: Memory | None,
) -> BriefItem:  # fmt: skip
    """Return a memory on one line, with what `solved` it; of a long one the `part` that is about the message."""
    content, cut = excerpt(memory.content, words, limit, part)
    confidence = adjust.confidence_of(memory, now)
    return BriefItem(
        id=memory.id, short=short, kind=memory.kind, content=content, cut=cut,
        key=one_line(memory.key) if memory.key else None,
        speaker=one_line(memory.speaker) if memory.speaker else None, scope=memory.scope, origin=memory.origin,
        trust=memory.trust, confidence=confidence, confidence_word=adjust.confidence_word(memory, confidence),
        valid_from_us=memory.valid_from_us, recorded_at_us=memory.created_at_us, topics=memory.topics,
        session=memory.session, label=entry.label, score=entry.score,
        resolved_by=None if solved is None else solution(solved, excerpt(solved.content, words, limit)[0]),
    )  # fmt: skip


def _cautions(
    memory: Memory, warned: Iterable[tuple[str, str]], items: Mapping[str, BriefItem], short: Mapping[str, str],
    now: int, *, terse: bool,
) -> list[Caution]:  # fmt: skip
    """Return what to know about a memory before relying on it."""
    about, rows = short[memory.id], list(warned)
    against = dict.fromkeys(other for what, other in rows if what in DISPUTES)
    cautions = [Caution(about=about, what="contradicts", other=items[other]) for other in against]
    newer = dict.fromkeys(other for what, other in rows if what in CHANGES and not what.startswith("resolves"))
    cautions += [Caution(about=about, what="newer", other=items[other]) for other in newer]
    if terse:
        return cautions
    replaced = tuple(other for what, other in rows if what == "replaced")[:REPLACED_SHOWN]
    if replaced and now - memory.valid_from_us <= CORRECTED_DAYS * MICROSECONDS_PER_DAY:
        before = tuple(short[id] for id in replaced)
        cautions.append(
            Caution(about=about, what="corrected", at_us=memory.valid_from_us, replaced=replaced, replaced_short=before)
        )
    seen = max(memory.observed_at_us, memory.used_at_us or 0)
    if now - seen > C.STALE_DAYS * MICROSECONDS_PER_DAY and memory.kind in C.STALE_KINDS and not memory.pinned:
        cautions.append(Caution(about=about, what="stale", at_us=seen))
    return cautions


def _warnings(shown: Sequence[tuple[BriefItem, Sequence[Caution]]]) -> list[Caution]:
    """Return the cautions about what is shown: each pair once, each text once."""
    seen = {item.id for item, _ in shown}
    pairs: set[frozenset[str]] = set()
    kept: list[Caution] = []
    for item, cautions in shown:
        for caution in cautions:
            if caution.other is None:
                kept.append(caution)
            elif (pair := frozenset((item.id, caution.other.id))) not in pairs:
                pairs.add(pair)
                kept.append(replace(caution, shown=caution.other.id in seen))
                seen.add(caution.other.id)
    return sorted(kept, key=lambda caution: ("contradicts", "newer", "corrected", "stale").index(caution.what))


def _sections(shown: Mapping[int, BriefItem], entries: Entries) -> list[Section]:
    sections = []
    for name in SECTIONS:
        inside = [item for num, item in shown.items() if entries.by_num[num].section == name]
        # Lessons stand first among the matches.
        inside.sort(key=lambda item: name == "matches" and item.kind != "lesson")
        if inside:
            sections.append(Section(name=name, items=inside))
    return sections


# -- the budget


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate for the brief: its worth, its tokens, and the headings and shared lines that it needs."""

    value: float
    cost: float
    groups: list[str]


def _choice(item: BriefItem, entry: Entry, cautions: Sequence[Caution]) -> Choice:
    stale = sum(note.what == "stale" for note in cautions)
    cost = _line(f"{item.mark} {item.text}") + sum(_line(note.text) for note in cautions if note.what != "stale")
    groups = [entry.section, *([BEWARE] if cautions else []), *([STALE] if stale else [])]
    return Choice(entry.value, cost + stale * _line(item.short), groups)


def _chosen(
    choices: Mapping[int, Choice], rules: set[int], space: float, *, answers: bool, many: bool
) -> tuple[list[int], int]:
    """Return the rows worth most within `space`, rules first where nothing answers; and how many rules are left out, if
    there is room to say so."""

    def fitted(nums: Sequence[int], space: float) -> list[int]:
        some = [choices[num] for num in nums]
        values, costs = [row.value for row in some], [row.cost for row in some]
        return [nums[i] for i in fit(values, costs, space, groups=[row.groups for row in some], group_costs=_HEADINGS)]

    def taken(nums: Sequence[int]) -> float:
        groups = {name for num in nums for name in choices[num].groups}
        return sum(choices[num].cost for num in nums) + sum(_HEADINGS[name] for name in groups)

    def within(space: float) -> list[int]:
        if answers:
            return fitted(list(choices), space)
        kept = fitted([num for num in choices if num in rules], space)
        return kept + fitted([num for num in choices if num not in rules], space - taken(kept))

    kept = within(space)
    if rules <= set(kept):
        return kept, 0
    line = max(_line(more_rules(len(rules), many, apart=apart)) for apart in (False, True))
    kept = within(space - line)
    heading = 0 if rules & set(kept) else _HEADINGS["context"]
    return kept, len(rules - set(kept)) if taken(kept) + line + heading <= space else 0


def _line(text: str) -> int:
    """Count the tokens of a line of a list, as it is printed."""
    return tokens_of(neutral(f"- {text}\n"))


# Tokens of a heading with the empty line before it, and of the line that names all that is stale.
_HEADINGS = {name: tokens_of(f"\n## {title}\n") + 1 for name, title in (SECTIONS | {BEWARE: BEWARE}).items()}
_HEADINGS[STALE] = _line(STALE_LINE)


def _tokens(brief: Brief) -> int:
    """Count the tokens of the whole text, line by line."""
    return sum(tokens_of(line + "\n") for line in brief.lines())
