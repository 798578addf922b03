"""The list that waits for a person: proposals about pairs of memories."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ...model.errors import AmbiguousId
from ...model.ids import format_id, parse_prefix
from ..records import Proposal
from .sql import statements

_FIELDS = ("id", "kind", "scope", "memory", "other", "reason", "score", "created_at", "verdict", "decided_at")


def propose(con: apsw.Connection, proposals: Sequence[Proposal]) -> int:
    before = con.total_changes()
    con.executemany(
        "INSERT INTO review (id, kind, scope, memory, other, reason, score, created_at)"
        " VALUES (?, ?, (SELECT num FROM scope WHERE name = ?), ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [
            (one.id, one.kind, one.scope, one.memory, one.other, one.reason, one.score, one.created_at)
            for one in proposals
        ],
    )
    return con.total_changes() - before


def withdraw(con: apsw.Connection, kind: str, among: Sequence[bytes]) -> int:
    before = con.total_changes()
    con.execute(statements()["withdraw"], {"kind": kind, "ids": apsw.carray(tuple(among))})
    return con.total_changes() - before


def waiting(con: apsw.Connection, scopes: Sequence[str], limit: int) -> list[Proposal]:
    found = []
    for scope in scopes:
        rows = con.execute(statements()["proposals"], {"scope": scope, "limit": limit})
        found += [Proposal(**dict(zip(_FIELDS, row, strict=True))) for row in rows]
    return sorted(found, key=lambda one: (one.created_at, one.id))[:limit]


def by_id(con: apsw.Connection, id: bytes) -> Proposal | None:
    row = con.execute(statements()["proposal"], {"id": id}).fetchone()
    return Proposal(**dict(zip(_FIELDS, row, strict=True))) if row else None


def resolve(con: apsw.Connection, prefix: str) -> bytes | None:
    low, high = parse_prefix(prefix)
    found = [row[0] for row in con.execute("SELECT id FROM review WHERE id BETWEEN ? AND ? LIMIT 12", (low, high))]
    if len(found) > 1:
        raise AmbiguousId(prefix, [format_id(id) for id in found])
    return found[0] if found else None
