"""What kind of question is asked, by its words alone: which time it means, and what its answer looks like.

English; words for "now", "before" and "how many" also German, Spanish and French, for what an agent said German.
"""

from __future__ import annotations

import re
from functools import cache

from ..text.dates import asks_when

# Characters of a question that are read.
READ = 1_000
INTENTS = ("lookup", "time", "recent")
_RECENT = (
    r"\b(?:latest|newest|most recent(?:ly)?|recent(?:ly)?|last time|current(?:ly)?|right now|these days|nowadays|so far"
    r"|up to now|at the moment|still)\b|^\W*what did (?:we|i) (?:just|last)\b"
)

# What holds now is asked for; English, and the commonest words of German, Spanish and French.
_NOW = (
    r"\b(?:now|nowadays|these days|today|currently|current|at the moment|at present|presently|right now|by now|still"
    r"|latest|newest|most recent(?:ly)?|up to date|any ?more|as of (?:now|today)|so far"
    r"|jetzt|heute|aktuell(?:e[nrs]?)?|derzeit|momentan|zurzeit|noch|ahora|actual(?:mente)?|hoy|todavía"
    r"|maintenant|actuellement|aujourd['’]hui|encore)\b"
)
# What was before is asked for.
_PAST = (
    r"\b(?:was|were|did|had|used to|before|until|originally|original|first|previous(?:ly)?|former(?:ly)?|earlier"
    r"|initial(?:ly)?|back (?:in|when|then)|once|ago|at first|war(?:en)?|früher|vorher|ursprünglich|zuerst|antes|era"
    r"|fue|originalmente|primero|avant|était|d['’]abord)\b"
)
# Words that ask for what was before even beside a "now".
_EARLIER = r"\b(?:used to|before|originally|original|first|previous(?:ly)?|former(?:ly)?|earlier|initial(?:ly)?)\b"
# What somebody spoken to said before is asked for; "can you recommend ..." asks for something new.
_OF_AGENT = (
    r"(?<!can )(?<!could )(?<!would )(?<!will )(?<!do )\byou (?:just )?"
    r"(?:\w+ed|said|told|gave|wrote|made|found|thought|meant|chose|put|sent|did|knew)\b"
    r"|\b(?:did|have|had|were) you\b|\byou(?:['’](?:d|ve)| had| have| were)\b(?! to\b)|\baccording to you\b"
    r"|\byour (?:\w+ )?(?:advice|suggestions?|recommend(?:ations?|ed)|recipe|answer|list|tips?|explanation|idea|plan)\b"
    r"|\bremind me\b(?! (?:to|in|at|tomorrow)\b)|\b(?:previous|last|earlier) (?:chat|conversation)\b"
    r"|\bour (?:previous|last|earlier) (?:talk|session|discussion)\b"
    r"|\b(?:hast|hattest|hättest) du\b|\bdu (?:\w+ ){0,6}(?:hast|hattest)\b|\bhaben sie mir\b"
    r"|\bdein(?:e[mnr]?)? (?:\w+ )?(?:rat|vorschl[aä]g\w*|empfehlung\w*|tipps?|antwort|liste|rezept|idee|erklärung)\b"
    r"|\berinner\w* mich\b|\bunser\w* (?:letzte[nrms]?|vorige[nrms]?|frühere[nrms]?) (?:gespräch|unterhaltung|chat)\b"
)
# What is asked for is counted, added, listed or put in order: it is told in several places.
_SEVERAL = (
    r"\bhow (?:many|much|often)\b|\b(?:in total|altogether|total(?: number)?|all told)\b"
    r"|\b(?:in (?:what|which) order|the order (?:of|in which))\b"
    r"|^\W*(?:list|name|enumerate)\b|\b(?:list|name) (?:all|every)\b"
    r"|\bwie (?:viele?|oft)\b|\binsgesamt\b|\bin welcher reihenfolge\b"
    r"|\bcu[aá]nt[oa]s?\b|\ben total\b|\ben qu[eé] orden\b|\bcombien\b|\bau total\b|\bdans quel ordre\b"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when a query is first read: writes need none of them. For folded text: half of the time."""
    return re.compile(pattern)


def intent(query: str) -> str:
    """Return one of `INTENTS`; `lookup` is what says nothing else."""
    if asks_when(query[:READ]):
        return "time"
    return "recent" if asks_latest(query) else "lookup"


def asks_latest(query: str) -> bool:
    """Return whether a question is about what is latest."""
    return bool(_compiled(_RECENT).search(query[:READ].casefold())) and not asks_when(query[:READ])


def asks_now(query: str) -> bool:
    """Return whether a question says that it asks for what holds now."""
    folded = query[:READ].casefold()
    return bool(_compiled(_NOW).search(folded)) and not _compiled(_EARLIER).search(folded)


def asks_past(query: str) -> bool:
    """Return whether a question asks for what was, and not for what holds now."""
    return bool(_compiled(_PAST).search(query[:READ].casefold())) and not asks_now(query)


def asks_of_agent(query: str) -> bool:
    """Return whether a question asks for what the one it is put to has said before."""
    return bool(_compiled(_OF_AGENT).search(query[:READ].casefold()))


def asks_for_several(query: str) -> bool:
    """Return whether a question counts, adds or lists: its answer is told in several places."""
    return bool(_compiled(_SEVERAL).search(query[:READ].casefold()))
