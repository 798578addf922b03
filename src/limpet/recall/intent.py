"""What kind of question is asked, by its words alone: what decides which signals are worth their time. English."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from ..text.dates import asks_when

# Characters of a question that are read.
READ = 1_000
INTENTS = ("lookup", "hops", "time", "recent")
# One thing is asked about through another: a reason or an effect, a thing of a thing, a thing that does something.
_HOPS = (
    r"^\W*why\b|\b(?:because|cause[sd]?|reasons?|led to|result(?:s|ed)? (?:of|in|from)|thanks to"
    r"|depend(?:s|ed|ing|enc(?:y|ies))?|affect(?:s|ed)?|impact(?:s|ed)?|relat(?:e|es|ed|ion)|connect(?:s|ed|ion)?"
    r"|linked|behind|in common|between"
    r"|the (?:\w+ ){1,3}(?:that|which|who|where|we|used by|owned by|behind)|of (?:the )?\w+ (?:\w+ )?of)\b"
    r"|\b(?:whose|of the \w+ (?:that|which|who))"
    r"|(?<=\w)['’]s (?:(?:\w+ ){0,2}\w+['’]s|(?:\w+ ){1,3}of)\b"
)
_RECENT = (
    r"\b(?:latest|newest|most recent(?:ly)?|recent(?:ly)?|last time|current(?:ly)?|right now|these days|nowadays|so far"
    r"|up to now|at the moment|still)\b|^\W*what did (?:we|i) (?:just|last)\b"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when a query is first read: writes need none of them. For folded text: half of the time."""
    return re.compile(pattern)


@lru_cache(maxsize=64)  # a recall asks for it more than once
def intent(query: str) -> str:
    """One of `INTENTS`; `lookup` is what says nothing else."""
    query = query[:READ]
    folded = query.casefold()
    if _compiled(_HOPS).search(folded):
        return "hops"
    if asks_when(query):
        return "time"
    return "recent" if _compiled(_RECENT).search(folded) else "lookup"
