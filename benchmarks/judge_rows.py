"""What recall finds for each question of the project's own data: what the relevance judge is trained on.

    python -m benchmarks.judge_rows OUT.jsonl.gz [--conversations FILE] [--longmemeval FILE]

A line is a question with the first `DEPTH` results as the judge reads them, which of them answer, and their scores by
the ranking. Questions come from the own set (both halves, told apart), the stores written for training and the
messages, each asked among twenty stores in one and some in their own, the notes, among five and in their own, and
FriendsQA's dialogues (`--conversations`). Beside them: sentences of messages, and whether they are worth keeping; and
long messages, made of a store's and of what people say elsewhere (`--longmemeval`): each text has the part of the
message that the judge reads beside it.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from limpet.recall.score import by_signals, passages
from limpet.settings import DEFAULT_EMBEDDER
from limpet.text.excerpt import nearest, parts
from training.data import dialogues, held_back
from training.labelled import judge_rows as kept_rows

from . import embedding_cache, longmemeval, written
from .collect import gathered, own_asked
from .retrieval import Haystack, Question, Turn

DEPTH = 8
TOGETHER = 20
# Dialogues of which one in so many is asked.
EVERY = 4
MESSAGES, MESSAGES_MORE = (written.FOLDER.parent / f"{name}.jsonl" for name in ("messages", "messages_more"))
# Stores of notes that the embedder was not trained on, in which much is alike: as large as those of an agent. Nothing
# is trained on those held back; they fit the judge's constants.
NOTES, NOTES_HELD_BACK, NOTES_MORE = (
    written.FOLDER.parent / f"{name}.jsonl" for name in ("notes", "notes_held_back", "notes_more")
)
NOTES_TOGETHER = 5
# Messages for which what helps is said in quite other words, and near misses.
THOUGHT, THOUGHT_HELD_BACK = (
    written.FOLDER.parent / f"{name}.jsonl" for name in ("messages_thought", "messages_thought_held_back")
)
THOUGHT_TOGETHER = 10
# Of these so many are asked in their own store too: one in.
ALONE = 5
# Long messages of a store: with one that a memory helps with and without, among its own and among what others say.
LENGTHY = 2
ELSEWHERE = (12, 120)  # words of what others say
# Results of a long message that are rows.
FIRST = 4


def row(memory: Any, found: Any, plan: Any, right: list[bool]) -> dict[str, Any]:
    ranking = by_signals(found, plan.now)
    best = ranking.order[:DEPTH]
    store = memory._context.store
    memories = store.memories.by_rows([found.table.rows[i] for i in best])
    return {
        "question": plan.query,
        "texts": passages(plan.query, memories),
        "right": [right[i] for i in best],
        "scores": [round(ranking.scores[i], 4) for i in best],
    }


def own_rows(embedder: Any) -> Iterator[dict[str, Any]]:
    for one, found, plan, memory, ids in own_asked(embedder):
        if len(found.table.rows):
            gold = set(one["gold"])
            said = row(memory, found, plan, [id in gold for id in ids])
            yield said | {"source": "own", "group": one["scope"], "half": one["half"], "answerable": bool(gold)}


def haystack_rows(
    embedder: Any, source: str, haystacks: list[Haystack], *, half: str | None = None
) -> Iterator[dict[str, Any]]:
    """`half`: of all of them; by itself what `training/data.py` holds back is apart."""
    for one in gathered(embedder, source, haystacks):
        if len(one.found.table.rows):
            group = one.question.id.rsplit("?", 1)[0]
            said = row(one.memory, one.found, one.plan, [id in one.wanted for id in one.ids])
            part = half or ("held-back" if held_back(group) else "tuning")
            yield said | {"source": source, "group": group, "half": part, "answerable": one.question.answerable}


def read(path: Path) -> list[dict[str, Any]]:
    stores = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return sorted(stores, key=lambda one: hashlib.sha256(f"order {one['id']}".encode()).digest())


def stores_of(name: str, stores: list[dict[str, Any]], *, together: int, alone: int) -> list[Haystack]:
    """Every store among others, and every so many a store by itself."""
    count = max(1, round(len(stores) / together))
    found = [written.haystack(f"{name}-{number}", stores[number::count]) for number in range(count)]
    return found + [written.haystack(one["id"], [one]) for one in stores[::alone]]


def message_stores() -> list[Haystack]:
    """Held-back ones apart."""
    return [
        one
        for unseen in (False, True)
        for one in stores_of(
            f"messages-{unseen}", [store for store in read(MESSAGES) if held_back(store["id"]) is unseen],
            together=TOGETHER, alone=3,
        )
    ]  # fmt: skip


def note_stores(path: Path, alone: int = 1) -> list[Haystack]:
    return stores_of(path.stem, read(path), together=NOTES_TOGETHER, alone=alone)


def elsewhere(path: Path | None) -> list[str]:
    """What people say that has nothing to do with a store: half of LongMemEval's turns of users, by a hash, and some of
    the long conversations'."""
    said = [
        one["text"] for store in read(written.FOLDER.parent / "long_chats.jsonl") for one in store["memories"][::5]
    ]  # fmt: skip
    if path is not None:
        sessions = longmemeval.load(path)["sessions"].values()
        users = sorted({turn["content"] for one in sessions for turn in one if turn["role"] == "user"})
        said += [one for one in users if hashlib.sha256(one.encode()).digest()[0] % 2 == 0]
    return [one for one in said if ELSEWHERE[0] <= len(one.split()) <= ELSEWHERE[1]]


def lengthy(store: dict[str, Any], others: Sequence[str], draw: random.Random) -> dict[str, Any] | None:
    """A store whose messages are long: `LENGTHY` of each kind. `asks`, of each that a memory helps with: which part."""
    plain, wanted = store["unanswerable"], store["questions"]
    if len(plain) < 3 or not wanted:
        return None
    nothing: list[str] = []
    helped: list[dict[str, Any]] = []
    for _ in range(LENGTHY):
        for around in (draw.sample(plain, draw.choice((2, 3))), [draw.choice(others)]):
            nothing.append(_joined(around))
            one = draw.choice(wanted)
            several = [*around, one["q"]]
            draw.shuffle(several)
            helped.append(one | {"q": _joined(several), "asks": one["q"]})
    return store | {"questions": helped, "unanswerable": nothing}


def _joined(several: Sequence[str]) -> str:
    return " ".join(one if one[-1] in ".?!" else f"{one}." for one in map(str.strip, several))


def lengthy_rows(embedder: Any, paths: Sequence[Path], others: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Of results of long messages: the part that the judge reads beside each. Where a memory helps and another part is
    nearest to it, it is left out: what it is beside has nothing to do with it."""
    draw = random.Random(1)
    stores = [one for path in paths for one in read(path) if path != MESSAGES or not held_back(one["id"])]
    several = [one for store in stores if (one := lengthy(store, others, draw)) is not None]
    asks = {row["q"]: row["asks"].strip().rstrip(".") for one in several for row in one["questions"]}
    for one in haystack_rows(
        embedder, "lengthy", [written.haystack(one["id"], [one]) for one in several], half="tuning"
    ):
        message = one.pop("question")
        among = parts(message)
        beside = [nearest(among, text) for text in one["texts"][:FIRST]]
        kept = [
            place for place, part in enumerate(beside)
            if not one["right"][place] or asks[message] in part or part in asks[message]
        ]  # fmt: skip
        if len(kept) > 1:
            yield (
                one
                | {"questions": [beside[place] for place in kept]}
                | {name: [one[name][place] for place in kept] for name in ("texts", "right", "scores")}
            )


def dialogue_stores(path: Path) -> list[Haystack]:
    """FriendsQA's, by what `training/data.py` reads; QMSum's answers are guessed by words."""
    several: dict[str, list[Any]] = {}
    for one in dialogues(path):
        if one.source == "FriendsQA" and int(one.group.rsplit("-", 1)[1]) % EVERY == 0:
            several.setdefault(one.group, []).append(one)
    found = []
    for group, asked in several.items():
        turns = [
            Turn(
                id=f"{group}:{place}", session=group, speaker=asked[0].speakers[place] or "", content=text,
                at=f"2026-01-01T12:{place // 60 % 60:02}:{place % 60:02}+00:00", kind="episode",
            )
            for place, text in enumerate(asked[0].passages) if text.strip()
        ]  # fmt: skip
        questions = [
            Question(
                id=f"{group}?{number}", category="dialogue", text=one.question,
                evidence=tuple(f"{group}:{place}" for place in one.answers), sessions=(group,), answerable=True,
                asked_at=written.ASKED_AT,
            )
            for number, one in enumerate(asked)
        ]  # fmt: skip
        found.append(Haystack(name=group, turns=turns, questions=questions))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--conversations", type=Path)
    parser.add_argument("--longmemeval", type=Path)
    options = parser.parse_args()
    embedder = embedding_cache.load(DEFAULT_EMBEDDER)
    count = 0
    with gzip.open(options.out, "wt", encoding="utf-8") as file:
        sources = [own_rows(embedder), kept_rows()]
        alone = written.read(together=False)[::3]
        sources += [haystack_rows(embedder, "written", [*written.read(together=True), *alone])]
        sources += [haystack_rows(embedder, "messages", message_stores())]
        for path, half in ((NOTES, "tuning"), (NOTES_HELD_BACK, "held-back")):
            sources += [haystack_rows(embedder, "notes", note_stores(path, ALONE), half=half)]
        more = [
            *note_stores(NOTES_MORE, ALONE),
            *stores_of("messages-more", read(MESSAGES_MORE), together=TOGETHER, alone=ALONE),
        ]
        sources += [haystack_rows(embedder, "more", more, half="tuning")]
        sources += [haystack_rows(embedder, "long", written.long_chats(unseen=False), half="tuning")]
        for path, half in ((THOUGHT, "tuning"), (THOUGHT_HELD_BACK, "held-back")):
            several = stores_of(path.stem, read(path), together=THOUGHT_TOGETHER, alone=1)
            sources += [haystack_rows(embedder, "thought", several, half=half)]
        sources.append(
            lengthy_rows(embedder, (MESSAGES, MESSAGES_MORE, THOUGHT, NOTES), elsewhere(options.longmemeval))
        )
        if options.conversations:
            sources += [haystack_rows(embedder, "FriendsQA", dialogue_stores(options.conversations))]
        for one in (each for several in sources for each in several):
            file.write(json.dumps(one, ensure_ascii=False) + "\n")
            count += 1
    embedder.save()
    print(f"{count} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
