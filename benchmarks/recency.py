"""Newer before older: of two memories that answer the same question, which comes first?

    python -m benchmarks.recency [--half tuning|held-back] [--data LONGMEMEVAL] [--one-store] [--misses] [--lexical]
        [--json OUT] [--record]

tests/quality/recency/README.md tells what is in the set. Every line is a store of its own: what was said, what was said
later, and other memories about the same things. `--one-store` puts a half into one store. `--data` also asks
LongMemEval's questions about knowledge that was updated: there the evidence said last comes first.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import limpet
from limpet.model.clock import FixedClock

from . import embedding_cache, longmemeval
from .harness import ROOT, provenance, save, table
from .retrieval import Haystack

SET = ROOT / "tests" / "quality" / "recency"
HALVES = {"tuning": "tuning.jsonl", "held-back": "held_back.jsonl"}
ASKED_AT = "2026-11-01T09:00:00+00:00"
DEPTH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Places from 1 of the two memories that compete; `DEPTH` + 1 = not found."""

    id: str
    group: str
    form: str
    wanted: int
    other: int

    @property
    def right(self) -> bool:
        return self.wanted < self.other


def lines(half: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SET / HALVES[half]).read_text(encoding="utf-8").splitlines()]


def group_of(line: dict[str, Any]) -> str:
    """`newer`, `newer, with now`, `past` or `series`."""
    if line.get("past"):
        return "past"
    if line.get("series"):
        return "series"
    return "newer, with now" if line["word"] else "newer"


def store(memory: limpet.Limpet, line: dict[str, Any]) -> dict[str, str]:
    """Store one line, in the order of its dates. Returns the ids of `old` and `new`."""
    several = [("", one) for one in line["others"]] + [("old", line["old"]), ("new", line["new"])]
    several.sort(key=lambda one: str(one[1]["date"]))
    given = []
    for _, one in several:
        at = f"{one['date']}T12:00:00+00:00"
        if one.get("speaker"):
            # Each day of talk is a session of its own.
            said = {"speaker": one["speaker"], "session": f"{line['id']}-{one['date']}"}
        else:
            said = {"kind": "fact" if line["form"] == "fact" else "note"}
        given.append({"content": one["text"], "valid_from": at} | said)
    receipts = memory.remember_batch(given)
    return {name: str(receipt.id) for (name, _), receipt in zip(several, receipts, strict=True) if name}


def ask(memory: limpet.Limpet, line: dict[str, Any], ids: dict[str, str], **options: Any) -> Asked:
    found = [one.id for one in memory.recall(line["question"], k=DEPTH, **options).items]
    wanted = line.get("first", "new")
    places = {name: found.index(id) + 1 if id in found else DEPTH + 1 for name, id in ids.items()}
    return Asked(
        id=line["id"],
        group=group_of(line),
        form=line["form"],
        wanted=places[wanted],
        other=places["old" if wanted == "new" else "new"],
    )


def run(half: str, embedder: Any, *, one_store: bool, **options: Any) -> list[Asked]:
    several = lines(half)
    parts = [several] if one_store else [[line] for line in several]
    asked = []
    with tempfile.TemporaryDirectory(prefix="limpet-recency-") as folder:
        for number, part in enumerate(parts):
            with limpet.open(
                Path(folder) / f"{number}.db", scope="recency", embedder=embedder, clock=FixedClock(ASKED_AT),
                durable=False,
            ) as memory:  # fmt: skip
                ids = [store(memory, line) for line in part]
                memory.work()
                asked += [ask(memory, line, one, **options) for line, one in zip(part, ids, strict=True)]
    return asked


def updates(haystacks: Sequence[Haystack], embedder: Any, **options: Any) -> list[Asked]:
    """LongMemEval's knowledge updates: the last turn of the evidence is to come before the first."""
    asked = []
    for haystack in haystacks:
        question = haystack.questions[0]
        if question.category != "knowledge-update" or len(question.evidence) < 2:
            continue
        times = {turn.id: (turn.at, place) for place, turn in enumerate(haystack.turns)}
        ordered = sorted(question.evidence, key=lambda id: times[id])
        with (
            tempfile.TemporaryDirectory(prefix="limpet-recency-") as folder,
            limpet.open(
                Path(folder) / "memory.db", scope="recency", embedder=embedder,
                clock=FixedClock(question.asked_at or ASKED_AT), durable=False,
            ) as memory,
        ):  # fmt: skip
            receipts = memory.remember_batch(
                {"content": turn.content, "speaker": turn.speaker, "session": turn.session, "valid_from": turn.at}
                for turn in haystack.turns
            )
            memory.work()
            ids = {str(receipt.id): turn.id for receipt, turn in zip(receipts, haystack.turns, strict=True)}
            found = [ids[one.id] for one in memory.recall(question.text, k=DEPTH, **options).items]
        places = [found.index(id) + 1 if id in found else DEPTH + 1 for id in ordered]
        asked.append(Asked(id=question.id, group="update", form="turn", wanted=places[-1], other=min(places[:-1])))
    return asked


def figures(asked: Sequence[Asked]) -> list[tuple[str, int, float, float]]:
    """(group, questions, per cent in the right order, per cent with the wanted one first of all)."""
    groups: dict[str, list[Asked]] = {}
    for one in asked:
        groups.setdefault(one.group, []).append(one)
        if one.group.startswith("newer"):
            groups.setdefault("newer, all", []).append(one)
            groups.setdefault(f"newer, {one.form}s", []).append(one)
    return [
        (
            name,
            len(several),
            round(100 * sum(one.right for one in several) / len(several), 1),
            round(100 * sum(one.wanted == 1 for one in several) / len(several), 1),
        )
        for name, several in sorted(groups.items())
    ]


def as_dict(rows: Sequence[tuple[str, int, float, float]]) -> dict[str, dict[str, float]]:
    return {name: {"questions": n, "right": right, "first": first} for name, n, right, first in rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=HALVES, help="only this half of the set")
    parser.add_argument("--data", metavar="LONGMEMEVAL", help="also its knowledge updates")
    parser.add_argument("--one-store", action="store_true", help="a half in one store, not each line in its own")
    parser.add_argument("--misses", action="store_true", help="print the tuning half's questions in the wrong order")
    parser.add_argument("--lexical", action="store_true", help="words alone")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep them in benchmarks/results")
    options = parser.parse_args()
    haystacks = longmemeval.read(options.data) if options.data else []
    embedder = embedding_cache.load()
    given = {"lexical_only": True} if options.lexical else {}
    content = provenance() | {"one_store": options.one_store, "lexical": options.lexical}
    for half in [options.half] if options.half else HALVES:
        asked = run(half, embedder, one_store=options.one_store, **given)
        rows = figures(asked)
        print(table([half, "questions", "right order, %", "first of all, %"], rows))
        content[half] = as_dict(rows)
        if options.misses and half == "tuning":
            for one in asked:
                if not one.right:
                    print(f"{one.id}  {one.group}, {one.form}: wanted at {one.wanted}, other at {one.other}")
    if haystacks:
        rows = figures(updates(haystacks, embedder, **given))
        print(table(["LongMemEval", "questions", "right order, %", "first of all, %"], rows))
        content["longmemeval"] = as_dict(rows)
    embedder.save()
    save("recency", content, out=options.json, keep=options.record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
