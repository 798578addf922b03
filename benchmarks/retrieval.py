"""Store a haystack through the public API, ask it questions, and score where the evidence came.

What a data set looks like is not here (`locomo.py`, `longmemeval.py`): they make `Haystack`s.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import limpet
from limpet.model.clock import FixedClock
from limpet.recall.plan import SIGNALS
from limpet.settings import DEFAULT_EMBEDDER

from . import embedding_cache
from .baselines import BASELINES, Baselines
from .harness import CUTOFFS, Ranked, hit_rates, latency, mean, percent, provenance, rank_evidence, save, table

TURN_DEPTH = 20  # memories asked for when turns are scored
SESSIONS = 20  # sessions asked for when they are scored
SESSION_DEPTH = 100  # memories asked for when sessions are ranked by their best turn alone, for comparison
STORED_AT = "2026-01-01T00:00:00+00:00"  # the store's clock when the questions have no time of their own
MISSING = 1000  # stands for "not found" in rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    id: str
    session: str  # "" = none
    speaker: str  # "" = nobody: a note
    content: str
    at: str  # ISO 8601
    kind: str = "episode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    id: str
    category: str
    text: str
    evidence: tuple[str, ...]  # turn ids; () = nothing to find
    sessions: tuple[str, ...]  # sessions that hold the evidence
    answerable: bool = True
    asked_at: str | None = None  # ISO 8601


@dataclass(frozen=True, slots=True, kw_only=True)
class Haystack:
    """One store: what is in it, and what it is asked."""

    name: str
    turns: list[Turn]
    questions: list[Question]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of asking: which signals are off, how the rest is fused."""

    name: str
    without: tuple[str, ...] = ()
    lexical_only: bool = False


@dataclass(slots=True, kw_only=True)
class Row:
    """One question asked in one way. Ranks from 1; `MISSING` = not found."""

    haystack: str
    question: str
    category: str
    answerable: bool
    way: str
    turn_ranks: list[int] = field(default_factory=list)
    session_ranks: list[int] = field(default_factory=list)  # as `recall_sessions` ranks them
    best_turn_ranks: list[int] = field(default_factory=list)  # of sessions by their best turn in a recall
    top_score: float | None = None
    found: int = 0
    missing: list[str] = field(default_factory=list)
    ms: float = 0.0  # recall of TURN_DEPTH, the query's vector at hand
    live_ms: float | None = None  # the same, the query embedded in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a worker process needs."""

    embedder: str
    ways: tuple[Way, ...]
    sessions: bool
    turns: bool
    live: int  # questions a haystack that are asked with the query embedded live
    baselines: bool = False  # also rank by plain BM25 and by plain vectors


def run(haystacks: Sequence[Haystack], settings: Settings, *, jobs: int) -> list[Row]:
    """Every question of every haystack in every way; progress on stderr."""
    rows: list[Row] = []
    started = time.perf_counter()
    for done, some in enumerate(_spread(haystacks, settings, jobs), 1):
        rows.extend(some)
        if sys.stderr.isatty() or done == len(haystacks):
            took = time.perf_counter() - started
            print(f"\r{done}/{len(haystacks)} stores, {took:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return rows


def _spread(haystacks: Sequence[Haystack], settings: Settings, jobs: int) -> Iterator[list[Row]]:
    if jobs == 1:
        worker = _Worker(settings)
        yield from map(worker.ask_all, haystacks)
        worker.embedder.save()
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, initializer=_start_worker, initargs=(settings,)) as pool:
        yield from pool.imap(_work, haystacks)


_worker: _Worker | None = None


def _start_worker(settings: Settings) -> None:
    global _worker  # noqa: PLW0603  (one a process, made by the pool)
    _worker = _Worker(settings)


def _work(haystack: Haystack) -> list[Row]:
    assert _worker is not None
    rows = _worker.ask_all(haystack)
    _worker.embedder.save()
    return rows


class _Worker:
    """One embedder, one store after another."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.embedder = embedding_cache.load(settings.embedder)

    def ask_all(self, haystack: Haystack) -> list[Row]:
        with tempfile.TemporaryDirectory(prefix="limpet-bench-") as folder:
            clock = FixedClock(haystack.questions[0].asked_at or STORED_AT)
            path = str(Path(folder) / "memory.db")
            # Durability is measured in speed.py; here it would only be waited for.
            with limpet.open(path, scope="global", embedder=self.embedder, clock=clock, durable=False) as memory:
                stored = load(memory, haystack)
                rows = [
                    row
                    for number, question in enumerate(haystack.questions)
                    for row in self._ask(
                        memory, clock, stored, haystack.name, question, live=number < self.settings.live
                    )
                ]
        return rows + (self._plainly(haystack) if self.settings.baselines else [])

    def _plainly(self, haystack: Haystack) -> list[Row]:
        """The same questions by plain BM25 and plain vectors over the same turns."""
        plain = Baselines({turn.id: turn.content for turn in haystack.turns}, self.embedder)
        session_of = {turn.id: turn.session for turn in haystack.turns}
        rows = []
        for question in haystack.questions:
            for name, found in plain.rankings(question.text, SESSION_DEPTH):
                row = Row(
                    haystack=haystack.name,
                    question=question.id,
                    category=question.category,
                    answerable=question.answerable,
                    way=name,
                    found=len(found),
                )
                if self.settings.turns:
                    row.turn_ranks = _plain(rank_evidence(question.evidence, found[:TURN_DEPTH]))
                if self.settings.sessions:
                    sessions = list(dict.fromkeys(session_of[turn] for turn in found))
                    row.best_turn_ranks = _plain(rank_evidence(question.sessions, sessions))
                rows.append(row)
        return rows

    def _ask(
        self, memory: Any, clock: FixedClock, stored: dict[str, str], haystack: str, question: Question, *, live: bool
    ) -> list[Row]:
        clock.set(question.asked_at or STORED_AT)
        live_ms = None
        if live:
            _recall(memory, "warming up", self.settings.ways[0], TURN_DEPTH)
            self.embedder.live_queries = True
            _, live_ms = _recall(memory, question.text, self.settings.ways[0], TURN_DEPTH)
            self.embedder.live_queries = False
        self.embedder.embed_query(question.text)
        rows = []
        for way in self.settings.ways:
            row = Row(
                haystack=haystack,
                question=question.id,
                category=question.category,
                answerable=question.answerable,
                way=way.name,
                live_ms=live_ms if way is self.settings.ways[0] else None,
            )
            if self.settings.turns:
                found, row.ms = _recall(memory, question.text, way, TURN_DEPTH)
                wanted = dict.fromkeys(stored[turn] for turn in question.evidence)
                row.turn_ranks = _plain(rank_evidence(wanted, [item.id for item in found.items]))
                _note(row, found)
            if self.settings.sessions:
                found, took_ms = _recall(memory, question.text, way, SESSION_DEPTH)
                sessions = list(dict.fromkeys(item.session for item in found.items))
                row.best_turn_ranks = _plain(rank_evidence(question.sessions, sessions))
                if not way.without:
                    pooled = memory.recall_sessions(question.text, k=SESSIONS, lexical_only=way.lexical_only)
                    ranking = [one.name for one in pooled.sessions]
                    row.session_ranks = _plain(rank_evidence(question.sessions, ranking))
                if not self.settings.turns:
                    row.ms = took_ms
                    _note(row, found)
            rows.append(row)
        return rows


def load(memory: Any, haystack: Haystack) -> dict[str, str]:
    """Store every turn as a memory and embed them. Returns turn id -> memory id; equal turns share one."""
    receipts = memory.remember_batch(
        {
            "content": turn.content,
            "kind": turn.kind,
            "session": turn.session or None,
            "speaker": turn.speaker or None,
            "valid_from": turn.at,
            "metadata": {"turn": turn.id},
        }
        for turn in haystack.turns
    )
    rejected = [(turn.id, one.reason) for turn, one in zip(haystack.turns, receipts, strict=True) if one.id is None]
    if rejected:
        print(f"{haystack.name}: {len(rejected)} turns rejected, first {rejected[0]}", file=sys.stderr)
    report = memory.work()
    if report.remaining or report.failed:
        print(f"{haystack.name}: {report.failed} jobs failed, {report.remaining} remain", file=sys.stderr)
    return {turn.id: one.id or turn.id for turn, one in zip(haystack.turns, receipts, strict=True)}


def _recall(memory: Any, text: str, way: Way, k: int) -> tuple[Any, float]:
    options: dict[str, Any] = {"k": k, "without": way.without, "lexical_only": way.lexical_only}
    started = time.perf_counter()
    found = memory.recall(text, **options)
    return found, 1000 * (time.perf_counter() - started)


def _note(row: Row, found: Any) -> None:
    row.ms = round(row.ms, 3)
    row.found = len(found.items)
    row.missing = list(found.missing)
    row.top_score = round(found.items[0].score, 4) if found.items else None


def _plain(ranked: Ranked) -> list[int]:
    return [MISSING if rank is None else rank for rank in ranked.ranks]


def _ranked(ranks: Sequence[int]) -> Ranked:
    return Ranked(ranks=tuple(None if rank == MISSING else rank for rank in ranks))


# Scores

# How sessions were ranked -> where a row has their ranks. Only the first is a feature; baselines have the second alone.
BY_BEST_TURN = "session by its best turn"
SESSION_LINES = {"session": "session_ranks", BY_BEST_TURN: "best_turn_ranks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """How one data set sums up: its table lines over categories, and which questions count at session level."""

    lines: tuple[tuple[str, Callable[[Row], bool]], ...]
    session_line: Callable[[Row], bool]


def summarise(rows: Sequence[Row], groups: Groups, *, turns: bool, sessions: bool) -> dict[str, Any]:
    """All figures of one way of asking."""
    summary: dict[str, Any] = {}
    if turns:
        scored = [row for row in rows if row.turn_ranks]
        summary["turn"] = {
            name: hit_rates([_ranked(row.turn_ranks) for row in scored if counts(row)]) for name, counts in groups.lines
        }
    if sessions:
        for line, of in SESSION_LINES.items():
            scored = [row for row in rows if getattr(row, of) and groups.session_line(row)]
            if scored:
                summary[line] = _sessions(scored, of)
    no_answer = [row for row in rows if not row.answerable]
    answered = [row for row in rows if row.answerable]
    summary["no_answer"] = {
        "questions": len(no_answer),
        "nothing_returned": sum(row.found == 0 for row in no_answer),
        "mean_top_score": round(mean(row.top_score for row in no_answer if row.top_score is not None), 4),
        "mean_top_score_of_answerable": round(mean(row.top_score for row in answered if row.top_score is not None), 4),
    }
    summary["latency"] = {
        "pre_embedded": latency([row.ms for row in rows]),
        "with_query_embedding": latency([row.live_ms for row in rows if row.live_ms is not None]),
    }
    summary["signals_missing"] = {
        signal: sum(signal in row.missing for row in rows)
        for signal in sorted({one for row in rows for one in row.missing})
    }
    return summary


def _sessions(rows: Sequence[Row], of: str) -> dict[str, Any]:
    """Rates over questions, and their mean over stores."""
    by_haystack: dict[str, list[Ranked]] = {}
    for row in rows:
        by_haystack.setdefault(row.haystack, []).append(_ranked(getattr(row, of)))
    each = [hit_rates(ranked) for ranked in by_haystack.values()]
    return {
        "micro": hit_rates([one for ranked in by_haystack.values() for one in ranked]),
        "macro": {
            f"{what}@{k}": round(mean(one[f"{what}@{k}"] for one in each), 4)
            for what in ("any", "all")
            for k in CUTOFFS
        },
    }


def report(summaries: dict[str, dict[str, Any]]) -> str:
    """The first way in full, every other as one line."""
    first, *_ = summaries
    summary = summaries[first]
    parts = []
    if "turn" in summary:
        columns = [f"{what}@{k}" for what in ("any", "all") for k in CUTOFFS]
        parts.append(
            table(
                ["turn level, %", "n", *columns],
                [
                    [name, rates["questions"], *(percent(rates[column]) for column in columns)]
                    for name, rates in summary["turn"].items()
                    if rates["questions"]
                ],
            )
        )
    for line in SESSION_LINES:
        if line not in summary:
            continue
        columns = [f"{what}@{k}" for what in ("any", "all") for k in CUTOFFS]
        session = summary[line]
        parts.append(
            table(
                [f"{line} level, %", "n", *columns],
                [
                    [
                        "over questions",
                        session["micro"]["questions"],
                        *(percent(session["micro"][one]) for one in columns),
                    ],
                    ["mean of stores", None, *(percent(session["macro"][one]) for one in columns)],
                ],
            )
        )
    apart = summary["no_answer"]
    parts.append(
        f"without an answer: {apart['questions']} questions, {apart['nothing_returned']} returned nothing, "
        f"mean top score {apart['mean_top_score']:.3f} (answerable: {apart['mean_top_score_of_answerable']:.3f})"
    )
    plain, live = summary["latency"]["pre_embedded"], summary["latency"]["with_query_embedding"]
    parts.append(
        f"recall, query vector at hand: p50 {plain['p50_ms']:.1f} ms, p95 {plain['p95_ms']:.1f} ms (n={plain['n']}); "
        f"query embedded in it: p50 {live['p50_ms']:.1f} ms, p95 {live['p95_ms']:.1f} ms (n={live['n']})"
    )
    if summary["signals_missing"]:
        parts.append(f"signals missing, recalls: {summary['signals_missing']}")
    if len(summaries) > 1:
        parts.append(_ablation(summaries))
    return "\n\n".join(parts)


def _ablation(summaries: dict[str, dict[str, Any]]) -> str:
    lines = []
    for name, summary in summaries.items():
        turn = next(reversed(summary.get("turn", {"": None}).values()))
        session = summary.get(BY_BEST_TURN)  # what all ways have
        lines.append(
            [
                name,
                percent(turn["any@10"]) if turn else None,
                percent(turn["all@10"]) if turn else None,
                percent(session["macro"]["any@10"]) if session else None,
                percent(session["micro"]["all@5"]) if session else None,
                f"{summary['latency']['pre_embedded']['p50_ms']:.1f}",
            ]
        )
    columns = ["any@10", "all@10", "by best turn: session any@10", "all@5", "p50 ms"]
    return table(["signals", *columns], lines)


# The command line that both data sets share


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", metavar="FILE", help="the data set; without it this says where it is")
    parser.add_argument("--level", choices=("turn", "session", "both"), default="both", help="what is scored (both)")
    parser.add_argument("--json", metavar="OUT", help="write figures and raw rows here")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    parser.add_argument(
        "--without", action="append", choices=SIGNALS, default=[], help="switch a signal off; repeatable"
    )
    parser.add_argument("--lexical", action="store_true", help="words only")
    parser.add_argument("--ablate", action="store_true", help="also run with each signal switched off")
    parser.add_argument("--baselines", action="store_true", help="also plain BM25 and plain vectors, without limpet")
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER, help=f"name of the embedder ({DEFAULT_EMBEDDER})")
    parser.add_argument("--jobs", type=int, default=1, help="processes; latencies are only quiet with 1")
    parser.add_argument("--limit", type=int, help="only the first N stores")
    return parser


def main(
    name: str, options: argparse.Namespace, haystacks: Sequence[Haystack], groups: Groups, *, live: int
) -> dict[str, dict[str, Any]]:
    """Run, print, save. `live`: questions a store that are also timed with the query embedded in the recall."""
    base = Way(
        name="all signals" if not options.without and not options.lexical else "as asked",
        without=tuple(options.without),
        lexical_only=options.lexical,
    )
    ways = [base]
    if options.ablate:
        off = (signal for signal in SIGNALS if signal not in base.without)
        ways += [Way(name=f"- {one}", without=(*base.without, one)) for one in off]
        ways.append(Way(name="lexical alone", without=tuple(one for one in SIGNALS if one != "lexical")))
        ways.append(Way(name="vector alone", without=tuple(one for one in SIGNALS if one != "vector")))
    turns, sessions = options.level != "session", options.level != "turn"
    settings = Settings(
        embedder=options.embedder, ways=tuple(ways), sessions=sessions, turns=turns, live=live,
        baselines=options.baselines,
    )  # fmt: skip
    rows = run(haystacks[: options.limit], settings, jobs=options.jobs)
    summaries = {
        way.name: summarise([row for row in rows if row.way == way.name], groups, turns=turns, sessions=sessions)
        for way in [*ways, *(Way(name=name) for name in BASELINES if options.baselines)]
    }
    print(report(summaries))
    content = {
        "benchmark": name,
        "data": Path(options.data).name,
        "provenance": provenance(),
        "settings": asdict(settings) | {"jobs": options.jobs, "stores": len(haystacks[: options.limit])},
        "figures": summaries,
        "rows": [_row(row) for row in rows],
    }
    for path in save(name, content, out=options.json, keep=options.record):
        print(f"written: {path}", file=sys.stderr)
    return summaries


def _row(row: Row) -> dict[str, Any]:
    return {key: value for key, value in asdict(row).items() if value not in (None, [])}


def categories(names: Iterable[str]) -> tuple[tuple[str, Callable[[Row], bool]], ...]:
    """A table line for each category."""
    return tuple((name, lambda row, name=name: row.category == name) for name in names)
