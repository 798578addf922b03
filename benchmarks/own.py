"""The project's own recall set: what coding agents store, and questions with and without an answer in it.

    python -m benchmarks.own [--lexical] [--json OUT] [--record] [--misses] [--half tuning|held-back]

tests/quality/recall/README.md tells what is in the set. Everything goes through the public API at a fixed clock: facts
are set, corrections made, sessions and scopes kept.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import limpet
from limpet.model.clock import FixedClock
from limpet.settings import DEFAULT_EMBEDDER

from . import embedding_cache
from .baselines import BASELINES, Baselines
from .harness import ROOT, hit_rates, latency, percent, provenance, rank_evidence, save, table

SET = ROOT / "tests" / "quality" / "recall"
ASKED_AT = "2026-09-01T09:00:00+00:00"  # after everything was stored
DEPTH = 10
HALVES = ("tuning", "held-back")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question and what came. Ranks from 1; None = not among the first `DEPTH`."""

    id: str
    half: str
    category: str
    question: str
    gold: tuple[str, ...]
    found: tuple[str, ...]  # ids of the set, best first
    ranks: tuple[int | None, ...]
    stale: int  # memories that were replaced or had ended, among those found
    stale_above: int  # the same, above the best gold memory (all of them when none was found)
    foreign: int  # memories of another project among those found
    relevance: float | None
    relevant: bool | None
    ms: float = field(default=0.0)

    @property
    def answerable(self) -> bool:
        return bool(self.gold)


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SET / name).read_text(encoding="utf-8").splitlines()]


@contextmanager
def stored(embedder: Any, memories: Sequence[dict[str, Any]]) -> Iterator[tuple[str, FixedClock, dict[str, str]]]:
    """A store with the memories in it: its path, its clock, and set id -> memory id."""
    with tempfile.TemporaryDirectory(prefix="limpet-own-") as folder:
        path, clock = str(Path(folder) / "memory.db"), FixedClock(memories[0]["at"])
        ids: dict[str, str] = {}
        # Durability is measured in speed.py; here it would only be waited for.
        with limpet.open(path, scope="global", embedder=embedder, clock=clock, durable=False) as memory:
            for one in memories:
                clock.set(one["at"])
                ids[one["id"]] = _store(memory, one, ids)
            clock.set(ASKED_AT)
            report = memory.work(only_vectors=True)
            if report.failed or report.remaining:
                raise SystemExit(f"{report.failed} jobs failed, {report.remaining} remain")
        yield path, clock, ids


def _store(memory: Any, one: dict[str, Any], ids: dict[str, str]) -> str:
    given = {name: one[name] for name in ("kind", "topics", "session", "valid_to", "origin") if name in one}
    given["scope"] = one["scope"]
    if one["op"] == "set_fact":
        receipt = memory.remember_batch([given | {"content": one["content"], "key": one["key"]}])[0]
    elif one["op"] == "correct":
        receipt = memory.in_scope(one["scope"]).correct(
            ids[one["corrects"]], one["content"], session=given.get("session")
        )
    else:
        given["because"] = [ids[id] for id in one.get("because", ())]
        receipt = memory.remember_batch([given | {"content": one["content"]}])[0]
    if receipt.id is None:
        # The door takes an ordinary note for what it must not store: a person insists.
        print(f"{one['id']} was refused: {receipt.reason}", file=sys.stderr)
        receipt = memory.remember_batch([given | {"content": one["content"], "origin": "user", "anyway": True}])[0]
    return str(receipt.id)


def outdated(memories: Sequence[dict[str, Any]]) -> set[str]:
    """Ids of what was corrected, of earlier values of keyed facts, and of what has ended when questions are asked."""
    latest: dict[tuple[str, str], str] = {}
    gone = {one["corrects"] for one in memories if "corrects" in one}
    for one in memories:
        if "key" in one:
            gone |= {latest[slot]} if (slot := (one["scope"], one["key"])) in latest else set()
            latest[slot] = one["id"]
        if one.get("valid_to", ASKED_AT) < ASKED_AT:
            gone.add(one["id"])
    return gone


def ask(
    embedder: Any, memories: Sequence[dict[str, Any]], questions: Sequence[dict[str, Any]], **options: Any
) -> list[Asked]:
    """Every question in its scope. `options` go to `recall`."""
    scope_of = {one["id"]: one["scope"] for one in memories}
    stale_ids = outdated(memories)
    asked: list[Asked] = []
    with stored(embedder, memories) as (path, clock, ids):
        names = {memory: one for one, memory in ids.items()}
        for scope in dict.fromkeys(one["scope"] for one in questions):
            with limpet.open(path, scope=scope, embedder=embedder, clock=clock, read_only=True, judge=True) as memory:
                memory.recall("warming up", k=DEPTH, **options)
                for one in questions:
                    if one["scope"] == scope:
                        asked.append(_asked(memory, one, names, stale_ids, scope_of, options))
    return asked


def baselines(
    embedder: Any, memories: Sequence[dict[str, Any]], questions: Sequence[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Hit rates of plain BM25 and plain vectors over what each question may see and what still holds: more than they
    could know by themselves. {half: {baseline: rates}}."""
    gone = outdated(memories)
    found: dict[str, dict[str, list[Any]]] = {half: {name: [] for name in BASELINES} for half in HALVES}
    for scope in dict.fromkeys(one["scope"] for one in questions):
        seen = {one["id"]: one["content"] for one in memories if one["scope"] in (scope, "global")}
        plain = Baselines({id: text for id, text in seen.items() if id not in gone}, embedder)
        for one in questions:
            if one["scope"] == scope and one["gold"]:
                for name, ranking in plain.rankings(one["question"], DEPTH):
                    found[one["half"]][name].append(rank_evidence(one["gold"], ranking))
    return {half: {name: hit_rates(ranked) for name, ranked in ways.items()} for half, ways in found.items()}


def _asked(
    memory: Any,
    one: dict[str, Any],
    names: dict[str, str],
    stale_ids: set[str],
    scope_of: dict[str, str],
    options: dict[str, Any],
) -> Asked:
    started = time.perf_counter()
    answer = memory.recall(one["question"], k=DEPTH, **options)
    took_ms = 1000 * (time.perf_counter() - started)
    found = [names[item.id] for item in answer.items]
    ranks = rank_evidence(one["gold"], found).ranks
    best = min((rank for rank in ranks if rank is not None), default=len(found) + 1)
    stale = [place for place, id in enumerate(found, 1) if id in stale_ids]
    return Asked(
        id=one["id"],
        half=one["half"],
        category=one["category"],
        question=one["question"],
        gold=tuple(one["gold"]),
        found=tuple(found),
        ranks=tuple(ranks),
        stale=len(stale),
        stale_above=sum(place < best for place in stale) if one["gold"] else 0,
        foreign=sum(scope_of[id] not in (one["scope"], "global") for id in found),
        relevance=getattr(answer, "relevance", None),
        relevant=getattr(answer, "relevant", None),
        ms=round(took_ms, 3),
    )


def summarise(asked: Sequence[Asked]) -> dict[str, Any]:
    """All figures of some questions."""
    answerable = [one for one in asked if one.answerable]
    nothing = [one for one in asked if not one.answerable]
    summary: dict[str, Any] = {
        "all": hit_rates([_ranked(one) for one in answerable]),
        "categories": {
            category: hit_rates([_ranked(one) for one in answerable if one.category == category])
            for category in dict.fromkeys(one.category for one in answerable)
        },
        "stale": sum(one.stale for one in asked),
        "stale_above": sum(one.stale_above for one in asked),
        "foreign": sum(one.foreign for one in asked),
        "latency": latency([one.ms for one in asked]),
    }
    if any(one.relevant is not None for one in asked):
        summary["abstention"] = {
            "no_answer": len(nothing),
            "withheld": _share(not one.relevant for one in nothing),
            "wrongly_withheld": _share(not one.relevant for one in answerable),
            "found_but_withheld": _share(not one.relevant for one in answerable if _ranked(one).any_at(5)),
            "by_category": {
                category: _share(not one.relevant for one in asked if one.category == category)
                for category in dict.fromkeys(one.category for one in asked)
            },
        }
    return summary


def _ranked(one: Asked) -> Any:
    return rank_evidence(one.gold, one.found)


def _share(values: Any) -> float:
    seen = list(values)
    return round(sum(seen) / len(seen), 4) if seen else 0.0


def report(summary: dict[str, Any]) -> str:
    rows = []
    withheld = summary.get("abstention", {})
    by_category = withheld.get("by_category", {})
    lines = {**summary["categories"], "all": summary["all"]}
    for name, rates in lines.items():
        share = withheld.get("wrongly_withheld") if name == "all" else by_category.get(name)
        figures = [percent(rates[what]) for what in ("any@1", "any@5", "any@10", "all@5")]
        rows.append([name, rates["questions"], *figures, None if share is None else percent(share)])
    for name in by_category:
        if name not in lines:
            rows.append([name, None, None, None, None, None, percent(by_category[name])])
    shown = table(["category", "questions", "any@1", "any@5", "any@10", "all@5", "withheld"], rows)
    shown += f"\nstale: {summary['stale']} ({summary['stale_above']} above the answer), foreign: {summary['foreign']}"
    if withheld:
        shown += (
            f"\nno answer: {percent(withheld['withheld'])} % of {withheld['no_answer']} withheld;"
            f" answerable: {percent(withheld['wrongly_withheld'])} % wrongly withheld,"
            f" {percent(withheld['found_but_withheld'])} % of those with the answer among the first five"
        )
    return shown + f"\np50 {summary['latency']['p50_ms']:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=HALVES, help="only the questions of this half")
    parser.add_argument("--lexical", action="store_true", help="words only")
    parser.add_argument("--baselines", action="store_true", help="also plain BM25 and plain vectors, without limpet")
    parser.add_argument("--misses", action="store_true", help="print the questions without a hit among the first five")
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER, help=f"name of the embedder ({DEFAULT_EMBEDDER})")
    parser.add_argument("--json", metavar="OUT", help="write figures and raw rows here")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    options = parser.parse_args()
    memories, questions = read("memories.jsonl"), read("questions.jsonl")
    halves = (options.half,) if options.half else HALVES
    embedder = embedding_cache.load(options.embedder)
    chosen = [one for one in questions if one["half"] in halves]
    asked = ask(embedder, memories, chosen, lexical_only=options.lexical)
    figures = {half: summarise([one for one in asked if one.half == half]) for half in halves}
    plain = baselines(embedder, memories, chosen) if options.baselines else {}
    embedder.save()
    for half, summary in figures.items():
        print(f"\n{half}\n{report(summary)}")
        summary["baselines"] = plain.get(half, {})
        for name, rates in summary["baselines"].items():
            print(f"{name}: " + ", ".join(f"{what} {percent(rates[what])}" for what in ("any@1", "any@5", "any@10")))
    if options.misses:
        _print_misses(asked, memories)
    content = {
        "benchmark": "own",
        "provenance": provenance(),
        "settings": {"embedder": options.embedder, "lexical": options.lexical, "memories": len(memories)},
        "figures": figures,
        "rows": [asdict(one) for one in asked],
    }
    other = "" if options.embedder == DEFAULT_EMBEDDER else f"-{options.embedder}"
    name = "own-lexical" if options.lexical else f"own{other}"
    for path in save(name, content, out=options.json, keep=options.record):
        print(f"written: {path}", file=sys.stderr)


def _print_misses(asked: Sequence[Asked], memories: Sequence[dict[str, Any]]) -> None:
    text = {one["id"]: one["content"] for one in memories}
    for one in asked:
        if one.gold and not any(rank is not None and rank <= 5 for rank in one.ranks):
            print(f"\n{one.id} [{one.category}] {one.question}")
            print(f"  wanted {one.gold[0]} at {one.ranks}: {text[one.gold[0]][:150]}")
            for id in one.found[:2]:
                print(f"  found {id}: {text[id][:100]}")


if __name__ == "__main__":
    main()
