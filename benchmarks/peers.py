"""limpet beside other local stores, in one run: the same rows, the same vectors, the same questions.

`--sizes` measures writing and hybrid recall at these sizes; `--data` (LoCoMo) measures what comes back. A peer whose
package is not installed is left out and named. How each is configured goes into the result.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import apsw
import numpy as np

import limpet

from . import embedding_cache, locomo
from .harness import hit_rates, latency, machine, provenance, rank_evidence, save, table
from .retrieval import Haystack, load
from .speed import DIMENSIONS, SEED, Given, Rows, make_rows

K = 10
SINGLES = 100  # rows written one by one after the load
RRF_K = 60
POOL = 50  # candidates a side, where a peer leaves fusion to its user


class Peer(Protocol):
    """What is measured of a store. Rows are named by their place; `open` is the constructor, given a folder.

    Of a store that another process filled, places are not known: it finds none, and takes as long.
    """

    def fill(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Store many rows, their vectors too, ready to be found."""

    def add(self, place: int, text: str, vector: np.ndarray) -> None:
        """Store one row durably."""

    def find(self, text: str, vector: np.ndarray, k: int) -> list[int]:
        """Places of the best rows."""

    def close(self) -> None: ...


class OfLimpet:
    """`limpet`: its defaults, vectors given by an embedder that looks them up."""

    def __init__(self, folder: Path) -> None:
        self.embedder = Given()
        self.memory = limpet.open(str(folder / "limpet.db"), scope="global", embedder=self.embedder)
        self.places: dict[str, int] = {}

    def fill(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        self.embedder.add(texts, vectors)
        for place, receipt in enumerate(self.memory.remember_batch({"content": text} for text in texts)):
            self.places.setdefault(receipt.id or "", place)
        self.memory.work(only_vectors=True)  # no peer looks for what was said twice

    def add(self, place: int, text: str, vector: np.ndarray) -> None:  # noqa: ARG002
        self.places[self.memory.remember(text).id or ""] = place

    def find(self, text: str, vector: np.ndarray, k: int) -> list[int]:
        self.embedder.embed_query = lambda _: vector  # type: ignore[method-assign]
        return [self.places[one.id] for one in self.memory.recall(text, k=k).items if one.id in self.places]

    def close(self) -> None:
        self.memory.close()


class OfLimpetWithModel(OfLimpet):
    """`limpet` with its own model in every write and recall, for peers that cannot leave theirs out."""

    def __init__(self, folder: Path) -> None:
        self.memory = limpet.open(str(folder / "limpet.db"), scope="global")
        self.places = {}

    def fill(self, texts: Sequence[str], vectors: np.ndarray) -> None:  # noqa: ARG002
        for place, receipt in enumerate(self.memory.remember_batch({"content": text} for text in texts)):
            self.places.setdefault(receipt.id or "", place)
        self.memory.work(only_vectors=True)

    def find(self, text: str, vector: np.ndarray, k: int) -> list[int]:  # noqa: ARG002
        return [self.places[one.id] for one in self.memory.recall(text, k=k).items if one.id in self.places]


class OfMemori:
    """`py-memori`: hybrid search with its defaults, vectors given."""

    def __init__(self, folder: Path) -> None:
        from memori import PyMemori

        self.store = PyMemori(str(folder / "memori.db"))
        self.places: dict[str, int] = {}

    def fill(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        for place, text in enumerate(texts):
            self.add(place, text, vectors[place])

    def add(self, place: int, text: str, vector: np.ndarray) -> None:
        self.places[self.store.insert(text, vector=vector.tolist(), no_embed=True)["id"]] = place

    def find(self, text: str, vector: np.ndarray, k: int) -> list[int]:
        found = self.store.search(vector=vector.tolist(), text=text, limit=k)
        return [self.places[one["id"]] for one in found if one["id"] in self.places]

    def close(self) -> None:
        del self.store


class OfSqlite:
    """FTS5 (porter, OR of the words) and a `vec0` table of sqlite-vec (exact cosine), their ranks fused (k = 60)."""

    vectors = words = True

    def __init__(self, folder: Path) -> None:
        self.connection = apsw.Connection(str(folder / "peer.db"))
        self.connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").fetchall()
        if self.vectors:
            import sqlite_vec

            self.connection.enable_load_extension(True)
            self.connection.load_extension(sqlite_vec.loadable_path())
            self.connection.execute(
                f"CREATE VIRTUAL TABLE near USING vec0(embedding float[{DIMENSIONS}] distance_metric=cosine)"
            )
        self.connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5(content, tokenize = 'porter unicode61 remove_diacritics 2')"
        )

    def fill(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        self.connection.execute("BEGIN")
        for place, text in enumerate(texts):
            self._insert(place, text, vectors[place])
        self.connection.execute("COMMIT")

    def add(self, place: int, text: str, vector: np.ndarray) -> None:
        self.connection.execute("BEGIN")
        self._insert(place, text, vector)
        self.connection.execute("COMMIT")

    def _insert(self, place: int, text: str, vector: np.ndarray) -> None:
        self.connection.execute("INSERT INTO words (rowid, content) VALUES (?, ?)", (place + 1, text))
        if self.vectors:
            self.connection.execute(
                "INSERT INTO near (rowid, embedding) VALUES (?, ?)", (place + 1, vector.astype(np.float32).tobytes())
            )

    def find(self, text: str, vector: np.ndarray, k: int) -> list[int]:
        pool = POOL if self.words and self.vectors else k
        ranked = []
        if self.words:
            asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text.lower())))
            ranked.append(
                self.connection.execute(
                    "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (asked, pool)
                ).fetchall()
            )
        if self.vectors:
            ranked.append(
                self.connection.execute(
                    "SELECT rowid FROM near WHERE embedding MATCH ? AND k = ? ORDER BY distance",
                    (vector.astype(np.float32).tobytes(), pool),
                ).fetchall()
            )
        return fuse(ranked)[:k]

    def close(self) -> None:
        self.connection.close()


class OfWords(OfSqlite):
    """FTS5 alone: porter, OR of the words, BM25."""

    vectors = False


class OfVectors(OfSqlite):
    """The `vec0` table of sqlite-vec alone: exact cosine."""

    words = False


class OfLance:
    """`lancedb`: one table, its own full-text index, a hybrid query with its default fusion, no vector index."""

    def __init__(self, folder: Path) -> None:
        import lancedb

        self.base = lancedb.connect(folder / "lance")
        self.table: Any = None

    def fill(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        import pyarrow as pa

        flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
        self.table = self.base.create_table(
            "peer",
            pa.table(
                {
                    "place": pa.array(range(len(texts)), pa.int64()),
                    "content": pa.array(list(texts), pa.string()),
                    "vector": pa.FixedSizeListArray.from_arrays(flat, DIMENSIONS),
                }
            ),
        )
        from lancedb.index import FTS

        self.table.create_index("content", config=FTS())

    def add(self, place: int, text: str, vector: np.ndarray) -> None:
        self.table.add([{"place": place, "content": text, "vector": vector.astype(np.float32)}])

    def find(self, text: str, vector: np.ndarray, k: int) -> list[int]:
        plain = " ".join(re.findall(r"\w+", text))
        asked = self.table.search(query_type="hybrid").vector(vector.astype(np.float32)).text(plain).limit(k)
        return [row["place"] for row in asked.to_list()]

    def close(self) -> None:
        del self.table, self.base


class OfPmb:
    """`pmb-ai` in an environment of its own (`--pmb PYTHON`): recall with its own model, which cannot be left out."""

    python = ""
    model = ""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [self.python, str(Path(__file__).with_name("peer_pmb.py")), str(folder / "pmb"), self.model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ask({"ready": True})

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the pmb process ended")
        return json.loads(line)

    def fill(self, texts: Sequence[str], vectors: np.ndarray) -> None:  # noqa: ARG002
        self._ask({"fill": list(texts)})

    def add(self, place: int, text: str, vector: np.ndarray) -> None:  # noqa: ARG002
        self._ask({"add": text, "place": place})

    def find(self, text: str, vector: np.ndarray, k: int) -> list[int]:  # noqa: ARG002
        found: list[int] = self._ask({"find": text, "k": k})
        return found

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)


PEERS: dict[str, Callable[[Path], Peer]] = {
    "limpet": OfLimpet,
    "py-memori": OfMemori,
    "sqlite-vec + FTS5": OfSqlite,
    "lancedb": OfLance,
    "FTS5 alone": OfWords,
    "sqlite-vec alone": OfVectors,
    "limpet with its model": OfLimpetWithModel,
    "pmb-ai": OfPmb,
}
# A store that calls its model for every row is not asked to hold more than this.
MOST_ROWS = {"pmb-ai": 2_000, "limpet with its model": 2_000}


def fuse(ranked: Sequence[Sequence[tuple[int]]]) -> list[int]:
    """Reciprocal rank fusion of row numbers; their places."""
    scores: dict[int, float] = {}
    for one in ranked:
        for rank, (number,) in enumerate(one, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (RRF_K + rank)
    return [number - 1 for number in sorted(scores, key=lambda number: (-scores[number], number))]


@contextmanager
def opened(make: Callable[[Path], Peer]) -> Iterator[Peer]:
    with tempfile.TemporaryDirectory(prefix="limpet-peers-") as name:
        peer = make(Path(name))
        try:
            yield peer
        finally:
            peer.close()


def measure_speed(make: Callable[[Path], Peer], rows: Rows) -> dict[str, Any]:
    """Rows a second, one recall, one durable write, bytes a memory of the closed store."""
    figures: dict[str, Any] = {}
    bulk = len(rows.texts) - SINGLES
    with tempfile.TemporaryDirectory(prefix="limpet-peers-") as name:
        folder = Path(name)
        peer = make(folder)
        started = time.perf_counter()
        peer.fill(rows.texts[:bulk], rows.vectors[:bulk])
        figures["rows_per_second"] = bulk / (time.perf_counter() - started)
        peer.find(rows.queries[0], rows.query_vectors[0], K)
        asked = zip(rows.queries, rows.query_vectors, strict=True)
        figures["recall"] = latency([_took(peer.find, text, vector, K) for text, vector in asked])
        singles = range(bulk, len(rows.texts))
        figures["write"] = latency([_took(peer.add, i, rows.texts[i], rows.vectors[i]) for i in singles])
        peer.close()
        figures["bytes_per_memory"] = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / len(rows.texts)
    return figures


def measure_quality(name: str, make: Callable[[Path], Peer], haystacks: Sequence[Haystack], embedder: Any) -> Any:
    """any@k and all@k over the questions of categories 1-4, turn level, the same vectors for all."""
    ranked = []
    for haystack in haystacks:
        questions = [one for one in haystack.questions if one.answerable and one.evidence]
        texts = [turn.content for turn in haystack.turns]
        asked = [(one, embedder.embed_query(one.text)) for one in questions]
        if name == "limpet":
            ranked += _ask_limpet(haystack, embedder)
            continue
        vectors = embedder.embed_passages(texts)
        with opened(make) as peer:
            peer.fill(texts, vectors)
            for question, vector in asked:
                found = [haystack.turns[place].id for place in peer.find(question.text, vector, 2 * K)]
                ranked.append(rank_evidence(question.evidence, found))
    embedder.save()
    return hit_rates(ranked)


def _ask_limpet(haystack: Haystack, embedder: Any) -> list[Any]:
    """limpet is given what it has room for: sessions, speakers, times. The others search nothing like it."""
    ranked = []
    with tempfile.TemporaryDirectory(prefix="limpet-peers-") as folder:
        path = str(Path(folder) / "memory.db")
        with limpet.open(path, scope="global", embedder=embedder, durable=False) as memory:
            stored = load(memory, haystack)
            for question in haystack.questions:
                if question.answerable and question.evidence:
                    wanted = dict.fromkeys(stored[turn] for turn in question.evidence)
                    found = [item.id for item in memory.recall(question.text, k=2 * K).items]
                    ranked.append(rank_evidence(wanted, found))
    return ranked


def _took(call: Callable[..., object], *arguments: object) -> float:
    started = time.perf_counter()
    call(*arguments)
    return 1000 * (time.perf_counter() - started)


def show_speed(size: int, figures: dict[str, Any]) -> str:
    ours = figures.get("limpet")
    return table(
        [f"{size:,} memories", "recall p50 ms", "p95 ms", "to limpet", "write p50 ms", "rows/s", "bytes a memory"],
        [
            (
                name,
                one["recall"]["p50_ms"],
                one["recall"]["p95_ms"],
                f"{one['recall']['p50_ms'] / ours['recall']['p50_ms']:.1f}x" if ours else None,
                one["write"]["p50_ms"],
                one["rows_per_second"],
                one["bytes_per_memory"],
            )
            for name, one in figures.items()
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10000", help="memories in the store, comma-separated; 0: no speed")
    parser.add_argument("--data", metavar="FILE", help="LoCoMo file: what comes back, too")
    parser.add_argument("--limit", type=int, help="only its first N conversations")
    parser.add_argument("--queries", type=int, default=100, help="queries a measure (100)")
    parser.add_argument("--only", help="peers, comma-separated (all that are installed)")
    parser.add_argument("--pmb", metavar="PYTHON", help="a Python that has pmb-ai installed")
    parser.add_argument("--pmb-model", metavar="DIR", default="", help="its embedding model as a folder")
    parser.add_argument("--name", default="peers", help="of the kept result (peers)")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    options = parser.parse_args()
    haystacks = locomo.read(options.data)[: options.limit] if options.data else []
    OfPmb.python, OfPmb.model = options.pmb or "", options.pmb_model
    wanted = options.only.split(",") if options.only else list(PEERS)
    if unknown := [name for name in wanted if name not in PEERS]:
        parser.error(f"--only: no such peer: {', '.join(unknown)}; there are {', '.join(PEERS)}")
    missing = [name for name in wanted if not _is_there(PEERS[name])]
    if missing:
        print(f"not installed, left out: {', '.join(missing)}", file=sys.stderr)
    wanted = [name for name in wanted if name not in missing]
    speed: dict[str, Any] = {}
    for size in [int(one) for one in options.sizes.split(",") if int(one)]:
        rows = make_rows(size, options.queries)
        speed[str(size)] = {
            name: measure_speed(PEERS[name], rows) for name in wanted if size <= MOST_ROWS.get(name, size)
        }
        print(show_speed(size, speed[str(size)]) + "\n")
    quality: dict[str, Any] = {}
    if haystacks:
        embedder = embedding_cache.load()
        asked = [name for name in wanted if name != "limpet with its model"]  # the same answers as limpet
        quality = {name: measure_quality(name, PEERS[name], haystacks, embedder) for name in asked}
        print(table(["LoCoMo, turn level", "any@5", "any@10", "all@10"], _quality_rows(quality)))
    print(machine())
    content = {
        "benchmark": "peers",
        "provenance": provenance(),
        "configured": {name: " ".join((PEERS[name].__doc__ or "").split()) for name in wanted},
        "seed": SEED,
        "speed": speed,
        "quality": quality,
    }
    for path in save(options.name, content, out=options.json, keep=options.record):
        print(f"written: {path}", file=sys.stderr)


def _quality_rows(quality: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [
        (name, *(f"{100 * one[figure]:.1f}" for figure in ("any@5", "any@10", "all@10")))
        for name, one in quality.items()
    ]


def _is_there(make: Callable[[Path], Peer]) -> bool:
    if make is OfPmb:
        return bool(OfPmb.python)
    try:
        with opened(make):
            return True
    except ImportError:
        return False


if __name__ == "__main__":
    main()
