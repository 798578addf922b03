"""A store on a server, as a team has it: copies and kills, recalls beside a file, writes beside pgbench, many tenants.

    python -m benchmarks.team --part copy,recall --file STORE --questions FILE
    python -m benchmarks.team --part writes
    python -m benchmarks.team --part tenants --rows 10000,100000,1000000,2000000 --rate 20

The server runs for it and waits for its disk (`fsync`), on the same machine as its clients. STORE is a file of limpet
with vectors; what stands for its embedder takes no time, so that no model's is in any figure.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import limpet
from limpet.model.dataclass import replace
from limpet.store import open_store
from limpet.text.describe import describe
from tests.postgres_server import Server, as_nobody, furnish, program

from .checks import status_of, warm
from .harness import latency, percentile, provenance, save
from .speed import Given, Rows, items, make_rows
from .turns import BLOCK, Checksums

PROCESSES = multiprocessing.get_context("spawn")  # a child of a fork can use no store
K = 10
CLIENTS, OF_A_TENANT, TEMPLATES = 16, 5_000, 2
WRITERS, WRITES = 8, 250
DURABLE = {
    "fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "autovacuum": "on", "shared_buffers": "1GB",
    "max_connections": "600", "max_wal_size": "4GB",
}  # fmt: skip


# -- copy


def ledger(store: str) -> tuple[int, str]:
    """How many events, and the SHA-256 of all that they say."""
    opened = open_store(store, describe, read_only="://" not in store)
    whole, count = sha256(), 0
    for event in opened.ledger.events():
        whole.update(repr(asdict(replace(event, seq=0))).encode())
        count += 1
    opened.close()
    return count, whole.hexdigest()


def copying(source: str, target: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "limpet", "copy", source, target]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def copied(source: str, target: str) -> float:
    """Seconds."""
    began = time.perf_counter()
    process = copying(source, target)
    _, said = process.communicate()
    if process.returncode:
        raise SystemExit(said.decode())
    return time.perf_counter() - began


def killed(source: str, target: str, whole: float, kills: int) -> list[int]:
    """Copies that are killed somewhere, and the last one goes to its end. Events that were there after each kill."""
    chosen, there = random.Random(kills), []
    for _ in range(kills):
        process = copying(source, target)
        time.sleep(chosen.uniform(0.05, 1.0) * whole)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        try:
            there.append(ledger(target)[0])
        except limpet.LimpetError:
            there.append(0)  # killed before there was a store
    copied(source, target)
    return there


def measure_copy(file: str, url: str, folder: Path, kills: int) -> dict[str, Any]:
    back = str(folder / "back.db")
    events, digest = ledger(file)
    there, returned = copied(file, f"{url}&tenant=whole"), copied(f"{url}&tenant=whole", back)
    found = {
        "events": events,
        "into_postgres": {"seconds": round(there, 1), "events_a_second": round(events / there)},
        "into_sqlite": {"seconds": round(returned, 1), "events_a_second": round(events / returned)},
        "ledgers_equal": ledger(f"{url}&tenant=whole") == ledger(back) == (events, digest),
        "problems": [*verified(f"{url}&tenant=whole"), *verified(back)],
    }
    if kills:
        cut, again = f"{url}&tenant=cut", str(folder / "cut.db")
        found["kills"] = {
            "events_after_each_into_postgres": killed(file, cut, there, kills),
            "events_after_each_into_sqlite": killed(cut, again, returned, kills),
            "ledgers_equal": ledger(cut) == ledger(again) == (events, digest),
            "problems": [*verified(cut), *verified(again)],
        }
    return found


def verified(store: str) -> list[str]:
    with limpet.open(store, scope="global") as memory:
        return [str(one) for one in memory.verify()]


# -- recall


def measure_recall(file: str, copy: str, questions: list[str], rounds: int = 3) -> dict[str, Any]:
    """By turns, a block of questions at a time, in one process; the milliseconds of all rounds. The first recalls,
    while the process still reads ahead, stand apart."""
    embedder = Checksums.of(file)
    with (
        limpet.open(file, scope="global", embedder=embedder, read_only=True) as one,
        limpet.open(copy, scope="global", embedder=embedder) as other,
    ):
        ready = {}
        for name, memory in (("file", one), ("server", other)):
            began = time.perf_counter()
            for text in questions[: 2 * BLOCK]:
                memory.recall(text, k=K)
            ready[name] = round(time.perf_counter() - began, 1)
            warm(memory)
        took: dict[str, list[float]] = {"file": [], "server": []}
        answers: dict[str, list[Any]] = {"file": [], "server": []}
        for turn in range(rounds):
            for first in range(0, len(questions), BLOCK):
                both = [("file", one), ("server", other)]
                for name, memory in both if (turn + first // BLOCK) % 2 else reversed(both):
                    for text in questions[first : first + BLOCK]:
                        began = time.perf_counter()
                        answer = memory.recall(text, k=K)
                        took[name].append((time.perf_counter() - began) * 1000)
                        answers[name].append([(item.id, item.score) for item in answer.items])
    pairs = list(zip(*answers.values(), strict=True))
    figures = {name: latency(values) for name, values in took.items()}
    return {
        "questions": len(questions),
        "first_recalls_seconds": ready,
        "figures": figures,
        "ratio_p50": round(figures["server"]["p50_ms"] / figures["file"]["p50_ms"], 3),
        "ratio_p95": round(figures["server"]["p95_ms"] / figures["file"]["p95_ms"], 3),
        "same_ranking": sum([id for id, _ in mine] == [id for id, _ in theirs] for mine, theirs in pairs),
        "same_scores": sum(mine == theirs for mine, theirs in pairs),
        "asked": len(pairs),
    }


# -- writes


def write(number: int, url: str, told: list[dict[str, Any]], start: Any, done: Any) -> None:
    with limpet.open(url, scope="global") as memory:
        memory.remember(f"writer {number} is here")
        start.wait()
        times = []
        for item in told:
            began = time.perf_counter()
            memory.remember(item.pop("content"), **item)
            times.append((time.perf_counter() - began) * 1000)
        done.put(times)


def writes(urls: list[str], rows: Rows) -> dict[str, Any]:
    """Writers at once, a process each, that write one by one and wait for the disk."""
    start, done = PROCESSES.Barrier(len(urls) + 1), PROCESSES.Queue()
    told = [list(items(rows, range(place, place + WRITES))) for place in range(0, len(urls) * WRITES, WRITES)]
    several = [
        PROCESSES.Process(target=write, args=(number, url, told[number], start, done))
        for number, url in enumerate(urls)
    ]
    for one in several:
        one.start()
    start.wait()
    began = time.perf_counter()
    times = [took for _ in several for took in done.get()]
    seconds = time.perf_counter() - began
    for one in several:
        one.join()
    return {"tps": round(len(times) / seconds, 1), **latency(times)}


def pgbench(server: Server, *words: str, script: str | None = None, seconds: int = 10) -> float:
    """Transactions a second of as many clients, without the time of connecting."""
    if script is not None:
        (server.folder / "script").write_text(script)
        words = (*words, "-f", str(server.folder / "script"))
    options = ["-h", str(server.folder), "-U", "postgres", "-n", "-c", str(WRITERS), "-j", "2", "-T", str(seconds)]
    done = subprocess.run(
        [program("pgbench"), *options, *words, "postgres"], check=True, capture_output=True, text=True,
        cwd=server.folder, **as_nobody(),
    )  # fmt: skip
    return float(re.search(r"tps = ([\d.]+)", done.stdout)[1])


def tuples(server: Server) -> int:
    """Rows written by limpet so far."""
    server.say("SELECT pg_stat_force_next_flush()")
    time.sleep(1)
    ((count,),) = server.say(
        "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables WHERE schemaname = 'limpet_rows'",
        database="limpet",
    )
    return int(count)


def measure_writes(server: Server, url: str) -> dict[str, Any]:
    rows = make_rows(WRITERS * WRITES, 1)
    for number in range(WRITERS):
        limpet.open(f"{url}&tenant=writer-{number}", scope="global").close()
    before = tuples(server)
    several = writes([f"{url}&tenant=writer-{number}" for number in range(WRITERS)], rows)
    each = (tuples(server) - before) / (WRITERS * (WRITES + 1))
    one = writes([f"{url}&tenant=together"] * WRITERS, rows)
    server.say(
        "CREATE SEQUENCE bench_row",
        'CREATE TABLE bench (num bigint PRIMARY KEY, client int NOT NULL, content text COLLATE "C" NOT NULL)',
    )
    row = "nextval('bench_row'), :client_id, repeat('a row of words ', 4)"
    together = f"BEGIN;\nINSERT INTO bench SELECT {row} FROM generate_series(1, {round(each)});\nCOMMIT;\n"
    single = "BEGIN;\n" + f"INSERT INTO bench SELECT {row};\n" * round(each) + "COMMIT;\n"
    subprocess.run(
        [program("pgbench"), "-h", str(server.folder), "-U", "postgres", "-i", "-q", "-s", "10", "postgres"],
        check=True, capture_output=True, cwd=server.folder, **as_nobody(),
    )  # fmt: skip
    tps = {
        "as_many_rows_one_statement": pgbench(server, script=together),
        "as_many_rows_a_statement_each": pgbench(server, script=single),
        "one_row": pgbench(server, script=f"INSERT INTO bench SELECT {row};\n"),
        "tpcb_like": pgbench(server),
    }
    return {
        "clients": WRITERS,
        "rows_of_a_write": round(each, 1),
        "eight_tenants": several,
        "one_tenant": one,
        "pgbench_tps": {name: round(value) for name, value in tps.items()},
        "ratio_eight_tenants": {name: round(several["tps"] / value, 3) for name, value in tps.items()},
        "ratio_one_tenant": {name: round(one["tps"] / value, 3) for name, value in tps.items()},
    }


# -- tenants


@functools.cache
def given() -> tuple[Given, Rows]:
    rows = make_rows(TEMPLATES * OF_A_TENANT, 500, words_each=16)
    embedder = Given()
    embedder.add(rows.texts, rows.vectors)
    embedder.add(rows.queries, rows.query_vectors)
    return embedder, rows


def make_templates(url: str) -> None:
    """By limpet itself: what all other tenants are copies of."""
    embedder, rows = given()
    for number in range(TEMPLATES):
        with limpet.open(f"{url}&tenant=template-{number}", scope="global", embedder=embedder, durable=False) as memory:
            memory.remember_batch(items(rows, range(number * OF_A_TENANT, (number + 1) * OF_A_TENANT)))
            memory.work(only_vectors=True)


def make_tenants(server: Server, first: int, last: int) -> None:
    """Rows of templates as those of other tenants, by SQL: each tenant has its own."""
    tables = server.say(
        "SELECT table_name, string_agg(quote_ident(column_name), ', ') FROM information_schema.columns"
        " WHERE table_schema = 'limpet_rows' AND column_name <> 'tenant' AND table_name <> 'schema_version'"
        " GROUP BY table_name",
        database="limpet",
    )
    for number in range(first, last):
        server.say(
            "SET synchronous_commit = off",
            *(
                f"INSERT INTO limpet_rows.{name} (tenant, {columns}) SELECT 'team-{number}', {columns}"
                f" FROM limpet_rows.{name} WHERE tenant = 'template-{number % TEMPLATES}'"
                for name, columns in tables
            ),
            database="limpet",
        )
        print(f"\rtenant {number + 1} of {last}", end="", file=sys.stderr, flush=True)


def ask_in_time(client: int, url: str, tenants: int, rate: float, seconds: float, start: Any, done: Any) -> None:
    """A client of the open loop: requests come at random times, whether the one before was answered or not."""
    embedder, rows = given()
    chosen = random.Random(client)
    mine = {
        number: limpet.open(f"{url}&tenant=team-{number}", scope="global", embedder=embedder)
        for number in range(client, tenants, CLIENTS)
    }
    for memory in mine.values():
        warm(memory)
    start.wait()
    due, end, times = time.monotonic(), time.monotonic() + seconds, []
    while mine and (due := due + chosen.expovariate(rate / CLIENTS)) < end:
        time.sleep(max(0.0, due - time.monotonic()))
        memory = mine[chosen.choice(list(mine))]
        memory.recall(chosen.choice(rows.queries), k=K)
        times.append((time.monotonic() - due) * 1000)
    done.put((times, status_of()["RssAnon"]))
    for memory in mine.values():
        memory.close()


def open_loop(url: str, tenants: int, rate: float, seconds: float) -> dict[str, Any]:
    start, done = PROCESSES.Barrier(CLIENTS + 1), PROCESSES.Queue()
    several = [
        PROCESSES.Process(target=ask_in_time, args=(client, url, tenants, rate, seconds, start, done))
        for client in range(CLIENTS)
    ]
    given()
    began = time.perf_counter()
    for one in several:
        one.start()
    start.wait()
    ready = time.perf_counter() - began
    load = os.getloadavg()[0]
    found = [done.get() for _ in several]
    for one in several:
        one.join()
    times = [took for one, _ in found for took in one]
    return {
        "rows": tenants * OF_A_TENANT, "tenants": tenants, "rate": rate,
        "answered_a_second": round(len(times) / seconds, 1), **latency(times),
        "p99_ms": round(percentile(times, 0.99), 1), "warm_up_seconds": round(ready, 1),
        "clients_megabytes": round(sum(room for _, room in found)), "load_before": round(load, 1),
    }  # fmt: skip


def measure_tenants(server: Server, url: str, sizes: list[int], rates: list[float], seconds: float) -> dict[str, Any]:
    made, rows = 0, []
    make_templates(url)
    for size in sizes:
        tenants = size // OF_A_TENANT
        began = time.perf_counter()
        make_tenants(server, made, tenants)
        server.say("ANALYZE", database="limpet")
        print(f" {time.perf_counter() - began:.0f} s", file=sys.stderr)
        made = tenants
        ((room,),) = server.say("SELECT pg_database_size('limpet')")
        for rate in rates:
            rows.append(open_loop(url, tenants, rate, seconds) | {"database_bytes_a_row": int(room) // size})
            print(rows[-1], flush=True)
    return {"clients": CLIENTS, "rows_of_a_tenant": OF_A_TENANT, "table": rows, "exponents": exponents(rows)}


def exponents(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Of the straight line through the logarithms of time and rows, at the lowest rate."""
    slow = [row for row in rows if row["rate"] == min(one["rate"] for one in rows)]
    if len(slow) < 2:
        return {}
    sizes = [math.log(row["rows"]) for row in slow]
    middle = sum(sizes) / len(sizes)
    spread = sum((size - middle) ** 2 for size in sizes)
    return {
        name: round(
            sum((size - middle) * math.log(row[name]) for size, row in zip(sizes, slow, strict=True)) / spread, 3
        )
        for name in ("p50_ms", "p95_ms")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", required=True, help="of copy, recall, writes, tenants")
    parser.add_argument("--file", help="a store with vectors")
    parser.add_argument("--questions", help="a file, one a line")
    parser.add_argument("--copy", help="for recall: a copy of it that there is already, postgresql://...")
    parser.add_argument("--kills", type=int, default=0, help="of each direction of a copy")
    parser.add_argument("--rows", default="10000,100000,1000000", help="of all tenants together")
    parser.add_argument("--rate", default="20", help="requests a second, of all clients together")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each open loop")
    parser.add_argument("--name", default="team", help="of the record")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep them in benchmarks/results/")
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    server = Server(**DURABLE)
    server.make()
    server.start()
    furnish(server.url)
    url = server.url.format("limpet").replace("postgres@", "limpet@")
    with tempfile.TemporaryDirectory() as folder:
        for part in options.part.split(","):
            if part == "copy":
                figures[part] = measure_copy(options.file, url, Path(folder), options.kills)
            elif part == "recall":
                questions = Path(options.questions).read_text(encoding="utf-8").splitlines()
                figures[part] = measure_recall(options.file, options.copy or f"{url}&tenant=whole", questions)
            elif part == "writes":
                figures[part] = measure_writes(server, url)
            else:
                sizes, rates = map(int, options.rows.split(",")), map(float, options.rate.split(","))
                figures[part] = measure_tenants(server, url, list(sizes), list(rates), options.seconds)
            print(part, json.dumps(figures[part]), flush=True)
    settings = {name: server.settings[name] for name in DURABLE}
    content = {"benchmark": "team", "provenance": provenance(), "server": settings, "figures": figures}
    save(options.name, content, out=options.json, keep=options.record)


if __name__ == "__main__":
    main()
