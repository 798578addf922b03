"""The state that a session begins with or keeps through its compaction: rules, goals, what was decided, finished work.

A sub-agent, which has neither seen its session's beginning nor its messages, begins with the rules and what fits its
task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ... import registry
from ...recall.lookup import marked
from ...text.blocks import plain_line
from ...text.instructions import reads_like_instruction
from ...text.turns import acted, closing, in_words
from .injected import FRAME_TOKENS, MAX_TOKENS, Line, Offer, Section, brief, cost, day, lines_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...api import Limpet
    from ...model.memory import Memory
    from ...remember.journal import JournalLine
    from .injected import Holdout

# Turns of a session that are shown, and how many of them are its last; lines of the journal that are read, and sessions
# in them; characters of a line, and of an answer.
TURNS, LAST_TURNS, LINES, SESSIONS, LINE_CHARACTERS, ANSWER_CHARACTERS = 6, 3, 1_000, 20, 240, 400
GOALS, STORED, STANDING = 8, 8, 8
# Memories that are read for what was stored, and for what stands: some are shown already, or may not be.
STORED_READ = 50
# Rules that are read, and their share of the tokens whatever else there is to say.
RULES, RULES_SHARE = 500, 0.5
MORE_RULES = "more rules than fit here: `limpet list --kind preference` lists them"
# Reviews are counted up to this.
WAITING = 50
# A sub-agent gets little: it has one task.
SUBAGENT_TOKENS = 400
# Memories about a file that is about to be changed, and their tokens.
OF_FILE, FILE_TOKENS = 3, 300


def left_off(memory: Limpet, session: str, *, same: bool) -> Offer:
    """Offer open problems, rules, and the state of the last session (`same`: of this one, after its compaction)."""
    return Offer(_state(memory, session, MAX_TOKENS, same=same), MAX_TOKENS)


def survival(memory: Limpet, session: str) -> Offer:
    """Offer the memories that a summary of this session should keep."""
    above = "Keep in the summary what the following data says, with its ids."
    return Offer(_state(memory, session, MAX_TOKENS // 2, same=True), MAX_TOKENS // 2, above)


def for_subagent(memory: Limpet, task: str, holdout: Holdout) -> Offer:
    """Offer the rules, and the memories that fit the task."""
    rules = _lines(memory, _rules(memory)[0])
    offer = brief(memory, task, SUBAGENT_TOKENS, holdout) if task else Offer([], 0)
    fits = [line for section in offer.sections for line in section.lines]
    known = {line.id for line in fits}
    task_section = Section("For this task:", fits)
    others = [line for line in rules if line.id not in known]
    sections = [_rules_section(others, [task_section], SUBAGENT_TOKENS), task_section]
    return Offer(sections, SUBAGENT_TOKENS, withheld=offer.withheld, drawn=offer.drawn)


def of_file(memory: Limpet, path: str, session: str) -> Offer:
    """Offer what other sessions decided, learned or gave up about a file, the newest first."""
    found = registry.call("about_code", memory._context, path, memory._context.filter()) or ()
    kinds = ("decision", "lesson", "correction")
    known = [each for each in found if each.kind in kinds and each.state != "archived" and each.session != session]
    # The same few each time: what was shown of them is not shown again, and nothing takes its place.
    return Offer([Section(f"About {path.rpartition('/')[2]}:", list(_lines(memory, known[:OF_FILE])))], FILE_TOKENS)


def _state(memory: Limpet, session: str, budget: int, *, same: bool) -> list[Section]:
    last = session if same else _last_session(memory, session)
    lines = memory.journal(session=last, limit=LINES) if last else []
    wanted = memory.list(kind=("goal",), limit=GOALS).memories
    rules, others = _rules(memory)
    known = {item.id for item in (*wanted, *rules)}
    stored = [item for item in _session_memories(memory, last) if item.id not in known]
    new = islice((item for item in others if item not in stored), STORED_READ)
    stands = islice(registry.call("may_begin", memory._context, new) or (), STANDING)
    when = f", {day(lines[-1].at_us)}" if lines else ""
    # Only the count: what waits is for a person.
    count = len(memory.review(limit=WAITING))
    more = "+" if count == WAITING else ""
    waiting = Section("", [Line(f"Waiting for the user's review: {count}{more} (`limpet review`)")] if count else [])
    turns = list(_turn_lines(lines))
    sections = [
        Section("Open goals:", list(_lines(memory, wanted))),
        Section("Decided and learned:", list(_lines(memory, stands))),
        Section("This session so far:" if same else f"Where the last session left off{when}:", turns),
        Section("Stored in it:", list(_lines(memory, stored[-STORED:]))),
    ]
    # First, before anything that could take its place.
    return [waiting, _rules_section(_lines(memory, rules), [waiting, *sections], budget), *sections]


def _lines(memory: Limpet, memories: Iterable[Memory]) -> Iterator[Line]:
    return lines_of(marked(memory._context, [*memories], asks=0), memory.abbreviate)


def _rules(memory: Limpet) -> tuple[list[Memory], list[Memory]]:
    """Return rules, pinned ones first, then by uses, then the newest; and other decisions and lessons, newest first."""
    kinds = ("preference", "lesson", "decision")
    memories = [rule for kind in kinds for rule in memory.list(kind=kind, sort="uses", limit=RULES).memories]
    rules = [rule for rule in memories if rule.pinned or rule.kind == "preference"]
    rules.sort(key=lambda rule: (not rule.pinned, -rule.uses, -rule.created_at_us))
    return rules, sorted((item for item in memories if item not in rules), key=lambda item: -item.created_at_us)


def _rules_section(rules: Iterable[Line], others: Sequence[Section], budget: int) -> Section:
    """Return the rules that fit beside the other sections, at least in their share; a last line counts the others."""
    taken = sum(cost(text) + 1 for other in others for text in (other.title, *(line.text for line in other.lines)))
    section = Section("Rules and preferences:", [])
    left = max(int(budget * RULES_SHARE), budget - FRAME_TOKENS - taken) - cost(section.title) - 1
    lines = list(rules)
    prices = [cost(line.text) + 1 for line in lines]
    if sum(prices) > left:
        left -= cost(f"- {len(lines)}+ {MORE_RULES}") + 1
    for line, price in zip(lines, prices, strict=True):
        if price <= left:
            section.lines.append(line)
            left -= price
    if missing := len(lines) - len(section.lines):
        section.lines.append(Line(f"- {missing}{'+' if len(lines) >= RULES else ''} {MORE_RULES}"))
    return section


def _last_session(memory: Limpet, session: str) -> str:
    """Return the last other session that did or stored something, else the last one; "" for none."""
    lines = memory.journal(limit=LINES)
    # The journal names sessions; one with memories but no journal is found among the sessions.
    others = list(dict.fromkeys(line.session for line in reversed(lines) if line.session != session))
    working = {line.session for line in lines if line.kind in ("did", "failed")}
    for name in others[:SESSIONS]:
        if name in working or _session_memories(memory, name):
            return name
    if others:
        return others[0]
    return next((row.name for row in memory.sessions(limit=3) if row.name != session and row.memories), "")


def _turn_lines(actions: Sequence[JournalLine]) -> Iterator[Line]:
    """Yield a sentence for each of TURNS, request and outcome: the last of those that did something, those that did
    most, and the very last; then how the last that did something ended."""
    turns: list[list[tuple[str, str]]] = []
    for action in actions:
        if action.kind == "asked" or not turns:
            turns.append([])
        turns[-1].append((action.kind, action.what))
    working = [place for place, turn in enumerate(turns) if acted(turn)]
    most = sorted(working[:-LAST_TURNS], key=lambda place: (-acted(turns[place]), -place))
    idle = [place for place in reversed(range(len(turns))) if place not in working]
    order = [len(turns) - 1, *reversed(working[-LAST_TURNS:]), *most, *idle]
    for place in sorted(list(dict.fromkeys(order))[:TURNS]) if turns else ():
        lines = [line for line in turns[place] if not reads_like_instruction(line[1])]
        if text := in_words(lines):
            yield Line(f"- {plain_line(text, LINE_CHARACTERS)}")
        answers = [what for kind, what in lines if kind == "said"]
        if answers and working[-1:] == [place]:
            yield Line(f"- It ended: {plain_line(closing(answers[-1], ANSWER_CHARACTERS), ANSWER_CHARACTERS)}")


def _session_memories(memory: Limpet, session: str) -> list[Memory]:
    context = memory._context
    return list(map(context.as_read, context.store.sessions.memories(memory.scope, session, limit=STORED_READ)))
