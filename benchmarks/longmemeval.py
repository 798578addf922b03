"""LongMemEval: chats of one user with an assistant (Wu et al., ICLR 2025). A memory a turn, a store a question.

Reads the data as published (`public.py` says where it is), and {"sessions": {id: [{role, content}]}, "questions":
[{question_id, type, question, asked_at, evidence_sessions, haystack: [[session id, time]], evidence: ["session id:turn
index"]}]}, as which the development half was kept: 160 questions, whose haystacks of 50 sessions were drawn anew, so
that its figures are not those of the published file. Type "abstention" has nothing to find.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from typing import Any

from . import public
from .retrieval import Groups, Haystack, Question, Turn, arguments, categories, main

ABSTENTION = "abstention"


def load(path: str | None) -> dict[str, Any]:
    """{"sessions", "questions"}. A session of the published file is one of its question's: others may have its name."""
    data: Any = public.read(public.LONGMEMEVAL, path)
    if isinstance(data, dict):
        return data
    sessions, questions = {}, []
    for one in data:
        several = [f"{one['question_id']} {session}" for session in one["haystack_session_ids"]]
        kept = dict(zip(several, one["haystack_sessions"], strict=True))
        sessions |= kept
        abstains = one["question_id"].endswith("_abs")
        questions.append(
            {
                "question_id": one["question_id"], "question": one["question"],
                "type": ABSTENTION if abstains else one["question_type"], "asked_at": _moment(one["question_date"]),
                "haystack": list(zip(several, map(_moment, one["haystack_dates"]), strict=True)),
                "evidence": [
                    f"{session}:{number}"
                    for session, turns in kept.items() for number, turn in enumerate(turns) if turn.get("has_answer")
                ],
                "evidence_sessions": [f"{one['question_id']} {session}" for session in one["answer_session_ids"]],
            }
        )  # fmt: skip
    return {"sessions": sessions, "questions": questions}


def _moment(words: str) -> str:
    """ "2023/05/20 (Sat) 02:21" as ISO 8601, taken as UTC."""
    return datetime.strptime(re.sub(r"\s*\(\w+\)", "", words), "%Y/%m/%d %H:%M").replace(tzinfo=UTC).isoformat()


def read(path: str | None) -> list[Haystack]:
    data = load(path)
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
    data = load(path)
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
