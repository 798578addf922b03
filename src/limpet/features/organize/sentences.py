"""A message as sentences that could stand alone, and the cues in them: one table of patterns.

Code, quotes, lists of links and pasted output are left out. What a sentence is worth, the reader says (`extract.py`);
cues say how it begins, what it asks for, and of which kind it is where words leave no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Sentences that are longer are pastes.
SHORTEST_WORDS, LONGEST_CHARACTERS = 2, 400
# A message with more lines than this is mostly a paste; only what stands before the paste is read.
MOST_LINES = 60

_FENCES = ("```", "~~~")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
# Headings, output, code and data: what a person does not say.
_PASTED = re.compile(
    r"^\s*(?:#{1,6}\s|[>$%|+]|at \S+\(|File \"|Traceback|\[\d|\d{4}-\d\d-\d\d[T ]\d|\d\d:\d\d:\d\d|[{}\[\]()<>/]|import |from \S+ import|"
    r"def |class |const |let |var |function |return |if \(|for \(|#include|//|/\*|diff --git|@@|\+\+\+|---|[A-Z_]{3,}=|"
    r"(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|E|F)\b\s*[:\]]?\s)|[;{]\s*$"
)
# A full stop ends a sentence when a new one follows: not in "e.g. this", "v1. 2", "api.test", "am 1. August".
_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bcf\.)(?<!\bca\.)(?!(?<=\bno\.)\s*\d)(?<!\bNr\.)(?<!\bz\.B\.)(?<!\bbzw\.)"
    r"(?<!\b[Dd]r\.)(?<!\b[MmDdSs][rst]\.)(?<!\b\d\.)(?<!\b\d\d\.)[\"')*“]*\s+(?=[\"'(`*„]*[A-ZÄÖÜ0-9`\"'(*„])"
)
_MARKUP = re.compile(r"\*\*(.+?)\*\*|__(.+?)__")


def sentences(text: str) -> Iterator[str]:
    """Yield sentences in order; a paragraph wrapped over lines is joined first."""
    paragraph: list[str] = []
    fenced = False
    for line in [*text.splitlines()[:MOST_LINES], ""]:
        is_fence = line.lstrip().startswith(_FENCES)
        fenced ^= is_fence
        begins = _ITEM.match(line)
        is_prose = bool(line.strip()) and not (fenced or is_fence or _PASTED.search(line))
        if begins or not is_prose:
            yield from _split(paragraph)
            paragraph = []
        if begins and not fenced and not _PASTED.search(line[begins.end() :]):
            paragraph.append(line[begins.end() :].strip())
        elif is_prose and not begins:
            paragraph.append(line.strip())
    yield from _split(paragraph)


def _split(lines: list[str]) -> Iterator[str]:
    text = _MARKUP.sub(lambda match: match[1] or match[2], " ".join(lines))
    for part in _END.split(text):
        sentence = " ".join(part.split())
        if len(sentence) <= LONGEST_CHARACTERS and len(sentence.split()) >= SHORTEST_WORDS:
            yield sentence


# -- cues

# (cue, language, pattern). No language is asked for: each row is tried on every sentence. Rows of kinds are there for
# what they add on tests/quality/organizer; the reader knows the others.
CUES = (
    # What begins a sentence and says nothing by itself; a no among it makes a correction.
    ("lead", "en", r"^(?:(?:and|also|but|so|well|ok|okay|please|btw|by the way|fyi|hey|yes|right|oh|wow|great|thanks)\b[\s,.:;!—–-]+)+"),
    ("no", "en", r"^(?:(?:no|nope|wrong|stop|wait|incorrect|not quite|correction|that(?:'s| is| was) (?:wrong|not (?:right|true|correct|it)))[,.;:!—–-]+\s*(?:(?:and|but|because)\s+)?|no (?=(?:we|it|that|the|our|you)\b)|(?:actually|sorry|hold on|hmm+|careful)\b[\s,.:;!—–-]*)+"),
    ("no", "de", r"^(?:(?:nein|ne|nee|nö|falsch|quatsch|korrektur)[,.;:!—–-]+\s*)+"),
    # Asks to have something remembered; "remember to ..." and "note the typo" are tasks and remarks.
    ("asked", "en", r"^(?:(?:remember|keep in mind|don't forget|do not forget|take note|note that|for the record|for (?:future )?reference|good to know)\b(?! (?:to|when|how|if|what|me|you|last|the (?:typo|error|bug|todo))\b|\s*\?)[\s,:—–-]*(?:that\b)?[\s,:—–-]*)+"),
    ("asked", "de", r"^(?:bitte )?(?:merke? dir|denke? (?:bitte )?(?:daran|dran)|vergiss (?:bitte )?nicht|beachte|notiere?(?: dir)?|zur (?:info|information|erinnerung)|wichtig|hinweis|gut zu wissen|fürs protokoll)\b[\s,:—–-]*(?:dass\b)?[\s,:—–-]*"),
    # Begins with what only the sentence before explains.
    ("points back", "en", r"^(?:it|it's|its|that|that's|these|those|they|they're|their|he|she|him|her|his|neither|either|otherwise|the (?:former|latter|above|same|other one))\b(?!-)"),
    # Something is otherwise than it was; and wishes, guesses and orders, which change nothing yet.
    ("changed", "en", r"\b(?:moved|postponed|rescheduled|relocated|called off|cancell?ed|switched|no longer|any ?more|quit(?:ting)?|gave up)\b|\b(?:stopped|dropped)(?! (?:the|it|that|this)\b)|\bchanged(?=[.,:;!]|$| to\b| from\b)|(?:\b(?:is|are|am)|['’](?:s|m|re))\b[^.?!]{0,40} now[.!]?$|^not (?:on |at |in |the )?\w+(?: \w+)?[:;,] "),
    ("changed", "de", r"\b(?:verschoben|verlegt|abgesagt|umgezogen|gewechselt|gekündigt|nicht mehr)\b"),
    ("unsure", "en", r"\?|\b(?:if|maybe|perhaps|might|would|could|should|please|let['’]s|almost|nearly|think|guess|suppose|wonder|wish|hope|try)\b"),
    ("unsure", "de", r"\b(?:wenn|falls|vielleicht|würde|könnte|sollte|bitte|fast|glaube|denke|hoffe)\b"),
    # Who is ill for good, or must not have what, is never of the moment.
    ("ill", "en", r"^(?!.*\b(?:ha(?:ha)+|lol|kidding)\b)(?!(?:it|this|that|these|he|she|they|what|who|which|if|when|we|you)\b).*\b(?:allergic to (?!this\b|that\b|it\b)\w|allergy\b(?! (?:season|medicine|pills?))|(?:lactose|gluten|fructose|histamine)[ -]intolerant|diabetic|diabetes|asthma|asthmatic|epilep|coeliac|celiac)"),
    # Of which kind a statement is; the first that fits. "lesson" also finds the cause of a failed command.
    ("decision", "en", r"\b(?:decision:|decided:|(?:we|i|team|they)(?:'ve| have| all| then| finally| just)* (?:decided|chose|agreed|settled on|opted|went with|picked|ruled out|standardi[sz]ed on)\b|(?:we're|we are|let's) (?:staying|sticking|stick|stay|going|go) with\b|let's (?:use|keep|store|put|make|drop)\b.*\b(?:because|since|so that)\b)"),
    ("decision", "de", r"\b(?:haben? .*\b(?:entschieden|beschlossen|geeinigt|festgelegt|vereinbart)|entscheidung:|beschluss:)"),
    ("lesson", "en", r"\b(?:root cause|culprit|lesson(?: learned)?:)"),
    ("lesson", "de", r"\b(?:ursache war|schuld war|lag (?:daran|nur )|lektion:|gelernt:)"),
    ("preference", "en", r"^from now on"),
    ("preference", "de", r"^(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an)"),
)  # fmt: skip
KINDS = ("decision", "lesson", "preference")
_BY_CUE: dict[str, re.Pattern[str]] = {
    cue: re.compile("|".join(f"(?:{pattern})" for name, _, pattern in CUES if name == cue), re.IGNORECASE)
    for cue in dict.fromkeys(cue for cue, _, _ in CUES)
}


def has(cue: str, sentence: str) -> bool:
    """Return whether a sentence has a cue of the table."""
    return _BY_CUE[cue].search(sentence) is not None


def without(cue: str, sentence: str) -> str:
    """Return a sentence without a cue that it begins with."""
    return _BY_CUE[cue].sub("", sentence, count=1)
