"""Questions about the past that tell their time by an event: "what did we use before the migration?". English.

Where one memory is clearly that event, what held just before it is asked for. tests/quality/recency measures it.
"""

from __future__ import annotations

import re

from ..model.dataclass import replace
from ..text.describe import with_grams
from ..text.lexicon import FUNCTION_WORDS
from .plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store

# Characters of a question that are read, and hits by the event's words that are looked at.
READ, LOOKED_AT = 1_000, 40
# Compiled when a question is first asked, and kept by re's own cache.
_BY_EVENT = r"(?i)\b(?:before|prior to|until)\s+(?:the|our|their|we|they|i|you|that|this)\s+([^?.,;:!]{3,80})"
# Only a question about the past is about another time: what must be done before a release is asked about today.
_PAST = r"(?i)\b(?:was|were|did|had|used|knew|thought|believed|held|chose|decided)\b"
# Kinds that say what happened; a fact that has the words may only speak of it.
_HAPPENED = ("episode", "decision", "correction")


def before_event(store: Store, plan: Plan) -> Plan:
    """The plan as of just before the event that its question names, if one is meant and the caller gave no time."""
    asked = re.search(_BY_EVENT, plan.query[:READ]) if plan.timeless else None
    if asked is None or not re.search(_PAST, plan.query[:READ]):
        return plan
    words = [word for word in re.findall(r"[\w'-]+", asked[1]) if word.casefold() not in FUNCTION_WORDS]
    hits = store.search.lexical(with_grams(" ".join(words)), plan.where, limit=LOOKED_AT, deadline=plan.deadline)
    if not words or not hits.stems or hits.absent:
        return plan
    found = store.search.candidates([hit.text_id for hit in hits.hits], plan.where)
    notes = [one for one in found if one.speaker is None]  # a turn says when it was said, not when it was
    stems = store.search.stems(one.content for one in notes)
    events = [one for one in notes if set(hits.stems) <= stems[one.content]]
    if len(events) > 1:
        events = [one for one in events if one.kind in _HAPPENED]
    if len(events) != 1:
        return plan
    # What the event is called has been understood: it is not what is looked for.
    query = plan.query[: asked.start()] + plan.query[asked.end() :]
    return replace(plan, query=query, where=replace(plan.where, as_of=events[0].valid_from - 1))
