"""The brief for an agent in one pass: what stands, what matches the message, what happened lately, what to beware of.

One look-up of what stands, one recall, one of what is recent; then `choose.py` takes the set that is worth most within
the token budget. Nothing is written and no model is waited for unless the caller wants one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import replace
from ..model.errors import counted
from ..model.ids import parse_id
from ..model.memory import FOREIGN
from ..rank import constants as C
from ..store.sql.listings import Lately
from ..text.excerpt import one_line, words_of
from .brief import Brief, BriefItem
from .candidates import Candidates, find_candidates
from .choose import MOST, Entries, choose
from .plan import Plan
from .score import Ranking, rank
from .shape import MEMORY

if TYPE_CHECKING:
    from ..store import Store
    from ..vectors.index import SearchScan
    from .semantic import SemanticSearch

# The worth of a section's first memory, and how fast it falls: w / (1 + fall x place). The worth of matches falls like
# their chance to be the answer; that of pinned memories hardly falls.
WORTH = {
    "pinned": (3.0, 0.1), "preference": (2.0, 0.3), "keyed": (1.5, 0.3), "goal": (1.5, 0.4), "match": (4.0, 1.0),
    "activity": (0.8, 0.5), "threads": (0.6, 0.5), "recent": (0.5, 0.3), "used": (0.5, 0.3), "stale": (0.4, 0.3),
}  # fmt: skip
# Groups of standing memories that are rules; of the other groups so many are looked at.
RULES, STANDING = ("pinned", "preference"), 16
# A lesson that matches is worth more than another match, and stands before it.
LESSON = 2.0
# The share of its worth that a match keeps when nothing answers the message: less than a pinned memory has.
UNANSWERED = 0.5
# How many recent memories are looked at in each scope, and how far back threads go.
LOOKED_AT, THREAD_DAYS = 60, 7
# Memories without topics are a thread if so many are this near one of them. Of pairs in such a thread of notes of seven
# projects, 25 at a time, 95 in 100 have a topic in common, of all pairs 12 (tests/quality/recall).
THREAD, ALIKE = 3, 0.5
# What a memory needs to match a message. By words: this share of a perfect match, or for a long message half the worth
# of one word. By meaning: this cosine, or the lower one if it shares words as well.
WORDS_FLOOR, HALF_A_WORD, COSINE_FLOOR, COSINE_WITH_WORDS = 0.12, 0.5, 0.3, 0.1
# The share of the best score that a neighbour in a session needs.
NEIGHBOUR_OF_BEST = 0.5
# The order in which one memory speaks for its session.
SPEAKS_FIRST = ("episode", "decision", "correction", "lesson", "goal")


def prepare(
    store: Store, semantic: SemanticSearch | None, plan: Plan, *, session: str | None = None, full: bool = False,
    unjudged: Callable[[Store, list[int], int], list[int]] | None,
    marked: Callable[[Sequence[BriefItem]], Sequence[BriefItem]],
) -> Brief:  # fmt: skip
    """Answer a plan with a brief of at most `plan.budget_tokens`; of the rules and little else when nothing answers
    its message.

    `session`: the caller's own; it knows its news and what it was shown at its start. `unjudged`: returns the rows that
    nobody has judged yet; they may match the message, and are in no other section.

    Reads one state of the store; the same store, plan and `now` give the same brief.
    """
    started = time.perf_counter()
    full = full or plan.shape == MEMORY
    with store.snapshot(plan.deadline):
        entries = Entries()
        candidates, relevant = _matches(store, semantic, plan, entries)
        _standing(store, plan, entries, session)
        stats: dict[str, int] = {}
        # Recent work matters to a session that begins, or that asks about something known.
        if plan.remaining() <= 0:
            candidates.miss("activity", "the deadline came first")
        elif relevant or full:
            if full:
                for place, num in enumerate(store.listings.most_used(plan.where, limit=MOST["used"])):
                    entries.claim(num, "used", worth("used", place))
            _lately(store, plan, entries, session, candidates.hits, full=full)
            if full:  # and what was not seen for long
                before = plan.now - C.STALE_DAYS * MICROSECONDS_PER_DAY
                old = store.listings.unseen(
                    replace(plan.where, kinds=C.STALE_KINDS), before=before, limit=MOST["stale"] * 2
                )
                for place, num in enumerate(old):
                    entries.claim(num, "stale", worth("stale", place))
                stats = store.listings.count_kinds(plan.where)
        elsewhere = [num for num, entry in entries.by_num.items() if entry.section != "matches"]
        for num in unjudged(store, elsewhere, plan.now) if unjudged else ():
            del entries.by_num[num]
        return choose(store, plan, entries, candidates, stats, started, marked, answers=relevant or full)


def worth(what: str, place: int) -> float:
    """Return the value of the memory at a place of its section, from 0 on."""
    first, fall = WORTH[what]
    return first / (1 + fall * place)


# -- candidates


def _matches(store: Store, semantic: SemanticSearch | None, plan: Plan, entries: Entries) -> tuple[Candidates, bool]:
    """Claim the memories that are about the message, best first. Return the candidates, and whether any answers it."""
    if not plan.query.strip():
        return Candidates(), True
    candidates = find_candidates(store, semantic, plan)
    ranking = rank(store, semantic, candidates, plan)
    relevant, speaks = ranking.relevant, _speaking(candidates, ranking, len(words_of(plan.query)))
    place = 0
    for i in ranking.order:
        if not speaks[i]:
            continue
        value = (
            worth("match", place)
            * (1.0 if relevant else UNANSWERED)
            * (LESSON if candidates.table.priors[i].kind == "lesson" else 1.0)
        )
        entries.claim(candidates.table.rows[i], "matches", value, score=ranking.scores[i])
        place += 1
        if place == MOST["matches"] + 2:  # some go to other sections, some repeat others
            break
    return candidates, relevant and place > 0


def _speaking(candidates: Candidates, ranking: Ranking, asked: int) -> list[bool]:
    """Return which candidates are about the message: by themselves, or because the one before or after in their session
    is and they rank high (chat turns answer each other). `asked`: words of the message. Greetings match nothing.
    """
    floor = min(WORDS_FLOOR, HALF_A_WORD / max(1, asked))
    cosines = candidates.features.get("vector")
    own = []
    for i, words in enumerate(candidates.features["lexical"]):
        share = words + candidates.features["fields"][i]
        spoken = share > 0 and share >= floor
        if cosines is not None:
            spoken = cosines[i] >= (COSINE_WITH_WORDS if spoken else COSINE_FLOOR)
        own.append(spoken)
    table, scores = candidates.table, ranking.ranked
    seats = list(zip(table.sessions, table.positions, strict=True))
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


def _standing(store: Store, plan: Plan, entries: Entries, session: str | None) -> None:
    """Claim what is pinned, keyed, preferred or aimed for, whatever the message; not what the session began with."""
    places: dict[str, int] = {}
    rows = list(store.listings.standing(plan.where.scopes or (), at=plan.now, limit=MOST["context"]))
    listed = Counter(group for group, _ in rows)
    entries.many_rules = any(listed[group] >= MOST["context"] for group in RULES)
    if session is not None and rows:
        ids = {
            parse_id(memory.id): num
            for (_, num), memory in zip(rows, store.memories.by_rows([n for _, n in rows]), strict=True)
        }
        known = {ids[id] for id in store.journal.began_with(session, ids)}
        rows = [row for row in rows if row[1] not in known]
    for group, num in rows:
        place = places[group] = places.get(group, -1) + 1
        if group not in RULES and place >= STANDING:
            continue
        entries.claim(num, "context", worth(group, place))


def _lately(
    store: Store, plan: Plan, entries: Entries, session: str | None, hits: SearchScan | None, *, full: bool
) -> None:
    """Claim the last day by sessions, and the topics and open sessions of the last days."""
    week = plan.now - THREAD_DAYS * MICROSECONDS_PER_DAY
    rows = store.listings.lately(plan.where, after=-(1 << 62) if full else week, limit=LOOKED_AT)
    capped = "+" if len(rows) >= LOOKED_AT else ""
    # What came from outside is not activity here.
    rows = [row for row in rows if row.origin not in FOREIGN]
    others = [row for row in rows if session is None or row.session != session]
    _activity([row for row in others if row.said_at > plan.now - MICROSECONDS_PER_DAY], entries, capped)
    _threads([row for row in others if row.said_at > week], plan.now, entries, hits, capped)
    if full:
        for place, row in enumerate(rows[: MOST["recent"]]):
            entries.claim(row.num, "recent", worth("recent", place))


def _activity(rows: Sequence[Lately], entries: Entries, capped: str) -> None:
    """Claim what was done in the last day: one memory a session, and those of no session; not what was taken in."""
    groups: dict[object, list[Lately]] = {}
    for row in rows:
        if row.origin not in ("import", "team"):
            groups.setdefault(row.session or row.num, []).append(row)
    place = 0
    for group in groups.values():
        if place == MOST["activity"]:
            break
        best = _speaker(group, entries)
        if best is None:
            continue
        label = ""
        if best.session is not None:
            label = f"session {one_line(best.title or best.session)}, {counted(len(group), 'memory', capped)}"
        entries.claim(best.num, "activity", worth("activity", place), label)
        place += 1


def _threads(rows: Sequence[Lately], now: int, entries: Entries, hits: SearchScan | None, capped: str) -> None:
    """Claim topics that came more than once, what several memories without a topic are about, and sessions that nobody
    ended, the liveliest first."""
    unnamed = _about_the_same([row for row in rows if not row.topics], hits)
    groups = {("", f"{group[0].num}"): group for group in unnamed}
    for row in rows:
        for topic in row.topics:
            groups.setdefault(("topic", topic), []).append(row)
        if row.session is not None and row.open and row.said_at <= now - MICROSECONDS_PER_DAY:
            groups.setdefault(("session", row.session), []).append(row)

    def activity(group: Sequence[Lately]) -> float:
        return sum(1 / (1 + (now - row.said_at) / MICROSECONDS_PER_DAY) for row in group)

    names = [name for name, group in groups.items() if len(group) > 1]
    place = 0
    for name in sorted(names, key=lambda name: (-round(activity(groups[name]), 6), name)):
        if place == MOST["threads"]:
            break
        best = _speaker(groups[name], entries)
        if best is None:
            continue
        what = f"#{one_line(name[1])}" if name[0] == "topic" else f"session {one_line(best.title or name[1])}, open"
        what = what if name[0] else "on this"
        entries.claim(best.num, "threads", worth("threads", place), f"{what}, {len(groups[name])}{capped} this week")
        place += 1


def _about_the_same(rows: Sequence[Lately], hits: SearchScan | None) -> list[list[Lately]]:
    """Return groups of at least THREAD memories that are all ALIKE one of them; none without vectors."""
    cosines = hits.among([row.num for row in rows]) if hits is not None and len(rows) >= THREAD else {}
    groups, free = list[list[Lately]](), list(range(len(rows)))
    for i in range(len(rows)):
        near = [j for j in free if i == j or cosines.get((min(i, j), max(i, j)), 0.0) >= ALIKE]
        if i in free and len(near) >= THREAD:
            groups.append([rows[j] for j in near])
            free = [j for j in free if j not in near]
    return groups


def _speaker(group: Sequence[Lately], entries: Entries) -> Lately | None:
    """Return the memory of a group that says most about it, among those that no section has yet."""
    free = [row for row in group if row.num not in entries.by_num]

    def weight(row: Lately) -> tuple[int, float, int, int]:
        place = SPEAKS_FIRST.index(row.kind) if row.kind in SPEAKS_FIRST else len(SPEAKS_FIRST)
        return (place, -row.importance, -row.created_at, -row.num)

    return min(free, key=weight, default=None)
