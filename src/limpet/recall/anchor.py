"""Temporal anchors: questions that tell a time by an event, "before the migration", "since we left MongoDB". English.

The event is looked for among the memories. Where it is clear which one is meant, what was true just before it is asked
for (`before`, `until`), or what began with it or later counts as of the time asked for (`after`, `since`).
"""

from __future__ import annotations

import re
from functools import cache

from ..model.clock import format_time
from ..model.dataclass import dataclass, replace
from ..model.ids import format_id
from ..store.records import Candidate
from ..text.grams import with_grams
from ..text.lexicon import FUNCTION_WORDS
from .plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store

READ = 1_000
# Hits by the event's words that are looked at.
LOOKED_AT = 40
_BY_EVENT = (
    r"\b(before|prior to|until|after|since|following)\s+(?:the|our|their|we|they|i|you|that|this)\s+([^?.,;:!]{3,80})"
)
# Only a question about the past is about another time: what must be done before a release is asked about today.
_PAST = r"\b(?:was|were|did|had|used|knew|thought|believed|held|chose|decided)\b"
_EARLIER = frozenset(("before", "prior to", "until"))
# Kinds that say what happened; a fact that has the words may only speak of it.
_HAPPENED = ("episode", "decision", "correction")
_WORD = re.compile(r"[\w'-]+")


@dataclass(frozen=True, slots=True)
class TemporalAnchor:
    """The event that gives a question its time."""

    word: str  # before, after ...
    id: bytes
    at: int  # microseconds UTC
    content: str

    def __str__(self) -> str:
        return f"{self.word} {format_id(self.id)} ({(format_time(self.at) or '')[:10]}): {self.content[:80]}"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def resolve_anchor(store: Store, plan: Plan) -> tuple[Plan, TemporalAnchor | None]:
    """The plan as of the event that its question names, if one is clearly meant and the caller gave no time."""
    asked = _compiled(_BY_EVENT).search(plan.query[:READ]) if plan.timeless else None
    if asked is None or not _compiled(_PAST).search(plan.query[:READ]):
        return plan, None
    word = asked[1].lower()
    event = _event(store, plan, asked[2])
    if event is None:
        return plan, None
    anchor = TemporalAnchor(word, event.id, event.valid_from, " ".join(event.content.split()))
    # What the event is called has been understood: it is not what is looked for.
    plan = replace(plan, query=plan.query[: asked.start()] + plan.query[asked.end() :])
    if word in _EARLIER:
        return replace(plan, where=replace(plan.where, as_of=event.valid_from - 1)), anchor
    return replace(plan, after=event.valid_from), anchor


def _event(store: Store, plan: Plan, phrase: str) -> Candidate | None:
    """The one memory that has all the words of a phrase; of several the one that says what happened."""
    words = [word for word in _WORD.findall(phrase) if word.casefold() not in FUNCTION_WORDS]
    if not words:
        return None
    hits = store.search.lexical(with_grams(" ".join(words)), plan.where, limit=LOOKED_AT, deadline=plan.deadline)
    if not hits.stems or hits.absent:
        return None
    # A turn of a conversation says when it was said, not when it was.
    notes = [
        one for one in store.search.candidates([hit.text_id for hit in hits.hits], plan.where) if one.speaker is None
    ]
    stems = store.search.stems(one.content for one in notes)
    several = [one for one in notes if set(hits.stems) <= stems[one.content]]
    if len(several) > 1:
        several = [one for one in several if one.kind in _HAPPENED]
    return several[0] if len(several) == 1 else None
