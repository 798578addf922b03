"""LongMemEval: chats of one user with an assistant (Wu et al., ICLR 2025). A memory a turn, a store a question.

Reads {"sessions": {id: [{role, content}]}, "questions": [{question_id, type, question, asked_at, evidence_sessions,
haystack: [[session id, time]], evidence: ["session id:turn index"]}]}; type "abstention" has nothing to find.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .retrieval import Groups, Haystack, Question, Turn, arguments, categories, main

ABSTENTION = "abstention"


def read(path: str) -> list[Haystack]:
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    return [_haystack(one, data["sessions"]) for one in data["questions"]]


def _haystack(asked: dict[str, Any], sessions: dict[str, list[dict[str, str]]]) -> Haystack:
    turns = [
        Turn(id=f"{session}:{number}", session=session, speaker=turn["role"], content=turn["content"], at=at)
        for session, at in asked["haystack"]
        for number, turn in enumerate(sessions[session])
        if turn["content"].strip()
    ]
    known = {turn.id for turn in turns}
    evidence = tuple(dict.fromkeys(turn for turn in asked["evidence"] if turn in known))
    answerable = asked["type"] != ABSTENTION
    question = Question(
        id=asked["question_id"],
        category=asked["type"],
        text=asked["question"],
        evidence=evidence if answerable else (),
        sessions=tuple(dict.fromkeys(asked["evidence_sessions"])) if answerable else (),
        answerable=answerable,
        # Some questions of the data are asked hours before the end of the day's sessions that answer them.
        asked_at=max(asked["asked_at"], *(turn.at for turn in turns)),
    )
    return Haystack(name=asked["question_id"], turns=turns, questions=[question])


def together(path: str) -> Haystack:
    """All sessions in one store, each at the time that the first question has it at; asked after the last."""
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    times: dict[str, str] = {}
    for asked in data["questions"]:
        for session, at in asked["haystack"]:
            times.setdefault(session, at)
    several = [{"haystack": list(times.items()), "asked_at": max(times.values())}]
    found = [_haystack(asked | several[0], data["sessions"]) for asked in data["questions"]]
    return Haystack(name="longmemeval", turns=found[0].turns, questions=[one.questions[0] for one in found])


def groups(haystacks: list[Haystack]) -> Groups:
    types = sorted({one.questions[0].category for one in haystacks} - {ABSTENTION})
    return Groups(
        lines=(*categories(types), ("all", lambda row: row.answerable)), session_line=lambda row: row.answerable
    )


if __name__ == "__main__":
    options = arguments(__doc__.splitlines()[0]).parse_args()
    asked = read(options.data)
    main("longmemeval", options, asked, groups(asked), live=1)
    sys.exit(0)
