"""What a session begins with, or keeps through its compaction: what is open, the rules, what changed, what was done.

A sub-agent, which has neither seen its session's beginning nor its messages, begins with the rules and what fits its
task.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ...model.errors import NotFound
from ...text.blocks import plain_line
from ...text.instructions import reads_like_instruction
from ...text.turns import in_words
from .injected import MAX_TOKENS, Line, Offer, Section, brief, day, may_be_shown, told

if TYPE_CHECKING:
    from ...api import Limpet
    from ...model.memory import Memory
    from ...store.records import Action
    from .holdout import Holdout

# Turns of a session that are told, lines of the journal that are looked at, and characters of one.
TURNS, LINES, LINE_CHARACTERS = 6, 200, 240
GOALS, RULES, STORED, CHANGES = 8, 10, 8, 8
# Reviews are counted up to this; exposures in which a client's last session is looked for.
WAITING, LOOKED_AT = 50, 200
# A sub-agent gets little: it has one task.
SUBAGENT_TOKENS, SUBAGENT_RULES = 400, 5


def left_off(memory: Limpet, client: str, session: str, *, same: bool) -> Offer:
    """What is open, rules, where the last session (`same`: this one, after its compaction) left off, what changed."""
    return Offer(_state(memory, client, session, same=same), MAX_TOKENS)


def survival(memory: Limpet, client: str, session: str) -> Offer:
    """What a summary of this session should keep."""
    above = "Keep in the summary what the following data says, with its ids."
    return Offer(_state(memory, client, session, same=True), MAX_TOKENS // 2, above)


def for_subagent(memory: Limpet, task: str, holdout: Holdout) -> Offer:
    """The rules, and what fits the task."""
    rules = told(_rules(memory)[:SUBAGENT_RULES], memory.abbreviate)
    found = brief(memory, task, SUBAGENT_TOKENS, holdout) if task else Offer([], 0)
    fits = [line for section in found.sections for line in section.lines]
    known = {line.id for line in fits}
    sections = [
        Section("For this task:", fits),
        Section("Rules and preferences:", [line for line in rules if line.id not in known]),
    ]
    return Offer(sections, SUBAGENT_TOKENS, withheld=found.withheld, drawn=found.drawn)


def _state(memory: Limpet, client: str, session: str, *, same: bool) -> list[Section]:
    # Its journal names the session; a session with memories but no journal is found among the sessions.
    lines = memory.actions(session=session, limit=LINES) if same else memory.actions(limit=LINES)
    last: str | None = session
    if not same:
        last = next((one.session for one in reversed(lines) if one.session != session), None)
        if last is None:
            last = next((one.name for one in memory.sessions(limit=3) if one.name != session and one.memories), None)
        lines = [one for one in lines if one.session == last]
    wanted = memory.list(kind=("goal",), limit=GOALS).memories
    rules = _rules(memory)
    known = {one.id for one in (*wanted, *rules)}
    stored = [one for one in _session_memories(memory, last or "") if one.id not in known]
    known |= {one.id for one in stored}
    changed = [] if same else _changed(memory, client, session, known)
    when = f", {day(lines[-1].at_us)}" if lines else ""
    return [
        Section("", list(_waiting(memory))),
        Section("Open goals:", list(told(wanted, memory.abbreviate))),
        Section("Rules and preferences:", list(told(rules[:RULES], memory.abbreviate))),
        Section(
            "This session so far:" if same else f"Where the last session left off{when}:",
            [Line(f"- {plain_line(one, LINE_CHARACTERS)}") for one in _turns(lines)[-TURNS:]],
        ),
        Section("Stored in it:", list(told(stored[-STORED:], memory.abbreviate))),
        *changed,
    ]


def _waiting(memory: Limpet) -> Iterator[Line]:
    """How much waits for a person; what it is stays with that person."""
    count = len(memory.review(limit=WAITING))
    if count:
        more = "+" if count == WAITING else ""
        yield Line(f"Waiting for the user's review: {count}{more} (`limpet review`)")


def _rules(memory: Limpet) -> list[Memory]:
    several = memory.list(kind=("preference", "lesson", "decision"), limit=60).memories
    return [one for one in several if one.pinned or one.kind == "preference"]


def _turns(lines: Sequence[Action]) -> list[str]:
    """A sentence for each message and what came of it."""
    turns: list[list[tuple[str, str]]] = []
    for one in lines:
        if reads_like_instruction(one.what):
            continue
        if one.kind == "asked" or not turns:
            turns.append([])
        turns[-1].append((one.kind, one.what))
    return [said for one in turns if (said := in_words(one))]


def _changed(memory: Limpet, client: str, session: str, known: Collection[str]) -> list[Section]:
    """What came and what went since this client's last session here; nothing where it had none."""
    before = next(
        (one for one in memory.exposures(limit=LOOKED_AT)
         if one.client == client and one.session.partition("/")[0] != session), None,
    )  # fmt: skip
    if before is None:
        return []
    last = before.session.partition("/")[0]
    lines = memory.actions(session=last, limit=1)
    since = max([before.at_us, *(one.at_us for one in lines)])
    fresh, gone = [], []
    for one in memory.list(sort="updated", all_states=True, limit=4 * CHANGES).memories:
        if one.recorded_at_us <= since or one.kind == "episode" or one.id in known:
            continue
        if one.state == "active" and one.superseded_by is None:
            if one.created_at_us > since or _reads_otherwise(memory, one, since):
                fresh.append(one)
        elif one.state in ("retracted", "archived") and one.created_at_us <= since and may_be_shown(one):
            gone.append(Line(f"- {plain_line(one.content, LINE_CHARACTERS)}"))
    return [
        Section(f"New since {day(since)}:", list(told(fresh[:CHANGES], memory.abbreviate))),
        Section(f"No longer so since {day(since)}:", gone[:CHANGES]),
    ]


def _reads_otherwise(memory: Limpet, one: Memory, since: int) -> bool:
    """Whether its words changed: that it was said again, or pinned, is no news."""
    then = [version for version in memory.history(one.id) if version.recorded_at_us <= since]
    return not then or then[-1].content != one.content


def _session_memories(memory: Limpet, session: str) -> list[Memory]:
    try:
        return memory.session_memories(session) if session else []
    except NotFound:
        return []
