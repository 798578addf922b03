"""The stores written for training (training/written) as haystacks: each alone, or many together in one store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from training.data import held_back

from .harness import ROOT
from .retrieval import Haystack, Question, Turn

FOLDER = ROOT / "training" / "written"
# Stores in one: as many candidates as a store in use has.
TOGETHER = 20
# How haystacks begin that no embedder was trained on.
UNSEEN = "written-unseen"
ASKED_AT = "2026-11-01T09:00:00+00:00"
UNDATED = "2025-01-01"
# Other kinds of the written memories (logs, code, tickets, messages) are stored as what nobody says a kind of.
KINDS = ("fact", "decision", "lesson")


def read(*, together: bool) -> list[Haystack]:
    """Every written store, in a fixed order. Alone, the days of a conversation are its sessions; together, each
    conversation is one. What the embedder was trained on and what was held back never share a haystack."""
    stores = [
        json.loads(line) for path in sorted(FOLDER.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    stores.sort(key=lambda one: hashlib.sha256(f"order {one['id']}".encode()).digest())
    found = []
    for unseen in (False, True):
        several = [one for one in stores if held_back(one["id"]) is unseen]
        count = max(1, round(len(several) / TOGETHER))
        for number in range(count):
            name = f"{UNSEEN if unseen else 'written'}-{number}"
            part = several[number::count]
            found += [haystack(name, part)] if together else [haystack(name, [one]) for one in part]
    return found


def long_chats(*, unseen: bool) -> list[Haystack]:
    """Long conversations, each a store; `unseen`: those that nothing is trained on."""
    lines = (FOLDER.parent / f"long_chats{'_held_back' if unseen else ''}.jsonl").read_text("utf-8").splitlines()
    return [haystack(one["id"], [one]) for one in map(json.loads, lines)]


def haystack(name: str, stores: Sequence[dict[str, Any]]) -> Haystack:
    """Some stores in one, in the order of their dates."""
    turns = [
        turn(one["id"], place, memory, by_day=len(stores) == 1)
        for one in stores
        for place, memory in enumerate(one["memories"])
    ]
    turns.sort(key=lambda one: one.at)
    sessions = {one.id: one.session for one in turns}
    questions = []
    for one in stores:
        asked = [(row["q"], row["answers"], row["style"]) for row in one["questions"]]
        asked += [(text, [], "unanswerable") for text in one["unanswerable"]]
        for number, (text, answers, style) in enumerate(asked):
            evidence = tuple(f"{one['id']}:{place}" for place in answers)
            questions.append(
                Question(
                    id=f"{one['id']}?{number}",
                    category=style,
                    text=text,
                    evidence=evidence,
                    sessions=tuple(dict.fromkeys(sessions[id] for id in evidence if sessions[id])),
                    answerable=bool(answers),
                    asked_at=ASKED_AT,
                )
            )
    return Haystack(name=name, turns=turns, questions=questions)


def turn(store: str, place: int, memory: dict[str, Any], *, by_day: bool) -> Turn:
    """A memory as it is stored: with a speaker a turn of a session, else a note of none."""
    day, speaker, kind = memory["date"] or UNDATED, memory["speaker"], memory["kind"]
    return Turn(
        id=f"{store}:{place}",
        session=(f"{store} {day}" if by_day else store) if speaker else "",
        speaker=speaker or "",
        content=memory["text"],
        at=f"{day}T12:00:00+00:00",
        kind="episode" if speaker else kind if kind in KINDS else "note",
    )
