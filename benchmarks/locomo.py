"""LoCoMo: long chats between two people (Maharana et al., ACL 2024). A memory a turn, a store a conversation.

The data is CC BY-NC 4.0 and not part of this project (`public.py` says where it is); a JSON list of conversations as
published is read. The development half are its first five: `--limit 5`.
Categories: 1 several turns, 2 time, 3 open domain, 4 one turn, 5 without an answer.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from typing import Any

from . import public
from .retrieval import Groups, Haystack, Question, Turn, arguments, categories, main

NAMES = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open domain", 4: "4 single-hop", 5: "5 no answer"}
ANSWERABLE = tuple(NAMES[number] for number in (1, 2, 3, 4))
# Questions a store that are also timed with the query embedded in the recall.
LIVE_QUESTIONS = 40

_BETWEEN_IDS = re.compile(r"[;,\s]+")
_SESSION = re.compile(r"session_(\d+)")


def read(path: str | None) -> list[Haystack]:
    return [_haystack(one) for one in public.read(public.LOCOMO, path)]


def _haystack(sample: dict[str, Any]) -> Haystack:
    chat = sample["conversation"]
    turns = []
    for name, said in chat.items():
        if not (match := _SESSION.fullmatch(name)):
            continue
        at = session_time(chat[f"{name}_date_time"])
        turns += [_turn(one, f"session_{match[1]}", at) for one in said]
    turns.sort(key=lambda turn: int(turn.session.removeprefix("session_")))
    where = {turn.id: turn.session for turn in turns}
    return Haystack(
        name=sample["sample_id"],
        turns=turns,
        questions=[_question(number, one, where) for number, one in enumerate(sample["qa"])],
    )


def _turn(said: dict[str, Any], session: str, at: str) -> Turn:
    content = said["text"]
    if said.get("blip_caption"):
        content += f" [shares a photo: {said['blip_caption']}]"
    return Turn(id=said["dia_id"], session=session, speaker=said["speaker"], content=content.strip(), at=at)


def _question(number: int, asked: dict[str, Any], where: dict[str, str]) -> Question:
    evidence = evidence_ids(asked.get("evidence", []), where)
    return Question(
        id=str(number),
        category=NAMES[asked["category"]],
        text=asked["question"],
        evidence=evidence,
        sessions=tuple(dict.fromkeys(where[turn] for turn in evidence)),
        answerable=asked["category"] != 5,
    )


def evidence_ids(given: list[str], known: dict[str, str]) -> tuple[str, ...]:
    """Turn ids in the evidence: an entry may hold several ("D8:6; D9:17"); what names no turn is skipped."""
    found = (turn for entry in given for turn in _BETWEEN_IDS.split(entry))
    return tuple(dict.fromkeys(turn for turn in found if turn in known))


def session_time(words: str) -> str:
    """ "1:56 pm on 8 May, 2023" as ISO 8601, taken as UTC."""
    return datetime.strptime(words.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).isoformat()


GROUPS = Groups(
    lines=(*categories(NAMES.values()), ("1-4", lambda row: row.category in ANSWERABLE)),
    session_line=lambda _: True,
)


if __name__ == "__main__":
    options = arguments(__doc__.splitlines()[0]).parse_args()
    main("locomo", options, read(options.data), GROUPS, live=LIVE_QUESTIONS)
    sys.exit(0)
