"""The list that waits for a person: proposals about pairs of memories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from ...model.ids import parse_prefix, shortest_unique
from ..records import Proposal
from .database import Repository
from .sql import statements

_FIELDS = ("id", "kind", "scope", "memory", "other", "reason", "score", "created_at", "verdict", "decided_at")


class SqliteReviews(Repository):
    def get(self, id: bytes) -> Proposal | None:
        found = self._database.rows(statements()["proposal"], {"id": id})
        return _proposal(found[0]) if found else None

    def propose(self, proposals: Sequence[Proposal]) -> int:
        with self._database.writing() as con:
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

    def withdraw(self, kind: str, among: Sequence[bytes]) -> int:
        with self._database.writing() as con:
            before = con.total_changes()
            con.execute(statements()["withdraw"], {"kind": kind, "ids": apsw.carray(tuple(among))})
            return con.total_changes() - before

    def waiting(self, scopes: Sequence[str], *, limit: int, kind: str | None = None) -> list[Proposal]:
        found: list[Proposal] = []
        for scope in scopes:
            bound = {"scope": scope, "limit": limit, "kind": kind}
            found += map(_proposal, self._database.rows(statements()["proposals"], bound))
        return sorted(found, key=lambda one: (one.created_at, one.id))[:limit]

    def from_prefix(self, prefix: str, scopes: Sequence[str]) -> list[bytes]:
        low, high = parse_prefix(prefix)
        end = prefix.strip().replace("-", "").upper()
        bound = {"low": low, "high": high, "end": end, "scopes": json.dumps(list(scopes))}
        return [row[0] for row in self._database.rows(statements()["proposals_from_prefix"], bound)]

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        if not ids:
            return []
        found = self._database.rows(statements()["ids_around_items"], {"ids": apsw.carray(tuple(ids))})
        return [shortest_unique(id, [one for one in near if one]) for id, *near in found]


def _proposal(row: tuple[Any, ...]) -> Proposal:
    return Proposal(**dict(zip(_FIELDS, row, strict=True)))
