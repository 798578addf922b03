"""Keyed facts, and sessions: their summaries, and notes of turns in which nothing was stated.

The contracts of verbs stand in `api.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..model.clock import Instant, MaybeInstant, format_time
from ..model.dataclass import dataclass, field, replace
from ..model.encode import TIME, JsonForm
from ..model.errors import BadInput, NotFound, counted
from ..model.ids import format_id, parse_id, session_mark
from ..model.memory import Memory, check_key, least_trusted
from ..secrets import redact
from ..store.records import SessionRow
from ..text.instructions import reads_like_instruction
from ..text.turns import AMBIENT, QUOTED_CHARACTERS, command_of, cut, sentences_of
from ..text.turns import OF_SESSION as EPISODE_SOURCE
from .decide import correct, proposed, state
from .validation import check_limit, check_text, clean_name
from .write import Receipt, Writer, changed, held, values_of

if TYPE_CHECKING:
    from ..context import Context, Time
    from ..vectors.reader import Reader

# Kinds in the order in which a quoted summary takes them.
WEIGHT = ("decision", "correction", "lesson", "goal", "preference", "fact", "skill", "inference", "opinion", "note")
SUMMARY_CHARACTERS = 3_000
# Importance of a note about a turn: less than a statement that somebody chose to store.
NOTE_IMPORTANCE = 0.3
_MOST_STEPS, _STEP_CHARACTERS, _ASKED_CHARACTERS = 4, 120, 160
# Sentences of an answer that are read, their characters, how many a note quotes, and the probability of these answers
# from which one explains. Of 46 written for it, 11 of 14 that name a cause reach it, and none of 32 that report or ask.
_MOST_SAID, _LONGEST_SAID, _MOST_KEPT, _EXPLAINS = 20, 300, 2, 0.65
_OF_A_CAUSE = ("lesson", "fact", "decision")


# -- keyed facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(JsonForm):
    """One value of a key and the interval in which it holds."""

    SHOWN = (
        "key", "value", "id", "valid_from_us", "valid_to_us", "confidence", "confidence_word", "scope", "origin",
        "recorded_at_us",
    )  # fmt: skip

    key: str
    value: str
    id: str
    scope: str
    valid_from_us: int = field(metadata=TIME)
    valid_to_us: int | None = field(metadata=TIME)
    confidence: float
    confidence_word: str
    origin: str
    recorded_at_us: int = field(metadata=TIME)  # when the store first knew it
    valid_from = Instant("valid_from_us")
    valid_to = MaybeInstant("valid_to_us")
    recorded_at = Instant("recorded_at_us")


# What a fact and its memory have by the same name.
_ALIKE = ("key", "id", "scope", "valid_from_us", "valid_to_us", "confidence", "confidence_word", "origin")


def as_fact(memory: Memory) -> Fact:
    """Return the fact that a keyed memory states."""
    alike: dict[str, Any] = {name: getattr(memory, name) for name in _ALIKE}
    return Fact(value=memory.content, recorded_at_us=memory.created_at_us, **alike)


def fact(context: Context, key: str, *, as_of: Time, known_at: Time) -> Fact:
    known, at = context.time(known_at), context.time(as_of)
    instant = at if at is not None else known if known is not None else context.now()
    for values in _values(context, key, known):
        value = held(values, instant)
        if value is not None:
            return as_fact(context.as_read(value))
    raise NotFound(f"no value of {key} holds then" if at or known else f"no value of {key}")


def fact_history(context: Context, key: str, *, known_at: Time) -> list[Fact]:
    for values in _values(context, key, context.time(known_at)):
        if values:
            return [as_fact(context.as_read(value)) for value in values]
    raise NotFound(f"no value of {key}")


def _values(context: Context, key: str, known_at: int | None) -> Iterator[list[Memory]]:
    """Yield the values of a key in this scope, then in those around it, then in the global one."""
    check_key(key)
    for scope in context.nearest:
        yield values_of(context.store, scope, key, known_at)[0]


def end_fact(context: Context, key: str, *, at: Time, why: str | None, origin: str | None) -> Receipt:
    when, (reason, redacted) = context.time(at), redact(why or "")

    def write(writer: Writer) -> Receipt:
        instant = writer.now if when is None else when
        value = held(values_of(writer.reads, context.scope, check_key(key))[0], instant)
        if value is None:
            raise NotFound(f"no value of {key} holds then in {context.scope}")
        if instant <= value.valid_from_us:
            raise BadInput(f"{key} began to hold only then", hint=f"limpet forget {value.id}")
        if waits := proposed(writer, value, origin):
            return waits
        noted = {"why": reason} if reason else {}
        made = writer.event("bounded", parse_id(value.id), origin=origin or "agent", valid_to=instant, **noted)
        return changed(made, redacted=redacted)

    return context.count_as_wrong(context.write(write), reason)


# -- sessions


def session_start(context: Context, name: str | None, *, title: str | None) -> SessionRow:
    scope, given = context.scope, clean_name("session", name)[0] or format_id(context.new_id())
    shown = clean_name("title", title)[0]

    def write(writer: Writer) -> None:
        known = writer.reads.sessions.get(scope, given)
        if known is None or known.ended_at is not None or shown not in (None, known.title):
            titled = {"title": shown} if shown else {}
            mark = session_mark(scope, given)
            writer.event("session_started", mark, origin="agent", scope=scope, name=given, **titled)

    context.write(write)
    return session(context, given)


def session_end(context: Context, name: str, *, summary: str | None, origin: str) -> Receipt:
    statement = None
    if summary is not None:
        statement = context.validate({"content": summary, "kind": "episode", "session": name, "origin": origin})

    def write(writer: Writer) -> Receipt:
        known = session(context, name)
        receipt = Receipt(id=None, status="changed" if known.ended_at is None else "unchanged")  # type: ignore[arg-type]
        if statement is not None:
            receipt = state(writer, statement)
        if known.ended_at is not None:
            return receipt
        mark = session_mark(context.scope, name)
        made = writer.event("session_ended", mark, origin="agent", scope=context.scope, name=name)
        return replace(receipt, event=format_id(made.id))

    return context.write(write)


def session(context: Context, name: str) -> SessionRow:
    row = context.store.sessions.get(context.scope, name)
    if row is None:
        raise NotFound(f"no session {name} in {context.scope}", hint="`limpet session list` shows them")
    return row


def sessions(context: Context, *, limit: int) -> list[SessionRow]:
    check_limit(limit)
    return context.store.sessions.latest([context.scope], limit=limit)


def session_memories(context: Context, name: str) -> list[Memory]:
    session(context, name)
    return [context.as_read(memory) for memory in context.store.sessions.memories(context.scope, name)]


def compress(context: Context, name: str, *, summary: str | None, origin: str) -> Receipt:
    session(context, name)
    given = None if summary is None else check_text(summary)
    return context.write(lambda writer: sum_up(writer, context, name, given, origin))


def sum_up(writer: Writer, context: Context, name: str, summary: str | None, origin: str = "agent") -> Receipt:
    """Store one episode for a session, with a `part_of` edge from each of its memories, unless nothing was added."""
    every = writer.reads.sessions.memories(context.scope, name)
    sums = [memory for memory in every if memory.kind == "episode" and memory.source == EPISODE_SOURCE]
    members = [memory for memory in every if memory not in sums]
    if not members:
        raise BadInput(f"session {name} holds no memories to sum up")
    if sums and summary is None and sums[0].metadata.get("memories") == len(members):
        return Receipt(id=sums[0].id, status="unchanged")
    topics = Counter(topic for memory in members for topic in memory.topics)
    statement = context.validate({
        "content": summary or _quoted(name, members), "kind": "episode", "session": name, "source": EPISODE_SOURCE,
        "origin": origin,
        "topics": sorted(topics, key=lambda topic: (-topics[topic], topic))[:8],
        "valid_from": min(memory.valid_from_us for memory in members), "metadata": {"memories": len(members)},
    })  # fmt: skip
    statement = replace(statement, trust=least_trusted([statement.origin, *(memory.trust for memory in members)]))
    old = sums[0] if sums else None
    receipt = correct(writer, old, statement, None, derived=True) if old else state(writer, statement, fresh=True)
    for memory in members:
        writer.event("linked", parse_id(memory.id), origin="agent", edge="part_of", target=parse_id(receipt.id).hex())
    return receipt


def _quoted(name: str, members: Sequence[Memory]) -> str:
    """Return the weightiest statements of a session, a line each, in their original words."""
    days = [(format_time(at) or "")[:10] for at in (members[0].created_at, members[-1].created_at)]
    lines = [f"Session {name}, {' to '.join(dict.fromkeys(days))}, {counted(len(members), 'memory')}."]
    place = {kind: number for number, kind in enumerate(WEIGHT)}
    weighed = sorted(members, key=lambda item: (not item.pinned, place.get(item.kind, len(WEIGHT)), -item.importance))
    length, left = len(lines[0]), len(members)
    for memory in weighed:
        line = f"- {memory.kind}: {cut(' '.join(memory.content.split()), QUOTED_CHARACTERS)}"
        if length + len(line) > SUMMARY_CHARACTERS:
            break
        lines.append(line)
        length += len(line) + 1
        left -= 1
    return "\n".join(lines + ([f"and {left} more."] if left else []))


# -- a note of a turn in which the agent stored nothing: of a command that failed and then went well, and why


def mended(lines: Sequence[tuple[str, str]]) -> str:
    """Describe the last command of a turn that failed and, after a change, went well; "" if there is none.

    `lines`: (kind, what) of the journal from the user's message on.
    """
    steps = [(kind, what) for kind, what in lines if kind in ("did", "failed")]
    for last in range(len(steps) - 1, 0, -1):
        kind, what = steps[last]
        if kind == "did" and ("failed", what) in steps[:last]:
            red = steps.index(("failed", what))
            if between := [step for step in steps[red + 1 : last] if step[0] == "did" and step[1] != what]:
                return f"`{command_of(what)}` failed at first and went well after {_steps(between)}"
    return ""


def note_of(lines: Sequence[tuple[str, str]], result: str, answer: str, reader: Reader) -> dict[str, Any] | None:
    """Return what `mended` found as a memory to store, with the sentences of the agent's `answer` that say something
    lasting: they name the error and what cured it. None if there are none. Raises EmbedderUnavailable.

    The request is the note's source, which no recall searches: a note that quoted a question would be found for it
    before its answer.
    """
    asked = next((what for kind, what in lines if kind == "asked"), "")
    sentences = [text for text in sentences_of(answer) if len(text) <= _LONGEST_SAID and reader.reads(text)][
        :_MOST_SAID
    ]
    answers = reader.answers("kept", [("", text) for text in sentences])
    explains = [sum(map(shares.__getitem__, _OF_A_CAUSE)) for shares in answers]
    best = sorted(range(len(sentences)), key=explains.__getitem__)[-_MOST_KEPT:]
    words = " ".join(sentences[i] for i in sorted(best) if explains[i] >= _EXPLAINS)
    if not asked or not words or reads_like_instruction(f"{asked}\n{result}\n{words}"):
        return None
    return {
        "content": f"{result}: {words}", "source": f"asked: {cut(asked, _ASKED_CHARACTERS)}",
        "kind": "note", "topics": [AMBIENT], "importance": NOTE_IMPORTANCE, "origin": "agent",
    }  # fmt: skip


def _steps(steps: Sequence[tuple[str, str]]) -> str:
    each = list(dict.fromkeys(cut(what, _STEP_CHARACTERS) for _, what in steps))
    more = f" and {len(each) - _MOST_STEPS} more" if len(each) > _MOST_STEPS else ""
    return "; ".join(each[-_MOST_STEPS:]) + more
