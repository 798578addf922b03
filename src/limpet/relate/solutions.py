"""Problems and what solved them, in the turns of a session.

What solved a problem is often told many turns later and in other words ("the clock of that node was slow"), so no
search finds it by the problem. A turn that tells a cause and a cure is read, when it is stored, with the turns before
it; a recall that finds the problem then shows both as one item.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.memory import FOREIGN, Filter
from ..store.records import Candidate, Relation
from ..vectors.judge import shared
from ..vectors.reader import RELATIONS, Reader
from .verdicts import LIKELY, SOLVES, log_odds, probability

if TYPE_CHECKING:
    from ..store import Store

# Log-odds that a turn says what solved an earlier one: of the reader's `kept`, the logarithm of `lesson`; of the
# judge's log-odds that it answers CAUSE; of the reader's log-odds that it `replaces` the earlier one. Fitted on half of
# the sessions of tests/quality/solutions.jsonl, and on fourteen by another hand (docs/log.md).
CAUSE = "What was the cause and how was it fixed?"
LESSON, CAUSED, REPLACED, OFFSET = 0.83, 0.59, 0.87, 7.24
LEAST_LESSON = math.exp(-8)
# Log-odds from which a problem is told with its solution; and without the last part, from which the turns before are
# read: one of twelve in a conversation about anything.
SOLVED_FROM, READ_FROM = -0.5, 1.5
# Turns of the session before it that may tell the problem.
REACH = 10


def solve(store: Store, reader: Reader, turns: Sequence[Candidate], now: int) -> None:
    """Keep which new turns say what solved a problem of their session. Raises EmbedderUnavailable."""
    turns = [turn for turn in turns if turn.trust not in FOREIGN and reader.reads(turn.content)]
    kept = reader.answers("kept", [("", _said(turn)) for turn in turns])
    causes = shared().scores(CAUSE, list(map(_said, turns)))
    odds = {
        turn.id: LESSON * math.log(max(share["lesson"], LEAST_LESSON)) + CAUSED * cause + OFFSET
        for turn, share, cause in zip(turns, kept, causes, strict=True)
    }
    told = [turn for turn in turns if odds[turn.id] >= READ_FROM]
    near = dict.fromkeys(store.search.neighbours([turn.num for turn in told], Filter(as_of=now), reach=REACH))
    pairs = [
        (other, turn)
        for turn in told
        for other in near
        if other.session == turn.session and 0 < turn.position - other.position <= REACH
    ]
    read = reader.relations([(_said(other), _said(turn)) for other, turn in pairs])
    replaces = [log_odds(logits, [RELATIONS.index("replaces")]) for logits in read]
    solved = [odds[turn.id] + REPLACED * value for (_, turn), value in zip(pairs, replaces, strict=True)]
    store.relations.add([
        Relation(other.id, turn.id, SOLVES, LIKELY, round(probability(value), 4), reader.fingerprint)
        for (other, turn), value in zip(pairs, solved, strict=True)
        if value >= SOLVED_FROM
    ])  # fmt: skip


def _said(turn: Candidate) -> str:
    return f"{turn.speaker}: {turn.content}" if turn.speaker else turn.content
