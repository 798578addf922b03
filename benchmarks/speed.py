"""How fast: writes, recalls, listings, cold processes, and how many bytes a memory takes.

Rows are sentences of the written stores (training/written) in any order, their vectors synthetic and given to both
sides, so that no model's time is in any figure. With `--peer memori` the installed py-memori does the same work on the
same rows in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import numpy as np

import limpet

from . import checks
from .harness import latency, machine, provenance, save, table

SEED = 20260101
DIMENSIONS = 384
CLUSTERS = 256
TOPICS = 60
TURNS_A_SESSION = 40
SINGLES = 300  # rows written one by one at the end of a load
COLD_RUNS = 15
KINDS = ("fact", "episode", "decision", "lesson", "preference")
PAGE = 50
K = 10
DEADLINE_MS = 20.0
MOST_CHECKED = 1_000
# The peer compares every row with every query, close to a second at 100,000: larger stores are measured without it.
MOST_OF_PEER = 100_000


class Given:
    """The embedder of this benchmark: a look-up of vectors made beforehand."""

    name = "synthetic"
    fingerprint = f"synthetic-{DIMENSIONS}-{SEED}"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._vectors = np.zeros((0, DIMENSIONS), dtype=np.float32)

    def add(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        for text in texts:
            self._places[text] = len(self._places)
        self._vectors = np.concatenate([self._vectors, vectors])

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Texts that were not made here (a warm-up) get a vector by their checksum. Topics follow in brackets."""
        places = self._places
        named = [places.get(text, places.get(text.rpartition(" (")[0])) for text in texts]
        numbers = (zlib.crc32(text.encode()) % len(self._vectors) for text in texts)
        return self._vectors[[other if place is None else place for place, other in zip(named, numbers, strict=True)]]

    def embed_query(self, text: str) -> np.ndarray:
        return self.embed_passages([text])[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What both sides are given."""

    texts: list[str]
    kinds: list[str]
    topics: list[str]
    vectors: np.ndarray  # unit length, float32
    queries: list[str]
    query_vectors: np.ndarray


def make_rows(count: int, queries: int, *, words_each: int | None = None) -> Rows:
    """Seeded: the same rows on every machine. `words_each`: of every row; 8 to 60 when not said."""
    rng = np.random.default_rng(SEED)
    sentences = _sentences()
    spoken = [word for sentence in sentences for word in sentence]
    frequency = Counter(spoken)
    lengths = rng.integers(8, 61, size=count) if words_each is None else np.full(count, words_each)
    rows = []
    for length in lengths.tolist():
        row: list[str] = []
        while len(row) < length:
            row += sentences[rng.integers(len(sentences))]
        rows.append(row[:length])
    centres = _unit(rng.standard_normal((CLUSTERS, DIMENSIONS), dtype=np.float32))
    vectors = centres[rng.integers(0, CLUSTERS, size=count)]
    vectors += rng.standard_normal((count, DIMENSIONS), dtype=np.float32) * (0.9 / DIMENSIONS**0.5)
    vectors = _unit(vectors)
    about = rng.integers(0, count, size=queries)
    asked = []
    for place in about:
        # Three of the row's rarer words and four drawn from the language: a question about it.
        rare = sorted(set(rows[place]), key=lambda word: (-frequency[word], word))[-4:-1]
        asked.append(
            " ".join(rng.permutation([*rare, *(spoken[drawn] for drawn in rng.integers(len(spoken), size=4))]))
        )
    near = vectors[about] + rng.standard_normal((queries, DIMENSIONS), dtype=np.float32) * (0.5 / DIMENSIONS**0.5)
    return Rows(
        texts=[" ".join(row) for row in rows],
        kinds=[KINDS[place] for place in rng.integers(0, len(KINDS), size=count)],
        topics=[f"topic{place}" for place in np.minimum(rng.geometric(0.06, size=count), TOPICS)],
        vectors=vectors,
        queries=asked,
        query_vectors=_unit(near),
    )


def _sentences() -> list[list[str]]:
    """Return the words of each English sentence in the written stores: a row of invented ones looks like a password."""
    sentences: dict[str, None] = {}
    for path in sorted((Path(__file__).parents[1] / "training" / "written").glob("*.jsonl")):
        for store in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if store["language"] == "en":
                for memory in store["memories"]:
                    sentences.update(dict.fromkeys(re.split(r"(?<=[.!?])\s+", memory["text"])))
    return [words for words in map(str.split, sentences) if len(words) > 3]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


# limpet


def measure_limpet(rows: Rows, folder: Path) -> dict[str, Any]:
    """Figures by name: milliseconds as {"n", "p50_ms", "p95_ms"}, rates a second, bytes."""
    figures: dict[str, Any] = {}
    embedder = Given()
    embedder.add(rows.texts, rows.vectors)
    embedder.add(rows.queries, rows.query_vectors)
    path = folder / "memory.db"
    bulk = len(rows.texts) - SINGLES
    with limpet.open(str(path), scope="global", embedder=embedder) as memory:
        with _timed() as took:
            receipts = memory.remember_batch(items(rows, range(bulk)))
        figures["batch_rows_per_second"] = bulk / took()
        with _timed() as worked:
            memory.work(only_vectors=True)
        figures["vectors_per_second"] = bulk / worked()
        # Reading relations is work that the peer does not do: measured apart, where it ends in time.
        if bulk <= MOST_CHECKED:
            with _timed() as checked:
                memory.work()
            figures["duplicate_checks_per_second"] = bulk / checked()
        figures["batch_with_vectors_rows_per_second"] = bulk / (took() + worked())
        singles = range(bulk, len(rows.texts))
        calls = [lambda item=item: memory.remember(item.pop("content"), **item) for item in items(rows, singles)]
        # By turns, so that both meet the same disk: what any durable insert costs here.
        with _bare(rows, bulk, folder) as bare:
            taken = [_each([bare(place), call]) for place, call in zip(singles, calls, strict=True)]
        figures["bare_insert"] = latency([both[0] for both in taken])
        figures["single_write"] = latency([both[1] for both in taken])
        memory.work(only_vectors=True)
        with _timed() as took:
            checks.warm(memory)
        figures["read_ahead_ms"] = 1000 * took()
        figures["hybrid"] = latency(_each([lambda q=q: memory.recall(q, k=K) for q in rows.queries]))
        figures["prepare"] = latency(_each([lambda q=q: memory.prepare(q) for q in rows.queries]))
        figures["prepare_lexical"] = latency(
            _each([lambda q=q: memory.prepare(q, lexical_only=True) for q in rows.queries])
        )
        figures["lexical"] = latency(
            _each([lambda q=q: memory.recall(q, k=K, lexical_only=True) for q in rows.queries])
        )
        figures["filtered"] = latency(
            _each(
                [
                    lambda q=q, n=n: memory.recall(q, k=K, kind=(KINDS[n % len(KINDS)],), topics=(f"topic{1 + n % 5}",))
                    for n, q in enumerate(rows.queries)
                ]
            )
        )
        figures["hurried"] = latency(
            _each([lambda q=q: memory.recall(q, k=K, deadline_ms=DEADLINE_MS) for q in rows.queries])
        )
        figures["list_page"] = latency(_each([lambda: memory.list(limit=PAGE)] * 50))
        cursor = memory.list(limit=PAGE).cursor
        figures["list_next_page"] = latency(_each([lambda: memory.list(limit=PAGE, cursor=cursor)] * 50))
        prefixes = memory.abbreviate([receipt.id for receipt in receipts[:: max(1, bulk // 200)]])
        figures["show_by_prefix"] = latency(_each([lambda p=p: memory.get(p) for p in prefixes]))
        figures["lexical_results"] = _mean_found(
            len(memory.recall(q, k=K, lexical_only=True).items) for q in rows.queries
        )
        first = rows.queries[0]
        figures["missing"] = list(memory.recall(first, k=K).missing)
        figures["vector_recall"] = checks.vector_recall(
            memory, rows.texts, rows.vectors, rows.queries, rows.query_vectors
        )
        figures["index_recall"] = checks.index_recall(memory, rows.texts, rows.vectors, rows.query_vectors)
        figures["different_answers"] = checks.different_answers(memory, rows.queries)
        figures["refresh"] = checks.refresh(memory, path, embedder, rows.queries)
    with limpet.open(str(path), scope="global", embedder=embedder) as memory, _timed() as took:
        memory.recall(first, k=K)
    figures["first_recall_after_open_ms"] = 1000 * took()
    figures["bytes_per_memory"] = size_of(path) / len(rows.texts)
    figures["beside_embedding"] = checks.beside_embedding(folder, rows.texts, rows.queries)
    figures["memory"] = checks.resident(path, embedder, rows.queries, rows.query_vectors)
    return figures


@contextmanager
def _bare(rows: Rows, bulk: int, folder: Path) -> Iterator[Callable[[int], Callable[[], object]]]:
    """A table of SQLite that holds the same rows, with the pragmas of the store and nothing to find them by but an id.

    Gives a function: place -> the call that inserts the row of that place, durably.
    """
    columns = "id, content, kind, topics, session, speaker, at"
    insert = f"INSERT INTO bare ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)"

    def row(place: int) -> tuple[object, ...]:
        (item,) = items(rows, range(place, place + 1))
        id = uuid.UUID(int=(place << 64) + 1).bytes
        return (id, item["content"], item["kind"], item["topics"][0], item["session"], item["speaker"], place)

    connection = apsw.Connection(str(folder / "bare.db"))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute(
        "PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; PRAGMA cache_size=-32000; PRAGMA mmap_size=268435456"
    ).fetchall()
    connection.execute(f"CREATE TABLE bare (num INTEGER PRIMARY KEY, {columns}, UNIQUE (id))")
    with connection:
        connection.executemany(insert, (row(place) for place in range(bulk)))

    def inserting(place: int) -> Callable[[], object]:
        values = row(place)
        return lambda: connection.execute(insert, values)

    try:
        yield inserting
    finally:
        connection.close()


def items(rows: Rows, places: range) -> Iterator[dict[str, Any]]:
    """What `remember` is told of some rows."""
    for place in places:
        yield {
            "content": rows.texts[place],
            "kind": rows.kinds[place],
            "topics": [rows.topics[place]],
            "session": f"session-{place // TURNS_A_SESSION}",
            "speaker": "user" if place % 2 else "agent",
        }


def measure_cold(folder: Path, word: str) -> dict[str, Any]:
    """Whole processes, by turns with `python -c pass`; medians and their ratio to it."""
    beside = Path(sys.executable).with_name("limpet")
    limpet_command = [str(beside)] if beside.exists() else [sys.executable, "-m", "limpet"]
    store = ["--store", str(folder / "memory.db"), "--scope", "global"]
    commands = {
        "python": lambda _: [sys.executable, "-c", "pass"],
        "recall": lambda _: [*limpet_command, *store, "recall", "--lexical", word],
        "prepare": lambda _: [*limpet_command, *store, "prepare", "--lexical", word],
        "remember": lambda n: [*limpet_command, *store, "remember", f"cold process number {n} of {time.time_ns()}"],
    }
    environment = os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(COLD_RUNS + 1):  # the first round warms the page cache
        for name, command in commands.items():
            with _timed() as took:
                done = subprocess.run(command(number), env=environment, capture_output=True, check=False)
            # 1: the word was not found, which is an answer.
            if done.returncode not in (0, 1):
                raise SystemExit(f"{name} failed: {done.stderr.decode()[:500]}")
            if number:
                taken[name].append(1000 * took())
    medians = {name: statistics.median(values) for name, values in taken.items()}
    return {
        "python_ms": medians["python"],
        "recall_lexical_ms": medians["recall"],
        "prepare_lexical_ms": medians["prepare"],
        "remember_ms": medians["remember"],
        "recall_lexical_ratio": medians["recall"] / medians["python"],
        "prepare_lexical_ratio": medians["prepare"] / medians["python"],
        "remember_ratio": medians["remember"] / medians["python"],
    }


# The peer


def measure_memori(rows: Rows, folder: Path) -> dict[str, Any]:
    """The same work by py-memori: it has no batch, so every row is a single insert, its vector given."""
    from memori import PyMemori

    figures: dict[str, Any] = {}
    path = folder / "memori.db"
    peer = PyMemori(str(path))
    taken: list[float] = []
    ids: list[str] = []
    for place, text in enumerate(rows.texts):
        vector = rows.vectors[place].tolist()
        metadata = {"type": rows.kinds[place], "topic": rows.topics[place]}
        started = time.perf_counter()
        inserted = peer.insert(text, vector=vector, metadata=metadata, no_embed=True)
        taken.append(1000 * (time.perf_counter() - started))
        ids.append(inserted["id"])
    figures["batch_with_vectors_rows_per_second"] = 1000 * len(taken) / sum(taken)
    figures["single_write"] = latency(taken[-SINGLES:])
    asked = list(zip(rows.queries, (vector.tolist() for vector in rows.query_vectors), strict=True))
    peer.search(vector=asked[0][1], text="warming up", limit=K)
    figures["hybrid"] = latency(_each([lambda q=q, v=v: peer.search(vector=v, text=q, limit=K) for q, v in asked]))
    figures["lexical"] = latency(_each([lambda q=q: peer.search(text=q, text_only=True, limit=K) for q, _ in asked]))
    figures["lexical_results"] = _mean_found(len(peer.search(text=q, text_only=True, limit=K)) for q, _ in asked)
    figures["filtered"] = latency(
        _each(
            [
                lambda q=q, v=v, n=n: peer.search(
                    vector=v,
                    text=q,
                    filter={"type": KINDS[n % len(KINDS)], "topic": f"topic{1 + n % 5}"},
                    limit=K,
                )
                for n, (q, v) in enumerate(asked)
            ]
        )
    )
    figures["list_page"] = latency(_each([lambda: peer.list(limit=PAGE)] * 50))
    figures["list_next_page"] = latency(_each([lambda: peer.list(limit=PAGE, offset=PAGE)] * 50))
    figures["show_by_prefix"] = latency(
        _each([lambda i=i: peer.get_readonly(i[:13]) for i in ids[:: max(1, len(ids) // 200)]])
    )
    with _timed() as took:
        PyMemori(str(path)).search(vector=asked[0][1], text=asked[0][0], limit=K)
    figures["first_recall_after_open_ms"] = 1000 * took()
    figures["bytes_per_memory"] = size_of(path) / len(rows.texts)
    return figures


# Shared


@contextmanager
def _timed() -> Iterator[Callable[[], float]]:
    """Gives a function that answers with the block's seconds once it is over."""
    started = time.perf_counter()
    ended: list[float] = []
    yield lambda: ended[0] - started
    ended.append(time.perf_counter())


def _each(calls: Sequence[Callable[[], object]]) -> list[float]:
    taken = []
    for call in calls:
        started = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - started))
    return taken


def _mean_found(counts: Iterable[int]) -> float:
    """Results a query: a search for all words at once is quick because it finds nothing."""
    return statistics.mean(counts)


def size_of(path: Path) -> int:
    """Bytes of a store's file, its log included."""
    return sum(part.stat().st_size for part in path.parent.glob(path.name + "*"))


LINES = (
    ("durable single write, p50 ms", "single_write", "less"),
    ("... a bare SQLite insert of the row", "bare_insert", "less"),
    ("batch import, rows/s", "batch_rows_per_second", "more"),
    ("... its vectors stored too, rows/s", "batch_with_vectors_rows_per_second", "more"),
    ("vectors stored, rows/s", "vectors_per_second", "more"),
    ("duplicate checks, rows/s", "duplicate_checks_per_second", "more"),
    ("hybrid recall", "hybrid", "less"),
    ("prepare, hybrid", "prepare", "less"),
    ("prepare, words only", "prepare_lexical", "less"),
    ("lexical recall", "lexical", "less"),
    ("... results it gives, of 10", "lexical_results", "more"),
    ("recall, kind + topic", "filtered", "less"),
    (f"hybrid recall, {DEADLINE_MS:.0f} ms deadline", "hurried", "less"),
    ("first recall after open, ms", "first_recall_after_open_ms", "less"),
    (f"list, page of {PAGE}", "list_page", "less"),
    ("list, next page", "list_next_page", "less"),
    ("show by id prefix", "show_by_prefix", "less"),
    ("bytes a memory", "bytes_per_memory", "less"),
)


def comparison(size: int, ours: dict[str, Any], theirs: dict[str, Any] | None) -> str:
    """Ours, theirs, and how many times better ours is (below 1: worse)."""
    lines = []
    for label, name, better in LINES:
        if name not in ours:
            continue
        if isinstance(ours[name], dict):
            write = name in ("single_write", "bare_insert")
            for point in ("p50_ms",) if write else ("p50_ms", "p95_ms"):
                shown = label if write else f"{label}, {point[:3]} ms"
                other = theirs[name][point] if theirs and name in theirs else None
                lines.append([shown, ours[name][point], other, _times(ours[name][point], other, better)])
        else:
            other = theirs.get(name) if theirs else None
            if name == "batch_rows_per_second" and theirs:
                other = theirs["batch_with_vectors_rows_per_second"]
            lines.append([label, ours[name], other, _times(ours[name], other, better)])
    header = [f"{size:,} memories", "limpet", *(["memori", "times better"] if theirs else [])]
    return table(header, [line[: len(header)] for line in lines])


def _times(ours: float, theirs: float | None, better: str) -> str | None:
    if not theirs or not ours:
        return None
    return f"{theirs / ours if better == 'less' else ours / theirs:.1f}x"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1000,10000", help="memories in the store, comma-separated (1000,10000)")
    parser.add_argument("--peer", choices=("memori",), help="also measure this installed package on the same rows")
    parser.add_argument("--queries", type=int, default=200, help="queries a measure (200)")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    parser.add_argument("--name", default="speed", help="of the kept result (speed)")
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    for size in [int(one) for one in options.sizes.split(",")]:
        if size <= SINGLES:
            parser.error(f"--sizes: more than {SINGLES}, please")
        # The peer takes close to a second a query at 100,000 rows.
        rows = make_rows(size, options.queries if size <= 20_000 else min(options.queries, 60))
        with tempfile.TemporaryDirectory(prefix="limpet-speed-") as name:
            folder = Path(name)
            ours = measure_limpet(rows, folder)
            theirs = measure_memori(rows, folder) if options.peer and size <= MOST_OF_PEER else None
            print(comparison(size, ours, theirs))
            nearest, room, index = ours["vector_recall"], ours["memory"], ours["index_recall"]
            beside = ours["beside_embedding"]
            print(
                f"of the exact ten nearest: {100 * nearest['mean']:.2f} %, worst query {100 * nearest['worst']:.0f} %; "
                f"by the index alone {100 * index['mean']:.2f} %, worst {100 * index['worst']:.0f} %; "
                f"recall p95 beside embedding {beside['busy_p95_ms']:.0f} ms, {beside['ratio']:.1f}x of idle; "
                f"different answers in {checks.REPEATS} recalls: {ours['different_answers']}; "
                f"after another's write: {ours['refresh']['refresh_p50_ms']:.1f} ms; "
                f"resident {room['resident_mb']:.0f} MB, of the file mapped {room['mapped_mb']:.0f} MB"
            )
            if ours["missing"]:
                print(f"signals missing: {', '.join(ours['missing'])}")
            cold = measure_cold(folder, rows.queries[0].split()[0])
        print(
            f"cold process: python -c pass {cold['python_ms']:.0f} ms, "
            f"recall --lexical {cold['recall_lexical_ms']:.0f} ms ({cold['recall_lexical_ratio']:.1f}x), "
            f"prepare --lexical {cold['prepare_lexical_ms']:.0f} ms ({cold['prepare_lexical_ratio']:.1f}x), "
            f"remember {cold['remember_ms']:.0f} ms ({cold['remember_ratio']:.1f}x)\n"
        )
        figures[str(size)] = {"limpet": ours, "memori": theirs, "cold": cold}
    print(f"{machine()}, load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else machine())
    content = {"benchmark": "speed", "provenance": provenance(), "figures": figures}
    for path in save(options.name, content, out=options.json, keep=options.record):
        print(f"written: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
