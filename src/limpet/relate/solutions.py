"""Problems and what solved them, in the turns of a session.

What solved a problem is often told many turns later and in other words ("the clock of that node was slow"), so no
search finds it by the problem. A turn that tells a cause and a cure is read, when it is stored, with the turn before it
that most likely tells the problem; a recall that finds the problem then shows both as one item.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..model.memory import FOREIGN, Filter
from ..store.records import Candidate, Relation
from ..vectors.judge import shared
from ..vectors.reader import RELATIONS, Reader
from .verdicts import LIKELY, SOLVES, log_odds, probability

if TYPE_CHECKING:
    import numpy as np

    from ..store import Store

# Log-odds that a turn says what solved an earlier one: of the reader's `kept`, the logarithm of `lesson`; of the
# judge's log-odds that it answers CAUSE; of the reader's log-odds that it `replaces` the earlier one. Fitted on
# tests/quality/solutions.jsonl and on fourteen sessions by another hand (docs/log.md).
CAUSE = "What was the cause and how was it fixed?"
LESSON, CAUSED, REPLACED, OFFSET = 0.83, 0.59, 0.87, 7.24
LEAST_LESSON = -8.0
# From which a problem is told with its solution; and, without the last part, from which the turns before are looked at.
SOLVED_FROM, READ_FROM = -0.5, 1.5
# Turns of the session before it that may tell the problem. It is that which is most of a lesson and nearest, by these
# weights, if this is enough, and those that are nearly as likely: the same problem is told more than once.
REACH = 10
PROBLEM, NEAR, PROBLEM_FROM, NEARLY = 0.49, 3.07, -1.4, 0.8

# A function from texts to their vectors.
Vectors = Callable[[Sequence[int]], Mapping[int, "np.ndarray"]]


def solve(store: Store, reader: Reader, turns: Sequence[Candidate], vectors: Vectors, now: int) -> None:
    """Keep which new turns say what solved a problem of their session. Raises EmbedderUnavailable."""
    turns = [turn for turn in turns if turn.trust not in FOREIGN]
    lessons = _lessons(reader, turns)
    causes = shared().scores(CAUSE, list(map(_said, turns)))
    odds = {
        turn.id: LESSON * lessons[turn.id] + CAUSED * cause + OFFSET
        for turn, cause in zip(turns, causes, strict=True)
        if reader.reads(turn.content)
    }
    told = [turn for turn in turns if odds.get(turn.id, READ_FROM - 1) >= READ_FROM]
    near = list(dict.fromkeys(store.search.neighbours([turn.num for turn in told], Filter(as_of=now), reach=REACH)))
    lessons |= _lessons(reader, [turn for turn in near if turn.id not in lessons])
    known = vectors([turn.text_id for turn in (*told, *near)])
    pairs = []
    for turn in told:
        likely = {
            other: PROBLEM * lessons[other.id] + NEAR * float(known[other.text_id] @ known[turn.text_id])
            for other in near
            if other.session == turn.session and 0 < turn.position - other.position <= REACH
            if {other.text_id, turn.text_id} <= known.keys()
        }
        least = max(PROBLEM_FROM, max(likely.values(), default=0.0) - NEARLY)
        pairs += [(other, turn) for other, value in likely.items() if value >= least]
    replaces = reader.relations([(_said(other), _said(turn)) for other, turn in pairs])
    relations = []
    for (other, turn), logits in zip(pairs, replaces, strict=True):
        solved = odds[turn.id] + REPLACED * log_odds(logits, [RELATIONS.index("replaces")])
        if solved >= SOLVED_FROM:
            likely_is = round(probability(solved), 4)
            relations.append(Relation(other.id, turn.id, SOLVES, LIKELY, likely_is, reader.fingerprint))
    store.relations.add(relations)


def _lessons(reader: Reader, turns: Sequence[Candidate]) -> dict[bytes, float]:
    """Return the logarithm of the reader's `lesson` for each turn, by its id."""
    kept = reader.answers("kept", [("", _said(turn)) for turn in turns])
    return {
        turn.id: max(math.log(max(shares["lesson"], 1e-9)), LEAST_LESSON)
        for turn, shares in zip(turns, kept, strict=True)
    }


def _said(turn: Candidate) -> str:
    return f"{turn.speaker}: {turn.content}" if turn.speaker else turn.content
