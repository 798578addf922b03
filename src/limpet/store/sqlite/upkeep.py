"""Listings, statistics, and the care of the file: verify, backup, compact."""

from __future__ import annotations

import base64
import binascii
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import apsw

from ...model.errors import BadInput
from ...model.memory import Memory
from ..records import Filter, Page, Problem, StoreStats
from . import jobs, rows
from .search import carray, visible
from .sql import statements

_SORTS = {
    # sort -> (column, whether only used memories have it)
    "created": ("m.created_at", False),
    "updated": ("m.recorded_at", False),
    "used": ("u.used_at", True),
    "uses": ("u.uses", True),
}


def page(con: apsw.Connection, where: Filter, *, sort: str, limit: int, cursor: str | None, descending: bool) -> Page:
    """One page by keyset: the cursor holds the last row's sort value and id, so that inserts never shift a page.

    Sorted by use, memories that were never used follow the others, newest first.
    """
    if sort not in _SORTS:
        raise BadInput(f"unknown sort: {sort!r}", hint=f"one of: {', '.join(_SORTS)}")
    stage, value, last = _read_cursor(cursor, sort)
    column, by_use = _SORTS[sort]
    # (stage, column, condition): by use there are two stages, the used ones and then the others.
    stages = (
        [
            (0, column, "m.id = u.id AND u.uses > 0"),
            (1, "m.created_at", "NOT EXISTS (SELECT 1 FROM usage x WHERE x.id = m.id AND x.uses > 0)"),
        ]
        if by_use
        else [(0, column, "TRUE")]
    )
    found: list[tuple[int, int, Memory]] = []
    for number, key, condition in stages[stage:]:
        if len(found) <= limit:
            rest = limit + 1 - len(found)
            found += [(number, *row) for row in _slice(con, where, key, condition, rest, value, last, descending)]
            value, last = None, None
    shown = found[:limit]
    following = _write_cursor(*shown[-1][:2], shown[-1][2].id, sort) if shown and len(found) > limit else None
    return Page(memories=[memory for _, _, memory in shown], cursor=following)


def _slice(
    con: apsw.Connection,
    where: Filter,
    column: str,
    extra: str,
    limit: int,
    value: int | None,
    last: bytes | None,
    descending: bool,
) -> list[tuple[int, Memory]]:
    """(sort value, memory) in order. One scope at a time, so that the index gives the order."""
    if where.scopes is not None and len(where.scopes) > 1:
        parts = [
            _slice(con, replace(where, scopes=(scope,)), column, extra, limit, value, last, descending)
            for scope in dict.fromkeys(where.scopes)
        ]
        merged = sorted(chain(*parts), key=lambda row: (row[0], row[1].id), reverse=descending)
        return merged[:limit]
    if column == "m.recorded_at" and extra == "TRUE":
        # A first version is recorded when it is created: memory_created has its order, memory_updated the others.
        firsts, others = ("m.created_at", "m.num < 4294967296"), (column, "m.num >= 4294967296")
        parts = [_slice(con, where, *part, limit, value, last, descending) for part in (firsts, others)]
        return sorted(chain(*parts), key=lambda row: (row[0], row[1].id), reverse=descending)[:limit]
    condition, bound = visible(where)
    order = "DESC" if descending else "ASC"
    tables = "memory m, usage u" if column.startswith("u.") else "memory m"
    bound["limit"] = limit
    condition += f" AND {extra}"
    if value is not None:
        bound |= {"value": value, "last": last}
        condition += f" AND ({column}, m.id) {'<' if descending else '>'} (:value, :last)"
    keys = con.execute(
        f"SELECT m.num, {column} FROM {tables} WHERE {condition} ORDER BY {column} {order}, m.id {order} LIMIT :limit",
        bound,
    ).fetchall()
    whole = memories(con, [num for num, _ in keys])
    return [(key, memory) for (_, key), memory in zip(keys, whole, strict=True)]


def memories(con: apsw.Connection, nums: Sequence[int]) -> list[Memory]:
    """Whole memories by row number, in the order given."""
    if not nums:
        return []
    found = {row[0]: rows.memory(row) for row in con.execute(statements()["memories_by_num"], {"nums": carray(nums)})}
    return [found[num] for num in nums]


def _write_cursor(stage: int, value: int, id: str, sort: str) -> str:
    packed = struct.pack("<Bq", stage, value) + bytes.fromhex(id.replace("-", "")) + sort.encode()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def _read_cursor(cursor: str | None, sort: str) -> tuple[int, int | None, bytes | None]:
    if cursor is None:
        return 0, None, None
    try:
        packed = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        stage, value = struct.unpack_from("<Bq", packed)
        if packed[25:].decode() != sort:
            raise ValueError
    except (ValueError, struct.error, binascii.Error):
        raise BadInput("not a cursor of this listing", hint="pass the cursor of the page before, same sort") from None
    return stage, value, packed[9:25]


def stats(con: apsw.Connection, path: str) -> StoreStats:
    def one(sql: str) -> Any:
        return con.execute(sql).get

    def table(sql: str) -> dict[str, int]:
        return dict(con.execute(sql).fetchall())

    pages, free, size = one("PRAGMA page_count"), one("PRAGMA freelist_count"), one("PRAGMA page_size")
    files = [Path(path + suffix) for suffix in ("", "-wal")]
    on_disk = sum(file.stat().st_size for file in files if file.exists()) if path != ":memory:" else pages * size
    return StoreStats(
        memories=one("SELECT count(*) FROM memory WHERE retired_at IS NULL AND state <> 'purged'"),
        versions=one("SELECT count(*) FROM memory"),
        events=one("SELECT count(*) FROM event"),
        sessions=one("SELECT count(*) FROM session"),
        vectors=one("SELECT count(*) FROM vector"),
        waiting_jobs=jobs.waiting(con),
        waiting_checks=one("SELECT count(*) FROM job WHERE state = 'waiting' AND kind <> 'embed'"),
        dead_jobs=one("SELECT count(*) FROM job WHERE state = 'dead'"),
        by_kind=table("SELECT kind, count(*) FROM memory WHERE retired_at IS NULL AND state = 'active' GROUP BY kind"),
        by_scope=table(
            "SELECT s.name, count(*) FROM memory m JOIN scope s ON s.num = m.scope"
            " WHERE m.retired_at IS NULL AND m.state = 'active' GROUP BY s.name"
        ),
        by_state=table("SELECT state, count(*) FROM memory WHERE retired_at IS NULL GROUP BY state"),
        file_bytes=on_disk,
        free_bytes=free * size,
        oldest=one("SELECT min(at) FROM event"),
        newest=one("SELECT max(at) FROM event"),
    )


# Checks of `verify`: what is wrong when the statement counts anything.
_CHECKS = (
    ("current", "memories with several current versions",
     "SELECT count(*) FROM (SELECT id FROM memory WHERE retired_at IS NULL GROUP BY id HAVING count(*) > 1)"),
    ("ledger", "memories without the event that made them",
     "SELECT count(*) FROM memory m WHERE NOT EXISTS"
     " (SELECT 1 FROM event v WHERE v.id = m.id AND v.memory = m.id AND v.type = 'remembered') AND NOT EXISTS"
     " (SELECT 1 FROM event v WHERE v.memory = m.id AND v.memory <> v.id AND v.type = 'remembered')"),
    ("projection", "events without a memory",
     "SELECT count(*) FROM event v WHERE v.type = 'remembered' AND NOT EXISTS"
     " (SELECT 1 FROM memory m WHERE m.id = v.memory AND m.retired_at IS NULL)"),
    ("links", "links without the event that made them",
     "SELECT count(*) FROM edge e WHERE NOT EXISTS (SELECT 1 FROM event v WHERE v.id = e.event)"),
    ("text", "versions whose text is gone",
     "SELECT count(*) FROM memory m WHERE m.body IS NOT NULL AND NOT EXISTS"
     " (SELECT 1 FROM body b WHERE b.num = m.body)"),
    ("text", "purged memories that still have a text",
     "SELECT count(*) FROM memory m WHERE m.state = 'purged' AND m.body IS NOT NULL"),
    ("vectors", "vectors of texts that are gone",
     "SELECT count(*) FROM vector v WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.num = v.body)"),
    ("vectors", "texts with neither a vector nor a job to make one",
     "SELECT count(*) FROM body b WHERE b.num <= (SELECT through FROM taken)"
     " AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.body = b.num)"
     " AND NOT EXISTS (SELECT 1 FROM job j WHERE j.kind = 'embed' AND j.subject = b.num)"),
    ("vectors", "texts to come that the queue would pass over",
     "SELECT max(0, through - (SELECT ifnull(max(num), 0) FROM body)) FROM taken"),
)  # fmt: skip


def verify(con: apsw.Connection) -> list[Problem]:
    """Everything that can be checked without changing anything: pages, index, and how the tables fit together."""
    # FTS5 checks with the structure it has in memory, which only a search brings up to date.
    con.execute("SELECT count(*) FROM body_fts WHERE body_fts MATCH 'limpet'").fetchall()
    problems = [
        Problem(check="pages", message=str(row[0]))
        for row in con.execute("PRAGMA integrity_check(20)")
        if row[0] != "ok"
    ]
    for check, message, statement in _CHECKS:
        wrong = con.execute(statement).get
        if wrong:
            problems.append(Problem(check=check, message=f"{wrong} {message}"))
    for num, dimensions in con.execute("SELECT num, dimensions FROM embedder").fetchall():
        problems += _verify_chunks(con, num, dimensions)
    problems += [
        Problem(check="ledger", message=f"event {row[0]} holds unreadable data")
        for row in con.execute("SELECT seq FROM event WHERE data IS NOT NULL AND NOT json_valid(data) LIMIT 20")
    ]
    return problems


def verify_index(con: apsw.Connection) -> list[Problem]:
    """The full-text index against the texts. Needs a write transaction: FTS5 checks by a special insert."""
    try:
        con.execute("INSERT INTO body_fts (body_fts, rank) VALUES ('integrity-check', 1)")
    except apsw.CorruptError:
        return [Problem(check="index", message="the full-text index does not fit the texts; `limpet rebuild` mends it")]
    return []


def _verify_chunks(con: apsw.Connection, embedder: int, dimensions: int) -> list[Problem]:
    """Every code in a chunk belongs to the vector row that points to it, and every vector row to a code."""
    wrong = 0
    stored = {
        (row[0], row[1]): row[2]
        for row in con.execute("SELECT chunk, slot, body FROM vector WHERE embedder = ?", (embedder,))
    }
    for num, used, codes, bodies in con.execute(
        "SELECT num, used, length(codes), bodies FROM chunk WHERE embedder = ?", (embedder,)
    ):
        if codes % dimensions or used * 8 > len(bodies):
            wrong += 1
            continue
        for slot, body in enumerate(struct.unpack(f"<{used}q", bodies[: used * 8])):
            wrong += stored.pop((num, slot), 0) != body
    wrong += len(stored)
    return [Problem(check="vectors", message=f"{wrong} codes do not fit their vectors")] if wrong else []


def backup(con: apsw.Connection, source: str, path: str, progress: Callable[[int, int], None] | None) -> None:
    """Copy a live store page by page (the online backup API); the copy appears under its name only when complete.

    `source`: the path of the store. Raises BadInput when something is at `path` already, StoreError.
    """
    from ..files import check_place, partial_file, publish, unguessable, writing

    target = Path(path)
    check_place(target, store=source)
    if os.path.lexists(target):
        raise BadInput(f"{path} is there already", hint="give a new file name")
    with writing(path), partial_file(unguessable(target.parent)) as file:
        copy = apsw.Connection(file.name)
        try:
            with copy.backup("main", con, "main") as run:
                while not run.done:
                    run.step(1_000)
                    if progress:
                        progress(run.page_count - run.remaining, run.page_count)
            copy.execute("PRAGMA journal_mode=DELETE").fetchall()
        finally:
            copy.close()
        publish(file, target)


def export_usage(con: apsw.Connection) -> list[dict[str, Any]]:
    return [
        {"id": row[0], "uses": row[1], "used_at": row[2], "useful": row[3], "not_useful": row[4], "wrong": row[5]}
        for row in con.execute("SELECT id, uses, used_at, useful, not_useful, wrong FROM usage ORDER BY id")
    ]
