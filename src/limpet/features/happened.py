"""Questions that work has: in which sessions an error occurred and what ended it, and which commands worked.

Forms of recall over turns, statements and lines of the journal. Nothing is stored for them, and no model is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
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
from ..recall.service import planned
from ..remember.validation import check_limit
from .organize.lessons import error_line

if TYPE_CHECKING:
    from ..context import Context, Time
    from ..model.memory import Memory
    from ..recall.plan import Plan
    from ..store import Store

# The share of an error's words, each by how rare it is in the store, that one line has to have to tell the same error;
# and of a question's words that are found in a command or in what was asked before it.
SAME, ASKED_FOR = 0.8, 0.5
# That share for a line all of whose words are in the error that is asked about: it stands without what is around it.
PART = 0.4
# Words of an error that are left without what varies, at least: "HTTP 404" is told by its number.
WORDS = 3
# Turns on either side of an error in which its session may tell the problem.
BESIDE = 3
# Characters of an error, and of a statement that came after it.
CHARACTERS, SHOWN = 400, 300
NOT_SEEN, NOT_DONE = "This error is in no memory here.", "No command that worked here is known for that."
# What varies between two occurrences of an error: the folders of a path, an address or hash, a number with its unit.
_VARIES = re.compile(
    r"(?:[a-z]:)?(?:[\w.~@+-]*[/\\])+|\b0x[0-9a-f]+\b"
    r"|\b(?=[\w-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b|\b\d+(?:[.,:_-]\d+)*[a-z]{0,2}\b",
    re.IGNORECASE,
)


def message(text: str) -> tuple[str, list[str]]:
    """Return what stays the same of an error, or of a trace or output that ends with it; and what was taken out."""
    line = (error_line(text[-20_000:]) if "\n" in text.strip() else "") or " ".join(text.split())[:CHARACTERS]
    same = _VARIES.sub(" ", line)
    return (same, _VARIES.findall(line)) if len(re.findall(r"\w+", same)) >= WORDS else (line, [])


def errors(
    context: Context, query: str, *, k: int = 5, as_of: Time = None, known_at: Time = None,
    deadline_ms: float | None = None, budget_tokens: int | None = None, **chosen: Any,
) -> Recall:  # fmt: skip
    """Return where an error occurred, one item a session: with what solved it, else what was said next and last.
    `chosen`: of `Context.filter`."""
    where = context.filter(**chosen, known_at=context.time(known_at))
    said, varied = message(query)
    plan = planned(
        context, said, where, as_of, k=k, deadline_ms=deadline_ms, budget_tokens=budget_tokens, lexical_only=True,
        shape="one",
    )  # fmt: skip
    store = context.store
    with store.snapshot(plan.deadline):
        candidates = find_candidates(store, None, plan)
        ranking = by_signals(candidates, plan.now)
        near = [i for i in ranking.order if candidates.features["coverage"][i] >= PART]
        told, best = dict(zip(near, candidates.memories(store, near), strict=True)), dict[tuple[str, str], int]()
        for i, memory in told.items():
            lines = [line for line in memory.content[: CHARACTERS * 50].splitlines() if line.strip()]
            share = _share(store, candidates, said, lines)
            # The same port or file tells between two occurrences.
            as_it_was = sum(part in memory.content for part in varied) / (len(varied) or 1)
            ranking.scores[i] = share + as_it_was / 10 if share >= SAME else 0.0
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


def _share(store: Store, candidates: Candidates, query: str, lines: Sequence[str]) -> float:
    """Return the share of the query's words that the best of some lines has, 0 to 1; also 1 for a line that is as a
    whole in the query."""
    own = store.search.tokenizer.counts(query).keys()  # without the parts of names in mixed case
    stems = {stem: worth for stem, worth in candidates.stems.items() if stem in own}
    whole = sum(stems.values()) + candidates.absent
    terms = [((stem, *candidates.forms.get(stem, ())), worth) for stem, worth in stems.items()]
    best = 0.0
    for words in store.search.stems([_VARIES.sub(" ", line) for line in lines]).values():
        share = sum(worth for same, worth in terms if any(map(words.__contains__, same))) / (whole or 1.0)
        best = max(best, 1.0 if share >= PART and len(words) >= WORDS and words <= own else share)
    return best


def _end(store: Store, plan: Plan, memory: Memory, same: set[str]) -> tuple[Memory | None, tuple[tuple[str, str], ...]]:
    """Return what solved the problem of a turn with an error, if its session says so near it; else id and text of what
    its own people said next, and last. `same`: the ids of all turns with the error."""
    is_turn = memory.session is not None and memory.kind == "episode"
    turns = store.sessions.memories(memory.scope, memory.session or "") if is_turn else []
    place_of = {turn.id: place for place, turn in enumerate(turns)}
    places = [place for id, place in place_of.items() if id in same]
    if not places:
        return None, ()
    near = turns[max(0, places[0] - BESIDE) : places[-1] + BESIDE + 1]
    ids = {parse_id(turn.id): place_of[turn.id] for turn in near}
    solved = solutions(store, plan, [(SOLVES, id, b"") for id in ids])
    cures = {
        min(abs(ids[id] - place) for place in places): cure
        for id, cure in solved.items()
        if place_of.get(cure.id, -1) > places[0]
    }
    if cures:
        return cures[min(cures)], ()
    said = [turn for turn in turns[places[-1] + 1 :] if not is_unconfirmed(turn.origin, turn.trust)]
    ends = (*said[:1], *said[1:][-1:])
    return None, tuple((turn.id, " ".join(turn.content.split())[:SHOWN]) for turn in ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked(JsonForm):
    """A command that worked."""

    command: str
    at_us: int = field(metadata=TIME)  # of its last success
    worked: int  # times
    failed_since: int
    at = Instant("at_us")


def commands(context: Context, question: str, *, k: int) -> list[Worked]:
    """Return the commands that worked here, by the journal of this scope, when what a question says was asked for, or
    that have its words themselves; those first that are seldom run for anything else."""
    check_limit(k)
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
    found = []

    def share(text: str) -> float:
        return sum(value for word, value in worth.items() if word in words[text]) / (sum(worth.values()) or 1.0)

    for command, each in runs.items():
        good = [at for at, *_, worked in each if worked]
        turns = {turn: share(text) for _, turn, text, _ in each}
        if not good or max(share(command), *turns.values()) < ASKED_FOR:
            continue
        failed = sum(not worked and at > max(good) for at, *_, worked in each)
        known = Worked(command=command, at_us=max(good), worked=len(good), failed_since=failed)
        found.append((share(command) + sum(turns.values()) / (len(turns) + 1), known))
    found.sort(key=lambda pair: (-pair[0], -pair[1].at_us))
    return [known for _, known in found[:k]]


def recall_for(
    context: Context, form: str, query: str, *, k: int | None = None, explain: bool = False, **given: Any  # noqa: ARG001  taken from every recall
) -> Recall | dict[str, Any]:  # fmt: skip
    """Answer an agent's question for an `error`, or `how` something is done: then {"commands", "note"}."""
    if form == "error":
        return errors(context, query, k=k or 5, **given)
    found = commands(context, query, k=k or 5)
    return {"commands": [worked.as_dict() for worked in found], "note": "" if found else NOT_DONE}
