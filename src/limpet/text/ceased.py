"""Statements that a thing holds no more: "We no longer use Postgres", "Wir nutzen Slack nicht mehr".

Read against the value of a key, which is no sentence. Two sentences are compared in `statements.py` and `updates.py`.
"""

from __future__ import annotations

import re
from functools import cache

from .opposites import canonical


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VERB = r"(?:uses?|using|on|runs? on|needs?|lives? in|works? (?:at|for)|prefers?|deploys? (?:to|on|with)|is|are)"
_GERMAN_VERB = (
    r"nutzen|nutzt|nutze|benutzen|benutzt|benutze|verwenden|verwendet|verwende|haben|hat|habe|brauchen|braucht"
)
_WHAT = r" (?:the )?(?P<what>\S.{0,200})"
# "we no longer use X", "we don't use X anymore", "we stopped using X", "X is no longer used"
_CEASED = (
    rf"(?P<who>.{{0,60}}?)\bno longer(?: {_VERB})?{_WHAT}",
    rf"(?P<who>.{{0,60}}?)\b(?:do|does|am|is|are)(?: not|n['’]t) {_VERB}{_WHAT} any ?(?:more|longer)\b",
    r"(?P<who>.{0,60}?)\b(?:stopped using|(?:moved|migrated|switched) (?:away |off )?from|moved off|dropped|gave up"
    rf"|got rid of){_WHAT}",
    r"(?P<who>)(?P<what>\S.{0,80}?) (?:is|are) "
    r"(?:no longer (?:used|in use|(?:our|my) \w+)|not used any ?(?:more|longer))",
    # "wir nutzen X nicht mehr", "wir haben kein X mehr", "X wird nicht mehr genutzt", "wir sind von X zu Y umgezogen",
    # "wir haben X abgeschafft"
    rf"(?P<who>(?:\w+ ){{1,4}})(?:{_GERMAN_VERB})(?P<what> \S.{{0,80}}?) nicht (?:mehr|länger)"
    r"(?=[\s.,;!]*$|,? sondern)",
    rf"(?P<who>(?:\w+ ){{1,4}})(?:{_GERMAN_VERB}) keine?n? (?P<what>\S.{{0,80}}?) mehr(?=[\s.,;!]*$)",
    r"(?P<who>)(?P<what>\S.{0,80}?) (?:wird|werden|ist|sind) nicht (?:mehr|länger) "
    r"(?:genutzt|verwendet|benutzt|im Einsatz)",
    r"(?P<who>(?:\w+ ){1,4})(?:sind|ist|bin|haben|hat|habe)(?: \w+)? von (?P<what>\S.{0,80}?) (?:zu|auf|nach) "
    r"\S.{0,80} (?:umgezogen|gewechselt|umgestiegen|umgestellt|migriert)",
    r"(?P<who>(?:\w+ ){1,4})(?:haben|hat|habe) (?P<what>\S.{0,80}?) (?:abgeschafft|gekündigt|abgeschaltet|ersetzt)"
    r"(?=[\s.,;!]*$)",
)
# What may follow the value; "for the tests" is another statement.
_BEHIND = re.compile(
    r"\s*(?:[.,;!(]|\b(?:any ?more|to|since|because|in favou?r of|as of|as our|as the|and)\b).*", re.DOTALL
)
_ANYBODY = _words(
    "we i i've we've have has is are the our my team project company user it now so finally wir ich "
    "sind das unser unsere unserem mein meine projekt firma nutzer jetzt nun inzwischen"
)


def ceased(text: str, value: str, key: str) -> bool:
    """Whether a statement says that the value of a key holds no more ("We no longer use Postgres"), and nothing else.

    Said of us or of the subject of the key: what the tests no longer use may be used all the same.
    """
    words = _same(value)
    return bool(words) and any(
        _same(_BEHIND.sub("", found["what"], count=1)) == words and _of_key(found["who"], key)
        for form in _ceasings()
        if (found := form.match(text.strip()))
    )


@cache
def _ceasings() -> list[re.Pattern[str]]:
    """Compiled when a statement is first read for it: what only compares two needs none of them."""
    return [re.compile(form, re.IGNORECASE) for form in _CEASED]


def says_ceased(text: str) -> bool:
    """Whether it says of anything that it holds no more."""
    return any(form.match(text.strip()) for form in _ceasings())


def _same(text: str) -> list[str]:
    return [canonical(word) for word in text.casefold().strip(" .!\"'`").split()]


def _of_key(who: str, key: str) -> bool:
    named = set(_same(re.sub(r"[._-]+", " ", key)))
    return all(word in _ANYBODY or canonical(word) in named for word in who.casefold().replace(",", " ").split())
