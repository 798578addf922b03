"""Extraction: what people and agents say that is worth remembering, in their own words.

A linear model (`statements.py`) passes by what is surely of the moment and says of which kind the rest is; the
relevance judge, which was trained for this too, reads what is left; both together decide. What a sentence points back
to comes with it, a failure and what helped are one lesson, and what users say of themselves is told in the third person
(`person.py`). Measured by tests/quality/test_organizer.py on messages that nobody here wrote.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ...model.dataclass import dataclass, replace
from ...model.errors import EmbedderUnavailable
from ...text.scripts import latin_share
from ...vectors import judge
from . import cues, german, statements
from .corrections import says_change
from .cues import Cues
from .person import about_user
from .sentences import sentences
from .turns import Turn

# Log-odds of both models together, the linear one's so many times, from which a statement is kept; of the linear one
# alone in German, and where the judge is not to be had; and from where on the judge is asked. Chosen on tuning halves
# of tests/quality/organizer; 1.62 (1.4 before) by hand, all of conversations.jsonl and test_organize_taken in view.
LINEAR = 2.0
KEPT = {"user": 1.62, "agent": 0.5}
KEPT_ALONE = {"user": 0.5, "agent": 0.35}
ASKED = -3.0
# So much less is enough behind "for the record" and where words leave no doubt of the kind; what somebody asks to have
# remembered is, whatever models say.
TOLD = 1.7
FEWEST_WORDS = 3
CLEAR_WORDS = 8  # so many say what is meant, though the first of them points back
LATIN = 0.9  # share of the letters of a message, below which only a model reads it
_IMPORTANCE = {"correction": 0.7, "decision": 0.7, "preference": 0.6, "lesson": 0.6}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One statement that a conversation holds."""

    content: str
    kind: str
    rule: str  # which rule took it
    turn: Turn  # its evidence
    more: tuple[Turn, ...] = ()  # further evidence
    origin: str = "user"
    importance: float = 0.5
    replaces: str = ""  # a name that it says is wrong: "npm" of "pnpm, not npm"
    said: str = ""  # in the user's own words, where `content` tells it of the user
    if_corrects: bool = False  # to be kept only if it corrects what is known: see `corrections.py`


def from_messages(turns: Sequence[Turn], *, notes: bool = False, changes: bool = False) -> Iterator[Found]:
    """Statements of people and agents, in order. `notes`: every turn is a person's note, without a conversation.

    `changes`: with those to be kept only if they correct what is known; notes have none.
    """
    for turn in turns:
        if turn.role == "tool" or not turn.text or latin_share(turn.text) < LATIN:
            continue
        each = list(sentences(turn.text))
        told = dict(_told_lessons(each))
        covered = {place for begin, end in told.items() for place in range(begin, end + 1)}
        lessons = [(begin, _lesson(each[begin : end + 1], turn)) for begin, end in told.items()]
        sure = [*lessons, *_one_lesson(_of_turn(each, turn, covered), each)]
        found = [*sure, *(_changes(each, turn, [one.content for _, one in sure]) if changes and not notes else ())]
        for place, one in sorted(found, key=lambda pair: pair[0]):
            if notes:
                yield one
                continue
            turned = about_user(one.content, german=german.is_german(each[place], turn.text))
            if turn.role == "agent":
                # "I settled on X" is the agent's; what cannot be turned stays as it was said.
                yield replace(one, content="Agent" + turned[4:]) if turned.startswith("User ") else one
            else:
                yield one if turned == one.content else replace(one, content=turned, said=one.content)


def rejects(message: str) -> bool:
    """Whether a message begins with a no."""
    found = cues.ENGLISH.rejects.match(cues.ENGLISH.lead.sub("", message))
    soft = ("actually", "sorry", "hmm", "careful", "hold on")
    return found is not None and not found[0].lower().startswith(soft)


def _told_lessons(each: Sequence[str]) -> Iterator[tuple[int, int]]:
    """First and last place of what tells a failure, its cause and what helped, in sentences that say little alone."""
    end = -1
    for begin, one in enumerate(each):
        if begin <= end or one.endswith(("?", ":")) or not cues.FAILED.search(one):
            continue
        helped = [i for i in range(begin + 1, min(begin + 3, len(each))) if _helped(each[i])]
        if helped and any(cues.CAUSE.search(each[i]) for i in range(begin, helped[0] + 1)):
            end = helped[0]
            yield begin, end


def _lesson(several: Sequence[str], turn: Turn) -> Found:
    content = several[0]
    for one in several[1:]:
        content = _joined(content, one)
    return Found(
        content=_told_well(content), kind="lesson", rule="lesson", turn=turn, origin=turn.role,
        importance=_IMPORTANCE["lesson"],
    )  # fmt: skip


def _of_turn(each: Sequence[str], turn: Turn, covered: Collection[int] = ()) -> Iterator[tuple[int, Found]]:
    """Statements of one message, each with the place of its first sentence, but those `covered`."""
    taken = -1  # the last sentence that is part of a statement
    last: tuple[int, Found] | None = None
    for place, one in enumerate(statements.in_message(each, turn.role)):
        words = german.CUES if german.is_german(one.text, turn.text) else cues.ENGLISH
        if place in covered:
            # Part of another statement: what follows does not point back over it.
            if last is not None:
                yield last
            last, taken = None, place
            continue
        if not _is_kept(one, words):
            continue
        points_back = words.points_back.match(words.lead.sub("", one.text)) is not None
        if points_back and place == taken + 1 and last is not None and place > 0:
            # What is meant stands in the statement before: both are one.
            last = last[0], replace(last[1], content=_joined(last[1].content, _told_well(one.text)))
            taken = place
            continue
        if last is not None:
            yield last
        begin = place
        if points_back:
            begin = _begun(each, place, taken)
            if begin == place and len(one.text.split()) < CLEAR_WORDS:
                last = None
                continue
        kind = statements.kind_of(one)
        last, taken = (begin, _found(each[begin : place + 1], kind, turn, words, first=begin <= 1, each=each)), place
    if last is not None:
        yield last


def _changes(each: Sequence[str], turn: Turn, sure: Sequence[str]) -> Iterator[tuple[int, Found]]:
    """What a person says is otherwise now, of what is not part of a statement."""
    for place, one in enumerate(statements.in_message(each, turn.role) if turn.role == "user" else ()):
        words = german.CUES if german.is_german(one.text, turn.text) else cues.ENGLISH
        plain = words.lead.sub("", one.text)
        if not says_change(one.text) or words.points_back.match(plain) or one.text.endswith(":"):
            continue
        if len(one.text.split()) < FEWEST_WORDS or any(one.text.strip(".! ") in text for text in sure):
            continue
        kind = statements.kind_of(one)
        found = _found([one.text], "fact" if kind == "lesson" else kind, turn, words, first=place <= 1, each=each)
        if found.content not in sure:
            yield place, replace(found, if_corrects=True)


def _begun(each: Sequence[str], place: int, taken: int) -> int:
    """Where what a sentence points back to begins: before it, or before what is too short to say anything."""
    begin = place
    while begin - 1 > taken and not each[begin - 1].endswith(("?", ":")):
        begin -= 1
        if len(each[begin].split()) >= FEWEST_WORDS:
            return begin
    return place


def _is_kept(one: statements.Sentence, words: Cues) -> bool:
    """Whether a sentence is worth keeping."""
    if one.text.endswith(("?", ":")) or len(one.text.split()) < FEWEST_WORDS:
        return False
    plain = words.lead.sub("", one.text)
    begins, ends = words.remember.match(plain), words.remember_end.search(one.text)
    if one.role == "user" and (ends or (begins and begins["asked"]) or cues.ILL.match(plain)):
        return True
    less = TOLD if (begins and one.role == "user") or any(told.search(plain) for _, told in words.kinds) else 0.0
    odds = statements.log_odds(one)
    if odds < ASKED - less:
        return False
    if words is german.CUES:  # the judge reads it too badly to add anything
        return odds >= KEPT_ALONE[one.role] - less
    try:
        (said,) = judge.shared().scores(statements.question(one), [one.text])
    except EmbedderUnavailable:
        return odds >= KEPT_ALONE[one.role] - less
    return LINEAR * odds + said >= KEPT[one.role] - less


def _found(several: Sequence[str], kind: str, turn: Turn, words: Cues, *, first: bool, each: Sequence[str]) -> Found:
    """`several`: one sentence, or what it points back to and it."""
    text = " ".join(several)
    replaced = ""
    rejected = first and turn.role == "user" and words.rejects.match(words.lead.sub("", each[0])) is not None
    if rejected and kind in ("fact", "preference"):
        kind = "correction"
    plain = words.lead.sub("", text)
    if not rejected:
        kind = next((one for one, told in words.kinds if told.search(plain)), kind)
    if rejected and len(words.rejects.sub("", plain).split()) >= FEWEST_WORDS:
        plain = words.lead.sub("", words.rejects.sub("", plain))
    sides = words.sides.search(plain)
    if sides and (kind == "correction" or _withdraws(sides)):
        replaced = _name_of(next((one for one in sides.groups() if one), ""))
    if turn.role == "user":
        plain = words.remember_end.sub("", words.remember.sub("", plain))
    if words is cues.ENGLISH:
        plain = cues.spelled_out(plain)
    return Found(
        content=_told_well(plain or text), kind=kind, rule=kind, turn=turn, origin=turn.role,
        importance=_IMPORTANCE.get(kind, 0.5), replaces=replaced,
    )  # fmt: skip


def _one_lesson(found: Iterator[tuple[int, Found]], each: Sequence[str]) -> Iterator[tuple[int, Found]]:
    """What failed, why and what helped are one lesson, though a message tells them in several sentences."""
    kept: list[tuple[int, Found]] = []
    end = -1  # the last sentence of the lesson that `kept` ends with
    for place, one in found:
        if one.kind != "lesson":
            if place > end:
                kept.append((place, one))
            continue
        last = kept[-1][1] if kept else None
        if last is not None and last.kind == "lesson" and place <= end + 1:
            if place > end:
                kept[-1] = (kept[-1][0], replace(last, content=_joined(last.content, one.content)))
        else:
            told = place and cues.FAILED.search(each[place - 1]) and not each[place - 1].endswith("?")
            if told and place - 1 > end and not cues.FAILED.search(one.content):
                kept.append((place, replace(one, content=_joined(each[place - 1], one.content))))
            else:
                kept.append((place, one))
        end = max(end, place)
        if end + 1 < len(each) and _helped(each[end + 1]):
            begin, lesson = kept[-1]
            kept[-1] = (begin, replace(lesson, content=_joined(lesson.content, each[end + 1])))
            end += 1
    yield from kept


def _helped(sentence: str) -> bool:
    """Whether a sentence says what mended a failure that was told before it."""
    return cues.HELPED.search(sentence) is not None and not sentence.endswith(("?", ":"))


def _joined(first: str, second: str) -> str:
    return f"{first.rstrip('.!;, ')}. {second}"


def _withdraws(sides: re.Match[str]) -> bool:
    """Whether a statement of any kind gives a thing up, and not for a part of its uses alone."""
    name, _, rest = sides.string[sides.start(sides.lastindex or 0) :].partition(" ")
    is_name = any(one.isalpha() for one in name)  # "50 minutes instead of 8" names nothing
    return is_name and cues.WITHDRAWS.match(sides[0]) is not None and not cues.FOR_A_PART.match(rest)


def _name_of(word: str) -> str:
    """A name that was said to be wrong; only its first word, and no word that says nothing by itself."""
    first = word.split(" ", maxsplit=1)[0].strip("`'\".,;:")
    return (
        ""
        if first.lower() in ("the", "a", "an", "it", "that", "this", "any", "one", "in", "on", "just", "so", "for")
        else first
    )


def _told_well(text: str) -> str:
    """As it was said, beginning with a capital letter unless a name or code begins it."""
    text = text.strip().strip("-—–:;, ")
    first = text.split(" ", 1)[0]
    return text[0].upper() + text[1:] if first.isalpha() and first.islower() else text
