"""Questions that work has: in which sessions an error occurred and what ended it, and which commands worked.

Forms of recall over turns, statements and lines of the journal. An error is found by words alone; of commands those of
earlier sessions are recalled as anything else is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..agents.hooks.actions import SHELLS
from ..agents.hooks.journal import COMMAND_WORDS
from ..model.clock import Instant
from ..model.dataclass import dataclass, field, replace
from ..model.encode import TIME, JsonForm
from ..model.ids import parse_id
from ..model.memory import is_unconfirmed
from ..recall.answer import Recall, as_items
from ..recall.candidates import Candidates, find_candidates
from ..recall.lookup import marked
from ..recall.newer import SOLVES, solutions
from ..recall.score import by_signals
from ..recall.service import planned, recall
from ..remember.validation import check_limit
from .organize.lessons import COMMAND, tells_error

if TYPE_CHECKING:
    from ..context import Context, Time
    from ..model.memory import Memory
    from ..recall.plan import Plan
    from ..store import Store

# The share of a clause's words that another has to have to tell the same, those of an error by how rare they are in the
# store; and of a question's words that are found in a command or in what was asked before it.
SAME, ASKED_FOR = 0.8, 0.5
# The share of an error's worth that a turn has to say.
PART = 0.25
# Words of a clause without what varies, at least: "HTTP 404" is told by its number.
WORDS = 3
# The weight of what stands beside the lines that tell an error.
BESIDE_IT = 0.5
# Lines that are read of an error and of a turn, and clauses.
LINES, MOST = 60, 120
# Turns on either side of an error in which its session may tell the problem.
BESIDE = 3
# Statements after an error that are shown, and the last one; speakers of what nobody says.
NEXT, OTHERS = 4, ("tool", "pasted")
# Characters of an error that is asked about, and of a statement that came after it.
CHARACTERS, SHOWN = 800, 300
NOT_SEEN, NOT_DONE = "This error is in no memory here.", "No command that worked here is known for that."
# The score from which a command that worked in an earlier session answers.
ANSWERS_FROM = 6.0
# Varies between two occurrences of an error: a path, an address or hash, a number or time with its unit.
_VARIES = re.compile(
    r"(?:[a-z]:)?[\w.~@+-]*[/\\][\w.~@+/\\-]*|\b0x[0-9a-f]+\b"
    r"|\b(?=[\w-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b|\b\d+(?:[.,:_T-]\d+)*[a-z]{0,2}\b",
    re.IGNORECASE,
)
# Parts a line of an output into clauses.
_PARTS = re.compile(r":\s|\s\|\s|[;→{}]|\":\"|\",\"|\s{2,}|\s-\s")
# A line of a trace that tells a place in code, not what went wrong.
_FRAME = re.compile(r'\s*(?:at\s|File "|❯|#\d+\s|\d+:\s|goroutine\s|Traceback\b)')


def clauses(text: str) -> dict[str, float]:
    """Return the clauses of an error, a trace or an output, without what varies, with their weights: those of lines
    that say what went wrong weigh double."""
    found: dict[str, float] = {}
    for line in [line for line in text.splitlines() if line.strip() and not _FRAME.match(line)][:LINES]:
        for part in _parts(line):
            found.setdefault(part, 1.0 if tells_error(line) else BESIDE_IT)
    if len(found) > MOST:
        found = dict(sorted(found.items(), key=lambda pair: -pair[1])[:MOST])
    return found or {" ".join(text.split())[:CHARACTERS]: 1.0}


def _parts(line: str) -> list[str]:
    """Return the clauses of a line; what is too short alone stands with the next."""
    parts, held = [], ""
    for part in _PARTS.split(line):
        held = " ".join([held, *_VARIES.sub(" ", part).split()])
        if len({*re.findall(r"\w+", held.lower())}) >= WORDS:
            parts.append(held.strip())
            held = ""
    return parts if " " not in held.strip() else [*parts, held.strip()]


def errors(
    context: Context, query: str, *, k: int = 5, as_of: Time = None, known_at: Time = None,
    deadline_ms: float | None = None, budget_tokens: int | None = None, **chosen: Any,
) -> Recall:  # fmt: skip
    """Return where an error occurred, one item a session: with what solved it, and what was said next and last.
    `chosen`: of `Context.filter`."""
    where = context.filter(**chosen, known_at=context.time(known_at))
    said = clauses(query[-20_000:])
    varied = _VARIES.findall(query)[:LINES]
    plan = planned(
        context, "\n".join(said)[:CHARACTERS], where, as_of, k=k, deadline_ms=deadline_ms,
        budget_tokens=budget_tokens, lexical_only=True, shape="one",
    )  # fmt: skip
    store = context.store
    with store.snapshot(plan.deadline):
        candidates = find_candidates(store, None, plan)
        ranking = by_signals(candidates, plan.now)
        told = dict(zip(ranking.order, candidates.memories(store, ranking.order), strict=True))
        best, alike = dict[tuple[str, str], int](), _Alike(store, candidates, said)
        for i, memory in told.items():
            # The same port or file tells between two occurrences.
            as_it_was = sum(part in memory.content for part in varied) / (len(varied) or 1)
            share = alike.share(memory.content[: CHARACTERS * 50])
            ranking.scores[i] = share + as_it_was / 10 if share else 0.0
        for i in sorted(told, key=lambda i: (-ranking.scores[i], -told[i].valid_from_us)):
            if ranking.scores[i]:
                best.setdefault((told[i].scope, told[i].session or told[i].id), i)
        places, same = [*best.values()][:k], {told[i].id for i in told if ranking.scores[i]}
        ends = {i: _end(store, plan, told[i], same) for i in places}
        solved = {i: cure for i, (cure, _) in ends.items() if cure}
        items = as_items(store, candidates, ranking, places, plan, solved=solved)
    items = [replace(item, said_after=said) for item, (_, said) in zip(items, ends.values(), strict=True)]
    return Recall(
        query=plan.query, items=[*marked(context, items)], complete=len(best) <= k, more=max(0, len(best) - k),
        missing=candidates.missing, notes=candidates.notes, relevance=min(1.0, max(ranking.scores, default=0.0)),
        relevant=bool(items), note="" if items else NOT_SEEN,
    )  # fmt: skip


class _Alike:
    """Compare turns with the clauses of an error."""

    def __init__(self, store: Store, candidates: Candidates, said: Mapping[str, float]) -> None:
        self._search = store.search
        self._stem_of = {form: stem for stem, forms in candidates.forms.items() for form in forms}
        clauses = [words.keys() for words in map(self._search.tokenizer.counts, said)]
        self._own = frozenset[str]().union(*clauses)
        unknown = self._own - candidates.stems.keys()
        worth = dict.fromkeys(unknown, candidates.absent / (len(unknown) or 1)) | dict(candidates.stems)
        weighed = zip(clauses, said.values(), strict=True)
        self._clauses = [{word: weight * worth[word] for word in words} for words, weight in weighed]
        self._worths = [sum(words.values()) for words in self._clauses]

    def share(self, text: str) -> float:
        """Return the worth of what a text says of the error's clauses, as a share of all."""
        lines = [line for line in text.splitlines() if line.strip()][:LINES]
        whole = (" ".join(_VARIES.sub(" ", line).split()) for line in lines)
        parts = list(dict.fromkeys([*whole, *(part for line in lines for part in _parts(line))]))[: LINES + MOST]
        best = [0.0] * len(self._clauses)
        for words in self._search.stems(parts).values():
            shared = self._own.intersection([self._stem_of.get(word, word) for word in words])
            for place, clause in enumerate(self._clauses if shared else ()):
                both = clause.keys() & shared
                has = sum([clause[word] for word in both])
                is_part = len(words) >= WORDS and len(both) >= SAME * len(words)
                if has > best[place] and (is_part or has >= SAME * self._worths[place]):
                    best[place] = has
        share = sum(best) / (sum(self._worths) or 1.0)
        return share if share >= PART else 0.0


def _end(store: Store, plan: Plan, memory: Memory, same: set[str]) -> tuple[Memory | None, tuple[tuple[str, str], ...]]:
    """Return what solved the problem of a turn with an error, if its session says so near it; and id and text of what
    was said next, and last. `same`: the ids of all turns with the error."""
    is_turn = memory.session is not None and memory.kind == "episode"
    turns = store.sessions.memories(memory.scope, memory.session or "") if is_turn else []
    place_of = {turn.id: place for place, turn in enumerate(turns)}
    places = [place for id, place in place_of.items() if id in same]
    if not places:
        return None, ()
    # Who tells of an error again tells how it ended; a tool shows it.
    shown = [place for place in places if is_unconfirmed(turns[place].origin, turns[place].trust)] or places
    near = turns[max(0, shown[0] - BESIDE) : shown[-1] + BESIDE + 1]
    ids = {parse_id(turn.id): place_of[turn.id] for turn in near}
    solved = solutions(store, plan, [(SOLVES, id, b"") for id in ids])
    cures = {
        min(abs(ids[id] - place) for place in shown): cure
        for id, cure in solved.items()
        if place_of.get(cure.id, -1) > shown[0]
    }
    said = [turn for turn in turns[shown[-1] + 1 :] if turn.speaker not in OTHERS]
    after = tuple((turn.id, _marked(turn)) for turn in (*said[:NEXT], *said[NEXT:][-1:]))
    return cures[min(cures)] if cures else None, after


def _marked(turn: Memory) -> str:
    """Return the beginning of a turn, with its origin where it rests on what was read outside."""
    origin = f"[{turn.origin}] " if is_unconfirmed(turn.origin, turn.trust) else ""
    return origin + " ".join(turn.content.split())[:SHOWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked(JsonForm):
    """A command that worked."""

    command: str
    at_us: int = field(metadata=TIME)  # of its last success
    worked: int  # times
    failed_since: int
    at = Instant("at_us")


def commands(
    context: Context, query: str, *, k: int = 5, deadline_ms: float | None = None, lexical_only: bool = False, **_: Any
) -> list[Worked]:
    """Return the commands that worked here for what a question asks: by the journal of this scope, and by what is kept
    of earlier sessions."""
    check_limit(k)
    known = {worked.command: (share, worked) for share, worked in _journaled(context, query)}
    answer = recall(
        context, query, context.filter("episode", speaker="tool"), as_of=None, without=(), trace=False,
        explain=False, thorough=False, k=4 * k, deadline_ms=deadline_ms, budget_tokens=None, lexical_only=lexical_only,
        shape="one",
    )  # fmt: skip
    turns = [(item, match[1]) for item in answer.items if (match := COMMAND.match(item.content))]
    for place, (item, command) in enumerate(turns if turns and turns[0][0].score >= ANSWERS_FROM else (), start=1):
        share, worked = known.get(command, (0.0, Worked(command=command, at_us=0, worked=0, failed_since=0)))
        last = max(worked.at_us, item.valid_from_us)
        known[command] = share + 1 / place, replace(worked, at_us=last, worked=worked.worked + 1)
    best = sorted(known.values(), key=lambda pair: (-pair[0], -pair[1].at_us))
    return [worked for _, worked in best[:k]]


def _journaled(context: Context, question: str) -> Iterator[tuple[float, Worked]]:
    """Yield commands of the journal that have the question's words, or were run when what it says was asked for, with
    the share of the words; more for those that are seldom run for anything else."""
    counts, journal = context.store.search.tokenizer.counts, context.store.journal
    has_read = cache(lambda session: bool(journal.outside_reads(context.scope, session, 0)))
    asked, runs = dict[str, tuple[int, str]](), dict[str, list[tuple[int, int, str, bool]]]()
    for number, line in journal.numbered(context.scope):
        if line.kind == "asked":
            asked[line.session] = number, line.what
        tool, _, command = line.what.partition(": ")
        if line.kind not in ("did", "failed") or tool.lower() not in SHELLS or command.endswith("…"):
            continue
        if len(line.what.split()) == COMMAND_WORDS and has_read(line.session):  # its end may have been cut off
            continue
        turn, text = asked.get(line.session, (number, ""))
        runs.setdefault(command, []).append((line.at_us, turn, text, line.kind == "did"))
    words = {text: counts(text).keys() for text in {*runs, *(run[2] for each in runs.values() for run in each)}}
    frequency = Counter(word for each in words.values() for word in each)
    worth = {word: 1 / (1 + frequency[word]) for word in counts(question)}

    def share(text: str) -> float:
        return sum(value for word, value in worth.items() if word in words[text]) / (sum(worth.values()) or 1.0)

    for command, each in runs.items():
        good = [at for at, *_, worked in each if worked]
        turns = {turn: share(text) for _, turn, text, _ in each}
        if not good or max(share(command), *turns.values()) < ASKED_FOR:
            continue
        failed = sum(not worked and at > max(good) for at, *_, worked in each)
        known = Worked(command=command, at_us=max(good), worked=len(good), failed_since=failed)
        yield share(command) + sum(turns.values()) / (len(turns) + 1), known


def recall_for(
    context: Context, form: str, query: str, *, k: int | None = None, explain: bool = False, **given: Any  # noqa: ARG001  taken from every recall
) -> Recall | dict[str, Any]:  # fmt: skip
    """Answer an agent's question for an `error`, or `how` something is done: then {"commands", "note"}."""
    if form == "error":
        return errors(context, query, k=k or 5, **given)
    found = commands(context, query, k=k or 5, **given)
    return {"commands": [worked.as_dict() for worked in found], "note": "" if found else NOT_DONE}
