"""Structural signs of a sentence, beside its meaning: who speaks, of whom, how surely, since when. Closed classes only.

Read by `rules.py` as a few more coordinates of a sentence's vector; none of them decides alone, except that nobody is
kept from stating something of themself.
"""

from __future__ import annotations

import re
from functools import cache

# name -> pattern. What is open-ended (feelings, traits, illnesses) is not listed anywhere: prototypes stand for it.
_SIGNS: dict[str, str] = {
    "first person": r"\b(?:i|i'm|i've|i'd|i'll|my|me)\b",
    "of oneself": r"\b(?:i am|i'm|i have|i've|i live|i earn|my)\b",
    "as stated": (
        r"\b(?:said|says|told|states?|stated|mentioned|explicitly|describes?|described|confirmed|shared|disclosed|wrote|"
        r"asked (?:me|us|the|to)|reported|calls? (?:him|her|them)sel\w+|according to|own account|identifies|explained|"
        r"admits?|admitted|noted|informed|self-(?:described|declared|reported)|by (?:his|her|their) own)\b"
    ),
    "hedged": (
        r"\b(?:probably|likely|seems?|seemed|apparently|appears?|must|might|maybe|perhaps|presumably|judging|suggests?|"
        r"i (?:guess|think|suspect|assume|suppose|infer|conclude)|looks like|sounds like|obviously|secretly|evidently|"
        r"clearly|shows?|given|so (?:he|she|they))\b"
    ),
    "now": (
        r"\b(?:today|right now|at the moment|currently|tonight|yesterday|now|last night|"
        r"this (?:morning|afternoon|evening|week))\b"
    ),
    "of a person": r"\b(?:user|he|she|his|her|they|him|i|my|me|customer|client|boss|manager|colleague|team)\b",
    "code": r"[_/`={}<>$]|\w\.\w|\(\)|\d{3,}|(?-i:[a-z][A-Z]|\b[A-Z]{3,}\b)",
    "laughter": r"\b(?:lol|(?:ha){1,9}|rofl|jok(?:e[sd]?|ing|ingly)|laughing|laughingly)\b|[😂🤣😅]|ㅋㅋ|ㅎㅎ",
    "exclamation": r"!",
    "question": r"\?\s*$",
    "of the user": r"^(?:the )?user(?!')\b",
    "is a": r"\b(?:is|are|was) (?:an? |very |too |not )?\w+",
}
NAMES = tuple(_SIGNS)


@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in _SIGNS.values())


def signs(text: str) -> tuple[bool, ...]:
    """Which signs the text has, in the order of NAMES. Linear in its length."""
    return tuple(bool(pattern.search(text)) for pattern in _compiled())


def states_of_self(text: str) -> bool:
    """Whether the text is somebody's unhedged statement about themself: "I'm an introvert", not "I think he is"."""
    found = dict(zip(NAMES, signs(text), strict=True))
    return found["of oneself"] and not found["hedged"] and not found["of the user"]


def of_the_user(text: str) -> bool:
    """Whether the sentence is about an agent's user: "The user is arrogant"."""
    return bool(_compiled()[NAMES.index("of the user")].search(text))


def asks(text: str) -> bool:
    """Whether the sentence is a question: it states nothing."""
    return bool(_compiled()[NAMES.index("question")].search(text))
