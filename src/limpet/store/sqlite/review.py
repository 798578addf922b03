"""The list that waits for a person: proposals about pairs of memories."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from ...model.ids import parse_prefix, shortest_unique
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


def waiting(con: apsw.Connection, scopes: Sequence[str], limit: int, kind: str | None) -> list[Proposal]:
    found = []
    for scope in scopes:
        rows = con.execute(statements()["proposals"], {"scope": scope, "limit": limit, "kind": kind})
        found += [Proposal(**dict(zip(_FIELDS, row, strict=True))) for row in rows]
    return sorted(found, key=lambda one: (one.created_at, one.id))[:limit]


def by_id(con: apsw.Connection, id: bytes) -> Proposal | None:
    row = con.execute(statements()["proposal"], {"id": id}).fetchone()
    return Proposal(**dict(zip(_FIELDS, row, strict=True))) if row else None


def ids_from(con: apsw.Connection, prefix: str, scopes: Sequence[str]) -> list[bytes]:
    low, high = parse_prefix(prefix)
    bound = {"low": low, "high": high, "scopes": json.dumps(list(scopes))}
    return [row[0] for row in con.execute(statements()["proposals_from_prefix"], bound)]


def abbreviate(con: apsw.Connection, ids: Sequence[bytes]) -> list[str]:
    if not ids:
        return []
    found = con.execute(statements()["ids_around_items"], {"ids": apsw.carray(tuple(ids))})
    return [shortest_unique(id, [one for one in near if one]) for id, *near in found]
