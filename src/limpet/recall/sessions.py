"""Sessions as results: which conversations hold an answer, or a part of it, and the memories that show it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..model.clock import Instant, MaybeInstant
from ..model.dataclass import dataclass, field
from ..model.encode import OPTIONAL, TIME, Holds, JsonForm, decoded, rounded
from ..model.memory import Memory
from ..rank import constants as C
from ..rank.session_weights import SESSION_WEIGHTS
from ..text.describe import grams
from .answer import HOW_IT_WENT, Item, as_items
from .candidates import Candidates, find_candidates
from .pack import tokens_of
from .plan import Plan
from .relevance import note
from .score import by_signals, read_by_judge

if TYPE_CHECKING:
    from ..store import Store
    from .semantic import SemanticSearch

# Seconds that reading and comparing sessions takes at most on a slow machine.
READING_SECONDS = 0.01
# Where an import keeps the title of a conversation.
TITLE = "conversation"
_PARTS = OPTIONAL | {"form": lambda parts: {name: round(value, 4) for name, value in parts.items()}}
_END = re.compile(r"[.!?]+\s+|[。！？\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledSession(JsonForm):
    """One session, and the memories of it that answer best. Its title and number of memories are those of now, whatever
    time was asked for."""

    name: str
    scope: str
    title: str | None
    started_at_us: int = field(metadata=TIME)
    ended_at_us: int | None = field(metadata=TIME)
    last_at_us: int = field(metadata=TIME)  # when something was last stored in it
    memories: int
    score: float = field(metadata=rounded(6))  # compares within one recall only
    items: list[Item]  # the best first
    # What each part adds to the score, if that was asked for.
    why: dict[str, float] | None = field(default=None, metadata=_PARTS)
    started_at = Instant("started_at_us")
    ended_at = MaybeInstant("ended_at_us")
    last_at = Instant("last_at_us")

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> RecalledSession:
        """Read a session from its `as_dict`, without traces."""
        plain = decoded(cls, shown, without=("items", "why"))
        return cls(**plain, items=[Item.from_dict(item) for item in shown["items"]])


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecall(JsonForm, Holds[RecalledSession]):
    """Ranked sessions, and which signals could not be asked (`notes` says why)."""

    HELD = "sessions"
    SHOWN = ("query", "sessions", "without_session", *HOW_IT_WENT)

    query: str
    sessions: list[RecalledSession]
    without_session: int = 0  # memories that answer as well as the last session's best, and belong to no session
    missing: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict, metadata=OPTIONAL)
    elapsed_ms: float = field(default=0.0, metadata=rounded(3))
    truncated: bool = field(default=False, metadata=OPTIONAL)  # the token budget left something out
    relevance: float = field(default=0.0, metadata=rounded(4))  # probability that what was found answers the query
    relevant: bool = True  # False: nothing relevant was found; the sessions are only the nearest there are
    note: str = ""  # the same in a sentence

    @property
    def items(self) -> list[Item]:
        """The evidence of all sessions, in their order."""
        return [item for session in self.sessions for item in session.items]

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> SessionRecall:
        """Read it from its `as_dict`, without traces."""
        sessions = [RecalledSession.from_dict(session) for session in shown["sessions"]]
        return cls(**decoded(cls, shown) | {"sessions": sessions})


def recall_sessions(
    store: Store, semantic: SemanticSearch | None, plan: Plan, *, evidence: int, explain: bool = False
) -> SessionRecall:
    """Return the `plan.k` sessions that say most about the query, each with up to `evidence` of its memories.

    Uses the candidates and signals of a recall of the plan. Reads one state of the store; the same store, plan and
    `now` give the same answer.
    """
    with store.snapshot(plan.deadline):
        candidates = find_candidates(store, semantic, plan)
        ranking = by_signals(candidates, plan.now)
        read_by_judge(store, semantic, candidates, ranking, plan)
        scores, sessions = ranking.scores, members(candidates, ranking.order)
        why = [
            {name: SESSION_WEIGHTS[name] * value for name, value in signals.items()}
            for signals in values(store, candidates, sessions, scores, plan)
        ]
        best = sorted(range(len(sessions)), key=lambda number: -sum(why[number].values()))[: plan.k]
        lowest = min((scores[sessions[number][0]] for number in best), default=float("-inf"))
        alone = sum(
            not session and score >= lowest for session, score in zip(candidates.table.sessions, scores, strict=True)
        )
        proof = [sessions[number][:evidence] for number in best]
        wanted = [i for places in proof for i in places]
        whole = dict(zip(wanted, candidates.memories(store, wanted), strict=True))
        kept, truncated = _within(proof, whole, plan.budget_tokens)
        places = [i for chosen in kept for i in chosen]
        items = dict(zip(places, as_items(store, candidates, ranking, places, plan), strict=True))
        rows = [store.sessions.get(whole[chosen[0]].scope, whole[chosen[0]].session or "") for chosen in kept]
    return SessionRecall(
        query=plan.query,
        sessions=[
            RecalledSession(
                name=row.name, scope=row.scope, title=row.title or _title(whole[chosen[0]]), memories=row.memories,
                started_at_us=row.started_at_us, ended_at_us=row.ended_at_us, last_at_us=row.last_at_us,
                score=sum(why[number].values()), items=[items[i] for i in chosen],
                why=why[number] if explain else None,
            )
            for number, chosen, row in zip(best, kept, rows, strict=False) if row is not None
        ],
        without_session=alone, missing=candidates.missing, notes=candidates.notes, truncated=truncated,
        elapsed_ms=(time.perf_counter() - plan.began) * 1000, relevance=ranking.relevance, relevant=ranking.relevant,
        note=note(ranking.relevance, ranking.relevant, shown=items, missing=candidates.missing),
    )  # fmt: skip


def members(candidates: Candidates, order: Sequence[int]) -> list[list[int]]:
    """Return the candidates of each session, best first, the session of the best one first."""
    of: dict[int, list[int]] = {}
    for i in order:
        if session := candidates.table.sessions[i]:
            of.setdefault(session, []).append(i)
    return list(of.values())


def values(
    store: Store, candidates: Candidates, sessions: Sequence[Sequence[int]], scores: Sequence[float], plan: Plan
) -> list[dict[str, float]]:
    """Return what each session is judged by: its best memory, how much one sentence of it says about the question, and
    how near it is to the others that are found. `sessions`: from `members`."""
    spoken = near = [0.0] * len(sessions)
    if plan.remaining() > READING_SECONDS:
        spoken, near = _together(store, candidates, sessions), _alike(candidates, sessions)
    elif sessions:
        candidates.miss("sessions", "the deadline leaves no time to compare them: they stand by their best memories")
    return [
        {"best": scores[places[0]], "together": together, "alike": alike}
        for places, together, alike in zip(sessions, spoken, near, strict=True)
    ]


def _together(store: Store, candidates: Candidates, sessions: Sequence[Sequence[int]]) -> list[float]:
    """Return the share of the question's words that one sentence of each session has, less for a long sentence; of the
    best sentence, 0 to 1. The answer is often one sentence of a message about something else."""
    if not candidates.stems:
        return [0.0] * len(sessions)
    # A sentence has no more of the question's words than its text: texts with few of them are mostly not read.
    covered, text_ids = candidates.features["coverage"], candidates.table.text_ids
    read = [sorted(places[: C.MEMORIES_READ], key=lambda i: -covered[i]) for places in sessions[: C.SESSIONS_READ]]
    texts = {id: text for id, text, *_ in store.search.texts([text_ids[i] for places in read for i in places])}
    whole = sum(candidates.stems.values()) + candidates.absent
    each = [((stem, *candidates.forms.get(stem, ())), worth) for stem, worth in candidates.stems.items()]
    spoken = [0.0] * len(sessions)
    for number, places in enumerate(read):
        for i in places:
            if covered[i] <= spoken[number]:
                continue
            for words in store.search.stems(_sentences(texts.get(text_ids[i], ""))).values():
                share = sum(worth for same, worth in each if any(map(words.__contains__, same))) / whole
                spoken[number] = max(spoken[number], share / (1.0 + len(words) / C.SENTENCE_WORDS))
    return spoken


def _sentences(text: str) -> list[str]:
    """Return the first sentences of a text, each with the other forms in which its words are searched for."""
    text = text[: C.CHARACTERS_READ]
    sentences = [sentence for sentence in _END.split(text) if sentence]
    return [f"{sentence} {grams(sentence)}" for sentence in sentences] if grams(text) else sentences


def _alike(candidates: Candidates, sessions: Sequence[Sequence[int]]) -> list[float]:
    """Return how near each session is in meaning to the nearest of the best others, -1 to 1; 0 without vectors.

    A subject often comes up in several sessions, and one of them speaks of it in words that share nothing with the
    question. A session's meaning is the mean of its candidates' vectors, less what all sessions have in common.
    """
    if candidates.hits is None or len(sessions) < 2:
        return [0.0] * len(sessions)
    import numpy as np

    owner = {candidates.table.text_ids[i]: number for number, places in enumerate(sessions) for i in places}
    text_ids = list(owner)
    embedded, vectors = candidates.hits.exact(text_ids)
    if not len(embedded):
        return [0.0] * len(sessions)
    of = np.array([owner[text_ids[place]] for place in embedded.tolist()])
    order = np.argsort(of, kind="stable")
    there, starts = np.unique(of[order], return_index=True)
    means = np.zeros((len(sessions), vectors.shape[1]), dtype=np.float32)
    means[there] = _unit(np.add.reduceat(vectors[order], starts))
    means[there] = _unit(means[there] - means[there].mean(axis=0))
    near = means @ means[: C.SESSIONS_COMPARED].T
    np.fill_diagonal(near, -1.0)  # itself
    nearest = np.zeros(len(sessions))
    nearest[there] = near[there].max(axis=1)
    cosines: list[float] = nearest.tolist()
    return cosines


def _unit(vectors: Any) -> Any:
    """Scale vectors to length 1; zeros stay zeros."""
    import numpy as np

    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)


def _within(
    sessions: Sequence[Sequence[int]], whole: Mapping[int, Memory], budget: int | None
) -> tuple[list[list[int]], bool]:
    """Return the part of each session's evidence that fits into a token budget, and whether anything was left out.

    The best memory of each session comes first, then the second of each. A session without room for one is left out,
    and so is what follows it.
    """
    if budget is None:
        return [list(places) for places in sessions], False
    kept: list[list[int]] = []
    left = float(budget)
    for turn in range(max(map(len, sessions), default=0)):
        for number, places in enumerate(sessions):
            if turn >= len(places) or (turn and number >= len(kept)):
                continue
            cost = C.TOKENS_PER_ITEM + tokens_of(whole[places[turn]].content)
            if cost > left:
                if not turn:
                    break
                continue
            left -= cost
            if turn:
                kept[number].append(places[turn])
            else:
                kept.append([places[turn]])
    return kept, sum(map(len, kept)) < sum(map(len, sessions))


def _title(memory: Memory) -> str | None:
    """Return the title of an imported conversation."""
    title = memory.metadata.get(TITLE)
    return title if isinstance(title, str) else None
