"""The list that waits for a person: proposals about pairs of memories."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...model.ids import named_by, short_id
from ..records import OBJECTION, Proposal
from .database import Connection, Repository
from .statements import statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FIELDS = ("id", "kind", "scope", "memory", "other", "reason", "score", "created_at", "verdict", "decided_at")


class Reviews(Repository):
    """Proposals about pairs of memories, which wait for a person."""

    def get(self, id: bytes) -> Proposal | None:
        found = self._database.rows(statements()["proposal"], {"id": id})
        return _proposal(found[0]) if found else None

    def propose(self, proposals: Sequence[Proposal]) -> int:
        """Put proposals on the list; one about the same pair is there once, also when it was decided. Returns how many
        are new."""
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
        """Take off the list what waits of a kind about two memories that are both among these. Returns how many."""
        with self._database.writing() as con:
            before = con.total_changes()
            con.execute(statements()["withdraw"], {"kind": kind, "ids": self._database.ids(among)})
            return con.total_changes() - before

    def replace(self, proposal: Proposal) -> None:
        """Put it on the list in the place of what waits of its kind about its pair, in one transaction."""
        with self._database.writing():  # those inside are parts of it
            self.withdraw(proposal.kind, [proposal.memory, proposal.other])
            self.propose([proposal])

    def waiting(self, scopes: Sequence[str], *, limit: int, kind: str | None = None) -> list[Proposal]:
        """Those that wait (of one kind), oldest first, whose memories are both still active."""
        found: list[Proposal] = []
        for scope in scopes:
            bound = {"scope": scope, "limit": limit, "kind": kind}
            found += map(_proposal, self._database.rows(statements()["proposals"], bound))
        return sorted(found, key=lambda one: (one.created_at, one.id))[:limit]

    def named(self, text: str, scopes: Sequence[str]) -> list[bytes]:
        """The proposals of some scopes that an id, a short id or the beginning of an id names, a dozen at most.

        Raises BadInput.
        """

        def ask(how: str, low: bytes, high: bytes) -> list[bytes]:
            bound = {"low": low, "high": high, "scopes": json.dumps(list(scopes))}
            return [row[0] for row in self._database.rows(statements()[f"proposals_from_{how}"], bound)]

        return named_by(text, ask)

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        """Of proposals and memories: for each its short id, as long as it takes to be neither another proposal's nor
        memory's."""
        if not ids:
            return []
        bound = {"ids": self._database.ids(ids)}
        items = [row[0] for row in self._database.rows(statements()["items_like"], bound)]
        around = self._database.rows(statements()["ids_around"], bound)
        return [short_id(id, [*items, *(one for one in near if one)]) for id, *near in around]


def clear(con: Connection) -> None:
    """Of a purge: what was erased may be quoted in any reason."""
    con.execute("DELETE FROM review WHERE kind = ?", (OBJECTION,))


def _proposal(row: tuple[Any, ...]) -> Proposal:
    return Proposal(**dict(zip(_FIELDS, row, strict=True)))
