"""Sentences that are worth keeping only because of what they correct: "The operation was postponed, it's July 21 now".

By themselves they read like remarks of the moment, so the models of `statements.py` pass by most of them. Kept is one
that names a change and speaks of one thing that is stored already, or was said before in the same conversation. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...text.normalise import content
from .conflicts import Clash, Near

# A change, and what is right beside what is wrong. Done to "the server" it is mostly an act of the moment.
_CHANGES = re.compile(
    r"\b(?:moved|postponed|rescheduled|relocated|pushed back|brought forward|called off|cancell?ed|switched|swapped)\b"
    r"|\bchanged(?: to| from)\b|\bchanged(?=[.,:;!]|$)|\b(?:was|were|been|got) changed\b"
    r"|\b(?:(?:stopped|dropped)(?! (?:the|it|that|this)\b)|quit(?:ting)?|(?:gave|given|giving) up|got rid of)\b"
    r"|\bno longer\b|\bany ?more\b|\bnot (?:on |at |in |the )?\w+(?: \w+)? but\b"
    r"|^not (?:on |at |in |the )?\w+(?: \w+)?[:;,] |\w(?<!\bno), not [\w:]+[.!]?$"
    r"|(?:\b(?:is|are|am)|['’](?:s|m|re))\b[^.?!]{0,40} now[.!]?$"
    r"|\b(?:verschoben|verlegt|abgesagt|umgezogen|geändert|gewechselt|aufgehört|gekündigt|sondern|nicht mehr)\b"
    r"|\bkeine?n? [^.?!]{1,30} mehr\b",
    re.IGNORECASE,
)
# Wishes, guesses and orders change nothing yet.
_NOT_YET = re.compile(
    r"\?|\b(?:if|maybe|perhaps|might|would|could|should|can you|please|let['’]s|almost|nearly|think|guess|suppose"
    r"|wonder|wish|hope|try|wenn|falls|vielleicht|würde|könnte|sollte|bitte|fast|glaube|denke|hoffe)\b",
    re.IGNORECASE,
)
# What is said of a change, not of what changes.
_SAID = frozenset(
    """
    user move postpone reschedule change switch swap cancel stop quit give drop get thing time day week month year today
    tomorrow yesterday now actually sorry wrong correction tell say go come have be make take run use work call start
    keep need new old again ago back few lot while really just bit way people guy one two first last next lately
    recently
    """.split()  # noqa: SIM905
)
_OF_PEOPLE = frozenset({"user", "agent"})
_KINDS = frozenset({"fact", "preference", "decision", "goal", "correction"})


def says_change(sentence: str) -> bool:
    """Whether a sentence says that something is otherwise than it was, or than was said."""
    return _CHANGES.search(sentence) is not None and _NOT_YET.search(sentence) is None


def corrected(content: str, near: Sequence[Near]) -> Near | None:
    """The one statement among `near` that is about what a change is about; None where none is, or several are."""
    mine = _subject(content)
    shared = [
        (len(mine & _subject(one.content)), one) for one in near if one.trust in _OF_PEOPLE and one.kind in _KINDS
    ]
    most = max((count for count, _ in shared), default=0)
    best = [one for count, one in shared if count == most]
    return best[0] if most and len(best) == 1 else None


def correction(content: str, near: Sequence[Near], other: Near) -> Clash | None:
    """Why `other`, one of `near`, is to be looked at again beside a sentence that was kept for what it corrects."""
    found = corrected(content, near)
    return Clash("correction", "names a change of it") if found is not None and found.id == other.id else None


def _subject(text: str) -> set[str]:
    return {word for word in content(text) if word not in _SAID and len(word) > 2 and word.isalpha()}
