"""What the project's own models are trained on: questions, the memories that answer them, and the others beside these.

Sources, each with its licence in README.md: stores written for this purpose (`written/*.jsonl`), the tuning half of
tests/quality/recall, FriendsQA and QMSum (`--conversations`), LongMemEval (`--longmemeval`). LoCoMo is never read here.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from limpet.text.excerpt import excerpt, words_of

HERE = Path(__file__).parent
QUALITY = HERE.parent / "tests" / "quality"
# Share of the written stores that nothing is trained on, by a hash of their ids.
HELD_BACK = 0.12
SHORTEST, LONGEST = 12, 2_000  # characters of a passage
JUDGED = 240  # characters of it that the judge reads
# Files of stores of one form each; what is held back of these but `messages` is in files of its own.
NOTES = ("notes", "messages", "notes_more", "messages_more", "long_chats", "messages_thought")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """`passages` of one store or conversation; `answers`: the places of those that answer; none: nothing does."""

    question: str
    passages: tuple[str, ...]
    answers: tuple[int, ...]
    source: str
    group: str
    speakers: tuple[str | None, ...] = ()  # one a passage, or none at all

    def said(self, place: int) -> str:
        """A passage as the judge reads it: the part nearest to the question, with who said it."""
        speaker = self.speakers[place] if self.speakers else None
        text, _ = excerpt(self.passages[place], words_of(self.question), JUDGED)
        return f"{speaker}: {text}" if speaker else text


def held_back(group: str) -> bool:
    return hashlib.sha256(group.encode()).digest()[0] < 256 * HELD_BACK


def examples(*, conversations: Path | None, longmemeval: Path | None, notes: Sequence[str] = ()) -> list[Example]:
    """Everything, in a fixed order. `notes`: which of NOTES; train_embedder.py has none."""
    found = [*written(), *own(), *(one for name in notes for one in stores(HERE / f"{name}.jsonl"))]
    if conversations is not None:
        found += dialogues(conversations)
    if longmemeval is not None:
        found += chats(longmemeval)
    return found


def written() -> Iterator[Example]:
    for path in sorted((HERE / "written").glob("*.jsonl")):
        yield from stores(path)


def stores(path: Path) -> Iterator[Example]:
    """A file of written stores, in the form that README.md tells."""
    for line in path.read_text(encoding="utf-8").splitlines():
        store = json.loads(line)
        passages = tuple(one["text"] for one in store["memories"])
        speakers = tuple(one["speaker"] for one in store["memories"])
        asked = [(one["q"], tuple(one["answers"])) for one in store["questions"]]
        for question, answers in asked + [(question, ()) for question in store["unanswerable"]]:
            yield Example(
                question=question, passages=passages, answers=answers, source=path.stem, group=store["id"],
                speakers=speakers,
            )  # fmt: skip


def own() -> Iterator[Example]:
    """The tuning half of the project's recall set; a project's memories are one store."""
    rows = [json.loads(line) for line in (QUALITY / "recall" / "memories.jsonl").read_text("utf-8").splitlines()]
    scopes: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        scopes.setdefault(row["scope"], []).append(row)
    for line in (QUALITY / "recall" / "questions.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        if one["half"] != "tuning":
            continue
        several = scopes[one["scope"]]
        places = {row["id"]: i for i, row in enumerate(several)}
        yield Example(
            question=one["question"],
            passages=tuple(row["content"] for row in several),
            answers=tuple(places[id] for id in one["gold"] if id in places),
            source="own",
            group=f"own-{one['scope']}",
        )


def dialogues(path: Path) -> Iterator[Example]:
    """FriendsQA: the turns that hold the answer. QMSum: spans are wide; of them the two turns nearest in words."""
    for number, one in enumerate(json.loads(gzip.decompress(path.read_bytes()))):
        turns = tuple(turn["text"] for turn in one["turns"])
        speakers = tuple(turn["speaker"] for turn in one["turns"])
        for asked in one["questions"]:
            if "evidence" in asked:
                answers = [i for i in asked["evidence"] if len(turns[i]) > SHORTEST]
            else:
                inside = sorted({i for a, b in asked["spans"] for i in range(a, min(b + 1, len(turns)))})
                wanted = _words(asked["q"]) | _words(asked["answer"])
                inside = [i for i in inside if 30 < len(turns[i]) < LONGEST]
                answers = sorted(inside, key=lambda i: -_shared(wanted, turns[i]))[:2]
            if answers:
                yield Example(
                    question=asked["q"], passages=turns, answers=tuple(answers), source=one["source"],
                    group=f"dialogue-{number}", speakers=speakers,
                )  # fmt: skip


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]{3,}", text.lower()))


def _shared(wanted: set[str], text: str) -> float:
    words = _words(text)
    return len(wanted & words) / (6 + len(words) ** 0.5)


def chats(path: Path) -> Iterator[Example]:
    """LongMemEval: of each haystack the sessions with evidence and three others, so that a store stays small."""
    data = json.loads(path.read_text(encoding="utf-8"))
    for one in data["questions"]:
        sessions = [name for name, _ in one["haystack"]]
        wanted = {id.rsplit(":", 1)[0] for id in one["evidence"]}
        kept = [name for name in sessions if name in wanted] + [name for name in sessions if name not in wanted][:3]
        places: dict[str, int] = {}
        passages: list[str] = []
        for name in kept:
            for number, turn in enumerate(data["sessions"][name]):
                if turn["content"].strip():
                    places[f"{name}:{number}"] = len(passages)
                    passages.append(turn["content"])
        answers = tuple(places[id] for id in one["evidence"] if id in places)
        if one["type"] == "abstention" or answers:
            yield Example(
                question=one["question"], passages=tuple(passages), answers=answers, source="longmemeval",
                group=one["question_id"],
            )  # fmt: skip
