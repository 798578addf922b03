"""The brief for an agent in one pass: what stands, what matches the message, what happened lately, what to beware of.

One look-up of what stands, one recall, one of what is recent, one of what speaks against any of it; then the set that
is worth most within the token budget. Nothing is written and no model is waited for unless the caller wants one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.ids import parse_id
from ..model.memory import GLOBAL_SCOPE, Memory
from ..rank import adjust
from ..rank import constants as C
from ..store.records import Lately
from ..text.excerpt import excerpt, one_line, words_of
from .answer import rank
from .brief import BEWARE, INTRO, SECTIONS, STALE_LINE, Brief, BriefItem, Caution, Section, stats_line
from .fit import distinct, fit, tokens_of, wording
from .gather import Gathered, VectorSignal, gather
from .plan import Plan
from .warnings import Warned, warnings

if TYPE_CHECKING:
    from ..store.contract import Store

# How many a section holds at most.
MOST = {
    "context": 8, "facts": 8, "matches": 10, "goals": 5, "activity": 5, "threads": 4,
    "recent": 6, "used": 6, "stale": 4,
}  # fmt: skip
# What the first of a section is worth, and how fast the next ones are worth less: w / (1 + fall x place). What matches
# falls as its chance to be the answer does; what somebody pinned hardly falls.
WORTH = {
    "pinned": (3.0, 0.1), "preference": (2.0, 0.3), "keyed": (1.5, 0.3), "goal": (1.5, 0.4), "match": (4.0, 1.0),
    "activity": (0.8, 0.5), "threads": (0.6, 0.5), "recent": (0.5, 0.3), "used": (0.5, 0.3), "stale": (0.4, 0.3),
}  # fmt: skip
# A lesson that matches is worth more than another match, and stands before it.
LESSON = 2.0
# How many recent memories are looked at in each scope, how far back threads go, and how long a correction is news.
LOOKED_AT, THREAD_DAYS, CORRECTED_DAYS = 60, 7, 30
# What speaks of a message at all. By words: this share of a perfect match, or of a long message what half of one of its
# words is worth. By meaning: this cosine; the lower one for what shares words as well.
WORDS_FLOOR, HALF_A_WORD, COSINE_FLOOR, COSINE_WITH_WORDS = 0.12, 0.5, 0.3, 0.1
# The share of the best score that a neighbour in a session needs.
NEIGHBOUR_OF_BEST = 0.5
# The order in which one memory speaks for its session.
SPEAKS_FIRST = ("episode", "decision", "correction", "lesson", "goal")
# How many of the statements that one replaced are named.
REPLACED_SHOWN = 3
# Tokens: of an item's mark with the longest short id, kind and origin; of such an id; of the words of a caution.
MARK_TOKENS, ID_TOKENS, CAUTION_TOKENS = 21, 11, 20


@dataclass(slots=True)
class Entry:
    """A memory that may go into the brief: where, what it is worth there, and why."""

    section: str
    value: float
    label: str = ""
    score: float | None = None


class Danger(NamedTuple):
    """What an item brings with it when it is shown. `others`: ids; `at`: microseconds UTC."""

    what: str
    others: tuple[str, ...]
    at: int | None


class Entries:
    """Candidates by row: each in one section, the first that claims it, with the most it is worth to any."""

    def __init__(self) -> None:
        self.by_num: dict[int, Entry] = {}

    def claim(self, num: int, section: str, value: float, label: str = "", score: float | None = None) -> None:
        known = self.by_num.get(num)
        if known is None:
            self.by_num[num] = Entry(section, value, label, score)
            return
        known.value = max(known.value, value)
        known.score = score if known.score is None else known.score


def prepare(
    store: Store, vectors: VectorSignal | None, plan: Plan, *, session: str | None = None, full: bool = False
) -> Brief:
    """Answer a plan with a brief of at most `plan.budget_tokens`. `session`: the caller's own, whose news it knows.

    Reads one state of the store; the same store, plan and `now` give the same brief.
    """
    started = time.perf_counter()
    with store.snapshot():
        entries = Entries()
        found = _matches(store, vectors, plan, entries)
        _standing(store, plan, entries)
        stats: dict[str, int] = {}
        if plan.remaining() > 0:
            if full:
                _used(store, plan, entries)
            _lately(store, plan, entries, session, full=full)
            if full:
                _unseen(store, plan, entries)
                stats = store.count_kinds(plan.where)
        else:
            found.miss("activity", "the deadline came first")
        return _choose(store, plan, entries, found, stats, started)


def worth(what: str, place: int) -> float:
    """What the memory at a place of its section is worth, from 0 on."""
    first, fall = WORTH[what]
    return first / (1 + fall * place)


# -- candidates


def _matches(store: Store, vectors: VectorSignal | None, plan: Plan, entries: Entries) -> Gathered:
    """What speaks of the message, best first."""
    if not plan.query.strip():
        return Gathered()
    found = gather(store, vectors, plan)
    order, scores = rank(found, plan)
    speaks = _speaking(found, scores, len(words_of(plan.query)))
    place = 0
    for i in order:
        if not speaks[i]:
            continue
        value = worth("match", place) * (LESSON if found.merit(i).kind == "lesson" else 1.0)
        entries.claim(found.nums[i], "matches", value, score=scores[i])
        place += 1
        if place == MOST["matches"] + 2:  # some go to other sections, some repeat others
            break
    return found


def _speaking(found: Gathered, scores: Sequence[float], asked: int) -> list[bool]:
    """Which candidates speak of the message: themselves, or the one before or after them in their session does and
    they rank high (chat turns answer each other). `asked`: words of the message. Greetings match nothing.
    """
    count = len(found.nums)
    words = [a + b for a, b in zip(found.signals["lexical"], found.signals.get("fields", [0.0] * count), strict=True)]
    floor = min(WORDS_FLOOR, HALF_A_WORD / max(1, asked))
    cosines = found.signals.get("vector")
    own = [share > 0 and share >= floor for share in words]
    if cosines is not None:
        own = [
            cosine >= COSINE_FLOOR or (spoken and (cosine >= COSINE_WITH_WORDS or not cosine))
            for spoken, cosine in zip(own, cosines, strict=True)
        ]
    seats = list(zip(found.sessions, found.positions, strict=True))
    spoken_at = {seat for seat, spoken in zip(seats, own, strict=True) if spoken}
    high = max((score for score, spoken in zip(scores, own, strict=True) if spoken), default=0.0) * NEIGHBOUR_OF_BEST
    return [
        spoken
        or (
            bool(session)
            and score >= high
            and ((session, position - 1) in spoken_at or (session, position + 1) in spoken_at)
        )
        for (session, position), score, spoken in zip(seats, scores, own, strict=True)
    ]


def _standing(store: Store, plan: Plan, entries: Entries) -> None:
    """What is pinned, keyed, preferred or aimed for, whatever the message."""
    places: dict[str, int] = {}
    for group, num in store.standing(plan.where.scopes or (), at=plan.now, limit=MOST["context"]):
        place = places[group] = places.get(group, -1) + 1
        entries.claim(num, "context", worth(group, place))


def _lately(store: Store, plan: Plan, entries: Entries, session: str | None, *, full: bool) -> None:
    """The last day by sessions, and the topics and open sessions of the last days."""
    week = plan.now - THREAD_DAYS * MICROSECONDS_PER_DAY
    rows = store.lately(plan.where, after=-(1 << 62) if full else week, limit=LOOKED_AT)
    capped = "+" if len(rows) >= LOOKED_AT else ""
    others = [one for one in rows if session is None or one.session != session]
    _activity([one for one in others if one.created_at > plan.now - MICROSECONDS_PER_DAY], entries, capped)
    _threads([one for one in others if one.created_at > week], plan.now, entries, capped)
    if full:
        for place, one in enumerate(rows[: MOST["recent"]]):
            entries.claim(one.num, "recent", worth("recent", place))


def _activity(rows: Sequence[Lately], entries: Entries, capped: str) -> None:
    """What was done in the last day: one memory a session, and those of no session. Imports are no activity."""
    groups: dict[object, list[Lately]] = {}
    for one in rows:
        if one.origin != "import":
            groups.setdefault(one.session or one.num, []).append(one)
    place = 0
    for group in groups.values():
        if place == MOST["activity"]:
            break
        best = _speaker(group, entries)
        if best is None:
            continue
        label = ""
        if best.session is not None:
            label = f"session {one_line(best.title or best.session)}, {len(group)}{capped} memories"
        entries.claim(best.num, "activity", worth("activity", place), label)
        place += 1


def _threads(rows: Sequence[Lately], now: int, entries: Entries, capped: str) -> None:
    """Topics that came more than once, and sessions that nobody ended: the liveliest first."""
    groups: dict[tuple[str, str], list[Lately]] = {}
    for one in rows:
        for topic in one.topics:
            groups.setdefault(("topic", topic), []).append(one)
        if one.session is not None and one.open and one.created_at <= now - MICROSECONDS_PER_DAY:
            groups.setdefault(("session", one.session), []).append(one)

    def life(group: Sequence[Lately]) -> float:
        return sum(1 / (1 + (now - one.created_at) / MICROSECONDS_PER_DAY) for one in group)

    several = [name for name, group in groups.items() if len(group) > 1]
    place = 0
    for name in sorted(several, key=lambda name: (-round(life(groups[name]), 6), name)):
        if place == MOST["threads"]:
            break
        best = _speaker(groups[name], entries)
        if best is None:
            continue
        what = f"#{one_line(name[1])}" if name[0] == "topic" else f"session {one_line(best.title or name[1])}, open"
        entries.claim(best.num, "threads", worth("threads", place), f"{what}, {len(groups[name])}{capped} this week")
        place += 1


def _speaker(group: Sequence[Lately], entries: Entries) -> Lately | None:
    """The memory that says most about what it was: of those that no section has yet."""
    free = [one for one in group if one.num not in entries.by_num]

    def weight(one: Lately) -> tuple[int, float, int, int]:
        place = SPEAKS_FIRST.index(one.kind) if one.kind in SPEAKS_FIRST else len(SPEAKS_FIRST)
        return (place, -one.importance, -one.created_at, -one.num)

    return min(free, key=weight, default=None)


def _used(store: Store, plan: Plan, entries: Entries) -> None:
    """The most used."""
    for place, num in enumerate(store.most_used(plan.where, limit=MOST["used"])):
        entries.claim(num, "used", worth("used", place))


def _unseen(store: Store, plan: Plan, entries: Entries) -> None:
    """What was not seen for long."""
    before = plan.now - C.STALE_DAYS * MICROSECONDS_PER_DAY
    rows = store.unseen(replace(plan.where, kinds=C.STALE_KINDS), before=before, limit=MOST["stale"] * 2)
    for place, num in enumerate(rows):
        entries.claim(num, "stale", worth("stale", place))


# -- choice


def _choose(
    store: Store, plan: Plan, entries: Entries, found: Gathered, stats: dict[str, int], started: float
) -> Brief:
    """The entries worth most within the budget, as sections in the order of the page."""
    budget = plan.budget_tokens or C.BRIEF_TOKENS
    nums = sorted(entries.by_num, key=lambda num: (-entries.by_num[num].value, num))
    memories = dict(zip(nums, store.memories(nums), strict=True))
    hidden = _overridden(store, plan, memories.values())
    nums = [num for num in nums if memories[num].id not in hidden]
    nums = _distinct(nums, memories, found)
    for num in nums:
        _place(entries.by_num[num], memories[num])
    nums = _at_most(nums, entries)

    warned, others = warnings(store, plan, [memories[num] for num in nums])
    quotes = _Quotes(words_of(plan.query), max(60, min(C.BRIEF_EXCERPT, int(budget * C.CHARACTERS_PER_TOKEN / 3))))
    dangers = {num: _dangers(memories[num], warned, plan.now) for num in nums}
    room = budget - tokens_of(INTRO) - 1 - (_heading("In this store") + tokens_of(stats_line(stats)) if stats else 0)
    kept = fit(
        [entries.by_num[num].value for num in nums],
        [
            quotes.cost(memories[num], entries.by_num[num].label)
            + sum(_danger_cost(one, others, quotes) for one in dangers[num])
            for num in nums
        ],
        room,
        groups=[_groups(entries.by_num[num], dangers[num]) for num in nums],
        group_costs=_HEADINGS,
    )
    chosen = [nums[i] for i in kept]
    named = [id for num in chosen for one in dangers[num] for id in one.others]
    ids = dict.fromkeys([*(memories[num].id for num in chosen), *named])
    short = dict(zip(ids, store.abbreviate([parse_id(id) for id in ids]), strict=True))
    items = {num: _item(memories[num], entries.by_num[num], short, quotes, plan.now) for num in chosen}
    sections = []
    for name in SECTIONS:
        inside = [num for num in chosen if entries.by_num[num].section == name]
        # Lessons stand first among the matches.
        inside.sort(key=lambda num: name == "matches" and items[num].kind != "lesson")
        if inside:
            sections.append(Section(name=name, items=[items[num] for num in inside]))
    aside = {
        id: _item(others[id], Entry("", 0.0), short, quotes, plan.now) for id in dict.fromkeys(named) if id in others
    }
    brief = Brief(
        message=plan.query, budget_tokens=budget, tokens=0, sections=sections,
        warnings=_said([(items[num], dangers[num]) for num in chosen], aside, short),
        stats=stats if room >= 0 else {}, truncated=len(chosen) < len(nums),
        missing=found.missing, notes=found.notes,
    )  # fmt: skip
    return replace(brief, tokens=_tokens(brief), elapsed_ms=(time.perf_counter() - started) * 1000)


def _groups(entry: Entry, dangers: Sequence[Danger]) -> list[str]:
    """The headings and shared lines that must be there for an entry to be."""
    found = [entry.section]
    if dangers:
        found.append(BEWARE)
    if any(one.what == "stale" for one in dangers):
        found.append("stale line")
    return found


def _place(entry: Entry, memory: Memory) -> None:
    """What a memory is decides its section: keyed facts, goals, what stands; else it stays where it was found."""
    if entry.section not in ("context", "matches"):
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
            value.valid_from <= plan.now and (value.valid_to is None or plan.now < value.valid_to)
            for value in store.keyed(own, one.key)
        ):
            here.add(one.key)
        if one.key in here:
            hidden.add(one.id)
    return hidden


def _distinct(nums: Sequence[int], memories: dict[int, Memory], found: Gathered) -> list[int]:
    """Without what says again what a more valuable one says."""
    several = []
    for num in nums:
        one = memories[num]
        day = one.valid_from // MICROSECONDS_PER_DAY if one.kind == "episode" else ""
        several.append(wording(one.content, f"{one.key or ''}/{one.speaker or ''}/{day}"))
    cosines: dict[tuple[int, int], float] = {}
    if found.hits is not None:
        body = dict(zip(found.nums, found.bodies, strict=True))
        places = [i for i, num in enumerate(nums) if num in body]
        near = found.hits.among([body[nums[i]] for i in places])
        cosines = {(places[i], places[j]): cosine for (i, j), cosine in near.items()}
    return [nums[i] for i in distinct(several, cosines)]


# -- warnings


def _dangers(memory: Memory, warned: Warned, now: int) -> list[Danger]:
    """What to know about a memory before relying on it."""
    by_what: dict[str, list[str]] = {}
    for what, other in warned.get(memory.id, ()):
        by_what.setdefault(what, []).append(other)
    found: list[Danger] = []
    against: set[str] = set()
    for what, name in (("contradicts", "contradicts"), ("contradiction", "contradicts"), ("correction", "correction")):
        for other in by_what.get(what, ()):
            if other not in against:
                against.add(other)
                found.append(Danger(name, (other,), None))
    replaced = by_what.get("replaced")
    if replaced and now - memory.valid_from <= CORRECTED_DAYS * MICROSECONDS_PER_DAY:
        found.append(Danger("corrected", tuple(replaced[:REPLACED_SHOWN]), memory.valid_from))
    seen = max(memory.observed_at, memory.used_at or 0)
    stale = now - seen > C.STALE_DAYS * MICROSECONDS_PER_DAY
    if stale and memory.kind in C.STALE_KINDS and not memory.pinned:
        found.append(Danger("stale", (), seen))
    return found


def _danger_cost(one: Danger, others: dict[str, Memory], quotes: _Quotes) -> int:
    """The most that its line can take: less when the other memory is shown anyway."""
    if one.what == "stale":
        return ID_TOKENS
    quoted = sum(quotes.cost(others[id], "") for id in one.others if id in others)
    return CAUTION_TOKENS + ID_TOKENS * (1 + len(one.others)) + quoted


def _said(
    shown: Sequence[tuple[BriefItem, Sequence[Danger]]], aside: dict[str, BriefItem], short: dict[str, str]
) -> list[Caution]:
    """The cautions about what is shown: a pair once, a text once."""
    there = {item.id for item, _ in shown}
    pairs: set[frozenset[str]] = set()
    said: list[Caution] = []
    for item, dangers in shown:
        for one in dangers:
            if one.what in ("corrected", "stale"):
                before = tuple(short[id] for id in one.others)
                said.append(
                    Caution(about=item.short, what=one.what, at=one.at, replaced=one.others, replaced_short=before)
                )
                continue
            other = aside[one.others[0]]
            pair = frozenset((item.id, other.id))
            if pair not in pairs:
                pairs.add(pair)
                said.append(Caution(about=item.short, what=one.what, other=other, shown=other.id in there))
                there.add(other.id)
    return sorted(said, key=lambda one: ("contradicts", "correction", "corrected", "stale").index(one.what))


# -- items


class _Quotes:
    """How memories are quoted: on one line, of long ones the part that speaks of the message."""

    def __init__(self, words: frozenset[str], limit: int) -> None:
        self._words = words
        self._limit = limit

    def quote(self, memory: Memory) -> tuple[str, bool]:
        return excerpt(memory.content, self._words, self._limit)

    def cost(self, memory: Memory, label: str) -> int:
        """The most tokens that a memory's line can take."""
        text = memory.content
        if len(text) > self._limit:
            text, _ = self.quote(memory)
        # A label, key and speaker stand before the text, each with up to three characters of its own.
        named = f"{label}{memory.key or ''}{memory.speaker or ''}"
        return MARK_TOKENS + tokens_of(text) + (tokens_of(named) + 2 if named else 0)


def _item(memory: Memory, entry: Entry, short: dict[str, str], quotes: _Quotes, now: int) -> BriefItem:
    content, cut = quotes.quote(memory)
    return BriefItem(
        id=memory.id,
        short=short[memory.id],
        kind=memory.kind,
        content=content,
        cut=cut,
        key=one_line(memory.key) if memory.key else None,
        speaker=one_line(memory.speaker) if memory.speaker else None,
        scope=memory.scope,
        origin=memory.origin,
        trust=memory.trust,
        confidence=adjust.confidence(
            kind=memory.kind,
            trust=memory.trust,
            observations=memory.observations,
            observed_at=memory.observed_at,
            stated=memory.stated_confidence,
            now=now,
        ),
        valid_from=memory.valid_from,
        recorded_at=memory.created_at,
        topics=memory.topics,
        session=memory.session,
        label=entry.label,
        score=entry.score,
    )


def _heading(title: str) -> int:
    """Tokens of a heading with the empty line before it."""
    return tokens_of(f"\n## {title}\n") + 1


_HEADINGS = {name: _heading(title) for name, title in SECTIONS.items()} | {
    BEWARE: _heading(BEWARE),
    "stale line": tokens_of(STALE_LINE) + 1,
}


def _tokens(brief: Brief) -> int:
    """Tokens of the whole text, marks counted as long as they can be; 0 for an empty one."""
    if not brief.sections and not brief.stats:
        return 0
    total = tokens_of(INTRO) + 1 + sum(map(_heading, (one.title for one in brief.sections)))
    total += sum(MARK_TOKENS + tokens_of(item.text) for item in brief.items)
    if brief.warnings:
        total += _heading(BEWARE) + sum(tokens_of(f"- {line}\n") for line in brief.beware())
    return total + (_heading("In this store") + tokens_of(stats_line(brief.stats)) if brief.stats else 0)
