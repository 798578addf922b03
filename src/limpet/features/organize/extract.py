"""Extraction: what people and agents say that is worth remembering, in their own words, and what tool calls teach.

The reader says of each sentence, behind the one before it, whether it is worth keeping and as what; cues say so where
words leave no doubt. What a sentence points back to comes with it. Measured by tests/quality/test_organizer.py on
messages that nobody here wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model.dataclass import replace
from ...model.errors import EmbedderUnavailable
from ...vectors import reader
from .lessons import from_calls
from .sentences import KINDS, has, sentences, without
from .transcripts import FEWEST_WORDS, Candidate, Turn

# The probability from which a sentence is kept, and how much less is enough where words leave no doubt of the kind.
# Chosen on the tuning halves of tests/quality/organizer. Characters of the sentence before that the reader gets.
KEPT_FROM, CUE_BONUS, BEFORE = 0.55, 0.4, 120
UNREAD = {"fact": 0.0, "no": 1.0}  # of a sentence in a language that the reader does not know: cues alone decide
CLEAR_WORDS = 8  # so many say what is meant, though the first of them points back
_IMPORTANCE = {"correction": 0.7, "decision": 0.7, "preference": 0.6, "lesson": 0.6}


def extract(turns: Sequence[Turn], *, notes: bool = False) -> list[Candidate]:
    """Return everything that is taken from a conversation without a language model, in order of its evidence.

    `notes`: every turn is a person's note. Of a conversation also sentences that count only if they correct what is
    known (`if_corrects`).
    """
    candidates = [candidate for turn in turns if turn.text for candidate in _of_message(turn)]
    if notes:
        return [candidate for candidate in candidates if not candidate.if_corrects]
    place = {turn.id: number for number, turn in enumerate(turns)}
    return sorted(from_calls(turns, candidates), key=lambda candidate: place[candidate.turn.id])


def _of_message(turn: Turn) -> Iterator[Candidate]:
    """Yield the statements of one message, in order."""
    each = list(sentences(turn.text))
    taken = -1  # the last sentence that is part of a statement
    last: Candidate | None = None
    for place, shares in _answers(turn, each).items():
        text = each[place]
        plain = without("lead", text)
        points_back = has("points back", plain)
        if not _is_kept(turn.role, plain, shares):
            # A user says that something has changed.
            is_change = turn.role == "user" and len(plain.split()) >= FEWEST_WORDS and has("changed", plain)
            if is_change and not (points_back or has("unsure", plain)):
                yield replace(_candidate(text, turn, "", shares), if_corrects=True)
            continue
        candidate = _candidate(text, turn, each[0] if place < 2 else "", shares)
        before = ""
        if points_back or candidate.kind == "lesson":
            if last is not None and taken == place - 1 and (points_back or last.kind == "lesson"):
                # What is meant stands in the statement before: both are one.
                last, taken = replace(last, content=_joined(last.content, candidate.content)), place
                continue
            if place - 1 > taken and not each[place - 1].endswith(("?", ":")):
                before = each[place - 1]
            elif points_back and len(text.split()) < CLEAR_WORDS:
                continue
        if last is not None:
            yield last
        taken = place
        last = replace(candidate, content=_joined(before, candidate.content)) if before else candidate
    if last is not None:
        yield last


def _answers(turn: Turn, each: Sequence[str]) -> dict[int, dict[str, float]]:
    """Return what the reader says of a message's sentences, as they would be stored, by their place.

    Questions, and what announces something, are left out.
    """
    whole = [i for i, text in enumerate(each) if not text.endswith(("?", ":")) and len(text.split()) >= FEWEST_WORDS]
    before = ["", *each]
    asked = [(f"{turn.role}: {before[i][-BEFORE:]}".rstrip(), _stated(each[i], turn.role)) for i in whole]
    answers = [UNREAD] * len(whole)
    try:
        if reader.shared().reads(turn.text):
            answers = reader.shared().answers("kept", asked)
    except EmbedderUnavailable:
        pass
    return dict(zip(whole, answers, strict=True))


def _is_kept(role: str, plain: str, shares: dict[str, float]) -> bool:
    """Return whether a sentence is worth keeping. A sentence that a user asks to remember always is."""
    if role == "user" and any(has(cue, plain) for cue in ("asked", "ill")):
        return True
    return 1 - shares["no"] >= KEPT_FROM - CUE_BONUS * any(has(kind, plain) for kind in KINDS)


def _candidate(text: str, turn: Turn, first: str, shares: dict[str, float]) -> Candidate:
    """Return a sentence as a statement. `first`: the message's first sentence, whose "no" applies to this one too."""
    plain = without("lead", text)
    is_no = turn.role == "user" and (has("no", without("lead", first)) or has("no", plain))
    kind = next((kind for kind in KINDS if has(kind, plain)), "")
    if is_no and kind in ("", "preference"):
        kind = "correction"
    kind = "fact" if has("ill", plain) else kind or max(shares, key=lambda name: shares[name] * (name != "no"))
    content = _capitalised(_stated(text, turn.role))
    return Candidate(
        content=content,
        kind=kind,
        rule=kind,
        turn=turn,
        origin=turn.outside or turn.role,
        importance=_IMPORTANCE.get(kind, 0.5),
    )


def _stated(text: str, role: str) -> str:
    """Return a sentence without what begins it and states nothing."""
    plain = without("lead", without("no", without("lead", text)))
    if role == "user":
        plain = without("lead", without("asked", plain))
    return plain if len(plain.split()) >= FEWEST_WORDS else text


def _joined(first: str, second: str) -> str:
    return f"{_capitalised(first).rstrip('.!;, ')}. {second}"


def _capitalised(text: str) -> str:
    """Return a text with a capital first letter, unless it begins with a name or code."""
    text = text.strip().strip("-—–:;, ")
    first = text.split(" ", 1)[0]
    return text[0].upper() + text[1:] if first.isalpha() and first.islower() else text
