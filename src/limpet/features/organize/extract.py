"""Extraction: what people and agents say that is worth remembering, in their own words, and what tool calls teach.

A linear model (`statements.py`) and the relevance judge, which was trained for this too, decide together which
sentences are kept. What a sentence points back to comes with it. Measured by tests/quality/test_organizer.py on
messages that nobody here wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model.dataclass import replace
from ...model.errors import EmbedderUnavailable
from ...text.describe import latin_share
from ...vectors import judge
from . import statements
from .lessons import from_calls
from .sentences import KINDS, has, sentences, without
from .transcripts import FEWEST_WORDS, Candidate, Turn

# Log-odds of both models together, the linear one's so many times, from which a sentence is kept; of the linear one
# alone; and from where on the judge is asked. Chosen on the tuning halves of tests/quality/organizer.
LINEAR = 2.0
KEPT = {"user": 1.62, "agent": 0.5}
KEPT_ALONE = {"user": 1.2, "agent": 1.0}
ASKED = -3.0
# So much less is enough where words leave no doubt of the kind.
TOLD, LESS_ALONE = 1.7, 2.4
CLEAR_WORDS = 8  # so many say what is meant, though the first of them points back
LATIN = 0.9  # share of the letters of a message, below which only a language model reads it
_IMPORTANCE = {"correction": 0.7, "decision": 0.7, "preference": 0.6, "lesson": 0.6}


def extract(turns: Sequence[Turn], *, notes: bool = False) -> list[Candidate]:
    """Return everything that is taken from a conversation without a language model, in order of its evidence.

    `notes`: every turn is a person's note. Of a conversation also sentences that count only if they correct what is
    known (`if_corrects`).
    """
    candidates = [one for turn in turns if turn.text and latin_share(turn.text) >= LATIN for one in _of_message(turn)]
    if notes:
        return [one for one in candidates if not one.if_corrects]
    place = {turn.id: number for number, turn in enumerate(turns)}
    return sorted(from_calls(turns, candidates), key=lambda one: place[one.turn.id])


def _of_message(turn: Turn) -> Iterator[Candidate]:
    """Yield the statements of one message, in order."""
    each = list(sentences(turn.text))
    taken = -1  # the last sentence that is part of a statement
    last: Candidate | None = None
    for place, sentence in enumerate(statements.in_message(each, turn.role)):
        plain = without("lead", sentence.text)
        points_back = has("points back", plain)
        if not _is_kept(sentence, plain):
            if _says_change(sentence, plain) and not points_back:
                yield replace(_candidate(sentence, turn, ""), if_corrects=True)
            continue
        candidate = _candidate(sentence, turn, each[0] if place < 2 else "")
        before = ""
        if points_back or candidate.kind == "lesson":
            if last is not None and taken == place - 1 and (points_back or last.kind == "lesson"):
                # What is meant stands in the statement before: both are one.
                last, taken = replace(last, content=_joined(last.content, candidate.content)), place
                continue
            if place - 1 > taken and not each[place - 1].endswith(("?", ":")):
                before = each[place - 1]
            elif points_back and len(sentence.text.split()) < CLEAR_WORDS:
                continue
        if last is not None:
            yield last
        taken = place
        last = replace(candidate, content=_joined(before, candidate.content)) if before else candidate
    if last is not None:
        yield last


def _is_kept(sentence: statements.Sentence, plain: str) -> bool:
    """Return whether a sentence is worth keeping. A sentence that a user asks to remember always is."""
    if sentence.text.endswith(("?", ":")) or len(sentence.text.split()) < FEWEST_WORDS:
        return False
    if sentence.role == "user" and (has("asked", plain) or has("ill", plain)):
        return True
    has_cue = any(has(kind, plain) for kind in KINDS)
    less = TOLD * has_cue
    odds = statements.log_odds(sentence)
    if odds >= KEPT_ALONE[sentence.role] - LESS_ALONE * has_cue:
        return True
    if odds < ASKED - less:
        return False
    try:
        (judged,) = judge.shared().scores(statements.question(sentence), [sentence.text])
    except EmbedderUnavailable:
        return False
    return LINEAR * odds + judged >= KEPT[sentence.role] - less


def _says_change(sentence: statements.Sentence, plain: str) -> bool:
    """Return whether a user's sentence says that something has changed."""
    is_whole = sentence.role == "user" and len(plain.split()) >= FEWEST_WORDS and not plain.endswith(":")
    return is_whole and has("changed", plain) and not has("unsure", plain)


def _candidate(sentence: statements.Sentence, turn: Turn, first: str) -> Candidate:
    """Return a sentence as a statement. `first`: the message's first sentence, whose "no" applies to this one too."""
    plain = without("lead", sentence.text)
    is_no = turn.role == "user" and has("no", without("lead", first))
    kind = next((kind for kind in KINDS if has(kind, plain)), "")
    if is_no and kind in ("", "preference"):
        kind = "correction"
    kind = "fact" if has("ill", plain) else kind or statements.kind_of(sentence)
    plain = without("lead", without("no", plain))
    if turn.role == "user":
        plain = without("lead", without("asked", plain))
    content = _capitalised(plain if len(plain.split()) >= FEWEST_WORDS else sentence.text)
    return Candidate(
        content=content,
        kind=kind,
        rule=kind,
        turn=turn,
        origin=turn.outside or turn.role,
        importance=_IMPORTANCE.get(kind, 0.5),
    )


def _joined(first: str, second: str) -> str:
    return f"{_capitalised(first).rstrip('.!;, ')}. {second}"


def _capitalised(text: str) -> str:
    """Return a text with a capital first letter, unless it begins with a name or code."""
    text = text.strip().strip("-—–:;, ")
    first = text.split(" ", 1)[0]
    return text[0].upper() + text[1:] if first.isalpha() and first.islower() else text
