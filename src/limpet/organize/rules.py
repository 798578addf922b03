"""Extraction by rules: what people and agents say that is worth remembering. No model, and precision before recall.

A statement is taken only when its form says what it is (a correction, a decision with its reason, a rule, a
preference, a lesson, a standing fact; the words that tell are in `cues.py`) and when it can be understood without the
conversation. English here, German in `german.py`; other languages need a model. Guarded by
tests/quality/test_organizer.py, which measures both on conversations and lines that were labelled by hand. What users
say of themselves is told in the third person (`person.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..model.dataclass import dataclass, replace
from . import cues, german
from .person import about_user
from .sentences import sentences
from .turns import Turn


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


def from_messages(turns: Sequence[Turn], *, notes: bool = False) -> Iterator[Found]:
    """Statements of people and agents, in order. `notes`: every turn is a person's note, without a conversation."""
    for turn in turns:
        if turn.role == "tool" or not turn.text:
            continue
        each = [cues.spelled_out(one) for one in sentences(turn.text)]
        for place, one in _one_lesson(_of_turn(each, turn, notes), each):
            if turn.role == "agent" or notes:
                yield one
                continue
            told = about_user(one.content, german=german.is_german(each[place], turn.text))
            yield one if told == one.content else replace(one, content=told, said=one.content)


def _of_turn(each: Sequence[str], turn: Turn, notes: bool) -> Iterator[tuple[int, Found]]:
    """Statements of one message, each with the place of its sentence."""
    for place, sentence in enumerate(each):
        following = each[place + 1] if place + 1 < len(each) else ""
        if cues.QUESTION_MARK.search(sentence) or sentence.endswith(":"):
            continue
        if german.is_german(sentence, turn.text):
            found = _of_german(sentence, following, turn, first=place == 0 and not notes)
        elif turn.role == "agent":
            found = _of_agent(sentence, following, turn)
        else:
            # An answer that begins with a no sets right what the agent did; what follows says how it is.
            before = each[place - 1] if place == 1 and not notes else ""
            found = _of_person(sentence, before, following, turn, first=place == 0 and not notes, notes=notes)
        if found is not None:
            yield place, found


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
            told = place and cues.FAILED.search(each[place - 1]) and not cues.QUESTION_MARK.search(each[place - 1])
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


def _of_german(sentence: str, following: str, turn: Turn, *, first: bool) -> Found | None:
    agent = turn.role == "agent"
    found = german.kind_of(sentence, following, first=first, agent=agent)
    if found is None:
        return None
    kind, rule, content, wrong = found
    return Found(
        content=_told_well(content), kind=kind, rule=rule, turn=turn, origin="agent" if agent else "user",
        importance=_IMPORTANCE.get(kind, 0.5), replaces=_name_of(wrong),
    )  # fmt: skip


_IMPORTANCE = {"correction": 0.7, "decision": 0.7, "preference": 0.6, "lesson": 0.6}


def _of_person(sentence: str, before: str, following: str, turn: Turn, *, first: bool, notes: bool) -> Found | None:
    plain = cues.LEAD.sub("", sentence)
    if first or before:
        # A decision that follows a no is a decision.
        decided = _decision(plain, following, turn, cues.DECIDED, "user") if before else None
        correction = decided or _correction(sentence, before, following, turn)
        if correction is not None:
            return correction
    if cues.QUESTION.match(plain) and not cues.REMEMBER.match(plain) and not cues.WHEN.match(plain):
        return None
    return (
        _decision(plain, following, turn, cues.DECIDED, "user")
        or _told(plain, turn)
        or _lesson(plain, turn, "user", notes=notes)
        or _how_to(plain, turn)
        or _standing(plain, following, turn)
        or _swap(plain, turn)
        or _stated(plain, turn)
        or (_aside(plain, turn) if cues.ASIDE.match(sentence) else None)
    )


def _of_agent(sentence: str, following: str, turn: Turn) -> Found | None:
    plain = cues.LEAD.sub("", sentence)
    return _decision(plain, following, turn, cues.AGENT_DECIDED, "agent") or _lesson(plain, turn, "agent", notes=False)


def rejects(message: str) -> bool:
    """Whether a message begins with a no."""
    found = cues.REJECTS.match(cues.LEAD.sub("", message))
    soft = ("actually", "sorry", "hmm", "careful", "hold on")
    return found is not None and not found[0].lower().startswith(soft)


def _clear(text: str) -> bool:
    """Whether a statement can be understood without what was said around it."""
    return not cues.UNCLEAR_BEGIN.match(text) and not cues.UNCLEAR.search(text) and len(text.split()) >= 4


def _correction(sentence: str, before: str, following: str, turn: Turn) -> Found | None:
    """The user sets the agent right, and says how it is. `before`: the first sentence, if this is the second."""
    sentence = cues.LEAD.sub("", sentence)
    named = cues.NO_NAME.match(sentence)
    if named and cues.INSTRUCTS.match(following) and not cues.UNCLEAR.search(following):
        content = _told_well(f"{sentence} {following}")
        return Found(
            content=content,
            kind="correction",
            rule="correction",
            turn=turn,
            importance=0.7,
            replaces=_name_of(named[1]),
        )
    begin = cues.REJECTS.match(sentence)
    rest = cues.LEAD.sub("", sentence[begin.end() :] if begin else sentence)
    rejects = begin[0] if begin else ""
    if not begin and before and (of_message := cues.REJECTS.match(cues.LEAD.sub("", before))):
        rejects = of_message[0]
    sides = (
        cues.DONT_USE.search(rest)
        or cues.NOT.search(rest)
        or cues.INSTEAD.search(rest)
        or _explained_ban(rest, following)
    )
    if not rejects and (sides is None or before or not cues.IMPERATIVE_OR_US.match(rest)):
        return None
    if cues.QUESTION.match(rest) or cues.HYPOTHETICAL.search(rest) or not _clear(rest) or cues.POINTS.match(rest):
        return None
    if sides is None:
        own = (
            cues.FACT.match(rest) or cues.PREFERS.match(rest) or cues.STANDING.match(rest) or cues.PERSONAL.match(rest)
        )
        if (
            cues.TASK.match(rest)
            or (cues.OF_ONE.match(rest) and not own)
            or cues.BAD_FACT.search(rest)
            or not (cues.DURABLE.search(rest) and cues.VERB_OR_USE.search(rest))
        ):
            return None
        soft = rejects.lower().startswith(("actually", "wait", "sorry", "hmm", "hold on", "stop"))
        if soft and not (cues.STANDING.match(rest) or cues.FACT.match(rest) or cues.THE.match(rest)):
            return None
    if cues.FORBIDS.match(rest) and cues.INSTRUCTS.match(following) and not cues.UNCLEAR.search(following):
        rest = f"{rest} {following}"
    wrong = next((one for one in sides.groups() if one), "") if sides else ""
    return Found(
        content=_told_well(rest),
        kind="correction",
        rule="correction",
        turn=turn,
        importance=0.7,
        replaces=_name_of(wrong),
    )


def _explained_ban(rest: str, following: str) -> re.Match[str] | None:
    ban = cues.BAN.match(rest)
    explained = ban and (cues.REASON.search(rest) or cues.WHY.search(rest) or cues.INSTRUCTS.match(following))
    return ban if explained else None


def _name_of(word: str) -> str:
    """A name that was said to be wrong; only its first word, and no word that says nothing by itself."""
    first = word.split(" ", maxsplit=1)[0].strip("`'\".,;:")
    return (
        ""
        if first.lower() in ("the", "a", "an", "it", "that", "this", "any", "one", "in", "on", "just", "so", "for")
        else first
    )


def _decision(plain: str, following: str, turn: Turn, cue: re.Pattern[str], origin: str) -> Found | None:
    """Somebody decided, and says why."""
    if not cue.search(plain) or cues.HYPOTHETICAL.search(plain) or cues.QUESTION.match(plain):
        return None
    if cues.CHOSEN_NOW.search(plain):
        return None
    content = plain
    reason = cues.REASON.search(plain)
    if reason is None:
        if not following or not cues.REASON_NEXT.match(following) or cues.QUESTION_MARK.search(following):
            return None
        content = f"{plain} {following}"
    if not _clear(cues.FOR_NOW.sub("", plain)) or cues.UNCLEAR.search(cues.FOR_NOW.sub("", content)):
        return None
    return Found(
        content=_told_well(content), kind="decision", rule="decision", turn=turn, origin=origin, importance=0.7
    )


def _told(plain: str, turn: Turn) -> Found | None:
    """Somebody asks that something be remembered."""
    begin, end = cues.REMEMBER.match(plain), cues.REMEMBER_END.search(plain)
    if begin is None and end is None:
        return None
    rest = plain[begin.end() :] if begin else plain[: end.start()] if end else plain
    strong = begin is None or cues.REMEMBER_STRONG.match(plain) is not None
    if (
        cues.NOT_A_NOTE.match(rest)
        or cues.QUESTION.match(rest)
        or not _clear(rest)
        or not cues.VERB_OR_USE.search(rest)
    ):
        return None
    if not strong and (cues.BAD_FACT.search(rest) or cues.PROGRESS.search(rest)):
        return None
    kind = (
        "preference"
        if cues.STANDING.match(rest) or cues.PREFERS.match(rest)
        else "decision"
        if cues.DECIDED.search(rest)
        else "fact"
    )
    return Found(content=_told_well(rest), kind=kind, rule="told", turn=turn, importance=0.7 if strong else 0.5)


def _standing(plain: str, following: str, turn: Turn) -> Found | None:
    """A rule that holds from now on, or a preference."""
    if cues.HYPOTHETICAL.search(plain) or not _clear(plain):
        return None
    standing = cues.WHEN.match(plain) or (
        cues.STANDING.match(plain) and (cues.ALWAYS.search(plain) or cues.BEFORE.match(plain))
    )
    ruled = (standing or cues.NEVER_END.search(plain)) and not cues.NARRATES.search(plain)
    if not ruled and not cues.PREFERS.match(plain):
        return None
    # "We never return more than 100": how things are, and no wish.
    kind = "fact" if ruled and cues.OF_US.match(plain) else "preference"
    rule = "standing" if ruled else "preference"
    if cues.FORBIDS.match(plain) and cues.INSTRUCTS_INSTEAD.search(following) and not cues.UNCLEAR.search(following):
        plain = f"{plain} {following}"
    return Found(content=_told_well(plain), kind=kind, rule=rule, turn=turn, importance=0.6)


def _swap(plain: str, turn: Turn) -> Found | None:
    """ "Instead of X, use Y": what the agent did is set right without a no."""
    sides = cues.SWAP.match(plain)
    if sides is None or cues.HYPOTHETICAL.search(plain) or not _clear(plain) or cues.QUESTION_MARK.search(plain):
        return None
    wrong = _name_of(sides[1])
    return Found(
        content=_told_well(plain), kind="correction", rule="correction", turn=turn, importance=0.7, replaces=wrong
    )


def _stated(plain: str, turn: Turn) -> Found | None:
    """How things stand with the people who speak: what they use, where it runs, who they are, what they aim at."""
    if cues.HYPOTHETICAL.search(plain) or not _clear(plain):
        return None
    goal = cues.GOAL.match(plain)
    personal = cues.PERSONAL.match(plain) and not cues.PASSED.search(plain)
    if goal is None and (
        not (cues.FACT.match(plain) or cues.HOLDS.match(plain) or personal)
        or cues.BAD_FACT.search(plain)
        or cues.PROGRESS.search(plain)
        or cues.QUESTION.match(plain)
    ):
        return None
    kind = "goal" if goal else "fact"
    return Found(content=_told_well(plain), kind=kind, rule=kind, turn=turn)


def _aside(plain: str, turn: Turn) -> Found | None:
    if (
        not cues.WHERE.match(plain)
        or cues.HYPOTHETICAL.search(plain)
        or cues.BAD_FACT.search(plain)
        or cues.PROGRESS.search(plain)
    ):
        return None
    return Found(content=_told_well(plain), kind="fact", rule="fact", turn=turn) if _clear(plain) else None


def _lesson(plain: str, turn: Turn, origin: str, *, notes: bool) -> Found | None:
    """What went wrong, and why or what helped."""
    if (
        not cues.LESSON.search(plain)
        or not cues.CAUSE.search(plain)
        or cues.HYPOTHETICAL.search(plain)
        or not _clear(plain)
    ):
        return None
    if cues.QUESTION.match(plain) or (cues.PASSING.search(plain) and not notes) or len(plain.split()) < 7:
        return None
    return Found(content=_told_well(plain), kind="lesson", rule="lesson", turn=turn, origin=origin, importance=0.6)


def _how_to(plain: str, turn: Turn) -> Found | None:
    """A command, and what it is for, in the user's words."""
    if (
        not cues.COMMAND.search(plain)
        or not cues.HOW_TO.match(plain)
        or cues.HYPOTHETICAL.search(plain)
        or not _clear(plain)
    ):
        return None
    return Found(content=_told_well(plain), kind="skill", rule="command", turn=turn)


def _told_well(text: str) -> str:
    """As it was said, beginning with a capital letter unless a name or code begins it."""
    text = text.strip().strip("-—–:;, ")
    first = text.split(" ", 1)[0]
    return text[0].upper() + text[1:] if first.isalpha() and first.islower() else text
