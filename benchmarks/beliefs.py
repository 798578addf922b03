"""What becomes of a store that nobody corrected: demotions, proposals per 1,000 memories, a sample of each to read.

    python -m benchmarks.beliefs --data FILE_OR_FOLDER [--plain] [--most N] [--sample N --seed S]
        [--half tuning|held-back] [--json OUT] [--record]

`--data`: LoCoMo's JSON or its facts, LongMemEval's JSON, conversations ({"turns": [{"speaker", "text"}]}, also
gzipped), lines of {"text"} (JSONL), or a folder of Markdown. Turns are stored with speaker and session, everything else
as plain statements. `--plain` stores turns so too, with neither speaker, session nor kind, so that rules judge them.
Demotions are split in two by their id, for rules that are made on one half and judged on the other. LoCoMo is CC BY-NC
4.0: what is read of it is written down as ids and verdicts alone.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import limpet
from limpet.model.clock import FixedClock

from . import embedding_cache, locomo
from .harness import provenance, save, table

KINDS = ("merged", "duplicate", "correction", "contradiction")
STORED_AT = "2026-01-01T00:00:00+00:00"
SCOPE = "project:beliefs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two memories, the older first, that a check made something of."""

    kind: str
    older: str
    newer: str
    texts: tuple[str, str]
    reason: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Demoted:
    """A statement that a rule made an episode. `id`: its place in the data, the same in every run."""

    id: str
    rule: str
    text: str

    @property
    def held_back(self) -> bool:
        return hashlib.sha256(self.id.encode()).digest()[0] % 2 == 1


@dataclass(slots=True, kw_only=True)
class Found:
    """Of all stores together. `seconds`: processor time of the check of pairs alone."""

    memories: int = 0
    refused: int = 0
    seconds: float = 0.0
    pairs: list[Pair] = field(default_factory=list)
    demoted: list[Demoted] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        several = Counter(one.kind for one in self.pairs)
        return {kind: several[kind] for kind in KINDS}


def stores(path: Path) -> Iterator[list[dict[str, Any]]]:
    """Arguments of `remember`, a list for each store."""
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    data = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
    if isinstance(data, dict):  # LongMemEval: one user's chats
        yield [
            {
                "content": turn["content"],
                "speaker": turn["role"],
                "session": session,
                "source": f"lme:{session}:{place}",
            }
            for session, turns in data["sessions"].items()
            for place, turn in enumerate(turns)
            if turn["content"].strip()
        ]
    elif "fact" in data[0]:
        for name in dict.fromkeys(one["conversation"] for one in data):
            yield [
                {"content": one["fact"], "source": f"fact:{place}"}
                for place, one in enumerate(data)
                if one["conversation"] == name
            ]
    elif "text" in data[0]:
        yield [{"content": one["text"], "source": f"line:{place}"} for place, one in enumerate(data)]
    elif "turns" in data[0]:
        for number, one in enumerate(data):
            yield [
                {
                    "content": turn["text"],
                    "speaker": turn["speaker"],
                    "session": f"s{number}",
                    "source": f"train:{number}:{place}",
                }
                for place, turn in enumerate(one["turns"])
                if turn["text"].strip()
            ]
    else:
        for haystack in locomo.read(str(path)):
            yield [
                {
                    "content": one.content,
                    "speaker": one.speaker,
                    "session": one.session,
                    "valid_from": one.at,
                    "source": f"{haystack.name}:{one.id}",
                }
                for one in haystack.turns
            ]


def run(data: Path, *, embedder: Any, most: int | None, folder: Path, plain: bool = False) -> Found:
    found = Found()
    if data.is_dir():
        with _store(folder / "notes.db", embedder) as memory:
            memory.import_from("markdown", data)
            _check(memory, found)
        return found
    for number, items in enumerate(stores(data)):
        if most is not None and found.memories >= most:
            break
        with _store(folder / f"{number}.db", embedder) as memory:
            stored = items[: most and most - found.memories]
            receipts = memory.remember_batch({"content": one["content"]} if plain else one for one in stored)
            found.refused += sum(one.id is None for one in receipts)
            found.demoted += [
                Demoted(id=one["source"], rule=receipt.rule, text=one["content"])
                for one, receipt in zip(stored, receipts, strict=True)
                if receipt.rule
            ]
            _check(memory, found)
    return found


def _store(path: Path, embedder: Any) -> limpet.Limpet:
    return limpet.open(path, scope=SCOPE, clock=FixedClock(STORED_AT), embedder=embedder)


def _check(memory: limpet.Limpet, found: Found) -> None:
    memory.work(only_vectors=True)
    started = time.process_time()
    memory.work()
    found.seconds += time.process_time() - started
    held = {one.id: one for one in _all(memory)}
    found.memories += len(held)
    found.pairs += [
        Pair(kind="merged", older=one.superseded_by, newer=one.id, texts=(held[one.superseded_by].content, one.content))
        for one in held.values()
        if one.state == "merged" and one.superseded_by
    ]
    found.pairs += [
        Pair(
            kind=one.kind, older=one.other.id, newer=one.memory.id, texts=(one.other.content, one.memory.content),
            reason=one.reason, score=one.score,
        )
        for one in memory.review(limit=10_000)
        if one.other is not None and one.kind in KINDS
    ]  # fmt: skip


def _all(memory: limpet.Limpet) -> Iterator[limpet.Memory]:
    cursor = None
    while True:
        page = memory.list(all_states=True, limit=1_000, cursor=cursor)
        yield from page.memories
        cursor = page.cursor
        if cursor is None:
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="a file or a folder of Markdown")
    parser.add_argument("--plain", action="store_true", help="without speaker and session")
    parser.add_argument("--half", choices=("tuning", "held-back"), help="demotions to print: only of this half")
    parser.add_argument("--most", type=int, help="memories at most")
    parser.add_argument("--sample", type=int, default=0, help="pairs of each kind to print")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep them in benchmarks/results")
    options = parser.parse_args()
    embedder = embedding_cache.load()
    with tempfile.TemporaryDirectory() as folder:
        found = run(options.data, embedder=embedder, most=options.most, folder=Path(folder), plain=options.plain)
    embedder.save()
    rows = [(kind, count, round(1000 * count / max(1, found.memories), 1)) for kind, count in found.counts().items()]
    print(f"{options.data.name}: {found.memories} memories, {found.refused} refused, checked in {found.seconds:.1f} s")
    print(table(["kind", "pairs", "per 1,000"], rows))
    share = 100 * len(found.demoted) / max(1, found.memories)
    print(f"demoted: {len(found.demoted)} ({share:.1f} %)", dict(Counter(one.rule for one in found.demoted)))
    half = {None: (True, False), "tuning": (False,), "held-back": (True,)}[options.half]
    demoted = [one for one in found.demoted if one.held_back in half]
    for one in random.Random(options.seed).sample(demoted, min(options.sample, len(demoted))):
        print(f"\ndemoted {one.id}, {one.rule}\n  {one.text}")
    for kind in KINDS:
        pairs = [one for one in found.pairs if one.kind == kind]
        for one in random.Random(options.seed).sample(pairs, min(options.sample, len(pairs))):
            shown = "" if one.score is None else f" {one.score:.2f}  {one.reason}"
            print(f"\n{kind}{shown}\n  older: {one.texts[0]}\n  newer: {one.texts[1]}")
    content = provenance() | {"data": options.data.name, "memories": found.memories, "refused": found.refused}
    content |= {"pairs": found.counts(), "demoted": len(found.demoted)}
    save(f"beliefs-{options.data.name.split('.')[0]}", content,
         out=options.json, keep=options.record)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
